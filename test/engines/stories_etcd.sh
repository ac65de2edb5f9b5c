# shellcheck shell=bash disable=SC2154,SC2034,SC2317,SC2129 # see lib_etcd.sh
# What goes wrong with etcd and its candidates, and that the witness sees nobody work beside the leader.

# ---- Candidates end ----

story_etcd_run_is_killed() { # the keeper ends the work, and the engine gives the office back
    etcd_ttl=60s
    store_begin 1
    local before=$token who=$leader
    kill -KILL "${runner[$who]}"
    await_handover "$before"
    work "$who"
    await 30 "three candidates again" waits_for 3
    judge
}

story_etcd_command_is_killed() {
    etcd_ttl=60s
    store_begin 1
    local before=$token who=$leader
    kill -KILL "$worker"
    await_handover "$before"
    [ "$leader" != "$who" ] || fail "$who leads again, though others waited before it"
    judge
}

story_etcd_engine_is_killed() { # the work ends at once; the office, when the lease has expired
    store_begin 1
    local before=$token who=$leader pid
    pid=$(engine_of "$who")
    [ -n "$pid" ] || fail "no engine of $who"
    # shellcheck disable=SC2086 # one at least
    kill -KILL $pid
    await_leader "$before"
    await 30 "three candidates again" waits_for 3
    judge
}

story_etcd_engine_is_frozen() { # nobody renews: the keeper ends the work before the lease is over
    store_begin 1
    local before=$token who=$leader pid
    pid=$(engine_of "$who")
    # shellcheck disable=SC2086
    kill -STOP $pid
    await_leader "$before"
    [ "$leader" != "$who" ] || fail "$who leads, though its engine stands still"
    # shellcheck disable=SC2086
    kill -CONT $pid
    await 30 "three candidates again" waits_for 3
    judge
}

story_etcd_resign() {
    etcd_ttl=60s
    store_begin 1
    local before=$token
    kill -TERM "${runner[$leader]}"
    await_handover "$before"
    judge
}

story_etcd_last_one_leaves_nothing() {
    etcd_ttl=60s
    etcd_found 1
    etcd_start s1
    work a
    await_leader
    kill -TERM "${runner[a]}"
    await_exit "${runner[a]}" 0 "elector run"
    await 10 "no lease is left" no_lease
    [ -z "$(ctl get --prefix '')" ] || fail "keys are left: $(ctl get --prefix --keys-only '')"
    judge
}
no_lease() { [[ $(ctl lease list) == 'found 0'* ]]; }

# ---- Servers fail ----

story_etcd_server_is_killed() { # the one in use: the next one serves, and nobody loses the office
    store_begin 3
    local before=$token now
    etcd_kill s1
    now=$(ticks "$before ")
    await 30 "it works on" has_ticks "$before" $((now + 500))
    look
    [ "$token" = "$before" ] || fail "token $token instead of $before: the office was lost"
    etcd_start s1
    judge
}

story_etcd_leader_is_killed() {
    store_begin 3
    local before=$token s
    s=$(etcd_leader)
    [ -n "$s" ] || fail "no server leads"
    etcd_kill "$s"
    local others=()
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    etcd_start "$s"
    judge
}

story_etcd_server_is_frozen() { # the one in use accepts connections, and says nothing
    store_begin 3
    local before=$token now
    etcd_freeze s1
    now=$(ticks "$before ")
    await 30 "it works on, or another does" works_on "$before" $((now + 1000))
    kill -KILL "${runner[$leader]}"
    await_leader "$token"
    etcd_thaw s1
    judge
}
works_on() { has_ticks "$1" "$2" || works_beyond "$1"; }

