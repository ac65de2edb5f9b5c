#!/usr/bin/env bash
# Asks the checker each question of the list and holds it to the verdict and the number of worlds written there. A
# counterexample must be no longer than it was and must break the same in `elector sim`; if the row has a story in
# scenarios/, it must still be that one. The same again without reductions (`alike`), where the list says so.
#
#   run.sh [test|soak]        the rows of that kind (default: test)
#   run.sh --row NAME         one row's verdict alone: exit code 1 if it is another one, 3 if there is none
#   run.sh --rewrite          renew the numbers of the rows for tests, and the stories; read the diff before you commit it
#
# Environment: ELECTOR, the program (default: the release build); ELECTOR_SANITIZED, if it is sanitized: then only small
# rows, once each; THREADS (default: 1 for tests, all for soak); LIST, the table; ELECTOR_SECONDS, the time that all rows of a soak share:
# one that is not finished when its part is over says how far it came, and does not fail. Without it, each question has four hours.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
ELECTOR=${ELECTOR:-build/release/elector}
LIST=${LIST:-test/check/list}
kind='test'
only=
rewrite=false
case ${1-} in
'' | test | soak) kind=${1:-test} ;;
--row) only=${2?which row?} ;;
--rewrite) rewrite=true ;;
*)
    echo "usage: run.sh [test|soak|--row NAME|--rewrite]" >&2
    exit 2
    ;;
esac
if ! command -v "$ELECTOR" >/dev/null; then
    echo "run.sh: there is no program $ELECTOR; build it, or set ELECTOR" >&2
    exit 2
fi
memory=2G
patience=60
threads=${THREADS:-1}
[ -z "$only" ] || patience=40 # what takes seconds alone may take more beside others
if [ "$kind" = soak ]; then
    # 14 GiB, or two thirds of what this machine has
    memory=$(awk '/^MemTotal/ { most = int($2 / 1024 * 2 / 3); print (most < 14336 ? most : 14336) "M" }' /proc/meminfo)
    patience=14400
    threads=${THREADS:-$(nproc)}
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0
cut=0
failures=$scratch/failures
: >"$failures"

# Under sanitizers a world takes ten times as long; the code that it runs through is the same in a small row.
is_too_large() { # WORLDS ARGUMENTS
    [ -n "${ELECTOR_SANITIZED-}" ] && { [[ $2 == *--orders* ]] || { [ "$1" != - ] && [ "$1" -gt 600 ]; }; }
}

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAIL  $1: $2" | tee -a "$failures"
}

# ---- Questions ----

# Every order of the ids 1..N on a ring that is no rotation of another: N comes first, the rest in any order.
orders() { # N
    local rest=() i
    for ((i = 1; i < $1; i++)); do rest+=("$i"); done
    permute "$1" "${rest[@]}"
}
permute() { # PREFIX REST...
    local prefix=$1 i
    shift
    if [ $# -eq 0 ]; then
        echo "$prefix"
        return
    fi
    for ((i = 1; i <= $#; i++)); do permute "$prefix,${!i}" "${@:1:i-1}" "${@:i+1}"; done
}

# Each of N clocks slow, true or fast.
clocks() { # N
    local rate rest
    for rate in slow true fast; do
        if [ "$1" -eq 1 ]; then echo "$rate"; else for rest in $(clocks $(($1 - 1))); do echo "$rate,$rest"; done; fi
    done
}

# The questions of a row, one to a line. `--orders N` stands for every order of N ids; `--callers single` for each
# single initiator, `--callers each` for those and then all of them; `--rates each` for every combination of clocks.
questions() { # ARGUMENTS
    local arguments=$1 ids n caller rates
    if [[ $arguments =~ --orders\ ([0-9]+) ]]; then
        n=${BASH_REMATCH[1]}
        for ids in $(orders "$n"); do questions "${arguments/--orders $n/--ids $ids}"; done
    elif [[ $arguments =~ --rates\ each ]]; then
        [[ $arguments =~ --nodes\ ([0-9]+) ]]
        for rates in $(clocks "${BASH_REMATCH[1]}"); do questions "${arguments/--rates each/--rates $rates}"; done
    elif [[ $arguments =~ --callers\ (each|single) ]]; then
        local callers=${BASH_REMATCH[1]} all=all
        [ "$callers" = each ] || all=
        [[ $arguments =~ --(ids|nodes)\ ([0-9,]+) ]]
        ids=${BASH_REMATCH[2]}
        n=$ids
        if [ "${BASH_REMATCH[1]}" = ids ]; then n=$(tr , '\n' <<<"$ids" | wc -l); fi
        for caller in $(seq "$n") $all; do echo "${arguments/--callers $callers/--initiator $caller}"; done
    else
        echo "$arguments"
    fi
}

number() { sed -n "s/^  \"$1\": \([0-9.-]*\),\{0,1\}$/\1/p" "$scratch/answer"; }
word() { sed -n "s/^  \"$1\": \"\(.*\)\",\{0,1\}$/\1/p" "$scratch/answer"; }

now() { date +%s; }
# The seconds that a question has: its patience, or what is left of its row's.
left() {
    local seconds=$patience
    [ -z "$row_ends" ] || seconds=$((row_ends - $(now)))
    echo $((seconds > 0 ? seconds : 1)) # 0 would be no limit
}
row_ends=

# Asks one question; sets verdict and worlds. When its time is over it is interrupted, and then says how far it came.
ask() { # ARGUMENTS
    local status=0 began
    began=$(now)
    rm -f "$scratch/story"
    # The arguments are words: nothing in the list needs quotes.
    # shellcheck disable=SC2086
    timeout --signal=INT --kill-after=60 "$(left)" "$ELECTOR" check $1 --threads "$threads" --memory "$memory" --budget off --output json --quiet \
        --scenario "$scratch/story" >"$scratch/answer" 2>"$scratch/errors" </dev/null || status=$?
    worlds=$(number states)
    case $status in
    0)
        verdict=holds
        [ "$(word verdict)" = holds ] || verdict="cannot tell: $(word text)"
        ;;
    1) verdict="breaks $(word broken) in $(number length)" ;;
    124 | 137) verdict="took longer than $(($(now) - began)) s" ;;
    3)
        verdict="cannot tell: $(word text)"
        [ "$(word verdict)" != holds ] || verdict="holds, but nothing happens that was asked about"
        ;;
    *) verdict="exit code $status: $(head -c 300 "$scratch/errors")" ;;
    esac
}

