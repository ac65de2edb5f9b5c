# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# Elections, deaths and pauses.

# The witness itself must be able to see.
story_witness_sees() {
    local t=$dir/told
    printf '%s\n' 'tick 5 100 1' 'tick 5 200 1' 'tick 7 300 2' 'tick 7 250 2' > "$t"
    witness "$t" || fail "red without a reason: $(cat "$dir/witness")"
    printf '%s\n' 'tick 5 100 1' 'tick 7 150 2' 'tick 5 151 1' > "$t"
    ! witness "$t" || fail "two at once pass"
    printf '%s\n' 'tick 7 100 1' 'tick 5 200 2' > "$t"
    ! witness "$t" || fail "a token that falls passes"
    printf '%s\n' 'tick 5 100 1' 'tick 5 400 1' 'tick 6 150 2' 'tick 7 300 3' > "$t"
    ! witness "$t" || fail "one that outlasts its successor passes"
    printf '%s\n' 'begin 5 1 1 a' 'tick 5 100 1' 'begin 5 1 2 b' 'tick 5 200 2' > "$t"
    ! witness "$t" || fail "one token for two members passes"
    : > "$t"
    ! witness "$t" || fail "that nobody worked passes"
}

story_three() {
    begin 3
    await 60 "all name one leader" agree
    judge
    no_errors "${members[@]}"
}

story_five() {
    local first
    begin 5
    await 60 "all name one leader" agree
    first=$leader
    kill -KILL "${agent[$first]}"
    await_leader "$token"
    kill -KILL "${agent[$leader]}" # two of five are gone
    await_leader "$token"
    await 60 "those left name one leader" agree
    judge
}

story_worker_dies() {
    begin 3
    kill -KILL "$worker"
    await_leader "$token"
    judge
}

story_agent_dies() {
    local old
    begin 3
    old=$leader
    kill -KILL "${agent[$old]}"
    await_leader "$token"
    start "$old"
    await 60 "it is back" agree
    judge
}

story_agent_and_worker_die() {
    begin 3
    kill -KILL "${agent[$leader]}" "$worker" "${runner[$leader]}"
    await_leader "$token"
    judge
}

story_run_dies() {
    local old
    begin 3
    old=$worker
    kill -KILL "${runner[$leader]}"
    await_leader "$token"
    await 30 "the old worker ended" has_ended "$old"
    judge
}

story_agent_stops() {
    local old
    begin 3
    old=$leader
    kill -STOP "${agent[$old]}"
    await_leader "$token"
    kill -CONT "${agent[$old]}"
    await 60 "it follows" sees "$old" "$leader"
    await 60 "all name one leader" agree
    judge
}

# Whoever watches over the work is stopped; the work ends all the same, before another begins.
story_run_stops() {
    local old
    begin 3
    old=$worker
    kill -STOP "${runner[$leader]}"
    await 60 "the keeper ends the work" has_ended "$old"
    kill -CONT "${runner[$leader]}"
    await 60 "work goes on" is_another_worker "$old"
    judge
}
is_another_worker() { look && [ "$worker" != "$1" ] && [ "$(grep -c "^tick $token .* $worker\$" "$dir/ticks")" -ge 20 ]; }

# Nobody tells `elector run` that a lease was renewed: it looks in time, also where TERM and KILL come at one instant.
story_no_time_to_stop() {
    found 1
    start a
    "$ELECTOR" run --url "$(url a)" --quiet --stop-timeout 0 work -- "$lib/cluster-worker" "$dir/ticks" >> "$dir/run-a.log" 2>&1 &
    runner[a]=$!
    await_leader
    await 60 "work that lasts for several leases" lasts
    judge
}
lasts() { look && has_ticks "$token" 1200; }

# A host that sleeps: agent and worker wake together, long after others have gone on.
story_host_sleeps() {
    local old
    found 3
    start "${members[@]}"
    work_by_library "${members[@]}"
    await_leader
    old=$leader
    kill -STOP "${agent[$old]}" "$worker"
    await_leader "$token"
    kill -CONT "$worker"
    kill -CONT "${agent[$old]}"
    await 60 "it follows" sees "$old" "$leader"
    judge
}

# A worker alone is stopped for longer than a lease: its agent answers for it, and nobody else begins.
story_worker_stops() {
    local old count
    begin 3
    old=$token
    kill -STOP "$worker"
    await 60 "the lease is renewed" renewed "$leader" 12
    kill -CONT "$worker"
    count=$(ticks)
    await 60 "work goes on" works_more "$count"
    judge
}
renewed() { # MEMBER TIMES: its lease was seen to move on so often
    local before now times=0
    before=$(field "$1" work lease_left_ms)
    while [ "$times" -lt "$2" ]; do
        nap
        now=$(field "$1" work lease_left_ms)
        [ -n "$now" ] || return 1
        [ "$now" -le "${before:-0}" ] || times=$((times + 1))
        before=$now
    done
}
works_more() { [ "$(ticks)" -ge $(($1 + 20)) ]; }

story_all_restart() {
    begin 3
    kill -KILL "${agent[@]}"
    start "${members[@]}"
    await_leader "$token"
    kill -KILL "${agent[@]}"
    start "${members[@]}"
    await_leader "$token"
    await 60 "all name one leader" agree
    judge
}

# ---- Hand-over ----

story_transfer_and_resign() {
    local to
    begin 3
    await 60 "all name one leader" agree
    to=$(others "$leader" | sed -n 1p)
    "$ELECTOR" transfer work --to "$to" --url "$(url "$leader")" > "$dir/transfer.log" 2>&1 || fail "transfer: $(cat "$dir/transfer.log")"
    await 60 "$to works" works_at "$to"
    "$ELECTOR" resign work --url "$(url "$to")" > "$dir/resign.log" 2>&1 || fail "resign: $(cat "$dir/resign.log")"
    await_leader "$token"
    ! "$ELECTOR" transfer work --to nobody --url "$(url "$leader")" > "$dir/transfer.log" 2>&1 || fail "handed over to nobody"
    grep -q 'there is no member nobody in the configuration' "$dir/transfer.log" || fail "transfer to nobody: $(cat "$dir/transfer.log")"
    judge
}

story_sigterm_hands_over() {
    local old
    begin 3
    await 60 "all name one leader" agree
    old=$leader
    kill -TERM "${agent[$old]}"
    await_leader "$token"
    await_exit "${agent[$old]}" 0 "the agent"
    log_says "$old" 'handing over' || fail "it does not say that it leaves"
    no_errors "${members[@]}"
    judge
}
