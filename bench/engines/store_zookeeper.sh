# shellcheck shell=bash disable=SC2154 # names of run.sh
# ZooKeeper, one server on loopback with a tick of 500 ms, and kazoo's Election around a command as its own client.
zookeeper_port=${ZOOKEEPER_PORT:-23800}
store_start() { # FOLDER
    mkdir -p "$1/zookeeper/data"
    printf '%s\n' tickTime=500 "dataDir=$1/zookeeper/data" "clientPort=$zookeeper_port" clientPortAddress=127.0.0.1 maxClientCnxns=0 \
        > "$1/zookeeper/zoo.cfg"
    java -XX:+UseSerialGC -Xmx256m -cp "$1/zookeeper:/usr/share/java/zookeeper.jar" -Dzookeeper.admin.enableServer=false \
        org.apache.zookeeper.server.quorum.QuorumPeerMain "$1/zookeeper/zoo.cfg" > "$1/zookeeper.log" 2>&1 &
    zookeeper=$!
    until (: <> "/dev/tcp/127.0.0.1/$zookeeper_port") 2> /dev/null; do sleep 0.1; done
}
store_stop() { kill -TERM "$zookeeper" && wait "$zookeeper"; }
store_url() { echo "zookeeper://127.0.0.1:$zookeeper_port/bench?ttl=${ttl}s&tick=500ms"; }
own_name() { echo "kazoo Election"; }
own_run() { # with &
    PYTHONPATH=/usr/lib/python3/dist-packages exec setsid /usr/bin/python3 bench/engines/kazoo_run.py "127.0.0.1:$zookeeper_port" "$ttl" "/own/$1" "$2" "$3"
}
