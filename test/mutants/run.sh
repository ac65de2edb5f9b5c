#!/usr/bin/env bash
# Plants each known bug of the list in a copy of its file, links it into the test that should notice, and
# expects that test to fail; where the block names a row of test/check/list, links it into the command too, and expects
# the checker to come to another verdict there. With a name as argument, only that one, and its test's output is shown.
# Needs BUILD, a built release folder. PATIENCE: the seconds that a test has (120); who needs more is tried again, alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build/release}
only=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-gcc}
flags=(-std=c17 -O1 -Iinclude -Isrc -Itest -w "-DELECTOR_SOURCE_DIR=\"$PWD\"")

# Splits the list into one folder per mutant: why, file, test, check, hangs, from, to.
perl -e '
    my ($work, $dir) = (shift, undef);
    while (<STDIN>) {
        if (/^=== (\S+)/) { $dir = "$work/m/$1"; system("mkdir", "-p", $dir); }
        elsif (!defined $dir || /^\s*$/) { next }
        elsif (/^(why|file|test|check|hangs)\s+(.*)$/) { open(my $f, ">", "$dir/$1"); print $f "$2\n"; }
        elsif (/^-(.*)$/s) { open(my $f, ">>", "$dir/from"); print $f $1; }
        elsif (/^\+(.*)$/s) { open(my $f, ">>", "$dir/to"); print $f $1; }
        else { die "mutants: cannot read: $_" }
    }' "$work" < test/mutants/list

plant() { # MUTANT-FOLDER: writes mutant.c, whose lines `from` must occur exactly once
    perl -e '
        my ($file, $dir) = @ARGV;
        sub slurp { open(my $f, "<", $_[0]) or die "$_[0]: $!\n"; local $/; my $t = <$f>; $t }
        my ($text, $from, $to) = (slurp($file), slurp("$dir/from"), slurp("$dir/to"));
        my $count = () = $text =~ /^\Q$from\E/mg;
        die "its lines occur $count times in $file\n" if $count != 1;
        $text =~ s/^\Q$from\E/$to/m;
        open(my $out, ">", "$dir/mutant.c"); print $out $text;' "$(cat "$1/file")" "$1"
}

libraries=("$build/libelector_cli.a" "$build/libelector_check.a" "$build/libelector_sim.a" "$build/libelector_agent.a"
    "$build/libelector_client.a" "$build/libelector_base.a" "$build/libelector_core.a" -luv -lsodium -linih -ljansson -lmicrohttpd -pthread)

# A test is compiled once for all its mutants: that costs more than to plant, link and run most of them.
sources_of() { compgen -G "test/$1.c" || compgen -G "test/$1/*.c"; } # TEST
object_of() { echo "$work/t/${1//\//.}.o"; }                          # SOURCE
prepare() { # SOURCE: one that does not compile fails again, with its mutants
    $cc "${flags[@]}" -c "$1" -o "$(object_of "$1")" 2> /dev/null || true
}

# A mutant counts as found when a test that passes without it fails or traps with it. That it does not end says nothing, unless
# the list says that it hangs: the machine may have been busy.
find_by_test() { # MUTANT-FOLDER TEST
    local source status
    ulimit -t "$patience" # what it has started and lost must not run for ever
    for source in $(sources_of "$2"); do
        $cc "${flags[@]}" "$(object_of "$source")" "$1/mutant.o" "${libraries[@]}" -lcmocka -o "$1/test.bin" || return 2
        status=0
        ELECTOR_RUNS=30000 ELECTOR_GIVE_UP_S=4 timeout "$patience" "$build/test/contain" "$1/test.bin" || status=$?
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
    $cc "${flags[@]}" '-DELECTOR_VERSION="mutant"' src/cli/main.c "$1/mutant.o" "${libraries[@]}" \
        -o "$1/elector" || return 2
    ELECTOR=$1/elector test/check/run.sh --row "$2" || status=$?
    case $status in
    1) return 0 ;;
    2) return 2 ;;
    *) return 1 ;;
    esac
}

