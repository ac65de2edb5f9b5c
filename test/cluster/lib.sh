# shellcheck shell=bash disable=SC2154,SC2034,SC2119,SC2120 # names are shared by the files that run.sh sources
# What the stories are told with: clusters of real agents on loopback, work that leaves traces, and the witness.
# Sourced by run.sh, in a process of its own for each story: name, dir, prefix, port and lib are set.

declare -A agent=() runner=()
members=()
relay=
relay_orders=0
exec {never}<> <(:) # to wait without starting a process

skip() { # WHY
    echo "skip $name: $*" > "$dir/result"
    exit 0
}

fail() { # WHY
    echo "FAIL $name: $*" > "$dir/result"
    exit 1
}

nap() { read -rt 0.05 -u "$never" || true; }

await() { # SECONDS WHAT COMMAND...: until the command succeeds. ELECTOR_PATIENCE bounds them, where a bug is planted
    local end=$((SECONDS + (${ELECTOR_PATIENCE:-$1} < $1 ? ELECTOR_PATIENCE : $1))) what=$2
    shift 2
    until "$@"; do
        ((SECONDS < end)) || fail "not in time: $what"
        nap
    done
}

# ---- Clusters ----

found() { # COUNT [LINE...]: a cluster of members a, b, c...; the lines end each configuration
    local all=(a b c d e) list='' i
    members=("${all[@]:0:$1}")
    for ((i = 0; i < $1; i++)); do list+="${list:+,}${all[i]}=$prefix.$((i + 1)):$port"; done
    shift
    "$ELECTOR" init --members "$list" --cluster "$name" --out "$dir/c" > "$dir/init.log"
    for i in "${members[@]}"; do
        [ $# -eq 0 ] || printf '%s\n' "$@" >> "$dir/c/$i/elector.conf"
    done
}

conf() { echo "$dir/c/$1/elector.conf"; }
url() { echo "unix:$dir/c/$1/agent.sock"; }
number() { printf '%d' $(($(printf '%d' "'$1") - 96)); } # a is 1

start() { # MEMBER...
    local m
    for m in "$@"; do
        [ -z "${agent[$m]:-}" ] || await 30 "the last life of $m is over" has_ended "${agent[$m]}"
        "$ELECTOR" agent --config "$(conf "$m")" >> "$dir/$m.log" 2>&1 &
        agent[$m]=$!
    done
    for m in "$@"; do await 60 "agent $m answers" answers "$m"; done
}

status() { "$ELECTOR" status ${2:+"$2"} --url "$(url "$1")" --output json 2> /dev/null || true; } # MEMBER [GROUP]
answers() { [[ $(status "$1") == *'"ok"'* ]]; }

field() { # MEMBER GROUP NAME: leader or token, of that group's status; empty: null, or no such group
    local text pattern="\"$3\": *\"?([^,\"}]*)"
    text=$(status "$1" "$2")
    if [[ $text =~ $pattern ]] && [ "${BASH_REMATCH[1]}" != null ]; then echo "${BASH_REMATCH[1]}"; fi
}

sees() { [ "$(field "$1" work leader)" = "$2" ]; } # MEMBER LEADER
agree() { # all agents that run name the same leader
    local m leader='' seen
    for m in "${members[@]}"; do
        kill -0 "${agent[$m]}" 2> /dev/null || continue
        seen=$(field "$m" "${1:-work}" leader)
        [ -n "$seen" ] && [ "${leader:-$seen}" = "$seen" ] || return 1
        leader=$seen
    done
}

has_ended() { ! kill -0 "$1" 2> /dev/null; } # PID

await_exit() { # PID CODE WHAT
    local code=0
    await 60 "$3 ends" has_ended "$1"
    wait "$1" || code=$?
    [ "$code" = "$2" ] || fail "$3 ended with $code, not with $2"
}

log_says() { grep -q -e "$2" "$dir/$1.log"; } # MEMBER TEXT
await_log() { await 60 "$1 logs '$2'" log_says "$1" "$2"; }
no_errors() { # MEMBER...: nothing that an operator would have to look into
    local m
    for m in "$@"; do
        ! grep -e level=error -e AddressSanitizer -e 'runtime error' "$dir/$m.log" > "$dir/strange" ||
            fail "$m logs $(head -n 1 "$dir/strange")"
    done
}

# ---- Work ----

work() { # MEMBER...: a candidate by `elector run`
    local m
    for m in "$@"; do
        "$ELECTOR" run --url "$(url "$m")" --quiet work -- "$lib/cluster-worker" "$dir/ticks" >> "$dir/run-$m.log" 2>&1 &
        runner[$m]=$!
    done
}

work_by_library() { # MEMBER...: a candidate that asks before each tick
    local m
    for m in "$@"; do
        "$lib/cluster-worker" "$dir/ticks" "$(url "$m")" work >> "$dir/run-$m.log" 2>&1 &
        runner[$m]=$!
    done
}

# Who began last: token, worker and leader. A worker by library says its URL.
look() {
    local line
    line=$(grep '^begin ' "$dir/ticks" 2> /dev/null | tail -n 1) || true
    read -r _ token _ worker leader <<< "$line" || true
    token=${token:-0}
    leader=${leader%/agent.sock}
    leader=${leader##*/}
}

ticks() { grep -c "^tick ${1:-}" "$dir/ticks" 2> /dev/null || true; } # [TOKEN]
has_ticks() { [ "$(ticks "$1 ")" -ge "$2" ]; }                        # TOKEN COUNT
works_beyond() { # TOKEN: somebody works with a higher one
    look
    [ "$token" -gt "$1" ] && has_ticks "$token" 20
}
works_at() { look && [ "$leader" = "$1" ] && has_ticks "$token" 20; } # MEMBER
await_handover() { await 20 "work with a token above $1, long before a lease ends" works_beyond "$1"; } # TOKEN
await_leader() { await 60 "work with a token above ${1:-0}" works_beyond "${1:-0}"; }

begin() { # COUNT [LINE...]: a cluster at work
    found "$@"
    start "${members[@]}"
    work "${members[@]}"
    await_leader
}

others() { # MEMBER: all but it
    local m
    for m in "${members[@]}"; do [ "$m" = "$1" ] || echo "$m"; done
}

# Nobody works while another does, and tokens only rise.
witness() { # [FILE]
    awk '
        $1 == "begin" { who[$2 " " $4] = $5 }
        $1 == "tick" {
            k = $2 " " $4
            if (!(k in first)) { keys[++n] = k; first[k] = last[k] = $3 }
            if ($3 < first[k]) first[k] = $3
            if ($3 > last[k]) last[k] = $3
        }
        END {
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && first[keys[j]] < first[keys[j - 1]]; j--) { k = keys[j]; keys[j] = keys[j - 1]; keys[j - 1] = k }
            for (i = 2; i <= n; i++) {
                a = keys[i - 1]; b = keys[i]; split(a, x); split(b, y)
                if (last[a] >= first[b]) {
                    printf "token %s worked on for %.1f ms while token %s did\n", x[1], (last[a] - first[b]) / 1e6, y[1]
                    red = 1
                }
                if (y[1] < x[1] || (y[1] == x[1] && who[a] != who[b])) { printf "token %s came after %s\n", y[1], x[1]; red = 1 }
                if (last[a] > last[b]) keys[i] = a
            }
            if (n == 0) { print "nobody worked"; red = 1 }
            exit red
        }' "${1:-$dir/ticks}" > "$dir/witness"
}

judge() { witness || fail "the witness: $(head -n 1 "$dir/witness")"; }

# ---- Networks ----

# Between every two members stands a relay, which does as it is told.
found_relayed() { # COUNT [LINE...]
    local m j
    found "$@"
    for m in "${members[@]}"; do
        for j in "${members[@]}"; do
            [ "$m" = "$j" ] || sed -i "s/^address = $prefix\.$(number "$j"):/address = $prefix.$((100 + 10 * $(number "$m") + $(number "$j"))):/" "$(conf "$m")"
        done
    done
    mkfifo "$dir/orders"
    exec {relay}<> "$dir/orders"
    "$lib/cluster-relay" "$prefix" "$1" "$port" < "$dir/orders" > "$dir/relay.log" 2>&1 &
    await 30 "the relay is ready" grep -q ready "$dir/relay.log"
}

obeyed() { [ "$(wc -l < "$dir/relay.log")" -gt "$relay_orders" ]; }
order() { # FROM TO WHAT NUMBER: members by name, 0 for all
    local from=$1 to=$2
    [ "$from" = 0 ] || from=$(number "$from")
    [ "$to" = 0 ] || to=$(number "$to")
    echo "$from $to $3 $4" >&"$relay"
    relay_orders=$((relay_orders + 1))
    await 30 "the relay obeys" obeyed
}

# Tells the story once more in a namespace of its own, which ends with the story, however that ends.
tell_apart() { # WHAT OPTION, of unshare
    [ -z "${told_apart:-}" ] || return 0
    unshare "$2" true 2> "$dir/unshare.log" || skip "no $1 here: $(head -n 1 "$dir/unshare.log")"
    told_apart=1 exec unshare "$2" "$0" --story "$name" "$number" "$dir"
}
make_net() { # a network of our own, in which members can be cut off from each other
    tell_apart "network namespaces" --net
    ip link set lo up
    nft_do add table inet cut
    nft_do add chain inet cut in '{ type filter hook input priority 0; }'
}
nft_do() { nft "$@" > "$dir/nft.log" 2>&1 || skip "nft does not work here: $(head -n 1 "$dir/nft.log")"; }
cut_off() { nft_do add rule inet cut in ip saddr "$prefix.$(number "$1")" ip daddr "$prefix.$(number "$2")" drop; } # FROM TO
heal() { nft_do flush chain inet cut in; }

# ---- Disks ----

# A disk of our own, which can be frozen: as for a snapshot, whoever writes to it waits. It must thaw before its processes can
# end. contain thaws it if a limit ends the test.
make_disk() { # FOLDER [SIZE]
    tell_apart "mounts of our own" --mount
    truncate -s "${2:-64M}" "$dir/disk.ext4"
    mkfs.ext4 -q "$dir/disk.ext4"
    mkdir "$1"
    mount -o loop "$dir/disk.ext4" "$1" 2> "$dir/mount.log" || skip "no loop devices here: $(head -n 1 "$dir/mount.log")"
}
freeze() { fsfreeze -f "$1" && frozen=$1; } # FOLDER
thaw() { fsfreeze -u "$frozen" && frozen=; }

# ---- The end of a story ----

clean_up() {
    local pids
    [ -z "${frozen:-}" ] || thaw || true
    pids=$(jobs -p)
    # shellcheck disable=SC2086 # one word a process
    [ -z "${pids// /}" ] || kill -KILL $pids 2> /dev/null || true
    wait 2> /dev/null || true
}
