#!/usr/bin/env bash
# The command as a user meets it: what it accepts, what it refuses and in which words, what it exits with.
# A mistake is answered with exit code 2 (or 3: cannot read, write or tell) and one line that names it.
#
# Environment: ELECTOR, the program (default: the release build); ELECTOR_SANITIZED, if it is sanitized.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
unset NO_COLOR
ELECTOR=${ELECTOR:-build/release/elector}
if ! command -v "$ELECTOR" >/dev/null; then
    echo "run.sh: there is no program $ELECTOR; build it, or set ELECTOR" >&2
    exit 2
fi
ELECTOR=$(realpath "$(command -v "$ELECTOR")") # some tests leave this folder
# Running out of memory is the program's to report, not the sanitizer's.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
out=$scratch/out
err=$scratch/err
status=0
passed=0
failed=0

# ---- Saying how it went ---------------------------------------------------------------------------

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAIL  $1: $2"
    sed -n '1,5s/^/        stderr: /p' "$err"
}

# run ARGUMENTS: leaves $out, $err and $status.
run() {
    status=0
    timeout 120 "$ELECTOR" "$@" >"$out" 2>"$err" </dev/null || status=$?
}

# verify NAME WHAT COMMAND...: passes if the command succeeds.
verify() {
    local name=$1 what=$2
    shift 2
    if "$@" >/dev/null 2>&1; then pass; else fail "$name" "$what"; fi
}

# accepts NAME STATUS REGEX ARGUMENTS: nothing on stderr, and something on stdout that matches.
accepts() {
    local name=$1 wanted=$2 regex=$3
    shift 3
    run "$@"
    if [ "$status" -ne "$wanted" ]; then
        fail "$name" "exit code $status, not $wanted"
    elif [ -s "$err" ]; then
        fail "$name" "says something on stderr"
    elif ! grep -qE -e "$regex" "$out"; then
        fail "$name" "stdout does not match /$regex/"
    else
        pass
    fi
}

# refused NAME STATUSES REGEX: what was run left one plain line on stderr that matches, and that exit code.
refused() {
    local name=$1 wanted=$2 regex=$3
    if [[ " $wanted " != *" $status "* ]]; then
        fail "$name" "exit code $status, not $wanted"
    elif [ "$(wc -l <"$err")" -ne 1 ]; then
        fail "$name" "$(wc -l <"$err") lines on stderr, not one"
    elif ! grep -qE -e "^elector( [a-z]+)?: .*($regex)" "$err"; then
        fail "$name" "stderr does not match /$regex/"
    elif grep -q '[[:cntrl:]]' < <(tr -d '\n' <"$err"); then
        fail "$name" "control characters on stderr"
    else
        pass
    fi
}

# refuses NAME STATUSES REGEX ARGUMENTS: as above, and nothing on stdout.
refuses() {
    local name=$1 wanted=$2 regex=$3
    shift 3
    run "$@"
    if [ -s "$out" ]; then
        fail "$name" "says something on stdout"
    else
        refused "$name" "$wanted" "$regex"
    fi
}

# ---- Verbs and help -------------------------------------------------------------------------------

# in_columns FILE: one byte for each character, as a terminal would count them.
in_columns() { tr -d '\200-\277' <"$1"; }

test_help() {
    accepts "help" 0 '^Usage: elector VERB' --help
    accepts "-h" 0 '^Usage: elector VERB' -h
    accepts "help as a verb" 0 '^Usage: elector VERB' help
    accepts "help of help" 0 '^Usage: elector VERB' help help
    accepts "version" 0 '^elector [0-9]' --version
    local verb
    for verb in algorithms sim compare detect demo init keygen replay doctor; do
        accepts "help of $verb" 0 "^Usage: elector $verb" "$verb" --help
        verify "help of $verb" "has a line wider than 112" test -z "$(in_columns "$out" | grep -E '.{113}')"
        run --help
        verify "help names $verb" "does not" grep -qE "^  $verb +[a-z]" "$out"
    done
    accepts "help anywhere" 0 '^Usage: elector sim' sim bully --nodes 5 --help
    # Every option of a scenario is in the help, and every example in the help works.
    run sim --help
    verify "help of sim" "is out of line" \
        test -z "$(in_columns "$out" | grep -E '^  --' | grep -vE '^.{32}  [^ ]')"
    local help option
    help=$(cat "$out")
    for option in nodes ids attr leader initiator crash restart pause partition cut loss dup reorder delay \
        bound detect miss false-suspect clock script step set seed until horizon expect quiet output svg trace mermaid shiviz; do
        verify "help of sim" "does not name --$option" grep -q -e "^  --$option " <<<"$help"
    done
    local example words
    cd "$scratch"
    while read -r example; do
        eval "words=(${example#elector })"
        run "${words[@]}"
        verify "example of the help" "$example: exit code $status" test "$status" -le 1 -a ! -s "$err"
    done < <(grep -E '^  elector sim' <<<"$help"; "$ELECTOR" detect --help | grep -E '^  elector detect .')
    cd - >/dev/null
}

