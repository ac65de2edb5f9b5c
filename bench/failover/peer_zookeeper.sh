#!/usr/bin/env bash
# ZooKeeper: three servers, and candidates of its recipe over its C library, whose sessions last two ticks, the least that it grants.
# ZOOKEEPER_TICK: in ms; its own is 2000.
# shellcheck source=bench/failover/peer.sh
source "$(dirname "$0")/peer.sh"
needs java
jar=/usr/share/java/zookeeper.jar
[ -r $jar ] || skip "it is not installed (scripts/setup-peers)"
"$BENCH/peer-zookeeper" 2> "$work/built" || grep -q usage "$work/built" || skip "libzookeeper-mt2 was not there when this was built (scripts/setup-peers)"
((pairs <= 10)) || pairs=10 # so short sessions are much work
# shellcheck source=bench/failover/peer_elections.sh
source "$(dirname "$0")/peer_elections.sh"
tick=${ZOOKEEPER_TICK:-100}
base=$(free_port)
all_hosts="127.0.0.1:$base,127.0.0.1:$((base + 1)),127.0.0.1:$((base + 2))" hosts='' led=''
servers=()
serve() { # NUMBER: as a small program, which is how Java starts soonest
    start "zk$1.log" java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx96m -cp "$work/n$1:$jar" "-Dzookeeper.log.dir=$work" "-Dzookeeper.admin.enableServer=false" \
        org.apache.zookeeper.server.quorum.QuorumPeerMain "$work/n$1/zoo.cfg"
    servers[$1]=$!
}
found() {
    local i k
    for i in 0 1 2; do
        mkdir -p "$work/n$i/data"
        echo $((i + 1)) > "$work/n$i/data/myid"
        {
            printf 'tickTime=%s\ninitLimit=50\nsyncLimit=5\ndataDir=%s\nclientPort=%s\nclientPortAddress=127.0.0.1\n' "$tick" "$work/n$i/data" $((base + i))
            printf '4lw.commands.whitelist=*\nmaxClientCnxns=0\n'
            for k in 0 1 2; do echo "server.$((k + 1))=127.0.0.1:$((base + 10 + k)):$((base + 20 + k))"; done
        } > "$work/n$i/zoo.cfg"
        echo 'log4j.rootLogger=ERROR' > "$work/n$i/log4j.properties"
        serve $i
    done
    await 90 "ZooKeeper serves" serves
}
mode_of() { # NUMBER: leader, follower or nothing, in $mode
    local line link
    mode=
    { exec {link}<> "/dev/tcp/127.0.0.1/$((base + $1))"; } 2> /dev/null || return 0
    echo srvr >&"$link"
    while read -rt 1 -u "$link" line; do [[ $line != Mode:* ]] || mode=${line#Mode: }; done
    exec {link}>&-
}
leads() { mode_of "$1" && [ "$mode" = leader ]; }
find_leader() { for led in 0 1 2; do ! leads "$led" || return 0; done && return 1; }
leader() { await 60 "ZooKeeper has a leader" find_leader; }
serves() { for i in 0 1 2; do mode_of $i && [ -n "$mode" ] || return 1; done; }
hosts_of() { hosts=127.0.0.1:$((base + $1)); }
hosts_but() { hosts=127.0.0.1:$((base + ($1 + 1) % 3)),127.0.0.1:$((base + ($1 + 2) % 3)); }
stand() { # ELECTION HOSTS
    "$BENCH/peer-zookeeper" "$2" $((2 * tick)) "e$1" > "$work/news" 2>> "$work/candidates.log" &
    started+=($!)
}
await_standing() { # COUNT: they say so
    if (($1 == 0)); then
        doze $((4 * tick)) 0 # their sessions are over
        return
    fi
    while ((stood < $1)); do hear 10 || return 1; done
}
try_server() {
    local was began at
    while more; do
        leader
        was=$led
        doze 50 100
        stamp
        began=$now
        kill -KILL "${servers[$was]}"
        at=$(timeout 60 "$BENCH/peer-leads" zookeeper $((base + (was + 1) % 3)) $((base + (was + 2) % 3))) || give_up "another server leads"
        sample agent "$began" "$at"
        end KILL "${servers[$was]}"
        serve "$was"
        await 60 "ZooKeeper serves again" serves
    done
}

legend "$(basename /usr/share/java/zookeeper-[0-9]*.jar .jar | sed 's/[^0-9]*//'), tick $tick ms (its own: 2000); sessions of two ticks, the shortest; syncLimit 5"
legend "worker: candidate of its recipe killed, $pairs elections at a time; resign: closes its session, one by one"
legend "agent: the leading server killed, until another leads"
legend "silence: the leading server and $pairs leaders stopped, until other candidates lead"
none transfer "has none"
found
try_kind worker try_holders worker KILL
try_kind resign try_holders resign TERM
try_kind silence try_silence silence
try_kind agent try_server
