#!/usr/bin/env bash
# Plants each known bug of the list in a copy of its file, links it into the test that should notice, and
# expects that test to fail; where the block names a row of test/check/list, links it into the command too, and expects
# the checker to come to another verdict there. A block may name a case of test/run, a story of test/cluster, or, as `engine`, a story of
# test/engines instead: it is run with a command or an elector-engine that has the bug, and what it waits for has a few seconds.
#
#   run.sh             all of them, on all processors
#   run.sh NAME        one, or those that a pattern names; the output of its test is shown
#   run.sh --part I/N  the I-th of N parts, I from 1, on one processor: as ctest runs them. Of bugs whose file, test and block the last
#                      commit and the working tree leave alone, a third: each commit another one (ELECTOR_MUTANTS=all: all of them)
#
# A test ends with its first failure: nothing is learnt from the rest. Objects of tests, libraries and command are those that
# the build has made; only the file with the bug is compiled.
# Environment: BUILD, a built release folder; PATIENCE, the seconds that a test has (120): who needs more is tried again.
set -euo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C
build=${BUILD:-build/release}
only='*' part=1 parts=1 processes=$(nproc) show=
case ${1-} in
'') ;;
--part) IFS=/ read -r part parts <<<"${2-}" && processes=1 ;;
-*) echo "usage: run.sh [NAME|--part I/N]" >&2 && exit 2 ;;
*) only=$1 show=1 ;;
esac
[[ $part =~ ^[1-9][0-9]*$ && $parts =~ ^[1-9][0-9]*$ && $part -le $parts ]] || { echo "run.sh: $2 is no part: 1/4" >&2 && exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-gcc}
flags=(-std=c17 -O1 -Iinclude -Isrc -Itest -w "-DELECTOR_SOURCE_DIR=\"$PWD\"" '-DELECTOR_VERSION="mutant"')
libraries=("$build/libelector_cli.a" "$build/libelector_check.a" "$build/libelector_sim.a" "$build/libelector_agent.a"
    "$build/libelector_client.a" "$build/libelector_base.a" "$build/libelector_core.a" -luv -lsodium -linih -ljansson -lmicrohttpd -lyaml -pthread)

# What the last commit and the working tree changed, and the blocks that were there before; no file: all bugs are tried.
changes=
if [ "$parts" -gt 1 ] && [ "${ELECTOR_MUTANTS:-}" != all ] && git rev-parse -q --verify HEAD~1 > /dev/null 2>&1; then
    changes=$work/changes
    { git rev-parse HEAD && git diff --name-only HEAD~1 && git show HEAD~1:test/mutants/list | sed -n 's/^=== /=== /p'; } > "$changes"
fi

