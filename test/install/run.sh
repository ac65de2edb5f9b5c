#!/usr/bin/env bash
# Installs into a scratch prefix and builds an example as an application would, through pkg-config and through CMake, with
# the shared library and with the static one; each must be elected.
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
    if ! said=$(ELECTOR_URL=file:$scratch/lock timeout 60 "$program"); then
        fail "$name: the program failed"
        return
    fi
    token=$(sed -n 's/^job 2 under token //p' <<<"$said")
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
exported=$(nm -D --defined-only "$library" | sed -n 's/.* T \([^@]*\)@@ELECTOR_0.1$/\1/p' | sort)
others=$(nm -D --defined-only "$library" | grep -vE ' T elector_[a-z_]*@@ELECTOR_0\.1$| A ELECTOR_0\.1$' || true)
if [ "$declared" = "$exported" ] && [ -z "$others" ]; then
    pass "exports what elector.h declares"
else
    fail "exports differ from elector.h: $(diff <(echo "$declared") <(echo "$exported") | tr '\n' ' ') $others"
fi
if grep -q 'SONAME.*\[libelector\.so\.0\]' < <(readelf -d "$library"); then pass SONAME; else fail "no SONAME libelector.so.0"; fi

# The service: it starts what was installed, and is as confined as it can be.
unit=$prefix/lib/systemd/system/elector-agent.service
if grep -qF "ExecStart=$prefix/bin/elector agent" "$unit"; then pass "a service"; else fail "no service, or it starts something else: $unit"; fi
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
# A C++ compiler must take the header too.
if command -v g++ >/dev/null; then
    echo '#include <elector.h>' >"$scratch/header.cpp"
    if g++ -Wall -Wextra -Wpedantic -Werror -I "$prefix/include" -c "$scratch/header.cpp" -o "$scratch/header.o"; then
        pass "the header in C++"
    else
        fail "the header in C++"
    fi
fi

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
