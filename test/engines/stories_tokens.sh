# shellcheck shell=bash disable=SC2154,SC2034,SC2317 # see lib_etcd.sh, lib_zookeeper.sh and lib_kubernetes.sh
# Tokens rise over a restored store and from one engine to the next, as docs/engines.md says how.

all_end() { # MEMBER...: by SIGTERM, so that nothing of theirs is left in the store
    local m
    for m in "$@"; do kill -TERM "${runner[$m]}"; done
    for m in "$@"; do await 60 "elector run of $m ends" has_ended "${runner[$m]}"; done
}

story_etcd_is_restored() { # from a snapshot: revisions fall, and tokens with them, unless they are raised
    etcd_ttl=20s
    etcd_found 1
    etcd_start s1
    work a
    await_leader
    local snapshot=$token before
    ctl snapshot save "$dir/snapshot" > "$dir/saved" 2>&1
    work b
    await 30 "b stands" waits_for 2
    all_end a
    await_leader "$snapshot"
    before=$token
    all_end b
    etcd_restore
    "$ELECTOR" status work --url "$(url x)" > "$dir/said" || true # the candidate of that time is back, until its lease expires or is revoked
    says '^work +a '
    ctl lease revoke "$(lease_of_leader)" > "$dir/revoked"
    ctl put "$prefix_of_groups/elector/tokens-above" "$before" > "$dir/put"
    work b
    await_leader "$before"
    judge
}
etcd_restore() { # what it was when the snapshot was taken
    etcd_kill s1
    rm -rf "$dir/s1.data"
    ETCDCTL_API=3 etcdctl snapshot restore "$dir/snapshot" --name s1 --data-dir "$dir/s1.data" --initial-cluster-token "$name" \
        --initial-cluster "s1=http://$(etcd_address s1):2380" --initial-advertise-peer-urls "http://$(etcd_address s1):2380" > "$dir/restored" 2>&1
    etcd_start s1
}

story_etcd_is_restored_under_a_leader() { # whose key is not in the snapshot: it loses the office, and says so
    etcd_found 1
    etcd_start s1
    ctl snapshot save "$dir/snapshot" > "$dir/saved" 2>&1
    etcd_ttl=20s
    work a
    await_leader
    local before=$token now
    etcd_restore
    ctl put "$prefix_of_groups/elector/tokens-above" "$before" > "$dir/put"
    says_removed a 'our key in etcd is gone'
    await 30 "a stands again" waits_for 1
    now=$(ticks)
    await 30 "it works again" has_more_ticks "$now"
    look
    [ "$token" -lt "$before" ] || before=$token
    all_end a
    work b
    await_leader "$before"
    before=$token
    all_end b
    work a
    await_leader "$before"
    judge_restored
}
has_more_ticks() { [ "$(ticks)" -gt $(($1 + 50)) ]; }
# Who stood before the number was raised has a token that fell. Nobody works beside another all the same.
judge_restored() { witness || ! grep 'worked on for' "$dir/witness" > "$dir/wrong" || fail "the witness: $(sed -n 1p "$dir/wrong")"; }

story_zookeeper_is_restored() { # its data folder: czxids fall
    zk_found 1
    zk_start 1
    work a
    await_leader
    local snapshot=$token before
    all_end a
    zk_kill 1
    cp -r "$dir/zk1/data" "$dir/copy"
    zk_start 1
    work b
    await_leader "$snapshot"
    before=$token
    all_end b
    zk_kill 1
    rm -rf "$dir/zk1/data" && mv "$dir/copy" "$dir/zk1/data"
    zk_start 1
    zk_hand put "/$zk_path/elector/tokens-above" "$before"
    work a b
    await_leader "$before"
    before=$token
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    judge
}

story_tokens_rise_from_engine_to_engine() { # agents, etcd, Kubernetes, and other agents
    found 3
    url() { echo "unix:$dir/c/$1/agent.sock"; }
    start a b c
    work a b c
    await_leader
    local before=$token
    [ "$before" -gt 1000000000000000 ] || fail "the first token of agents is $before"
    all_end a b c
    look
    before=$token # another may have led for a moment
    kill -TERM "${agent[a]}" "${agent[b]}" "${agent[c]}"

    etcd_found 1
    etcd_start s1
    url() { echo "etcd://$(etcd_endpoints s1)/shop?ttl=3s&member=$1"; }
    ctl put shop/elector/tokens-above "$before" > "$dir/put"
    work a b
    await_leader "$before"
    all_end a b
    look
    before=$token

    kube_found
    kube_start
    ask_kube -X POST -H 'Content-Type: application/json' -o "$dir/made" --data \
        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"work\",\"annotations\":{\"elector/token\":\"$before\"}},\"spec\":{}}" \
        "$(kube_leases)"
    work a b
    await_leader "$before"
    all_end a b
    look
    before=$token

    rm -rf "$dir/c"
    "$ELECTOR" init --members "a=$prefix.1:$port,b=$prefix.2:$port,c=$prefix.3:$port" --cluster "$name" --out "$dir/c" --tokens-above $((before + 4000000000000)) > "$dir/init.log"
    members=(a b c) agent=()
    url() { echo "unix:$dir/c/$1/agent.sock"; }
    start a b c
    work a b c
    await_leader $((before + 4000000000000))
    judge
}

story_etcd_after_a_lock() { # file:, then etcd, and tokens rise
    etcd_found 1
    etcd_start s1
    mkdir "$dir/locks"
    "$ELECTOR" run --quiet --url "file:$dir/locks" work -- "$lib/cluster-worker" "$dir/ticks" &
    local lock=$!
    await_leader
    local before=$token
    kill -TERM "$lock"
    await_exit "$lock" 0 "the run over a lock"
    ctl put "$prefix_of_groups/elector/tokens-above" "$before" > "$dir/put"
    work a b
    await_leader "$before"
    before=$token
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    judge
}
