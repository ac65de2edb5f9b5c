# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120
# `elector run` and its agent: stopping takes time, a client hangs, a weak worker is alone.

# Ticks like cluster-worker. Asked to stop, it goes on for three seconds, longer than a lease, and then says that it ended.
make_slow_worker() {
    cat > "$dir/slow" << 'END'
#!/usr/bin/env bash
left=0
trap 'left=${left:-0}; [ "$left" -gt 0 ] || left=60' TERM
echo "begin $ELECTOR_TOKEN 0 $$ $ELECTOR_ID" >> "$1"
while :; do
    read -r up _ < /proc/uptime
    echo "tick $ELECTOR_TOKEN ${up/./}0000000 $$" >> "$1"
    read -rt 0.05 <> <(:) || true
    [ "$left" -eq 0 ] || left=$((left - 1))
    [ "$left" -ne 1 ] || { echo "ended $ELECTOR_TOKEN" >> "$1"; exit 0; }
done
END
    chmod +x "$dir/slow"
}
work_slowly() { # MEMBER...
    local m
    for m in "$@"; do
        "$ELECTOR" run --url "$(url "$m")" --quiet --stop-timeout 60 work -- "$dir/slow" "$dir/ticks" >> "$dir/run-$m.log" 2>&1 &
        runner[$m]=$!
    done
}
ended() { grep -q "^ended $1\$" "$dir/ticks"; } # TOKEN

story_stopping_takes_time() {
    local to old
    make_slow_worker
    found 3
    start "${members[@]}"
    work_slowly "${members[@]}"
    await_leader
    await 60 "all name one leader" agree
    to=$(others "$leader" | sed -n 1p) old=$token
    "$ELECTOR" transfer work --to "$to" --url "$(url "$leader")" > "$dir/transfer.log" 2>&1 || fail "transfer: $(cat "$dir/transfer.log")"
    await 60 "$to works" works_at "$to"
    ended "$old" || fail "the worker was killed when it handed over"
    old=$token
    kill -TERM "${agent[$leader]}"
    await_leader "$old"
    ended "$old" || fail "the worker was killed when its agent left"
    judge
}

# Nobody works: the keeper has killed the work, and ends the connection, so that the lease is not renewed for ever.
story_run_hangs() {
    begin 3
    kill -STOP "${runner[$leader]}"
    await_leader "$token"
    kill -CONT "${runner[@]}"
    await 60 "all name one leader" agree
    judge
}

# There is no command, and so no keeper: only the agent can notice.
story_watchdog() {
    found 1
    start a
    "$ELECTOR" run --url "$(url a)" --watchdog 1 --on-elected true work >> "$dir/run-1.log" 2>&1 &
    runner[1]=$!
    await 60 "it leads" grep -q 'leading with token' "$dir/run-1.log"
    "$ELECTOR" run --url "$(url a)" --watchdog 1 --on-elected true work >> "$dir/run-2.log" 2>&1 &
    kill -STOP "${runner[1]}"
    await 60 "the other leads" grep -q 'leading with token' "$dir/run-2.log"
    "$ELECTOR" why work --url "$(url a)" > "$dir/why.log"
    grep -q 'gives no sign of life' "$dir/why.log" || fail "why does not say so"
    kill -CONT "${runner[1]}"
    await 60 "it campaigns again" has_candidates 2
}
has_candidates() { [ "$(field a work candidates)" = "$1" ]; }

# The check fails, and nobody else campaigns: the command is started again all the same, and the loop rests meanwhile.
story_weak_and_alone() {
    local before turns checks
    found 1
    start a
    : > "$dir/well"
    cat > "$dir/check" << END
#!/bin/sh
echo >> "$dir/checks"
test -e "$dir/well"
END
    chmod +x "$dir/check"
    "$ELECTOR" run --url "$(url a)" --restart always --health-cmd "$dir/check" --health-interval 0.1 --health-failures 1 work -- \
        sh -c "echo >> $dir/began; until [ -e $dir/exit ]; do sleep 0.05; done; rm $dir/exit" >> "$dir/run-a.log" 2>&1 &
    runner[a]=$!
    await 60 "it works" has_lines began 1
    rm "$dir/well"
    await 60 "nobody else campaigns" grep -q 'leading on' "$dir/run-a.log"
    before=$(turns_of "${runner[a]}") checks=$(($(wc -l < "$dir/checks") + 20))
    : > "$dir/exit"
    await 60 "it works again" has_lines began 2
    : > "$dir/exit"
    await 60 "it works once more" has_lines began 3
    await 60 "twenty checks" has_lines checks "$checks"
    turns=$(($(turns_of "${runner[a]}") - before))
    [ "$turns" -lt 2000 ] || fail "the loop turned $turns times"
}
has_lines() { [ "$(wc -l < "$dir/$1" 2> /dev/null || echo 0)" -ge "$2" ]; }
turns_of() { sed -n 's/^syscr: //p' "/proc/$1/io"; } # each turn reads its timer