story_etcd_store_is_frozen() { # for longer than the lease: the work ends before, and begins again after
    store_begin 1
    local before=$token now
    etcd_freeze s1
    await 30 "the work has ended" has_stopped
    now=$(ticks)
    sleep 1 # whoever worked now would be seen
    [ "$(ticks)" = "$now" ] || fail "it works though nobody can renew"
    says_why 'cannot use etcd at .*: no answer in time; is it overloaded, frozen, or cut off'
    etcd_thaw s1
    await_leader "$before"
    judge
}
says_why() { await 30 "a run says '$1'" grep -qE -e "$1" "$dir"/run-?.log; } # PATTERN
has_stopped() {
    local before
    before=$(ticks)
    sleep 0.3
    [ "$(ticks)" = "$before" ]
}

story_etcd_store_restarts() { # within the lease: an unreachable store is not a lost office
    etcd_ttl=20s
    store_begin 1
    local before=$token now
    etcd_kill s1
    says_why 'cannot use etcd at .*: .*; is it running, and is this its client port\?'
    etcd_start s1
    now=$(ticks "$before ")
    await 40 "it works on" has_ticks "$before" $((now + 500))
    look
    [ "$token" = "$before" ] || fail "token $token instead of $before"
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    judge
}

story_etcd_server_is_cut_off() { # it hears its clients, and not the others: nothing that it says can be true
    make_net
    store_begin 3
    local before=$token now
    nft_do add rule inet cut in tcp dport 2380 ip saddr "$(etcd_address s1)" drop
    nft_do add rule inet cut in tcp dport 2380 ip daddr "$(etcd_address s1)" drop
    nft_do add rule inet cut in tcp sport 2380 ip daddr "$(etcd_address s1)" drop
    nft_do add rule inet cut in tcp sport 2380 ip saddr "$(etcd_address s1)" drop
    now=$(ticks "$before ")
    await 40 "it works on, or another does" works_on "$before" $((now + 1500))
    look
    kill -KILL "${runner[$leader]}"
    await_leader "$token"
    heal
    judge
}

# ---- By hand ----

lease_of_leader() { ctl get --prefix "$prefix_of_groups/work/" --sort-by=CREATE --keys-only | sed -n '1s#.*/##p'; }

story_etcd_lease_is_revoked() {
    store_begin 1
    local before=$token who=$leader
    ctl lease revoke "$(lease_of_leader)" > "$dir/revoked"
    await_leader "$before"
    await 30 "three candidates again" waits_for 3
    says_removed "$who" 'our key in etcd is gone'
    [ "$(grep -c 'says that our lease .* has ended' "$dir/run-$who.log")" = 1 ] || fail "it lost $(grep -c 'has ended' "$dir/run-$who.log") leases, not one"
    judge_tokens
}

story_etcd_key_is_deleted() {
    store_begin 1
    local before=$token who=$leader
    ctl del "$prefix_of_groups/work/$(lease_of_leader)" > "$dir/deleted"
    await_leader "$before"
    await 30 "three candidates again" waits_for 3
    says_removed "$who" 'our key in etcd is gone'
    judge_tokens
}

story_etcd_key_of_one_that_waits() { # it stands again, at the end
    store_begin 1
    local before=$token key
    key=$(ctl get --prefix "$prefix_of_groups/work/" --sort-by=CREATE --keys-only | grep . | sed -n 2p)
    ctl del "$key" > "$dir/deleted"
    await 30 "three candidates again" waits_for 3
    look
    [ "$token" = "$before" ] || fail "the leader lost its office with another's key"
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    judge
}

story_etcd_history_is_compacted() { # while the watch was away: all is read again, or nobody would hear that the leader has left
    etcd_ttl=20s
    etcd_found 1
    etcd_start s1
    work a
    await_leader
    local before=$token i engine
    "$ELECTOR" agent --engine "$(url b)" --socket "$dir/b.sock" 2> "$dir/b.log" &
    engine=$!
    await 30 "the engine of b listens" test -S "$dir/b.sock"
    url() { echo "unix:$dir/b.sock"; }
    work b
    await 30 "b stands" waits_for 2
    kill -STOP "$engine"
    etcd_kill s1 # and the watch with it, which b does not know yet
    etcd_start s1
    kill -TERM "${runner[a]}"
    await_exit "${runner[a]}" 0 "elector run"
    for i in 1 2 3 4 5; do ctl put other "$i" > "$dir/put"; done
    ctl compact "$(ctl get other -w fields | awk '/"Revision"/ { print $3 }')" > "$dir/compact"
    kill -CONT "$engine"
    await_leader "$before"
    grep -q 'etcd has compacted what the watch has not seen' "$dir/b.log" || fail "the watch of b was not cancelled"
    judge
}

