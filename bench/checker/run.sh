#!/usr/bin/env bash
# The same question in SPIN and in `elector check`, in one run: does raft ever have two leaders in one term? Where both
# look at the same worlds they must count the same number of them, or this fails. Then what each needs for the same
# verdict by its own means, and what each makes of two planted bugs. Needs BUILD, a built release folder, and spin.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build/release}
model=$PWD/bench/checker/raft_votes.pml
cc=${CC:-gcc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

question=(check raft --nodes 3 --set prevote=off --set check-quorum=off --property one-per-term
    --quiet --memory 4G --output json)
soup=(--lose any --duplicate any)

bounds() { echo "--terms $1 --crash $2 --restart $2"; }
defines() { echo "-DTERMS=$1 -DCRASHES=$2 -DRESTARTS=$2"; }

# ---- Rows ----

heading() {
    printf '\n%s\n%-47s %10s %11s %7s %7s %6s %7s %8s\n' "$1" '' states transitions seconds 'CPU s' MB 'B/state' 'k/CPU s'
}
row() { # LABEL STATES TRANSITIONS MB, and the last measurement. SPIN's processes are not waited for, nor their time counted
    awk -v label="$1" -v states="$2" -v moves="$3" -v mb="$4" '{
        cpu = $2 + $3 < 0.01 ? 0.01 : $2 + $3
        printf "%-47s %10d %11d %7.2f ", label, states, moves, $1
        if (label ~ /two cores/) printf "%7s %6.1f %7.1f %8s\n", "-", mb, mb * 1048576 / states, "-"
        else printf "%7.2f %6.1f %7.1f %8.0f\n", cpu, mb, mb * 1048576 / states, states / cpu / 1000 }' "$work/times"
}
measure() { # COMMAND…: its output in out, its times in times
    local TIMEFORMAT='%R %U %S' status=0
    { time "$@" > "$work/out" 2> "$work/err" || status=$?; } 2> "$work/times"
    return $status
}

# ---- SPIN: states and transitions leave out its first state and the step that starts the nodes ----

compile() { # NAME SPIN-DEFINES CC-DEFINES
    mkdir -p "$work/$1"
    # shellcheck disable=SC2086
    (cd "$work/$1" && spin $2 -a "$model" > log && $cc -O2 -w -DSAFETY -DNOREDUCE -DMEMLIM=4000 $3 -o pan pan.c)
}
number() { sed -n "s/^ *\([0-9.e+]*\)[ \t]*$1.*/\1/p" "$work/out" | sed -n 1p; }
whole() { awk "BEGIN { printf \"%d\", $(number "$1") }"; } # SPIN writes eight digits of what is large
spin_row() { # LABEL NAME PAN-OPTIONS…
    local label=$1 name=$2 mb
    shift 2
    (cd "$work/$name" && measure ./pan -E -n "$@") || true
    grep -q 'errors: 0' "$work/out" || { echo "$label: SPIN did not end well"; cat "$work/out" "$work/err"; exit 1; }
    mb=$(number 'total actual memory')
    spin_states=$(($(whole 'states, stored') - 1)) spin_moves=$(($(whole transitions) - 2))
    row "SPIN    $label" "$spin_states" "$spin_moves" "${mb:-$(number 'total shared memory')}"
}

# ---- elector: without the worlds in which not all have been started, and moves beyond the bound, which SPIN has not ----

field() { sed -n "s/^  \"$1\": \([^,]*\),*$/\1/p" "$work/out"; }
elector_row() { # LABEL OPTIONS…
    local label=$1 mb
    shift
    measure "$build/elector" "${question[@]}" "$@" || { echo "$label:"; cat "$work/out" "$work/err"; exit 1; }
    mb=$(awk "BEGIN{print $(field memory_bytes) / 1048576}")
    elector_states=$(($(field states) - 3)) elector_moves=$(($(field moves) - $(field cut) - 3))
    row "elector $label" "$elector_states" "$elector_moves" "$mb"
}

same_worlds() {
    local off=$((spin_moves > elector_moves ? spin_moves - elector_moves : elector_moves - spin_moves))
    if [ "$spin_states" = "$elector_states" ] && [ $off -le $((spin_moves < 100000000 ? 0 : 10)) ]; then
        echo "Both count the same worlds and the same moves between them."
    else
        echo "NOT the same worlds: $spin_states and $spin_moves in SPIN, $elector_states and $elector_moves in elector"
        failed=1
    fi
}

