# shellcheck shell=bash # sourced by the peers' scripts, whose first argument is a folder of their own
# What the peers' scripts share: time by bash, which costs tenths of a millisecond where they take several.
set -euo pipefail
work=$1
export trials=${PEER_TRIALS:-10}
started=()
exec 3>&2 2>> "$work/script.log" # bash tells of every process that is killed

skip() { # WHY: one line, and no samples
    echo "$(basename "$0" .sh | sed s/peer_//): skipped: $*" >&3
    exit 0
}
needs() { # COMMAND…
    local command
    for command in "$@"; do command -v "$command" > /dev/null || skip "$command is not installed (scripts/setup-peers)"; done
}
give_up() {
    echo "$(basename "$0"): not in time: $*" >&3
    exit 1
}
now_us() { echo "${EPOCHREALTIME/[^0-9]/}"; }
sample() { echo "$1 $2 $((($4 - $3) * 1000))"; } # SYSTEM WHAT FROM TO, in us
start() { # LOG COMMAND…: in the background, its process in $!
    local log=$1
    shift
    "$@" < /dev/null >> "$work/$log" 2>&1 &
    started+=($!)
}
drain() { # FD: what came before is no news
    while read -rt 0.02 -u "$1" _; do :; done
}
free_port() { # three from there on are believed to be free
    local port=$((20000 + $$ % 20000))
    while grep -qiE ":($(printf '%X|%X|%X' $port $((port + 1)) $((port + 2)))) " /proc/net/tcp /proc/net/tcp6 2> /dev/null; do port=$((port + 7)); done
    echo $port
}
await() { # SECONDS WHAT COMMAND…
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        ((SECONDS < end)) || give_up "$what"
        sleep 0.05
    done
}
end_all() {
    local pid
    for pid in "${started[@]}"; do kill -KILL "$pid" 2> /dev/null || true; done
    wait 2> /dev/null || true
}
trap end_all EXIT
trap 'exit 143' TERM INT
