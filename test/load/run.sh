#!/usr/bin/env bash
# No false failovers: three agents and three candidates on processors that others keep busy, with each profile. Who leads
# at the beginning leads at the end, in the same term. With wan a relay delays every datagram.
#
# Environment: ELECTOR, BUILD; ELECTOR_LOAD_S, seconds for each profile (600); ELECTOR_LOAD_PROFILES (lan fast realtime wan);
# ELECTOR_LOAD_PER_CPU, busy loops for each processor (2); ELECTOR_LOAD_OPTIONS, lines for [group *], ';' between them.
set -euo pipefail
cd "$(dirname "$0")/../.."
ELECTOR=$(realpath "${ELECTOR:-build/release/elector}")
BUILD=$(realpath "${BUILD:-build/release}")
lib=$BUILD/test
seconds=${ELECTOR_LOAD_S:-600}
[ "$seconds" -ge 10 ] || seconds=10
per_cpu=${ELECTOR_LOAD_PER_CPU:-2}
read -ra profiles <<< "${ELECTOR_LOAD_PROFILES:-lan fast realtime wan}"

if [ "${1:-}" = --profile ]; then # NAME FOLDER
    name=$2 dir=$3
    prefix=127.$((1 + $$ % 250)).$((1 + $$ / 250 % 250))
    port=$((7400 + $$ % 2000))
    mkdir "$dir"
    # shellcheck source=test/cluster/lib.sh
    source test/cluster/lib.sh
    trap clean_up EXIT
    trap 'exit 143' TERM INT
    [ "$name" != realtime ] || chrt -f 1 true 2> "$dir/chrt.log" || skip "no real-time scheduling here: $(head -n 1 "$dir/chrt.log")"
    names_token() { last=$(field "$1" work token) && [ -n "$last" ]; } # MEMBER
    found=found
    [ "$name" != wan ] || found=found_relayed
    lines=()
    [ -z "${ELECTOR_LOAD_OPTIONS:-}" ] || mapfile -t lines < <(tr ';' '\n' <<< "$ELECTOR_LOAD_OPTIONS") # with [group *] the configuration ends
    $found 3 "${lines[@]}"
    for m in "${members[@]}"; do sed -i "s/^\[cluster\]/&\nprofile = $name/" "$(conf "$m")"; done
    [ "$name" != wan ] || order 0 0 delay 80
    start "${members[@]}"
    for m in "${members[@]}"; do
        "$ELECTOR" campaign work --url "$(url "$m")" >> "$dir/campaign-$m.log" 2>&1 &
    done
    await 60 "all name a leader" agree
    sleep 2
    await 60 "all name a leader" agree
    for m in "${members[@]}"; do
        "$ELECTOR" observe work --url "$(url "$m")" >> "$dir/observe-$m.log" 2>&1 &
    done
    sleep 1
    await 60 "a answers" names_token a
    token=$last
    leader=$(field a work leader)
    for ((i = 0; i < per_cpu * $(nproc); i++)); do
        (while ((SECONDS < seconds + 120)); do :; done) & # not for ever, whatever becomes of us
    done
    sleep "$seconds"
    load=$(cut -d ' ' -f 1 /proc/loadavg)
    for m in "${members[@]}"; do
        await 60 "$m answers" names_token "$m"
        [ -s "$dir/observe-$m.log" ] || fail "$m was not observed"
    done
    terms=$(sed -n 's/.* token \([0-9]*\).*/\1/p' "$dir"/observe-*.log | sort -u | wc -l)
    blind=$(cat "$dir"/observe-*.log | grep -c nobody || true) # that a beat is late is no failover, but worth a word
    [ "$terms $last" = "1 $token" ] || fail "$((terms - 1)) failovers in $seconds s without a failure, load $load"
    echo "ok   $name: $leader led for $seconds s, load $load; views in which nobody led for a while: $blind" > "$dir/result"
    exit 0
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/elector-load.XXXXXX")
child=
finish() {
    [ -z "$child" ] || kill -TERM "$child" 2> /dev/null || true
    wait || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 143' TERM INT
failed=0
for profile in "${profiles[@]}"; do
    "$0" --profile "$profile" "$work/$profile" > "$work/$profile.out" 2>&1 &
    child=$!
    wait "$child" || true
    child=
    result="FAIL $profile: it told no end: $(tail -n 1 "$work/$profile.out")"
    [ ! -s "$work/$profile/result" ] || result=$(cat "$work/$profile/result")
    echo "$result"
    [[ $result == ok* || $result == skip* ]] || failed=1
done
exit $failed
