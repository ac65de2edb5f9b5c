#!/usr/bin/env bash
# What the tests run in (contain.c) leaves nothing of them, and says so; and what is skipped is listed (scripts/skips).
# Needs BUILD, the build folder.
# shellcheck disable=SC2016 # what stands in single quotes is for the shell that is contained
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
contain=$(realpath "${BUILD:-build/release}/test/contain")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

expect() { # WHAT CODE COMMAND...: that exit code; what it says is in $scratch/said
    local what=$1 code=$2 got=0
    shift 2
    "$@" > "$scratch/said" 2>&1 || got=$?
    [ "$got" = "$code" ] || fail "$what" "exit code $got, not $code"
}
contained() { # WHAT CODE SCRIPT: and its folder is gone; begun by $by
    expect "$1" "$2" "${by[@]}" "$contain" bash -c "echo \$TMPDIR > $scratch/where; $3"
    [[ $(< "$scratch/where") == */elector-* && ! -e $(< "$scratch/where") ]] || fail "$1" "leaves its folder"
}
by=()
says() { grep -qE -- "$2" "$scratch/said" || fail "$1" "does not say '$2'"; } # WHAT TEXT
fail() {
    echo "FAIL  $1: $2"
    sed 's/^/        /' "$scratch/said"
    failed=1
}
gone() { # WHAT: the process whose number is in $scratch/pid, within 10 s
    local tries
    for ((tries = 0; tries < 1000; tries++)); do
        kill -0 "$(< "$scratch/pid")" 2> /dev/null || return 0
        sleep 0.01
    done
    fail "$1" "is still there"
}
# Stopped, in a session of its own, and no child of the one that began it.
hidden="(setsid bash -c 'echo \$\$ > $scratch/new; mv $scratch/new $scratch/pid; kill -STOP \$\$' &); until [ -e $scratch/pid ]; do sleep 0.01; done"

contained "a test that passes" 0 true
contained "a test that fails" 3 'exit 3'
contained "a test that a signal ends" 139 'kill -SEGV $$'
expect "no test" 127 "$contain" "$scratch/none"
contained "one that takes a moment to end" 0 '(setsid sleep 0.2 &)'

contained "a file" 1 'mkdir "$TMPDIR/folder" && touch "$TMPDIR/folder/file"'
says "a file" 'left behind: .*/folder$'
contained "a file in memory" 1 'touch "${ELECTOR_SHM:-$TMPDIR}/file"'
says "a file in memory" 'left behind: .*/file$'

contained "a forbidden system call" 1 'echo "process 7: forbidden system call 101" > "$ELECTOR_SECCOMP_REPORT"'
says "a forbidden system call" '^contain: process 7: forbidden system call 101$'
[ ! -e "$(< "$scratch/where").calls" ] || fail "a forbidden system call" "leaves its file"

contained "a process" 1 "$hidden"
says "a process" 'left running: [0-9]+ bash -c'
gone "a process"

rm "$scratch/pid"
by=(timeout 3)
contained "a test that is told to end" 124 "$hidden; sleep 1000"
gone "a test that is told to end"

# As ctest does when its limit is over: only the one that it started is killed.
rm "$scratch/pid"
"$contain" bash -c "echo \$TMPDIR > $scratch/where; $hidden; sleep 1000" > "$scratch/said" 2>&1 &
until [ -e "$scratch/pid" ]; do sleep 0.01; done
kill -KILL $!
wait $! 2> /dev/null
gone "a test that is killed"
for ((tries = 0; tries < 1000; tries++)); do if [ -e "$(< "$scratch/where")" ]; then sleep 0.01; else break; fi; done
[ ! -e "$(< "$scratch/where")" ] || fail "a test that is killed" "leaves its folder"

# Whoever writes to a frozen file system cannot be killed before it thaws.
by=()
frozen='cd "$TMPDIR" && mkdir disk && truncate -s 8M image && mkfs.ext4 -q image && mount -o loop image disk || exit 9
    fsfreeze -f disk; (echo $BASHPID > '"$scratch/pid"'; echo text > disk/file) & until grep -q "^State:.D" "/proc/$!/status"; do sleep 0.01; done; exit 3'
if unshare --mount bash -c "TMPDIR=$scratch; ${frozen%%||*}" > "$scratch/said" 2>&1; then
    contained "a frozen file system" 3 "exec unshare --mount bash -c '$frozen'"
    gone "a frozen file system"
else
    echo "skip  a frozen file system: no loop devices here: $(sed -n 1p "$scratch/said")"
fi

# ---- What was skipped ----

printf '1/2 Testing: one\nskip  a: there is no ::1 here\n2/2 Testing: two\nok    b\n' > "$scratch/log"
expect "a skip that is expected" 0 env CI=true scripts/skips "$scratch/log"
says "a skip that is expected" '^  one: a: there is no ::1 here$'
echo 'skip  c: nft is not installed' >> "$scratch/log"
expect "a skip that is not expected" 1 env CI=true scripts/skips "$scratch/log"
says "a skip that is not expected" '^  two: c: nft is not installed$'
expect "a skip elsewhere than on CI" 0 env CI= scripts/skips "$scratch/log"
[ "$failed" -ne 0 ] || echo "contained: files, processes, and tests that are told to end or killed; skips are listed"
exit "$failed"