test_topics() {
    local verb name topics=() file
    for verb in run campaign observe status history why transfer resign forget members init keygen agent plan replay doctor \
        algorithms sim compare detect check demo; do
        accepts "help $verb" 0 "^Usage: elector $verb|^elector $verb" help "$verb"
    done
    run help
    mapfile -t topics < <(sed -n '/^Topics:/,/^$/p' "$out" | sed 1d | tr -s ' ' '\n' | tr -d "'" | grep .)
    verify "help" "names ${#topics[@]} topics" test "${#topics[@]}" -gt 20
    for file in README.md docs/*.md man/*.scd; do
        run help "$file"
        verify "help $file" "prints something else" cmp "$out" "$file"
    done
    for name in "${topics[@]}"; do
        [[ " run replay why " != *" $name "* ]] || name=docs/$name.md # verbs, too
        run help "$name"
        verify "help $name" "prints nothing, or exits with $status" test "$status" -eq 0 -a -s "$out"
    done
    # Whatever document a message of the program names is in the program.
    while read -r file; do
        accepts "help $file, which a message names" 0 . help "$file"
    done < <(grep -rhoE 'docs/[a-z-]+\.md(#[a-z-]+)?' src | sort -u)
    accepts "help of a part" 0 '^## Limits' help run.md#limits
    verify "help of a part" "prints all" test "$(wc -l <"$out")" -lt "$(wc -l <docs/run.md)"
    accepts "help of a manual page" 0 '^elector.conf\(5\)' help 'elector.conf(5)'
    accepts "help of a verb that is a document" 0 '^More: elector help docs/run.md' help run
    refuses "help of no part" 2 "docs/run.md has no part 'nosuch'" help run.md#nosuch
    refuses "help of nothing" 2 "there is no verb or topic 'oprations'; did you mean operations\?" help oprations
    refuses "help of two" 2 "not also 'status'" help run status
}

test_did_you_mean() {
    refuses "a verb" 2 "no verb 'stauts'; did you mean status\?" stauts
    refuses "no verb at all" 2 "no verb 'frobnicate'; .elector --help" frobnicate
    refuses "an option" 2 'unknown option --ulr; did you mean --url\?' status --ulr x
    refuses "an option with a value" 2 'unknown option --prioritty=3; did you mean --priority\?' run --prioritty=3 g -- true
    refuses "an option of the laboratory" 2 'unknown option --node; did you mean --nodes\?' sim bully --node 3
    refuses "no option at all" 2 'unknown option --frobnicate; .elector doctor' doctor --frobnicate
    refuses "an algorithm" 2 "'bullly'.*; did you mean bully\?" sim bullly --nodes 3
    refuses "an algorithm to check" 2 "no algorithm 'rafd'; did you mean raft\?" check rafd
    refuses "an algorithm to explain" 2 "no algorithm 'petersn'; did you mean peterson\?" algorithms petersn
}

compares_all() {
    accepts "compare" 0 '^bully +29  ×4.5 +4 +5 of 6 +yes\* +no \(9.* +no .* +no \(100 %\)$' compare
    verify "compare" "does not find raft safe and stable" \
        grep -qE '^raft +[0-9.]+ +×2.* 2 of 6 +yes +yes +yes +yes$' "$out"
    verify "compare" "has a line wider than 100" test -z "$(in_columns "$out" | grep -E '.{101}')"
    local algorithms
    algorithms=$("$ELECTOR" algorithms | sed '/detectors/,$d' | grep -cE '^  [a-z-]+  +[a-z]')
    verify "compare" "leaves algorithms out" test "$(grep -cE ' of 6 +(yes|no)' "$out")" -eq "$algorithms"
}

# Every question comes to an answer by itself: all worlds, or as far as time or memory went, and which.
checks_in_budget() { # ALGORITHM
    local name="check $1" megabytes
    run check "$1" --nodes 3 --budget 1s --memory 200M --quiet
    verify "$name" "exit code $status" test "$status" -eq 0 -o "$status" -eq 3
    verify "$name" "$(head -n 1 "$out")" grep -qE '^[a-z-]+, 3 nodes: (.* holds? in every world (within the bounds|that [0-9]+ moves reach)$|cannot tell: .)' "$out"
    if grep -q '^  stopped' "$out"; then
        verify "$name" "does not say why it stopped" grep -qE '^  stopped +(the time|the memory) is used up; [0-9,]+ worlds wait' "$out"
    fi
    verify "$name" "an empty clause: $(grep further "$out")" test -z "$(grep -E '; *0: |: *$|; *$' "$out")"
    megabytes=$(sed -n 's/^  took .*, \([0-9.]*\) MB$/\1/p' "$out")
    verify "$name" "takes ${megabytes:-?} MB" test "${megabytes%.*}" -le 220
}

# The memory ends these searches, not the time, so that a busy machine comes to the same.
checks_further() {
    accepts "check without bounds" 0 'further .* terms up to 1: one-per-term holds in all .* worlds; 2: the memory is used up' \
        check raft --nodes 3 --memory 40M --budget 3600s --quiet
    accepts "check without bounds, by ticks" 0 'further .*in rounds .* ticks up to [0-9]+: one-leader, one-per-term hold in all' \
        check chubby --nodes 3 --memory 40M --budget 3600s --quiet
    accepts "check to the last bound" 0 'further .* ticks up to 32768: .* hold in all [0-9,]+ worlds$' \
        check etcd-election --nodes 3 --memory 180M --budget 3600s --quiet
    local algorithm
    for algorithm in $("$ELECTOR" algorithms | sed '/detectors/,$d' | grep -oE '^  [a-z][a-z-]+ ' | sort -u); do
        checks_in_budget "$algorithm"
    done
    accepts "check with a bound" 0 'hold in every world within the bounds' check itai-rodeh --nodes 3 --depth 20
    verify "check with a bound" "goes further than it was asked to" test -z "$(grep further "$out")"
}

# A signal ends the search once the program has asked for it, and what is known is printed.
checks_until_interrupted() { # SIGNAL
    local search mask status=0
    "$ELECTOR" check raft --nodes 3 --budget off --quiet >"$scratch/known" 2>&1 &
    search=$!
    until [ "/proc/$search/exe" -ef "$ELECTOR" ]; do :; done # until then it is a shell, which catches signals too
    until mask=$(awk '/^SigCgt/ { print $2 }' "/proc/$search/status") && [ $((16#$mask >> ($(kill -l "$1") - 1) & 1)) -eq 1 ]; do :; done
    kill "-$1" "$search"
    wait "$search" || status=$?
    verify "check and SIG$1" "exit code $status" test "$status" -eq 3
    verify "check and SIG$1" "does not say what is known" grep -q 'stopped  *interrupted' "$scratch/known"
}

test_verbs() {
    run
    verify "no arguments" "no help on stderr, or exit code $status" \
        test "$status" -eq 2 -a ! -s "$out" -a -n "$(grep -E '^Usage: elector VERB' "$err")"
    refuses "unknown verb" 2 "there is no verb 'elect'.*--help" elect
    refuses "unknown option instead of a verb" 2 "'?--elect'?.*--help" --elect
    refuses "empty verb" 2 "''.*--help" ''
    refuses "sim of nothing" 2 'which algorithm.*--help' sim
    refuses "sim of two" 2 "'chang-roberts'" sim bully chang-roberts --nodes 5
    refuses "algorithms of two" 2 "'?chang-roberts'?" algorithms bully chang-roberts
    refuses "unknown algorithm" 2 "'bullied'.*elector algorithms" algorithms bullied
    refuses "unknown algorithm or file" 2 "'bullied'.*elector algorithms" sim bullied --nodes 5
    local verb
    for verb in algorithms sim compare detect demo init keygen replay doctor; do
        refuses "unknown option of $verb" 2 'unknown option --frob' "$verb" --frob
        refuses "unknown short option of $verb" 2 'unknown option -x' "$verb" -x
    done
    for verb in 'algorithms' 'sim bully --nodes 5' 'compare --runs 4'; do
        # shellcheck disable=SC2086 # the words of a command line
        refuses "$verb --output xml" 2 '--output is text or json, not xml' $verb --output xml
        # shellcheck disable=SC2086
        refuses "$verb --output" 2 '--output is text or json$' $verb --output
    done
    refuses "compare of one" 2 '--nodes .*from 2 to' compare --nodes 1
    refuses "compare of too many" 2 '--nodes .*from 2 to 32' compare --nodes 33
    refuses "compare of a word" 2 '--nodes .*from 2 to' compare --nodes six
    refuses "compare in no runs" 2 '--runs .*from 1 to' compare --runs 0
    refuses "compare in too many runs" 2 '--runs .*from 1 to' compare --runs 1000001
    refuses "compare without a number of runs" 2 '--runs .*from 1 to' compare --runs
    refuses "compare from a word" 2 '--seed .*whole number' compare --seed first
    refuses "compare from too far" 2 '--seed .*below 2.53' compare --seed 9007199254740991
    [ -n "${ELECTOR_SANITIZED-}" ] || compares_all # a minute under sanitizers
    [ -n "${ELECTOR_SANITIZED-}" ] || checks_further
    checks_until_interrupted INT
    checks_until_interrupted TERM
    "$ELECTOR" compare --nodes 4 --runs 10 --threads 1 >"$scratch/one" 2>&1
    accepts "compare on three threads" 0 '^4 nodes, 10 runs' compare --nodes 4 --runs 10 --threads 3
    verify "compare" "prints other bytes on three threads than on one" cmp -s "$scratch/one" "$out"
    refuses "compare without threads" 2 '--threads .*from 1 to' compare --threads 0
    accepts "compare of two" 0 '^raft .* 0 of 2 ' compare --nodes 2 --runs 20
    accepts "compare of many" 0 '^16 nodes, 1 run .* seed 5' compare --nodes 16 --runs 1 --seed 5
    accepts "demo" 0 'as measured' demo
    verify "demo" "measures something else than the literature" test -z "$(grep 'NOT as measured' "$out")"
    accepts "algorithms" 0 '^  chang-roberts  ' algorithms
    local names name
    mapfile -t names < <(awk '/detectors/ { exit } /^  [a-z-]+  +[a-z]/ { print $1 }' "$out")
    local registered
    registered=$(grep -c '^    &el_' src/algorithms/registry.c)
    verify "algorithms" "lists ${#names[@]}, and $registered are registered" test "${#names[@]}" -eq "$registered"
    for name in "${names[@]}"; do
        accepts "algorithms $name" 0 "^  Paper " algorithms "$name"
        accepts "sim $name" 0 "^$name: all 4 name " sim "$name" --nodes 4
    done
}

# ---- Mistakes on the command line -----------------------------------------------------------------

# mistake REGEX ARGUMENTS: sim bully --nodes 5 with one mistake in it.
mistake() {
    local regex=$1
    shift
    refuses "sim $*" 2 "$regex" sim bully --nodes 5 "$@"
}

test_members() {
    refuses "no number of nodes" 2 'how many nodes.*--nodes N or --ids' sim bully
    mistake '--nodes needs a value' --nodes
    mistake '--nodes 0: .*at least one' --nodes 0
    mistake '--nodes -3: .*whole number' --nodes -3
    mistake '--nodes five: .*whole number' --nodes five
    mistake '--nodes 5x: .*whole number' --nodes=5x
    mistake 'whole number' --nodes=
    mistake '--nodes 99999999999999999999: ' --nodes 99999999999999999999
    mistake '--nodes 16777217: at most 16777216' --nodes 16777217
    mistake '--nodes 4294967297: at most 16777216' --nodes 4294967297
    mistake '--ids 3,5,3: the id 3 .*twice' --ids 3,5,3
    mistake '--ids 3,,5: ' --ids 3,,5
    mistake '--ids 3,x: ' --ids 3,x
    mistake '--ids .*9007199254740992: .*below 2.53' --ids 1,9007199254740992
    mistake '--ids ' --ids=
    refuses "too many for ring-collect" 2 'ring-collect .*at most 64 members' sim ring-collect --nodes 65
    refuses "too many for ring-collect, by ids" 2 'at most 64 members' sim ring-collect --ids "$(seq -s, 1 65)"
    refuses "too many for invitation" 2 'invitation .*at most 64 members' sim invitation --nodes 65
    accepts "just enough for ring-collect" 0 'all 64 name 64' sim ring-collect --nodes 64 --quiet
    accepts "just enough for invitation" 0 'all 64 name ' sim invitation --nodes 64 --quiet
    accepts "one node" 0 '^bully: 1 is the only one' sim bully --nodes 1
    accepts "an id of sixteen digits" 0 'name 9007199254740991' sim bully --ids 1,9007199254740991
}

test_events() {
    mistake '--crash 9@0: no node has the id 9; the ids are 1, 2, 3, 4, 5' --crash 9@0
    mistake '--crash 3@-1: a time cannot be before 0' --crash 3@-1
    mistake '--crash 3: .*ID@T' --crash 3
    mistake '--crash 3@: .*time' --crash 3@
    mistake '--crash 3@soon: .*time' --crash 3@soon
    mistake '--crash 3@1;4@2: ' --crash '3@1;4@2'
    mistake '--crash 3@99999999999999999999: ' --crash 3@99999999999999999999
    mistake '3 cannot crash at 2: .*dead' --crash 3@1,3@2
    mistake '3 cannot restart at 1: .*not dead' --restart 3@1
    mistake '3 cannot restart at 1: .*not dead' --crash 3@2 --restart 3@1
    mistake '--initiator 6: no node has the id 6' --initiator 6
    mistake '--initiator x: ' --initiator x
    mistake '--leader 1,2: expected one leader' --leader 1,2
    mistake '--leader 7: no node' --leader 7
    mistake '--attr 1: .*ID=VALUE' --attr 1
    mistake '--attr 1=-1: .*whole number' --attr 1=-1
    mistake '--pause 1@2: .*ID@T..T' --pause 1@2
    mistake '--pause 1@2..1: .*end after' --pause 1@2..1
    mistake '--partition 1,2: .*sides' --partition 1,2
    mistake '--partition 1,2\|2,3: 2 is on two sides' --partition '1,2|2,3'
    mistake '--cut 1: .*A>B' --cut 1
    mistake '--cut 1>1: ' --cut '1>1'
    mistake '--miss 1: .*A:B' --miss 1
    mistake '--false-suspect 1:1@0: ' --false-suspect 1:1@0
    mistake '--clock 1=0: .*rate' --clock 1=0
}

test_network() {
    mistake '--loss 1.5: .*from 0 to 1' --loss 1.5
    mistake '--loss -1: .*from 0 to 1' --loss -1
    mistake '--loss 101%: .*from 0 to 1' --loss 101%
    mistake '--loss much: .*from 0 to 1' --loss much
    mistake '--dup 2: ' --dup 2
    mistake '--reorder x: ' --reorder x
    mistake '--delay 0: .*some time' --delay 0
    mistake '--delay 2..1: ' --delay 2..1
    mistake '--delay soon: a delay is' --delay soon
    mistake '--delay 2000s: at most 1000 s' --delay 2000s
    mistake '--bound 0: ' --bound 0
    mistake '--detect -1: .*before 0' --detect -1
    mistake '--until x: .*time' --until x
    mistake '--horizon x: .*time' --horizon x
    mistake '--seed -1: .*whole number' --seed -1
    mistake '--seed 18446744073709551616: ' --seed 18446744073709551616
    mistake '--set serial=perhaps: .*off\|on' --set serial=perhaps
    mistake '--set delta=3: bully has the options exclude-suspects, serial' --set delta=3
    mistake '--set serial: .*KEY=VALUE' --set serial
    refuses "set where there are no options" 2 'chang-roberts has no options' \
        sim chang-roberts --nodes 3 --set a=b
    refuses "set of an unknown candidate" 2 'no node has the id 9' \
        sim candidate-ordinary --nodes 4 --set candidates=1,9
    mistake '--expect luck: .*leader ID\|none' --expect luck
    mistake '--expect messages Luck 3: .*kind of message of bully' --expect 'messages Luck 3'
    mistake '--expect violation luck: .*two-leaders' --expect 'violation luck'
    mistake '--expect leader 9: no node has the id 9' --expect 'leader 9'
    mistake '--svg needs a file name' --svg
}

# ---- Scenario files -------------------------------------------------------------------------------

# story TEXT: leaves a scenario in $file. printf escapes count.
file=$scratch/story
story() { printf '%b' "$1" >"$file"; }

# wrong NAME WHERE REGEX TEXT: a scenario with one error, at LINE:COLUMN.
wrong() {
    local name=$1 where=$2 regex=$3
    story "$4"
    refuses "scenario with $name" 2 "$file:$where: .*$regex" sim "$file"
}

test_scenario_files() {
    wrong "an unknown word" 2:3 "'frobnicate'" 'algorithm bully\n  frobnicate 3\nnodes 5\n'
    wrong "an unknown algorithm" 1:11 'elector algorithms' 'algorithm bullied\nnodes 5\n'
    wrong "an unknown id" 3:11 'no node has the id 9' 'algorithm bully\nnodes 5\ncrash 5@0,9@1\n'
    wrong "a word without a value" 2:6 'whole number' 'algorithm bully\nnodes\n'
    wrong "a duplicate id" 2:5 'twice' 'algorithm bully\nids 4,5,4\n'
    wrong "a bad time" 3:9 'before 0' 'algorithm bully\nnodes 5\ncrash 3@-1\n'
    wrong "a bad probability" 3:6 'from 0 to 1' 'algorithm bully\nnodes 5\nloss 1.5\n'
    wrong "a bad option" 3:5 'exclude-suspects' 'algorithm bully\nnodes 5\nset delta=3\n'
    wrong "a bad expectation" 3:8 'leader ID' 'algorithm bully\nnodes 5\nexpect luck\n'
    wrong "a restart of the living" "3:[0-9]+" 'not dead' 'algorithm bully\nnodes 5\nrestart 3@1\n'
    wrong "a second death" "3:[0-9]+" 'dead already' 'algorithm bully\nnodes 5\ncrash 3@1,3@2\n'
    wrong "too many members" 2:7 'at most 64' 'algorithm ring-collect\nnodes 65\n'
    wrong "a very long line" 2:1 'unknown word' "ids $(seq -s, 1 3000)\\nfrob\\n"
    wrong "a NUL in it" "2:[0-9]+" '' 'algorithm bully\n\0000nodes 5\n'
    wrong "a NUL at the end of a line" "2:[0-9]+" '' 'algorithm bully\nnodes 5\0000\n'
    wrong "binary garbage" 1:1 '' '\0177ELF\0001\0002\0377\0376\033[31m\n\0000\n'
    head -c 3000 "$ELECTOR" >"$file"
    refuses "a program as a scenario" 2 "$file" sim "$file"
    story ''
    refuses "empty scenario" 2 "$file: no algorithm is given" sim "$file"
    story '# nothing but a comment\n'
    refuses "scenario without a setting" 2 "$file: no algorithm is given" sim "$file"
    story 'algorithm bully\n'
    refuses "scenario without nodes" 2 "$file: how many nodes" sim "$file"
    refuses "scenario that is not there" '2 3' "'$scratch/none'.*No such file" sim "$scratch/none"
    refuses "directory as a scenario" '2 3' "$scratch: .*directory" sim "$scratch"
    story 'algorithm bully\nnodes 5\n'
    chmod 000 "$file"
    if [ -r "$file" ]; then # root has to give up that it reads everything
        # shellcheck disable=SC2016 # for the shell that reads the file
        printf '#!/bin/sh\nexec setpriv --bounding-set=-dac_override,-dac_read_search "%s" "$@"\n' "$ELECTOR" >"$scratch/humble"
        chmod +x "$scratch/humble"
        ELECTOR=$scratch/humble refuses "unreadable scenario" '2 3' "$file.*ermission denied" sim "$file"
    else
        refuses "unreadable scenario" '2 3' "$file.*ermission denied" sim "$file"
    fi
    chmod 600 "$file"
    # What a file may look like: carriage returns, tabs, comments, no newline at the end.
    story '# a story\r\n\r\n\talgorithm\tbully\r\nnodes 5 # five\r\ncrash 5@0\t# dead\r\n  # and\r\ninitiator 2'
    accepts "scenario with odd blanks" 0 '^bully: all 4 name 4' sim "$file"
}

test_scripts() {
    local members='algorithm bully\nnodes 3\nleader 3\nscript steps\n'
    story "${members}step suspect 1:3\nstep fire 1 answers # too early\nexpect violation two-leaders\n"
    accepts "script" 0 '^  expected    violation two-leaders: yes' sim "$file"
    accepts "script without what it expects" 1 '^violation   two-leaders at 1: 1, 3' sim "$file" --expect 'leader 2'
    story "${members}step suspect 1:3\nstep deliver 1>2 Election #1 # the oldest\nexpect no violation\n"
    accepts "script that ends in the middle" 0 'expected    no violation: yes' sim "$file"
    wrong "an impossible step" 6:6 'no Answer from 2 to 1 is in flight; in flight: 1>2 Election, 1>3 Election' \
        "${members}step suspect 1:3\nstep deliver 2>1 Answer\n"
    wrong "a timer that is not armed" 5:6 'not armed; armed at 2: none' "${members}step fire 2 answers\n"
    wrong "a step of the dead" 6:6 '2 is dead' "${members}step crash 2\nstep campaign 2\n"
    wrong "a loop that is none" 5:6 'do not return' "${members}step loop\nstep crash 2\n"
    wrong "a crash beside a script" 5:7 'cannot be used in a scripted run' "${members}crash 3@0\n"
    story "${members}step deliver 2>1 Answer\n"
    refuses "impossible step, for a program" 2 'no Answer' sim "$file" --output json
    refuses "impossible step, to be drawn" 2 'no Answer' sim "$file" --svg -
    story "${members}step suspect 1:3\nstep deliver 1>2 Election\n"
    accepts "script as JSON" 0 '"came_to_rest": false' sim "$file" --output json
}

test_overriding() {
    story 'algorithm bully\nnodes 5\ninitiator 2\ndelay 0.5..1\nseed 3\nexpect leader 5\n'
    accepts "seed of a scenario" 0 '^  seed +3$' sim "$file"
    accepts "option after a scenario" 0 '^  seed +7$' sim "$file" --seed 7
    accepts "option with an equals sign" 0 '^  seed +7$' sim "$file" --seed=7
    accepts "option before a scenario" 0 '^  seed +7$' sim --seed 7 "$file"
    run sim "$file" --seed 7
    cp "$out" "$scratch/after"
    run sim "$file"
    verify "option after a scenario" "changes nothing" test -n "$(cmp "$out" "$scratch/after")"
    accepts "nodes over nodes" 1 '^bully: all 7 name 7' sim "$file" --nodes 7
    accepts "ids over nodes" 1 '^bully: all 3 name 9' sim "$file" --ids 2,5,9
    story 'algorithm bully\nids 2,5,9\n'
    accepts "nodes over ids" 0 '^bully: all 4 name 4' sim "$file" --nodes 4
}

# ---- Exit codes -----------------------------------------------------------------------------------

test_exit_codes() {
    local split=(sim bully --nodes 5 --leader 5 --partition '1,2,3|4,5' --detect 2 --quiet)
    accepts "a violation" 1 '^violation +two-leaders' "${split[@]}"
    accepts "one of two violations expected" 1 'two-leaders: yes' "${split[@]}" --expect 'violation two-leaders'
    accepts "all violations expected" 0 'disagreement: yes' "${split[@]}" --expect 'violation two-leaders' \
        --expect 'violation disagreement'
    accepts "no violation" 0 '^bully: all 5 name 5' sim bully --nodes 5
    accepts "an expectation that holds" 0 'leader 5: yes' sim bully --nodes 5 --expect 'leader 5'
    accepts "an expectation that does not" 1 'leader 4: NO' sim bully --nodes 5 --expect 'leader 4'
    accepts "a violation expected in vain" 1 'endless: NO' sim bully --nodes 5 --expect 'violation endless'
    accepts "quiet" 0 '^  messages' sim bully --nodes 5 --quiet
    verify "quiet" "tells a transcript" test "$(grep -c '→' "$out")" -eq 0
}

test_output_errors() {
    local where
    for where in "$scratch/none/file" "$scratch"; do
        run sim bully --nodes 3 --svg "$where"
        refused "diagram into $where" 3 "$where: cannot write"
        run sim bully --nodes 3 --trace "$where"
        refused "trace into $where" 3 "$where: cannot write"
    done
    local option
    for option in svg trace mermaid shiviz; do
        run sim bully --nodes 3 --$option /dev/full
        refused "--$option into a full device" 3 '/dev/full: cannot write'
    done
    local words
    for words in --help --version algorithms 'algorithms bully' 'algorithms --output json' 'compare --runs 4' demo \
        'detect heartbeat --hours 0.1 --runs 1' 'sim --help' 'sim bully --nodes 3' 'sim bully --nodes 3 --output json' 'sim bully --nodes 3 --trace -'; do
        status=0
        # shellcheck disable=SC2086 # the words of a command line
        "$ELECTOR" $words >/dev/full 2>"$err" || status=$?
        refused "$words into a full device" 3 'cannot write'
    done
}

# ---- Checking -------------------------------------------------------------------------------------

test_check() {
    accepts "help of check" 0 '^Usage: elector check' check --help
    refuses "check of nothing" 2 'which algorithm.*--help' check
    refuses "check of two" 2 "'raft'" check bully raft
    refuses "check of an unknown algorithm" 2 "'bullied'.*elector algorithms" check bullied
    refuses "check --frob" 2 'unknown option --frob' check bully --frob
    refuses "check of too many" 2 '16' check chang-roberts --nodes 17
    refuses "check of nobody" 2 'nodes' check bully --nodes 0
    refuses "a negative budget" 2 '--crash is a number up to 200, or any' check bully --nodes 3 --crash -1
    refuses "a budget too large" 2 '--lose is a number up to 200, or any' check bully --nodes 3 --lose 201
    refuses "a budget in words" 2 '--suspect is a number' check bully --nodes 3 --suspect many
    refuses "a budget that is missing" 2 '--wipe is a number' check bully --nodes 3 --wipe
    refuses "depth of a word" 2 '--depth is a number' check bully --nodes 3 --depth deep
    refuses "terms beyond all" 2 '--terms is a number' check raft --nodes 3 --terms 99999999999999999999
    refuses "clocks of no kind" 2 '--rates is on, off, or slow, true or fast' check quorum --nodes 3 --rates slow,quick,fast
    refuses "a clock that is missing" 2 '--rates names 2 clocks, and there are 3 members' check quorum --nodes 3 --rates slow,true
    refuses "no threads at all" 2 '--threads is at least 1' check bully --nodes 3 --threads 0
    refuses "too many threads" 2 '--threads is a number up to 64' check bully --nodes 3 --threads 65
    refuses "hardly any memory" 2 '--memory is a size of at least 16M' check bully --nodes 3 --memory 1M
    refuses "memory in words" 2 '--memory is a size' check bully --nodes 3 --memory lots
    refuses "memory beyond all" 2 '--memory is a size' check bully --nodes 3 --memory 99999999999999G
    refuses "time that flies" 2 '--time is free or ticks' check bully --nodes 3 --time flies
    refuses "no tick" 2 '--tick is a time' check bully --nodes 3 --tick 0
    refuses "a tick of nothing" 2 '--tick is a time' check bully --nodes 3 --tick
    refuses "a tick in weeks" 2 '--tick is a time' check bully --nodes 3 --tick 1w
    refuses "symmetry of sorts" 2 '--symmetry is on or off' check bully --nodes 3 --symmetry perhaps
    refuses "unknown property" 2 "no property 'luck'.*--help" check bully --nodes 3 --property luck
    refuses "check --output xml" 2 '--output is text or json, not xml' check bully --nodes 3 --output xml
    refuses "scenario without a name" 2 '--scenario needs a file name' check bully --nodes 3 --scenario
    run check bully --nodes 3 --initiator 1 --time free --scenario "$scratch/no/such/place" --quiet
    refused "scenario that cannot be written" 3 'cannot write it'
    accepts "check that holds" 0 'hold in every world within the bounds' check chang-roberts --nodes 3 --initiator all
    accepts "check of one property that holds" 0 ': one-leader holds in every world' check chang-roberts --nodes 3 --initiator all --property one-leader
    accepts "check that breaks" 1 'one-leader is BROKEN, after 3 moves' check bully --nodes 3 --initiator 1 --time free
    accepts "check that stops" 0 'one-per-term holds in every world that [0-9]+ moves reach' \
        check raft --nodes 3 --memory 16M --property one-per-term --threads 1
    verify "check that stops" "does not say why, and what one move more would cost" \
        grep -qE 'stopped .*is (used up|full); [0-9,]+ worlds wait. One move more: about [0-9.]+ times' "$out"
    # How far it comes in a time is the machine's affair, so that only the open question of liveness has a sure exit code.
    accepts "check within a time" 3 'cannot tell: the time is used up' \
        check raft --nodes 4 --budget 100ms --property elects --threads 1
    accepts "a question about rest where nothing rests" 3 'vacuous +agreement: no world' check stable --nodes 3 --property agreement
    accepts "a question about leaders where nobody leads" 3 'vacuous +one-leader, one-per-term: nobody leads' \
        check chubby --nodes 3 --depth 8
    accepts "an algorithm that never rests" 0 'elects holds' check stable --nodes 3
    refuses "a budget of sorts" 2 '--budget is a time such as 10s' check bully --nodes 3 --budget much
    # What is written replays, also where a message must be told from its twins.
    run check raft --nodes 3 --set prevote=off --property tokens-rise --scenario "$scratch/tokens" --quiet
    verify "tokens" "nothing was written" grep -q '^step ' "$scratch/tokens"
    accepts "a counterexample" 0 'expected +broken tokens-rise: yes' sim "$scratch/tokens"
    accepts "check with one thread" 0 '^  explored ' check chang-roberts --nodes 3 --initiator all --crash 1 --threads 1
    local worlds
    worlds=$(grep '^  explored ' "$out")
    run check chang-roberts --nodes 3 --initiator all --crash 1 --threads 2
    verify "check with two threads" "finds other worlds" grep -qxF -e "$worlds" "$out"
    accepts "check as JSON" 0 '^\{' check bully --nodes 3 --initiator all --output json --quiet
    json "JSON of a check that holds" 'j["verdict"] == "holds" and j["states"] > 1000 and j["properties"] == ["one-leader", "agreement", "best"]'
    run check bully --nodes 3 --initiator all --lose 1 --output json --quiet
    json "JSON of a check that breaks" 'j["verdict"] == "broken" and j["broken"] == "one-leader" and j["length"] == 6'
}

# A plan that cannot fit in any memory is refused, not killed.
test_out_of_memory() {
    status=0
    (
        [ -n "${ELECTOR_SANITIZED-}" ] || ulimit -v 4000000
        timeout 120 "$ELECTOR" sim bully --nodes 16777216 --quiet >"$out" 2>"$err"
    ) || status=$?
    sed -i '/^==[0-9]*==WARNING: AddressSanitizer/d' "$err"
    if grep -q 'AddressSanitizer' "$err"; then sed -i '/out of memory/!d' "$err"; fi
    refused "16777216 bullies" '2 3' 'memory|at most'
}

# ---- JSON -----------------------------------------------------------------------------------------

# json NAME PYTHON: the output is JSON, and the expression about it (as j) is true.
json() {
    local name=$1 expression=$2
    verify "$name" "is no JSON, or not so: $expression" \
        python3 -ISc 'import json, sys; j = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' \
        "$out" "$expression"
}

test_json() {
    accepts "JSON" 0 '^\{' sim bully --nodes 5 --leader 5 --crash 5@0 --initiator 2 --output json
    json "JSON: algorithm" 'j["algorithm"] == "bully"'
    json "JSON: nodes" 'j["nodes"] == 5'
    json "JSON: leader" 'j["leader"] == 4 and j["agreed"] is True'
    json "JSON: total" 'j["messages"]["total"] == 12 == sum(j["messages"]["by_kind"].values())'
    json "JSON: by kind" 'j["messages"]["by_kind"] == {"Election": 6, "Answer": 3, "Coordinator": 3}'
    json "JSON: turnaround" 'j["turnaround"] == 4'
    json "JSON: violations" 'j["violations"] == []'
    json "JSON: seed" 'j["seed"] == 1'
    json "JSON: members" '[m.get("names") for m in j["members"]] == [4, 4, 4, 4, None]'
    json "JSON: a member" 'j["members"][3] == {"id": 4, "attribute": 0, "alive": True, "role": "leader", "names": 4, "term": 1}'
    accepts "JSON of a violation" 1 '^\{' sim bully --nodes 5 --leader 5 --partition '1,2,3|4,5' --detect 2 \
        --output json
    json "JSON: no agreement" 'j["leader"] is None and j["agreed"] is False'
    json "JSON: kinds" '{v["kind"] for v in j["violations"]} == {"two-leaders", "disagreement"}'
    json "JSON: a violation" \
        '[v for v in j["violations"] if v["kind"] == "two-leaders"][0]["nodes"] == [3, 5]'
    json "JSON: times" 'all(set(v) >= {"kind", "time", "nodes"} and v["time"] >= 0 for v in j["violations"])'
    accepts "JSON of expectations" 1 '^\{' sim bully --nodes 5 --expect 'leader 4' --expect agreement \
        --output json
    json "JSON: expectations" '[e["holds"] for e in j["expectations"]] == [False, True]'
    accepts "JSON with units" 0 '^\{' sim bully --nodes 5 --delay 5..15ms --seed 9 --output json
    json "JSON: units" 'j["unit"] == "ms" and 0 < j["turnaround"] < 100 and j["seed"] == 9'
    accepts "JSON with great numbers" 0 '^\{' sim bully --ids 1,9007199254740991 \
        --seed 9007199254740991 --output json
    json "JSON: great numbers" 'j["seed"] == 2**53 - 1 and j["leader"] == 2**53 - 1'
    accepts "JSON of one algorithm" 0 '^\{' algorithms bully --output json
    json "JSON of one algorithm" 'j["name"] == "bully" and "Election" in j["messages"]'
    accepts "JSON of the algorithms" 0 '^\[' algorithms --output json
    json "JSON of the algorithms" 'len(j) >= 11 and all(a["reference"] and a["broken_by"] for a in j)'
    accepts "JSON of a comparison" 0 '^\{' compare --runs 4 --output json
    json "JSON of a comparison" 'j["nodes"] == 6 and j["runs"] == 4 and j["seed"] == 1'
    json "JSON of a comparison: costs" 'all(a["cost"]["messages"] > 0 for a in j["algorithms"])'
    json "JSON of a comparison: bully" \
        '[(a["cost"]["messages"], a["partition_safe"]["holds"], a["stable"]["broken"]) for a in j["algorithms"]
          if a["algorithm"] == "bully"] == [(29, False, 4)]'
    json "JSON of a comparison: raft" \
        '[(a["survives"], a["partition_safe"]["holds"], a["stable"]["promised"]) for a in j["algorithms"]
          if a["algorithm"] == "raft"] == [(2, True, True)]'
    run sim bully --nodes 3 --trace "$scratch/trace" --quiet
    verify "trace" "is empty" test -s "$scratch/trace"
    verify "trace" "is not one object to a line" test -z "$(grep -vE '^\{.*\}$' "$scratch/trace")"
}

# ---- Failure detectors ----------------------------------------------------------------------------

test_detect() {
    local quick=(detect --hours 0.1 --runs 2 --nodes 3) recording=scenarios/detectors/heartbeats.arrivals
    accepts "detectors" 0 '^heartbeat:threshold=3 .* [23]\.[0-9]+ s .* 100 % +2$' "${quick[@]}" --loss 0
    verify "detectors" "a line is wider than 100" test -z "$(in_columns "$out" | grep -E '.{101}')"
    accepts "detectors by name" 0 '^phi:4,interval=500ms ' "${quick[@]}" phi:4,interval=500ms
    accepts "a detector as an option" 0 '^swim ' "${quick[@]}" --detector swim
    accepts "two members and path" 0 '^path: 2 of 2 were not noticed within' "${quick[@]}" --nodes 2 path
    accepts "what cannot be compared" 0 '^swim:shortest=4 is left out: swim needs round trip < timeout' \
        "${quick[@]}" --delay 500ms
    accepts "a sweep" 0 '^phi:interval=2s,threshold=16 ' "${quick[@]}" --sweep phi:8,interval=2s
    verify "a sweep" "keeps the option that it sweeps" test -z "$(grep '8,interval' "$out")"
    accepts "a pause" 0 ', pause 1@200s\.\.210s$' "${quick[@]}" heartbeat --pause 1@200s..210s
    accepts "detectors as JSON" 0 '^\{' "${quick[@]}" heartbeat phi --loss 20% --output json
    json "JSON: detectors" '[d["detector"] for d in j["detectors"]] == ["heartbeat", "phi"]'
    json "JSON: detection" 'all(0 < d["detection"]["mean_ms"] <= d["detection"]["max_ms"] for d in j["detectors"])'
    json "JSON: mistakes" 'all(abs(d["accuracy"] - 1 + m["duration_ms"] / m["recurrence_ms"]) < 1e-6
        and m["watched_hours"] == 0.6 for d in j["detectors"] for m in [d["mistakes"]])'
    json "JSON: what was asked" 'j["nodes"] == 3 and j["hours"] == 0.1 and j["runs"] == 2 and j["seed"] == 1'
    accepts "detectors drawn" 0 '^<svg' "${quick[@]}" heartbeat phi --svg -
    accepts "a recording" 0 '^heartbeat:interval=250ms .* 750 ms +750 ms +161 +22.4 s +876 ms +96.0840 %$' \
        detect heartbeat:interval=250ms --arrivals "$recording"
    accepts "a recording and all that can" 0 '^phi:threshold=8 ' detect --arrivals "$recording"
    verify "a recording" "has a line that ends in blanks" test -z "$(grep ' $' "$out")"
    accepts "a recording as JSON" 0 '^\{' detect heartbeat:interval=250ms --arrivals "$recording" --output json
    json "JSON: a recording" 'j["arrival_count"] == 167 and j["detectors"][0]["mistakes"]["count"] == 2'
    json "JSON: no messages" 'j["detectors"][0]["messages_per_second"] is None'
    refuses "swim on a recording" 2 'swim needs a conversation; only heartbeat and phi' \
        detect swim --arrivals "$recording"
    refuses "a recording and a network" 2 '--loss is about a simulated network' \
        detect --loss 5% --arrivals "$recording"
    printf '1000\n2000\n  1500 # back\n' >"$file"
    refuses "a recording that goes back" 2 "$file:3:3: not after the arrival before it, in line 2" \
        detect --arrivals "$file"
    printf '1000\n2000 ms\n' >"$file"
    refuses "a recording with units" 2 "$file:2:6: expected a time in milliseconds such as 1042.5" \
        detect --arrivals "$file"
    refuses "a recording that is not there" 2 'No such file' detect --arrivals "$scratch/none"
    refuses "an unknown detector" 2 'detector of that name|there is no detector' detect tarot
    refuses "a detector with a bad option" 2 '--detector phi:luck=3: phi has the options threshold' detect phi:luck=3
    refuses "a swept option that is wrong" 2 '--detector phi:threshold=x: .*whole number' detect phi:threshold=x --sweep
    refuses "a detector that cannot be" 2 'needs round trip < timeout' detect swim --delay 500ms
    refuses "too few members" 2 '--nodes takes a number from 2 to 64' detect --nodes 1
    refuses "too many members" 2 '--nodes takes a number from 2 to 64' detect --nodes 65
    refuses "no time at all" 2 '--hours takes a number from 0.001 to 1000' detect --hours 0
    refuses "too many runs" 2 '--runs takes a number from 1 to 1000' detect --runs 1001
    refuses "runs without a number" 2 '--runs takes a number' detect --runs
    refuses "a bad probability" 2 '--loss 1.5: a probability' detect --loss 1.5
    refuses "a word of sim that is none of detect" 2 'unknown option --crash' detect --crash 1@5
    run "${quick[@]}" heartbeat --svg "$scratch/none/file"
    refused "a drawing into nowhere" 3 "$scratch/none/file: cannot write"
}

# ---- The same, byte for byte ----------------------------------------------------------------------

test_determinism() {
    local random=(sim chang-roberts --nodes 8 --initiator all --delay 0.5..1.5 --dup 10%) output
    for output in text json; do
        run "${random[@]}" --seed 5 --output $output
        cp "$out" "$scratch/first"
        run "${random[@]}" --seed 5 --output $output
        verify "the same seed twice, as $output" "differs" cmp "$out" "$scratch/first"
        run "${random[@]}" --seed 6 --output $output
        verify "two seeds, as $output" "give the same" test -n "$(cmp "$out" "$scratch/first")"
    done
    run compare --runs 1 --seed 5
    cp "$out" "$scratch/first"
    run compare --runs 1 --seed 5
    verify "the same comparison twice" "differs" cmp "$out" "$scratch/first"
    run compare --runs 1 --seed 6
    sed -i 's/seed 5/seed 6/' "$scratch/first"
    verify "comparisons from two seeds" "give the same" test -n "$(cmp "$out" "$scratch/first")"
    run sim bully --nodes 5 --seed 5 --output json
    sed 's/"seed": .*/"seed": 6/' "$out" >"$scratch/first"
    run sim bully --nodes 5 --seed 6 --output json
    verify "two seeds without chance" "differ" cmp "$out" "$scratch/first"
}

