# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# profile realtime: who gets SCHED_FIFO and locked memory, who does not, and what becomes of an agent that never waits again.

realtime_or_skip() { chrt -f 1 true 2> "$dir/chrt.log" || skip "no real-time scheduling here: $(head -n 1 "$dir/chrt.log")"; }
found_realtime() { # COUNT [LINE...]
    local m
    found "$@"
    for m in "${members[@]}"; do sed -i 's/^\[cluster\]/&\nprofile = realtime/' "$(conf "$m")"; done
}

# "FF 10": class and priority, of the process whose parent is PARENT and whose name is NAME
class() { ps -o cls=,rtprio= -p "$1" | awk '{ print $1, $2 }'; } # PID
child() { pgrep -o -P "$1" -x "$2"; }                              # PARENT NAME
is_class() { [ -n "$1" ] && [ "$(class "$1")" = "$2" ]; }        # PID CLASS
is_ordinary() {                                                  # PID: scheduling, memory and limit of a process that nobody has touched
    is_class "$1" 'TS -' && grep -qE '^VmLck:[[:space:]]+0 kB' "/proc/$1/status" &&
        grep -qE '^Max realtime timeout +unlimited' "/proc/$1/limits"
}
locks_memory() { grep -qE '^VmLck:[[:space:]]+[1-9]' "/proc/$1/status"; } # PID

# The work moves to another host if that one is quicker: then its keeper is looked at.
work_is_as_it_should() {
    local keeper command
    look
    keeper=$(child "${runner[$leader]}" elector-keeper) && [ -n "$keeper" ] || return 1
    command=$(child "$keeper" cluster-worker) && [ -n "$command" ] || return 1
    is_class "$keeper" 'FF 12' && is_ordinary "$command"
}

story_realtime() {
    local m old
    realtime_or_skip
    found_realtime 3
    start "${members[@]}"
    for m in "${members[@]}"; do
        await_log "$m" 'profile realtime: SCHED_FIFO and locked memory are granted'
        is_class "${agent[$m]}" 'FF 10' || fail "agent $m is $(class "${agent[$m]}")"
        await 30 "the guardian of $m is ahead of it" guardian_is_ahead "$m"
        [ -n "${ELECTOR_SANITIZED:-}" ] || locks_memory "${agent[$m]}" || fail "agent $m has no memory locked"
        await 30 "doctor at $m: $(cat "$dir/doctor-$m" 2> /dev/null)" doctor_says "$m" '^ok +realtime +the agent has SCHED_FIFO and locked memory'
    done
    work "${members[@]}"
    await_leader
    for m in "${members[@]}"; do await 30 "elector run at $m is as prompt as its agent" is_class "${runner[$m]}" 'FF 10'; done
    await 30 "the keeper is prompt, and its command an ordinary process" work_is_as_it_should
    look
    old=$leader
    kill -KILL "${agent[$old]}"
    await_leader "$token"
    judge
}
guardian_is_ahead() { is_class "$(child "${agent[$1]}" elector-guard)" 'FF 11'; } # MEMBER

# Agents and candidates that root started, but without a capability. Their leases are long: this host may be busy.
begin_without() { # CAPABILITY
    local real=$ELECTOR
    realtime_or_skip
    setpriv --bounding-set "-$1" true 2> "$dir/setpriv.log" || skip "capabilities cannot be dropped here: $(head -n 1 "$dir/setpriv.log")"
    found_realtime 3 '[group work]' 'lease = 500ms' 'beat = 60ms' 'margin = 30ms' 're-ask = 80ms' 'stagger = 6ms'
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nexec setpriv --bounding-set -%s %s "$@"\n' "$1" "$real" > "$dir/weak"
    chmod +x "$dir/weak"
    ELECTOR=$dir/weak
    start "${members[@]}"
    work "${members[@]}"
    await_leader
}

story_realtime_refused() {
    local m
    [ "$(ulimit -r)" = 0 ] || skip "every process here may have real-time scheduling"
    begin_without sys_nice
    for m in "${members[@]}"; do
        await_log "$m" 'level=warn.*profile realtime works without SCHED_FIFO (.*; LimitRTPRIO=12 grants it): when this host is busy'
        is_class "${agent[$m]}" 'TS -' || fail "agent $m is $(class "${agent[$m]}")"
        doctor_says "$m" '^warn +realtime +the agent works without SCHED_FIFO' || fail "doctor: $(cat "$dir/doctor-$m")"
        await 30 "elector run at $m says so" grep -q 'this process works without SCHED_FIFO' "$dir/run-$m.log"
    done
    no_errors "${members[@]}"
    judge
}

