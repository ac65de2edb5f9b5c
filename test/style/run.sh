#!/usr/bin/env bash
# Holds the code to its layers and the core to its purity, by reading the sources and the objects of the
# release build in $BUILD. Then proves that every check can fail, by planting what it should find.
#
# Each check is a function of (tree, objects) that prints what it finds; silence is consent.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C
BUILD=${BUILD:-build/release}
CC=${CC:-gcc}
failed=0

pure_layers='core algorithms detectors'

# ---- Reading C ------------------------------------------------------------------------------------

# Lists the files of a tree's pure layers that match the patterns given.
pure_files() {
    local tree=$1 layer pattern
    shift
    for layer in $pure_layers; do
        [ -d "$tree/src/$layer" ] || continue
        for pattern in "$@"; do find "$tree/src/$layer" -name "$pattern"; done
    done | sort
}

# Prints "file:line:code" without comments; with mode=code also without the inside of literals.
strip() {
    local mode=$1
    shift
    [ $# -gt 0 ] || return 0
    awk -v mode="$mode" '
        FNR == 1 { in_comment = 0 }
        {
            rest = $0; code = ""
            while (rest != "") {
                if (in_comment) {
                    at = index(rest, "*/")
                    if (!at) break
                    rest = substr(rest, at + 2); in_comment = 0; code = code " "
                } else if (match(rest, /\/\*|\/\/|"(\\.|[^"\\])*"|\047(\\.|[^\047\\])*\047/)) {
                    what = substr(rest, RSTART, RLENGTH)
                    code = code substr(rest, 1, RSTART - 1)
                    rest = substr(rest, RSTART + RLENGTH)
                    if (what == "/*") in_comment = 1
                    else if (what == "//") rest = ""
                    else code = code (mode == "code" ? "\"\"" : what)
                } else {
                    code = code rest; rest = ""
                }
            }
            print FILENAME ":" FNR ":" code
        }' "$@"
}

# Prints "file:line:" and what is included there, brackets and all, for the folders and files given.
includes() {
    local files
    mapfile -t files < <(find "$@" -name '*.[ch]' | sort)
    strip text ${files[@]+"${files[@]}"} |
        sed -nE 's/^([^:]*:[0-9]+:)[[:space:]]*(#|%:)[[:space:]]*(include[[:space:]]*|include_next|import|embed)/\1/p'
}

# ---- Checks on sources ----------------------------------------------------------------------------

check_headers() { # the pure layers use three headers of the language, and no others of any system
    local tree=$1 folders=("$1/include/elector/core.h" "$1/include/elector/parts.h") layer
    for layer in $pure_layers; do [ ! -d "$tree/src/$layer" ] || folders+=("$tree/src/$layer"); done
    includes "${folders[@]}" |
        grep -vE ':(<(stdint|stddef|stdbool)\.h>|"[^"]*")[[:space:]]*$' || true
}

