#!/usr/bin/env bash
# Plants each known bug of the list in a copy of its file, links it into the test that should notice, and
# expects that test to fail. With a name as argument, only that one, and its test's output is shown.
# Needs BUILD, a built release folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${BUILD:-build/release}
only=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc=${CC:-gcc}
flags=(-std=c17 -O1 -Iinclude -Isrc -Itest -w "-DELECTOR_SOURCE_DIR=\"$PWD\"")

# Splits the list into one folder per mutant: why, file, test, from, to.
perl -e '
    my ($work, $dir) = (shift, undef);
    while (<STDIN>) {
        if (/^=== (\S+)/) { $dir = "$work/m/$1"; system("mkdir", "-p", $dir); }
        elsif (!defined $dir || /^\s*$/) { next }
        elsif (/^(why|file|test)\s+(.*)$/) { open(my $f, ">", "$dir/$1"); print $f "$2\n"; }
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

# A mutant counts as found when a test that passes without it fails, traps or hangs with it.
try() { # MUTANT-FOLDER
    local dir=$1 name start took verdict=missed test source
    name=$(basename "$dir")
    start=$(date +%s%N)
    if ! plant "$dir" 2> "$dir/log" || ! $cc -I"$(dirname "$(cat "$dir/file")")" "${flags[@]}" -c "$dir/mutant.c" -o "$dir/mutant.o" 2>> "$dir/log"; then
        echo "stale   $name: $(tail -n 1 "$dir/log")"
        return
    fi
    test=$(cat "$dir/test")
    for source in $(compgen -G "test/$test.c" || compgen -G "test/$test/*.c"); do
        $cc "${flags[@]}" "$source" "$dir/mutant.o" "$build/libelector_sim.a" "$build/libelector_core.a" -lcmocka -o "$dir/test.bin" 2>> "$dir/log" || { verdict=stale; break; }
        if ! ELECTOR_RUNS=30000 timeout 120 "$dir/test.bin" >> "$dir/log" 2>&1; then verdict=found; break; fi
    done
    took=$(( ($(date +%s%N) - start) / 1000000 ))
    printf '%-7s %-40s %6d ms  %-26s %s\n' "$verdict" "$name" "$took" "$test" "$(cat "$dir/why")"
    [ -z "${SHOW:-}" ] || cat "$dir/log"
}

export -f plant try
export build cc work
export SHOW=${only:+1}
flags_text=$(printf '%q ' "${flags[@]}")
export flags_text
printf '%s\n' "$work"/m/${only:-*} | xargs -P "$(nproc)" -I{} bash -c 'eval "flags=($flags_text)"; try {}' | tee "$work/table"
found=$(grep -c '^found' "$work/table" || true)
total=$(find "$work/m" -mindepth 1 -maxdepth 1 -name "${only:-*}" | wc -l)
echo "$found passed, $((total - found)) failed"
[ "$total" -gt 0 ] && [ "$found" -eq "$total" ]
