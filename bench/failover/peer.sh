# shellcheck shell=bash disable=SC2034,SC2154 # sourced by the peers' scripts, whose first argument is a folder of their own
# What the peers' scripts share. Their output is for table.awk: a sample is `SYSTEM KIND NS`, `# SYSTEM …` goes into the legend, and
# `- SYSTEM KIND WHY` says why there is none. Time is bash's, read without a process: good to a tenth of a millisecond.
set -euo pipefail
work=$1
system=$(basename "$0" .sh | sed s/peer_//)
trials=${PEER_TRIALS:-200}
limit=${PEER_SECONDS:-300} # for one kind
pairs=$((trials < 20 ? trials : 20)) # elections at once, where one trial waits for seconds
started=()
exec 3>&2 2>> "$work/script.log" # bash tells of every process that is killed
trap '' PIPE                     # servers die while they are spoken to

say() { echo "bench-failover: $system: $*" >&3; }
skip() { # WHY: one line, and no samples
    say "skipped: $*"
    echo "# $system: skipped: $*"
    exit 0
}
needs() { # COMMAND…
    local command
    for command in "$@"; do command -v "$command" > /dev/null || skip "$command is not installed (scripts/setup-peers)"; done
}
give_up() {
    say "not in time: $*"
    exit 1
}
legend() { echo "# $system: $*"; }
none() { echo "- $system $*"; } # KIND WHY
stamp() { now=${EPOCHREALTIME/[^0-9]/}; } # us, in $now: a substitution would cost a process
sample() { # KIND FROM TO, in us; counts in $taken, which try_kind sets
    echo "$system $1 $((($3 - $2) * 1000))"
    taken=$((taken + 1))
    ((taken * 4 / trials == (taken - 1) * 4 / trials || taken == trials)) || say "$1: $taken of $trials"
}
more() { ((taken < trials && SECONDS < deadline)); }
try_kind() { # KIND COMMAND…, which goes on while there are `more` to take; says how long it took
    local kind=$1 since=$SECONDS
    shift
    taken=0 deadline=$((SECONDS + limit))
    say "$kind"
    "$@"
    ((taken >= trials)) || legend "$kind: $taken trials, all that were to be had in $limit s (PEER_SECONDS)"
    say "$kind: $taken trials in $((SECONDS - since)) s"
}
start() { # LOG COMMAND…: in the background, its process in $!
    local log=$1
    shift
    "$@" < /dev/null >> "$work/$log" 2>&1 &
    started+=($!)
}
doze() { # MS OF_CHANCE: that long and a random part of as much again, so that trials fall anywhere between two beats
    local ms=$(($1 + RANDOM % ($2 + 1)))
    sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
}
fifo() { # NAME: a fifo of that name below $work, whose descriptor is in $fd
    mkfifo "$work/$1"
    exec {fd}<> "$work/$1"
}
declare -A begun=()
next_line() { # FD SECONDS: in $line, its time in $now; false: none came. What came of one that is not whole yet is kept for the next time
    if IFS= read -rt "$2" -u "$1" line; then
        stamp
        line=${begun[$1]:-}$line
        begun[$1]=''
    else
        begun[$1]=${begun[$1]:-}$line
        return 1
    fi
}
free_port() { # forty from there on are believed to be free
    local port=$((20000 + $$ % 1200 * 10)) taken i
    taken=$(awk '{ split($2, part, ":"); print part[2] }' /proc/net/tcp /proc/net/tcp6 2> /dev/null)
    while grep -qFx "$taken" < <(for i in {0..39}; do printf '%04X\n' $((port + i)); done); do port=$((port + 40)); done
    echo $port
}
within() { # SECONDS COMMAND…: until it succeeds; false: it did not in time
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.02
    done
}
await() { # SECONDS WHAT COMMAND…
    within "$1" "${@:3}" || give_up "$2"
}
end() { # SIGNAL PROCESS…: and waits for it
    local signal=$1 pid
    shift
    for pid in "$@"; do kill "-$signal" "$pid" 2> /dev/null || true; done
    for pid in "$@"; do wait "$pid" 2> /dev/null || true; done
}
end_all() {
    end KILL "${started[@]}"
    started=()
}
trap end_all EXIT
trap 'exit 143' TERM INT