# ---- With etcdctl ----

story_etcd_etcdctl_waits_for_us() {
    etcd_found 1
    etcd_start s1
    work a
    await_leader
    elect "$prefix_of_groups/work" it:1 > "$dir/elected" &
    await 30 "etcdctl stands" waits_for 2
    [ ! -s "$dir/elected" ] || fail "etcdctl leads beside us"
    elect -l "$prefix_of_groups/work" > "$dir/observed" &
    await 30 "etcdctl observes us" grep -q '^a$' "$dir/observed"
    kill -TERM "${runner[a]}"
    await 30 "etcdctl leads" grep -q '^it:1$' "$dir/elected"
    judge
}

story_etcd_we_wait_for_etcdctl() {
    etcd_found 1
    etcd_start s1
    elect "$prefix_of_groups/work" it:1 > "$dir/elected" &
    local it=$!
    await 30 "etcdctl leads" grep -q '^it:1$' "$dir/elected"
    "$ELECTOR" status work --url "$(url b)" > "$dir/said"
    says '^work +it:1 '
    work a
    await 30 "we stand" waits_for 2
    [ ! -e "$dir/ticks" ] || fail "we lead beside etcdctl"
    kill -TERM "$it"
    await_leader
    judge
}

story_etcd_value_is_seen() {
    etcd_found 1
    etcd_start s1
    "$ELECTOR" run --quiet --url "$(url a)" --value web:80 work -- sleep 60 &
    await 30 "it is seen" sees_value
    elect -l "$prefix_of_groups/work" > "$dir/observed" &
    await 30 "etcdctl sees it" grep -q '^web:80$' "$dir/observed"
    "$ELECTOR" status --url "$(url b)" > "$dir/said"
    says '^work +a .* 4000 ms +a ' # the TTL, and a second until etcd notices
}
sees_value() { [[ $("$ELECTOR" status work --url "$(url b)" --output json) == *'"value":"web:80"'* ]]; }

story_etcd_without_a_prefix() {
    prefix_of_groups=
    etcd_found 1
    etcd_start s1
    elect work it:1 > "$dir/elected" &
    local it=$!
    await 30 "etcdctl leads" grep -q '^it:1$' "$dir/elected"
    work a b
    await 30 "we stand" waits_at_root
    kill -TERM "$it"
    await_leader
    kill -KILL "${runner[$leader]}"
    await_leader "$token"
    judge
}
waits_at_root() { [ "$(ctl get --prefix --keys-only work/ | grep -c .)" -ge 3 ]; }

# ---- Users, certificates ----

