#!/usr/bin/env bash
# The live page of real agents on loopback, in a real browser: leaders are killed, agents cut off and restarted meanwhile.
#
#   run.sh             everything
#   run.sh NAME        only the tests whose name contains NAME
#   run.sh --pictures  only takes the picture of docs/operations.md
#
# Environment: ELECTOR, the program; BUILD, the build folder: screenshots are written to $BUILD/live.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
ELECTOR=$(realpath "${ELECTOR:-build/release/elector}")
BUILD=$(realpath "${BUILD:-build/release}")
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/elector-live.XXXXXX")
trap 'rm -rf "$SCRATCH"' EXIT
export ELECTOR BUILD SCRATCH LC_ALL=C.UTF-8
for need in web/node_modules/playwright-core/package.json "${CHROMIUM:-/usr/bin/chromium}"; do
    if [ ! -e "$need" ]; then
        echo "skip live: there is no $need; scripts/setup page test installs it"
        exit 0
    fi
done
if [ $# -eq 0 ]; then
    node web/build.mjs "$SCRATCH/live.html"
    if ! cmp "$SCRATCH/live.html" web/built/live.html || ! cmp "$SCRATCH/live.policy" web/built/live.policy; then
        echo "FAIL  web/built/live.html is not what its sources give; run \`make page\` and commit it"
        exit 1
    fi
fi
node test/live/main.mjs "$@"