# The doors: which other rooms each room of src/ may include from. A room is a folder; a name with a header at its end
# opens the door to that header alone. Public headers aside; docs/architecture.md has the picture.
doors='
core
base                 base/kernel base/log
base/kernel          base
base/log             base base/kernel
detectors            core
algorithms           core
algorithms/ring      core algorithms
algorithms/mesh      core algorithms
algorithms/majority  core algorithms algorithms/mesh
algorithms/quorum    core algorithms
algorithms/members   core algorithms
algorithms/store     core algorithms
sim                  core base base/log sim/plan sim/world sim/output
sim/plan             core base base/log sim algorithms detectors sim/world sim/output
sim/world            core base base/log sim algorithms detectors sim/plan sim/output sim/measure
sim/output           core base base/log sim sim/plan sim/world
sim/measure          core base base/log sim algorithms detectors sim/plan sim/world sim/output
check                core base base/log check/world check/reduce check/tables
check/world          core check check/reduce check/tables
check/reduce         core check/world check/tables
check/tables         core check/world
agent/seal           core base base/log
agent/confine
agent/config         core base base/log agent/seal
agent/peer           core base base/log agent/seal agent/config
agent/state          core base base/log
agent/exchange       core base base/log algorithms agent/seal agent/config agent/peer
agent/host           core base base/log algorithms algorithms/quorum agent/seal agent/config agent/peer agent/state agent/host/quorum agent/host/single
agent/host/quorum    core base base/log algorithms algorithms/quorum agent/config agent/peer agent/state agent/host
agent/host/single    core base base/log algorithms agent/config agent/peer agent/state agent/host
agent/host/snapshot  core base base/log algorithms agent/host agent/host/quorum agent/host/single agent/recorder
agent/recorder       core base base/kernel base/log algorithms agent/config agent/state agent/host agent/host/snapshot
agent/history        core base base/kernel base/log algorithms/quorum agent/config agent/host
agent/guardian       core base base/kernel base/log agent/confine agent/seal agent/peer agent/config agent/host
agent/metrics        core base base/log agent/config
agent/serve/limits   core base base/log agent/config
agent/serve          core base base/kernel base/log agent/config agent/peer agent/exchange agent/host agent/history agent/guardian agent/metrics agent/serve/limits agent/serve/leadership
agent/serve/request  core base base/log agent/config agent/host agent/guardian agent/serve agent/serve/leadership agent/serve/limits
agent/serve/leadership core base base/log agent/config agent/host agent/history agent/guardian agent/metrics agent/serve agent/serve/limits
agent/serve/http     core base base/log agent/config agent/metrics agent/serve agent/serve/leadership agent/serve/limits
agent                core base base/kernel base/log agent/confine agent/seal agent/config agent/peer agent/state agent/host agent/recorder agent/history agent/guardian agent/metrics agent/exchange agent/serve agent/serve/leadership agent/serve/http
client               base base/log
client/file          base base/log client
engines              core base base/log agent agent/config agent/history/history.h agent/host agent/host/single/timed_machine.h agent/serve engines/etcd engines/zookeeper engines/kubernetes
engines/fetch
engines/etcd         core base base/log algorithms algorithms/store engines engines/fetch
engines/zookeeper    core base base/log algorithms algorithms/store engines
engines/kubernetes   core base base/log algorithms algorithms/store engines engines/fetch
supervise            base base/kernel base/log agent/guardian/guardian.h
cli                  base base/kernel base/log sim/output/transcript.h
cli/run              core base base/kernel base/log agent/config client supervise cli
cli/cluster          core base base/kernel base/log algorithms/quorum agent agent/seal agent/config agent/peer agent/state agent/guardian agent/serve/http client supervise/stop_times.h cli
cli/cluster/doctor   core base base/kernel base/log algorithms/quorum agent agent/seal agent/config agent/peer agent/state agent/guardian agent/serve/http client supervise/stop_times.h cli cli/cluster
cli/replay           core base base/log agent/seal agent/config agent/recorder sim/world sim/output cli cli/lab
cli/lab              core base base/log algorithms detectors sim/plan sim/world sim/output sim/measure check cli
wasm                 core sim/plan sim/world sim/output
'

