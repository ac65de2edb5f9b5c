#!/usr/bin/env bash
# What many groups cost on three agents, and etcd beside it with as many keys under one lease (skipped with a line where it is not
# installed; scripts/setup-peers installs it).
#
# Environment: ELECTOR, the program; BUILD, a built folder; SIZES (1 1000 10000 100000), ETCD_SIZES (1000 10000), IDLE (20) seconds of
# rest; PHASES, if set: what each phase cost each agent and the client, too. As root it runs in a network namespace of its own, so that datagrams are those of the agents alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${ELECTOR_BENCH_NET:-}" ] && unshare --net true 2> /dev/null; then
    ELECTOR_BENCH_NET=own exec unshare --net "$0" "$@"
fi
[ "${ELECTOR_BENCH_NET:-}" != own ] || ip link set lo up
BUILD=$(realpath "${BUILD:-build/release}")
ELECTOR=$(realpath "${ELECTOR:-$BUILD/elector}")
read -ra sizes <<< "${SIZES:-1 1000 10000 100000}"
read -ra etcd_sizes <<< "${ETCD_SIZES-1000 10000}"
idle=${IDLE:-20}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/elector-groups.XXXXXX")
child=
finish() {
    [ -z "$child" ] || kill -TERM "$child" 2> /dev/null || true
    wait 2> /dev/null || true
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 143' TERM INT

row() { # SYSTEM GROUPS ACQUIRE CPU PACKETS BYTES OVER
    printf '%-10s %8s %12s %10s %12s %12s %14s\n' "$@"
}
echo "$(nproc) processors, load $(cut -d ' ' -f 1-3 /proc/loadavg); at rest for $idle s"
[ "${ELECTOR_BENCH_NET:-}" = own ] || echo "not in a network namespace of its own: datagrams are those of the whole host"
row '' groups 'all led' 'CPU' 'packets' 'bytes/group' 'after kill -9'
row '' '' ms '% of a core' 'a second' 'and member' 'all led, ms'
prefix=127.$((1 + $$ % 250)).$((1 + $$ / 250 % 250))
for size in "${sizes[@]}"; do
    "$ELECTOR" init --members "a=$prefix.1:7400,b=$prefix.2:7400,c=$prefix.3:7400" --cluster bench --out "$scratch/$size" > /dev/null
    "$BUILD/bench/bench-groups" "$ELECTOR" "$scratch/$size" "$size" "$idle" > "$scratch/row" &
    child=$!
    code=0
    wait "$child" || code=$?
    child=
    case $code in
    0) read -ra numbers < "$scratch/row" && row elector "${numbers[@]}" ;;
    3) row elector "$size" refused - - - - ;;
    *) row elector "$size" failed - - - - ;;
    esac
done
[ ${#etcd_sizes[@]} -eq 0 ] || IDLE=$idle BENCH=$BUILD/bench bench/groups/peer_etcd.sh "$scratch" "${etcd_sizes[@]}" ||
    echo "etcd: failed: $(tail -n 1 "$scratch/script.log")"