story_etcd_user_and_password() {
    etcd_found 1
    etcd_start s1
    ctl user add root:secret > "$dir/auth"
    ctl role add root >> "$dir/auth" 2>&1 || true
    ctl user grant-role root root >> "$dir/auth"
    ctl user add shop:open >> "$dir/auth" && ctl role add shop >> "$dir/auth"
    ctl role grant-permission shop --prefix=true readwrite shop/ >> "$dir/auth"
    ctl user grant-role shop shop >> "$dir/auth"
    ctl auth enable >> "$dir/auth"
    echo open > "$dir/password" && chmod 600 "$dir/password"
    echo wrong > "$dir/wrong" && chmod 600 "$dir/wrong"
    refused 3 'etcd at .* user name is empty; give user= and password-file=' "$ELECTOR" status work --url "$(url a)"
    refused 3 'refuses user shop: wrong user or password' "$ELECTOR" status work --url "$(url a)&user=shop&password-file=$dir/wrong"
    refused 2 'holds a secret, and others' env "$ELECTOR" status work --url "$(url a)&user=shop&password-file=$dir/said"
    etcd_query="&user=shop&password-file=$dir/password"
    work a
    etcd_query=
    ELECTOR_ETCD_USER=shop ELECTOR_ETCD_PASSWORD=open work b # from the environment, to the engine and no further
    await_leader
    await 30 "both stand" both_of_shop_stand
    [[ $(pgrep -af "$prefix") != *open* ]] || fail "ps shows the password"
    etcd_query="&user=shop&password-file=$dir/password"
    prefix_of_groups=others
    refused 3 'user shop may not read and write' "$ELECTOR" status work --url "$(url a)"
    prefix_of_groups=shop
    look
    local before=$token
    etcd_kill s1 # which forgets all tokens
    etcd_flags=()
    server_with_auth_starts
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    judge
}
both_of_shop_stand() { [ "$(ctl --user root:secret get --prefix --keys-only shop/work/ | grep -c .)" = 2 ]; }
server_with_auth_starts() {
    etcd_answers() { ETCDCTL_API=3 etcdctl --user root:secret --endpoints "$(etcd_endpoints "$1")" endpoint health > /dev/null 2>&1; }
    etcd_start s1
}

story_etcd_tls() {
    etcd_found 1
    (
        cd "$dir" || exit
        make_ca ca && make_ca other
        make_certificate ca server "$(etcd_address s1)" 1
        make_certificate ca client client 1
        make_certificate ca late "$(etcd_address s1)" -1
    ) > "$dir/openssl" 2>&1
    etcd_scheme=https etcd_url=etcds
    etcd_flags=(--cert-file "$dir/server.crt" --key-file "$dir/server.key" --client-cert-auth --trusted-ca-file "$dir/ca.crt")
    etcd_answers() { ctl_tls endpoint health > /dev/null 2>&1; }
    etcd_start s1
    refused 3 'cannot use etcd at .*certificate.* name the right files with ca=' "$ELECTOR" status work --url "$(url a)"
    refused 3 'cannot use etcd at .*certificate' "$ELECTOR" status work --url "$(url a)&ca=$dir/other.crt"
    refused 3 'cannot use etcd at ' "$ELECTOR" status work --url "$(url a)&ca=$dir/ca.crt" # without a certificate of our own
    refused 2 'cert and key belong together' "$ELECTOR" status work --url "$(url a)&ca=$dir/ca.crt&cert=$dir/client.crt"
    work_by_environment a
    etcd_query="&ca=$dir/ca.crt&cert=$dir/client.crt&key=$dir/client.key"
    work b
    await_leader
    await 30 "both stand" both_stand_by_tls
    kill -KILL "${runner[$leader]}"
    await_leader "$token"
    judge
    etcd_kill s1
    etcd_flags=(--cert-file "$dir/late.crt" --key-file "$dir/late.key" --client-cert-auth --trusted-ca-file "$dir/ca.crt")
    etcd_answers() { grep -q 'serving client requests' "$dir/s1.log"; }
    etcd_start s1
    await 30 "an expired certificate is named" expired_is_said
}
work_by_environment() { # CANDIDATE
    ELECTOR_ETCD_CA=$dir/ca.crt ELECTOR_ETCD_CERT=$dir/client.crt ELECTOR_ETCD_KEY=$dir/client.key work "$1"
}
both_stand_by_tls() { [ "$(ctl_tls get --prefix --keys-only shop/work/ | grep -c .)" = 2 ]; }
expired_is_said() {
    timeout 20 "$ELECTOR" status work --url "$(url a)" > "$dir/said" 2>&1 || true
    grep -q 'certificate has expired' "$dir/said"
}
ctl_tls() { ctl --cacert "$dir/ca.crt" --cert "$dir/client.crt" --key "$dir/client.key" "$@"; }
make_ca() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" -keyout "$1.key" -out "$1.crt"; }
make_certificate() { # CA NAME HOST DAYS
    local alternative="DNS:$3"
    [[ $3 != *.*.*.* ]] || alternative="IP:$3"
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" -keyout "$2.key" -out "$2.csr"
    printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$alternative" > "$2.ext"
    openssl x509 -req -in "$2.csr" -CA "$1.crt" -CAkey "$1.key" -CAcreateserial -days "$4" -extfile "$2.ext" -out "$2.crt"
}

