# shellcheck shell=bash disable=SC2154 # names of run.sh
# ZooKeeper, three servers on loopback with a tick of 500 ms; kazoo's Election and Curator's LeaderSelector around a command as its
# own clients. Curator needs `scripts/setup interop`.
zookeeper_port=${ZOOKEEPER_PORT:-23800}
zookeeper_pids=()
zookeeper_jars=$(printf '/usr/share/java/%s.jar:' curator-recipes curator-framework curator-client zookeeper zookeeper-jute slf4j-api guava)
zookeeper_all() { echo "127.0.0.1:$zookeeper_port,127.0.0.1:$((zookeeper_port + 10)),127.0.0.1:$((zookeeper_port + 20))"; }
zookeeper_run() { # NUMBER
    java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx192m -cp "$work/zookeeper$1:/usr/share/java/zookeeper.jar" -Dzookeeper.admin.enableServer=false \
        org.apache.zookeeper.server.quorum.QuorumPeerMain "$work/zookeeper$1/zoo.cfg" >> "$work/zookeeper.log" 2>&1 &
    zookeeper_pids[$1]=$!
}
zookeeper_mode() { # NUMBER
    local link line
    { exec {link}<> "/dev/tcp/127.0.0.1/$((zookeeper_port + 10 * $1))"; } 2> /dev/null || return 0
    printf srvr >&"$link"
    while read -rt 2 -u "$link" line; do [[ $line != Mode:* ]] || echo "${line#Mode: }"; done
    exec {link}>&-
}
zookeeper_is_well() { [ -n "$(zookeeper_mode 0)" ] && [ -n "$(zookeeper_mode 1)" ] && [ -n "$(zookeeper_mode 2)" ]; }
store_start() {
    local i k
    for i in 0 1 2; do
        mkdir -p "$work/zookeeper$i/data"
        echo "$i" > "$work/zookeeper$i/data/myid"
        {
            printf '%s\n' tickTime=500 initLimit=20 syncLimit=10 "dataDir=$work/zookeeper$i/data" "clientPort=$((zookeeper_port + 10 * i))" \
                clientPortAddress=127.0.0.1 maxClientCnxns=0 '4lw.commands.whitelist=srvr'
            for k in 0 1 2; do echo "server.$k=127.0.0.1:$((zookeeper_port + 10 * k + 1)):$((zookeeper_port + 10 * k + 2))"; done
        } > "$work/zookeeper$i/zoo.cfg"
        zookeeper_run "$i"
    done
    until zookeeper_is_well; do sleep 0.1; done
    [ ! -e /usr/share/java/curator-recipes.jar ] || ! command -v javac > /dev/null || {
        javac -cp "$zookeeper_jars" -d "$work/java" bench/engines/CuratorRun.java
        own_clients+=("Curator LeaderSelector")
    }
}
store_stop() { end_process "${zookeeper_pids[@]}"; }
store_kill_leader() {
    local i
    for i in 0 1 2; do
        [ "$(zookeeper_mode "$i")" = leader ] || continue
        zookeeper_killed=$i
        end_process "${zookeeper_pids[i]}"
        return
    done
}
store_heal() {
    zookeeper_run "$zookeeper_killed"
    until zookeeper_is_well; do sleep 0.1; done
}
store_url() { echo "zookeeper://$(zookeeper_all)/bench?ttl=${ttl}s&tick=500ms"; }
own_clients=("kazoo Election")
own_run() { # WHO GROUP COMMAND FILE: with &
    if [ "$1" = "kazoo Election" ]; then
        PYTHONPATH=/usr/lib/python3/dist-packages exec setsid /usr/bin/python3 bench/engines/kazoo_run.py "$(zookeeper_all)" "$ttl" "/own/$2" "$3" "$4"
    fi
    exec setsid java -XX:TieredStopAtLevel=1 -Xmx96m -cp "$work/java:$zookeeper_jars" CuratorRun "$(zookeeper_all)" "$ttl" "/curator/$2" "$3" "$4"
}
