# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# An agent dies, and its guardian sees to the rest: the others say in their logs that it told them. The lease is long, but not so
# long that those who gave up for a moment, on a machine that is busy, wait beyond the patience of a story.

very_long=('[group work]' 'lease = 20s')

guardian_of() { # MEMBER: the process that its agent said last
    sed -n 's/.*guarded by process \([0-9]*\).*/\1/p' "$dir/$1.log" | tail -n 1
}
is_guarded() { [ -n "$(guardian_of "$1")" ] && ! has_ended "$(guardian_of "$1")"; }
is_guarded_anew() { is_guarded "$1" && [ "$(guardian_of "$1")" != "$2" ]; } # MEMBER PID
have_word_of() { # MEMBER: the others, of its death
    local m
    for m in $(others "$1"); do log_says "$m" "msg=\"the guardian of $1 reports its agent dead" || return 1; done
}
await_word_of() { await 60 "the others were told of $1" have_word_of "$1"; } # MEMBER
nobody_was_told() {
    local m
    for m in "${members[@]}"; do
        ! log_says "$m" 'reports its agent dead' || fail "$m was told, though nobody could know"
    done
}

story_guardian_tells() {
    local old old_worker guardian
    begin 3 "${very_long[@]}"
    await 60 "$leader is guarded" is_guarded "$leader"
    old=$leader old_worker=$worker guardian=$(guardian_of "$leader")
    kill -KILL "${agent[$leader]}"
    await_word_of "$old"
    await_leader "$token"
    await 30 "the old worker ended" has_ended "$old_worker"
    await 30 "the guardian ends" has_ended "$guardian"
    judge
}

# It dies first: the agent says so and has another, which is as good.
story_guardian_dies() {
    local old guardian
    begin 3 "${very_long[@]}"
    old=$leader
    await 60 "$old is guarded" is_guarded "$old"
    guardian=$(guardian_of "$old")
    kill -KILL "$guardian"
    await_log "$old" 'the guardian has died'
    await 60 "another guards $old" is_guarded_anew "$old" "$guardian"
    kill -KILL "${agent[$old]}"
    await_word_of "$old"
    await_leader "$token"
    judge
}

story_guardian_and_agent_die() {
    begin 3
    await 60 "$leader is guarded" is_guarded "$leader"
    kill -KILL "$(guardian_of "$leader")" "${agent[$leader]}"
    await_leader "$token"
    nobody_was_told
    judge
}

# elector run hangs, and nobody is left who would tell it anything: its keeper hears the guardian all the same.
story_guardian_finds_run_stopped() {
    begin 3 "${very_long[@]}"
    await 60 "$leader is guarded" is_guarded "$leader"
    kill -STOP "${runner[$leader]}"
    kill -KILL "${agent[$leader]}"
    await_word_of "$leader"
    await_leader "$token"
    judge
}

# Many groups under one elector run have one line: all keepers hear its word, and the last one answers. See stories_spread.sh.
all_led_by() { [ "$(shares a | grep -c " [$1]\$")" = "$shards" ]; } # MEMBERS
has_some() { grep -q " $1\$" < <(shares a); }                      # MEMBER
story_guardian_tells_of_many() {
    found 3 '[group shard-*]' 'lease = 20s'
    start a b c
    spread a b c
    await 120 "all are led" all_led_by abc
    await 120 "c leads some" has_some c
    await 60 "c is guarded" is_guarded c
    kill -KILL "${agent[c]}"
    await_word_of c
    await 60 "the others have them all" all_led_by ab
    start c
    await 120 "c leads some again" has_some c
    await 60 "c is guarded" is_guarded c
    kill -STOP "${runner[c]}"
    kill -KILL "${agent[c]}"
    await 60 "the others have them all again" all_led_by ab
    judge_all
}

# An application is never killed; whether it still works nobody knows.
story_guardian_waits_for_an_application() {
    local old old_worker
    found 3
    start "${members[@]}"
    work_by_library "${members[@]}"
    await_leader
    old=$leader old_worker=$worker
    await 60 "$old is guarded" is_guarded "$old"
    kill -KILL "${agent[$old]}"
    await_leader "$token"
    ! has_ended "$old_worker" || fail "the application was killed"
    await_log "$old" 'its leases decide'
    nobody_was_told
    judge
}

# Both on one agent: what is known to be over moves at once, and what is not waits until it is.
other_by_library() { # MEMBER...: as work_by_library, in another group
    local m
    for m in "$@"; do
        "$lib/cluster-worker" "$dir/ticks-other" "$(url "$m")" other >> "$dir/run-$m.log" 2>&1 &
        application[$m]=$!
    done
}
others_begun() { grep -c '^begin ' "$dir/ticks-other" 2> /dev/null || true; }
other_has_begun() { [ "$(others_begun)" -ge "$1" ]; }                             # TIMES
stands() { [[ $(status "$1" "$2") == *"{\"member\":\"$1\",\"priority\""* ]]; } # MEMBER GROUP