# ---- Space, and bad input ----

story_etcd_has_no_space() { # who leads, leads on; who wants to stand is told why not
    etcd_found 1
    etcd_flags=(--quota-backend-bytes 200000)
    etcd_start s1
    work a
    await_leader
    local before=$token now i
    for i in $(seq 40); do head -c 20000 /dev/urandom | base64 -w 0 | ctl put "fill$i" > "$dir/put" 2>&1 || break; done
    "$ELECTOR" campaign work --url "$(url b)" > "$dir/b.log" 2>&1 &
    await 30 "b is told" grep -q 'has no space left: compact and defragment it' "$dir/b.log"
    now=$(ticks "$before ")
    await 30 "it works on" has_ticks "$before" $((now + 1000))
    judge
}

story_etcd_bad_input() {
    etcd_found 1
    local at
    at=$(etcd_address s1)
    refused 2 "expected unix:PATH .*, file:PATH .*, or a store: etcd://HOST:PORT" "$ELECTOR" status work --url zetcd://x
    refused 2 'it names no host' "$ELECTOR" status work --url etcd://
    refused 2 'a port is a number from 1 to 65535' "$ELECTOR" status work --url etcd://x:y
    refused 2 "has no option 'ttk'; there are ttl" "$ELECTOR" status work --url "etcd://$at?ttk=3s"
    refused 2 "'ttl' is a number of whole seconds" "$ELECTOR" run --url "etcd://$at?ttl=300ms" work -- true
    refused 2 'no user and password in a URL' "$ELECTOR" run --url "etcd://u:p@$at" work -- true
    refused 2 'ca, cert and key are for TLS: etcds://' "$ELECTOR" status work --url "etcd://$at?ca=/etc/hosts"
    refused 2 'cannot read /none, which ca names' "$ELECTOR" status work --url "etcds://$at?ca=/none"
    refused 3 'cannot use etcd at .*is it running, and is this its client port\?' "$ELECTOR" status work --url "etcd://$at:1"
    refused 3 "Couldn't resolve host name" "$ELECTOR" status work --url "etcd://none.invalid"
    refused 2 'user x needs a password' "$ELECTOR" status work --url "etcd://$at?user=x"
    etcd_start s1
    refused 3 'cannot use etcd at .*name the right files' "$ELECTOR" status work --url "etcds://$at:2379"
    refused 3 'it is no etcd|cannot use etcd' "$ELECTOR" status work --url "etcd://$at:2380"
    refused 2 'knows no priorities' "$ELECTOR" run --priority 3 --url "$(url a)" work -- true
    refused 1 'etcd has no transfer to a named candidate' "$ELECTOR" transfer work --to b --url "$(url a)"
    refused 1 'etcd keeps no history' "$ELECTOR" history work --url "$(url a)"
    ELECTOR_URL=$(url a) "$ELECTOR" doctor > "$dir/said"
    says '^ok +majority +answers'
    mkdir -m 1777 "$dir/shared"
    cp "$ELECTOR" "$dir/shared/elector"
    cp "$BUILD/elector-engine" "$dir/shared/"
    refused 2 'others can write to .*/shared, so no elector-engine is started from there' "$dir/shared/elector" status work --url "$(url a)"
    refused 2 'others can write to .*/shared' "$dir/shared/elector" run --url "$(url a)" work -- true
    refused 2 'there is no elector-engine in /none' env ELECTOR_ENGINES_DIR=/none "$ELECTOR" status work --url "$(url a)"
}

