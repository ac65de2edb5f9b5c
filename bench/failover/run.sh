#!/usr/bin/env bash
# How long nobody leads, by what ended the leader, here and with others' systems on the same machine in the same run. Each
# peer is skipped with a line where it is not installed (scripts/setup-peers installs them).
#
# Environment: ELECTOR, the program; BUILD, a built folder; TRIALS (200) of each kind, PEER_TRIALS (10), KINDS and PEERS to
# run only some; KEEP=1 keeps the folder with samples and logs.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=$(realpath "${BUILD:-build/release}")
ELECTOR=$(realpath "${ELECTOR:-$BUILD/elector}")
trials=${TRIALS:-200}
export PEER_TRIALS=${PEER_TRIALS:-10} BENCH=$BUILD/bench
read -ra kinds <<< "${KINDS:-round-trip worker agent silence transfer resign command}"
read -ra peers <<< "${PEERS-etcd zookeeper keepalived libraft}"
lease_ms=1000 # of the default profile

work=$(mktemp -d "${TMPDIR:-/tmp}/elector-failover.XXXXXX")
child=
finish() {
    [ -z "$child" ] || kill -TERM "$child" 2> /dev/null || true
    wait || true
    if [ -n "${KEEP:-}" ]; then echo "kept in $work"; else rm -rf "$work"; fi
}
trap finish EXIT
trap 'exit 143' TERM INT

load() { cut -d ' ' -f 1-3 /proc/loadavg; }
run() { # COMMAND…: so that a signal reaches it
    local code=0
    "$@" &
    child=$!
    wait "$child" || code=$?
    child=
    return $code
}

prefix=127.$((1 + $$ % 250)).$((1 + $$ / 250 % 250))
port=$((7400 + $$ % 2000))
"$ELECTOR" init --members "a=$prefix.1:$port,b=$prefix.2:$port,c=$prefix.3:$port" --cluster bench --out "$work/cluster" > "$work/init.log"
before=$(load)
run "$BENCH/bench-failover" "$ELECTOR" "$work/cluster" "$lease_ms" "$trials" "${kinds[@]}" > "$work/samples" || {
    tail -n 3 "$work"/cluster/*.log >&2
    exit 1
}
for peer in "${peers[@]}"; do
    mkdir "$work/$peer"
    run "bench/failover/peer_$peer.sh" "$work/$peer" >> "$work/samples" || echo "$peer: ended early; what it gave until then is below" >&2
done
echo "Time without a leader: from what ended it until the successor knows. Lease $lease_ms ms; $(nproc) processors; load $before before,"
echo "$(load) after. elector command: until the successor's command has begun."
echo
awk -f bench/failover/table.awk "$work/samples"
