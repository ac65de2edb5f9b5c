# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# File systems that do not answer: frozen for a snapshot, or with a disk that hangs. No lease ends, because no lease needs a disk.

goes_on() { # WHERE: the leader works for three leases more, at a tick every 2 ms. The lease outlasts what a busy machine does to agents.
    await 60 "the work goes on $1" has_ticks "$token" $(($(ticks "$token ") + 2250))
}
same_leader() { # TOKEN WHEN
    look
    [ "$token" = "$1" ] || fail "token $token leads $2, not $1"
}

# All files of all members are on it: state files, recordings, sockets, configurations, and the logs. The leader's guardian dies
# meanwhile, so that another is started; the next frost finds it stopped.
story_frozen_disk() {
    local first old m guardian
    make_disk "$dir/c"
    for m in a b c; do ln -s "c/$m.log" "$dir/$m.log"; done
    begin 3 '[group work]' 'lease = 1500ms'
    await 60 "all name one leader" agree
    await 60 "$leader is guarded" is_guarded "$leader"
    first=$token guardian=$(guardian_of "$leader")
    freeze "$dir/c"
    kill -KILL "$guardian"
    goes_on "on a frozen disk"
    thaw
    await 60 "all name one leader" agree
    same_leader "$first" "after the frost"
    await 60 "another guards $leader" is_guarded_anew "$leader" "$guardian"
    guardian=$(guardian_of "$leader")
    kill -STOP "$guardian"
    freeze "$dir/c"
    goes_on "on a frozen disk, beside a guardian that is stopped"
    kill -CONT "$guardian"
    old=$leader
    kill -KILL "${agent[$old]}"
    await_leader "$token"
    thaw
    "$ELECTOR" replay "$dir"/c/*/elector.state.flight > "$dir/replay" 2>&1 || fail "no replay: $(head -n 1 "$dir/replay")"
    [ "$(grep -c ': agrees' "$dir/replay")" = 3 ] || fail "a recording does not agree: $(head -n 1 "$dir/replay")"
    judge
}

# ---- A disk that hangs, and who waits for it ----

trace_agent() { # MEMBER OPTION...: strace, with the path of each descriptor
    local m=$1
    shift
    export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 # which does not work beside a tracer
    strace -f -y -p "${agent[$m]}" -o "$dir/strace.out" "$@" 2> "$dir/strace.log" &
    await 30 "the tracer is attached" traces_or_cannot
    ! grep -q 'not permitted' "$dir/strace.log" || skip "no tracing here: $(head -n 1 "$dir/strace.log")"
}

# Calls of the loop's thread, whose number is the process's, that name a path or go to a file; what goes to memory or to a device
# does not wait for a disk, and the log is not its matter. What it does to leave is not looked at.
calls_for_a_disk() { # PID
    sed -n "s/^$1  *//p" "$dir/strace.out" | grep -vE '^(close|epoll_[a-z]*|\+\+\+|---|<\.\.\.)' |
        grep -E '^[a-z0-9_]+\(([0-9]+<|AT_FDCWD[^,]*, "|")/' | grep -vE '^[a-z0-9]+\(([0-9]+<|AT_FDCWD[^,]*, "|")(/memfd:|/dev/|/proc/)|^write\(2<'
}

# An election by raft needs the disk; the leader's does not answer for four of its leases. It goes on leading, and says so.
story_fsync_hangs() {
    local first old
    begin 3 '[group work]' 'lease = 1500ms' '[group another]' 'algorithm = raft'
    await 60 "all name one leader" agree
    first=$token old=$leader
    await 60 "$old is guarded" is_guarded "$old"
    trace_agent "$old" -e 'trace=%file,%desc' -e 'inject=fsync:delay_enter=6000000:when=1'
    "$ELECTOR" campaign another --url "$(url "$old")" > "$dir/campaign.log" 2>&1 &
    await_log "$old" 'the disk has not written the state file .* keeps what it leads'
    kill -KILL "$(guardian_of "$old")"
    goes_on "while the disk hangs"
    await_log "$old" 'wrote the state file after [1-9]'
    await 60 "the disk has let an election through" grep -q elected "$dir/campaign.log"
    same_leader "$first" "after the disk has hung"
    ! calls_for_a_disk "${agent[$old]}" > "$dir/calls" || fail "the loop calls for a disk: $(head -n 1 "$dir/calls")"
    grep -q "^[0-9]* *fsync(" "$dir/strace.out" || fail "nobody has called fsync"
    judge
}
