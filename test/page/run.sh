#!/usr/bin/env bash
# The laboratory page: that the committed page is what its sources give, that its simulator tells every story as the program
# does, and that people can use it, in a real browser.
#
#   run.sh             everything
#   run.sh NAME        only the browser tests whose name contains NAME, without the comparisons
#   run.sh --pictures  only takes the pictures of docs/page.md
#
# Environment: ELECTOR, the program; BUILD, the build folder: screenshots are written to $BUILD/page.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export ELECTOR=${ELECTOR:-build/release/elector} BUILD=${BUILD:-build/release}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SCRATCH=$scratch

if [ ! -d web/node_modules ]; then
    echo "skip page: web/node_modules is missing; scripts/setup page test installs it"
    exit 0
fi
(cd web && node_modules/.bin/tsc --noEmit)
node web/build.mjs "$scratch/lab.html" --module "$scratch/lab.wasm" >"$scratch/built"
echo "ok    types    no error; $(cut -d: -f2 <"$scratch/built")"

# Another compiler makes other bytes of the same sources; what they do is compared below in any case.
made_by() { sed -n 's/.*name="generator" content="\([^"]*\)".*/\1/p' "$1"; }
if [ "$(made_by "$scratch/lab.html")" != "$(made_by web/built/lab.html)" ]; then
    echo "skip page bytes: web/built/lab.html was made by $(made_by web/built/lab.html), not by $(made_by "$scratch/lab.html")"
elif ! node web/same.mjs "$scratch/lab.html" web/built/lab.html; then
    echo "FAIL  web/built/lab.html is not what its sources give; run \`make page\` and commit it"
    exit 1
else
    echo "ok    bytes    web/built/lab.html is what its sources give"
fi
"$ELECTOR" lab --write - | cmp - web/built/lab.html # the program has that very page

for part in shared/index lab/trace; do
    web/node_modules/.bin/esbuild "web/$part.ts" --bundle --format=esm --outfile="$scratch/${part#*/}.mjs" --log-level=warning
done
node test/page/main.mjs "$@"
