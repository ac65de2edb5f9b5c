# shellcheck shell=bash disable=SC2154,SC2034,SC2317,SC2016 # names are shared with test/cluster/lib.sh and lib_*.sh
# What `elector doctor` and `elector members` say of a store, at its URL and behind the socket of an engine; and proxies.

examined() { # CODE URL: doctor ends with it, and what it says is in $dir/said
    local code=0
    timeout 60 "$ELECTOR" doctor --url "$2" > "$dir/said" 2>&1 || code=$?
    ! grep -qE "AddressSanitizer|LeakSanitizer|runtime error" "$dir/said" || fail "$(grep -E "Sanitizer|runtime error" "$dir/said" | sed -n 1p)"
    [ "$code" = "$1" ] || fail "doctor ends with $code, not with $1: $(grep -vE '^ok' "$dir/said" | tr '\n' ' ')"
}
says_not() { ! grep -qE -e "$1" "$dir/said" || fail "says '$(grep -E -e "$1" "$dir/said" | sed -n 1p)'"; } # PATTERN
says_nothing_of_agents() { says_not '^[^ ]+ +(configuration|keys|state file|agent|address|http|member )|votes count'; }
json_is_good() { # URL VERDICT
    "$ELECTOR" doctor --url "$1" --output json > "$dir/json" || true
    python3 -c 'import json, sys
told = json.load(open(sys.argv[1]))
assert told["verdict"] == sys.argv[2], told["verdict"]
assert all(set(one) == {"verdict", "what", "text"} for one in told["checks"]), told
assert len(told["checks"]) > 6, told' "$dir/json" "$2" || fail "the JSON is another: $(head -c 300 "$dir/json")"
}

# ---- etcd ----

story_doctor_etcd() {
    etcd_found 3
    etcd_start s1 s2 s3
    examined 0 "$(url a)"
    says '^ok +engine +elector-engine was found and started; this host is a to others'
    [ "$(grep -cE '^ok +server .*:2379 etcd 3[.][0-9.]+ (leads|follows)' "$dir/said")" = 3 ] || fail "not three servers"
    [ "$(grep -cE '^ok +server .*:2379 etcd 3[.][0-9.]+ leads' "$dir/said")" = 1 ] || fail "not one leader"
    says "^ok +leader +$(etcd_address "$(etcd_leader)"):2379 leads etcd, in term [0-9]+"
    says '^ok +majority +answers: a read that it has to confirm took [0-9.]+ ms'
    says "^ok +rights +everybody may read and write keys below 'shop/'"
    says '^ok +compaction +revision [0-9]+, and none was ever compacted$'
    says '^ok +ttl +asked for 3 s, and granted$'
    says '^ok +groups +0 of 0 known groups have a leader'
    says_nothing_of_agents
    [ "$(ctl lease list | sed -n 's/^found \([0-9]*\) .*/\1/p')" = 0 ] || fail "a lease is left"
    [ -z "$(ctl get --prefix --keys-only '')" ] || fail "it has written a key"
    json_is_good "$(url a)" ok
    ctl put shop/else x > "$dir/put"
    ctl compact "$(ctl get shop/else -w fields | sed -n 's/^"Revision" : //p')" > "$dir/compacted"
    examined 0 "$(url a)"
    says '^ok +compaction +revision [0-9]+, and old ones are compacted'
    etcd_ttl=2s # below what --election-timeout 3000 grants
    etcd_kill s1
    examined 1 "$(url a)"
    says "^WRONG +server $(etcd_address s1):2379 .*is it running, and is this its client port[?]"
    says '^ok +majority +answers'
    etcd_freeze s3
    await 30 "s2 has no leader" has_no_leader
    examined 1 "$(url a)"
    says "^WRONG +server $(etcd_address s2):2379 etcd .* knows no leader"
    says "^WRONG +server $(etcd_address s3):2379 no answer in time"
    says '^WRONG +leader +no server knows a leader of etcd: start as many servers as make a majority'
    json_is_good "$(url a)" wrong
    etcd_thaw s3
}
has_no_leader() { # s2 says that it knows none
    curl -s -m 2 -d '{}' "http://$(etcd_address s2):2379/v3/maintenance/status" > "$dir/status" && ! grep -q '"leader"' "$dir/status"
}

