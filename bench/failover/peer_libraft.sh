#!/usr/bin/env bash
# libraft: three servers with pre-vote. It is a library, so that a worker and its agent are one process and die together.
# LIBRAFT_TIMES: election/heartbeat in ms; its own are 1000/100.
# shellcheck source=bench/failover/peer.sh
source "$(dirname "$0")/peer.sh"
"$BENCH/peer-raft" 2> "$work/built" || grep -q usage "$work/built" || skip "libraft-dev was not there when this was built (scripts/setup-peers)"
times=${LIBRAFT_TIMES:-15/3}
election=${times%/*} beat=${times#*/}
base=$(free_port)
fifo news
news=$fd
servers=()
leader=''
serve() { # NUMBER: which it says when it leads
    mkdir -p "$work/$1"
    "$BENCH/peer-raft" "$1" "$work/$1" "$base" "$election" "$beat" > "$work/news" 2>> "$work/raft.log" &
    servers[$1]=$!
    started+=($!)
}
next_leader() { # SECONDS: false: there was none
    local line
    next_line "$news" "$1" || return 1
    leader=$line
}
rest() {
    doze $((5 * election + 50)) $((5 * beat))
    while next_leader 0.02; do :; done # the last word counts
}
try_server() { # SIGNAL
    local was began
    while more; do
        rest
        was=$leader
        stamp
        began=$now
        kill "-$1" "${servers[$was]}"
        next_leader 60 || give_up "a leader"
        if [ "$1" = KILL ]; then
            echo "libraft worker $(((now - began) * 1000))"
            sample agent "$began" "$now"
            end KILL "${servers[$was]}"
            serve "$was"
        else
            sample silence "$began" "$now"
            kill -CONT "${servers[$was]}"
        fi
    done
}
try_transfer() { # KIND SIGNAL
    local began tries=0
    while more; do
        rest
        stamp
        began=$now
        kill "-$2" "${servers[$leader]}"
        if next_leader 5; then # it gives up where the other has not caught up in time
            sample "$1" "$began" "$now"
        else
            ((tries++ < 20)) || give_up "transfers"
        fi
    done
}

legend "$(pkg-config --modversion raft 2> /dev/null || true), election/heartbeat $times ms, the shortest that held here (its own: 1000/100)"
legend "worker, agent: one process, killed, the same trials; silence: it is stopped"
legend "transfer: to a server that is named; resign: to the one that libraft chooses"
for n in 1 2 3; do serve $n; done
next_leader 60 || give_up "the first leader"
try_kind agent try_server KILL
try_kind silence try_server STOP
try_kind transfer try_transfer transfer USR1
try_kind resign try_transfer resign USR2
