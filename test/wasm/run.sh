#!/usr/bin/env bash
# The core as a WebAssembly module must say what the native library says, byte for byte. Both sides print
# the same lines about the same inputs: native.c with the library in $BUILD, module.js with the module.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
BUILD=${BUILD:-build/release}
CC=${CC:-gcc}

cmake --preset wasm >/dev/null
cmake --build --preset wasm >/dev/null || { cmake --build --preset wasm; exit 1; }
module=build/wasm/elector-core.wasm
echo "ok    built     $module, $(wc -c < "$module") bytes"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
$CC -std=c17 -I include -I src test/wasm/native.c "$BUILD/libelector_core.a" -o "$scratch/native"
"$scratch/native" > "$scratch/native.txt"
node test/wasm/module.js "$module" > "$scratch/module.txt"
if ! diff -u --label native --label module "$scratch/native.txt" "$scratch/module.txt"; then
    echo "FAIL  the module and the native library disagree"
    exit 1
fi
echo "ok    agrees    with the native library on $(wc -l < "$scratch/native.txt") lines"
