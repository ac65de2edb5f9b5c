#!/usr/bin/env bash
# The show of `make run`: that it comes to its end, that it says so when it does not, and that nothing is left of it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
export LC_ALL=C
ELECTOR=$(realpath "${ELECTOR:-build/release/elector}")
scratch=$(mktemp -d)
show=
trap '[ -z "$show" ] || kill -TERM "$show" 2>/dev/null; rm -rf "$scratch"' EXIT
export ELECTOR TMPDIR=$scratch/tmp ELECTOR_PATIENCE=60
mkdir "$TMPDIR"
out=$scratch/out
failed=0

fail() {
    failed=$((failed + 1))
    echo "FAIL  $1: $2"
    sed 's/^/        /' "$out" | tail -n 12
}
verify() { # NAME WHAT COMMAND...
    local name=$1 what=$2
    shift 2
    "$@" >/dev/null 2>&1 || fail "$name" "$what"
}

# Processes and files of a show that should be over; an agent is known by its configuration, a runner by its socket.
nothing_is_left() {
    local file
    for file in /proc/[0-9]*/cmdline; do
        if grep -qsaF "$TMPDIR/" "$file"; then return 1; fi
    done
    [ -z "$(ls -A "$TMPDIR")" ]
}
eventually() {
    local tries=0
    until "$@"; do
        [ $((tries++)) -lt 1200 ] || return 1
        sleep 0.05
    done
}

scripts/show >"$out" 2>&1 </dev/null
verify "the show" "exits with $?" test $? -eq 0
verify "the show" "does not come to its end" grep -qE '^[0-9]+ leaders, one after the other, never two at once' "$out"
verify "the show" "tells another number of elections" test "$(grep -cE '^ *[0-9.]+ ms  .* [abc] leads, token [0-9]+$' "$out")" -eq 6
verify "the show" "is wider than 80 columns" test -z "$(grep -E '.{81}' "$out")"
verify "the show" "has colours in a pipe" test -z "$(grep $'\033' "$out")"
verify "the show" "leaves something behind" eventually nothing_is_left

# A cluster that never begins: its agents end at once.
# shellcheck disable=SC2016 # for the shell that reads the file
printf '#!/bin/sh\n[ "$1" != agent ] || exit 1\nexec "%s" "$@"\n' "$ELECTOR" >"$scratch/broken"
chmod +x "$scratch/broken"
ELECTOR=$scratch/broken ELECTOR_PATIENCE=1 scripts/show >"$out" 2>&1 </dev/null
verify "a show without agents" "exits with $?" test $? -eq 1
verify "a show without agents" "does not say why" grep -q '^show: not within 1 s: ' "$out"
verify "a show without agents" "leaves something behind" eventually nothing_is_left

# Ended in the middle.
scripts/show >"$out" 2>&1 </dev/null &
show=$!
verify "a show that is ended" "does not begin" eventually grep -q ' leads, token ' "$out"
kill -TERM "$show"
wait "$show"
verify "a show that is ended" "exits with $?" test $? -eq 143
show=
verify "a show that is ended" "leaves something behind" eventually nothing_is_left

[ "$failed" -eq 0 ] && echo "the show: told, broken and ended, and nothing left"
[ "$failed" -eq 0 ]