replay() { # NAME: the counterexample breaks the same property where nothing is explored, and is as long as was said
    local steps
    steps=$(grep '^step ' "$scratch/story" | grep -vc '^step loop$')
    [ "$steps" = "$(number steps)" ] || fail "$1" "lists $steps steps, and says $(number steps)"
    grep -qx "expect broken $(word broken)" "$scratch/story" || fail "$1" "its story expects another property to break"
    if ! "$ELECTOR" sim "$scratch/story" >"$scratch/told" 2>&1 </dev/null; then
        fail "$1" "the counterexample breaks nothing in elector sim:"
        tail -n 12 "$scratch/told"
    fi
}

# The story in scenarios/ has a head of its own, in comments; below it, it is what the checker writes.
compare_story() { # NAME
    local story=scenarios/check/$1.scenario
    [ -e "$story" ] || return 0
    if $rewrite; then
        { grep '^#' "$story" && grep -v '^#' "$scratch/story"; } >"$scratch/renewed"
        cmp -s "$scratch/renewed" "$story" || echo "new   $story"
        cp "$scratch/renewed" "$story"
    elif ! diff -u --label "$story" --label "as found now" <(grep -v '^#' "$story") <(grep -v '^#' "$scratch/story"); then
        fail "$1" "the counterexample is another one now; run.sh --rewrite renews it"
    fi
}

# ---- Rows ----

ask_row() { # NAME ARGUMENTS: sets verdict, worlds, took_ms, questions_asked for all its questions together
    local all=0 first='' question list began
    questions_asked=0
    began=$(date +%s%N)
    mapfile -t list < <(questions "$2")
    for question in "${list[@]}"; do
        ask "$question"
        questions_asked=$((questions_asked + 1))
        all=$((all + ${worlds:-0}))
        [[ $verdict == holds* || $verdict == breaks* ]] || break
        case $first in
        '' | "$verdict") ;;
        holds) verdict="$verdict, with $question" && break ;;
        *) verdict="$first, not with $question" && break ;;
        esac
        first=$verdict
    done
    worlds=$all
    took_ms=$((($(date +%s%N) - began) / 1000000))
}

tell() { # NAME
    printf '%-34s %-32s %12s %8d ms\n' "$1" "$verdict" "$worlds" "$took_ms"
}

