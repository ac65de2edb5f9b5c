#!/usr/bin/env bash
# How long nobody works, by what ended the leader, with `elector run` on a store, and with the store's own clients beside it, on
# the same servers in the same run: a table on stdout, progress on stderr. The clock runs from the kill to the first line of the
# next worker. `store`: the leader of the store is killed, and at once the command.
#
# Environment: ELECTOR, the program; BUILD, a built folder; TRIALS (20) of each kind; TTL (5), in seconds, of all; STORES (etcd zookeeper
# kubernetes); KINDS (command run resign stopped store groups). Each store is a file store_NAME.sh here: store_start, store_stop,
# store_kill_leader, store_heal, store_url; and own_clients, with own_run.
set -euo pipefail
cd "$(dirname "$0")/../.."
BUILD=$(realpath "${BUILD:-build/release}")
ELECTOR=$(realpath "${ELECTOR:-$BUILD/elector}")
trials=${TRIALS:-20}
export ttl=${TTL:-5} # for store_NAME.sh
read -ra stores <<< "${STORES-etcd zookeeper kubernetes}"
read -ra kinds <<< "${KINDS-command run resign stopped store groups}"
export ELECTOR_ENGINES_DIR=$BUILD
work=$(mktemp -d "${TMPDIR:-/tmp}/elector-engines.XXXXXX")
started=()
# shellcheck disable=SC2317 # by the trap
finish() {
    trap '' TERM INT
    ((${#started[@]} == 0)) || kill -KILL "${started[@]}" 2> /dev/null || true
    store_stop 2> /dev/null || true
    wait 2> /dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 143' TERM INT

now() { date +%s%N; }
say() { echo "bench-engines: $*" >&2; }
# The work: one line when it begins (time, pid), and then it waits.
cat > "$work/worker" << 'END'
#!/bin/sh
echo "$(date +%s%N) $$ $PPID" >> "$1"
exec sleep 1000
END
chmod +x "$work/worker"

end_process() { # PID...: at once
    kill -KILL "$@" 2> /dev/null || true
    wait "$@" 2> /dev/null || true
}
lines() { wc -l < "$1" 2> /dev/null || echo 0; }
await_line() { # FILE NUMBER: for a minute
    local tries=0
    until [ "$(lines "$1")" -ge "$2" ]; do
        ((tries++ < 6000)) || { say "no worker began in a minute" && return 1; }
        sleep 0.01
    done
}

# A pair: two candidates, of whom one works.
start_candidate() { # WHO GROUP LOG
    if [ "$1" = "elector run" ]; then
        setsid "$ELECTOR" run --quiet --url "$(store_url)" "$2" -- "$work/worker" "$3" > /dev/null 2>> "$work/err" < /dev/null &
    else
        own_run "$1" "$2" "$work/worker" "$3" > /dev/null 2>> "$work/err" < /dev/null &
    fi
    candidate=$!
    started+=("$candidate")
}

# It and all below it: keeper, command and engine are orphans of `elector run`, or its children.
all_of() { # PID
    local child
    echo "$1"
    for child in $(pgrep -P "$1"); do all_of "$child"; done
}

end_candidate() { # PID
    kill -TERM "$1" 2> /dev/null || return 0
    sleep 0.2
    kill -KILL "$1" 2> /dev/null || true
    wait "$1" 2> /dev/null || true
}

measure() { # WHO KIND: ms for each trial
    local who=$1 kind=$2 i log first second from to pid group
    for ((i = 0; i < trials; i++)); do
        group=${who,,} && group=g-${group// /-}-$kind-$i
        log=$work/$group
        : > "$log"
        start_candidate "$who" "$group" "$log" && first=$candidate
        await_line "$log" 1 || exit 1
        start_candidate "$who" "$group" "$log" && second=$candidate
        sleep "${SETTLE:-2}" # it stands in the queue: a Java program starts slowly
        read -r _ pid _ < "$log"
        from=$(now)
        case $kind in
        command) kill -KILL "$pid" ;;
        run) kill -KILL "$first" ;;
        stopped) # shellcheck disable=SC2046
            kill -STOP $(all_of "$first") 2> /dev/null || true ;;
        resign) kill -TERM "$([ "$who" = "elector run" ] && echo "$first" || echo "$pid")" ;; # its own client leaves with its command
        store)
            store_kill_leader
            from=$(now)
            kill -KILL "$pid"
            ;;
        esac
        if await_line "$log" 2; then to=$(sed -n '2s/ .*//p' "$log"); else to=$((from + 60000000000)); fi # it never came
        awk -v a="$from" -v b="$to" 'BEGIN { printf "%.1f\n", (b - a) / 1e6 }'
        # shellcheck disable=SC2046
        [ "$kind" != stopped ] || kill -CONT $(all_of "$first") 2> /dev/null || true
        end_candidate "$first"
        end_candidate "$second"
        kill -KILL "$pid" 2> /dev/null || true
        [ "$kind" != store ] || store_heal
    done
}

row() { # LABEL SAMPLES
    sort -n "$2" | awk -v label="$1" '
        { v[NR] = $1 }
        END {
            p = int(NR * 0.99 + 0.999)
            if (p > NR) p = NR
            if (NR) printf "%-48s %10.1f %10.1f %6d\n", label, v[int((NR + 1) / 2)], v[p], NR
        }'
}

printf '%-48s %10s %10s %6s\n' "what ended the leader" "median ms" "p99 ms" "trials"
declare -A labels=([command]="command killed" [run]="elector run, or own client, killed" [resign]=resign [stopped]="host stopped" [store]="store's leader and command killed")
for store in "${stores[@]}"; do
    # shellcheck disable=SC1090
    source "bench/engines/store_$store.sh"
    store_start
    for kind in "${kinds[@]}"; do
        [ "$kind" != groups ] || continue
        for who in "elector run" "${own_clients[@]}"; do
            say "$store: $kind, $who"
            measure "$who" "$kind" > "$work/samples"
            row "$store, ${labels[$kind]}: $who" "$work/samples"
        done
    done
    if [[ " ${kinds[*]} " == *" groups "* ]]; then
        say "$store: 1000 groups"
        for ((i = 0; i < 3; i++)); do timeout 120 "$BUILD/bench/bench-engines" "$(store_url)" 1000; done > "$work/samples"
        row "$store, 1,000 groups acquired" "$work/samples"
    fi
    store_stop
done
