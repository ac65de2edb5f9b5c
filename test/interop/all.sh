#!/usr/bin/env bash
# The stories of test/engines, then those of this folder; with names as arguments only those, each where it is told.
set -euo pipefail
cd "$(dirname "$0")/../.."
engines=() interop=()
for story in "$@"; do
    if grep -q "^story_${story//-/_}()" test/interop/stories*.sh; then
        interop+=("$story")
    else
        engines+=("$story") # which says so if there is none
    fi
done
status=0
[ $# -gt 0 ] && [ ${#engines[@]} -eq 0 ] || test/engines/run.sh "${engines[@]}" || status=1
[ $# -gt 0 ] && [ ${#interop[@]} -eq 0 ] || test/interop/run.sh "${interop[@]}" || status=1
exit $status
