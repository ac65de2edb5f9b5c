#!/usr/bin/env bash
# Tells stories of real agents on loopback: what goes wrong, and that the witness sees nobody work beside the leader.
# With names as arguments, only those. Needs ELECTOR, the program, and BUILD, the build folder. ELECTOR_CLUSTER_KEEP=1
# keeps the logs. Each story is a function in stories*.sh, has its own loopback addresses, and cleans up after itself.
set -euo pipefail
cd "$(dirname "$0")/../.."
export ELECTOR=${ELECTOR:-build/release/elector} BUILD=${BUILD:-build/release}
ELECTOR=$(realpath "$ELECTOR")
BUILD=$(realpath "$BUILD")
lib=$BUILD/test
jobs=${ELECTOR_CLUSTER_JOBS:-6}              # stories at once: they wait most of the time
folder=${ELECTOR_STORIES:-test/cluster} # whose stories: test/engines has others, which may use lib.sh and its own

if [ "${1:-}" = --story ]; then # one of them: NAME NUMBER FOLDER
    name=$2 number=$3 dir=$4
    prefix=127.$((1 + PPID % 250)).$3
    port=$((7400 + PPID / 250 % 2000))
    mkdir -p "$dir"
    # shellcheck source=test/cluster/lib.sh
    source test/cluster/lib.sh
    for file in "$folder"/lib*.sh "$folder"/stories*.sh; do
        # shellcheck disable=SC1090
        source "$file"
    done
    trap clean_up EXIT
    trap 'exit 143' TERM INT
    set -E
    trap 'echo "FAIL $name: ${BASH_SOURCE[0]##*/}:$LINENO: $BASH_COMMAND" > "$dir/result"' ERR
    "story_${name//-/_}"
    ! declare -F story_is_over > /dev/null || story_is_over
    echo "ok   $name" > "$dir/result"
    exit 0
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/elector-cluster.XXXXXX")
pids=()
finish() {
    [ ${#pids[@]} -eq 0 ] || kill -TERM "${pids[@]}" 2> /dev/null || true
    wait || true
    [ -n "${ELECTOR_CLUSTER_KEEP:-}" ] || rm -rf "$work"
}
trap finish EXIT
trap 'exit 143' TERM INT

# Bugs are planted in the release only, and only the release is confined.
mapfile -t stories < <(sed -n 's/^story_\([a-z0-9_]*\)() .*/\1/p' "$folder"/stories*.sh | tr _ - | grep -vE "^${ELECTOR_SANITIZED:+(planted|confined)}-")
# Under sanitizers, half of them, and with each commit another half: they take twice as long there (ELECTOR_STORIES_ALL=1: all).
if [ -n "${ELECTOR_SANITIZED:-}" ] && [ -z "${ELECTOR_STORIES_ALL:-}" ] && commit=$(git rev-parse -q --verify HEAD 2> /dev/null); then
    mapfile -t stories < <(for story in "${stories[@]}"; do
        sum=$(cksum <<< "$story $commit")
        ((${sum%% *} % 2)) || echo "$story"
    done)
fi
[ $# -eq 0 ] || stories=("$@")

# The line of a story that has ended, and of one that failed the ends of its logs.
show() { # NAME
    local result="FAIL $1: it told no end"
    [ ! -s "$work/$1/result" ] || result=$(head -n 1 "$work/$1/result")
    echo "$result"
    case $result in
    ok*) passed=$((passed + 1)) ;;
    skip*) skipped=$((skipped + 1)) ;;
    *)
        failed=$((failed + 1))
        (cd "$work/$1" && tail -n 5 ./*.log witness 2> /dev/null | cut -c 1-300) || true
        ;;
    esac
}

passed=0 failed=0 skipped=0 number=0
declare -A telling=()
reap() { # one of those that are told
    local ended='' pid
    wait -n -p ended "${!telling[@]}" || true
    show "${telling[$ended]}"
    unset "telling[$ended]"
    pids=()
    for pid in "${!telling[@]}"; do pids+=("$pid"); done
}
for story in "${stories[@]}"; do
    number=$((number + 1))
    while [ ${#telling[@]} -ge "$jobs" ]; do reap; done
    "$0" --story "$story" "$number" "$work/$story" > "$work/$story.out" 2>&1 &
    telling[$!]=$story
    pids+=($!)
done
while [ ${#telling[@]} -gt 0 ]; do reap; done
[ -z "${ELECTOR_CLUSTER_KEEP:-}" ] || echo "kept in $work"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
