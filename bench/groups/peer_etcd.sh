#!/usr/bin/env bash
# etcd with a key for each election, all under one lease of 2 s that is kept alive; then the holder and the server it spoke to
# are killed, and another waits for the lease to end and takes all keys.
sizes=("${@:2}")
# shellcheck source=bench/failover/peer.sh
source "$(dirname "$0")/../failover/peer.sh"
needs etcd etcdctl
export ETCDCTL_API=3
base=$(free_port)
cluster=''
for i in 0 1 2; do cluster+="${cluster:+,}n$i=http://127.0.0.1:$((base + 20 + i))"; done
cpu() { # of all servers, in clock ticks
    local pid sum=0 fields
    for pid in "${servers[@]}"; do
        read -ra fields < "/proc/$pid/stat"
        sum=$((sum + fields[13] + fields[14]))
    done
    echo $sum
}
packets() { awk '/^Tcp: [0-9-]/ { print $12 }' /proc/net/snmp; }
memory() {
    local pid sum=0
    for pid in "${servers[@]}"; do sum=$((sum + $(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status"))); done
    echo $((sum * 1024))
}
ask() { timeout -k 1 10 etcdctl "$@"; } # a server that hangs ends the run, not only one that refuses
works() { ask --endpoints "127.0.0.1:$1" --command-timeout 1s put probe 1 > /dev/null 2>&1; }
grant() { ask --endpoints "127.0.0.1:$1" lease grant 2 | sed -n 's/^lease \([0-9a-f]*\) .*/\1/p'; }
for size in "${sizes[@]}"; do
    servers=()
    for i in 0 1 2; do
        start "etcd-$size-$i.log" etcd --name "n$i" --data-dir "$work/etcd-$size-$i" --initial-cluster "$cluster" --initial-cluster-state new \
            --listen-client-urls "http://127.0.0.1:$((base + 10 + i))" --advertise-client-urls "http://127.0.0.1:$((base + 10 + i))" \
            --listen-peer-urls "http://127.0.0.1:$((base + 20 + i))" --initial-advertise-peer-urls "http://127.0.0.1:$((base + 20 + i))"
        servers+=($!)
    done
    for i in 0 1 2; do await 60 "etcd serves" works $((base + 10 + i)); done
    before=$(memory)
    lease=$(grant $((base + 10)))
    start keep.log etcdctl --endpoints "127.0.0.1:$((base + 10))" lease keep-alive "$lease"
    keeper=$!
    took=$("$BENCH/peer-etcd_keys" $((base + 10)) "$size" $((16#$lease)) 0)
    sleep 3
    grown=$(($(memory) - before))
    ticks=$(cpu) sent=$(packets)
    sleep "${IDLE:-20}"
    ticks=$(($(cpu) - ticks)) sent=$(($(packets) - sent))
    heir=$(grant $((base + 11))) # kept, so that it is there when it is needed
    start keep.log etcdctl --endpoints "127.0.0.1:$((base + 11))" lease keep-alive "$heir"
    stamp
    from=$now
    kill -KILL "$keeper" "${servers[0]}"
    "$BENCH/peer-etcd_keys" $((base + 11)) "$size" $((16#$heir)) 120 > /dev/null || give_up "another holds all keys"
    stamp
    echo "etcd $size $took $(awk "BEGIN { printf \"%.2f\", $ticks * 100 / $(getconf CLK_TCK) / ${IDLE:-20} }") $((sent / ${IDLE:-20})) $((grown / 3 / size)) $(((now - from) / 1000))"
    end_all
done
