#!/usr/bin/env bash
# What a short timeout buys and costs, here and with others' systems on the same machine in the same run: how long nobody leads after
# all processes of the leader's host stop (SIGSTOP), how often leadership changes although nothing has failed, and whether two ever
# lead at once. A table on stdout, progress on stderr. Run it as root: in a network of its own, in which 1 % of the members' packets
# are lost when that is measured.
#
# What cannot be measured here is skipped with a line. scripts/setup-peers installs the others.
#
# Environment: ELECTOR, the program; BUILD, a built folder; SECONDS_EACH, of each kind of load (600); TRIALS (30), how often a host
# falls silent; LOADS (cpu io pauses loss); SYSTEMS (elector keepalived libraft etcd zookeeper); SVG, a file for the curve; KEEP=1 keeps the
# folder with claims and logs.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${ELECTOR_BENCH_NET:-}" ] && unshare --net true 2> /dev/null; then
    ELECTOR_BENCH_NET=own exec unshare --net --mount "$0" "$@"
fi
BUILD=$(realpath "${BUILD:-build/release}")
ELECTOR=$(realpath "${ELECTOR:-$BUILD/elector}")
bench=$BUILD/bench/bench-silence
seconds=${SECONDS_EACH:-600} trials=${TRIALS:-30}
read -ra loads <<< "${LOADS-cpu io pauses loss}"
read -ra systems <<< "${SYSTEMS-elector keepalived libraft etcd zookeeper}"

