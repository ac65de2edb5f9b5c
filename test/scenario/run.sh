#!/usr/bin/env bash
# Plays every story in scenarios/THEME/ and holds it to its own expectations and to its golden transcript.
#
#   run.sh             compare
#   run.sh --rewrite   renew the golden transcripts; read the diff before you commit it
#
# Environment: ELECTOR, the program (default: the release build).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
ELECTOR=${ELECTOR:-build/release/elector}
stories=scenarios
goldens=$stories/golden
passed=0
failed=0

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAIL  $1: $2"
}

rewrite=false
case ${1-} in
'') ;;
--rewrite) rewrite=true ;;
*)
    echo "usage: run.sh [--rewrite]" >&2
    exit 2
    ;;
esac
if ! command -v "$ELECTOR" >/dev/null; then
    echo "run.sh: there is no program $ELECTOR; build it, or set ELECTOR" >&2
    exit 2
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
told=$scratch/told
shopt -s nullglob

# play NAME: the expectations hold, nothing is said on stderr, and the story is told as its golden file tells it.
play() {
    local name=$1 golden=$goldens/$1.txt status=0
    "$ELECTOR" sim "$stories/$name.scenario" >"$told" 2>"$scratch/errors" </dev/null || status=$?
    if [ "$status" -ne 0 ] || [ -s "$scratch/errors" ]; then
        fail "$name" "exit code $status"
        grep -E '^  expected .*: NO$|^violation ' "$told" || true
        cat "$scratch/errors"
    elif ! grep -q '^expect ' "$stories/$name.scenario"; then
        fail "$name" "expects nothing"
    elif [[ $(head -n 1 "$stories/$name.scenario") != '# '* ]]; then
        fail "$name" "does not begin with its story in a comment"
    elif $rewrite; then
        cmp -s "$told" "$golden" || echo "new   $golden"
        mkdir -p "$(dirname "$golden")"
        cp "$told" "$golden"
        pass
    elif [ ! -e "$golden" ]; then
        fail "$name" "has no golden transcript; run.sh --rewrite makes one"
    elif ! diff -u --label "$golden" --label "as told now" "$golden" "$told"; then
        fail "$name" "is told differently"
    else
        pass
    fi
}

# A golden file whose story is gone says nothing about anything.
find_orphans() {
    local golden name
    for golden in "$goldens"/*/*; do
        name=${golden#"$goldens"/}
        name=${name%.txt}
        [ "$golden" = "$goldens/$name.txt" ] && [ -e "$stories/$name.scenario" ] && continue
        if $rewrite; then
            rm -f "$golden"
            echo "gone  $golden"
        else
            fail "$golden" "no scenario of that name"
        fi
    done
}

mkdir -p "$goldens"
for story in "$stories"/*/*.scenario; do
    name=${story#"$stories"/}
    play "${name%.scenario}"
done
find_orphans
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