# One folder per bug: why, file, test, check, run, story, engine, hangs, first; mutant.c, the file with the bug in it, or `stale`, which says why there is
# none. Prints the folders of this part, a line for each test: the bugs of a test are in one part, and the tests take turns.
perl -e '
    my ($work, $only, $part, $parts, $changes) = @ARGV;
    my (@order, %of, $one, %is_changed, $commit);
    if ($changes) {
        open(my $f, "<", $changes) or die "$changes: $!\n";
        chomp(my @lines = <$f>);
        $commit = shift @lines;
        $is_changed{$_} = 1 for @lines;
    }
    my $has_its_turn = sub { # in one commit of three, if nothing of it has changed
        my $one = shift;
        my $test = $one->{test} // "";
        return 1 if !$changes || !$is_changed{"=== $one->{name}"} || $is_changed{$one->{file}} || grep { m{^test/\Q$test\E(\.c|/)} } keys %is_changed;
        my $sum = 0;
        $sum = ($sum * 31 + ord) % 1000003 for split //, "$one->{name} $commit";
        return $sum % 3 == 0;
    };
    while (<STDIN>) {
        if (/^=== (\S+)/) { $one = { name => $1, from => "", to => "" }; push @order, $one }
        elsif (!defined $one || /^\s*$/) { next }
        elsif (/^(why|file|test|check|run|story|engine|hangs|first)\s+(.*)$/) { $one->{$1} = $2 }
        elsif (/^-(.*)$/s) { $one->{from} .= $1 }
        elsif (/^\+(.*)$/s) { $one->{to} .= $1 }
        else { die "mutants: cannot read: $_" }
    }
    my $pattern = join "", map { $_ eq "*" ? ".*" : $_ eq "?" ? "." : quotemeta } split //, $only;
    for (grep { $_->{name} =~ /^$pattern$/ } @order) { push @{ $of{ $_->{test} // ($_->{check} ? "check/$_->{check}" : $_->{run} ? "run/$_->{run}" : $_->{story} ? "story/$_->{story}" : "engine/$_->{engine}") } }, $_ }
    my @tests = sort keys %of;
    for my $i (grep { $_ % $parts == $part - 1 } 0 .. $#tests) {
        my @folders;
        for my $one (@{ $of{ $tests[$i] } }) {
            my $dir = "$work/$one->{name}";
            my $text = do { open(my $f, "<", $one->{file}) or die "$one->{file}: $!\n"; local $/; <$f> };
            my $count = () = $text =~ /^\Q$one->{from}\E/mg;
            next if $count == 1 && !$has_its_turn->($one);
            mkdir $dir or die "mutants: the list has two called $one->{name}\n";
            my $put = sub { open(my $f, ">", "$dir/$_[0]") or die "$dir: $!\n"; print $f $_[1] };
            $put->($_, $one->{$_}) for grep { defined $one->{$_} } qw(why file test check run story engine hangs first);
            $text =~ s/^\Q$one->{from}\E/$one->{to}/m;
            $count == 1 ? $put->("mutant.c", $text) : $put->("stale", "its lines occur $count times in $one->{file}");
            push @folders, $dir;
        }
        print join(" ", @folders), "\n" if @folders;
    }' "$work" "$only" "$part" "$parts" "$changes" < test/mutants/list > "$work/list"

# The objects that the build made of a test, one test each: a folder is as many tests.
objects_of() { # TEST
    local source
    while read -r source; do
        source=${source%.c}
        source=${source#test/}
        echo "$build/test/CMakeFiles/${source//\//.}.dir/$source.c.o"
    done < <(compgen -G "test/$1.c" || compgen -G "test/$1/*.c")
}

run_test() { # MUTANT-FOLDER RUNS
    CMOCKA_TEST_ABORT=1 ELECTOR_RUNS=$2 ELECTOR_GIVE_UP_S=4 timeout "$patience" "$build/test/contain" "$1/test.bin"
}

# A mutant counts as found when a test that passes without it fails or traps with it. That it does not end says nothing, unless
# the list says that it hangs: the machine may have been busy.
find_by_test() { # MUTANT-FOLDER TEST
    local object status file beside
    file=$(< "$1/file")
    ulimit -t "$patience" # what it has started and lost must not run for ever
    for object in $(objects_of "$2"); do
        # What the test has besides the libraries, such as files of an engine.
        mapfile -t beside < <(find "${object%%.dir/*}.dir/__" -name '*.o' ! -path "*/$file.o" 2> /dev/null)
        $cc "$object" "$1/mutant.o" "${beside[@]}" "${libraries[@]}" -lcmocka -o "$1/test.bin" || return 2
        status=0
        [ ! -e "$1/first" ] || ELECTOR_FIRST_RUN=$(< "$1/first") run_test "$1" 10 || status=$?
        [ "$status" -ne 0 ] || run_test "$1" 30000 || status=$?
        case $status in
        0) ;;
        124 | 152) return 3 ;; # its time was over, or its share of the processor's
        *) return 0 ;;
        esac
    done
    return 1
}

# And when the checker comes to another verdict. That it comes to none in time does not count.
find_by_check() { # MUTANT-FOLDER ROW
    local status=0
    link_command "$1" || return 2
    ELECTOR=$1/elector test/check/run.sh --row "$2" || status=$?
    case $status in
    1) return 0 ;;
    2) return 2 ;;
    *) return 1 ;;
    esac
}

link_command() { # MUTANT-FOLDER
    $cc "$build/CMakeFiles/elector.dir/src/cli/main.c.o" "$1/mutant.o" "${libraries[@]}" -o "$1/elector" || return 2
}

link_engine() { # MUTANT-FOLDER
    local file beside
    file=$(< "$1/file")
    mapfile -t beside < <(find "$build/CMakeFiles/elector_engines.dir" -name '*.o' ! -path "*/$file.o")
    $cc "$build/CMakeFiles/elector-engine.dir/src/engines/main.c.o" "$1/mutant.o" "${beside[@]}" "${libraries[@]}" -lcurl -lzookeeper_st -o "$1/elector-engine" || return 2
}

# And when a script that runs the command fails. One that cannot be told on this machine says nothing, nor does a server of a store
# that does not start in time.
find_by_script() { # MUTANT-FOLDER run|story|engine NAME
    local status=0 words wait_s=6 elector=$1/elector
    case $2 in
    run)
        words=(test/run/run.sh "$3")
        link_command "$1" || return 2
        $cc "$build/test/CMakeFiles/run.fake.dir/run/fake.c.o" "$1/mutant.o" "${libraries[@]}" -o "$1/run.fake" || return 2
        ;;
    story)
        words=(test/cluster/run.sh "$3")
        link_command "$1" || return 2
        ;;
    engine)
        words=(test/engines/run.sh "$3")
        elector=$build/elector wait_s=12
        link_engine "$1" || return 2
        export ELECTOR_ENGINES_DIR=$1
        ;;
    esac
    CMOCKA_TEST_ABORT=1 ELECTOR_PATIENCE=$wait_s ELECTOR=$elector FAKE=$1/run.fake BUILD=$build timeout "$patience" "$build/test/contain" "${words[@]}" > "$1/told" 2>&1 ||
        status=$?
    cat "$1/told"
    ! grep -q "^skip " "$1/told" || return 4
    ! grep -qE "^FAIL $3: (it told no end|not in time: .*(serves|answers|is ready|listens))$" "$1/told" || [ "$2" != engine ] || return 3
    case $status in
    0) return 1 ;;
    124) return 3 ;;
    *) return 0 ;;
    esac
}

