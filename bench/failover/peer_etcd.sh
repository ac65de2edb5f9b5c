#!/usr/bin/env bash
# etcd, as it comes: three servers. The worker is a holder of `etcdctl lock` that is killed (its lease of 1 s, which etcd
# makes 2, has to end) or asked to go (SIGTERM, which releases); the agent is the server that leads, until a write succeeds.
# shellcheck source=bench/failover/peer.sh
source "$(dirname "$0")/peer.sh"
needs etcd etcdctl
export ETCDCTL_API=3
base=$(free_port)
ends='' cluster=''
for i in 0 1 2; do
    ends+="${ends:+,}127.0.0.1:$((base + 10 + i))"
    cluster+="${cluster:+,}n$i=http://127.0.0.1:$((base + 20 + i))"
done
servers=()
serve() { # NUMBER STATE
    start "etcd$1.log" env ETCD_UNSUPPORTED_ARCH=arm64 etcd --name "n$1" --data-dir "$work/data$1" --initial-cluster "$cluster" --initial-cluster-state "$2" \
        --listen-client-urls "http://127.0.0.1:$((base + 10 + $1))" --advertise-client-urls "http://127.0.0.1:$((base + 10 + $1))" \
        --listen-peer-urls "http://127.0.0.1:$((base + 20 + $1))" --initial-advertise-peer-urls "http://127.0.0.1:$((base + 20 + $1))"
    servers[$1]=$!
}
writes() { etcdctl --endpoints "${1:-$ends}" --dial-timeout 1s --command-timeout 0.3s put probe 1 > /dev/null 2>&1; }
leader() { # its number
    local i
    for i in 0 1 2; do
        etcdctl --endpoints "127.0.0.1:$((base + 10 + i))" endpoint status --write-out fields 2> /dev/null |
            awk -F ' : ' '/"MemberID"/ { m = $2 } /"Leader"/ { l = $2 } END { exit m != l }' && echo "$i" && return
    done
}

for i in 0 1 2; do serve $i new; done
await 60 "etcd accepts writes" writes

# Two that want a lock: whoever has it writes a line to its fifo.
declare -A fifo=() holder=()
for c in x y; do
    mkfifo "$work/$c"
    exec {fd}<> "$work/$c"
    fifo[$c]=$fd
done
want() { # NAME
    etcdctl --endpoints "$ends" lock --ttl=1 work < /dev/null > "$work/$1" 2>> "$work/lock.log" &
    holder[$1]=$!
    started+=($!)
}
try_lock() { # WHAT SIGNAL
    local has=x waits=y was from to i
    drain "${fifo[$has]}"
    want $has
    read -rt 60 -u "${fifo[$has]}" _ || give_up "the first lock"
    for ((i = 0; i < trials; i++)); do
        want $waits
        sleep 0.5
        drain "${fifo[$waits]}"
        from=$(now_us)
        kill "-$2" "${holder[$has]}"
        if read -rt 20 -u "${fifo[$waits]}" _; then
            to=$(now_us)
            sample etcd "$1" "$from" "$to"
        else # its own lease has ended while it waited, on a busy machine: that is no sample
            kill -KILL "${holder[$waits]}" 2> /dev/null || true
            want $waits
            read -rt 60 -u "${fifo[$waits]}" _ || give_up "the next lock"
        fi
        wait "${holder[$has]}" 2> /dev/null || true
        was=$has has=$waits waits=$was
    done
    kill -TERM "${holder[$has]}"
    wait "${holder[$has]}" 2> /dev/null || true
}
try_lock worker:lock_ttl_1 KILL
try_lock resign:lock TERM

rounds=$((trials < 5 ? trials : 5)) # each takes seconds
for ((i = 0; i < rounds; i++)); do
    was=$(leader)
    others=$(tr ',' '\n' <<< "$ends" | grep -v ":$((base + 10 + was))$" | paste -sd,)
    from=$(now_us)
    kill -KILL "${servers[$was]}"
    until writes "$others"; do :; done
    to=$(now_us)
    sample etcd agent:leading_server "$from" "$to"
    wait "${servers[$was]}" 2> /dev/null || true
    serve "$was" existing
    await 60 "etcd $was is back" writes "127.0.0.1:$((base + 10 + was))"
    sleep 1
done
for ((i = 0; i < trials; i++)); do
    was=$(leader)
    next=$(((was + 1) % 3))
    id=$(etcdctl --endpoints "$ends" member list | awk -F ', ' -v name="n$next" '$3 == name { print $1 }')
    from=$(now_us)
    etcdctl --endpoints "127.0.0.1:$((base + 10 + was))" move-leader "$id" > /dev/null
    to=$(now_us)
    sample etcd transfer:move-leader_with_etcdctl "$from" "$to"
    sleep 0.2
done
