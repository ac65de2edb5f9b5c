#!/usr/bin/env bash
# Installs into a scratch prefix and builds an example as an application would, through pkg-config and through CMake, with
# the shared library and with the static one; each must be elected. The programs of docs/library.md are built and run, too.
#
# Environment: BUILD, a build folder (default: the release build); CC.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
BUILD=$(realpath "${BUILD:-build/release}")
CC=${CC:-gcc}
source=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
failed=0

pass() { printf 'ok    %s\n' "$1"; }
fail() {
    printf 'FAIL  %s\n' "$1"
    failed=1
}

# elects NAME PROGRAM: under a token that is higher than the last.
last=0
elects() {
    local name=$1 program=$2 said token
    if ! said=$(ELECTOR_URL=${url:-file:$scratch/lock} timeout 60 "$program"); then
        fail "$name: the program failed"
        return
    fi
    token=$(sed -n 's/^job 2 under token \([0-9]*\).*/\1/p' <<<"$said")
    if [ -n "$token" ] && [ "$token" -gt "$last" ]; then pass "$name"; else fail "$name: said '$said' after $last"; fi
    last=${token:-$last}
}

cmake --install "$BUILD" --prefix "$prefix" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
library=$(find "$prefix" -name 'libelector.so')
[ -n "$library" ] || { echo "FAIL  no libelector.so below the prefix"; exit 1; }
libdir=$(dirname "$library")
export PKG_CONFIG_PATH=$libdir/pkgconfig
export LD_LIBRARY_PATH=$libdir

# What it exports is the interface and nothing else, and all of that.
declared=$(sed -n 's/^ELECTOR_API .*[ *]\(elector_[a-z_]*\)(.*/\1/p' include/elector.h | sort)
exported=$(nm -D --defined-only "$library" | sed -n 's/.* T \([^@]*\)@@ELECTOR_1.0$/\1/p' | sort)
others=$(nm -D --defined-only "$library" | grep -vE ' T elector_[a-z_]*@@ELECTOR_1\.0$| A ELECTOR_1\.0$' || true)
if [ "$declared" = "$exported" ] && [ -z "$others" ]; then
    pass "exports what elector.h declares"
else
    fail "exports differ from elector.h: $(diff <(echo "$declared") <(echo "$exported") | tr '\n' ' ') $others"
fi
# The stores' libraries are in the engine alone: neither the library nor a program that uses it loads them.
stores='libcurl|libzookeeper|libyaml|libssl'
brings() { ldd "$1" | grep -oE "($stores)[^ ]*" | sort -u | tr '\n' ' '; } # FILE
for file in "$library" "$prefix/bin/elector"; do
    if [ -z "$(brings "$file")" ]; then pass "${file##*/} loads no store's library"; else fail "${file##*/} loads $(brings "$file")"; fi
done
engine=$(find "$prefix" -name elector-engine)
if [[ -n $engine && $(brings "$engine") == *libcurl* ]]; then pass "the engine does"; else fail "the engine is missing, or loads no libcurl: the test above sees nothing"; fi
if grep -q 'SONAME.*\[libelector\.so\.1\]' < <(readelf -d "$library"); then pass SONAME; else fail "no SONAME libelector.so.1"; fi
visible=$(nm -g --defined-only "$libdir/libelector.a" | sed -n 's/.* [A-Z] //p' | sort)
if [ "$visible" = "$declared" ]; then
    pass "the static library shows nothing else"
else
    fail "the static library shows: $(comm -13 <(echo "$declared") <(echo "$visible") | tr '\n' ' ')"
fi

# The service: it starts what was installed, and is as confined as it can be.
unit=$prefix/lib/systemd/system/elector-agent.service
if grep -qF "ExecStart=$prefix/bin/elector agent" "$unit"; then pass "a service"; else fail "no service, or it starts something else: $unit"; fi
if [ -s "$prefix/share/doc/elector/elector-agent-realtime.conf" ]; then pass "what realtime needs"; else fail "no drop-in for profile realtime"; fi
if grep -qE '^(AmbientCapabilities|LimitMEMLOCK)=|CAP_' "$unit"; then fail "the service asks for what the agent does not need"; else pass "no privileges"; fi
if grep -qx 'StartLimitIntervalSec=0' "$unit"; then pass "it is always started again"; else fail "a few failed starts end the service"; fi
if command -v systemd-analyze >/dev/null; then
    exposure=$(systemd-analyze security --offline=yes --no-pager "$unit" 2>&1 | sed -n 's/.*exposure level for .*: \([0-9.]*\) .*/\1/p')
    if awk "BEGIN { exit !(${exposure:-10} <= 2.0) }"; then pass "exposed by $exposure of 10"; else fail "the service is exposed by ${exposure:-?}, more than 2.0"; fi
    unknown=$(systemd-analyze verify "$unit" 2>&1 | grep -F elector-agent.service: | grep -vF "'man " || true)
    if [ -z "$unknown" ]; then pass "systemd understands the service"; else fail "$unknown"; fi
