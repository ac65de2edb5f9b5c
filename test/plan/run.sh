#!/usr/bin/env bash
# elector plan: what it says of a configuration, what it warns of and refuses; and that in the simulator nobody is without a
# leader for longer than it says, whatever happens, with the settings of the configuration.
#
# Environment: ELECTOR, the program (default: the release build's).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
export LC_ALL=C
ELECTOR=${ELECTOR:-build/release/elector}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAIL  $1: $2"
}
verify() { # NAME WHAT COMMAND...
    local name=$1 what=$2
    shift 2
    if "$@" >/dev/null 2>&1; then pass; else fail "$name" "$what"; fi
}
ends_with() { # CODE ARGUMENTS: elector plan
    local wanted=$1 code=0
    shift
    "$ELECTOR" plan "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
    if [ "$code" -eq "$wanted" ]; then pass; else fail "plan $*" "ends with $code, not $wanted: $(cat "$scratch/err")"; fi
}
says() { verify "$1" "does not say: $2; but: $(tail -n 3 "$scratch/out")" grep -qE -- "$2" "$scratch/out"; }
complains() { verify "$1" "does not complain: $2; but: $(cat "$scratch/err")" grep -qE -- "$2" "$scratch/err"; }

# conf VOTERS [LINE...]: members on hosts of their own, without keys that would have to be there
conf() {
    local i voters=$1
    shift
    printf '[cluster]\nname = shop\ntransmit = 5ms\n'
    for ((i = 1; i <= voters; i++)); do printf '[member m%d]\nid = %d\naddress = 10.0.0.%d:7400\nkey = %s\n' "$i" "$i" "$i" "$(key "$i")"; done
    printf '[agent]\nself = m1\nkey-file = nowhere\ncluster-key-file = nowhere\n'
    [ $# -eq 0 ] || printf '%s\n' "$@"
}
key() { printf '%032d' "$1" | base64; }
number() { # EVENT: in microseconds, of what was written as JSON
    sed -nE "s/.*\"event\":\"$1\"[^}]*\"leaderless_us\":([0-9]+).*/\\1/p" "$scratch/out"
}

# ---- What it says ---------------------------------------------------------------------------------

conf 3 >"$scratch/three"
ends_with 0 --config "$scratch/three"
says three '^cluster shop: 3 votes, 2 elect, so 1 may fail$'
says three 'a worker crashes +12\.0 ms +2 m'
says three 'a host dies, hangs or is cut off +1326 ms'
says three 'SIGTERM at 618 ms, SIGKILL at 855 ms'
if grep warning "$scratch/out"; then fail three "warns of what is well"; else pass; fi
ends_with 0 "--config=$scratch/three" --output json
says three '"votes":3,"majority":2,"failures":1'
says three '"warnings":\[\]'

conf 2 >"$scratch/two"
ends_with 0 --config "$scratch/two"
says two 'warning +with two votes no member may fail'
conf 4 '[group shard-*]' 'lease = 400ms' 'beat = 100ms' 're-ask = 100ms' '[group lobby]' 'algorithm = bully' >"$scratch/four"
ends_with 0 --config "$scratch/four"
says four 'warning +an even number of votes'
says four '^group shard-\*: quorum$'
# shellcheck disable=SC2016 # the backticks are those of the text
says four 'raise `lease`, or lower `beat`'
says four '^group lobby: bully$'
says four 'elector algorithms bully'
says four '^group \*: quorum$'
sed 's/10\.0\.0\.2:7400/10.0.0.1:7401/' "$scratch/three" >"$scratch/shared"
ends_with 0 --config "$scratch/shared"
says shared '^warning: m1 and m2 are on one host'

conf 3 | sed 's/^transmit = .*/profile = realtime/' >"$scratch/realtime"
ends_with 0 --config "$scratch/realtime"
says realtime '^  holds      lease \(1 \+ drift\) / \(1 - drift\) < promise: 30ms × 1\.01 / 0\.99 = 30\.606061ms < 30\.606062ms$'
says realtime 'votes × block × 1ms <= promise: 3 × 6 × 1ms = 18ms <= 30\.6061ms$'
says realtime '2 × beat \+ round trip \+ margin < lease: 2 × 4ms \+ 3ms \+ 4ms = 15ms < 30ms$'
says realtime 'kill < margin \+ \(lease - margin\) / 10: 5ms < 4ms \+ 2\.6ms = 6\.6ms$'
says realtime '^  realtime   agent, guardian, .elector run. and its keepers ask for SCHED_FIFO'
says realtime 'than the 9\.9 ms above'
if grep -E 'warning.*(block|margin|stall)' "$scratch/out"; then fail realtime "warns of itself"; else pass; fi
ends_with 0 --config "$scratch/realtime" --output json
says realtime '"realtime":true,'
says realtime '"holds":\[\{"names":"lease \(1 \+ drift\) / \(1 - drift\) < promise","values":"30ms × 1\.01 / 0\.99 = 30\.606061ms < 30\.606062ms"\},'

# What the checker is asked of each profile is what the profile has; the other rows of quorum have the times of lan.
for profile in lan fast realtime wan; do
    conf 3 | sed "s/^transmit = .*/profile = $profile/" >"$scratch/profile"
    ends_with 0 --config "$scratch/profile"
    verify "$profile" 'does not show nine inequalities' test "$(sed -n '/^  holds /,/kill </p' "$scratch/out" | grep -c ' <=\{0,1\} .* <=\{0,1\} ')" -eq 9
    times=$(sed -nE 's/^  lease D ([^,]*), beat h ([^,]*), margin g ([^,]*), re-ask r ([^,]*), stagger δ (.*)$/--set lease=\1 --set beat=\2 --set margin=\3 --set re-ask=\4 --set stagger=\5/p' "$scratch/out")
    [ "$profile" != lan ] || continue
    rows=$(grep -c "^test *| quorum-$profile-" test/check/list)
    verify "$profile" "is not what test/check/list has: $times" test "$rows" -ge 4 -a "$(grep "^test *| quorum-$profile-" test/check/list | grep -cF -- "$times --horizon")" -eq "$rows"
done

# ---- What it refuses ------------------------------------------------------------------------------

ends_with 3 --config "$scratch/absent"
complains absent "cannot read $scratch/absent: No such file"
printf '[cluster]\nnonsense = 1\n' >"$scratch/wrong"
ends_with 1 --config "$scratch/wrong"
complains wrong "$scratch/wrong:2: "
conf 3 '[group x]' 'lease = 300ms' >"$scratch/impossible"
ends_with 1 --config "$scratch/impossible"
complains impossible 'lease'
sed 's/^key-file/&/; $a [group x]\nmargin = 2ms' "$scratch/realtime" >"$scratch/unkilled"
ends_with 1 --config "$scratch/unkilled"
complains unkilled 'quorum needs kill < margin \+ \(lease - margin\) / 10, but 5ms is not below 2ms \+ 2\.8ms = 4\.8ms: a command of'
ends_with 2 --config
complains usage 'needs the name of a file'
ends_with 2 --nonsense
ends_with 2 --output yaml --config "$scratch/three"
ends_with 0 --help
says help '^Usage: elector plan'

# ---- That it is true ------------------------------------------------------------------------------

# The latest end of an election, in ms since AT, as the simulator has it.
sim() { # AT NODES ARGUMENTS
    local at=$1 nodes=$2
    shift 2
    "$ELECTOR" sim quorum --nodes "$nodes" --leader "$nodes" --delay 5ms --bound 5ms --drift 0.01 --quiet --output json "${options[@]}" \
        "$@" | awk -v at="$at" '
        /"began":/ { gsub(/[",]/, ""); began = $2 }
        /"turnaround":/ && began != "" { gsub(/[",]/, ""); end = began + $2 }
        /"leader": [0-9]/ && began != "" { if (end > last) last = end }
        END { printf "%d\n", last - at }'
}
worst=0
holds() { # WHAT EVENT: whether the worst of what was simulated is within the bound, and the bound no fancy
    local bound
    bound=$(($(number "$2") / 1000))
    if [ "$worst" -gt 0 ] && [ "$worst" -le "$bound" ]; then pass; else fail "$1" "$worst ms, and the plan says $bound ms"; fi
    worst=0
}
take() { [ "$1" -le "$worst" ] || worst=$1; }

check_bounds() { # NODES: with the options of sim, and the plan in $scratch/out
    local n=$1 seed at all='' back='' apart='' i
    for ((i = 1; i <= n; i++)); do
        all+=${all:+,}$i@600ms
        back+=${back:+,}$i@900ms
        apart+=${apart:+|}$i
    done
    for seed in 1 2 3 4 5 6 7 8; do
        at=$((600 + 19 * seed))
        take "$(sim $at "$n" --crash "$n@${at}ms" --seed $seed --until 6000ms)"
    done
    holds "$n, a host dies" host-silent
    for seed in 1 2 3 4; do take "$(sim 900 "$n" --crash "$all" --restart "$back" --seed $seed --until 8000ms)"; done
    holds "$n, all restart" all-restart
    for seed in 1 2 3 4 5 6 7 8; do
        at=$((1200 + 97 * seed))
        take "$(sim $at "$n" --partition "$apart@600ms..${at}ms" --seed $seed --until 9000ms)"
    done
    holds "$n, a majority is back" majority-back
    for seed in 1 2 3; do
        at=$((600 + 19 * seed))
        take $(($(sim $at "$n" --transfer "1@${at}ms" --seed $seed --until 2000ms) - 5)) # it counts until all know
    done
    holds "$n, a hand-over" transfer
    for seed in 1 2 3; do
        at=$((600 + 19 * seed))
        take $(($(sim $at "$n" --resign "$n@${at}ms" --seed $seed --until 2000ms) - 5))
    done
    holds "$n, a resignation" resign
}

options=()
for nodes in 3 5; do
    conf $nodes >"$scratch/now"
    ends_with 0 --config "$scratch/now" --output json
    check_bounds $nodes
done
options=(--set lease=2s --set beat=400ms --set re-ask=500ms --set stagger=40ms --set margin=100ms)
conf 3 '[group *]' 'lease = 2s' 'beat = 400ms' 're-ask = 500ms' 'stagger = 40ms' 'margin = 100ms' >"$scratch/now"
ends_with 0 --config "$scratch/now" --output json
check_bounds 3

# A bound that is too small would be seen.
sed -i -E 's/("event":"host-silent"[^}]*"leaderless_us":)[0-9]+/\190000/' "$scratch/out"
take 1000
before=$failed
holds planted host-silent >/dev/null
if [ "$failed" -gt "$before" ]; then failed=$before && pass; else fail planted "a bound of 90 ms holds"; fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