story_doctor_etcd_ttl() { # etcd grants more than it was asked for
    etcd_found 1
    etcd_start s1
    etcd_kill s1
    etcd_flags=(--election-timeout 3000)
    etcd_start_slowly
    etcd_ttl=2s
    examined 0 "$(url a)"
    says '^warn +ttl +asked for 2 s, granted [4-9] s: a lost host costs that long'
}
etcd_start_slowly() { # the last --election-timeout counts
    etcd_start s1
}

story_doctor_etcd_rights() {
    etcd_found 1
    etcd_start s1
    ctl user add root:secret > "$dir/auth"
    ctl role add root >> "$dir/auth" 2>&1 || true
    ctl user grant-role root root >> "$dir/auth"
    ctl user add shop:open >> "$dir/auth" && ctl role add shop >> "$dir/auth"
    ctl role grant-permission shop --prefix=true readwrite shop/ >> "$dir/auth"
    ctl user add reader:open >> "$dir/auth" && ctl role add reader >> "$dir/auth"
    ctl role grant-permission reader --prefix=true read shop/ >> "$dir/auth"
    ctl user grant-role shop shop >> "$dir/auth" && ctl user grant-role reader reader >> "$dir/auth"
    ctl auth enable >> "$dir/auth"
    echo open > "$dir/password" && chmod 600 "$dir/password"
    echo wrong > "$dir/wrong" && chmod 600 "$dir/wrong"
    examined 1 "$(url a)"
    says '^WRONG +user +this etcd wants a user: give user= and password-file='
    examined 1 "$(url a)&user=shop&password-file=$dir/wrong"
    says '^WRONG +user +shop: wrong user or password; mend user=, or the file that password-file= names'
    examined 1 "$(url a)&user=reader&password-file=$dir/password"
    says '^ok +user +etcd knows reader and the password'
    says '^ok +majority '
    says "^WRONG +rights +user reader may not read and write keys below 'shop/': grant a role with readwrite"
    examined 0 "$(url a)&user=shop&password-file=$dir/password"
    says "^ok +rights +shop may read and write keys below 'shop/'"
    says '^ok +ttl '
}

story_doctor_etcd_certificates() {
    etcd_found 1
    etcd_scheme=https etcd_url=etcds
    (
        cd "$dir" || exit
        make_ca ca
        make_certificate ca server "$(etcd_address s1)" 20
        make_certificate ca longer "$(etcd_address s1)" 400
        make_certificate ca client me 3
    ) > "$dir/openssl" 2>&1
    etcd_flags=(--cert-file "$dir/server.crt" --key-file "$dir/server.key" --client-cert-auth --trusted-ca-file "$dir/ca.crt")
    etcd_answers() { curl -sf --cacert "$dir/ca.crt" --cert "$dir/client.crt" --key "$dir/client.key" "https://$(etcd_address "$1"):2379/health" > "$dir/health"; }
    etcd_start s1
    etcd_query="&ca=$dir/ca.crt&cert=$dir/client.crt&key=$dir/client.key"
    examined 0 "$(url a)"
    says "^warn +certificate +that of $(etcd_address s1):2379 ends on 20[0-9]{2}-[01][0-9]-[0-3][0-9], in (19|20) days: renew it"
    says "^warn +certificate +our own, $dir/client.crt, ends on .*, in [23] days: renew it"
    etcd_query="&ca=$dir/ca.crt&cert=$dir/longer.crt&key=$dir/longer.key"
    examined 0 "$(url a)"
    says "^ok +certificate +our own, $dir/longer.crt, ends on .*, in (399|400) days$"
    etcd_query="&ca=$dir/client.crt"
    examined 1 "$(url a)"
    says "^WRONG +server $(etcd_address s1):2379 .*name the right files with ca=, cert= and key="
}

# ---- ZooKeeper ----

