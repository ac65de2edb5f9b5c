#!/usr/bin/env bash
# Programs that were linked with the reference library must run with the present one: abidiff compares the functions of elector.h
# and their types with elector.abi. `test/abi/run.sh --rewrite` (make abi) accepts the present library as the reference.
#
# First it plants changes that break programs, and must find each.
#
# Environment: CC.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
CC=${CC:-gcc}
reference=test/abi/elector.abi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

pass() { printf 'ok    %s\n' "$1"; }
fail() {
    printf 'FAIL  %s\n' "$1"
    failed=1
}

# library HEADER_FOLDER OUT.so: the library's interface with debugging information, which a release does not have.
library() {
    "$CC" -std=c17 -g -O0 -fPIC -shared -fvisibility=hidden -DELECTOR_VERSION='"abi"' -I"$1" -Isrc -ffile-prefix-map="$PWD/=" \
        -Wl,-soname,libelector.so.1 -Wl,--version-script="${3:-libelector.map}" $(pkg-config --cflags jansson) \
        src/client/*.c src/base/{clock,descriptors,group_name,pass}.c $(pkg-config --libs jansson) -o "$2"
}

# describe HEADER_FOLDER LIBRARY.so OUT.abi: the interface alone, without what is private to the library.
describe() {
    abidw --headers-dir "$1" --drop-private-types --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
        --no-write-default-sizes --exported-interfaces-only --type-id-style hash --out-file "$3" "$2"
}

# breaks LIBRARY.so: whether a program linked with the reference may not run with it.
breaks() {
    ! abidiff --suppressions test/abi/growth.ini --no-added-syms "$reference" "$1" >"$scratch/report" 2>&1
}

library include "$scratch/present.so"
if [ "${1:-}" = --rewrite ]; then
    describe include "$scratch/present.so" "$reference"
    exit
fi
describe include "$scratch/present.so" "$scratch/present.abi"
if breaks "$scratch/present.abi"; then
    cat "$scratch/report"
    fail "a program that was linked with the last library cannot run with this one; if that is meant: make abi"
else
    pass "programs linked with the reference run with this library"
fi

# lags LIBRARY: whether it has what the reference has not. A later removal of that would not be found.
lags() {
    ! abidiff "$reference" "$1" >"$scratch/report" 2>&1
}
if lags "$scratch/present.abi"; then
    cat "$scratch/report"
    fail "the reference does not have all of this library, so its removal would not be found: make abi"
else
    pass "the reference has all of this library"
fi

# plant NAME breaks|grows FILE s/…/…/: a copy of the headers and the map with one change.
plant() {
    local name=$1 kind=$2 file=$3 change=$4 copy=$scratch/$1
    mkdir "$copy"
    cp -r include libelector.map "$copy"
    sed -i "$change" "$copy/$file"
    if cmp -s "$copy/$file" "$file"; then
        fail "$name: the change changes nothing"
        return
    fi
    if ! library "$copy/include" "$copy/planted.so" "$copy/libelector.map" 2>"$scratch/log"; then
        cat "$scratch/log"
        fail "$name: does not build"
        return
    fi
    describe "$copy/include" "$copy/planted.so" "$copy/planted.abi"
    if breaks "$copy/planted.abi"; then found=breaks; elif lags "$copy/planted.abi"; then found=grows; else found=nothing; fi
    if [ $found = "$kind" ]; then pass "$name $kind"; else fail "$name is taken for what $found"; fi
}
plant no-wakeup breaks libelector.map '/elector_wakeup;/d'
plant field-in-between breaks include/elector.h 's/^    uint64_t priority;$/    uint64_t before; uint64_t priority;/'
plant renumbered breaks include/elector.h 's/ELECTOR_TIMEOUT = 1,/ELECTOR_TIMEOUT = 11,/'
plant field-at-the-end grows include/elector.h 's/^    size_t candidate_count;$/    size_t candidate_count; uint64_t later;/'
plant option-at-the-end grows include/elector.h 's/^    uint64_t watchdog_ms;$/    uint64_t watchdog_ms; uint64_t later;/'
exit $failed