# ---- The files of a cluster -----------------------------------------------------------------------

test_keygen() {
    local dir=$scratch/keygen
    mkdir "$dir"
    accepts "keygen" 0 '^[A-Za-z0-9+/]{43}=$' keygen --out "$dir/a"
    cp "$out" "$scratch/first"
    verify "keygen" "lets others read the secret" test "$(stat -c %a "$dir/a")" = 600
    verify "keygen" "prints the secret" test "$(cat "$dir/a")" != "$(cat "$scratch/first")"
    accepts "keygen --public" 0 '^[A-Za-z0-9+/]{43}=$' keygen --public "$dir/a"
    verify "keygen --public" "prints another key" cmp "$out" "$scratch/first"
    cp "$dir/a" "$scratch/secret"
    refuses "keygen over a key" 3 'exists already, and a key is never overwritten' keygen --out "$dir/a"
    verify "keygen over a key" "replaces it" cmp "$dir/a" "$scratch/secret"
    refuses "keygen nowhere" 3 'cannot create it' keygen --out "$dir/none/a"
    refuses "keygen --public of nothing" 3 'cannot read this key file' keygen --public "$dir/none"
    echo secret >"$dir/b"
    chmod 600 "$dir/b"
    refuses "keygen --public of a word" 3 'b:1: this is not a key' keygen --public "$dir/b"
    chmod 644 "$dir/a"
    refuses "keygen --public of an open file" 3 'others may read this key file' keygen --public "$dir/a"
    refuses "keygen without a file" 2 '--out needs the name of a file' keygen --out
    refuses "keygen of both" 2 'give one of them' keygen --out "$dir/c" --public "$dir/a"
}