story_doctor_zookeeper() {
    zk_found 3
    zk_start 1 2 3
    examined 0 "$(url a)"
    [ "$(grep -cE '^ok +server .*:2181 ZooKeeper 3[.][0-9.]+ follows' "$dir/said")" = 2 ] || fail "not two followers"
    [ "$(grep -cE '^ok +server .*:2181 ZooKeeper 3[.][0-9.]+ leads' "$dir/said")" = 1 ] || fail "not one leader"
    says '^ok +majority +there is one: 3 of 3 servers serve'
    says '^ok +session +asked for a timeout of 2000 ms, and granted'
    says '^ok +rights +everybody may create and delete nodes below /$'
    says_nothing_of_agents
    [ -z "$(zk_hand ls / | grep -v '^zookeeper$')" ] || fail "it has left a node"
    json_is_good "$(url a)" ok
    zk_ttl=60s # above maxSessionTimeout
    examined 0 "$(url a)"
    says "^warn +session +asked for a timeout of 60000 ms, granted 40000 ms: the servers' maxSessionTimeout"
    zk_ttl=2s
    zk_kill 1
    await 30 "two serve" two_serve
    examined 1 "$(url a)"
    says "^WRONG +server $prefix.1:2181 .*is it running, and is this its client port[?]"
    says '^ok +majority +there is one: 2 of 3 servers serve'
    zk_kill 2
    await 30 "the last one looks for a leader" last_one_looks
    examined 1 "$(url a)"
    says "^WRONG +server $prefix.3:2181 is looking for a leader"
    says '^WRONG +majority +none: start as many servers as make one'
    says '^WRONG +session +none was granted'
}
two_serve() { [ -n "$(zk_mode 2)" ] && [ -n "$(zk_mode 3)" ]; }
last_one_looks() { [ -z "$(zk_mode 3)" ]; }

story_doctor_zookeeper_rights() {
    zk_found 1
    zk_start 1
    echo 'shop:open' > "$dir/good" && echo 'shop:wrong' > "$dir/wrong" && chmod 600 "$dir/good" "$dir/wrong"
    zk_query="&auth-file=$dir/good"
    "$ELECTOR" run --quiet --once --url "$(url a)" work -- true # makes /shop, for this user alone
    examined 0 "$(url a)"
    says '^ok +rights +user shop may create and delete nodes below /shop$'
    zk_query="&auth-file=$dir/wrong"
    examined 1 "$(url a)"
    says '^WRONG +rights +user shop may not create nodes below /shop: .*mend the password in auth-file= or ELECTOR_ZOOKEEPER_AUTH, or the ACL'
    timeout 30 "$ELECTOR" status work --url "$(url a)" > "$dir/said" 2>&1 || true
    says 'gives these credentials no right to: is the password right[?] Mend auth-file=FILE or ELECTOR_ZOOKEEPER_AUTH, or the ACL'
    zk_query=
    examined 1 "$(url a)"
    says '^WRONG +rights +everybody may not create nodes below /shop: .*set auth-file=FILE or ELECTOR_ZOOKEEPER_AUTH'
    zk_path=shop/deeper/still # whose folders are not there
    zk_query="&auth-file=$dir/good"
    examined 0 "$(url a)"
    says '^ok +rights +user shop may create and delete nodes below /shop$'
}

# ---- Kubernetes ----

story_doctor_kubernetes() {
    kube_found
    kube_start
    examined 0 "$(url a)"
    says "^ok +server +https://$(kube_at):6443 answers, Kubernetes v1.20.2-elector"
    says "^ok +clock +the API server's and ours differ by [01] s"
    says "^warn +certificate +that of https://$(kube_at):6443 ends on"
    says '^ok +api +coordination.k8s.io/v1 has leases'
    says '^ok +rights +may get, create, update, list and watch leases in namespace shop'
    says '^ok +namespace +shop takes Leases'
    says_nothing_of_agents
    lease elector-doctor
    grep -q '"code": 404' "$dir/lease.json" || fail "it has left a Lease"
    json_is_good "$(url a)" ok
    kube_users "good-token shop get,list,watch,create" "root admin $kube_rights"
    examined 1 "$(url a)"
    says '^WRONG +rights +no right to update leases in namespace shop: a candidate here cannot lead[.] Bind a Role with'
    kube_users "good-token shop get,create,update" "root admin $kube_rights"
    examined 0 "$(url a)"
    says '^warn +rights +no right to list and watch leases in namespace shop: candidates poll instead'
    kube_users "good-token shop $kube_rights" "root admin $kube_rights"
    kube_order clock/100
    examined 0 "$(url a)"
    says "^warn +clock +the API server's is (99|100) s ahead of ours; leases do not mind, tokens and certificates do"
    kube_order clock/-100
    examined 0 "$(url a)"
    says "^warn +clock +the API server's is (100|101) s behind ours"
    kube_order clock/0
    kube_namespace=none
    examined 1 "$(url a)"
    says '^WRONG +namespace +none does not exist: `kubectl create namespace none`'
    kube_namespace=shop
    echo stolen > "$dir/token"
    examined 1 "$(url a)"
    says "^WRONG +credentials +not accepted [(]401[)]: renew those that .*kubeconfig names"
    echo good-token > "$dir/token"
    kube_kill
    examined 1 "$(url a)"
    says "^WRONG +server +https://$(kube_at):6443: .*is it running, and does the address come from the right context[?]"
}

