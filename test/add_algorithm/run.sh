#!/usr/bin/env bash
# Follows docs/add-an-algorithm.md to the letter, in a copy of the tree: writes its files, applies its patch, runs its commands and
# compares what they print. Then runs the tests that walk the registry. Whatever is new is compiled here, and linked with the built
# libraries and test objects in BUILD. Planted mistakes must be found: a field that the guide leaves out, an algorithm that is not
# registered, a weakness that it does not name.
#
# Environment: BUILD, a built release folder (default: build/release).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C.UTF-8
build=$(realpath "${BUILD:-build/release}")
guide=docs/add-an-algorithm.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cc=${CC:-gcc}
walkers='unit.core.contract unit.core.step unit.algorithms.hostile unit.sim.world.early_crash unit.sim.plan.errors
    unit.agent.host.single.rounds paper.ranks swarm.faults'
libraries=("$build/libelector_cli.a" "$build/libelector_check.a" "$build/libelector_sim.a" "$build/libelector_agent.a"
    "$build/libelector_client.a" "$build/libelector_base.a" "$build/libelector_core.a" -luv -lsodium -linih -ljansson -lmicrohttpd -pthread)
failed=0
fail() {
    failed=$((failed + 1))
    echo "FAIL  $*"
}

# ---- The guide ----

# Writes files/PATH for each `Write `PATH`:` and its block, patch.N for each diff, and the file console.
take_apart() { # GUIDE FOLDER
    mkdir -p "$2/files"
    awk -v folder="$2" '
        /^Write `/ { split($0, part, "`"); path = part[2]; next }
        /^```/ && block { close(to); block = 0; next }
        /^```c$/ && path { to = folder "/files/" path; system("mkdir -p $(dirname \"" to "\")"); path = ""; block = 1; next }
        /^```diff$/ { to = folder "/patch." ++patches; block = 1; next }
        /^```console$/ { to = folder "/console"; block = 1; next }
        block { print >> to }' "$1"
}

# Every field of the descriptor is explained. Counts go with their tables, and reactions are one row.
names_all_fields() { # GUIDE
    local field missing=0
    for field in $(awk '/^struct el_algorithm \{/ { inside = 1; next } /^};/ { inside = 0 } inside' include/elector/core.h |
        sed 's|/\*.*||' | grep -oE '[a-z_]+;|\(\*[a-z_]+\)' | tr -d '();*' | grep -vE '_count$|^on_'); do
        grep -q "\`$field\`" "$1" || { echo "the guide does not explain \`$field\`" && missing=1; }
    done
    return $missing
}

# ---- A copy of the tree, built ----

follow() { # GUIDE FOLDER
    local patch source object objects=()
    mkdir "$2"
    cp -r src include test .clang-format "$2"
    take_apart "$1" "$2/guide"
    cp -r "$2/guide/files/." "$2"
    for patch in "$2"/guide/patch.*; do
        [ ! -e "$patch" ] || patch --quiet --strip=1 --directory="$2" <"$patch"
    done
    flags=(-std=c17 -O1 "-I$2/include" "-I$2/src" "-I$2/test" "-DELECTOR_SOURCE_DIR=\"$PWD\"" '-DELECTOR_VERSION="guide"')
    for source in src/algorithms/registry.c $(cd "$2/guide/files" && find src -name '*.c'); do
        object=$2/$(basename "$source" .c).o
        $cc "${flags[@]}" -Wall -Wextra -Werror -c "$2/$source" -o "$object"
        objects+=("$object")
    done
    $cc "${flags[@]}" -w "$2/src/cli/main.c" "${objects[@]}" "${libraries[@]}" -o "$2/elector"
    printf '%s\n' "${objects[@]}" >"$2/objects"
}

link_test() { # FOLDER OBJECT PROGRAM
    local objects
    mapfile -t objects <"$1/objects"
    $cc "$2" "${objects[@]}" "${libraries[@]}" -lcmocka -o "$3"
}

# Runs a built test with the new algorithm in its registry.
walk() { # FOLDER NAME
    local object
    object=$(find "$build/test/CMakeFiles/$2.dir" -name '*.o')
    link_test "$1" "$object" "$1/$2"
    ELECTOR_RUNS=3000 "$1/$2" >"$1/$2.log" 2>&1
}

# The lines below a command are lines of what it prints, in that order.
play_console() { # FOLDER
    local line command='' at=0
    while IFS= read -r line; do
        if [[ $line == '$ elector '* ]]; then
            command=${line#\$ elector }
            at=0
            eval "'$1/elector' $command" >"$1/printed" 2>&1 </dev/null || true
            grep -q . "$1/printed" && ! grep -q 'there is no algorithm\|is neither an algorithm' "$1/printed" ||
                fail "elector $command: $(head -n 1 "$1/printed")"
        elif [ "$line" != '…' ]; then
            at=$(awk -v line="$line" -v after="$at" 'NR > after && $0 == line { print NR; exit }' "$1/printed")
            [ -n "$at" ] || { fail "elector $command: does not print '$line'" && sed -n 1,8p "$1/printed" && at=0; }
        fi
    done <"$1/guide/console"
}

# ---- To the letter ----

names_all_fields "$guide" || fail "a field is missing"
follow "$guide" "$scratch/tree"
for written in $(cd "$scratch/tree/guide/files" && find . -name '*.c'); do
    clang-format --dry-run -Werror "$scratch/tree/$written" || fail "$written is not laid out as \`make format\` would"
done
play_console "$scratch/tree"
for written in $(cd "$scratch/tree/guide/files" && find test -name '*.c'); do
    $cc "${flags[@]}" -w -c "$scratch/tree/$written" -o "$scratch/tree/test.o"
    link_test "$scratch/tree" "$scratch/tree/test.o" "$scratch/tree/own"
    "$scratch/tree/own" >"$scratch/tree/own.log" 2>&1 || { fail "$written" && cat "$scratch/tree/own.log"; }
done
for walker in $walkers; do
    walk "$scratch/tree" "$walker" || { fail "$walker, with one more algorithm" && grep -v ' OK \]' "$scratch/tree/$walker.log" | tail -n 12; }
done

# ---- Planted mistakes ----

sed 's/`roleless`/roleless/' "$guide" >"$scratch/planted.md"
! names_all_fields "$scratch/planted.md" >/dev/null || fail "planted: a field that is not explained was not missed"
sed 's|^+ *&el_name_best,$|+    /* forgotten */|' "$guide" >"$scratch/planted.md"
follow "$scratch/planted.md" "$scratch/unregistered"
before=$failed
play_console "$scratch/unregistered" >/dev/null
if [ "$failed" -gt "$before" ]; then failed=$before; else fail "planted: an algorithm that is not registered was not missed"; fi
sed 's/^    {EL_RESTARTS, /    {EL_WIPES, /' "$guide" >"$scratch/planted.md"
follow "$scratch/planted.md" "$scratch/unnamed"
! walk "$scratch/unnamed" swarm.faults || fail "planted: a weakness that is not named was not found"

echo "$(wc -w <<<"$walkers") tests that walk the registry, $failed failed"
[ "$failed" -eq 0 ]
