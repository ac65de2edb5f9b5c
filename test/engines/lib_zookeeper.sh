# shellcheck shell=bash disable=SC2154,SC2034,SC2317 # names are shared with test/cluster/lib.sh and lib_etcd.sh
# ZooKeeper servers 1, 2, 3 from Debian's package, each on a loopback address of its own, and candidates a, b, c.

zk_jar=/usr/share/java/zookeeper.jar
zk_tick=200 # ms. A session may last from two to 200 ticks
zk_ttl=2s
zk_path=shop
zk_query=
declare -A zk=() # processes, by number

zk_hosts() { # NUMBER...: for URLs
    local all='' i
    for i in "$@"; do all+="${all:+,}$prefix.$i:2181"; done
    echo "$all"
}

zk_found() { # COUNT
    local i k
    zk_servers=()
    members=(a b c)
    url() { echo "zookeeper://$(zk_hosts "${zk_servers[@]}")/$zk_path?ttl=$zk_ttl&tick=${zk_tick}ms&member=$1$zk_query"; } # CANDIDATE
    for ((i = 1; i <= $1; i++)); do
        zk_servers+=("$i")
        mkdir -p "$dir/zk$i/data"
        echo "$i" > "$dir/zk$i/data/myid"
        {
            printf '%s\n' "tickTime=$zk_tick" initLimit=50 syncLimit=10 "dataDir=$dir/zk$i/data" clientPort=2181 \
                "clientPortAddress=$prefix.$i" maxClientCnxns=0 "minSessionTimeout=${zk_least:-$((2 * zk_tick))}" \
                "maxSessionTimeout=$((200 * zk_tick))" '4lw.commands.whitelist=*'
            (($1 == 1)) || for ((k = 1; k <= $1; k++)); do echo "server.$k=$prefix.$k:2888:3888"; done
        } > "$dir/zk$i/zoo.cfg"
    done
}

# As a small program, which is how Java starts soonest; without fsync, since no story loses power.
zk_start() { # NUMBER...
    local i as
    for i in "$@"; do
        as=()
        if [ -n "${zk_user:-}" ] && [ "$i" = 1 ]; then
            chmod a+x "$dir" "$dir/.."
            chown -R "$zk_user" "$dir/zk1"
            as=(setpriv --reuid "$zk_user" --clear-groups)
        fi
        "${as[@]}" java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -Xmx96m -cp "$dir/zk$i:$zk_jar" "-Djava.io.tmpdir=$dir/zk$i" \
            -Dzookeeper.admin.enableServer=false -Dzookeeper.forceSync=no \
            org.apache.zookeeper.server.quorum.QuorumPeerMain "$dir/zk$i/zoo.cfg" < /dev/null >> "$dir/zk$i/log" 2>&1 &
        zk[$i]=$!
    done
    for i in "$@"; do await 60 "ZooKeeper $i serves" zk_serves "$i"; done
}
zk_mode() { # NUMBER: standalone, leader, follower, or nothing
    local link line
    { exec {link}<> "/dev/tcp/$prefix.$1/2181"; } 2> /dev/null || return 0
    printf srvr >&"$link"
    while read -rt 2 -u "$link" line; do [[ $line != Mode:* ]] || echo "${line#Mode: }"; done
    exec {link}>&-
}
zk_serves() { [ -n "$(zk_mode "$1")" ]; }
zk_leads() { # NUMBER of the server that leads, in $zk_leader
    local i
    for i in "${!zk[@]}"; do
        [ "$(zk_mode "$i")" != leader ] || { zk_leader=$i && return 0; }
    done
    return 1
}
zk_kill() { # NUMBER...
    local i
    for i in "$@"; do
        kill -KILL "${zk[$i]}"
        wait "${zk[$i]}" 2> /dev/null || true
        unset "zk[$i]"
    done
}

# Does something by hand, with kazoo: ls, get, rm, put, elect. Ends with its own session.
zk_hand() { # WORD...
    PYTHONPATH=/usr/lib/python3/dist-packages /usr/bin/python3 test/engines/by_hand.py "$(zk_hosts "${zk_servers[@]}")" "$@"
}
zk_kazoo_stands() { # NAME: kazoo's Election, as process $it
    PYTHONPATH=/usr/lib/python3/dist-packages /usr/bin/python3 test/engines/by_hand.py "$(zk_hosts "${zk_servers[@]}")" elect "/$zk_path/work" "$1" \
        > "$dir/elected" 2>> "$dir/kazoo.log" &
    it=$!
}
zk_nodes() { zk_hand ls "/$zk_path/work"; }                    # of all candidates, in order
zk_waits() { [ "$(zk_nodes | grep -c .)" = "$1" ]; }           # COUNT of candidates there are
zk_engine_of() { pgrep -u "$(id -u)" -f "^elector-engine --client .*//${prefix}[.].*[?&]member=$1(&|\$)" | sed -n 1p; }

zk_begin() { # COUNT: that many servers, and the candidates at work
    zk_found "$1"
    zk_start "${zk_servers[@]}"
    work "${members[@]}"
    await_leader
    await 30 "three candidates" zk_waits 3
}