# ---- An engine's socket ----

story_doctor_of_a_socket() { # it is told by what answers, not by the URL
    etcd_found 1
    "$ELECTOR" agent --engine "$(url host1)" --socket "$dir/h1.sock" 2> "$dir/h1.log" &
    local engine=$!
    await 30 "it says that there is no store" grep -q 'cannot use etcd at' "$dir/h1.log"
    examined 1 "unix:$dir/h1.sock"
    says "^ok +engine +$dir/h1.sock serves the clients of this host by an engine of etcd; it is host1 to others"
    says '^WRONG +server .*is it running'
    says_nothing_of_agents
    ELECTOR_URL=unix:$dir/h1.sock "$ELECTOR" run --quiet work -- true 2> "$dir/run.log" &
    local run=$!
    await 30 "a run is told what the store lacks, although it is quiet" grep -q 'cannot use etcd at' "$dir/run.log"
    kill -TERM "$run" && wait "$run" || true
    etcd_start s1
    await 30 "the engine serves" examined_well "unix:$dir/h1.sock"
    says '^ok +ttl +asked for 3 s, and granted'
    says_nothing_of_agents
    ELECTOR_URL=unix:$dir/h1.sock "$ELECTOR" doctor > "$dir/said"
    says '^ok +majority +answers'
    says_nothing_of_agents
    refused 1 'etcd keeps no members of this kind' "$ELECTOR" members --url "unix:$dir/h1.sock"
    refused 1 'etcd keeps no members of this kind' "$ELECTOR" members --url "$(url a)"
    refused 1 'etcd keeps no members of this kind' "$ELECTOR" status --members --url "$(url a)"
    refused 3 'no group is known here, by this engine of etcd' "$ELECTOR" status --url "unix:$dir/h1.sock"
    refused 2 "'foo://x': expected unix:PATH .*etcd://HOST:PORT" env ELECTOR_URL=foo://x "$ELECTOR" doctor
    refused 2 "'foo://x': expected unix:PATH .*etcd://HOST:PORT" env ELECTOR_URL=foo://x "$ELECTOR" members
    kill -TERM "$engine"
    await_exit "$engine" 0 "the engine"
}
examined_well() { "$ELECTOR" doctor --url "$1" > "$dir/said" 2>&1; }

story_doctor_members_of_others() { # each store says it
    zk_found 1
    zk_start 1
    refused 1 'ZooKeeper keeps no members of this kind' "$ELECTOR" members --url "$(url a)"
    kube_found
    kube_start
    refused 1 'Kubernetes keeps no members of this kind' "$ELECTOR" members --url "$(url a)"
}

# ---- Proxies ----

