#!/usr/bin/env bash
# elector run with real processes: over file: locks ($ELECTOR), and over a library that this script directs ($FAKE, see
# fake.c), whose lease ends when the script says so. Nothing is timed: every wait is for an event, with a generous limit.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
export LC_ALL=C
BUILD=${BUILD:-build/release}
ELECTOR=${ELECTOR:-$BUILD/elector}
FAKE=${FAKE:-$BUILD/test/run.fake}
scratch=$(mktemp -d)
minute=${ELECTOR_PATIENCE:-60} # in seconds
started=() # our own processes, by number
passed=0 failed=0
unset ELECTOR_URL

clean_up() {
    local pid
    for pid in "${started[@]}"; do
        kill -CONT "$pid"
        kill -KILL "$pid"
    done 2>/dev/null
    rm -rf "$scratch"
}
trap clean_up EXIT

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAIL  $1: $2"
    [ ! -s "$err" ] || sed 's/^/        stderr: /' "$err" | tail -n 6
    [ -z "${CMOCKA_TEST_ABORT:-}" ] || exit 1 # a bug is planted, and found
}
verify() { # NAME WHAT COMMAND...
    local name=$1 what=$2
    shift 2
    if "$@" >/dev/null 2>&1; then pass; else fail "$name" "$what"; fi
}
await() { # NAME WHAT COMMAND...: until it succeeds
    local name=$1 what=$2 tries=0
    shift 2
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ $tries -gt $((minute * 20)) ]; then
            fail "$name" "not within $minute s: $what"
            return 1
        fi
        sleep 0.05
    done
    pass
}

# fresh NAME: a folder of its own for each test, with what the commands share.
fresh() {
    name=$1
    dir=$scratch/$((++count))
    mkdir -p "$dir/fake" "$dir/locks"
    out=$dir/out err=$dir/err
    : >"$out"
    : >"$err"
    export dir ELECTOR_FAKE=$dir/fake ELECTOR_FAKE_LEASE_MS=2000
}
count=0

locks() { # ARGUMENTS: elector run, by locks
    "$ELECTOR" run --url "file:$dir/locks" "$@" >>"$out" 2>>"$err" </dev/null
}
fake() { "$FAKE" run --url fake: "$@" >>"$out" 2>>"$err" </dev/null; }

# in_background locks|fake|agent ARGUMENTS: leaves the process number in $run.
in_background() {
    local kind=$1 program=("$ELECTOR" run --url "file:$dir/locks")
    shift
    [ "$kind" = locks ] || program=("$FAKE" run --url fake:)
    [ "$kind" != agent ] || program=("$FAKE" run --url "unix:$dir/none") # there it has others to ask for
    "${program[@]}" "$@" >>"$out" 2>>"$err" </dev/null &
    run=$!
    started+=("$run")
}
ends_with() { # STATUS: the process $run
    local status=0
    await "$name" "it ends" gone "$run" || return
    wait "$run" || status=$?
    [ "$status" -eq "$1" ] || fail "$name" "ends with $status, not $1"
    [ "$status" -ne "$1" ] || pass
}
status_is() { # STATUS locks|fake ARGUMENTS
    local wanted=$1 status=0
    shift
    "$@" || status=$?
    if [ "$status" -eq "$wanted" ]; then pass; else fail "$name" "ends with $status, not $wanted"; fi
}

says() { grep -qE -e "$1" "$err"; }
has() { grep -qE -e "$2" "$dir/$1"; }
lines() { [ "$(grep -cE -e "$2" "$dir/$1")" -ge "$3" ]; }
gone() { ! kill -0 "$1" || grep -q '^State:.[ZX]' "/proc/$1/status"; }
all_gone() {
    local pid
    while read -r pid; do gone "$pid" || return 1; done <"$1"
}
stopped() { grep -q '^State:.T' "/proc/$1/status"; }

# Commands. `witness` holds a lock as long as it or a child of it lives, so that two of them at a time are noticed, and
# writes its token again and again: as they are in the file, so they were in time.
cat >"$scratch/witness" <<'END'
#!/usr/bin/env bash
exec 9>>"$dir/alone"
flock -n 9 || echo overlap >>"$dir/seen"
echo $$ >>"$dir/pids"
while :; do
    echo "$ELECTOR_TOKEN" >>"$dir/seen"
    sleep 0.01
done
END
cat >"$scratch/stubborn" <<'END'
#!/usr/bin/env bash
# Ignores what can be ignored, and has children in its group, in a session of their own, and orphaned twice.
trap '' TERM INT HUP
stay='echo $$ >>"$dir/pids"; while :; do cut -d" " -f1 /proc/uptime >>"$dir/beats"; sleep 0.01; done'
bash -c "$stay" &
setsid bash -c "$stay" &
(setsid bash -c "(setsid bash -c '$(printf '%s' "$stay" | sed "s/'/'\\\\''/g")' &)" &)
trap 'echo >>"$dir/asked"' TERM
echo $$ >>"$dir/pids"
while :; do sleep 1; done
END
chmod +x "$scratch/witness" "$scratch/stubborn"

# ---- The first minute -----------------------------------------------------------------------------

test_first_minute() {
    fresh "the environment"
    # shellcheck disable=SC2016 # for the command
    status_is 0 locks --value v billing -- sh -c \
        'echo "$ELECTOR_GROUP|$ELECTOR_TOKEN|$ELECTOR_ID|$ELECTOR_SOCKET|$ELECTOR_DEADLINE_NS"'
    verify "$name" "is $(cat "$out")" grep -qE "^billing\|[1-9][0-9]*\|[^|]+\|file:$dir/locks\|0$" "$out"
    verify "$name" "no line about leading" says '^elector run: billing: leading with token [0-9]+$'

    fresh "quiet"
    status_is 0 locks --quiet billing -- true
    verify "$name" "says something" test ! -s "$err"

    fresh "a lease in the environment"
    # shellcheck disable=SC2016
    status_is 0 fake fake -- sh -c 'echo "$ELECTOR_ID $ELECTOR_DEADLINE_NS"'
    verify "$name" "is $(cat "$out")" grep -qE '^myself [1-9][0-9]+$' "$out"
}

