#!/usr/bin/env bash
# ZooKeeper: three servers, and two candidates of its recipe over its C library. The worker is a candidate that is killed
# (its session, two ticks, has to end) or asked to go (it closes the session); the agent is the server that leads, until
# a new candidate's node is made.
# shellcheck source=bench/failover/peer.sh
source "$(dirname "$0")/peer.sh"
needs java
[ -r /usr/share/java/zookeeper.jar ] || skip "zookeeper is not installed (scripts/setup-peers)"
"$BENCH/peer-zookeeper" 2> "$work/built" || grep -q usage "$work/built" || skip "libzookeeper-mt-dev was not there when this was built"
base=$(free_port)
hosts="127.0.0.1:$base,127.0.0.1:$((base + 1)),127.0.0.1:$((base + 2))"
servers=()
serve() { # NUMBER
    start "zk$1.log" java -Xmx96m -cp "$work/n$1:/usr/share/java/zookeeper.jar" "-Dzookeeper.log.dir=$work" "-Dzookeeper.admin.enableServer=false" \
        org.apache.zookeeper.server.quorum.QuorumPeerMain "$work/n$1/zoo.cfg"
    servers[$1]=$!
}
found() { # TICK
    local i k
    for i in 0 1 2; do
        rm -rf "$work/n$i"
        mkdir -p "$work/n$i/data"
        echo $((i + 1)) > "$work/n$i/data/myid"
        {
            printf 'tickTime=%s\ninitLimit=50\nsyncLimit=20\ndataDir=%s\nclientPort=%s\nclientPortAddress=127.0.0.1\n' "$1" "$work/n$i/data" $((base + i))
            echo '4lw.commands.whitelist=*'
            for k in 0 1 2; do echo "server.$((k + 1))=127.0.0.1:$((base + 10 + k)):$((base + 20 + k))"; done
        } > "$work/n$i/zoo.cfg"
        echo 'log4j.rootLogger=ERROR' > "$work/n$i/log4j.properties"
        serve $i
    done
    await 90 "ZooKeeper serves" serves
}
mode() { # NUMBER: leader, follower or nothing
    local line
    { exec {fd}<> "/dev/tcp/127.0.0.1/$((base + $1))"; } 2> /dev/null || return 0
    echo srvr >&"$fd"
    while read -rt 2 -u "$fd" line; do [[ $line != Mode:* ]] || echo "${line#Mode: }"; done || true
    exec {fd}>&-
}
leader() {
    local i
    for i in 0 1 2; do [ "$(mode $i)" != leader ] || { echo $i && return; }; done
}
serves() { [ -n "$(leader)" ] && [ -n "$(mode 0)" ] && [ -n "$(mode 1)" ] && [ -n "$(mode 2)" ]; }

declare -A fifo=() holder=()
for c in x y; do
    mkfifo "$work/$c"
    exec {fd}<> "$work/$c"
    fifo[$c]=$fd
done
want() { # NAME SESSION
    drain "${fifo[$1]}"
    "$BENCH/peer-zookeeper" "$hosts" "$2" > "$work/$1" 2>> "$work/candidates.log" &
    holder[$1]=$!
    started+=($!)
    read -rt 60 -u "${fifo[$1]}" _ || give_up "a candidate stands"
}
try_candidates() { # WHAT SIGNAL SESSION
    local has=x waits=y was from to i
    want $has "$3"
    read -rt 60 -u "${fifo[$has]}" _ || give_up "the first election"
    for ((i = 0; i < trials; i++)); do
        want $waits "$3"
        sleep 0.3
        from=$(now_us)
        kill "-$2" "${holder[$has]}"
        read -rt 60 -u "${fifo[$waits]}" _ || give_up "the next election"
        to=$(now_us)
        sample zookeeper "$1" "$from" "$to"
        wait "${holder[$has]}" 2> /dev/null || true
        was=$has has=$waits waits=$was
    done
    kill -TERM "${holder[$has]}"
    wait "${holder[$has]}" 2> /dev/null || true
}
try_server() { # WHAT
    local was from to
    was=$(leader)
    from=$(now_us)
    kill -KILL "${servers[$was]}"
    want x 10000
    to=$(now_us)
    sample zookeeper "$1" "$from" "$to"
    kill -KILL "${holder[x]}"
    wait "${holder[x]}" "${servers[$was]}" 2> /dev/null || true
    serve "$was"
    await 60 "ZooKeeper serves again" serves
}
for tick in ${ZOOKEEPER_TICKS:-2000 100}; do
    found "$tick"
    try_candidates "worker:tick_$tick" KILL $((2 * tick))
    try_candidates "resign:tick_$tick" TERM $((2 * tick))
    rounds=$((trials < 5 ? trials : 5)) # each takes seconds
    for ((r = 0; r < rounds; r++)); do try_server "agent:leading_server,_tick_$tick"; done
    end_all
done