compare() { # TITLE TERMS CRASHES TABLE-BITS SPIN-DEFINES ELECTOR-OPTIONS…
    local title=$1 terms=$2 crashes=$3 bits=$4 define=$5 name
    shift 5
    local options=("$@")
    # shellcheck disable=SC2207
    options+=($(bounds "$terms" "$crashes"))
    for name in dfs: collapse:-DCOLLAPSE bfs:-DBFS 'two:-DBFS -DBFS_PAR'; do
        compile "${define#-D}${name%%:*}" "$define -DEXACT $(defines "$terms" "$crashes")" "${name#*:}"
    done
    heading "$title: terms up to $terms, deaths and restarts up to $crashes each"
    spin_row 'depth first' "${define#-D}dfs" -m10000 -w"$bits"
    spin_row 'depth first, -DCOLLAPSE' "${define#-D}collapse" -m10000 -w"$bits"
    spin_row 'breadth first, two cores, hash-compact' "${define#-D}two" -u2 -w$((bits + 1))
    spin_row 'breadth first' "${define#-D}bfs" -w"$bits"
    elector_row 'nothing left out, one thread' "${options[@]}" --symmetry off --reduce off --threads 1
    same_worlds
    elector_row 'nothing left out, two threads' "${options[@]}" --symmetry off --reduce off --threads 2
    elector_row 'symmetry, one thread' "${options[@]}" --reduce off --threads 1
    elector_row 'symmetry and reductions, one thread' "${options[@]}" --threads 1
}

# ---- Planted bugs ----

plant() { # NAME PERL-SUBSTITUTION: an elector with that bug
    perl -0pe "$2" src/algorithms/majority/raft.c > "$work/$1.c"
    if cmp -s src/algorithms/majority/raft.c "$work/$1.c"; then echo "the bug '$1' has nowhere to go in raft.c"; exit 1; fi
    # shellcheck disable=SC2046
    $cc -std=c17 -O2 -w -Iinclude -Isrc "$work/$1.c" \
        "$build"/CMakeFiles/elector.dir/src/cli/main.c.o "$build"/libelector_{cli,sim,check,base,core}.a \
        -pthread $(pkg-config --libs jansson) -o "$work/$1"
}
broken_row() { # LABEL NAME SPIN-DEFINE PERL-SUBSTITUTION
    local plain reduced spin
    plant "$2" "$4"
    compile "broken$2" "-DSOUP -DEXACT $3 $(defines 2 1)" -DBFS
    (cd "$work/broken$2" && ./pan -E -n -w20 > "$work/out" 2>&1) || true
    spin=$(sed -n 's/.*assertion violated.*(at depth \([0-9]*\)).*/\1/p' "$work/out")
    # shellcheck disable=SC2046
    "$work/$2" "${question[@]}" "${soup[@]}" $(bounds 2 1) --symmetry off --reduce off > "$work/out" || true
    plain=$(field length)
    # shellcheck disable=SC2046
    "$work/$2" "${question[@]}" "${soup[@]}" $(bounds 2 1) > "$work/out" || true
    reduced=$(field length)
    printf '%-47s %10s %11s %11s\n' "$1" "${spin:-missed}" "${plain:-missed}" "${reduced:-missed}"
    [ "${spin:-x}" = "${plain:-y}" ] && [ "${spin:-x}" = "${reduced:-y}" ] || failed=1
}

# ---- The run ----

echo "raft's voting, three nodes: never two that led in one term. $(spin -V), $($cc --version | sed -n 1p)"
echo "$(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg): $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sed -n 1p)"

compare 'Messages may be lost, copied and reordered' 2 1 23 -DSOUP "${soup[@]}"
compare 'Each message arrives once, at any time or never' 1 1 20 -DORDINARY

heading 'How fast: each message arrives once, late, or never; two of them are lost; terms up to 1, three deaths and restarts'
for threads in 1 2; do
    # shellcheck disable=SC2046
    elector_row "nothing left out, $threads thread(s)" $(bounds 1 3) --lose 2 --symmetry off --reduce off --threads $threads
    awk -v states="$elector_states" '{ printf "%.2f million distinct worlds a second\n", states / $1 / 1e6 }' "$work/times"
done

compile lean "-DSOUP $(defines 2 1)" ''
heading 'The same verdict by own means, messages lost, copied, reordered: terms up to 2, one death and restart'
spin_row 'only what the question needs, depth first' lean -m10000 -w23
# shellcheck disable=SC2046
elector_row 'symmetry and reductions, one thread' "${soup[@]}" $(bounds 2 1) --threads 1
# shellcheck disable=SC2046
elector_row 'symmetry and reductions, two threads' "${soup[@]}" $(bounds 2 1) --threads 2
awk "BEGIN { printf \"SPIN stores %.0f times as many states.\n\", $spin_states / $elector_states }"

printf '\n%-47s %10s %11s %11s\n' 'Two bugs, moves of the shortest counterexample' 'SPIN' 'elector' 'reduced'
broken_row 'a vote is told and not saved' forgets -DFORGETS 's/me->vote = m->from;\n        save\(me, out\);/me->vote = m->from;/'
broken_row 'a vote given is given again' twice -DTWICE 's/if \(me->vote != NEVER_VOTED && me->vote != m->from\) \{/if (false) {/'

exit $failed
