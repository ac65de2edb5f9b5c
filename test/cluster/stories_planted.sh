# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# Two tales in which a lease that is counted wrongly would show, told with the program as it is and with the bug in it.

# Answers come late; then the leader is not heard any more. Its lease counts from when it asked.
begin_late_answers() {
    found_relayed 3 '[group work]' 'lease = 6s' 'beat = 1s'
    start "${members[@]}"
    work_by_library "${members[@]}"
    await_leader
}
part_after_late_answers() {
    local m
    await 60 "all name one leader" agree
    look
    for m in $(others "$leader"); do order "$m" "$leader" delay 1800; done
    since_token=
    await 60 "leases are renewed by late answers" works_for_ms "$token" 6500
    order "$leader" 0 drop 1
    await_leader "$token"
    await 60 "the others work for long enough to see" works_for_ms "$token" 2000
}
works_for_ms() { # TOKEN MS: since now, by the stamps; begins anew with each token
    local last
    last=$(grep "^tick $1 " "$dir/ticks" | tail -n 1 | cut -d ' ' -f 3)
    [ "${since_token:-}" = "$1" ] || since_token=$1 since=$last
    [ $(((last - since) / 1000000)) -ge "$2" ]
}

# The leader is cut off, and both others are started again at once. They wait until what they promised is over.
tell_quick_restarts() {
    local m alone
    found_relayed 3 '[group work]' 'lease = 3s'
    start "${members[@]}"
    work_by_library "${members[@]}"
    await_leader
    await 60 "all name one leader" agree
    alone=$leader
    order "$alone" 0 drop 1
    order 0 "$alone" drop 1
    for m in $(others "$alone"); do kill -KILL "${agent[$m]}"; done
    # shellcheck disable=SC2046 # one word a member
    start $(others "$alone")
    await_leader "$token"
    await 60 "the others work for long enough to see" works_for_ms "$token" 2000
}

story_late_answers() {
    begin_late_answers
    part_after_late_answers
    judge
}

story_quick_restarts() {
    tell_quick_restarts
    judge
}

# The program with a bug of test/mutants/list in it.
plant() { # MUTANT
    local file libraries=()
    [ ! -f "$BUILD/libelector_agent.a" ] || libraries+=("$BUILD/libelector_agent.a")
    file=$(perl -e '
        my ($name, $out) = @ARGV; my ($in, $file, $from, $to) = (0, "", "", "");
        open(my $list, "<", "test/mutants/list") or die;
        while (<$list>) {
            if (/^=== (\S+)/) { $in = $1 eq $name }
            elsif (!$in) { next }
            elsif (/^file\s+(\S+)/) { $file = $1 }
            elsif (/^-(.*)$/s) { $from .= $1 }
            elsif (/^\+(.*)$/s) { $to .= $1 }
        }
        open(my $f, "<", $file) or die "$name: no such bug\n"; local $/; my $text = <$f>;
        my $count = () = $text =~ /^\Q$from\E/mg; die "$name: its lines occur $count times in $file\n" if $count != 1;
        $text =~ s/^\Q$from\E/$to/m; open(my $o, ">", $out); print $o $text; print $file;' "$1" "$dir/planted.c" 2> "$dir/plant.log") ||
        fail "$(head -n 1 "$dir/plant.log")"
    "${CC:-gcc}" -std=c17 -O1 -w -Iinclude -Isrc -I"$(dirname "$file")" '-DELECTOR_VERSION="planted"' src/cli/main.c "$dir/planted.c" \
        "$BUILD/libelector_cli.a" "$BUILD/libelector_sim.a" "$BUILD/libelector_check.a" "${libraries[@]}" "$BUILD/libelector_client.a" \
        "$BUILD/libelector_base.a" "$BUILD/libelector_core.a" -luv -lsodium -linih -ljansson -lmicrohttpd -pthread -o "$dir/elector" 2> "$dir/plant.log" || fail "$(head -n 1 "$dir/plant.log")"
    ELECTOR=$dir/elector
}

expect_red() {
    ! witness || fail "the bug is there, and the witness saw nothing"
    grep -q 'worked on for' "$dir/witness" || fail "the witness saw something else: $(head -n 1 "$dir/witness")"
}

story_planted_lease_from_the_answer() {
    local round
    plant quorum-lease-from-the-answer
    begin_late_answers
    for ((round = 0; round < 3; round++)); do # by how much depends on when the network parts: 0.8 s or 1.8 s
        part_after_late_answers
        witness || break
        order 0 0 drop 0
        order 0 0 delay 0
    done
    expect_red
}

story_planted_no_silence_after_a_restart() {
    plant quorum-speaks-at-once
    tell_quick_restarts
    expect_red
}