story_memory_lock_refused() {
    local m
    [ "$(ulimit -l)" != unlimited ] || skip "every process here may lock its memory"
    begin_without ipc_lock
    for m in "${members[@]}"; do
        await_log "$m" 'level=warn.*profile realtime works without locked memory (.*; LimitMEMLOCK=infinity grants it)'
        is_class "${agent[$m]}" 'FF 10' || fail "agent $m is $(class "${agent[$m]}")"
        doctor_says "$m" '^warn +realtime +the agent works without locked memory' || fail "doctor: $(cat "$dir/doctor-$m")"
    done
    no_errors "${members[@]}"
    judge
}

# Between beats the loop asks for no memory, waits for no lock, has no page fault, and goes to no disk; also when the recording goes on in its
# other half. Its lease is long, so that a busy host does not take it.
story_planted_realtime_still() {
    local m before first
    local -A since
    realtime_or_skip
    found_realtime 3 '[group work]' 'lease = 1s' 'beat = 4ms' 'margin = 50ms' 're-ask = 80ms' 'stagger = 25ms'
    for m in "${members[@]}"; do sed -i 's/^\[agent\]/&\nrecorder = 256KiB/' "$(conf "$m")"; done
    export CLUSTER_STILL=$dir/still LD_PRELOAD=$lib/libcluster-still.so
    start "${members[@]}"
    unset CLUSTER_STILL LD_PRELOAD
    work "${members[@]}"
    await_leader
    look
    for m in "${members[@]}"; do
        read -ra before <<< "$(asked_for "$m")"
        [[ ${before[0]} -gt 0 && ${before[1]} -gt 0 && ${before[3]} -gt 0 && $(locks "$m") -gt 0 ]] || fail "nothing is counted at $m: ${before[*]}"
        await 60 "the recording of $m has used both halves" has_generation "$m" 3 # what it needs is in memory now
    done
    first=$token
    for m in "${members[@]}"; do asked_for "$m"; done > "$dir/before"
    for m in "${members[@]}"; do since[$m]=$(generation "$m"); done
    for m in "${members[@]}"; do await 60 "the recording of $m has gone on for three halves" has_generation "$m" $((since[$m] + 3)); done
    for m in "${members[@]}"; do asked_for "$m"; done > "$dir/after"
    look
    [ "$token" = "$first" ] || fail "the leader has changed"
    diff "$dir/before" "$dir/after" > "$dir/diff" || fail "memory, disk, waits for locks, and page faults (minor, major) of the loops: $(cat "$dir/diff")"
    judge
}
asked_for() { # MEMBER: the numbers of cluster-still, and of the loop's page faults: minor, major
    { od -An -v -tu8 -N 24 "$dir/still.${agent[$1]}"; sed 's/.*) //' "/proc/${agent[$1]}/task/${agent[$1]}/stat" | cut -d ' ' -f 8,10; } | tr -s ' \n' ' '
    echo
}
locks() { od -An -tu8 -j 24 -N 8 "$dir/still.${agent[$1]}"; } # MEMBER: also those for which it did not wait
generation() { # MEMBER: of the newer half, by the recording's file
    local file=$dir/c/$1/elector.state.flight
    { od -An -tu8 -j 32 -N 8 "$file"; od -An -tu8 -j $((256 * 1024 * 3 / 8 + 32)) -N 8 "$file"; } | sort -n | tail -n 1
}
has_generation() { [ "$(generation "$1")" -ge "$2" ]; } # MEMBER GENERATION

# An agent that leads runs in a circle, at its real-time priority. It becomes an ordinary process, the others elect, and when it is
# killed its guardian gets to run and tells them.
story_planted_realtime_hang() {
    local m old
    realtime_or_skip
    found_realtime 3
    LD_PRELOAD=$lib/libcluster-hang.so start "${members[@]}"
    for m in "${members[@]}"; do await 30 "the guardian of $m is ahead of it" guardian_is_ahead "$m"; done
    for m in "${members[@]}"; do await_log "$m" 'guarded by process'; done
    work "${members[@]}"
    await_leader
    look
    old=$leader
    kill -USR2 "${agent[$old]}"
    await 60 "the agent of $old no longer has a real-time priority" is_class "${agent[$old]}" 'TS -'
    kill -KILL "${agent[$old]}"
    await_log "$old" 'the agent is dead; work of .* clients is over, and 2 peers were told'
    await 60 "another works" works_beyond_elsewhere "$token" "$old"
    judge
}
works_beyond_elsewhere() { works_beyond "$1" && [ "$leader" != "$2" ]; } # TOKEN MEMBER

