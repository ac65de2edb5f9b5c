#!/usr/bin/env bash
# Runs the commands that the documents show, and compares what they print with what the documents say they print.
#
# In a fenced block, `$ COMMAND` is run and the lines below it are its output. A block without `$` is not run. A command
# continues after a `\` and up to the end of a here-document. `…` on a line of its own stands for any lines.
# After the output of the command itself, lines that jobs in the background print may follow; these are waited for.
#
# Masked in both texts: durations, tokens, timestamps, process ids, ports, paths of locks, keys. `elector sim` and the
# other commands that give the same bytes everywhere are compared as they are, except for the time that they took.
#
# Then every link and path that a document names must exist, every simulation that it names must run, and every test that the
# threat model names must exist; and planted mistakes must be found.
#
# Environment: ELECTOR, the program, and BUILD, its build folder (default: the release build's).
set -uo pipefail

# `elector run` looks for an agent below /run, and keeps locks in the home folder that /etc/passwd names: have both of our
# own, if the kernel lets us.
if [ "${1-}" != --alone ]; then
    for options in -m -rm; do
        if unshare "$options" mount -t tmpfs tmpfs /run 2>/dev/null; then exec unshare "$options" "$0" --alone; fi
    done
fi

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
export LC_ALL=C.UTF-8
root=$PWD
ELECTOR=$(realpath "${ELECTOR:-build/release/elector}")
BUILD=$(realpath "${BUILD:-build/release}")
export ELECTOR BUILD
executed='README.md docs/getting-started.md docs/operations.md docs/laboratory.md'
patience_s=30 # for what a job in the background prints
limit_s=240   # for all of it
failed=0
unset ELECTOR_URL
scratch=$(mktemp -d) || exit

# ---- Beginning and end ----------------------------------------------------------------------------