# The highest ceiling in the two slots of a new state file (agent/state/slot.h), of 4096 entries of 40 bytes and 4096 bytes more.
floor_of() {
    local slot
    for slot in 0 167936; do od -An -tu8 -j $((slot + 56 + 16)) -N 8 "$1/elector.state"; done | sort -n | tail -n 1 | tr -d ' '
}

test_init() {
    local dir=$scratch/init name file
    refuses "init of what no agent would read" 2 "not text" init --out "$dir" --members a=127.0.0.1:1 --socket $'x\001'
    refuses "init of one address twice" 2 "same address" init --out "$dir" --members 'a=[::1]:1,b=[0:0::1]:1'
    refuses "init of a place with a blank before" 2 "--state is the name" init --out "$dir" --members a=127.0.0.1:1 --state ' x'
    verify "init of what no agent would read" "makes something" test ! -e "$dir"
    accepts "init on this host" 0 'elector agent --config .*/c/elector.conf$' init --out "$dir" --cluster shop \
        --members 'a=127.0.0.1:7401,b=localhost:7402,c=[::1]:7403,d=127.0.0.1:7404' --witness c --observer d
    verify "init" "counts the observer" grep -q '4 members, 3 votes, of which 1 may fail' "$out"
    for name in a b c d; do
        for file in member.key cluster.key elector.state; do
            verify "init" "lets others read $name/$file" test "$(stat -c %a "$dir/$name/$file")" = 600
        done
        verify "init" "shares no cluster key" cmp "$dir/a/cluster.key" "$dir/$name/cluster.key"
        run keygen --public "$dir/$name/member.key"
        verify "init" "does not list the key of $name" grep -qxF "key = $(cat "$out")" "$dir/a/elector.conf"
        verify "init" "does not know who $name is" grep -qx "self = $name" "$dir/$name/elector.conf"
    done
    verify "init" "puts the state elsewhere" grep -qx 'state = elector.state' "$dir/a/elector.conf"
    verify "init" "gives c another role" grep -qx 'role = witness' "$dir/a/elector.conf"
    (cd "$dir" && find . -type f -exec sha256sum {} + | sort) >"$scratch/first"
    refuses "init over a cluster" 3 'nothing is overwritten' init --out "$dir" --members e=127.0.0.1:1,a=127.0.0.1:2
    (cd "$dir" && find . -type f -exec sha256sum {} + | sort) >"$scratch/second"
    verify "init over a cluster" "changes it" cmp "$scratch/first" "$scratch/second"
    verify "init over a cluster" "leaves a half" test ! -e "$dir/e"
    accepts "init afar" 0 '/var/lib/elector/elector.state, then' init --out "$dir/afar" --members a:7400,b:7400,c:7400
    verify "init afar" "puts the socket elsewhere" grep -qx 'socket = /run/elector/agent.sock' "$dir/afar/b/elector.conf"
    accepts "init with places" 0 'to /s/b.state, then' init --out "$dir/places" --members a=127.0.0.1:1,b=127.0.0.1:2 \
        --state /s/%n.state --socket /s/%n.sock
    verify "init with places" "puts the socket elsewhere" grep -qx 'socket = /s/b.sock' "$dir/places/b/elector.conf"
    refuses "init with one place" 2 'so write %n' init --out "$dir/x" --members a=127.0.0.1:1,b=127.0.0.1:2 --state /s
    refuses "init of nobody" 2 'which members' init --out "$dir/x"
    accepts "init with a member that is anywhere" 0 '^  d \(dynamic\): copy' init --out "$dir/dynamic" \
        --members a=10.0.0.1:7400,b=10.0.0.2:7400,d=dynamic,e=dynamic --candidate d,e
    accepts "a member that is anywhere" 0 '^  d +id 3 +dynamic +candidate, this agent$' agent --config "$dir/dynamic/d/elector.conf" --check-config
    refuses "init with a voter that is anywhere" 2 "'d=dynamic' is for candidates only" init --out "$dir/x" --members a:1,d=dynamic
    refuses "init of a nameless one that is anywhere" 2 'the port is missing' init --out "$dir/x" --members a:1,dynamic
    refuses "init to nowhere" 2 'where to' init --members a:1
    refuses "init without a port" 2 "'a' the port is missing" init --out "$dir/x" --members a
    refuses "init of bare IPv6" 2 'put an IPv6 host in brackets' init --out "$dir/x" --members a=::1:7
    refuses "init of a nameless one" 2 "needs a name" init --out "$dir/x" --members '[::1]:7400'
    refuses "init of a path" 2 "needs a name" init --out "$dir/x" --members ../a=b:7400
    refuses "init of twins" 2 'share their name or their address' init --out "$dir/x" --members a=x:1,b=x:01
    refuses "init of namesakes" 2 'share their name or their address' init --out "$dir/x" --members a=x:1,a=y:1
    refuses "init with a strange witness" 2 "'d' is none of --members" init --out "$dir/x" --members a:1 --witness d
    refuses "init with two roles" 2 'has a role already' init --out "$dir/x" --members a:1,b:1 --witness a --observer a
    refuses "init without leaders" 2 'no member may lead' init --out "$dir/x" --members a:1 --witness a
    refuses "init of an ill-named cluster" 2 '--cluster: a name is' init --out "$dir/x" --members a:1 --cluster 'a b'
    refuses "init with tokens of no sense" 2 '--tokens-above -1: expected a whole number' init --out "$dir/x" --members a:1 --tokens-above -1
    refuses "init with tokens beyond all" 2 'up to 2\^52' init --out "$dir/x" --members a:1 --tokens-above 4503599627370497
    verify "init that was refused" "makes a folder" test ! -e "$dir/x"
    accepts "init with tokens" 0 'Cluster elector' init --out "$dir/tokens" --members a:1 --tokens-above 4503599627370496
    accepts "init without tokens" 0 'Cluster elector' init --out "$dir/few" --members a:1
    verify "init with tokens" "has the floor of another" test "$(floor_of "$dir/tokens/a")" = 4503599627370496
    verify "init without tokens" "begins below the wall clock" test "$(floor_of "$dir/few/a")" -gt "$(date +%s000000)"
}

