# shellcheck shell=bash disable=SC2154,SC2034,SC2086 # see lib_zookeeper.sh
# What goes wrong with ZooKeeper and its candidates, and that the witness sees nobody work beside the leader.

# ---- Candidates end ----

story_zookeeper_candidates_end() { # each in its own way; the next one in the queue follows, long before a session could expire
    zk_ttl=40s
    zk_begin 1
    local before=$token who=$leader
    kill -KILL "${runner[$who]}" # the keeper ends the work, and the engine closes the session
    await_handover "$before"
    [ "$leader" != "$who" ] || fail "$who leads again"
    work "$who"
    await 30 "three candidates again" zk_waits 3
    before=$token
    kill -KILL "$worker" # elector run resigns, and ends
    await_handover "$before"
    before=$token
    kill -TERM "${runner[$leader]}"
    await_handover "$before"
    [ "$leader" = "$who" ] || fail "$leader leads, and not $who, which stood last"
    await 30 "one candidate is left" zk_waits 1
    judge
}

story_zookeeper_last_one_leaves_nothing() {
    zk_ttl=40s
    zk_found 1
    zk_start 1
    work a
    await_leader
    kill -TERM "${runner[a]}"
    await_exit "${runner[a]}" 0 "elector run"
    await 10 "no node is left" zk_waits 0
    judge
}

story_zookeeper_engine_is_killed() { # the work ends at once; the office, when the session has expired
    zk_begin 1
    local before=$token pid
    pid=$(zk_engine_of "$leader")
    kill -KILL $pid
    await_leader "$before"
    await 30 "three candidates again" zk_waits 3
    judge
}

story_zookeeper_session_expires() { # its owner stands still, and the keeper ends the work before
    zk_begin 1
    local before=$token who=$leader pid
    pid=$(zk_engine_of "$who")
    kill -STOP $pid
    await_leader "$before"
    [ "$leader" != "$who" ] || fail "$who leads, though its engine stands still"
    kill -CONT $pid
    await_log_of "$who" 'the session has expired'
    await 30 "three candidates again" zk_waits 3
    judge
}
await_log_of() { await 30 "$1 says '$2'" grep -q "$2" "$dir/run-$1.log"; }

# ---- Servers fail ----

story_zookeeper_servers_die() { # one after the other, the leader of the servers too: the session moves, and nobody loses the office
    zk_ttl=8s
    zk_begin 3
    local before=$token now i
    for i in 1 2 3; do
        zk_kill "$i"
        now=$(ticks "$before ")
        await 30 "it works on without server $i" has_ticks "$before" $((now + 300))
        zk_start "$i"
    done
    look
    [ "$token" = "$before" ] || fail "token $token instead of $before: the office was lost"
    judge
}

story_zookeeper_server_is_frozen() { # it accepts connections, and says nothing
    zk_ttl=6s
    zk_begin 3
    local before=$token now i
    for i in 1 2 3; do
        kill -STOP "${zk[$i]}"
        now=$(ticks "$before ")
        await 30 "it works on without server $i" has_ticks "$before" $((now + 300))
        kill -CONT "${zk[$i]}"
        await 30 "server $i serves" zk_serves "$i"
    done
    judge
}

story_zookeeper_loses_its_quorum() { # for longer than the session: the work ends before, and begins again after
    zk_begin 3
    local before=$token now
    kill -STOP "${zk[1]}" "${zk[2]}"
    await 30 "the work has ended" zk_has_stopped
    now=$(ticks)
    sleep 1 # whoever worked now would be seen
    [ "$(ticks)" = "$now" ] || fail "it works though nobody can renew"
    says_why 'no server answers.*: is ZooKeeper running, with a majority of its servers'
    kill -CONT "${zk[1]}" "${zk[2]}"
    await_leader "$before"
    judge
}
zk_has_stopped() {
    local before
    before=$(ticks)
    sleep 0.3
    [ "$(ticks)" = "$before" ]
}

