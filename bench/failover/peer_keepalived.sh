#!/usr/bin/env bash
# keepalived: two hosts as network namespaces on a bridge, VRRP version 3 with priorities 200 and 100. The master is killed,
# which to the other is silence, or ended, which tells it. Until the other says MASTER. It votes with nobody: two
# masters are possible, which the others exclude.
# shellcheck source=bench/failover/peer.sh
source "$(dirname "$0")/peer.sh"
needs keepalived ip
tag=el$(($$ % 10000))
clean() {
    end_all
    local n
    for n in 1 2; do ip netns del "$tag-$n" 2> /dev/null || true; done
    ip netns del "$tag-0" 2> /dev/null || true
}
trap clean EXIT
ip netns add "$tag-0" || skip "no network namespaces here"
ip -n "$tag-0" link add name bridge0 type bridge
ip -n "$tag-0" link set bridge0 up
for n in 1 2; do
    ip netns add "$tag-$n"
    ip -n "$tag-$n" link add eth0 type veth peer name "v$n" netns "$tag-0"
    ip -n "$tag-0" link set "v$n" master bridge0 up
    ip -n "$tag-$n" addr add "10.77.0.$n/24" dev eth0
    ip -n "$tag-$n" link set lo up
    ip -n "$tag-$n" link set eth0 up
done
pids=() fifos=()
for n in 1 2; do
    mkfifo "$work/news$n"
    exec {fd}<> "$work/news$n"
    fifos[n]=$fd
done
serve() { # NUMBER INTERVAL
    cat > "$work/$1.conf" << END
global_defs {
    vrrp_version 3
    vrrp_notify_fifo $work/news$1
}
vrrp_instance work {
    interface eth0
    state BACKUP
    virtual_router_id 51
    priority $((300 - 100 * $1))
    advert_int $2
    virtual_ipaddress { 10.77.0.100/24 }
}
END
    start "keepalived$1.log" ip netns exec "$tag-$1" keepalived --dont-fork --log-console --vrrp -f "$work/$1.conf" -p "$work/$1.pid" -r "$work/$1-vrrp.pid"
    pids[$1]=$!
}
await_master() { # NUMBER
    local line
    while read -rt 60 -u "${fifos[$1]}" line; do [[ $line != *MASTER* ]] || return 0; done
    give_up "host $1 is master"
}
for interval in ${KEEPALIVED_INTERVALS:-1 0.1}; do
    serve 1 "$interval"
    await_master 1
    serve 2 "$interval"
    for way in silence:KILL resign:TERM; do
        for ((i = 0; i < trials; i++)); do
            sleep "$(awk "BEGIN { print 3 * $interval + 0.5 }")"
            drain "${fifos[2]}"
            mapfile -t its < <(ip netns pids "$tag-1") # it is two processes
            from=$(now_us)
            if [ "${way#*:}" = KILL ]; then
                kill -KILL "${its[@]}"
            else
                kill -TERM "${pids[1]}"
            fi
            await_master 2
            to=$(now_us)
            sample keepalived "${way%:*}:every_${interval}_s" "$from" "$to"
            wait "${pids[1]}" 2> /dev/null || true
            drain "${fifos[1]}"
            rm -f "$work"/1*.pid # it takes a dead process for itself
            serve 1 "$interval"
            await_master 1
        done
    done
    kill -TERM "${pids[1]}" "${pids[2]}"
    wait "${pids[1]}" "${pids[2]}" 2> /dev/null || true
done
