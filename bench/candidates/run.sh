#!/usr/bin/env bash
# What candidates cost: voters, and agents that lead by their votes, all on this host. Each candidate stands for a group of its own
# and for that of another. Then half of the candidates die at once, and the other half takes over.
#
# Environment: ELECTOR, the program; BUILD, a built folder; VOTERS (3); CANDIDATES ("10 25 50"), one row each; IDLE (10), seconds
# for which datagrams are counted.
set -euo pipefail
cd "$(dirname "$0")/../.."
ELECTOR=$(realpath "${ELECTOR:-${BUILD:-build/release}/elector}")
read -ra sizes <<< "${CANDIDATES:-10 25 50}"
voters=${VOTERS:-3}
idle=${IDLE:-10}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/elector-candidates.XXXXXX")
prefix=127.$((1 + $$ % 250)).$((1 + $$ / 250 % 250))
declare -A agent
clients=()
end_all() {
    local pids=("${clients[@]}" "${agent[@]}")
    [ ${#pids[@]} -eq 0 ] || kill -KILL "${pids[@]}" 2> /dev/null || true
    sleep 0.5
    clients=()
    agent=()
}
trap 'end_all; rm -rf "$scratch"' EXIT
trap 'exit 143' TERM INT

say() { echo "bench-candidates: $*" >&2; }
now() { echo $((${EPOCHREALTIME/./} / 1000)); }
await() { # SECONDS WHAT COMMAND…
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        if ((SECONDS >= end)); then
            say "not in time: $what"
            exit 1
        fi
        sleep 0.02
    done
}
conf() { echo "$scratch/$size/$1/elector.conf"; }
url() { echo "unix:$scratch/$size/$1/agent.sock"; }
answers() { "$ELECTOR" status --url "$(url "$1")" > /dev/null 2>&1; }
hears_all() { ! "$ELECTOR" members --url "$(url v1)" 2>&1 | grep -E 'SILENT|cannot' > /dev/null; }
is_led() { # COUNT PATTERN: so many groups have a leader like that, as the first voter knows
    [ "$("$ELECTOR" status --url "$(url v1)" 2> /dev/null | awk -v who="$2" '$1 ~ /^g[0-9]+$/ && $2 ~ who' | wc -l)" = "$1" ]
}
memory() { awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/${agent[$1]}/status"; }
datagrams() { # MEMBER: sent and received
    curl -s --max-time 10 "http://${address[$1]}/metrics" | awk '/^elector_network_datagrams_(sent|received)_total / { n += $2 } END { print n + 0 }'
}
rates() { # of a voter and of a candidate, a second
    local v c
    v=$(datagrams v1) c=$(datagrams c1)
    sleep "$idle"
    echo "$((($(datagrams v1) - v) / idle)) $((($(datagrams c1) - c) / idle))"
}
stand() { # MEMBER GROUP PRIORITY
    "$ELECTOR" campaign "$2" --priority "$3" --url "$(url "$1")" > /dev/null 2>&1 &
    clients+=($!)
    disown
}

echo "WHAT CANDIDATES COST: $voters voters and N candidates as processes of this host, $(nproc) processors, load $(cut -d ' ' -f 1-3 /proc/loadavg)."
echo "Memory: resident, in MB. Datagrams: with a payload, sent and received, a second."
line='%-5s %7s %10s %14s %18s %13s %16s %20s %16s\n'
# shellcheck disable=SC2059
printf "$line" N 'voter' candidate 'voter, at rest' 'candidate, at rest' 'N groups led' 'voter, all lead' 'candidate that leads' 'N/2 die at once'
declare -A address
for size in "${sizes[@]}"; do
    list='' names=''
    for ((i = 1; i <= voters; i++)); do address[v$i]=$prefix.$i:7400 list+=",v$i=$prefix.$i:7400"; done
    for ((i = 1; i <= size; i++)); do address[c$i]=$prefix.$((100 + i)):7400 list+=",c$i=$prefix.$((100 + i)):7400" names+=",c$i"; done
    "$ELECTOR" init --members "${list#,}" --candidate "${names#,}" --cluster bench --out "$scratch/$size" > /dev/null
    for folder in "$scratch/$size"/*/; do
        member=$(basename "$folder")
        "$ELECTOR" agent --config "$(conf "$member")" > "$folder/log" 2>&1 &
        agent[$member]=$!
        disown # or the shell says that it was killed
    done
    for member in "${!agent[@]}"; do await 60 "$member answers" answers "$member"; done
    await 60 'the first voter hears all' hears_all
    sleep 2
    read -r rest_v rest_c <<< "$(rates)"
    half=$((size / 2))
    from=$(now)
    for ((i = 1; i <= size; i++)); do stand "c$i" "g$i" 100; done
    await 120 'all groups are led' is_led "$size" '^c[0-9]+$'
    took=$(($(now) - from))
    for ((i = 1; i <= size; i++)); do stand "c$(((i - 1 + half) % size + 1))" "g$i" 50; done
    sleep 3
    memory_v=$(memory v1) memory_c=$(memory c1)
    read -r lead_v lead_c <<< "$(rates)"
    dead=()
    living=''
    for ((i = 1; i <= half; i++)); do dead+=("${agent[c$i]}"); done
    for ((i = half + 1; i <= size; i++)); do living+="${living:+|}c$i"; done
    from=$(now)
    kill -KILL "${dead[@]}"
    await 120 'the living lead all groups' is_led "$size" "^($living)\$"
    # shellcheck disable=SC2059
    printf "$line" "$size" "$memory_v" "$memory_c" "$rest_v" "$rest_c" "$took ms" "$lead_v" "$lead_c" "$(($(now) - from)) ms"
    end_all
done
