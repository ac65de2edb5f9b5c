# shellcheck shell=bash disable=SC2154 # names of run.sh
# etcd, one server on loopback, and `etcdctl lock` as its own client.
etcd_port=${ETCD_PORT:-23790}
store_start() { # FOLDER
    etcd --data-dir "$1/etcd" --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
        --listen-peer-urls "http://127.0.0.1:$((etcd_port + 1))" --initial-advertise-peer-urls "http://127.0.0.1:$((etcd_port + 1))" \
        --initial-cluster "default=http://127.0.0.1:$((etcd_port + 1))" > "$1/etcd.log" 2>&1 &
    etcd=$!
    until ETCDCTL_API=3 etcdctl --endpoints "127.0.0.1:$etcd_port" endpoint health > /dev/null 2>&1; do sleep 0.1; done
}
store_stop() { kill -TERM "$etcd" && wait "$etcd"; }
store_url() { echo "etcd://127.0.0.1:$etcd_port/bench?ttl=${ttl}s"; }
own_name() { echo "etcdctl lock"; }
own_run() { ETCDCTL_API=3 exec setsid etcdctl --endpoints "127.0.0.1:$etcd_port" lock --ttl "$ttl" "own/$1" "$2" "$3"; } # with &
