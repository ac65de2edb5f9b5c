#!/usr/bin/env bash
# keepalived: two hosts that share an address by VRRP version 3. The first, which is preferred, is this one's network, because
# only there the kernel tells of processes that die; the other is a namespace. It votes with nobody: two masters are possible,
# which the others exclude. KEEPALIVED_INTERVAL: between its advertisements, in s; its own is 1.
# shellcheck source=bench/failover/peer.sh
source "$(dirname "$0")/peer.sh"
needs keepalived ip
interval=${KEEPALIVED_INTERVAL:-0.01} # the shortest that it takes
tag=el$(($$ % 100000))
clean() {
    end_all
    ip link del "$tag" 2> /dev/null || true
    ip netns del "$tag" 2> /dev/null || true
}
ip netns add "$tag" 2> /dev/null || skip "no network namespaces here (not root?)"
trap clean EXIT
ip link add "$tag" type veth peer name "$tag" netns "$tag"
ip addr add 198.18.77.1/24 dev "$tag" # of those that are kept for benches
ip -n "$tag" addr add 198.18.77.2/24 dev "$tag"
ip link set "$tag" up
ip -n "$tag" link set "$tag" up
hosts=() fifos=() state=([1]='' [2]='') worker=''
for n in 1 2; do
    fifo "news$n"
    fifos[n]=$fd
done
cp "$(command -v sleep)" "$work/$tag" # processes are tracked by name
work() {
    start worker.log "$work/$tag" 100000
    worker=$!
}
serve() { # NUMBER: the second is a little less preferred, so that it waits hardly longer than it must
    rm -f "$work/$1"*.pid # it takes a dead process for itself
    echo 0 > "$work/preference$1"
    cat > "$work/$1.conf" << END
global_defs {
    vrrp_version 3
    vrrp_notify_fifo $work/news$1
}
vrrp_track_process worker {
    process $tag
}
track_file preference {
    file $work/preference$1
    weight 1
}
vrrp_instance work {
    interface $tag
    state BACKUP
    virtual_router_id 51
    priority $((256 - 2 * $1))
    advert_int $interval
    virtual_ipaddress { 198.18.77.100/24 }
    track_file { preference }
$([ "$1" != 1 ] || echo 'track_process { worker }')
}
END
    local inside=()
    [ "$1" = 1 ] || inside=(ip netns exec "$tag")
    start "keepalived$1.log" "${inside[@]}" keepalived --dont-fork --log-console --vrrp -f "$work/$1.conf" -p "$work/$1.pid" -r "$work/$1-vrrp.pid"
    hosts[$1]=$!
}
processes_of() { # NUMBER: it is two processes, in $its; the one that is told of the other's death is first
    its=("$(< "$work/$1-vrrp.pid")" "${hosts[$1]}")
}
follow() { # NUMBER SECONDS: its next word, in state[NUMBER]; false: there was none
    local line
    next_line "${fifos[$1]}" "$2" || return 1
    line=${line% *} # INSTANCE "work" MASTER 254; MASTER_RX_LOWER_PRI is one that stays master
    line=${line##* }
    state[$1]=${line%%_*}
}
is_settled() { # the first is master, and the second knows; at so short an interval a busy machine makes it another's for a moment
    local n
    for n in 1 2; do while follow $n 0.005; do :; done; done
    [ "${state[1]} ${state[2]}" = 'MASTER BACKUP' ]
}
second_leads() { until [ "${state[2]}" = MASTER ]; do follow 2 5 || return 1; done; }
try_way() { # KIND DOES UNDOES
    local began failures=0
    while more; do
        within 10 is_settled || give_up "host 1 is master (${state[*]})"
        doze 50 30 # a few advertisements
        is_settled || continue
        processes_of 1
        stamp
        began=$now
        $2
        if second_leads; then
            sample "$1" "$began" "$now"
        else
            ((++failures < 20)) || give_up "host 2 is master"
        fi
        $3
    done
}
kill_worker() { kill -KILL "$worker"; }
kill_host() { kill -KILL "${its[@]}"; }
stop_host() { kill -STOP "${its[@]}"; }
continue_host() { kill -CONT "${its[@]}"; }
end_host() { kill -TERM "${hosts[1]}"; }
serve_again() { # an address that is left of the last life is no matter to it
    end KILL "${its[@]}"
    state[1]=gone
    serve 1
}
lower() { echo -100 > "$work/preference1"; }
raise() { echo 0 > "$work/preference1"; }

legend "$(keepalived --version 2>&1 | sed -n 's/^Keepalived v\([0-9.]*\).*/\1/p'), VRRP 3, advertisements every $interval s (its own: 1), the shortest; two hosts, no majority: not safe in a partition"
legend "worker: a tracked process killed; agent: keepalived killed; silence: it is stopped"
legend "transfer: the other becomes preferred; resign: SIGTERM, which tells the other"
work
serve 1
serve 2
try_kind worker try_way worker kill_worker work
try_kind agent try_way agent kill_host serve_again
try_kind silence try_way silence stop_host continue_host
try_kind transfer try_way transfer lower raise
try_kind resign try_way resign end_host serve_again