# once_well ARGUMENTS: runs them until they succeed, for a minute at most.
once_well() {
    local tries=0
    run "$@"
    while [ "$status" -ne 0 ] && [ $((tries++)) -lt 600 ]; do
        sleep 0.1
        run "$@"
    done
}

test_doctor() {
    local dir=$scratch/doctor agent port=7400
    local host=127.$((1 + $$ % 250)).$((1 + $$ / 250 % 250)).1 # nobody else's on this machine
    run init --out "$dir" --members "a=$host:$port"
    run init --out "$dir/other" --members "a=$host:$port"
    local conf=$dir/a/elector.conf
    accepts "doctor without an agent" 3 "^ok     address .*:$port is free" doctor --config "$conf"
    verify "doctor without an agent" "does not say so" grep -qE "^[?]      agent .*is the agent running" "$out"
    run init --out "$dir/named" --members "a=localhost:$port,b=name.invalid:$port"
    accepts "doctor of hosts by name" 1 "^ok     configuration" doctor --config "$dir/named/a/elector.conf"
    accepts "doctor without a configuration" 1 "^WRONG  configuration .*none: cannot read it" doctor --config "$dir/none"
    chmod 644 "$dir/a/member.key"
    accepts "doctor of an open key" 1 "^WRONG  keys .*others may read" doctor --config "$conf"
    chmod 600 "$dir/a/member.key"
    mv "$dir/a/elector.state" "$scratch/first"
    accepts "doctor without a state" 1 "^WRONG  state file .*is missing" doctor --config "$conf"
    verify "doctor without a state" "makes one" test ! -e "$dir/a/elector.state"
    cp "$dir/other/a/elector.state" "$dir/a/elector.state"
    accepts "doctor of a strange state" 1 "^WRONG  state file .*of another cluster" doctor --config "$conf"
    truncate -s 1000 "$dir/a/elector.state"
    accepts "doctor of a damaged state" 1 "^WRONG  state file .*is damaged" doctor --config "$conf"
    mv "$scratch/first" "$dir/a/elector.state"
    "$ELECTOR" agent --config "$conf" 2>"$dir/log" </dev/null &
    agent=$!
    once_well doctor --config "$conf"
    verify "doctor of a good member" "exits with $status: $(grep WRONG "$out")" test "$status" -eq 0
    [ "$(stat -f -c %T "$dir")" = btrfs ] ||
        verify "doctor of a good member" "does not know that it runs" grep -qE "^ok     state file .*in use" "$out"
    verify "doctor of a good member" "counts no majority" grep -qE "^ok     majority +1 of 1" "$out"
    kill -TERM "$agent"
    wait "$agent" || true
    refuses "doctor of no file" 2 "--config needs" doctor --config
}

