#!/usr/bin/env bash
# What many groups cost on three agents, and etcd beside it with as many keys under one lease (skipped with a line where it is not
# installed; scripts/setup-peers installs it).
#
# Environment: ELECTOR, the program; BUILD, a built folder; SIZES (1 1000 10000 100000 1000000), ETCD_SIZES (1000 10000), IDLE (20) seconds of
# rest; SVG, a file for a picture of how time, memory and packets grow; PHASES, if set: what each phase cost each agent and the client, too; HOLDER_LIVES, if set: only the agent is killed, not its candidate. As root it runs in a network namespace of its own, so that datagrams are those of the agents alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${ELECTOR_BENCH_NET:-}" ] && unshare --net true 2> /dev/null; then
    ELECTOR_BENCH_NET=own exec unshare --net "$0" "$@"
fi
[ "${ELECTOR_BENCH_NET:-}" != own ] || ip link set lo up
BUILD=$(realpath "${BUILD:-build/release}")
ELECTOR=$(realpath "${ELECTOR:-$BUILD/elector}")
read -ra sizes <<< "${SIZES:-1 1000 10000 100000 1000000}"
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

say() { echo "bench-groups: $*" >&2; }
line='%-8s %8s %11s %14s %10s %14s %18s\n'
row() { # SYSTEM GROUPS ACQUIRE_MS CPU_PERCENT PACKETS BYTES OVER_MS; - or a word where there is no figure
    local units=('' '' ' ms' ' %' '' ' B' ' ms') cells=("$@") i
    for i in "${!cells[@]}"; do [[ ! ${cells[i]} =~ ^-?[0-9.]+$ ]] || cells[i]+=${units[i]}; done
    # shellcheck disable=SC2059 # one line for heads and figures
    printf "$line" "${cells[@]}"
}
run() { # COMMAND…: its output in $scratch/rows; so that a signal reaches it
    local code=0
    "$@" > "$scratch/rows" &
    child=$!
    wait "$child" || code=$?
    child=
    return $code
}
echo "WHAT MANY GROUPS COST: three members on this machine, one candidate that leads all groups, at rest for $idle s."
echo "$(nproc) processors, load $(cut -d ' ' -f 1-3 /proc/loadavg).$([ "${ELECTOR_BENCH_NET:-}" = own ] || echo " No network namespace of its own: packets are those of the whole host.")"
echo
row '' groups 'until all' 'CPU of a' 'packets' 'memory, for' 'all led again'
row '' '' 'are led' 'core, at rest' 'a second' 'one group (1)' 'after kill -9 (2)'
prefix=127.$((1 + $$ % 250)).$((1 + $$ / 250 % 250))
for size in "${sizes[@]}"; do
    "$ELECTOR" init --members "a=$prefix.1:7400,b=$prefix.2:7400,c=$prefix.3:7400" --cluster bench --out "$scratch/$size" > /dev/null
    sed -i "s/^\[agent\]/&\ngroup-limit = 1048576/" "$scratch/$size"/*/elector.conf
    say "elector: $size groups"
    code=0
    run "$BUILD/bench/bench-groups" "$ELECTOR" "$scratch/$size" "$size" "$idle" || code=$?
    case $code in
    0) read -ra numbers < "$scratch/rows" && row elector "${numbers[@]}" && echo "${numbers[@]}" >> "$scratch/grown" ;;
    3) row elector "$size" refused - - - - ;;
    *) row elector "$size" failed - - - - ;;
    esac
done
[ -z "${SVG:-}" ] || [ ! -e "$scratch/grown" ] || awk -f bench/groups/growth.awk "$scratch/grown" > "$SVG"
if [ ${#etcd_sizes[@]} -gt 0 ]; then
    say "etcd: ${etcd_sizes[*]} keys"
    IDLE=$idle BENCH=$BUILD/bench run timeout -k 10 $((${#etcd_sizes[@]} * (idle + 300))) bench/groups/peer_etcd.sh "$scratch" "${etcd_sizes[@]}" ||
        say "etcd: ended early: $(tail -n 1 "$scratch/script.log")"
    while read -ra numbers; do [ "${numbers[0]}" != etcd ] || row "${numbers[@]}"; done < "$scratch/rows"
fi
echo
echo "(1) at each member, beyond what it takes without groups. (2) of the agent at which all groups are led$([ -n "${HOLDER_LIVES:-}" ] || echo ', and its candidate');"
echo "etcd: of the holder and the server that it speaks to, with a key for each group under one lease of 2 s."
echo "At best groups that nothing happens to are free: CPU and packets do not grow with them."