try_row() { # NAME EXPECTED WORLDS ARGUMENTS
    local name=$1 expected=$2 count=$3 before=$failed
    ask_row "$name" "$4"
    tell "$name"
    if [ -n "$row_ends" ] && [[ $verdict == took\ longer* || $verdict == *'memory '* ]]; then
        cut=$((cut + 1))
        echo "not finished: $name, $worlds worlds"
        return
    elif [ "$verdict" != "$expected" ]; then
        fail "$name" "expected: $expected; found: $verdict"
        [ ! -e "$scratch/story" ] || grep '^step ' "$scratch/story" | sed -n 1,40p
    elif [ "$verdict" = holds ] && ! $rewrite && [ "$count" != - ] && [ "$worlds" != "$count" ]; then
        fail "$name" "expected $count worlds, found $worlds; run.sh --rewrite renews the number"
    fi
    if [[ $verdict == breaks* ]] && [ "$questions_asked" -eq 1 ]; then
        replay "$name"
        [ "$verdict" != "$expected" ] || compare_story "$name"
    fi
    [ "$failed" -gt "$before" ] || pass
}

# Only what it comes to, for a program that is not quite this one: the number of worlds may differ.
try_verdict() { # NAME EXPECTED ARGUMENTS
    ask_row "$1" "$3"
    tell "$1"
    case $verdict in
    "$2") exit 0 ;;
    holds* | breaks*) exit 1 ;;
    *) exit 3 ;;
    esac
}

# Reductions may leave out worlds, never a verdict or a shorter way.
try_alike() { # NAME EXPECTED ARGUMENTS
    local before=$failed way with=$worlds
    for way in '--reduce off' '--symmetry off' '--reduce off --symmetry off'; do
        ask_row "$1" "$3 $way"
        tell "  $way"
        [ "$verdict" = "$2" ] || fail "$1 $way" "expected: $2, as with reductions; found: $verdict"
        [ "$verdict" != holds ] || [ "$worlds" -ge "$with" ] || fail "$1 $way" "fewer worlds than with reductions: $worlds"
    done
    [ "$failed" -gt "$before" ] || pass
}

rows=0
rows_left=$(grep -c "^$kind " "$LIST" || true)
ends=$(($(now) + ${ELECTOR_SECONDS:-0}))
while IFS='|' read -r where name expected count arguments; do
    read -r where <<<"$where"
    read -r name <<<"$name"
    read -r expected <<<"$expected"
    read -r count <<<"$count"
    read -r arguments <<<"$arguments"
    case $where in
    '' | '#'*) continue ;;
    test | alike | soak) ;;
    *)
        echo "run.sh: $LIST: a row begins with test, alike or soak, not '$where'" >&2
        exit 2
        ;;
    esac
    if [ -n "$only" ]; then
        [ "$name" = "$only" ] || continue
    elif [ "$kind" = soak ]; then
        [ "$where" = soak ] || continue
    elif [ "$where" = soak ]; then
        continue
    fi
    rows=$((rows + 1))
    if [ -z "$only" ] && is_too_large "$count" "$arguments"; then continue; fi
    [ -z "$only" ] || try_verdict "$name" "$expected" "$arguments"
    if [ "$kind" = soak ] && [ -n "${ELECTOR_SECONDS-}" ]; then
        if [ "$(now)" -ge "$ends" ]; then
            cut=$((cut + 1))
            echo "not finished: $name, not begun"
            continue
        fi
        row_ends=$(($(now) + (ends - $(now)) / rows_left))
        rows_left=$((rows_left - 1))
    fi
    try_row "$name" "$expected" "$count" "$arguments"
    if $rewrite && [ "$verdict" = holds ]; then echo "$name $worlds" >>"$scratch/counts"; fi
    if [ "$where" = alike ] && ! $rewrite && [ -z "${ELECTOR_SANITIZED-}" ]; then try_alike "$name" "$expected" "$arguments"; fi
done <"$LIST"

if $rewrite && [ -s "$scratch/counts" ]; then
    awk -F'|' -v OFS='|' '
        NR == FNR { split($0, of, " "); worlds[of[1]] = of[2]; next }
        { name = $2; gsub(/ /, "", name); if (NF == 5 && name in worlds) $4 = sprintf(" %9s ", worlds[name]); print }
    ' "$scratch/counts" "$LIST" >"$scratch/list"
    cmp -s "$scratch/list" "$LIST" || echo "new   $LIST"
    cp "$scratch/list" "$LIST"
fi
if [ -n "$only" ]; then
    echo "run.sh: there is no row $only" >&2
    exit 2
fi
[ ! -s "$failures" ] || cat "$failures"
[ "$cut" -eq 0 ] || echo "$cut rows did not finish in their time: no answer"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$rows" -gt 0 ]
