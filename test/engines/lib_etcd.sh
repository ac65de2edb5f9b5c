# shellcheck shell=bash disable=SC2154,SC2034 # names are shared with test/cluster/lib.sh, which run.sh sources first
# etcd servers s1, s2, s3 on loopback addresses of their own, and candidates a, b, c. Replaces url() of the cluster's lib.sh.

declare -A server=()
servers=()
etcd_scheme=http
etcd_flags=()
etcd_url=etcd
etcd_query=
etcd_ttl=3s
prefix_of_groups=shop

etcd_address() { echo "$prefix.${1#s}"; } # SERVER
etcd_endpoints() { # SERVER...: for URLs
    local all='' s
    for s in "$@"; do all+="${all:+,}$(etcd_address "$s"):2379"; done
    echo "$all"
}
url() { echo "$etcd_url://$(etcd_endpoints "${servers[@]}")/$prefix_of_groups?ttl=$etcd_ttl&member=$1$etcd_query"; } # CANDIDATE
ctl() { ETCDCTL_API=3 etcdctl --endpoints "$(etcd_endpoints "${servers[@]}")" "$@"; }
elect() { ETCDCTL_API=3 exec etcdctl --endpoints "$(etcd_endpoints "${servers[@]}")" elect "$@"; } # with &: $! is etcdctl

etcd_found() { # COUNT
    local all=(s1 s2 s3)
    servers=("${all[@]:0:$1}")
    members=(a b c)
}

etcd_start() { # SERVER...
    local s cluster='' one at
    for s in "${servers[@]}"; do cluster+="${cluster:+,}$s=http://$(etcd_address "$s"):2380"; done
    for s in "$@"; do
        at=$(etcd_address "$s")
        etcd --name "$s" --data-dir "$dir/$s.data" --listen-client-urls "$etcd_scheme://$at:2379" \
            --advertise-client-urls "$etcd_scheme://$at:2379" --listen-peer-urls "http://$at:2380" \
            --initial-advertise-peer-urls "http://$at:2380" --initial-cluster "$cluster" --initial-cluster-token "$name" \
            --heartbeat-interval 50 --election-timeout 500 "${etcd_flags[@]}" >> "$dir/$s.log" 2>&1 &
        server[$s]=$!
    done
    for one in "$@"; do await 60 "etcd $one answers" etcd_answers "$one"; done
}
etcd_answers() { ETCDCTL_API=3 etcdctl --endpoints "$(etcd_endpoints "$1")" --command-timeout 2s endpoint health > /dev/null 2>&1; }
etcd_kill() { # SERVER...
    local s
    for s in "$@"; do
        kill -KILL "${server[$s]}"
        wait "${server[$s]}" 2> /dev/null || true
    done
}
etcd_freeze() { kill -STOP "${server[$1]}"; }
etcd_thaw() { kill -CONT "${server[$1]}"; }
etcd_leader() { # the server that leads
    local s
    for s in "${servers[@]}"; do
        ETCDCTL_API=3 etcdctl --endpoints "$(etcd_endpoints "$s")" --command-timeout 2s endpoint status -w fields 2> /dev/null |
            awk '/"MemberID"/ { id = $3 } /"Leader"/ { leader = $3 } END { exit !(id && id == leader) }' && echo "$s" && return
    done
}

# A hand that takes the office from a leader makes two work until the old one has heard of it, which takes a few milliseconds. One that
# never hears of it works on for as long as its lease is renewed: so more than a second is too long, also on a busy machine.
judge_tokens() {
    witness || ! awk '!/worked on for/ || $6 > 1000' "$dir/witness" | grep . > "$dir/wrong" || fail "the witness: $(sed -n 1p "$dir/wrong")"
}
says_removed() { # CANDIDATE PATTERN: what it says of the office that a hand took from it
    await 30 "$1 says that '$2'" grep -qE "no longer leading \\(removed: $2.*\\); stopping the command" "$dir/run-$1.log"
}

story_is_over() { # run.sh calls it: a story with work has a judge
    [ ! -s "$dir/ticks" ] || [ -e "$dir/witness" ] || fail "nobody has judged what the workers wrote"
}

judge() {
    witness || fail "the witness: $(head -n 1 "$dir/witness")"
    ! grep -hE 'AddressSanitizer|LeakSanitizer|runtime error' "$dir"/*.log > "$dir/strange" || fail "$(sed -n 1p "$dir/strange")"
}

store_begin() { # COUNT: that many servers, and the candidates at work
    etcd_found "$1"
    etcd_start "${servers[@]}"
    work "${members[@]}"
    await_leader
}

# The engine of a candidate: the process that has its URL.
engine_of() { pgrep -u "$(id -u)" -f "^elector-engine --client .*//${prefix}[.].*[?&]member=$1(&|\$)" | sed -n 1p; }

waits_for() { [ "$(ctl get --prefix --keys-only "$prefix_of_groups/work/" 2> /dev/null | grep -c .)" -ge "$1" ]; } # CANDIDATES
says() { grep -qE -e "$1" "$dir/said" || fail "does not say '$1' but '$(head -n 2 "$dir/said" | tr '\n' ' ')'"; } # PATTERN
refused() { # CODE PATTERN COMMAND...
    local wanted=$1 pattern=$2 code=0
    shift 2
    timeout 30 "$@" > "$dir/said" 2>&1 || code=$?
    [ "$code" = "$wanted" ] || fail "ended with $code, not with $wanted: $* ($(head -n 1 "$dir/said"))"
    says "$pattern"
    [ "$(wc -l < "$dir/said")" = 1 ] || fail "says more than one line: $*"
}