# What the leader's agent has noted of its renewals is a lease that it would have kept; who does not lead has noted nothing.
accepts_the_suggestion() { # of "$dir/plan.log": it is a configuration
    local options
    grep -qE '^1000ms +133\.333ms +[0-9.]+ ms +0 +[0-9.]+$' "$dir/plan.log" || fail "a lease of 1 s would not have been kept: $(cat "$dir/plan.log")"
    grep -qE '^  \[group \*\]  lease = [0-9]+ms, beat = ' "$dir/plan.log" || fail "no lease is suggested: $(cat "$dir/plan.log")"
    options=$(sed -n 's/^  \[group \*\]  //p' "$dir/plan.log")
    { sed "s/^\[cluster\]/&\ntransmit = $(sed -n 's/^  \[cluster\]  transmit = //p' "$dir/plan.log")/" "$(conf "$leader")" | sed '/^\[group/,$d'
      echo '[group *]'; tr ',' '\n' <<< "$options"; } > "$dir/suggested"
    "$ELECTOR" plan --config "$dir/suggested" > "$dir/plan-suggested" 2>&1 || fail "what is suggested is refused: $(cat "$dir/plan-suggested")"
}
story_plan_measure() {
    local m late code=0
    begin 3 '[group work]' 'lease = 3s'
    look
    sleep 2 # history
    "$ELECTOR" plan --measure --config "$(conf "$leader")" > "$dir/plan.log" 2>&1 || code=$?
    grep -qE "^$leader renewed leases for 0\.[0-9] minutes of the last hour, [1-9][0-9]* times\. The latest renewal came [0-9.]+ ms late\.$" "$dir/plan.log" || fail "$(cat "$dir/plan.log")"
    late=$(sed -n 's/.* The latest renewal came \([0-9]*\)\.[0-9]* ms late\.$/\1/p' "$dir/plan.log")
    if [ "$late" -ge 133 ]; then # a busy machine: too late for each lease of the table
        [ "$code" = 1 ] && grep -q '^None of these leases would have been kept' "$dir/plan.log" || fail "exit code $code: $(cat "$dir/plan.log")"
    else
        [ "$code" = 0 ] || fail "exit code $code: $(cat "$dir/plan.log")"
        accepts_the_suggestion
    fi
    m=$(others "$leader" | sed -n 1p)
    "$ELECTOR" plan --measure --config "$(conf "$m")" > "$dir/plan-other" 2>&1 && fail "$m, which does not lead, has a history"
    grep -q 'has renewed no lease in the last hour; ask one that leads' "$dir/plan-other" || fail "$(cat "$dir/plan-other")"
    m=$leader
    kill -STOP "${agent[$m]}"
    await_leader "$token"
    kill -CONT "${agent[$m]}"
    await 60 "$m has noted that it lost a lease of 3 s" measures_a_lapse "$m"
    judge
}
measures_a_lapse() { # MEMBER: the latest renewal was at least a lease late, and too late for each shorter lease
    local code=0
    "$ELECTOR" plan --measure --config "$(conf "$1")" > "$dir/plan.log" 2>&1 || code=$?
    [ "$code" = 1 ] && grep -q '^1 of them did not come in time, and the lease was lost\.$' "$dir/plan.log" && # 1: no shorter lease would have been kept
        grep -qE ' The latest renewal came ([3-9]|[1-9][0-9])[0-9]{3}\.[0-9]+ ms late\.$' "$dir/plan.log" &&
        grep -qE '^1000ms +133\.333ms +[0-9.]+ ms +[1-9]' "$dir/plan.log" && ! grep -qE '^[0-9]+ms +[0-9.]+ms +[0-9.]+ ms +0 ' "$dir/plan.log"
}

# The clocks of each host are moved by a file of its own.
set_clock() { # MEMBER BOOTTIME_S WALL_S: ahead
    perl -e 'print pack("q<q<", map { $_ * 1e9 } @ARGV)' "$2" "$3" > "$dir/clock-$1.new"
    dd if="$dir/clock-$1.new" of="$dir/clock-$1" conv=notrunc status=none # in place: it is mapped
}
is_led_on() { look && [ "$token" = "$1" ] && has_ticks "$1" "$2"; } # TOKEN TICKS
jumped() { [ "$(grep -c 'the wall clock was set: renewing all channels' "$dir/$1.log")" -ge "$2" ]; } # MEMBER TIMES