report() { # MUTANT-FOLDER HOW STATUS BEGAN
    local verdict=missed
    case $3 in
    0) verdict=found ;;
    2) verdict=stale ;;
    3) verdict=hung ;;
    4) verdict=skipped ;;
    esac
    [ "$verdict" != hung ] || [ ! -e "$1/hangs" ] || verdict='found by hanging'
    printf '%-7s %-40s %6d ms  %-32s %s\n' "$verdict" "${1##*/}" $(((${EPOCHREALTIME/./} - $4) / 1000)) "$2" "$(< "$1/why")"
}

try() { # MUTANT-FOLDER
    local dir=$1 began=${EPOCHREALTIME/./} status=0 file
    file=$(< "$dir/file")
    if [ -e "$dir/stale" ] || ! $cc -I"${file%/*}" "${flags[@]}" -c "$dir/mutant.c" -o "$dir/mutant.o" 2> "$dir/log"; then
        echo "stale   ${dir##*/}: $(cat "$dir/stale" "$dir/log" 2> /dev/null | tail -n 1)"
        return
    fi
    if [ -e "$dir/test" ]; then
        (find_by_test "$dir" "$(< "$dir/test")") > "$dir/log" 2>&1 || status=$?
        report "$dir" "$(< "$dir/test")" "$status" "$began"
    fi
    if [ -e "$dir/check" ]; then
        began=${EPOCHREALTIME/./} status=0
        find_by_check "$dir" "$(< "$dir/check")" >> "$dir/log" 2>&1 || status=$?
        report "$dir" "check/$(< "$dir/check")" "$status" "$began"
    fi
    local kind
    for kind in run story engine; do
        [ -e "$dir/$kind" ] || continue
        began=${EPOCHREALTIME/./} status=0
        (find_by_script "$dir" "$kind" "$(< "$dir/$kind")") >> "$dir/log" 2>&1 || status=$?
        report "$dir" "$kind/$(< "$dir/$kind")" "$status" "$began"
    done
    [ -z "$show" ] || awk '{ print "        " $0 }' "$dir/log" >&2 # not into the table: it says what it likes, and ends without a newline
    rm -f "$dir/test.bin" "$dir/elector" "$dir/elector-engine" "$dir/run.fake" # a thousand of them fill a small disk
}
try_each() { # MUTANT-FOLDER...
    local dir
    for dir in "$@"; do try "$dir"; done
}

export -f objects_of run_test find_by_test link_command link_engine find_by_check find_by_script report try try_each
export build cc work show
export patience=${PATIENCE:-120} # seconds
arrays=$(declare -p flags libraries)
export arrays
xargs -P "$processes" -I{} bash -c 'eval "$arrays"; try_each {}' < "$work/list" | tee "$work/table"

# Those that did not end have twice the time.
patience=$((2 * patience))
for hung in $(awk '$1 == "hung" { print $2 }' "$work/table"); do
    echo "again   $hung did not end, and the list does not say that it hangs"
    awk -v name="$hung" '$2 != name' "$work/table" > "$work/rest"
    mv "$work/rest" "$work/table"
    try "$work/$hung" | tee -a "$work/table"
done
total=$(find "$work" -mindepth 2 -maxdepth 2 \( -name test -o -name check -o -name run -o -name story -o -name engine \) | wc -l)
total=$((total - $(grep -c '^skipped ' "$work/table" || true)))
awk -v total="$total" -v checks="$(find "$work" -mindepth 2 -maxdepth 2 -name check | wc -l)" '
    / check\// { checked += $1 == "found" }
    $1 == "found" { found++ }
    $1 == "found" && $2 == "by" { hanging = hanging " " $4 }
    $1 == "hung" { hung = hung " " $2 }
    END {
        printf "found %d of %d: by tests %d of %d, by the checker %d of %d\n", found, total, found - checked, total - checks, checked, checks
        if (hanging) print "found by hanging:" hanging
        if (hung) print "hung twice, which is no verdict; say `hangs` and why in the list, or mend the test:" hung
        printf "%d passed, %d failed\n", found, total - found
        exit !(found == total)
    }' "$work/table"