test_status() {
    fresh "exit status"
    status_is 0 locks g -- true
    status_is 7 locks g -- sh -c 'exit 7'
    # shellcheck disable=SC2016
    status_is 137 locks g -- sh -c 'kill -KILL $$'
    # shellcheck disable=SC2016
    status_is 143 locks g -- sh -c 'kill -TERM $$'

    fresh "a command that is not there"
    status_is 127 locks --quiet g -- "$dir/none"
    verify "$name" "says other things" test "$(cat "$err")" = "elector run: cannot run $dir/none: No such file or directory; not campaigning for g"
    verify "$name" "campaigns before it looks" test -z "$(ls "$dir/locks")"
    status_is 127 locks --quiet g -- no-such-command-anywhere
    status_is 0 locks --quiet --on-elected "cp $(type -P true) $dir/later" g -- "$dir/later"
    fresh "a command that cannot be executed"
    : >"$dir/plain"
    status_is 126 locks --quiet g -- "$dir/plain"
    verify "$name" "says other things" test "$(cat "$err")" = "elector run: cannot run $dir/plain: Permission denied; not campaigning for g"
    status_is 126 locks --quiet --restart always g -- "$dir/plain"
}

test_usage() {
    local words
    fresh "usage"
    while read -r words; do
        # shellcheck disable=SC2086
        status_is 2 "$ELECTOR" run $words 2>"$err" </dev/null
        verify "usage: $words" "not one line" test "$(wc -l <"$err")" -eq 1
    done <<'END'

g
g --
g true
-- true
--wait x g -- true
--wait -1 g -- true
--wait . g -- true
-w
--stop-timeout 1e9 g -- true
-E 256 g -- true
-E -1 g -- true
--priority -1 g -- true
--priority 9007199254740992 g -- true
--rank luck g -- true
--rank disk: g -- true
--rank ip:eth0 g -- true
--rank uptime --priority 4 g -- true
--restart maybe g -- true
--no-wait --wait 4 g -- true
--quiet --verbose g -- true
--preempt-after soon g -- true
--url nonsense g -- true
--url file:/tmp ../g -- true
--on-elected g -- true
--hook-timeout x --on-elected true g
--health-failures 0 g -- true
--health-interval 0 --health-cmd true g -- true
--penalty x g -- true
--watchdog x g -- true
--group g{0..256} -- true
--group g{0..} -- true
--group g{1,{2,3}} -- true
--group g} -- true
--group g,g -- true
--group g{1..2} --wait 3 -- true
--spread --rank ip g -- true
--spread --priority 8589934592 g -- true
--spread --preempt-after 5 g -- true
END
    status_is 0 "$ELECTOR" run --help >"$out"
    verify "help" "has no usage" grep -q '^Usage: elector run' "$out"
    status_is 3 locks --rank 'cmd:echo none' g -- true
    verify "a rank that is none" "is not said" says 'run: g: --rank: the command.s first line is not a whole number'
    fresh "no folder" # waiting would not make it
    status_is 2 "$ELECTOR" run --url "file:$dir/nowhere/x" g -- true 2>>"$err"
    verify "no folder" "is not said" says "run: g: $dir/nowhere/x.g: its folder does not exist; make it"
    fresh "long names" # elector.h allows 253 bytes; a file's name has 255, of which ".lock" takes five
    local long
    long=$(printf 'g%.0s' {1..250})
    status_is 0 locks --once "$long" -- true
    verify "long names" "a name of 250 bytes has no lock" test -f "$dir/locks/$long.lock"
    status_is 2 "$ELECTOR" run --url "file:$dir/locks/prefix" --once "$long" -- true 2>>"$err"
    verify "long names" "a file's name of 257 bytes is not refused" says 'the name is too long for this file system; choose a shorter one$'
    status_is 2 locks --once "${long}x" -- true
    verify "long names" "251 bytes are not refused" says 'a name has at most 250 characters$'
    fresh "rank"
    status_is 0 fake --rank 'cmd:echo  41' fake -- true
    verify "rank" "is not used" has fake/log '^campaign 41 '
    fresh "priority"
    status_is 0 fake --priority 12 fake -- true
    verify "priority" "is not used" has fake/log '^campaign 12 may preempt'
    fresh "spread" # the heaviest may have its share already
    status_is 0 fake --spread fake -- true
    verify "spread" "preempts" has fake/log '^campaign [0-9]* never preempts'
}

# ---- Waiting --------------------------------------------------------------------------------------

test_waiting() {
    local holder
    fresh "not waiting"
    in_background locks g -- "$scratch/witness"
    holder=$run
    await "$name" "it leads" test -s "$dir/seen"
    status_is 1 locks -n g -- touch "$dir/wrong"
    verify "$name" "is not said" says 'g: not elected'
    status_is 44 locks --no-wait -E 44 g -- touch "$dir/wrong"
    status_is 1 locks -w 0.2 g -- touch "$dir/wrong"
    status_is 45 locks --wait 0.2 --exit-code 45 g -- touch "$dir/wrong"
    verify "$name" "ran all the same" test ! -e "$dir/wrong"
    in_background locks -w 100 g -- touch "$dir/right"
    kill -TERM "$holder"
    await "$name" "the next has its turn" test -e "$dir/right"
    ends_with 0
    run=$holder
    ends_with 143
    in_background locks h -- "$scratch/witness"
    await "$name" "it leads" lines pids . 2
    holder=$run
    in_background locks --verbose h -- true
    await "$name" "it campaigns" says 'h: campaigning'
    kill -INT "$run" # ignored from the beginning, as the shell does for what is in the background
    kill -TERM "$run"
    ends_with 143
    kill -TERM "$holder"
    run=$holder
    ends_with 143
}

# ---- One at a time --------------------------------------------------------------------------------