# The wall clock of the leader's host jumps an hour ahead and back: it leads on. Then its CLOCK_BOOTTIME jumps, as after a suspend: its
# lease is over at once, its work stops, and another leads with a higher token.
story_planted_clock_jump() {
    local m old before
    found 3 '[group work]' 'lease = 3s'
    for m in "${members[@]}"; do
        head -c 16 /dev/zero > "$dir/clock-$m"
        export CLUSTER_CLOCK=$dir/clock-$m LD_PRELOAD=$lib/libcluster-clock.so
        start "$m"
        work "$m"
        unset CLUSTER_CLOCK LD_PRELOAD
    done
    await_leader
    look
    old=$leader before=$token
    set_clock "$old" 0 3600
    await 30 "the agent of $old notices that its wall clock was set" jumped "$old" 1
    await 60 "$old works on" is_led_on "$before" $(($(ticks "$before ") + 20))
    sleep 10 # it tells of such a jump once in 10 s
    set_clock "$old" 0 0
    await 30 "the agent of $old notices that its wall clock was set back" jumped "$old" 2
    await 60 "$old works on" is_led_on "$before" $(($(ticks "$before ") + 20))
    set_clock "$old" 60 0
    await_leader "$before"
    await 60 "the agents agree again" agree
    no_errors "${members[@]}"
    judge
}

say_uevent() { # MEMBER WORD...: as the kernel does
    perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Type => SOCK_DGRAM, Peer => shift)->send(join "\0", @ARGV) or exit 1' "$dir/uevents-$1" "${@:2}" ||
        fail "no uevent reaches $1"
}
shook_hands() { [ "$(metric "$1" elector_network_handshakes_total)" -ge "$2" ]; } # MEMBER TIMES

# The kernel tells the leader's agent that its machine was restored from a snapshot: all its channels are new, and it leads on.
story_planted_restored_machine() {
    local m before handshakes
    found 3 '[group work]' 'lease = 3s'
    for m in "${members[@]}"; do
        export CLUSTER_UEVENTS=$dir/uevents-$m LD_PRELOAD=$lib/libcluster-uevent.so
        start "$m"
        unset CLUSTER_UEVENTS LD_PRELOAD
    done
    work "${members[@]}"
    await_leader
    await 60 "all name one leader" agree
    handshakes=$(metric "$leader" elector_network_handshakes_total)
    before=$token
    say_uevent "$leader" change@/devices/x ACTION=change NEW_VMGENID=12
    say_uevent "$leader" change@/devices/platform/vmgenid ACTION=change NEW_VMGENID=1 SEQNUM=9
    await_log "$leader" 'this machine was restored from a snapshot: renewing all channels'
    await 60 "$leader shakes hands with both others anew" shook_hands "$leader" $((handshakes + 2))
    [ "$(grep -c 'restored from a snapshot' "$dir/$leader.log")" = 1 ] || fail "another word was taken for it, too"
    await 60 "$leader works on" is_led_on "$before" $(($(ticks "$before ") + 20))
    judge
}

# The kernel gives real-time processes of the leader's agent 0.5 ms of every 100: its lease is lost again and again, its work stops in
# time, and another leads.
story_realtime_throttled() {
    local old group=/sys/fs/cgroup/cpu/elector-test-$$
    realtime_or_skip
    rmdir /sys/fs/cgroup/cpu/elector-test-* 2> /dev/null || true # of a run that failed
    mkdir "$group" 2> "$dir/cgroup.log" || skip "no control group for processor time here: $(head -n 1 "$dir/cgroup.log")"
    { echo 100000 > "$group/cpu.rt_period_us" && echo 500 > "$group/cpu.rt_runtime_us"; } 2> "$dir/cgroup.log" || {
        rmdir "$group"
        skip "no control group for real-time processes here: $(head -n 1 "$dir/cgroup.log")"
    }
    found_realtime 3
    start "${members[@]}"
    work "${members[@]}"
    await_leader
    look
    old=$leader
    echo "${agent[$old]}" > "$group/cgroup.procs"
    await 60 "another works" works_beyond_elsewhere "$token" "$old"
    is_class "${agent[$old]}" 'FF 10' || fail "the agent of $old is $(class "${agent[$old]}")"
    echo "${agent[$old]}" > /sys/fs/cgroup/cpu/cgroup.procs
    rmdir "$group" || fail "the control group stays"
    await 60 "the agents agree again" agree
    judge
}
