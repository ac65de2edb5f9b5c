#!/usr/bin/env bash
# How long nobody leads, by what ended the leader, here and with others' systems on the same machine in the same run: a table on
# stdout, progress on stderr. Ours first, with nothing beside it, then each peer; one that is not installed is skipped with a
# line (scripts/setup-peers installs them), and one that fails leaves what it had. It takes about 20 minutes.
#
# Environment: ELECTOR, the program; BUILD, a built folder; TRIALS (200) of each kind, PEER_TRIALS (200) for which each kind has
# PEER_SECONDS (300), KINDS and PEERS to run only some; SAMPLES, a file for a copy of all samples; KEEP=1 keeps the folder with samples and logs. Peers' times: ETCD_TIMES, ZOOKEEPER_TICK, KEEPALIVED_INTERVAL,
# LIBRAFT_TIMES (see bench/failover/peer_*.sh).
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=$(realpath "${BUILD:-build/release}")
ELECTOR=$(realpath "${ELECTOR:-$BUILD/elector}")
trials=${TRIALS:-200}
export PEER_TRIALS=${PEER_TRIALS:-200} PEER_SECONDS=${PEER_SECONDS:-300} BENCH=$BUILD/bench
read -ra kinds <<< "${KINDS-round-trip worker agent silence silence-fast transfer resign command}"
read -ra peers <<< "${PEERS-etcd zookeeper keepalived libraft}"

work=$(mktemp -d "${TMPDIR:-/tmp}/elector-failover.XXXXXX")
export ELECTOR_BENCH_WORK=$work # by which all that was started is known
children=()
# shellcheck disable=SC2317 # by the trap
finish() {
    trap '' TERM INT
    local tries pids
    ((${#children[@]} == 0)) || kill -TERM "${children[@]}" 2> /dev/null || true
    for ((tries = 0; tries < 50; tries++)); do # a peer takes down what it set up
        kill -0 "${children[@]}" 2> /dev/null || break
        sleep 0.1
    done
    mapfile -t pids < <(grep -lsFxz "ELECTOR_BENCH_WORK=$work" /proc/[0-9]*/environ | tr -dc '0-9\n')
    ((${#pids[@]} == 0)) || kill -KILL "${pids[@]}" 2> /dev/null || true
    wait || true
    if [ -n "${KEEP:-}" ]; then echo "kept in $work" >&2; else rm -rf "$work"; fi
}
trap finish EXIT
trap 'exit 143' TERM INT

say() { echo "bench-failover: $*" >&2; }
load() { cut -d ' ' -f 1-3 /proc/loadavg; }
wait_all() { # so that a signal is heard
    local child code=0
    for child in "${children[@]}"; do wait "$child" || code=1; done
    children=()
    return $code
}
# Clusters that take turns, so that one tries while another rests after its trial; see trials.c.
clusters_for() { # KIND
    case $1 in
    silence*) echo 8 ;;
    agent) echo 4 ;;
    worker | transfer | resign) echo 2 ;;
    *) echo 1 ;;
    esac
}
try_ours() { # KIND
    local kind=$1 since=$SECONDS lease_ms=1000 prefix clusters i
    [[ $kind != *-fast ]] || lease_ms=500 # of the profiles lan, which is the preset, and fast
    clusters=$(clusters_for "$kind")
    ((clusters <= trials)) || clusters=1
    say "elector: $kind"
    mkdir "$work/$kind"
    for ((i = 0; i < clusters; i++)); do
        prefix=127.$((1 + $$ % 250)).$((1 + ($$ / 250 + i) % 250))
        "$ELECTOR" init --members "a=$prefix.1:$port,b=$prefix.2:$port,c=$prefix.3:$port" --cluster bench --out "$work/$kind/$i" >> "$work/init.log"
        [[ $kind != *-fast ]] || sed -i 's/^\[cluster\]$/&\nprofile = fast/' "$work/$kind/$i"/*/elector.conf
        "$BENCH/bench-failover" "$ELECTOR" "$work/$kind/$i" "$lease_ms" $((trials * (i + 1) / clusters - trials * i / clusters)) "${kind%-fast}" >> "$work/$kind/samples" &
        children+=($!)
    done
    wait_all || {
        say "elector: $kind: ended early; what it gave until then is in the table"
        tail -qn 3 "$work/$kind"/*/*.log >&2 || true
        failed=1
    }
    sed "s/^elector [^ ]* /elector $kind /" "$work/$kind/samples" >> "$work/samples"
    say "elector: $kind: $(grep -c ^elector "$work/$kind/samples") trials in $((SECONDS - since)) s"
}

port=$((7400 + $$ % 2000))
failed=0
before=$(load)
{
    echo "# elector: presets, a lease of 1 s (its shortest profile, fast: 500 ms)"
    echo "# elector: worker: candidate killed; agent: agent killed, of which its guardian tells; silence: all of a member stopped"
    echo "# elector: clusters that take turns, one trial at a time: 2, for agent 4; silence: 8 side by side"
} > "$work/samples"
for kind in "${kinds[@]}"; do try_ours "$kind"; done
for peer in "${peers[@]}"; do
    since=$SECONDS
    mkdir "$work/$peer"
    timeout -k 10 $((6 * PEER_SECONDS + 300)) "bench/failover/peer_$peer.sh" "$work/$peer" >> "$work/samples" &
    children+=($!)
    wait_all || {
        say "$peer: ended early; what it gave until then is in the table"
        tail -n 2 "$work/$peer/script.log" >&2
        echo "# $peer: ended early" >> "$work/samples"
        failed=1
    }
    say "$peer: $((SECONDS - since)) s"
done
[ -z "${SAMPLES:-}" ] || cp "$work/samples" "$SAMPLES"
awk -v machine="$(nproc) processors, load $before before and $(load) after, $((SECONDS / 60)) min $((SECONDS % 60)) s" \
    -f bench/failover/table.awk "$work/samples"
exit $failed