parent_of() { sed -n 's/^PPid:.//p' "/proc/$1/status"; }
run_of() { run=$(parent_of "$(parent_of "$1")"); } # the command's parent is the keeper
rises() { sort -nc "$dir/seen"; }

test_contenders() {
    local first second worker
    fresh "two contend"
    in_background locks g -- "$scratch/witness"
    first=$run
    await "$name" "one leads" test -s "$dir/pids"
    in_background locks g -- "$scratch/witness"
    second=$run
    worker=$(head -n1 "$dir/pids")
    kill -KILL "$first"
    await "$name" "the other leads" lines pids . 2
    await "$name" "both have worked" test "$(uniq "$dir/seen" | wc -l)" -ge 2
    verify "$name" "the first works still" gone "$worker"
    verify "$name" "two at a time" test -z "$(grep overlap "$dir/seen")"
    verify "$name" "tokens do not rise" rises
    kill -TERM "$second"
    run=$second
    ends_with 143
    await "$name" "all has ended" all_gone "$dir/pids"

    fresh "killed again and again"
    local i
    for i in 1 2 3 4 5 6 7 8; do
        in_background locks g -- "$scratch/witness"
        in_background locks g -- "$scratch/witness"
        await "$name" "number $i leads" lines pids . "$i"
        run_of "$(tail -n1 "$dir/pids")"
        kill -KILL "$run"
    done
    await "$name" "the last leads" lines pids . 9
    verify "$name" "two at a time" test -z "$(grep overlap "$dir/seen")"
    verify "$name" "tokens do not rise" rises
    kill -KILL "${started[@]}" 2>/dev/null
    await "$name" "all has ended" all_gone "$dir/pids"

    fresh "stopped, without a lease"
    in_background locks g -- "$scratch/witness"
    first=$run
    await "$name" "it leads" test -s "$dir/pids"
    kill -STOP "$first"
    await "$name" "it is stopped" stopped "$first"
    status_is 1 locks -w 1 g -- true # no lease, so the lock is its own still
    kill -CONT "$first"
    kill -TERM "$first"
    run=$first
    ends_with 143
}

# ---- Nothing is left ------------------------------------------------------------------------------