# The processes that work in a folder, which is how those are known that a document has started.
inside() { find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$1*" -printf '%h\n' 2>/dev/null | sed 's|/proc/||'; }
end_all() {
    local pids tries=0
    while mapfile -t pids < <(inside "$scratch") && [ ${#pids[@]} -gt 0 ] && [ $((tries++)) -lt 100 ]; do
        kill -KILL "${pids[@]}" 2>/dev/null
        sleep 0.05
    done
}
clean_up() {
    cd /
    exec 8>&-
    end_all
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 143' TERM HUP INT

# If a command hangs, the processes of the test end and so does the test. The pipe tells when the test has ended.
exec 8> >(cd / && read -rt "$limit_s"; [ $? -le 128 ] || { echo "FAIL  not within $limit_s s" >&2; kill -TERM $$; end_all; })

# What the documents take for granted: the program on the path, the library installed, the tree around.
furnish() {
    mkdir "$scratch/bin"
    ln -s "$ELECTOR" "$scratch/bin/elector"
    # shellcheck disable=SC2016 # for the shells that read the files
    {
        printf '#!/bin/sh\n[ "$*" = run ] && exec "%s/scripts/show"\n' "$root" >"$scratch/bin/make"
        printf '#!/bin/sh\necho "-I%s/include -L%s -Wl,-rpath,%s -lelector -ljansson"\n' "$root" "$BUILD" "$BUILD" >"$scratch/bin/pkg-config"
    }
    chmod +x "$scratch/bin/make" "$scratch/bin/pkg-config"
    export PATH=$scratch/bin:$PATH
    if [ "$alone" ]; then
        sed -E "s#^([^:]*:[^:]*:$(id -u):[^:]*:[^:]*:)[^:]*#\1$scratch#" /etc/passwd >"$scratch/passwd"
        mount -t tmpfs -o mode=0755 tmpfs /run && mount --bind "$scratch/passwd" /etc/passwd || exit
    else
        export ELECTOR_URL=file:$scratch
    fi
}
alone=${1:+yes}

# Three UDP ports that nobody has now, for those that the documents name.
find_ports() {
    local used port
    ports=()
    used=$(cat /proc/net/udp /proc/net/tcp 2>/dev/null)
    while [ ${#ports[@]} -lt 3 ]; do
        port=$((20000 + RANDOM % 10000))
        [[ $used == *:$(printf '%04X' "$port")' '* || " ${ports[*]-} " == *" $port "* ]] || ports+=("$port")
    done
}
with_ports() { local text=${1//:7401/:${ports[0]}} && text=${text//:7402/:${ports[1]}} && echo "${text//:7403/:${ports[2]}}"; }

# ---- Comparing ------------------------------------------------------------------------------------

# What one machine does at one time; the same on both sides.
mask() { # COMMAND, then the text on standard input
    local script='s/[[:space:]]+$//; s/[A-Za-z0-9+\/]{43}=/KEY/g; s/\b[0-9a-f]{32}\b/ID/g'
    case $1 in
    'elector sim '* | 'elector compare '* | 'elector detect '* | 'elector algorithms'* | 'elector plan '* | 'elector init '*) ;;
    'elector check '*) script+='; s/^  took .*/  took/' ;;
    *)
        script+='; s/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?/TIME/g; s/\b[0-9][0-9.,]*[0-9]* (ns|µs|ms|s)\b/DURATION/g'
        script+='; s/\b(127\.0\.0\.[0-9]+):[0-9]+/\1:PORT/g; s/(as|by) [^ ]+:[0-9]+/\1 PROCESS/; s/process [0-9]+/process N/'
        script+='; s/ in \/[^ ]+$/ in PATH/; s/\b[0-9]{1,3}(,[0-9]{3})+\b/N/g; s/\b[0-9]{4,}\b/N/g; s/\+[0-9N]+/+N/g'
        script+='; s/ +/ /g; s/ $//'
        ;;
    esac
    # Who leads in the show, and how often, depends on the machine.
    [ "$1" != 'make run' ] || script+="; s/\\b[abc]('s| leads)/M\\1/g; s/--to [abc]/--to M/; s/^[0-9]+ leaders/N leaders/; s/ token [0-9]+/ token N/"
    sed -E "$script"
}

# Whether a text is these lines, which are patterns of the shell's: … is any lines, and with `gaps` there may be others between
# and around them.
matches() { # FILE whole|gaps PATTERN...
    local file=$1 how=$2 line text pattern=''
    shift 2
    text=$'\n'$(cat "$file" && printf .)
    for line in "$@"; do
        [ "$how" = whole ] || pattern+='*'
        if [ "$line" = … ]; then pattern+='*'; else pattern+=$'\n'$line; fi
    done
    pattern+=$'\n'
    [ "$how" = whole ] || pattern+='*'
    # shellcheck disable=SC2053 # a pattern is meant
    [[ ${text%.} == $pattern ]]
}

# How many of the lines are the whole output of the command, the most that fit. Fails: none do.
fits() { # FILE PATTERN...
    local file=$1 count
    shift
    for ((count = $#; count >= 0; count--)); do
        if matches "$file" whole "${@:1:count}"; then echo "$count" && return 0; fi
    done
    return 1
}

complain() { # WHAT SHOWN-FILE PRINTED-FILE
    failed=1
    echo "FAIL  $document:$line_number: $1: \$ $command"
    diff -u --label shown --label printed "$2" "$3" | sed -n "3,32s/^/      /p"
}

# ---- Running a document ---------------------------------------------------------------------------

run_command() { # runs $command, which is shown with the lines of $shown
    local count end=$((SECONDS + patience_s)) lines running
    if [[ $command =~ \&(\ [a-z]+=\$!)?$ ]]; then
        : >printed
        eval "$(with_ports "$command")" </dev/null >>background 2>&1
    else
        eval "$(with_ports "$command")" </dev/null >printed 2>&1
    fi
    mask "$command" <printed >printed.masked
    printf '%s\n' ${shown[@]+"${shown[@]}"} | sed '/./,$!d' | mask "$command" | where_locks_are >shown.masked
    mapfile -t lines < <(sed 's/[][*?\\]/\\&/g' shown.masked)
    if ! count=$(fits printed.masked ${lines[@]+"${lines[@]}"}); then
        complain "prints something else" shown.masked printed.masked
        return
    fi
    [ "$count" -lt ${#lines[@]} ] || return 0
    while running=$(jobs -rp) && background_since "$seen" && ! matches background.masked gaps "${lines[@]:count}"; do
        if [ -z "$running" ]; then
            cat background.masked >>printed.masked
            complain "prints something else" shown.masked printed.masked
            return
        elif [ $SECONDS -ge $end ]; then
            printf '%s\n' "${lines[@]:count}" >shown.masked
            complain "what follows in the background is something else" shown.masked background.masked
            return
        fi
        sleep 0.02
    done
    seen=$((seen + $(wc -l <background.masked)))
}
where_locks_are() { if [ "$alone" ]; then cat; else grep -v '^elector run: no agent is configured'; fi; } # it was told
background_since() { tail -n +$(($1 + 1)) background | mask "$command" >background.masked; } # LINES that were seen before

finish_command() {
    [ -n "$command" ] || return 0
    commands=$((commands + 1))
    run_command
    command='' shown=()
}

# In a shell and a folder of its own, so that what one document sets does not reach the next.
play() { # DOCUMENT [LABEL]
    local document=${2:-$1} file line fence='' until='' command='' shown=() commands=0 seen=0 line_number=0 number=0 indent=''
    file=$(realpath "$1")
    mkdir -p "$scratch/play"
    cd "$scratch/play" || exit
    ln -s "$root/scenarios" "$root/examples" .
    : >background
    while IFS= read -r line <&9; do
        number=$((number + 1))
        if [[ $line =~ ^([[:space:]]*)\`\`\` ]]; then
            indent=${BASH_REMATCH[1]}
            finish_command
            if [ -n "$fence" ]; then fence=''; else fence=yes; fi
            continue
        fi
        [ -n "$fence" ] || continue
        line=${line#"$indent"}
        if [ -n "$until" ]; then
            command+=$'\n'$line
            [ "$line" != "$until" ] || until=''
        elif [[ $command == *\\ ]]; then
            command=${command%\\}$line
        elif [[ $line == '$ '* ]]; then
            finish_command
            command=${line#\$ } line_number=$number
            [[ ! $command =~ \<\<\'([A-Z]+)\' ]] || until=${BASH_REMATCH[1]}
        elif [ -n "$command" ]; then
            shown+=("$line")
        fi
    done 9<"$file"
    finish_command
    cd "$root" || exit
    number=0
    while [ -n "$(inside "$scratch/play")" ] && [ $((number++)) -lt $((patience_s * 20)) ]; do sleep 0.05; done
    for line in $(inside "$scratch/play"); do
        failed=1
        echo "FAIL  $document leaves process $line running: $(tr '\0' ' ' <"/proc/$line/cmdline" 2>/dev/null)"
    done
    [ "$commands" -gt 0 ] || { failed=1 && echo "FAIL  $document: no command in it was found"; }
    [ "$failed" -ne 0 ] || echo "ok    $document: its $commands commands print what it shows"
    return "$failed"
}

perform() { # DOCUMENT [LABEL]
    find_ports
    # Before everything else on a busy machine, where that is allowed: there a lease of a second could end, and then another
    # member leads than the document says.
    (trap - EXIT && failed=0 && { chrt --rr --pid 1 "$BASHPID" >/dev/null 2>&1 || true; } && play "$@") 2>"$scratch/errors"
    local verdict=$?
    grep -vE ': line [0-9]+: +[0-9]+ (Killed|Terminated) ' "$scratch/errors" >&2 # of a shell whose jobs were ended
    end_all
    rm -rf "$scratch/play"
    return $verdict
}

# ---- Links and code ------------------------------------------------------------------------------

documents() { printf '%s\n' "$1"/*.md "$1"/docs/*.md; }

anchors() { # of a document's headings
    sed -n 's/^##* //p' "$1" | sed -E 's/`//g; s/\[([^]]*)\]\([^)]*\)/\1/g' | tr '[:upper:]' '[:lower:]' |
        sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}

check_links() { # TREE
    local file link to place
    while read -r file; do
        while read -r link; do
            to=${link%%#*} place=
            [[ $link != *'#'* ]] || place=${link#*#}
            to=$(dirname "$file")/$to
            [ "${link%%#*}" ] || to=$file
            if [ ! -e "$to" ]; then
                echo "$file: link to $link: there is no such file"
            elif [ -n "$place" ] && ! grep -qxF -- "$place" <(anchors "$to"); then
                echo "$file: link to $link: there is no such heading"
            fi
        done < <(grep -oE '\]\([^)]+\)' "$file" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:')
    done < <(documents "$1")
}

check_c() { # TREE: the C that README shows is a part of an example
    local line
    awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$1/README.md" | while IFS= read -r line; do
        grep -qxF -- "$line" "$root"/examples/*.c || echo "$1/README.md: no example has the line: $line"
    done
}

check_commands() { # TREE: simulations that the text names, without their output, can be run
    local file command code
    for file in README.md docs/laboratory.md; do
        [ -e "$1/$file" ] || continue
        while read -r command; do
            code=0
            eval "${command//\\|/|}" >/dev/null 2>&1 </dev/null || code=$?
            [ "$code" -le 1 ] || echo "$1/$file: $command: ends with $code"
        done < <(grep -oE '`elector (sim|algorithms)( [^`]*)?`' "$1/$file" | tr -d '`' | grep -vxF 'elector sim')
    done
}

# What a test is called in the table of attackers: ROOM.NAME is a source of test/ or fuzz/, `story NAME` one of the cluster's, `row
# NAME` one of the checker's.
has_test() { # NAME
    local name=${1#* }
    case $1 in
    'story '*) grep -qE "^story_${name//-/_}\(\)" test/cluster/stories*.sh ;;
    'row '*) grep -qE "^[a-z]+ *\\| $name *\\|" test/check/list ;;
    fuzz.*) [ -e "fuzz/${1#fuzz.}.c" ] ;;
    *) [ -e "test/${1//.//}.c" ] ;;
    esac
}
check_tests() { # TREE: each test that the threat model names exists, and it names some
    local file=$1/docs/threat-model.md name count=0
    [ -e "$file" ] || return
    while read -r name; do
        count=$((count + 1))
        has_test "$name" || echo "$file: there is no test \`$name\`"
    done < <(grep -oE '`((unit|walk|swarm|paper|fuzz)\.[a-z_.]+|(story|row) [a-z0-9-]+)`' "$file" | tr -d '`' | sort -u)
    [ "$count" -gt 0 ] || echo "$file: it names no test"
}

# ---- Proofs ---------------------------------------------------------------------------------------

plant() { # WHAT red|green DOCUMENT-TEXT
    local said verdict=green
    printf '%s\n' "$3" >"$scratch/planted.md"
    said=$(patience_s=2 perform "$scratch/planted.md" planted 2>&1) || verdict=red
    planted=$((planted + 1))
    [ "$verdict" = "$2" ] || { failed=1 && printf 'FAIL  %s: is %s\n%s\n' "$1" "$verdict" "$said"; }
}

prove() {
    planted=0
    plant "the output as shown" green $'```\n$ printf "one\\n[two] *\\n"\none\n[two] *\n```'
    plant "another line" red $'```\n$ printf "one\\ntwo\\n"\none\n2\n```'
    plant "a line too few" red $'```\n$ printf "one\\ntwo\\n"\none\n```'
    plant "a line too many" red $'```\n$ printf "one\\n"\none\ntwo\n```'
    plant "lines left out" green $'```\n$ seq 5\n1\n…\n5\n```'
    plant "no lines left out" red $'```\n$ seq 5\n1\n5\n```'
    plant "a token and a time" green $'```\n$ echo token 4711 after 3 ms\ntoken 2049 after 21.7 ms\n```'
    plant "a word beside a token" red $'```\n$ echo token 4711 after 3 ms\ntoken 2049 before 3 ms\n```'
    plant "another count of a simulation" red $'```\n$ elector sim bully --nodes 3 --quiet\nbully: all 3 name 3\n  messages    9   (Election 3, Answer 3, Coordinator 2)\n  turnaround  3 T\n```'
    plant "a job that prints later" green $'```\n$ sleep 0.2 && echo late &\n$ echo now\nnow\nlate\n```'
    plant "a job that prints something else" red $'```\n$ sleep 0.2 && echo late &\nnever\n```'
    plant "a job that is left running" red $'```\n$ sleep 77 &\n$ echo now\nnow\n```'
    plant "a here-document" green $'```\n$ cat <<\'END\'\none\nEND\none\n```'
    plant "a document without commands" red $'```\nmake run\n```'
    mkdir -p "$scratch/tree/docs"
    printf '# A heading\n[one](docs/ONE.md) [two](docs/ONE.md#a-heading) `elector sim bully --nodes 5 --planted`\n```c\nint planted;\n```\n' >"$scratch/tree/README.md"
    printf '[back](../README.md#a-heading) [gone](gone.md) [here](#nothing)\n' >"$scratch/tree/docs/ONE.md"
    printf '`unit.agent.confine` `story garbage` `row quorum-late` `fuzz.seal` `unit.gone` `story gone` `row gone` `fuzz.gone`\n' >"$scratch/tree/docs/threat-model.md"
    planted=$((planted + 9))
    [ "$(check_tests "$scratch/tree" | wc -l)" -eq 4 ] || { failed=1 && echo "FAIL  four tests that do not exist are not found"; }
    [ "$(check_links "$scratch/tree" | wc -l)" -eq 3 ] || { failed=1 && echo "FAIL  three dead links are not found"; }
    [ "$(check_c "$scratch/tree" | wc -l)" -eq 1 ] || { failed=1 && echo "FAIL  code of no example is not found"; }
    [ "$(check_commands "$scratch/tree" | wc -l)" -eq 1 ] || { failed=1 && echo "FAIL  a command that makes no sense is not found"; }
    [ "$failed" -ne 0 ] || echo "ok    each of $planted planted texts was judged as it deserves"
}

# ---- The verdict ----------------------------------------------------------------------------------

furnish
for name in $executed; do
    said=$(perform "$root/$name" "$name") || failed=1
    echo "$said"
done
for check in links c commands tests; do
    found=$("check_$check" .)
    if [ -z "$found" ]; then
        echo "ok    $check"
    else
        failed=1
        printf 'FAIL  %s\n' "$check"
        sed 's/^/      /' <<<"$found"
    fi
done
prove
exit $failed
