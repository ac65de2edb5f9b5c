# shellcheck shell=bash disable=SC2154
# Profile realtime in the service: without the drop-in that `make install` brings, with it, and with CPUSchedulingPolicy= instead.
# Sourced by run.sh, whose functions it uses.

class_inside() { inside ps -o cls=,rtprio= -p "$1" | awk '{ print $1, $2 }'; }                # PID
child_inside() { inside pgrep -o -P "$1" -x "$2"; }                                            # PID NAME
says_inside() { # PATTERN: what the agent says of profile realtime when it starts
    await 30 "it says something of profile realtime" inside grep -q 'profile realtime' /run/elector-agent.log
    inside grep -qE "$1" /run/elector-agent.log || fail "it says: $(inside grep 'profile realtime' /run/elector-agent.log)"
}
is_class_inside() { local pid; pid=$(child_inside "$1" "$2") && [ "$(class_inside "$pid")" = "$3" ]; } # PARENT NAME CLASS
limit_inside() { inside sed -n "s/^Max $2 *\\([^ ]*\\) .*/\\1/p" "/proc/$1/limits"; }          # PID NAME

# The service with these lines in a drop-in, or none. Sets main.
restart_with() { # FILE...
    local folder=/etc/systemd/system/elector-agent.service.d file
    inside sh -c "rm -f $folder/realtime-*"
    for file in "$@"; do inside cp "$file" "$folder/realtime-${file##*/}"; done
    inside sh -c ': > /run/elector-agent.log'
    inside systemctl daemon-reload
    inside systemctl restart elector-agent
    await 60 "the service answers" answers_inside
    main=$(shows MainPID)
}

realtime_service() {
    local m instead=() limits='12 unlimited'
    chrt -f 1 true 2> "$dir/chrt.log" || return 0 # no real-time scheduling here
    for m in b c; do
        kill -KILL "${agent[$m]}"
        sed -i 's/^\[cluster\]/&\nprofile = realtime/' "$(conf "$m")"
    done
    inside sed -i 's/^\[cluster\]/&\nprofile = realtime/' /etc/elector/elector.conf
    start b c

    restart_with
    says_inside 'level=warn.*profile realtime works without SCHED_FIFO \(.*; LimitRTPRIO=12 grants it\) and locked memory \(.*; LimitMEMLOCK=infinity grants it\)'
    [ "$(class_inside "$main")" = 'TS -' ] || fail "without the drop-in the agent is $(class_inside "$main")"

    # Where no limit may be raised, also not by root, two capabilities stand for the two limits: the rest of the drop-in is tested.
    if ! prlimit --rtprio=12:12 --memlock=unlimited:unlimited true 2> "$dir/prlimit.log"; then
        inside sh -c 'printf "[Service]\nCapabilityBoundingSet=CAP_SYS_NICE CAP_IPC_LOCK\nAmbientCapabilities=CAP_SYS_NICE CAP_IPC_LOCK\n" > /run/instead.conf'
        instead=(/run/instead.conf)
        limits="$(limit_inside "$main" 'realtime priority') $(limit_inside "$main" 'locked memory')"
    fi
    restart_with /usr/share/doc/elector/elector-agent-realtime.conf "${instead[@]}"
    says_inside 'profile realtime: SCHED_FIFO and locked memory are granted'
    [ "$(class_inside "$main")" = 'FF 10' ] || fail "with the drop-in the agent is $(class_inside "$main")"
    await 30 "its guardian is ahead of it" is_class_inside "$main" elector-guard 'FF 11'
    is_class_inside "$main" elector-writer 'TS -' || fail "the recorder's writer is no ordinary process"
    inside grep -qE '^VmLck:[[:space:]]+[1-9]' "/proc/$main/status" || fail "no memory is locked"
    [ "$(limit_inside "$main" 'realtime priority') $(limit_inside "$main" 'locked memory')" = "$limits" ] || fail "the limits are others"
    [ "$(shows LimitRTPRIO) $(shows LimitMEMLOCK)" = '12 infinity' ] || fail "the unit's limits are others"
    if inside grep -q 'level=warn.*realtime' /run/elector-agent.log; then fail "it warns: $(inside grep realtime /run/elector-agent.log)"; fi

    # systemd's own way gives its priority to all: the guardian is not ahead of the agent, and no memory is locked.
    inside sh -c 'printf "[Service]\nRestrictRealtime=no\nSystemCallFilter=sched_setattr setrlimit prlimit64\nCPUSchedulingPolicy=fifo\nCPUSchedulingPriority=10\n" > /run/policy.conf'
    restart_with /run/policy.conf
    says_inside 'level=warn.*profile realtime works without locked memory'
    [ "$(class_inside "$main")" = 'FF 10' ] || fail "with CPUSchedulingPolicy= the agent is $(class_inside "$main")"
    await 30 "the guardian has the agent's priority, not its own" is_class_inside "$main" elector-guard 'FF 10'
    is_class_inside "$main" elector-writer 'FF 10' || fail "with CPUSchedulingPolicy= the writer is $(class_inside "$(child_inside "$main" elector-writer)")"
    inside sh -c 'echo CPUSchedulingResetOnFork=yes >> /run/policy.conf'
    restart_with /run/policy.conf
    await 30 "with CPUSchedulingResetOnFork= the guardian is an ordinary process" is_class_inside "$main" elector-guard 'TS -'
    is_class_inside "$main" elector-writer 'TS -' || fail "with CPUSchedulingResetOnFork= the writer is $(class_inside "$(child_inside "$main" elector-writer)")"
}