story_guardian_tells_of_some() {
    local m
    declare -A application=()
    found 3 "${very_long[@]}" '[group other]' 'lease = 600s'
    start a b c
    work a
    await_leader
    other_by_library a
    await 60 "the application leads" other_has_begun 1
    work b c
    other_by_library b c
    for m in b c; do
        await 60 "$m stands for both" stands "$m" work
        await 60 "$m stands for both" stands "$m" other
    done
    await 60 "a is guarded" is_guarded a
    kill -KILL "${agent[a]}"
    await_word_of a
    await_leader "$token"
    ! has_ended "${application[a]}" || fail "the application was killed"
    [ "$(others_begun)" = 1 ] || fail "its group has moved"
    kill -KILL "${application[a]}"
    await 60 "its group moves" other_has_begun 2
    judge
    witness "$dir/ticks-other" || fail "the witness: $(head -n 1 "$dir/witness")"
}

# Whoever leads nothing holds nothing up, though it is known and lives.
all_is_over() { # MEMBER: the others know
    local m
    for m in $(others "$1"); do log_says "$m" "the guardian of $1 reports its agent dead, and its work ended" || return 1; done
}
story_guardian_does_not_wait_for_who_stands() {
    declare -A application=()
    found 3 "${very_long[@]}" '[group other]' 'lease = 600s'
    start a b c
    other_by_library b
    await 60 "the application at b leads" other_has_begun 1
    other_by_library a
    await 60 "the one at a stands" stands a other
    work a
    await_leader
    work b c
    await 60 "a is guarded" is_guarded a
    kill -KILL "${agent[a]}"
    await 60 "the others know that nothing goes on at a" all_is_over a
    await_leader "$token"
    ! has_ended "${application[a]}" || fail "the application was killed"
    judge
}

story_guardian_finds_an_application_dead() {
    found 3 "${very_long[@]}"
    start "${members[@]}"
    work_by_library "${members[@]}"
    await_leader
    await 60 "$leader is guarded" is_guarded "$leader"
    kill -KILL "${agent[$leader]}" "$worker"
    await_word_of "$leader"
    await_leader "$token"
    judge
}

# An agent that leaves in good order leaves no guardian behind. One that is killed and starts at once waits until the state file, port and
# socket of its last incarnation are free, and no obituary of that incarnation concerns it.
story_guardian_leaves() {
    local old guardian
    begin 3 "${very_long[@]}"
    old=$leader
    await 60 "$old is guarded" is_guarded "$old"
    guardian=$(guardian_of "$old")
    kill -TERM "${agent[$old]}"
    await_exit "${agent[$old]}" 0 "agent $old"
    has_ended "$guardian" || fail "the guardian is still there"
    await_leader "$token"
    nobody_was_told
    kill -KILL "${agent[$leader]}"
    start "$leader"
    judge
}

# Standard error of all agents and of all candidates is a pipe that is full, and nobody reads it.
story_nobody_reads_the_log() {
    local m i old runs
    found 3
    mkfifo "$dir/full"
    exec {full}<> "$dir/full"
    dd if=/dev/zero of="$dir/full" oflag=nonblock bs=4096 2> /dev/null || true
    for m in "${members[@]}"; do
        "$ELECTOR" agent --verbose --config "$(conf "$m")" >> "$dir/$m.log" 2>&"$full" {full}<&- &
        agent[$m]=$!
    done
    for m in "${members[@]}"; do await 60 "agent $m answers" answers "$m"; done
    for m in "${members[@]}"; do
        "$ELECTOR" run --url "$(url "$m")" --verbose work -- "$lib/cluster-worker" "$dir/ticks" >> "$dir/run-$m.log" 2>&"$full" {full}<&- &
        runner[$m]=$!
    done
    await_leader
    old=$token
    for ((i = 0; i < 20; i++)); do
        kill -HUP "${agent[@]}" # each logs that it has read its configuration
        nap
    done
    runs=$(ticks "$old ")
    await 30 "token $old works on" has_ticks "$old" $((runs + 100))
    look
    [ "$token" = "$old" ] || fail "token $old was lost while nobody read the log"
    kill -KILL "${runner[$leader]}"
    await 30 "the worker of token $old ended" has_ended "$worker"
    await_leader "$old"
    judge
}

has_no_zombie() { # PID: among its children
    local child
    for child in $(cat "/proc/$1/task/$1/children"); do ! grep -q '^State:.Z' "/proc/$child/status" || return 1; done
}

# Descriptors 0, 1 and 2 are closed when it starts: no socket may take their place. It is process 1 of a container.
story_agent_in_an_empty_container() {
    local outside pid fd
    unshare -pf --mount-proc true 2> /dev/null || skip "no process namespaces here"
    found 1
    unshare -pf --mount-proc --kill-child "$ELECTOR" agent --config "$(conf a)" <&- >&- 2>&- &
    outside=$!
    agent[a]=$outside
    await 60 "agent a answers" answers a
    pid=$(cat "/proc/$outside/task/$outside/children")
    pid=${pid% }
    for fd in 0 1 2; do
        [ "/proc/$pid/fd/$fd" -ef /dev/null ] || fail "descriptor $fd is $(readlink "/proc/$pid/fd/$fd")"
    done
    nsenter -t "$pid" -p -m sh -c "(setsid sh -c 'sleep 0.2; exec touch $dir/orphan' &)"
    await 30 "the orphan ends" test -e "$dir/orphan"
    nap
    await 30 "the orphan is reaped" has_no_zombie "$pid"
}