holds_lock() { [ -n "$(find "/proc/$1/fd" -lname "$dir/locks/*")" ]; }
keeper_of() { cat "/proc/$1/task/$1/children"; }

test_families() {
    local keeper p
    fresh "grandchildren of a command that ends"
    # shellcheck disable=SC2016
    status_is 5 locks --stop-timeout 0.3 g -- bash -c '"$1" & until [ "$(wc -l <"$dir/pids")" -ge 4 ]; do sleep 0.01; done; exit 5' - "$scratch/stubborn" 2>/dev/null
    verify "$name" "some are left" all_gone "$dir/pids"
    verify "$name" "there were none" lines pids . 4

    fresh "elector run is killed"
    in_background locks g -- "$scratch/stubborn"
    await "$name" "all have begun" lines pids . 4
    kill -KILL "$run"
    # shellcheck disable=SC2016
    status_is 0 locks -w 60 g -- sh -c 'while read -r p; do
        if kill -0 "$p" 2>/dev/null && ! grep -q "^State:.[ZX]" /proc/$p/status; then echo "$p" >>"$dir/left"; fi; done <"$dir/pids"'
    verify "$name" "some were left when the next began" test ! -e "$dir/left"
    await "$name" "the keeper says so" says 'g: elector run died; killed the command'

    fresh "the command is killed"
    in_background locks --stop-timeout 0.3 g -- "$scratch/stubborn"
    await "$name" "all have begun" lines pids . 4
    while read -r p; do ! grep -q stubborn "/proc/$p/cmdline" || kill -KILL "$p"; done <"$dir/pids"
    # shellcheck disable=SC2016
    status_is 0 locks -w 60 g -- sh -c 'while read -r p; do
        if kill -0 "$p" 2>/dev/null && ! grep -q "^State:.[ZX]" /proc/$p/status; then echo "$p" >>"$dir/left"; fi; done <"$dir/pids"'
    verify "$name" "some were left when the next began" test ! -e "$dir/left"
    ends_with 137

    fresh "the keeper shares the lock, and the command does not"
    in_background locks g -- "$scratch/witness"
    await "$name" "it leads" test -s "$dir/pids"
    keeper=$(keeper_of "$run")
    verify "$name" "the keeper has none" holds_lock "${keeper% }"
    verify "$name" "the command has it" test -z "$(holds_lock "$(cat "$dir/pids")" && echo yes)"
    kill -TERM "$run"
    ends_with 143

    fresh "the keeper is killed"
    in_background locks g -- "$scratch/stubborn"
    await "$name" "all have begun" lines pids . 4
    keeper=$(keeper_of "$run")
    keeper=${keeper% }
    kill -KILL "$keeper"
    ends_with 137
    verify "$name" "some are left" all_gone "$dir/pids"

    fresh "the keeper is stopped"
    in_background fake --once --stop-timeout 0.2 fake -- "$scratch/stubborn"
    await "$name" "all have begun" lines pids . 4
    keeper=$(keeper_of "$run")
    keeper=${keeper% }
    kill -STOP "$keeper"
    : >"$dir/fake/broken"
    ends_with 75
    verify "$name" "some are left" all_gone "$dir/pids"
}

# ---- A reader of standard error that has stopped --------------------------------------------------------

# blocked ARGUMENTS: elector run in the background, by locks; its standard error is a pipe that is full, which nobody reads.
blocked() {
    [ -p "$dir/pipe" ] || {
        mkfifo "$dir/pipe"
        exec 8<>"$dir/pipe"
        dd if=/dev/zero of="$dir/pipe" oflag=nonblock bs=4096 2>/dev/null
    }
    "$ELECTOR" run --url "file:$dir/locks" "$@" >>"$out" 2>&8 </dev/null 8<&- &
    run=$!
    started+=("$run")
}

test_blocked() {
    local first p
    fresh "killed, and nobody reads standard error"
    blocked --verbose g -- "$scratch/stubborn"
    await "$name" "all have begun" lines pids . 4
    first=$run
    kill -KILL "$first"
    await "$name" "all has ended" all_gone "$dir/pids"
    # shellcheck disable=SC2016
    status_is 0 locks -w 60 g -- sh -c 'echo >"$dir/next"'
    verify "$name" "the lock was kept" test -e "$dir/next"

    fresh "stopped, and nobody reads standard error"
    blocked --verbose --stop-timeout 0.2 g -- "$scratch/stubborn"
    await "$name" "all have begun" lines pids . 4
    while read -r p; do ! grep -q stubborn "/proc/$p/cmdline" || kill -KILL "$p"; done <"$dir/pids"
    await "$name" "it ends" gone "$run"
    verify "$name" "some are left" all_gone "$dir/pids"
    exec 8<&-

    fresh "what a command has left behind is ended, and that is told"
    status_is 0 locks g -- sh -c 'sleep 1000 & sleep 1000 & exit 0'
    verify "$name" "is not told" says '^elector run: g: the command ended with 0, and left 2 processes behind: ended by SIGTERM$'
    fresh "nothing is told of a command that leaves nothing"
    status_is 0 locks g -- sh -c 'sleep 0.01 | cat'
    verify "$name" "something is" test "$(wc -l <"$err")" -eq 1

    fresh "without descriptors 0, 1 and 2"
    # shellcheck disable=SC2016
    "$ELECTOR" run --verbose --url "file:$dir/locks" g -- sh -c 'for fd in 0 1 2; do name=$(readlink /proc/$$/fd/$fd); echo "$name" >>"$dir/fds"; done' <&- >&- 2>&-
    verify "$name" "they are $(tr '\n' ' ' <"$dir/fds")" test "$(tr '\n' ' ' <"$dir/fds")" = "/dev/null /dev/null /dev/null "
    verify "$name" "a message is in the lock" test -z "$(grep -l 'elector run' "$dir"/locks/*)"
}

# ---- Signals --------------------------------------------------------------------------------------

test_signals() {
    local signal
    fresh "signals"
    # shellcheck disable=SC2016
    in_background locks g -- bash -c 'for s in INT TERM HUP QUIT USR1 USR2 WINCH CONT; do trap "echo $s >>$dir/heard" $s; done
        echo $$ >>"$dir/pids"; until grep -q TERM "$dir/heard" 2>/dev/null; do sleep 0.01; done; exit 9'
    await "$name" "it has begun" test -s "$dir/pids"
    for signal in HUP USR1 USR2 WINCH CONT TERM; do
        kill -$signal "$run"
        await "$name" "$signal is passed on" has heard $signal
    done
    ends_with 9

    fresh "job control"
    in_background locks g -- "$scratch/witness"
    await "$name" "it has begun" test -s "$dir/pids"
    kill -TSTP "$run"
    await "$name" "the command stops" stopped "$(cat "$dir/pids")"
    await "$name" "elector run stops" stopped "$run"
    kill -CONT "$run"
    : >"$dir/seen"
    await "$name" "the command goes on" test -s "$dir/seen"
    kill -TERM "$run"
    ends_with 143
}

# ---- Starting again -------------------------------------------------------------------------------

test_restart() {
    fresh "restart on failure"
    # shellcheck disable=SC2016
    status_is 0 fake --restart on-failure fake -- sh -c 'echo "$ELECTOR_TOKEN" >>"$dir/seen"; [ "$(wc -l <"$dir/seen")" -ge 3 ]'
    verify "$name" "not three times in one tenure" test "$(tr '\n' ' ' <"$dir/seen")" = "1 1 1 "
    verify "$name" "resigned in between" test "$(grep -c resign "$dir/fake/log")" -eq 1
    verify "$name" "does not wait longer each time" says 'ended with 1; starting it again in 0.2 s'

    fresh "restart always"
    # shellcheck disable=SC2016
    in_background fake --restart always fake -- sh -c 'echo "$ELECTOR_TOKEN" >>"$dir/seen"'
    await "$name" "three times" lines seen '^1$' 3
    kill -TERM "$run"
    wait "$run"
    status=$?
    verify "$name" "ends with $status" test "$status" = 143 -o "$status" = 0
}

# ---- Leases ---------------------------------------------------------------------------------------

log_is() { test "$(cut -d' ' -f1 "$dir/fake/log" | tr '\n' ' ')" = "$1"; }
# The last beat of all that the command has started came before the deadline.
before_deadline() {
    awk -v deadline="$(cat "$dir/fake/deadline")" '$1 * 1e9 >= deadline { late = 1 } END { exit late || NR == 0 }' "$dir/beats"
}

test_leases() {
    fresh "handing over"
    # shellcheck disable=SC2016
    in_background fake fake -- bash -c 'trap "sleep 0.3; echo ended >>$dir/fake/log; exit 0" TERM
        echo "$ELECTOR_TOKEN" >>"$dir/seen"; while :; do sleep 0.01; done'
    await "$name" "it leads" has seen '^1$'
    : >"$dir/fake/stop"
    await "$name" "it leads again" has seen '^2$'
    verify "$name" "not in order: $(cut -d' ' -f1 "$dir/fake/log" | tr '\n' ' ')" \
        test "$(cut -d' ' -f1 "$dir/fake/log" | tr '\n' ' ')" = "campaign ended stopped campaign "
    verify "$name" "is not said" says 'fake: handing over \(the test says so\); stopping the command'
    kill -TERM "$run"
    ends_with 0

    fresh "handing over takes longer than the lease, which is renewed"
    export ELECTOR_FAKE_LEASE_MS=1000
    # shellcheck disable=SC2016
    in_background fake --stop-timeout 60 fake -- bash -c 'trap "sleep 2; echo ended >>$dir/fake/log; exit 0" TERM
        echo "$ELECTOR_TOKEN" >>"$dir/seen"; while :; do sleep 0.01; done'
    await "$name" "it leads" has seen '^1$'
    : >"$dir/fake/stop"
    await "$name" "it leads again" has seen '^2$'
    verify "$name" "is killed: $(cut -d' ' -f1 "$dir/fake/log" | tr '\n' ' ')" log_is "campaign ended stopped campaign "
    kill -TERM "$run"
    ends_with 0

    fresh "a kill is always said"
    in_background fake --quiet --once --stop-timeout 0.3 fake -- "$scratch/stubborn"
    await "$name" "all have begun" lines pids . 4
    : >"$dir/fake/stop"
    ends_with 75
    verify "$name" "not" says 'fake: SIGKILL to the command, 0\.[0-9] s after SIGTERM: it has not stopped within --stop-timeout'

    fresh "lost and elected anew in one breath"
    : >"$dir/fake/again"
    in_background fake fake -- "$scratch/witness"
    await "$name" "it leads" has seen '^1$'
    : >"$dir/fake/stop"
    await "$name" "it works by the new token" has seen '^2$'
    kill -TERM "$run"
    ends_with 143

    fresh "told to end, and the agent leaves too"
    : >"$dir/fake/mute"
    # shellcheck disable=SC2016
    in_background fake fake -- bash -c 'trap "echo >>$dir/asked; until [ -e $dir/go ]; do sleep 0.01; done; exit 0" TERM
        echo "$ELECTOR_TOKEN" >>"$dir/seen"; while :; do sleep 0.01; done'
    await "$name" "it leads" has seen '^1$'
    : >"$dir/fake/stop"
    await "$name" "the command is to stop" test -e "$dir/asked"
    kill -TERM "$run"
    : >"$dir/go"
    await "$name" "it says so" has fake/log '^stopped'
    : >"$dir/fake/broken"
    if await "$name" "it ends" gone "$run"; then ends_with 143; fi

    fresh "a connection that breaks"
    in_background fake fake -- "$scratch/witness"
    await "$name" "it leads" has seen '^1$'
    : >"$dir/fake/broken"
    await "$name" "it leads again" has seen '^2$'
    verify "$name" "two at a time" test -z "$(grep overlap "$dir/seen")"
    : >"$dir/fake/away"
    : >"$dir/fake/broken"
    await "$name" "it tries again" says 'nobody answers; trying again|the connection broke; trying again'
    verify "$name" "the loss is not told" says 'run: fake: no longer leading \(the connection broke\); stopping'
    verify "$name" "a line names its group twice" test -z "$(grep 'fake:.*fake: ' "$err")"
    rm "$dir/fake/away"
    await "$name" "it leads again" has seen '^3$'
    kill -TERM "$run"
    ends_with 143

    fresh "a campaign that finds the connection broken"
    in_background fake --group '{first,fake}' -- "$scratch/witness"
    await "$name" "it leads" has seen '^1$'
    : >"$dir/fake/gone"
    : >"$dir/fake/stop"
    await "$name" "it waits to connect" says 'trying again in'
    rm "$dir/fake/gone"
    await "$name" "both campaign again" lines fake/log '^campaign' 4
    await "$name" "it leads again" has seen '^2$'
    kill -TERM "$run"
    ends_with 143

    fresh "once"
    in_background fake --once fake -- "$scratch/witness"
    await "$name" "it leads" has seen '^1$'
    : >"$dir/fake/stop"
    ends_with 75
    in_background fake --once -E 33 fake -- "$scratch/witness"
    await "$name" "it leads" lines pids . 2
    : >"$dir/fake/stalled"
    ends_with 33
    rm "$dir/fake/stalled"
    verify "$name" "some are left" all_gone "$dir/pids"

}

test_hung() {
    fresh "the agent hangs"
    export ELECTOR_FAKE_LEASE_MS=10000
    in_background fake --stop-timeout 60 --once fake -- "$scratch/stubborn"
    await "$name" "all have begun" lines pids . 4
    : >"$dir/fake/stalled"
    ends_with 75
    verify "$name" "is not said" says 'no longer leading \(no-quorum: the lease was not renewed and is about to end\); stopping the command'
    verify "$name" "the agent is not told why" has fake/log '^unrenewed'
    verify "$name" "SIGTERM did not come before SIGKILL" test -s "$dir/asked"
    verify "$name" "worked beyond the deadline" before_deadline
    verify "$name" "some are left" all_gone "$dir/pids"

}

test_stopped() {
    fresh "stopped, with a lease"
    export ELECTOR_FAKE_LEASE_MS=10000
    in_background fake fake -- "$scratch/stubborn"
    await "$name" "all have begun" lines pids . 4
    kill -STOP "$run"
    await "$name" "it is stopped" stopped "$run"
    cp "$dir/pids" "$dir/first"
    await "$name" "all has ended" all_gone "$dir/first"
    verify "$name" "elector run is no longer stopped" stopped "$run"
    verify "$name" "worked beyond the deadline" before_deadline
    kill -CONT "$run"
    await "$name" "it leads again" says 'leading with token 2'
    kill -KILL "$run"
    await "$name" "all has ended" all_gone "$dir/pids"
}

# ---- Beside the command ---------------------------------------------------------------------------

cat >"$scratch/note" <<'END'
#!/usr/bin/env bash
echo "$ELECTOR_EVENT $ELECTOR_LEADER $ELECTOR_TOKEN" >>"$dir/events"
echo "hook-$ELECTOR_EVENT" >>"$dir/fake/log"
END
cat >"$scratch/worker" <<'END'
#!/usr/bin/env bash
trap 'echo ended >>"$dir/events"; echo ended >>"$dir/fake/log"; exit 0' TERM
trap 'echo usr1 >>"$dir/events"' USR1
echo "work $ELECTOR_EVENT$ELECTOR_TOKEN" >>"$dir/events"
while :; do sleep 0.01; done
END
chmod +x "$scratch/note" "$scratch/worker"

told() { test "$(tr '\n' ';' <"$dir/events")" = "$1"; }

# --on-lost has run before it is let go. The hook that tells of the other leader is another process: it may write at any time.
let_go_after_the_hook() {
    local before='campaign hook-elected ended hook-lost'
    log_is "$before stopped campaign hook-leader " || log_is "$before stopped hook-leader campaign " ||
        log_is "$before hook-leader stopped campaign "
}

test_hooks() {
    fresh "hooks in order"
    in_background fake --on-elected "$scratch/note" --on-lost "$scratch/note" --on-leader "$scratch/note" fake -- "$scratch/worker"
    await "$name" "it works" has events '^work 1$'
    : >"$dir/fake/held"
    : >"$dir/fake/stop"
    await "$name" "another leads" has events '^leader other 9$'
    verify "$name" "not in order: $(tr '\n' ';' <"$dir/events")" told "elected myself 1;work 1;ended;lost  1;leader other 9;"
    verify "$name" "is let go before the hook has run: $(cut -d' ' -f1 "$dir/fake/log" | tr '\n' ' ')" \
        let_go_after_the_hook
    kill -TERM "$run"
    ends_with 143

    fresh "hooks that fail and hang"
    status_is 5 fake --on-elected false --on-lost "$scratch/note" fake -- sh -c 'exit 5'
    verify "$name" "is not said" says 'fake: --on-elected ended with 1'
    verify "$name" "no other hook runs" has events '^lost  1$'
    status_is 6 fake --on-elected 'sleep 1000' --hook-timeout 0.2 fake -- sh -c 'exit 6'
    verify "$name" "is not said" says 'fake: --on-elected was killed: timeout'

    fresh "a hook is no work, and holds no lease"
    in_background fake --on-lost 'sleep 1000' --hook-timeout 4 fake -- "$scratch/witness"
    await "$name" "it leads" has seen '^1$'
    : >"$dir/fake/stalled"
    await "$name" "it campaigns again" lines fake/log '^campaign' 2
    rm "$dir/fake/stalled"
    verify "$name" "the hook had ended" test -z "$(says 'on-lost was killed' && echo yes)"
    verify "$name" "the command has begun beside it" test -z "$(grep '^2$' "$dir/seen")"
    await "$name" "it works again" has seen '^2$'
    kill -KILL "$run"
    await "$name" "all has ended" all_gone "$dir/pids"

    fresh "elected, and lost before the hook has ended"
    in_background fake --on-elected "$scratch/slow" --on-lost "$scratch/note" fake -- "$scratch/witness"
    await "$name" "the hook has begun" has events '^slow$'
    : >"$dir/fake/away"
    : >"$dir/fake/broken"
    await "$name" "the loss is told" has events '^lost  1$'
    verify "$name" "the command ran" test ! -e "$dir/seen"
    verify "$name" "the hook went on" test -z "$(grep "done" "$dir/events")"
    kill -TERM "$run"
    ends_with 143

    fresh "hooks alone"
    in_background fake --on-elected "$scratch/note" --on-lost "$scratch/note" fake
    await "$name" "it leads" has events '^elected myself 1$'
    : >"$dir/fake/stop"
    await "$name" "it leads again" has events '^elected myself 2$'
    kill -TERM "$run"
    ends_with 143
    verify "$name" "not in order: $(tr '\n' ';' <"$dir/events")" told "elected myself 1;lost  1;elected myself 2;lost  2;"
}

# The keeper sees to --on-lost where elector run cannot.
test_last_hooks() {
    fresh "hooks alone, killed"
    in_background locks --on-elected "$scratch/note" --on-lost "$scratch/note" g
    await "$name" "it leads" has events '^elected '
    kill -KILL "$run"
    # shellcheck disable=SC2016
    status_is 0 locks -w 60 g -- sh -c 'cut -d" " -f1 "$dir/events" >"$dir/before"'
    verify "$name" "the next began before: $(tr '\n' ' ' <"$dir/before")" test "$(tr '\n' ' ' <"$dir/before")" = "elected lost "
    await "$name" "the keeper says so" says 'g: elector run died; --on-lost ended with 0'

    fresh "a command and hooks, killed"
    in_background locks --on-lost "$scratch/look" g -- "$scratch/stubborn"
    await "$name" "all have begun" lines pids . 4
    kill -KILL "$run"
    # shellcheck disable=SC2016
    status_is 0 locks -w 60 g -- sh -c 'cp "$dir/events" "$dir/before"'
    verify "$name" "not once, or before the work had ended: $(tr '\n' ' ' <"$dir/before")" test "$(cat "$dir/before")" = lost
    await "$name" "the keeper says so" says 'g: elector run died; killed the command; --on-lost ended with 0'

    fresh "killed while --on-elected runs"
    in_background locks --on-elected "$scratch/slow" --on-lost "$scratch/note" g
    await "$name" "the hook has begun" has events '^slow$'
    kill -KILL "$run"
    status_is 0 locks -w 60 g -- true
    verify "$name" "they are $(tr '\n' ';' <"$dir/events")" test "$(cut -d' ' -f1 "$dir/events" | tr '\n' ' ')" = "slow lost "

    fresh "a last hook that takes too long"
    in_background fake --on-elected "$scratch/note" --on-lost "$scratch/slower" fake
    await "$name" "it leads" has events '^elected '
    kill -KILL "$run"
    await "$name" "the keeper says so" says 'fake: elector run died; --on-lost was killed'
    verify "$name" "it had not begun" has events '^slower$'

    fresh "hooks alone, and elector run hangs"
    export ELECTOR_FAKE_LEASE_MS=6000 # the last hook has what is left of it, also on a busy machine
    in_background fake --on-elected "$scratch/note" --on-lost "$scratch/note" fake
    await "$name" "it leads" has events '^elected myself 1$'
    kill -STOP "$run"
    await "$name" "the loss is told" has events '^lost  1$'
    verify "$name" "elector run is no longer stopped" stopped "$run"
    kill -CONT "$run"
    await "$name" "it leads again" has events '^elected myself 2$'
    kill -TERM "$run"
    ends_with 143
    verify "$name" "not in order: $(tr '\n' ';' <"$dir/events")" told "elected myself 1;lost  1;elected myself 2;lost  2;"

    fresh "the keeper of hooks is killed"
    in_background fake --on-elected "$scratch/note" --on-lost "$scratch/note" fake -- "$scratch/witness"
    await "$name" "it works" test -s "$dir/pids"
    kill -KILL "$(parent_of "$(cat "$dir/pids")")"
    ends_with 137
    verify "$name" "the loss is told $(grep -c '^lost' "$dir/events") times" test "$(grep -c '^lost  1$' "$dir/events")" -eq 1
}

has_zombies() { # of $run
    local child
    for child in $(keeper_of "$run"); do ! grep -q '^State:.Z' "/proc/$child/status" || return 0; done
    return 1
}
no_zombies() { ! has_zombies; }
has_one_child() { [ "$(keeper_of "$run" | wc -w)" -eq 1 ]; } # the keeper

# Something whose parent has ended, in a session of its own: it ends when the test says so.
cat >"$scratch/orphan" <<'END'
#!/usr/bin/env bash
(setsid bash -c 'echo $$ >>"$dir/orphans"; until [ -e "$dir/go" ]; do sleep 0.01; done' &)
until [ -s "$dir/orphans" ]; do sleep 0.01; done
END
chmod +x "$scratch/orphan"

test_orphans() {
    fresh "what a check has left behind is reaped"
    in_background locks --health-cmd "$scratch/orphan" --health-interval 0.1 g -- sleep 1000
    await "$name" "it leads" says 'leading with token'
    await "$name" "orphans are ours" test -s "$dir/orphans"
    : >"$dir/go"
    await "$name" "orphans have ended" lines orphans . 3
    await "$name" "they are reaped" no_zombies
    await "$name" "the first is gone" test ! -e "/proc/$(head -n1 "$dir/orphans")"
    kill -TERM "$run"
    ends_with 143

    fresh "what --on-elected has left behind is killed"
    in_background locks --on-elected "$scratch/orphan" g -- "$scratch/witness"
    await "$name" "it works" test -s "$dir/pids"
    verify "$name" "it lives" test ! -e "/proc/$(cat "$dir/orphans")"
    kill -TERM "$run"
    ends_with 143

    fresh "process 1 of a container"
    unshare -pf --mount-proc true 2>/dev/null || return 0 # not allowed here
    unshare -pf --mount-proc --kill-child "$ELECTOR" run --url "file:$dir/locks" g -- sleep 1000 >>"$out" 2>>"$err" </dev/null &
    local outside=$!
    started+=("$outside")
    await "$name" "it leads" says 'leading with token'
    run=$(keeper_of "$outside")
    run=${run% }
    nsenter -t "$run" -p -m "$scratch/orphan" # a stranger that leaves an orphan to process 1
    : >"$dir/go"
    await "$name" "it is reaped" has_one_child
    kill -TERM "$run"
    wait "$outside"
}

test_health() {
    fresh "health"
    in_background fake --health-cmd "test -e $dir/well" --health-interval 0.1 --health-failures 2 --penalty 1 fake -- "$scratch/worker"
    await "$name" "it says so" says 'the health check ended with 1; not campaigning until it passes'
    verify "$name" "it campaigned all the same" test ! -e "$dir/fake/log"
    : >"$dir/well"
    await "$name" "it works" has events '^work 1$'
    rm "$dir/well"
    await "$name" "it gives up" has fake/log '^resign'
    verify "$name" "in another order: $(cut -d' ' -f1 "$dir/fake/log" | tr '\n' ' ')" log_is "campaign ended resign "
    verify "$name" "is not said" says 'fake: the health check fails; resigning'
    : >"$dir/fake/held"
    : >"$dir/well"
    await "$name" "it stands behind the others" has fake/log '^campaign 0 '
    await "$name" "it stands as before" lines fake/log '^campaign 100 ' 2
    rm "$dir/fake/held"
    await "$name" "it works again" has events '^work 2$'
    kill -TERM "$run"
    ends_with 0

    fresh "a check that hangs"
    in_background fake --health-cmd 'sleep 1000' --health-interval 0.1 --health-timeout 0.1 fake -- true
    await "$name" "it is said" says 'the health check was killed: timeout'
    verify "$name" "it campaigned all the same" test ! -e "$dir/fake/log"
    kill -TERM "$run"
    ends_with 143
}

# An agent that hangs is asked who else stands, and the loop goes on: its answer is an event.
test_hung_agent() {
    fresh "an agent that does not answer"
    export ELECTOR_FAKE_LEASE_MS=600000
    : >"$dir/well"
    in_background agent --health-cmd "test -e $dir/well" --health-interval 0.1 --health-failures 1 fake -- "$scratch/worker"
    await "$name" "it works" has events '^work 1$'
    rm "$dir/well"
    await "$name" "the agent is asked" has fake/log '^candidates '
    kill -USR1 "$run"
    await "$name" "a signal is forwarded" has events '^usr1$'
    await "$name" "it leads on" says 'the health check fails; leading on, since the agent does not answer; does it hang\?'
    : >"$dir/fake/answers"
    await "$name" "the next failure hands over" says 'the health check fails; handing over to other'
    verify "$name" "the transfer was not asked for" has fake/log '^transfer other '
    kill -TERM "$run"
    ends_with 0
}

test_silent_agent() {
    fresh "an agent that does not answer the first request"
    : >"$dir/fake/silent"
    in_background agent fake -- true
    await "$name" "it is asked" has fake/log '^hello '
    kill -TERM "$run"
    ends_with 143
    verify "$name" "the signal waited for the answer" test -z "$(says 'does it hang' && echo yes)"

    fresh "an agent that answers after all"
    : >"$dir/fake/silent"
    in_background agent --restart never fake -- true
    await "$name" "it is said" says 'the agent does not answer; does it hang\?; trying again in'
    rm "$dir/fake/silent"
    ends_with 0
}

cat >"$scratch/rank" <<'END'
#!/usr/bin/env bash
echo >>"$dir/measured"
[ ! -e "$dir/fails" ] || exit 3
[ ! -e "$dir/hangs" ] || exec sleep 1000
echo 41
END
chmod +x "$scratch/rank"

test_rank() {
    fresh "a measurement that fails keeps the last value"
    in_background fake --rank "cmd:$scratch/rank" fake -- "$scratch/worker"
    await "$name" "it works" has events '^work 1$'
    : >"$dir/fails"
    : >"$dir/fake/stop"
    await "$name" "it works again" has events '^work 2$'
    verify "$name" "campaigns with another" lines fake/log '^campaign 41 ' 2
    verify "$name" "is not said" says 'fake: --rank: the command failed with 3; campaigning with the last value, 41'
    kill -TERM "$run"
    ends_with 0

    fresh "nothing waits for a measurement"
    : >"$dir/hangs"
    in_background fake --rank "cmd:$scratch/rank" fake -- "$scratch/worker"
    await "$name" "it measures" test -s "$dir/measured"
    kill -TERM "$run"
    ends_with 143
    verify "$name" "it waited" test -z "$(says '--rank' && echo yes)"
}

# ---- Many groups ----------------------------------------------------------------------------------

cat >"$scratch/slow" <<'END'
#!/usr/bin/env bash
echo slow >>"$dir/events"
sleep 3
echo done >>"$dir/events"
END
cat >"$scratch/family" <<'END'
#!/usr/bin/env bash
# Of each group: one that stays, and one in a session of its own.
trap '' TERM
setsid bash -c 'echo $$ >>"$dir/pids-$ELECTOR_GROUP"; while :; do sleep 1; done' &
echo $$ >>"$dir/pids-$ELECTOR_GROUP"
while :; do sleep 1; done
END
cat >"$scratch/slower" <<'END'
#!/usr/bin/env bash
echo slower >>"$dir/events"
sleep 1000
END
cat >"$scratch/look" <<'END'
#!/usr/bin/env bash
while read -r p; do ! kill -0 "$p" 2>/dev/null || echo alive >>"$dir/events"; done <"$dir/pids"
echo lost >>"$dir/events"
END
chmod +x "$scratch/slow" "$scratch/slower" "$scratch/look" "$scratch/family"

family_is_there() { [ "$(wc -l <"$dir/pids-$1")" -ge "$2" ]; }
some_live() {
    local pid
    while read -r pid; do ! gone "$pid" || return 1; done <"$1"
}

test_many() {
    local g keeper
    fresh "many groups"
    in_background locks --stop-timeout 0.2 --group 'g{1..3},h' --restart on-failure -- "$scratch/family"
    for g in g1 g2 g3 h; do await "$name" "$g is at work" family_is_there $g 2; done
    cp "$dir/pids-g2" "$dir/first"
    keeper=$(parent_of "$(tail -n1 "$dir/pids-g2")") # of the command, or of its child's parent
    [ "$(cat "/proc/$keeper/comm")" = elector-keeper ] || keeper=$(parent_of "$keeper")
    kill -KILL "$keeper"
    await "$name" "g2 has ended" all_gone "$dir/first"
    await "$name" "g2 is at work again" family_is_there g2 4
    for g in g1 g3 h; do
        verify "$name" "$g was ended, too" some_live "$dir/pids-$g"
        verify "$name" "$g was started again" test "$(wc -l <"$dir/pids-$g")" -eq 2
    done
    kill -KILL "$run"
    for g in g1 g2 g3 h; do await "$name" "nothing is left of $g" all_gone "$dir/pids-$g"; done

    fresh "a group that ends resigns while another works on"
    # shellcheck disable=SC2016
    in_background fake --group '{first,fake}' -- bash -c 'trap "" TERM; echo $$ >>"$dir/pids"; until [ -e "$dir/go" ]; do sleep 0.01; done'
    await "$name" "one works" test -s "$dir/pids"
    await "$name" "both campaign" lines fake/log '^campaign' 2
    kill -TERM "$run"
    await "$name" "the other gives up its candidacy" has fake/resigned '^first '
    verify "$name" "so does the one that works" test -z "$(has fake/resigned '^fake ' && echo yes)"
    : >"$dir/go"
    ends_with 143

    fresh "a group that cannot start its command resigns"
    : >"$dir/fake/crowded"
    in_background fake --group '{first,fake}' -- true
    await "$name" "it says so" says 'fake: cannot create a process for the command'
    await "$name" "it gives up its candidacy" has fake/resigned '^fake '
    kill -TERM "$run"
    ends_with 143

    fresh "many groups that end"
    # shellcheck disable=SC2016
    status_is 7 locks --group 'a,b-{x,y}' --restart never -- sh -c 'echo "$ELECTOR_GROUP" >>"$dir/ran"; [ "$ELECTOR_GROUP" != b-x ] || exit 7'
    verify "$name" "others ran: $(sort "$dir/ran" | tr '\n' ' ')" test "$(sort "$dir/ran" | tr '\n' ' ')" = "a b-x b-y "
}

# A test that is named runs here. Most of them wait most of the time, so all of them run four at a time, each in a process and folder of its own.
if [ $# -gt 0 ]; then
    for test in "$@"; do "test_$test"; done
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
fi
printf '%s\n' hung hung_agent silent_agent stopped leases hooks last_hooks families contenders blocked many health waiting usage restart signals orphans status rank \
    first_minute | xargs -P 4 -I{} bash -c '"$1" {} >"$2/{}.log" 2>&1 </dev/null || echo "FAIL  test_{}" >>"$2/{}.log"' - "${BASH_SOURCE[0]}" "$scratch"
grep -hE '^(FAIL|skip|  )' "$scratch"/*.log
awk '/^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3; done++ }
    END { printf "%d passed, %d failed, by %d tests\n", passed, failed, done; exit !(done == 20 && failed == 0) }' "$scratch"/*.log