story_proxy_of_https() { # the environment's proxy is used, and named when it is the one that fails
    local proxy
    etcd_found 2
    etcd_scheme=https etcd_url=etcds
    (
        cd "$dir" || exit
        make_ca ca
        make_certificate ca server "$(etcd_address s1)" 100
    ) > "$dir/openssl" 2>&1
    servers=(s1)
    etcd_flags=(--cert-file "$dir/server.crt" --key-file "$dir/server.key")
    etcd_answers() { curl -sf --noproxy '*' --cacert "$dir/ca.crt" "https://$(etcd_address "$1"):2379/health" > "$dir/health"; }
    etcd_start s1
    etcd_query="&ca=$dir/ca.crt"
    export https_proxy=http://user:hidden@$prefix.8:3128
    refused 3 "cannot use etcd at $(etcd_address s1):2379: the proxy http://$prefix.8:3128 \(https_proxy\): .*start it, mend the variable" \
        "$ELECTOR" status work --url "$(url a)"
    ! grep -q hidden "$dir/said" || fail "it shows the proxy's password"
    examined 1 "$(url a)"
    says "^WRONG +server $(etcd_address s1):2379 the proxy http://$prefix.8:3128 \(https_proxy\): "
    no_proxy=$prefix.1 examined 0 "$(url a)"
    python3 test/engines/proxy.py "$prefix.8" 3128 "$dir/tunnels" > "$dir/proxy.out" 2> "$dir/proxy.log" &
    proxy=$!
    await 30 "the proxy is ready" grep -q ready "$dir/proxy.out"
    examined 0 "$(url a)"
    says "^ok +certificate +that of $(etcd_address s1):2379 ends on"
    work a b
    await_leader
    grep -q "^$(etcd_address s1):2379$" "$dir/tunnels" || fail "nothing went through the proxy"
    look
    local before=$token
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    touch "$dir/tunnels.closed"
    refused 3 "the proxy http://$prefix.8:3128 \(https_proxy\) answers 403 to CONNECT: let it pass this server" "$ELECTOR" status work --url "$(url a)"
    rm "$dir/tunnels.closed"
    unset https_proxy
    judge
    kill -TERM "$proxy"
}

# ---- Names made up for each job ----

names_do_not_run_out() { # URL: more names than an engine can have at a time; nobody uses them after they were asked for
    local engine
    "$ELECTOR" agent --engine "$1" --socket "$dir/h1.sock" 2> "$dir/h1.log" &
    engine=$!
    await 30 "the engine serves" examined_well "unix:$dir/h1.sock"
    "$ELECTOR" run --quiet --url "unix:$dir/h1.sock" keep -- sleep 300 &
    local keeper=$!
    await 30 "a group is led" keeps
    timeout 250 python3 test/engines/names.py "$dir/h1.sock" 18000 > "$dir/listed" 2> "$dir/names.log" || fail "$(tail -n 1 "$dir/names.log")"
    [ "$(cat "$dir/listed")" -lt 16384 ] || fail "it lists $(cat "$dir/listed")"
    [ -z "${zk[1]:-}" ] || [ "$(zk_watches)" -lt 16384 ] || fail "ZooKeeper keeps $(zk_watches) watches"
    keeps || fail "a group that is led was forgotten"
    "$ELECTOR" run --quiet --once --url "unix:$dir/h1.sock" job-0 -- true || fail "a name that was forgotten is of no use"
    kill -TERM "$keeper"
    wait "$keeper" || true
    kill -HUP "$engine" # it has no file to read again, and goes on
    await 30 "it says so" grep -q 'an engine has no file to read again' "$dir/h1.log"
    kill -TERM "$engine"
    await_exit "$engine" 0 "the engine"
    ! grep -hE 'AddressSanitizer|LeakSanitizer|runtime error' "$dir"/*.log > "$dir/strange" || fail "$(sed -n 1p "$dir/strange")"
}
zk_watches() { # that server 1 keeps
    local link
    exec {link}<> "/dev/tcp/$prefix.1/2181"
    printf wchs >&"$link"
    sed -n 's/^Total watches:\([0-9]*\).*/\1/p' <&"$link"
    exec {link}>&-
}
keeps() { "$ELECTOR" status keep --url "unix:$dir/h1.sock" > "$dir/kept" 2>&1; }

story_names_do_not_run_out_on_etcd() {
    etcd_found 1
    etcd_start s1
    names_do_not_run_out "$(url a)"
}

story_names_do_not_run_out_on_zookeeper() {
    zk_found 1
    zk_start 1
    zk_ttl=20s
    names_do_not_run_out "$(url a)"
}