test_replay() {
    local dir=$scratch/replay agent
    local host=127.$((1 + $$ % 250)).$((1 + $$ / 250 % 250)).1
    run init --out "$dir" --members "a=$host:7400"
    run init --out "$dir/other" --members "a=$host:7400"
    sed -i 's/^self = .*/&\nrecorder = 64KiB/' "$dir/a/elector.conf" "$dir/other/a/elector.conf"
    for conf in "$dir/a" "$dir/other/a"; do
        "$ELECTOR" agent --config "$conf/elector.conf" 2>"$dir/log" </dev/null &
        agent=$!
        once_well status --url "unix:$conf/agent.sock"
        kill -TERM "$agent"
        wait "$agent" || true
    done
    local file=$dir/a/elector.state.flight
    accepts "replay" 0 "flight: a of .* [0-9]+ inputs, [0-9]+ messages: agrees" replay "$file"
    verify "a recording" "is open to others" test "$(stat -c %a "$file")" = 600
    refuses "replay of nothing" 2 'name a recording' replay
    refuses "replay of no file" 3 'none: cannot read it' replay "$dir/none"
    refuses "replay of another file" 3 'not a recording of an agent' replay "$dir/a/elector.conf"
    refuses "replay of two clusters" 3 'is of another cluster' replay "$file" "$dir/other/a/elector.state.flight"
    refuses "replay of no group" 2 'no group had a leader; name one with --group' replay --output svg "$file"
    refuses "replay in no format" 2 '--output is report, text' replay --output xml "$file"
    refuses "replay of no name" 2 '--group needs the name' replay --group '' "$file"
    truncate -s 8000 "$file"
    refuses "replay of what is cut off" 3 'truncated|damaged' replay "$file"
}