check_doors() { # each room includes what it may, and nobody reads the inside of another
    local files
    mapfile -t files < <(find "$1/src" -name '*.[ch]' | sort)
    printf '%s\n' "${files[@]}" | awk -v tree="$1/src/" -v doors="$doors" '
        BEGIN { n = split(doors, rows, "\n"); for (i = 1; i <= n; i++) if (split(rows[i], w, / +/)) known[w[1]] = 1 }
        { room = substr($0, length(tree) + 1); sub("/[^/]*$", "", room) }
        !(room in known) && !told[room]++ { print room ": a room that this test does not know; give it its doors" }'
    includes "$1/src" | awk -F: -v tree="$1/src/" -v doors="$doors" '
        BEGIN {
            n = split(doors, rows, "\n")
            for (i = 1; i <= n; i++) {
                m = split(rows[i], w, / +/)
                known[w[1]] = 1
                for (j = 2; j <= m; j++) open[w[1], w[j]] = 1
            }
        }
        $3 !~ /^"/ { next }
        {
            where = $1 ":" $2
            room = substr($1, length(tree) + 1); sub("/[^/]*$", "", room)
            header = $3; gsub(/^"|"[^"]*$/, "", header)
            from = header; sub("/?[^/]*$", "", from)
            if (!(room in known)) next
            if (header ~ /\.\.\//) print where ": \"" header "\" leaves its folder"
            else if (header ~ /^elector\/(core|parts)\.h$/) next
            else if (header == "elector.h") { if (room !~ /^(client|cli)/) print where ": " room " must not include \"" header "\"" }
            else if (!(from in known)) print where ": \"" header "\" is no path from src/"
            else if (from != room && !((room, from) in open) && !((room, header) in open))
                print where ": " room " has no door to \"" header "\""
            else if (header ~ /internal\.h$/ && index(room "/", from "/") != 1)
                print where ": \"" header "\" is the inside of another room"
        }'
}

# Names that no pure code has a use for, wherever they stand.
banned_names='clock_gettime|clock_getres|clock_nanosleep|gettimeofday|timespec_get|nanosleep|usleep|mktime|timegm'
banned_names+='|localtime|localtime_r|gmtime|gmtime_r|strftime|strptime|difftime|time_t|clock_t|timespec|timeval'
banned_names+='|CLOCKS_PER_SEC|CLOCK_[A-Z_]+|__rdtsc|__rdtscp|_rdtsc|__builtin_readcyclecounter'
banned_names+='|__builtin_ia32_rd[a-z0-9_]+|__DATE__|__TIME__|__TIMESTAMP__'
banned_names+='|srand|rand_r|srandom|random_r|drand48|erand48|lrand48|nrand48|mrand48|jrand48|srand48'
banned_names+='|arc4random[a-z_]*|getrandom|getentropy|RAND_MAX|_rdrand[0-9]+_step|_rdseed[0-9]+_step'
banned_names+='|malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|memalign|valloc|alloca|strdup'
banned_names+='|strndup|asprintf|vasprintf|mmap|munmap|brk|sbrk|__builtin_alloca[a-z_]*|__builtin_malloc'
banned_names+='|__builtin_calloc|__builtin_realloc|__builtin_free'
banned_names+='|FILE|stdin|stdout|stderr|errno|[fsvd]*n?printf|__builtin_[a-z]*printf|f?puts|f?putc|putchar'
banned_names+='|perror|[fsv]*scanf|fopen|fdopen|freopen|fclose|fread|fwrite|fgets|fgetc|getchar|fflush|fseek'
banned_names+='|syslog|getenv|setenv|getpid|pthread_[a-z_]+|thrd_[a-z]+|mtx_[a-z]+|setjmp|longjmp|_Thread_local'
banned_names+='|thread_local|__thread|_Atomic|asm|__asm|__asm__|syscall|__attribute__[ (]+constructor'
# Names that are also good words for one's own things; as calls they are libc's. What hides from this
# list is caught by the linker's view of the objects, below.
banned_calls='time|clock|sleep|rand|random|free|read|write|open|close|abort|exit|_exit|signal|raise|getc|system'

check_names() { # no clock, no dice, no heap, no input or output by name
    local files
    mapfile -t files < <(pure_files "$1" '*.[ch]')
    strip code "$1/include/elector/core.h" "$1/include/elector/parts.h" ${files[@]+"${files[@]}"} |
        grep -E ":[0-9]+:(.*[^A-Za-z0-9_.>])?(($banned_names)([^A-Za-z0-9_]|\$)|($banned_calls)[[:space:]]*\()" || true
}

check_pipes() { # no reader leaves its pipe early: under pipefail the writer's SIGPIPE becomes the verdict, now and then
    grep -rnIE --include='*.sh' --include=Makefile --exclude-dir=.git --exclude-dir=build --exclude-dir=node_modules "$early_reader" "$1" || true
    [ ! -d "$1/scripts" ] || grep -rnIE "$early_reader" "$1/scripts" || true
}
early_reader='(^|[^|])\|[[:space:]]*(he''ad|grep[[:space:]]+-[A-Za-z]*q)'

check_promises() { # what is left to do is in an issue, not in a corner
    local words='TO''DO|FIX''ME|XX''X|HA''CK'
    grep -rnIE --exclude-dir=.git --exclude-dir=build --exclude-dir=node_modules "(^|[^A-Za-z0-9_])($words)([^A-Za-z0-9_]|\$)" "$1" || true
}

check_paths() { # nothing knows whose machine it was written on
    grep -rnIE --exclude-dir=.git --exclude-dir=build --exclude-dir=node_modules \
        '(^|[^A-Za-z0-9_.])/(home/[A-Za-z0-9_]|ro''ot/|Users/[A-Za-z0-9_])' "$1" || true
}

check_mentions() { # a file that a document, a script or a comment names is there
    grep -rnIoE --exclude-dir=.git --exclude-dir=build --exclude-dir=node_modules --exclude-dir=golden --exclude-dir=style --include='*.md' \
        --include='*.scd' --include='*.sh' --include='*.[ch]' \
        '(^|[^A-Za-z0-9_./$*{}-])(src|test|scenarios|include|examples|fuzz|bench|docs|man|scripts|contrib)/[A-Za-z0-9_./*-]*[A-Za-z0-9*]' "$1" |
        sed -E 's/^([^:]*:[0-9]+:)[^A-Za-z]/\1/' | sort -u -t: -k1,1 -k3,3 |
        while IFS=: read -r file line path; do # a name in capitals stands for many, name_best is the example of a guide
            [[ $path =~ /[A-Z][A-Z] || $path == */name_best.c ]] || compgen -G "$path" >/dev/null || compgen -G "$path*" >/dev/null ||
                echo "$file:$line: there is no $path"
        done
}

# ---- Checks on objects ----------------------------------------------------------------------------

object_of() { echo "$3/${1#"$2"/}.o"; } # (source, tree, objects)

check_built() { # every pure file is part of the library that is shipped
    local source
    pure_files "$1" '*.c' | while read -r source; do
        [ -f "$(object_of "$source" "$1" "$2")" ] || echo "$source: has no object below $2"
    done
}

check_statics() { # no state outside the state: nothing that a program could write to
    local source object
    pure_files "$1" '*.c' | while read -r source; do
        object=$(object_of "$source" "$1" "$2")
        [ -f "$object" ] || continue
        # Tables of pointers lie in .data.rel.ro: written by the loader only, then sealed.
        readelf -SW "$object" | sed -n 's/^ *\[ *[0-9]*\] //p' | awk -v source="$source" '
            $7 ~ /W/ && $1 !~ /^\.data\.rel\.ro/ && $5 !~ /^0+$/ {
                print source ": " $1 " holds bytes that can be written (0x" $5 ")"
            }'
        nm "$object" | awk -v source="$source" '$2 == "C" { print source ": " $3 " is common and can be written" }'
    done
}

check_symbols() { # linked together, the pure objects need nobody but what compilers call on their own
    local source objects=()
    while read -r source; do
        source=$(object_of "$source" "$1" "$2")
        [ ! -f "$source" ] || objects+=("$source")
    done < <(pure_files "$1" '*.c')
    [ ${#objects[@]} -gt 0 ] || { echo "$2: holds no objects"; return 0; }
    nm -A -g "${objects[@]}" | awk -v objects="$2/" '
        BEGIN { split("memcpy memset memmove memcmp _GLOBAL_OFFSET_TABLE_", ours); for (i in ours) known[ours[i]] = 1 }
        $(NF - 1) == "U" { file = $1; sub(/:$/, "", file); sub(/:.*/, "", file); wanted[++n] = file " " $NF; next }
        { known[$NF] = 1 }
        END {
            for (i = 1; i <= n; i++) {
                split(wanted[i], w, " ")
                if (!(w[2] in known)) print substr(w[1], length(objects) + 1) ": calls " w[2]
            }
        }'
}

checks='headers doors names promises paths mentions built statics symbols pipes'

# ---- Planting -------------------------------------------------------------------------------------

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

new_tree() {
    rm -rf "$scratch/tree" "$scratch/objects"
    mkdir -p "$scratch/tree/include" "$scratch/objects"
    cp -R src include "$scratch/tree/"
    cp -R "$objects/." "$scratch/objects/"
}

compile() { # an object where the build would have put it
    mkdir -p "$(dirname "$scratch/objects/$1.o")"
    $CC -std=c17 -O2 -fPIC -fvisibility=hidden -fno-builtin -w -I "$scratch/tree/include" -I "$scratch/tree/src" \
        -c "$scratch/tree/$1" -o "$scratch/objects/$1.o"
}

planted=0
# Plants a new file, and expects the check to find it and nothing else.
red() { # check, path, text
    local check=$1 path=$2 found
    mkdir -p "$(dirname "$scratch/tree/$path")"
    printf '%s\n' "$3" > "$scratch/tree/$path"
    case $check in statics | symbols) compile "$path" ;; esac
    found=$("check_$check" "$scratch/tree" "$scratch/objects")
    rm -f "$scratch/tree/$path" "$scratch/objects/$path.o"
    planted=$((planted + 1))
    if ! grep -qF planted <<<"$found" || [ "$(wc -l <<<"$found")" -ne 1 ]; then
        printf 'FAIL  %-9s does not notice, in %s: %s\n' "$check" "$path" "$3"
        [ -z "$found" ] || printf '      it says: %s\n' "$found"
        failed=1
    fi
}

# And this must not be mistaken for any of it.
green() { # path, text
    local check found
    printf '%s\n' "$2" > "$scratch/tree/$1"
    compile "$1"
    for check in $checks; do
        found=$("check_$check" "$scratch/tree" "$scratch/objects")
        if [ -n "$found" ]; then
            printf 'FAIL  %-9s is alarmed by harmless code: %s\n' "$check" "$found"
            failed=1
        fi
    done
    rm -f "$scratch/tree/$1" "$scratch/objects/$1.o"
}

prove_the_checks() {
    local p=src/core/planted.c q=src/algorithms/planted.c header name layer
    new_tree
    green $p '/* malloc, time() and rand() are not called here; printf neither */
#include <stdint.h>
#include "core/machine.h"
struct planted { uint64_t time, (*clock)(int); };
int el_planted(struct planted *planted, int random);
static const char *const words[] = {"free(NULL); // time(0)", "\"printf(", "errno"};
const char *const *el_planted_words(void);
const char *const *el_planted_words(void) { return words; }
int el_planted(struct planted *planted, int random) { return planted->time ? (int)planted->clock(random) : '"'\"'"'; }'

    for header in '<time.h>' '<stdlib.h>' '<stdio.h>' '<string.h>' '<elector/core.h>' 'PLANTED'; do
        red headers $p "#include $header"
        red headers $q "  #  include  $header"
    done
    red headers src/core/planted.h '#include_next <stdint.h>'
    red doors $p '#include "algorithms/ring/ring.h"'
    red doors $p '#include "sim/world/world.h"'
    red doors $q '#include "cli/cli.h"'
    red doors $q '#include "registry.h"'
    red doors $q '#include "nowhere.h"'
    red doors $q '#include "../sim/world/world.h"'
    red doors $q '#include "elector.h"'
    red doors src/algorithms/ring/planted.c '#include "algorithms/mesh/mesh.h"'
    red doors src/sim/world/planted.c '#include "cli/cli.h"'
    red doors src/sim/world/planted.h '#include "agent/agent.h"'
    red doors src/check/planted.c '#include "sim/world/world.h"'
    red doors src/check/planted.c '#include "algorithms/majority/raft.h"'
    red doors src/agent/planted.c '#include "sim/world/world.h"'
    red doors src/agent/seal/planted.c '#include "agent/config/config.h"'
    red doors src/agent/serve/planted.c '#include "agent/host/internal.h"'
    red doors src/supervise/planted.c '#include "agent/guardian/spawn.h"'
    red doors src/client/planted.c '#include "agent/config/config.h"'
    red doors src/planted/planted.c 'int nothing;'
    red doors src/agent/planted/planted.c 'int nothing;'
    rmdir "$scratch/tree/src/planted" "$scratch/tree/src/agent/planted"

    for name in 'clock_gettime(0, 0)' 'time(0)' 'clock ()' '__DATE__' '__builtin_readcyclecounter()' 'rand()' \
        'random()' 'getrandom(b, 8, 0)' 'arc4random_uniform(6)' 'malloc(1)' 'free(p)' '__builtin_alloca(9)' \
        'realloc(p, 2)' 'printf("x")' 'snprintf(b, 1, "x")' 'puts("x")' 'fputs("x", stderr)' 'errno' 'exit(1)' \
        '(_Thread_local int)' 'getenv("X")' '__asm__("nop")'; do
        red names $p "/* a comment */ int planted(void) { return /* and one */ $name; } // and another"
    done
    red names src/algorithms/planted.h '#define PLANTED(x) (malloc)(x)'

    red pipes test/planted.sh 'first=$(list | he''ad -n 1)'
    red pipes scripts/planted 'if list |''grep -Eq word; then exit; fi'
    red pipes planted/Makefile '	@list | he''ad'
    rmdir "$scratch"/tree/{test,scripts,planted}

    for name in 'TO''DO' 'FIX''ME' 'XX''X'; do red promises src/sim/planted.c "/* $name: later */"; done
    for name in /ho''me/someone/elector /ro''ot/elector /Us''ers/someone; do
        red paths src/cli/planted.c "static const char *where = \"$name\";"
    done

    red mentions $p '/* See src/core/planted_elsewhere.c. */'
    red mentions src/sim/world/planted.c '/* docs/planted-nowhere.md says why. */'

    red built $p 'int el_planted;'
    red statics $p 'int el_planted = 1;'
    red statics $p 'int el_planted;'
    red statics $p 'int el_planted(void); int el_planted(void) { static int calls; return ++calls; }'
    red statics $p 'int el_planted(void); int el_planted(void) { static int calls = 7; return ++calls; }'
    red statics $p 'extern const int el_other; const int *el_planted = &el_other;'
    red statics $p '_Thread_local int el_planted;'
    red statics $p 'int el_planted __attribute__((common));'
    red statics $p 'static void first(void) {} __attribute__((section(".init_array"))) void (*el_planted)(void) = first;'
    red symbols $p 'int putchar(int); int el_planted(void) { return putchar(7); }'
    red symbols $q 'long time(long *); long el_planted(void) { return time(0); }'
    red symbols $q 'int el_missing(void); int el_planted(void) { return el_missing(); }'
    printf 'ok    %-9s %s\n' proof "each check above turned red on what was planted for it ($planted times)"
}

# ---- The verdict ----------------------------------------------------------------------------------

objects=$BUILD/CMakeFiles/elector_core.dir
if [ ! -d "$objects" ]; then
    echo "FAIL  $objects: not there; build the release first (make test does)"
    exit 1
fi

for check in $checks; do
    purpose=$(sed -n "s/^check_$check() { # //p" "test/style/run.sh")
    found=$("check_$check" . "$objects")
    if [ -z "$found" ]; then
        printf 'ok    %-9s %s\n' "$check" "$purpose"
    else
        printf 'FAIL  %-9s %s\n' "$check" "$purpose"
        sed 's/^/      /' <<<"$found"
        failed=1
    fi
done
if [ "$failed" -eq 0 ]; then prove_the_checks; fi
exit $failed
