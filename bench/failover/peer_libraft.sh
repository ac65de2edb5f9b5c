#!/usr/bin/env bash
# libraft: three servers with pre-vote. The agent is the server that leads, killed; its application dies with it, so that
# is what a worker's death costs too. With its own times, and with the shortest that held on a machine like this.
# shellcheck source=bench/failover/peer.sh
source "$(dirname "$0")/peer.sh"
"$BENCH/peer-raft" 2> "$work/built" || grep -q usage "$work/built" || skip "libraft-dev was not there when this was built (scripts/setup-peers)"
base=$(free_port)
mkfifo "$work/news"
exec {news}<> "$work/news"
servers=()
serve() { # NUMBER ELECTION HEARTBEAT: says who leads as a line NUMBER
    mkdir -p "$work/$2/$1"
    "$BENCH/peer-raft" "$1" "$work/$2/$1" "$base" "$2" "$3" > >(exec sed -u "s/.*/$1/" > "$work/news") 2>> "$work/raft.log" &
    servers[$1]=$!
    started+=($!)
}
last_word() {
    local line
    while read -rt 0.05 -u "$news" line; do leader=$line; done
}
next_leader() {
    read -rt 60 -u "$news" leader || give_up "a leader"
}
for times in ${LIBRAFT_TIMES:-1000/100 15/3}; do
    election=${times%/*} beat=${times#*/}
    for n in 1 2 3; do serve $n "$election" "$beat"; done
    next_leader
    for ((i = 0; i < trials; i++)); do
        sleep "$(awk "BEGIN { print $election / 500 + 0.3 }")"
        last_word
        was=$leader
        from=$(now_us)
        kill -KILL "${servers[$was]}"
        next_leader
        to=$(now_us)
        sample libraft "agent:$times" "$from" "$to"
        wait "${servers[$was]}" 2> /dev/null || true
        serve "$was" "$election" "$beat"
    done
    for ((i = 0; i < trials; i++)); do
        sleep "$(awk "BEGIN { print $election / 500 + 0.3 }")"
        last_word
        for ((tries = 0; tries < 10; tries++)); do # it gives up where the other has not caught up in time
            from=$(now_us)
            kill -USR1 "${servers[$leader]}"
            ! read -rt 5 -u "$news" next || break
        done
        to=$(now_us)
        [ "$tries" -lt 10 ] || give_up "a transfer"
        leader=$next
        sample libraft "transfer:$times" "$from" "$to"
    done
    for n in 1 2 3; do kill -KILL "${servers[$n]}"; done
    wait 2> /dev/null || true
    last_word
    base=$((base + 10))
done