# What one agent and its commands say of each other. The member has a long name.
test_small_things() {
    local dir=$scratch/small long=a-member-with-a-rather-long-name agent
    local host=127.$((1 + $$ % 250)).$((1 + $$ / 250 % 250)).1
    run init --out "$dir" --members "$long=$host:7400"
    local url=unix:$dir/$long/agent.sock conf=$dir/$long/elector.conf
    "$ELECTOR" agent --config "$conf" 2>"$dir/log" </dev/null &
    agent=$!
    once_well status --url "$url"
    run run --no-wait --url "$url" g -- true
    accepts "history of a long name" 0 "  $long  [0-9]+  elected  " history g --url "$url"
    run status g --url "$url"
    local planned shown
    shown=$(grep -oE '[0-9]+ ms' "$out" | tail -n 1)
    run plan --config "$conf"
    planned=$(sed -nE 's/^  a host dies, hangs or is cut off +([0-9]+ ms) .*/\1/p' "$out")
    verify "plan and status" "say $planned and $shown" test "$planned" = "$shown"
    "$ELECTOR" campaign --url "$url" g >"$dir/elected" 2>&1 </dev/null &
    local candidate=$!
    once_well status g --url "$url"
    verify "campaign" "has another priority than run: $(tail -n 1 "$out")" grep -q "$long=100" "$out"
    kill -TERM "$candidate"
    wait "$candidate" || true
    run doctor --config "$conf"
    accepts "members" 0 "^$long +1 +voter +here +this agent +[0-9.]+ +[A-Za-z0-9+/]{8} +$host:7400$" members --url "$url"
    accepts "members by status" 0 "^$long +1 +voter +here +this agent" status --url "$url" --members
    verify "members" "counts its vote" grep -q '^1 of 1 votes count; 1 elect; 0 more may fail$' "$out"
    verify "members" "has nothing that is pending" grep -q '^nothing is pending$' "$out"
    run members --url "$url" --output json
    verify "members in JSON" "is none, or tells other members" python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))