story_zookeeper_restarts() { # within the session: an unreachable store is not a lost office
    zk_ttl=20s
    zk_begin 1
    local before=$token now
    zk_kill 1
    says_why 'no server answers.*: is ZooKeeper running, with a majority of its servers'
    zk_start 1
    now=$(ticks "$before ")
    await 40 "it works on" has_ticks "$before" $((now + 500))
    look
    [ "$token" = "$before" ] || fail "token $token instead of $before"
    judge
}

# ---- By hand ----

story_zookeeper_nodes_are_deleted() {
    zk_begin 1
    local before=$token who=$leader node
    node=$(zk_nodes | sed -n 2p) # of one that waits: it stands again, at the end
    zk_hand rm "/$zk_path/work/$node"
    await 30 "three candidates again" zk_waits 3
    [ "$(zk_nodes | grep -c "$node")" = 0 ] || fail "$node is there again"
    look
    [ "$token" = "$before" ] || fail "the leader lost its office with another's node"
    node=$(zk_nodes | sed -n 1p) # the leader's
    zk_hand rm "/$zk_path/work/$node"
    await_leader "$before"
    [ "$leader" != "$who" ] || fail "$who leads, though others waited before it"
    await 30 "three candidates again" zk_waits 3
    says_removed "$who" 'our node in ZooKeeper is gone'
    judge_tokens
}

story_zookeeper_value_is_seen() {
    zk_found 1
    zk_start 1
    "$ELECTOR" run --quiet --url "$(url a)" --value web:80 work -- sleep 60 &
    await 30 "it is seen" zk_sees_value
    [[ $(zk_hand get "/$zk_path/work/$(zk_nodes)") == "a web:80 "* ]] || fail "the node does not say 'a web:80'"
}
zk_sees_value() { # and the worst failover: the session and a tick
    [[ $("$ELECTOR" status work --url "$(url b)" --output json) == *'"value":"web:80"'*'"worst_failover_ms":2200'* ]]
}

# ---- Beside other clients ----

story_zookeeper_kazoo_queues_with_us() { # we, kazoo, we: in this order
    zk_found 1
    zk_start 1
    work a
    await_leader
    local before=$token
    zk_kazoo_stands it
    await 30 "kazoo stands" zk_waits 2
    work b
    await 30 "b stands" zk_waits 3
    [ "$(zk_hand contenders "/$zk_path/work" x)" = "a it b" ] || fail "kazoo sees $(zk_hand contenders "/$zk_path/work" x)"
    [ ! -s "$dir/elected" ] || fail "kazoo leads beside us"
    kill -TERM "${runner[a]}"
    await 30 "kazoo leads" grep -q leads "$dir/elected"
    "$ELECTOR" status work --url "$(url b)" > "$dir/said"
    says '^work +it '
    works_beyond "$before" && fail "b works beside kazoo"
    kill -KILL "$it"
    await_leader "$before"
    [ "$leader" = b ] || fail "$leader leads, not b"
    judge
}

story_zookeeper_other_layout() { # a path where Curator's LeaderLatch stands
    zk_found 1
    zk_start 1
    zk_hand put "/$zk_path/work/_c_0f0e5a8c-6f52-4a58-9a62-5a0a0f7e3f11-latch-0000000000" it
    work a
    await_log_of a 'candidates of another layout stand there (layout latch): use another path, or their layout'
    [ ! -e "$dir/ticks" ] || fail "it works there"
    kill -TERM "${runner[a]}"
    zk_query='&layout=latch'
    "$ELECTOR" status work --url "$(url b)" > "$dir/said"
    says '^work +it '
    zk_hand rm "/$zk_path/work/_c_0f0e5a8c-6f52-4a58-9a62-5a0a0f7e3f11-latch-0000000000"
    work b
    await_leader
    [[ $(zk_nodes) == _c_656c6563-*-latch-* ]] || fail "our node is no latch: $(zk_nodes)"
    judge
}

# ---- Rights, many groups, bad input ----

