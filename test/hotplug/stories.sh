# shellcheck shell=bash disable=SC2154
# A processor that comes and goes.

processor=/sys/devices/system/cpu/cpu1
is_online() { [ "$(cat "$processor/online")" = "$1" ]; } # 0|1
set_online() { echo "$1" > "$processor/online"; }        # 0|1
all_ticks() { grep -c '^tick ' "$dir/ticks" || true; }
has_worked() { [ "$(all_ticks)" -ge "$1" ]; } # TICKS, whoever led

# The kernel stops all processors for a moment, and moves what ran there. If that costs the lease of 30 ms another leads, and nobody
# works beside it. Afterwards all have their priority as before.
story_hotplug() {
    local i m changes
    realtime_or_skip
    [ -w "$processor/online" ] || skip "no processor can be taken offline here: $processor/online cannot be written"
    is_online 1 || skip "no processor can be taken offline here: $processor is offline already"
    { set_online 0 && set_online 1; } 2> "$dir/online.log" || skip "no processor can be taken offline here: $(head -n 1 "$dir/online.log")"
    trap 'set_online 1; clean_up' EXIT # also when it fails, or is told to end
    found_realtime 3
    start "${members[@]}"
    work "${members[@]}"
    await_leader
    for ((i = 0; i < ${ELECTOR_HOTPLUG_TIMES:-10}; i++)); do
        set_online $((i % 2))
        is_online $((i % 2)) || fail "$processor/online is $(cat "$processor/online")"
        await 60 "work goes on with processors $(cat /sys/devices/system/cpu/online)" has_worked $(($(all_ticks) + 500))
    done
    set_online 1
    await 60 "the agents agree" agree
    for m in "${members[@]}"; do
        is_class "${agent[$m]}" 'FF 10' || fail "agent $m is $(class "${agent[$m]}")"
        await 30 "the guardian of $m is ahead of it" guardian_is_ahead "$m"
    done
    no_errors "${members[@]}"
    changes=$(($(grep -c '^begin ' "$dir/ticks") - 1))
    echo "the leader changed $changes times in $i steps" > "$dir/changes"
    judge
}