assert (found["votes"], found["votes_counted"], found["majority"], found["restart"]) == (1, 1, 1, [])
assert [(m["id"], m["role"], m["reachable"]) for m in found["members"]] == [(1, "voter", True)] and len(found["list"]) == 16' "$out"
    refuses "members of a group" 2 'did not expect g' members g --url "$url"
    refuses "members of a lock" 2 'is a lock, which has no members: only an agent has' members --url file:/nowhere
    refuses "members of nothing" 2 "'foo://x': expected unix:PATH" members --url foo://x
    refuses "doctor of nothing" 2 "'foo://x': expected unix:PATH" doctor --url foo://x
    refuses "doctor of a lock" 2 'is a lock on this host, which needs no examination' doctor --url file:/nowhere
    refuses "doctor of two" 2 'one of them is enough' doctor --url "$url" --config none
    refuses "status of nothing" 2 "'foo://x': expected unix:PATH" status --url foo://x
    refuses "history of nothing" 2 "'foo://x': expected unix:PATH" history g --url foo://x
    refuses "resign from nothing" 2 "'foo://x': expected unix:PATH" resign g --url foo://x
    : >"$dir/watched"
    "$ELECTOR" status --watch --url "$url" >"$dir/watched" 2>&1 </dev/null &
    local watch=$! tries=0
    until [ "$(grep -c ^GROUP "$dir/watched")" -ge 2 ] || [ $((tries++)) -gt 600 ]; do sleep 0.1; done
    verify "status --watch" "prints once" test "$(grep -c ^GROUP "$dir/watched")" -ge 2
    kill -TERM "$watch"
    wait "$watch" || true
    run doctor --config "$conf" --output json
    verify "doctor in JSON" "is none, or has no verdict" python3 -c '
import json, sys
found = json.load(open(sys.argv[1]))
assert found["verdict"] == "ok" and {c["what"] for c in found["checks"]} >= {"configuration", "keys", "majority", "groups"}
assert all({"verdict", "what", "text"} == set(c) for c in found["checks"])' "$out"
    run doctor --config "$conf"
    verify "doctor" "does not count one group" grep -qE '^ok     groups +1: 0 led, 1 without' "$out"
    verify "doctor" "counts groups of the state file" test -z "$(grep -E '^ok     state file.*group' "$out")"
    run status --url "$url"
    verify "status after a job" "exits with $status" test "$status" -eq 1
    accepts "forget" 0 '^g is no longer listed' forget g --url "$url"
    accepts "status of what was forgotten" 0 '^No groups' status --url "$url"
    refuses "status of one that was forgotten" 1 'forgotten' status g --url "$url"
    refuses "forget of a strange group" 1 'does not know' forget nosuch --url "$url"
    refuses "forget of no group" 2 'which group' forget
    accepts "history of what was forgotten" 0 "$long" history g --url "$url"
    "$ELECTOR" campaign --url "$url" g >"$dir/elected" 2>&1 </dev/null &
    candidate=$!
    once_well status g --url "$url"
    verify "a group that was forgotten" "does not come back" test "$status" -eq 0
    refuses "forget of a group in use" 1 'is in use' forget g --url "$url"
    kill -TERM "$candidate"
    wait "$candidate" || true
    kill -TERM "$agent"
    wait "$agent" || true
    local tokens
    tokens=$("$ELECTOR" replay --output jsonl --group g "$dir/$long/elector.state.flight" 2>&1 >/dev/null | tail -n 1)
    verify "tokens of a group that was forgotten" "$tokens" grep -q 'tokens rise' <<<"$tokens"
    local file=$dir/$long/elector.state.flight
    accepts "replay of a group" 0 'terms? of office' replay --group g "$file"
    refuses "replay of a strange group" 2 "no recording has a group 'nosuch'; there is 'g'" replay --group nosuch "$file"
    refuses "status of a lock" 2 'which group\? file:.* has no list' status --url "file:$dir/lock"
    refuses "run of a bad name" 2 "'bad name' is not a valid group name" run 'bad name' -- true
    verify "run of a bad name" "says the name twice" test "$(grep -o 'bad name' "$err" | wc -l)" -eq 1
    [ -n "${ELECTOR_SANITIZED-}" ] ||
        refuses "sim of a million" 3 'the states of 1000000 nodes of bully take 125.0 GB' sim bully --nodes 1000000 --quiet
}

# ---- Colours --------------------------------------------------------------------------------------

escapes() { grep -c $'\033' "$1" || true; }

# on_terminal WORDS: stdout is a terminal; leaves $out.
on_terminal() { script -qec "$1" /dev/null >"$out" 2>"$err" </dev/null || true; }

# What a long search says meanwhile: it overwrites one line, on a terminal only, and leaves nothing of it.
test_progress() {
    local check
    check="$(printf '%q' "$ELECTOR") check raft --nodes 3 --budget 3600s --memory 100M"
    on_terminal "$check"
    verify "progress" "there is none: $(tr '\r' '\n' <"$out" | sed -n '1,3p')" grep -qE $'\r.*worlds after [0-9]+ moves: .*to go' "$out"
    verify "progress" "some of it is left" grep -qE $'\r\033\\[Kraft, 3 nodes: ' "$out"
    on_terminal "$check --quiet"
    verify "no progress with --quiet" "there is some" test "$(grep -c 'to go' "$out")" -eq 0
    on_terminal "$(printf '%q' "$ELECTOR") compare --nodes 6 --runs 60"
    verify "progress of compare" "there is none" grep -qE $'\r.*[0-9]+ of [0-9]+ cells' "$out"
}

test_colours() {
    local words
    for words in --help algorithms 'algorithms bully' 'compare --runs 4' demo 'sim --help' \
        'sim bully --nodes 5 --leader 5 --crash 5@0 --initiator 2'; do
        # shellcheck disable=SC2086 # the words of a command line
        run $words
        verify "no colours in a pipe: $words" "there are some" test "$(escapes "$out")" -eq 0
    done
    local command
    command="$(printf '%q' "$ELECTOR") sim bully --nodes 5 --leader 5 --crash 5@0 --initiator 2"
    command+=" --expect 'leader 4'"
    on_terminal "$command"
    verify "colours on a terminal" "there are none" test "$(escapes "$out")" -gt 0
    tr -d '\r' <"$out" | sed $'s/\033\\[[0-9]*m//g' >"$scratch/uncoloured"
    on_terminal "env NO_COLOR=1 $command"
    verify "NO_COLOR on a terminal" "there are colours" test "$(escapes "$out")" -eq 0
    tr -d '\r' <"$out" >"$scratch/plain"
    verify "colours" "change more than the colour" cmp "$scratch/plain" "$scratch/uncoloured"
    on_terminal "$command --output json"
    verify "JSON on a terminal" "has colours" test "$(escapes "$out")" -eq 0
}

test_help
test_topics
test_did_you_mean
test_verbs
test_check
test_members
test_events
test_network
test_scenario_files
test_scripts
test_overriding
test_exit_codes
test_output_errors
test_out_of_memory
test_json
test_detect
test_determinism
test_keygen
test_init
test_doctor
test_replay
test_small_things
[ -n "${ELECTOR_SANITIZED-}" ] || test_progress
test_colours
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
