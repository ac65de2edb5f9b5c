#!/usr/bin/env bash
# etcd: three servers, asked over its JSON gateway, and `etcdctl lock`, whose lease of 1 s etcd takes only where elections are quick.
# ETCD_TIMES: heartbeat/election in ms; etcd's own are 100/1000, and make the lease 2 s.
# shellcheck source=bench/failover/peer.sh
source "$(dirname "$0")/peer.sh"
needs etcd etcdctl
# shellcheck source=bench/failover/peer_elections.sh
source "$(dirname "$0")/peer_elections.sh"
export ETCDCTL_API=3
times=${ETCD_TIMES:-10/100}
base=$(free_port)
all_hosts='' cluster='' hosts='' led=''
for i in 0 1 2; do
    all_hosts+="${all_hosts:+,}127.0.0.1:$((base + 10 + i))"
    cluster+="${cluster:+,}n$i=http://127.0.0.1:$((base + 20 + i))"
done
servers=() ids=()
serve() { # NUMBER STATE
    start "etcd$1.log" env ETCD_UNSUPPORTED_ARCH=arm64 etcd --name "n$1" --data-dir "$work/data$1" --initial-cluster "$cluster" --initial-cluster-state "$2" \
        --heartbeat-interval "${times%/*}" --election-timeout "${times#*/}" \
        --listen-client-urls "http://127.0.0.1:$((base + 10 + $1))" --advertise-client-urls "http://127.0.0.1:$((base + 10 + $1))" \
        --listen-peer-urls "http://127.0.0.1:$((base + 20 + $1))" --initial-advertise-peer-urls "http://127.0.0.1:$((base + 20 + $1))"
    servers[$1]=$!
}
# A connection for each request: bash writes line by line, which TCP holds back on an old one.
request() { # NUMBER PATH BODY: the connection is in $link
    { exec {link}<> "/dev/tcp/127.0.0.1/$((base + 10 + $1))"; } 2> /dev/null || return 1
    printf 'POST /v3/%s HTTP/1.0\r\nContent-Length: %s\r\n\r\n%s' "$2" "${#3}" "$3" >&"$link"
}
take_answer() { # in $answer
    answer=
    read -rd '' -t 1 -u "$link" answer || true # it ends with the connection
    exec {link}>&-
    [ -n "$answer" ]
}
ask() { request "$@" && take_answer; } # NUMBER PATH BODY
leads() { # NUMBER: it believes that it leads itself
    ask "$1" maintenance/status '{}' && [[ $answer =~ \"member_id\":\"([0-9]+)\" ]] || return 1
    ids[$1]=${BASH_REMATCH[1]}
    [[ $answer == *"\"leader\":\"${ids[$1]}\""* ]]
}
has_leader() { ask "$1" maintenance/status '{}' && [[ $answer =~ \"leader\":\"[1-9] ]]; }
serves() { has_leader 0 && has_leader 1 && has_leader 2; }
find_leader() { for led in 0 1 2; do ! leads "$led" || return 0; done && return 1; }
leader() { await 60 "etcd has a leader" find_leader; }
hosts_of() { hosts=127.0.0.1:$((base + 10 + $1)); }
hosts_but() { hosts=127.0.0.1:$((base + 10 + ($1 + 1) % 3)),127.0.0.1:$((base + 10 + ($1 + 2) % 3)); }
stand() { # ELECTION HOSTS
    etcdctl --endpoints "$2" lock --ttl=1 "e$1" < /dev/null > "$work/news" 2>> "$work/lock.log" &
    started+=($!)
}
has_standing() { ask "$1" kv/range '{"key":"ZQ==","range_end":"Zg==","count_only":true}' && [[ ${answer/\}/,\"count\":\"0\"} == *"\"count\":\"$2\""* ]]; } # e to f
await_standing() { # COUNT
    leader
    within 10 has_standing "$led" "$1"
}
try_server() {
    local was began at
    while more; do
        leader
        was=$led
        doze 150 100
        stamp
        began=$now
        kill -KILL "${servers[$was]}"
        at=$(timeout 60 "$BENCH/peer-leads" etcd $((base + 10 + (was + 1) % 3)) $((base + 10 + (was + 2) % 3))) || give_up "another server leads"
        sample agent "$began" "$at"
        end KILL "${servers[$was]}"
        serve "$was" existing
        await 60 "etcd $was is back" has_leader "$was"
    done
}
try_transfer() {
    local to began seen news at
    while more; do
        leader
        to=$(((led + 1) % 3))
        leads $to || true # its number
        exec {news}< <(exec "$BENCH/peer-leads" etcd $((base + 10 + to)))
        seen=$!
        doze 50 50
        stamp
        began=$now
        request "$led" maintenance/transfer-leadership "{\"targetID\":\"${ids[$to]}\"}"
        if read -rt 5 -u "$news" at; then sample transfer "$began" "$at"; fi # or the other had not caught up
        end KILL "$seen"
        exec {news}<&- {link}>&-
    done
}

legend "$(etcd --version | sed -n 's/^etcd Version: //p'), heartbeat/election $times ms (its own: 100/1000); lock's lease 1 s, the shortest, which it makes 2 s where elections are slow"
legend "worker: \`etcdctl lock\` killed, $pairs locks at a time; resign: asked to release, one by one"
legend "agent: the leading server killed, until another leads; transfer: move-leader, until the other leads"
legend "silence: the leading server and $pairs holders of locks stopped, until other clients have them"
for i in 0 1 2; do serve $i new; done
await 60 "etcd serves" serves
try_kind worker try_holders worker KILL
try_kind resign try_holders resign TERM
try_kind silence try_silence silence
try_kind agent try_server
try_kind transfer try_transfer
