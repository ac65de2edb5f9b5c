#!/usr/bin/env bash
# Is this build slower at failover than another one? Runs two builds in turns on the same machine, and prints the median of each for
# every kind of failover, their ratio, and faster, same or slower. The exit code is 1 if some kind is slower.
#
#     OLD=path/to/build bench/compare/run.sh
#
# Environment: OLD, the build to compare with; BUILD (build/release), the build in question; KINDS (worker agent transfer resign); ROUNDS (20)
# of TRIALS (10) for each build. Both folders must hold the program and the program of bench-failover.
#
# Load changes from minute to minute, so the trials of a round are not independent. A round therefore counts as one observation: the ratio of
# the two medians. The Wilcoxon signed-rank test over all rounds gives p, the probability that two equal builds differ as much.
set -euo pipefail
cd "$(dirname "$0")/../.."
old=$(realpath "${OLD:?OLD=path/to/build: the build to compare with}")
new=$(realpath "${BUILD:-build/release}")
read -ra kinds <<< "${KINDS:-worker agent transfer resign}"
rounds=${ROUNDS:-20}
for build in "$old" "$new"; do
    if ! [ -x "$build/elector" ] || ! [ -x "$build/bench/bench-failover" ]; then
        echo "bench-compare: $build lacks elector or bench-failover: build them first (cmake --build $build)" >&2
        exit 2
    fi
done

work=$(mktemp -d "${TMPDIR:-/tmp}/elector-compare.XXXXXX")
child=
# shellcheck disable=SC2317 # by the trap
finish() {
    [ -z "$child" ] || kill -TERM "$child" 2> /dev/null || true
    wait || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 143' TERM INT

try() { # SIDE KIND ROUND: appends ROUND KIND SIDE NS
    local build=${!1}
    env -u ELECTOR BUILD="$build" KINDS="$2" PEERS='' TRIALS="${TRIALS:-10}" SAMPLES="$work/one" bench/failover/run.sh \
        > /dev/null 2> "$work/log" &
    child=$!
    wait "$child" || { # so that a signal is heard
        cat "$work/log" >&2
        echo "bench-compare: $build: $2: failed" >&2
        exit 2
    }
    child=
    awk -v side="$1" -v round="$3" '$1 == "elector" { print round, $2, side, $3 }' "$work/one" >> "$work/samples"
}
for ((round = 1; round <= rounds; round++)); do
    echo "bench-compare: round $round of $rounds, load $(cut -d ' ' -f 1 /proc/loadavg)" >&2
    order=(old new)
    ((round % 2)) || order=(new old)
    for kind in "${kinds[@]}"; do
        for side in "${order[@]}"; do try "$side" "$kind" "$round"; done
    done
done

echo "TIME WITHOUT A LEADER of two builds in turns: $rounds rounds of ${TRIALS:-10} trials each, load $(cut -d ' ' -f 1-3 /proc/loadavg) at the end."
echo "old: $old"
echo "new: $new"
sort -k2,2 -k3,3 -k4,4n "$work/samples" | awk -v order="${kinds[*]}" '
function median(list, count) { return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2 }
function text(ns) { return ns < 1e6 ? sprintf("%.0f us", ns / 1e3) : sprintf("%.2f ms", ns / 1e6) }
function tail(z, x, t) { # two-sided; Abramowitz and Stegun 26.2.17
    x = z < 0 ? -z : z
    t = 1 / (1 + 0.2316419 * x)
    return 2 * exp(-x * x / 2) / sqrt(2 * 3.141592653589793) * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
}
function sorted(list, count, i, j, value) {
    for (i = 2; i <= count; i++) {
        value = list[i]
        for (j = i - 1; j > 0 && size(list[j]) > size(value); j--) list[j + 1] = list[j]
        list[j + 1] = value
    }
}
function size(value) { return by_size && value < 0 ? -value : value }
{
    all[$2, $3, ++total[$2, $3]] = $4 # in the order of size
    one[$1, $2, $3, ++trials[$1, $2, $3]] = $4
    if ($1 > rounds) rounds = $1
}
function median_of_all(kind, side, i, list) {
    for (i = 1; i <= total[kind, side]; i++) list[i] = all[kind, side, i]
    return median(list, total[kind, side])
}
function median_of_round(round, kind, side, i, list) {
    for (i = 1; i <= trials[round, kind, side]; i++) list[i] = one[round, kind, side, i]
    return median(list, trials[round, kind, side])
}
END {
    printf "%-12s %12s %12s %10s   %-8s %s\n", "what", "old median", "new median", "new/old", "verdict", "p"
    kinds = split(order, kind, " ")
    for (k = 1; k <= kinds; k++) {
        for (r = 1; r <= rounds; r++) logs[r] = log(median_of_round(r, kind[k], "new") / median_of_round(r, kind[k], "old"))
        by_size = 1
        sorted(logs, rounds)
        plus = 0
        for (r = 1; r <= rounds; r++) if (logs[r] > 0) plus += r
        p = tail((plus - rounds * (rounds + 1) / 4) / sqrt(rounds * (rounds + 1) * (2 * rounds + 1) / 24))
        by_size = 0
        sorted(logs, rounds)
        ratio = exp(median(logs, rounds))
        verdict = p >= 0.01 ? "same" : ratio > 1 ? "slower" : "faster"
        if (verdict == "slower") code = 1
        printf "%-12s %12s %12s %10.2f   %-8s %.3f\n", kind[k], text(median_of_all(kind[k], "old")), text(median_of_all(kind[k], "new")), ratio, verdict, p
    }
    exit code
}'