# ---- For all of a host ----

story_etcd_for_a_host() { # one engine behind a socket: many clients, one lease; the socket outlives the store's outages
    etcd_found 1
    "$ELECTOR" agent --engine "$(url host1)" --socket "$dir/h1.sock" 2> "$dir/h1.log" &
    local engine=$!
    await 30 "it says that there is no store" grep -q 'cannot use etcd at' "$dir/h1.log"
    etcd_start s1
    "$ELECTOR" agent --engine "$(url host2)" --socket "$dir/h2.sock" 2> "$dir/h2.log" &
    url() { echo "unix:$dir/$1.sock"; }
    work h1 h2
    await_leader
    "$ELECTOR" run --quiet --url "$(url h1)" other -- sleep 60 &
    await 30 "the other group is led" other_is_led
    "$ELECTOR" run --quiet --url "$(url h2)" other -- sleep 60 &
    local second=$!
    await 30 "a second candidate waits" others_are 2
    kill -KILL "$second"
    await 30 "its key goes with it, though its engine and lease live" others_are 1
    [ "$(ctl lease list | sed -n 's/^found \([0-9]*\) .*/\1/p')" -le 2 ] || fail "more than a lease for each host"
    look
    local before=$token
    kill -KILL "${runner[${leader/host/h}]}"
    await_leader "$before"
    etcd_kill s1 # the work ends and resigns in time: the cause is the store, not the worker
    await 30 "it tells the cause" grep -q 'leadership lost here: no-quorum; etcd has not renewed the lease' "$dir/${leader/host/h}.log"
    ! grep -q 'group="other" msg="leadership lost here: resigned' "$dir/h1.log" || fail "a loss is told as resigned"
    kill -TERM "$engine"
    await_exit "$engine" 0 "the engine"
    judge
}
others_are() { [ "$(ctl get --prefix --keys-only "$prefix_of_groups/other/" | grep -c .)" = "$1" ]; } # COUNT
other_is_led() { [ "$(field h1 other leader)" = host1 ]; }

story_etcd_thousand_groups() { # one lease and one watch
    etcd_found 1
    etcd_ttl=5s
    etcd_start s1
    "$BUILD/elector-engine" --socket "$dir/s" "$(url a)" >> "$dir/a.log" 2>&1 &
    local it=$!
    await 30 "the engine listens" test -S "$dir/s"
    python3 test/engines/thousand.py "$dir/s" > "$dir/campaign" 2>&1 &
    await 60 "it leads a thousand groups" grep -q 'leads 1000' "$dir/campaign"
    [ "$(ctl get --prefix --keys-only "$prefix_of_groups/g" | grep -c .)" = 1000 ] || fail "not a thousand keys"
    [ "$(leases)" = 1 ] || fail "$(leases) leases"
    [ "$(etcd_counts watcher_total)" = 1 ] || fail "$(etcd_counts watcher_total) watches"
    [ "$(etcd_counts watch_stream_total)" = 1 ] || fail "$(etcd_counts watch_stream_total) streams"
    await 60 "all are renewed three times" grep -q 'renewed 3000' "$dir/campaign"
    ! grep lost "$dir/campaign" > "$dir/lost" || fail "$(head -n 1 "$dir/lost")"
    kill -TERM "$it"
    await_exit "$it" 0 "the engine"
    [ "$(leases)" = 0 ] || fail "$(leases) leases are left"
}
leases() { ctl lease list | sed -n 's/^found \([0-9]*\) .*/\1/p'; }
etcd_counts() { curl -s "http://$(etcd_address s1):2379/metrics" | awk -v name="etcd_debugging_mvcc_$1" '$1 == name { print $2 }'; } # NAME
