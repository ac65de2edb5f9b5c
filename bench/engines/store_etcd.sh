# shellcheck shell=bash disable=SC2154 # names of run.sh
# etcd, three servers on loopback, and `etcdctl lock` as its own client.
etcd_port=${ETCD_PORT:-23790}
etcd_pids=()
etcd_client() { echo "127.0.0.1:$((etcd_port + 10 * $1))"; } # NUMBER
etcd_all() { echo "$(etcd_client 0),$(etcd_client 1),$(etcd_client 2)"; }
etcd_run() { # NUMBER
    local peers='' i
    for i in 0 1 2; do peers+=${peers:+,}e$i=http://127.0.0.1:$((etcd_port + 10 * i + 1)); done
    etcd --name "e$1" --data-dir "$work/etcd$1" --listen-client-urls "http://$(etcd_client "$1")" --advertise-client-urls "http://$(etcd_client "$1")" \
        --listen-peer-urls "http://127.0.0.1:$((etcd_port + 10 * $1 + 1))" --initial-advertise-peer-urls "http://127.0.0.1:$((etcd_port + 10 * $1 + 1))" \
        --initial-cluster "$peers" >> "$work/etcd.log" 2>&1 &
    etcd_pids[$1]=$!
}
etcd_is_well() { ETCDCTL_API=3 etcdctl --endpoints "$(etcd_all)" endpoint health > /dev/null 2>&1; } # all three
store_start() {
    local i
    for i in 0 1 2; do etcd_run "$i"; done
    until etcd_is_well; do sleep 0.1; done
}
store_stop() { end_process "${etcd_pids[@]}"; }
store_kill_leader() {
    local i
    for i in 0 1 2; do
        ETCDCTL_API=3 etcdctl --endpoints "$(etcd_client "$i")" endpoint status -w fields 2> /dev/null |
            awk '/"MemberID"/ { id = $3 } /"Leader"/ { leader = $3 } END { exit !(id && id == leader) }' || continue
        etcd_killed=$i
        end_process "${etcd_pids[i]}"
        return
    done
}
store_heal() {
    etcd_run "$etcd_killed"
    until etcd_is_well; do sleep 0.1; done
}
store_url() { echo "etcd://$(etcd_all)/bench?ttl=${ttl}s"; }
own_clients=("etcdctl lock")
own_run() { # WHO GROUP COMMAND FILE: with &
    ETCDCTL_API=3 exec setsid etcdctl --endpoints "$(etcd_all)" lock --ttl "$ttl" "own/$2" "$3" "$4"
}