story_zookeeper_digest() {
    zk_found 1
    zk_start 1
    zk_hand put "/$zk_path" '' shop:open
    echo shop:open > "$dir/auth" && chmod 600 "$dir/auth"
    echo shop:wrong > "$dir/wrong" && chmod 600 "$dir/wrong"
    echo nothing > "$dir/nothing" && chmod 600 "$dir/nothing"
    refused 2 'holds a secret, and others' "$ELECTOR" status work --url "$(url a)&auth-file=$dir/run-a.log$(: > "$dir/run-a.log")"
    refused 2 'the credentials are USER:PASSWORD' "$ELECTOR" status work --url "$(url a)&auth-file=$dir/nothing"
    work a
    await_log_of a 'its ACL wants credentials: set auth-file=FILE or ELECTOR_ZOOKEEPER_AUTH'
    zk_query="&auth-file=$dir/wrong"
    work b
    await_log_of b 'its ACL gives these credentials no right to'
    zk_query="&auth-file=$dir/auth"
    work c
    await_leader
    [ "$(pgrep -af "$prefix" | grep -c shop:open)" = 0 ] || fail "ps shows the password"
    ELECTOR_ZOOKEEPER_AUTH=shop:open "$ELECTOR" status work --url "${zk_query:+$(zk_query='' url b)}" > "$dir/said"
    says '^work +c '
    judge
}

story_zookeeper_negotiates_the_timeout() { # what the servers grant counts, be it more or less than was asked for
    zk_least=5000
    zk_found 1
    zk_start 1
    zk_ttl=2s
    work a
    await_leader
    [ "$(zk_failover)" = 5200 ] || fail "a session of at least 5 s is bounded by $(zk_failover) ms"
    kill -TERM "${runner[a]}"
    await_exit "${runner[a]}" 0 "elector run"
    zk_ttl=90s # more than 200 ticks
    local before=$token now
    work b
    await_leader "$before"
    [ "$(zk_failover)" = 40200 ] || fail "a session of at most 40 s is bounded by $(zk_failover) ms"
    kill -TERM "${runner[b]}"
    zk_ttl=2s
    before=$token
    work a b
    await_leader "$before"
    await 30 "both stand" zk_waits 2
    before=$token now=$SECONDS
    kill -KILL "$(zk_engine_of "$leader")"
    await_leader "$before"
    [ $((SECONDS - now)) -ge 3 ] || fail "the next one leads after $((SECONDS - now)) s, though the session lasts for 5 s"
    judge
}
zk_failover() { "$ELECTOR" status work --url "$(url x)" --output json | sed -nE 's/.*"worst_failover_ms": *([0-9]+).*/\1/p'; }

story_zookeeper_deep_below_a_chroot() { # with rights there alone: the folders above belong to somebody else
    zk_found 1
    zk_start 1
    zk_hand put /tenants '' shop:open
    zk_hand put /tenants/shop '' shop:open
    zk_hand acl /tenants other:closed shop:open
    echo shop:open > "$dir/auth" && chmod 600 "$dir/auth"
    zk_path=tenants/shop/elections/of/workers zk_query="&auth-file=$dir/auth"
    work a b
    await_leader
    await 30 "both stand" zk_deep_nodes 2
    kill -KILL "${runner[$leader]}"
    await_leader "$token"
    zk_path=tenants/others
    "$ELECTOR" campaign work --url "$(url c)" > "$dir/run-c.log" 2>&1 &
    await_log_of c 'a folder above it is missing, and cannot be created\|its ACL gives these credentials no right to'
    judge
}
zk_deep_nodes() { [ "$(zk_stat ephemerals_count)" = "$1" ]; }