fi

read -ra flags <<<"$(pkg-config --cflags --libs elector)"
if "$CC" -Wall -Werror examples/ten_lines.c "${flags[@]}" -o "$scratch/shared"; then
    elects "pkg-config, shared" "$scratch/shared"
    if [ -z "$(brings "$scratch/shared")" ]; then pass "nor does an application"; else fail "an application loads $(brings "$scratch/shared")"; fi
else
    fail "pkg-config, shared: does not build"
fi
read -ra flags <<<"$(pkg-config --static --libs elector | sed 's/-lelector/-l:libelector.a/')"
if "$CC" -Wall -Werror -I "$prefix/include" examples/ten_lines.c "${flags[@]}" -o "$scratch/static" &&
    ! grep -q 'NEEDED.*libelector' < <(readelf -d "$scratch/static"); then
    elects "pkg-config, static" "$scratch/static"
else
    fail "pkg-config, static: does not build"
fi
# Every declaration, in C and in C++, of old and new standards.
uses=test/install/every_declaration.c
unused=$(for name in $declared $(grep -oE '\bELECTOR_[A-Z_]+\b' include/elector.h | grep -vE '_H$|_API$' | sort -u); do
    grep -qw "$name" "$uses" || echo "$name"
done)
if [ -z "$unused" ]; then pass "every declaration is used"; else fail "$uses does not use: $unused"; fi
for language in 'c c99' 'c c17' 'c++ c++11' 'c++ c++20'; do
    read -r kind standard <<<"$language"
    if g++ -x "$kind" -std="$standard" -Wall -Wextra -Wpedantic -Werror -I "$prefix/include" -c "$uses" -o "$scratch/uses.o"; then
        pass "every declaration in $standard"
    else
        fail "every declaration in $standard"
    fi
done
read -ra flags <<<"$(pkg-config --cflags --libs elector)"

# The programs of the manual, as it shows them: over a lock, and over an agent.
port=$((20000 + $$ % 20000))
"$BUILD/elector" init --members "a=127.0.0.1:$port" --cluster shop --out "$scratch/c" >"$scratch/log"
"$BUILD/elector" agent --config "$scratch/c/a/elector.conf" >"$scratch/agent.log" 2>&1 &
agent=$!
disown
trap 'kill -9 $agent 2>/dev/null || true; rm -rf "$scratch"' EXIT
for i in $(seq 300); do
    [ -S "$scratch/c/a/agent.sock" ] && break
    sleep 0.1
done
export LIBRARY_AGENT=unix:$scratch/c/a/agent.sock
shown=$(sed -n 's/^<!-- \(examples\/.*\) -->$/\1/p' docs/library.md)
if [ "$(wc -w <<<"$shown")" -ge 5 ]; then pass "the manual has programs"; else fail "the manual shows only: $shown"; fi
for example in $shown; do
    program=$scratch/$(basename "$example")
    awk -v mark="<!-- $example -->" '$0 == mark { on = 1; next } on && /^```/ { if (inside) exit; inside = 1; next } inside' \
        docs/library.md >"$program"
    if ! cmp -s "$program" "$example"; then
        fail "docs/library.md shows another $example"
        continue
    fi
    compiler=("$CC" -std=gnu17) more=(-pthread)
    case $example in
    *.cpp) compiler=(g++ -std=c++17) ;;
    *libuv*) read -ra more <<<"$(pkg-config --cflags --libs libuv)" ;;
    esac
    if "${compiler[@]}" -Wall -Wextra -Werror "$program" "${flags[@]}" "${more[@]}" -o "$program.run"; then
        elects "$example over a lock" "$program.run"
        last=0 # tokens of an agent are others
        url=$LIBRARY_AGENT elects "$example over an agent" "$program.run"
        last=0
    else
        fail "$example: does not build"
    fi
done

mkdir "$scratch/app"
cat >"$scratch/app/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(app C)
find_package(elector 0.1 REQUIRED)
add_executable(with_shared $source/examples/ten_lines.c)
target_link_libraries(with_shared PRIVATE elector::elector)
add_executable(with_static $source/examples/ten_lines.c)
target_link_libraries(with_static PRIVATE elector::static)
END
if cmake -S "$scratch/app" -B "$scratch/app/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" >"$scratch/log" 2>&1 &&
    cmake --build "$scratch/app/build" >>"$scratch/log" 2>&1; then
    elects "CMake, shared" "$scratch/app/build/with_shared"
    elects "CMake, static" "$scratch/app/build/with_static"
else
    cat "$scratch/log"
    fail "CMake: does not build"
fi
exit $failed