report() { # MUTANT-FOLDER HOW STATUS BEGAN
    local verdict=missed
    case $3 in
    0) verdict=found ;;
    2) verdict=stale ;;
    3) verdict=hung ;;
    esac
    [ "$verdict" != hung ] || [ ! -e "$1/hangs" ] || verdict='found by hanging'
    printf '%-7s %-40s %6d ms  %-32s %s\n' "$verdict" "$(basename "$1")" $((($(date +%s%N) - $4) / 1000000)) "$2" "$(cat "$1/why")"
}

try() { # MUTANT-FOLDER
    local dir=$1 began status=0
    began=$(date +%s%N)
    if ! plant "$dir" 2> "$dir/log" || ! $cc -I"$(dirname "$(cat "$dir/file")")" "${flags[@]}" '-DELECTOR_VERSION="mutant"' -c "$dir/mutant.c" -o "$dir/mutant.o" 2>> "$dir/log"; then
        echo "stale   $(basename "$dir"): $(tail -n 1 "$dir/log")"
        return
    fi
    if [ -e "$dir/test" ]; then
        find_by_test "$dir" "$(cat "$dir/test")" >> "$dir/log" 2>&1 || status=$?
        report "$dir" "$(cat "$dir/test")" "$status" "$began"
    fi
    if [ -e "$dir/check" ]; then
        began=$(date +%s%N)
        status=0
        find_by_check "$dir" "$(cat "$dir/check")" >> "$dir/log" 2>&1 || status=$?
        report "$dir" "check/$(cat "$dir/check")" "$status" "$began"
    fi
    [ -z "${SHOW:-}" ] || cat "$dir/log"
}

export -f sources_of object_of prepare plant find_by_test find_by_check report try
export build cc work
export patience=${PATIENCE:-120} # seconds
export SHOW=${only:+1}
arrays=$(declare -p flags libraries)
export arrays
mkdir "$work/t"
{ cat "$work"/m/${only:-*}/test 2> /dev/null || true; } | sort -u | while read -r test; do sources_of "$test"; done |
    xargs -P "$(nproc)" -I{} bash -c 'eval "$arrays"; prepare {}'
printf '%s\n' "$work"/m/${only:-*} | xargs -P "$(nproc)" -I{} bash -c 'eval "$arrays"; try {}' | tee "$work/table"

# Those that did not end have twice the time, and the machine to themselves.
patience=$((2 * patience))
for hung in $(awk '$1 == "hung" { print $2 }' "$work/table"); do
    echo "again   $hung did not end, and the list does not say that it hangs"
    awk -v name="$hung" '$2 != name' "$work/table" > "$work/rest"
    mv "$work/rest" "$work/table"
    try "$work/m/$hung" | tee -a "$work/table"
done
found=$(grep -c '^found' "$work/table" || true)
total=$(find "$work/m" -mindepth 2 -maxdepth 2 \( -name test -o -name check \) -path "$work/m/${only:-*}/*" | wc -l)
checked=$(grep -c ' check/' "$work/table" || true)
echo "found $found of $total: by tests $((found - $(grep -c '^found.* check/' "$work/table" || true))) of $((total - checked)), by the checker $(grep -c '^found.* check/' "$work/table" || true) of $checked"
names() { sed -n "s/^$1 *\([^ ]*\).*/\1/p" "$work/table" | tr '\n' ' '; } # VERDICT
grep -q '^found by hanging' "$work/table" && echo "found by hanging: $(names 'found by hanging')"
grep -q '^hung' "$work/table" && echo "hung twice, which is no verdict; say \`hangs\` and why in the list, or mend the test: $(names hung)"
echo "$found passed, $((total - found)) failed"
[ "$total" -gt 0 ] && [ "$found" -eq "$total" ]