work=$(mktemp -d "${TMPDIR:-/tmp}/elector-silence.XXXXXX")
export ELECTOR_BENCH_WORK=$work # by which all that was started is known
# shellcheck disable=SC2317 # by the trap
end_all() {
    local pids
    mapfile -t pids < <(grep -lsFxz "ELECTOR_BENCH_WORK=$work" /proc/[0-9]*/environ | tr -dc '0-9\n' | grep -vxF "$$")
    ((${#pids[@]} == 0)) || kill -KILL "${pids[@]}" 2> /dev/null || true
    wait 2> /dev/null || true
}
# shellcheck disable=SC2317
finish() {
    trap '' TERM INT
    end_all
    remove_net
    if [ -n "${KEEP:-}" ]; then echo "kept in $work" >&3; else rm -rf "$work"; fi
}
netns='' nets=0
# shellcheck disable=SC2317
remove_net() {
    [ -n "$netns" ] || return 0
    ip link del "$netns" || true
    ip netns del "$netns" || true
    netns=''
}
trap finish EXIT
trap 'exit 143' TERM INT
exec 3>&2 2>> "$work/script.log" # bash tells of every process that is killed
say() { echo "bench-silence: $*" >&3; }
legend() { echo "$*" >> "$work/legend"; }

# ---- Hosts ----

hosts=()
host() { # NAME: a folder in $dir, and its processes are started by `at`
    dir=$work/$system/$1
    mkdir -p "$dir"
    hosts+=("$dir")
}
at() { # FOLDER COMMAND…: in the background, a process of that host
    local folder=$1
    shift
    SILENCE_HOST=$folder "$@" < /dev/null >> "$folder/log" 2>&1 &
}
claim_lines() { # FOLDER COMMAND…: a candidate that says `lost`, or anything else when it leads
    local folder=$1
    shift
    # shellcheck disable=SC2016 # the host's bash reads it
    at "$folder" bash -c 'folder=$1 bench=$2; shift 2; "$@" | "$bench" claim "$folder" lines' - "$folder" "$bench" "$@"
}

# ---- Systems: each starts its hosts, and says what is lost with 1 % in $loss, as nft's conditions ----

start_elector() { # SETTING
    local m list='' prefix=127.$((1 + $$ % 250)).7
    for m in 1 2 3; do list+="${list:+,}h$m=$prefix.$m:7400"; done
    "$ELECTOR" init --members "$list" --cluster bench --out "$work/$system/c" > "$work/init.log"
    sed -i "s/^\[cluster\]/&\nprofile = $1/" "$work/$system"/c/*/elector.conf
    for m in 1 2 3; do
        host h$m
        at "$dir" "$ELECTOR" agent --config "$work/$system/c/h$m/elector.conf"
    done
    sleep 2 # an agent grants nothing for a promise after its start
    for m in 1 2 3; do at "$work/$system/h$m" "$bench" claim "$work/$system/h$m" elector "unix:$work/$system/c/h$m/agent.sock" work; done
    loss=('udp dport 7400')
}

start_keepalived() { # SECONDS between advertisements; two hosts, of which one is a network namespace
    local n inside
    command -v keepalived > /dev/null || return 1
    netns=els$(($$ % 100000))x$((++nets))
    ip netns add "$netns" || return 1
    ip link add "$netns" type veth peer name "$netns" netns "$netns"
    ip addr add 198.18.77.1/24 dev "$netns" # of those that are kept for benches
    ip -n "$netns" addr add 198.18.77.2/24 dev "$netns"
    ip link set "$netns" up
    ip -n "$netns" link set "$netns" up
    for n in 1 2; do
        host h$n
        mkfifo "$dir/news"
        cat > "$dir/conf" << END
global_defs {
    vrrp_version 3
    vrrp_notify_fifo $dir/news
}
vrrp_instance work {
    interface $netns
    state BACKUP
    virtual_router_id 51
    priority $((256 - 2 * n))
    advert_int $1
    virtual_ipaddress { 198.18.77.100/24 }
}
END
        # shellcheck disable=SC2016 # the host's bash reads it
        claim_lines "$dir" bash -c 'exec < <(exec cat <> "$1") ; while read -r line; do case $line in *MASTER*) echo leads ;; *) echo lost ;; esac; done' - "$dir/news"
        inside=()
        [ "$n" = 1 ] || inside=(ip netns exec "$netns")
        at "$dir" "${inside[@]}" keepalived --dont-fork --log-console --vrrp -f "$dir/conf" -p "$dir/pid" -r "$dir/vrrp.pid"
    done
    loss=('ip protocol 112')
}

start_libraft() { # ELECTION/HEARTBEAT in ms, with pre-vote
    local i
    [[ $("$BUILD/bench/peer-raft" 2>&1) == usage:* ]] || return 1 # built without libraft-dev
    for i in 1 2 3; do
        host h$i
        mkdir "$dir/data"
        claim_lines "$dir" "$BUILD/bench/peer-raft" $i "$dir/data" 7700 "${1%/*}" "${1#*/}" claims
    done
    loss=('tcp dport 7701-7703' 'tcp sport 7701-7703')
}

start_etcd() { # HEARTBEAT/ELECTION in ms
    local i cluster=''
    command -v etcd > /dev/null && command -v etcdctl > /dev/null || return 1
    for i in 0 1 2; do cluster+="${cluster:+,}n$i=http://127.0.0.1:$((7520 + i))"; done
    for i in 0 1 2; do
        host h$i
        at "$dir" env ETCD_UNSUPPORTED_ARCH=arm64 etcd --name n$i --data-dir "$dir/data" --initial-cluster "$cluster" --initial-cluster-state new \
            --heartbeat-interval "${1%/*}" --election-timeout "${1#*/}" \
            --listen-client-urls "http://127.0.0.1:$((7510 + i))" --advertise-client-urls "http://127.0.0.1:$((7510 + i))" \
            --listen-peer-urls "http://127.0.0.1:$((7520 + i))" --initial-advertise-peer-urls "http://127.0.0.1:$((7520 + i))"
    done
    for i in 0 1 2; do
        # shellcheck disable=SC2016 # the host's bash reads it
        ETCDCTL_API=3 claim_lines "$work/$system/h$i" bash -c \
            'while :; do etcdctl --endpoints "$1" lock --ttl=1 work || true; echo lost; sleep 0.2; done' - "127.0.0.1:$((7510 + i))"
    done
    loss=('tcp dport 7520-7522' 'tcp sport 7520-7522')
}

start_zookeeper() { # TICK in ms; sessions of two ticks, the shortest that it grants
    local i k python jar=/usr/share/java/zookeeper.jar
    command -v java > /dev/null && [ -r $jar ] || return 1
    for python in python3 /usr/bin/python3 ''; do ! "$python" -c 'import kazoo' || break; done
    [ -n "$python" ] || return 1 # python3-kazoo
    for i in 0 1 2; do
        host h$i
        mkdir "$dir/data"
        echo $((i + 1)) > "$dir/data/myid"
        {
            printf 'tickTime=%s\ninitLimit=50\nsyncLimit=5\ndataDir=%s\nclientPort=%s\nclientPortAddress=127.0.0.1\n' "$1" "$dir/data" $((7610 + i))
            for k in 0 1 2; do echo "server.$((k + 1))=127.0.0.1:$((7620 + k)):$((7630 + k))"; done
        } > "$dir/zoo.cfg"
        echo 'log4j.rootLogger=ERROR' > "$dir/log4j.properties"
        at "$dir" java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx96m -cp "$dir:$jar" "-Dzookeeper.log.dir=$dir" "-Dzookeeper.admin.enableServer=false" \
            org.apache.zookeeper.server.quorum.QuorumPeerMain "$dir/zoo.cfg"
    done
    for i in 0 1 2; do claim_lines "$work/$system/h$i" "$python" bench/silence/kazoo_candidate.py "127.0.0.1:$((7610 + i))" "$((2 * $1))"; done
    loss=('tcp dport { 7620-7622, 7630-7632 }' 'tcp sport { 7620-7622, 7630-7632 }')
}

settings_of() { # SYSTEM
    case $1 in
    elector) echo lan fast realtime ;;
    keepalived) echo 1 0.1 0.01 ;;
    libraft) echo 1000/100 100/10 15/3 ;;
    etcd) echo 100/1000 10/100 ;;
    zookeeper) echo 2000 500 ;;
    esac
}

