#!/usr/bin/env bash
# Attacks by a neighbour on an agent that leads 1,000 groups with profile fast: no lease may be lost, and no turn of the agent's loop
# may take longer than a tenth of the lease. The agent may take 128 MiB more memory, HTTP answers meanwhile, and a member that restarts
# gets in. Fails otherwise. As root the attackers are other users, and the agent's file system is frozen, too.
#
# If others took more than a quarter of a processor during an attack, a turn is as long as they made it: then its own time is judged. That is
# its processor time, or all of it if the agent slept in it, so a call that blocks is found all the same.
#
# Environment: ELECTOR, the program; BUILD, a built folder; SECONDS_EACH (60); ATTACKS, names of attacks (all).
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${ELECTOR_BENCH_NET:-}" ] && unshare --net --mount true 2> /dev/null; then
    ELECTOR_BENCH_NET=own exec unshare --net --mount "$0" "$@"
fi
[ "${ELECTOR_BENCH_NET:-}" != own ] || ip link set lo up
BUILD=$(realpath "${BUILD:-build/release}")
ELECTOR=$(realpath "${ELECTOR:-$BUILD/elector}")
seconds=${SECONDS_EACH:-60}
lease_ms=500
read -ra names <<< "${ATTACKS:-why status crowd candidacies come-and-go expelled hangs descriptors slow-http http handshakes cluster-key replays frozen-disk}"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/elector-hostile.XXXXXX")
chmod 755 "$scratch"
mounted=
child=
finish() {
    [ -z "$child" ] || kill -TERM "$child" 2> /dev/null || true
    wait 2> /dev/null || true
    if [ -n "$mounted" ]; then
        fsfreeze --unfreeze "$mounted" 2> /dev/null || true
        umount "$mounted" || umount --lazy "$mounted" || true
    fi
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 143' TERM INT

mount_disk() { # FOLDER: a file system of its own; false: that is not possible here
    mkdir "$1" && truncate -s 64M "$scratch/disk" && mkfs.ext4 -q "$scratch/disk" 2> /dev/null &&
        mount -o loop "$scratch/disk" "$1" 2> /dev/null && mounted=$1 && chmod 755 "$1"
}

# The agent that is attacked has HTTP, and lets everybody connect.
write_files() { # FOLDER PREFIX
    local m
    "$ELECTOR" init --members "a=$2.1:7400,b=$2.2:7400,c=$2.3:7400" --cluster hostile --out "$1" > /dev/null
    for m in a b c; do
        sed -i -e 's/^\[cluster\]/&\nprofile = fast/' -e '/^http *=/d' \
            -e "s/^\[agent\]/&\nsocket-mode = 0666\nhttp = $([ "$m" = a ] && echo "$2.1:7480" || echo off)/" "$1/$m/elector.conf"
        chmod 755 "$1" "$1/$m"
    done
}

echo "WHAT A NEIGHBOUR CAN DO: three members, 1,000 groups led at one of them, profile fast (lease $lease_ms ms), $seconds s for each attack."
echo "$(nproc) processors, load $(cut -d ' ' -f 1-3 /proc/loadavg). The attackers are $([ "$(id -u)" = 0 ] && echo 'another user' || echo "the agent's own user")."
echo
line='%-14s %12s %13s %14s %14s %12s %10s   %s\n'
# shellcheck disable=SC2059 # one line for heads and figures
printf "$line" attack 'leases lost' 'turn before' 'longest turn' 'its own time' 'others took' memory verdict
ms() { awk "BEGIN { printf \"%.1f ms\", $1 / 1000 }"; } # MICROSECONDS
code=0
prefix=127.$((1 + $$ % 250)).$((1 + $$ / 250 % 250))
for name in "${names[@]}"; do
    folder=$scratch/$name
    disk=
    if [ "$name" = frozen-disk ]; then
        if ! mount_disk "$folder"; then
            printf '%-14s %s\n' "$name" "left out: no file system can be mounted here"
            continue
        fi
        disk=$folder
        folder=$folder/cluster
    fi
    write_files "$folder" "$prefix"
    "$BUILD/bench/bench-hostile" "$ELECTOR" "$folder" "$folder/a/agent.sock" "$prefix.1:7480" "$prefix.1:7400" "$name" "$seconds" "$disk" \
        > "$scratch/row" &
    child=$!
    failed=0
    wait "$child" || failed=1
    child=
    if [ "$failed" = 1 ]; then
        printf '%-14s %s\n' "$name" "FAILED: the bench says why on standard error; the agent's log ends: $(tail -n 1 "$folder/a.log" 2> /dev/null)"
        code=1
        continue
    fi
    read -r lost before longest own others watched memory words < "$scratch/row"
    verdict=ok
    judged=$longest
    if [ "$others" -gt 250 ] && [ "$own" -lt "$longest" ]; then
        judged=$own
        verdict='ok, by its own time'
    fi
    if [ "$lost" != 0 ] || [ "$watched" != good ] || ((judged > lease_ms * 100)) || ((longest == 0)); then
        verdict=FAILED
        code=1
    fi
    # shellcheck disable=SC2059
    printf "$line" "$name" "$lost" "$(ms "$before")" "$(ms "$longest")" "$(ms "$own")" "$(awk "BEGIN { printf \"%.2f CPUs\", $others / 1000 }")" \
        "+$memory MiB" "$verdict${words:+; $words}"
done
echo
echo "The longest turn is that since the agent's start. The limit is a tenth of the lease, $((lease_ms / 10)) ms. Its own time is without that in which"
echo "other processes had the processor; it is judged where others than agents and attackers took more than 0.25 CPUs."
exit $code