story_zookeeper_thousand_groups() { # on one session
    zk_found 1
    zk_ttl=10s
    zk_start 1
    "$BUILD/elector-engine" --socket "$dir/s" "$(url a)" >> "$dir/a.log" 2>&1 &
    local it=$!
    await 30 "the engine listens" test -S "$dir/s"
    python3 test/engines/thousand.py "$dir/s" > "$dir/campaign" 2>&1 &
    await 60 "it leads a thousand groups" grep -q 'leads 1000' "$dir/campaign"
    [ "$(zk_stat global_sessions)" = 1 ] || fail "$(zk_stat global_sessions) sessions"
    [ "$(zk_stat ephemerals_count)" = 1000 ] || fail "$(zk_stat ephemerals_count) nodes"
    await 60 "all are renewed three times" grep -q 'renewed 3000' "$dir/campaign"
    ! grep lost "$dir/campaign" > "$dir/lost" || fail "$(head -n 1 "$dir/lost")"
    kill -TERM "$it"
    await 60 "all nodes are gone" zk_is_empty
}
zk_is_empty() { [ "$(zk_stat ephemerals_count)" = 0 ]; }
zk_stat() { # NAME, of mntr
    local link line
    exec {link}<> "/dev/tcp/$prefix.1/2181"
    printf mntr >&"$link"
    while read -rt 2 -u "$link" line; do [[ $line != "zk_$1"[[:space:]]* ]] || echo "${line##*[[:space:]]}"; done
    exec {link}>&-
}

story_zookeeper_for_a_host() { # one engine behind a socket: a client that leaves takes its own node along, and the session lives on
    zk_found 1
    zk_ttl=40s
    zk_start 1
    local h
    for h in h1 h2; do
        "$ELECTOR" agent --engine "$(url "$h")" --socket "$dir/$h.sock" 2> "$dir/$h.log" &
        await 30 "the engine of $h listens" test -S "$dir/$h.sock"
    done
    url() { echo "unix:$dir/$1.sock"; }
    work h1 h2
    await_leader
    await 30 "two candidates" zk_waits 2
    local before=$token node
    node=$(zk_nodes | sed -n 2p)
    kill -TERM "${runner[$leader]}"
    await 30 "one candidate is left" zk_waits 1
    [ "$(zk_nodes)" = "$node" ] || fail "$(zk_nodes) stands there, and not $node"
    await_handover "$before"
    judge
}

story_zookeeper_after_a_lock() { # file:, then ZooKeeper, and tokens rise; a number that is none keeps everybody from standing
    zk_found 1
    zk_start 1
    mkdir "$dir/locks"
    "$ELECTOR" run --quiet --url "file:$dir/locks" work -- "$lib/cluster-worker" "$dir/ticks" 2> "$dir/lock.log" &
    local lock=$!
    await_leader
    local before=$token
    kill -TERM "$lock"
    await_exit "$lock" 0 "the run over a lock"
    zk_hand put "/$zk_path/elector/tokens-above" many
    work a
    await_log_of a 'elector/tokens-above holds no number'
    zk_hand set "/$zk_path/elector/tokens-above" $((before + 1000000)) # and not missing in between: that would be 0
    await_leader $((before + 1000000))
    work b
    await 30 "two candidates" zk_waits 2
    before=$token
    kill -KILL "${runner[a]}"
    await_leader "$before"
    judge
}

story_zookeeper_bad_input() {
    zk_found 1
    local at=$prefix.1
    refused 2 'expected one to 16 hosts' "$ELECTOR" status work --url zookeeper://
    refused 2 "'layout' is kazoo, latch .* or selector" "$ELECTOR" status work --url "zookeeper://$at/shop?layout=x"
    refused 2 "'tick' is the tickTime of the servers" "$ELECTOR" status work --url "zookeeper://$at/shop?tick=x"
    refused 2 "no '//', '.' or '..', not /zookeeper" "$ELECTOR" status work --url "zookeeper://$at/a//b"
    refused 2 "not /zookeeper" "$ELECTOR" status work --url "zookeeper://$at/zookeeper"
    refused 2 "has no option 'chroot'" "$ELECTOR" status work --url "zookeeper://$at/shop?chroot=x"
    refused 3 "$at:1: no server answers: Connection refused: is ZooKeeper running" "$ELECTOR" status work --url "zookeeper://$at:1/shop"
    refused 3 'no address for none.invalid' "$ELECTOR" status work --url "zookeeper://none.invalid/shop"
    zk_start 1
    refused 1 'ZooKeeper has no transfer' "$ELECTOR" transfer work --to b --url "$(url a)"
    refused 1 'ZooKeeper keeps no history' "$ELECTOR" history work --url "$(url a)"
    refused 2 'knows no priorities' "$ELECTOR" run --priority 3 --url "$(url a)" work -- true
}