# ---- Loads ----

begin_load() { # cpu, io or loss
    local i condition namespace
    case $1 in
    cpu)
        for ((i = 0; i < 3 * $(nproc); i++)); do (while :; do :; done) & burden+=($!); done
        ;;
    io)
        for i in 1 2; do
            (while :; do dd if=/dev/zero of="$work/io$i" bs=1M count=128 conv=fsync 2> /dev/null; done) & burden+=($!)
        done
        ;;
    loss) # where the members receive: all here, or one in a namespace
        for namespace in '' $netns; do
            nft_in "$namespace" add table inet silence && nft_in "$namespace" add chain inet silence in '{ type filter hook input priority 0; }' || return 1
            for condition in "${loss[@]}"; do
                # shellcheck disable=SC2086 # a condition is words
                nft_in "$namespace" add rule inet silence in $condition numgen random mod 100 '<' 1 drop || return 1
            done
        done
        ;;
    esac
}
nft_in() { # NAMESPACE|'' ARGUMENTS…
    local namespace=$1
    shift
    ${namespace:+ip netns exec "$namespace"} nft "$@"
}
end_load() {
    local namespace
    ((${#burden[@]} == 0)) || kill -KILL "${burden[@]}" || true
    burden=()
    rm -f "$work"/io?
    for namespace in '' $netns; do nft_in "$namespace" delete table inet silence || true; done
}

# ---- One row ----

measure() { # SYSTEM SETTING
    local load failovers overlap forgotten code=0
    system=$1 hosts=() burden=() loss=()
    rm -rf "${work:?}/$1" && mkdir "$work/$1"
    if ! "start_$1" "$2"; then
        say "$1: skipped: it is not installed (scripts/setup-peers)"
        legend "$1: skipped, because it is not installed"
        return 1
    fi
    if ! candidates_are_there; then
        amiss "$1 $2: not measured, because a candidate has not begun within $patience s: $(tail -n 1 "$load/log")"
        end_row
        return 0 # another setting may do
    fi
    say "$1 $2: a host falls silent, $trials times"
    "$bench" trials "$trials" "${hosts[@]}" > "$work/trials" 2> "$work/trials.log" || code=$?
    sed "s|^|$1 $2 silence |" "$work/trials" >> "$work/results"
    [ "$code" = 0 ] || amiss "$1 $2: $(tail -n 1 "$work/trials.log")"
    for load in "${loads[@]}"; do
        say "$1 $2: $load for $seconds s"
        failovers=-
        if ! begin_load "$load"; then
            amiss "$1 $2: $load cannot be had here"
        else
            failovers=$("$bench" watch "$seconds" "$([ "$load" = pauses ] && echo 1 || echo 0)" "${hosts[@]}") || { failovers=- && amiss "$1 $2: $load: not measured"; }
        fi
        end_load
        echo "$1 $2 $load $failovers" >> "$work/results"
    done
    read -r overlap forgotten < <("$bench" overlap "${hosts[@]}") || overlap=- forgotten=0
    echo "$1 $2 overlap $overlap" >> "$work/results"
    [ "$forgotten" = 0 ] || amiss "$1 $2: $forgotten intervals of leading are not in the last column: they were more than 262144 at a host"
    [ "$overlap" != - ] || amiss "$1 $2: whether two led at once is not known"
    end_row
}
end_row() {
    end_all
    remove_net
}
patience=60
candidates_are_there() { # load: the host that is waited for
    local end=$((SECONDS + patience))
    for load in "${hosts[@]}"; do
        until [ -e "$load/claims" ]; do
            ((SECONDS < end)) || return 1
            sleep 0.1
        done
    done
}
failed=0
amiss() { # TEXT: below the table; the exit code is 1
    failed=1
    say "$1"
    legend "$1"
}

[ "${ELECTOR_BENCH_NET:-}" != own ] || ip link set lo up
[ -x "$bench" ] || { echo "bench-silence: there is no $bench; make bench-silence builds it" >&3 && exit 1; }
nft list tables > /dev/null || legend "loss: skipped, because nft does not work here"
chrt -f 1 true || legend "elector realtime: without real-time scheduling, which this host refuses"
: >> "$work/results" && : >> "$work/legend"
before=$(cut -d ' ' -f 1-3 /proc/loadavg)
for system in "${systems[@]}"; do
    for setting in $(settings_of "$system"); do measure "$system" "$setting" || break; done
done
legend "load of the machine before and after: $before; $(cut -d ' ' -f 1-3 /proc/loadavg); $(nproc) processors"
awk -v seconds="$seconds" -v trials="$trials" -v loads="${loads[*]}" -v svg="${SVG:-}" -f bench/silence/table.awk "$work/legend" "$work/results"
exit $failed
