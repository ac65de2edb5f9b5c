# shellcheck shell=bash disable=SC2154,SC2034,SC2317 # see test/engines
# Faults of real stores that take long, or need more than `make test` installs: the witness sees nobody work beside the leader, tokens
# rise, and a line says what is wrong.

# ---- Cut off one way ----

cut_in() { nft_do add rule inet cut in "$@" drop; }
one_way() { # WAY PORT: requests or answers are lost, for longer than the lease; then all is well again
    local before=$token
    if [ "$1" = requests ]; then cut_in tcp dport "$2"; else cut_in tcp sport "$2"; fi
    await 60 "the work has ended" has_stopped
    heal
    await_leader "$before"
}
each_way() { # PORT
    one_way requests "$1"
    one_way answers "$1"
    judge
}

story_etcd_cut_off_one_way() {
    make_net
    store_begin 1
    each_way 2379
    says_why 'etcd at .*: no answer in time'
}

story_zookeeper_cut_off_one_way() {
    make_net
    zk_begin 1
    each_way 2181
    says_why 'no server answers'
}

story_kubernetes_cut_off_one_way() {
    make_net
    kube_begin
    each_way "$kube_port"
    says_why 'cannot use the API server .*: no answer in time'
}

story_zookeeper_server_is_cut_off() { # from the others, and not from its clients: it serves nobody, and the session moves
    make_net
    zk_ttl=8s zk_user=65533 # of server 1: on loopback all connections come from one address
    zk_begin 3
    local before=$token now
    nft_do add chain inet cut out '{ type filter hook output priority 0; }'
    nft_do add rule inet cut out meta skuid "$zk_user" tcp dport '{ 2888, 3888 }' drop
    nft_do add rule inet cut out meta skuid "$zk_user" tcp sport '{ 2888, 3888 }' drop
    await 60 "server 1 serves nobody" zk_serves_nobody 1
    now=$(ticks "$before ")
    await 30 "it works on without server 1" has_ticks "$before" $((now + 300))
    nft_do flush chain inet cut out
    await 60 "server 1 serves" zk_serves 1
    look
    [ "$token" = "$before" ] || fail "token $token instead of $before: the office was lost"
    judge
}
zk_serves_nobody() { ! zk_serves "$1"; }

# ---- The disk is full ----

fill() { dd if=/dev/zero of="$1/filler" bs=64k 2> "$dir/dd.log" || true; } # FOLDER

story_etcd_disk_is_full() { # etcd ends with it; what it wrote is there when it has room again
    make_disk "$dir/s1.data" 300M
    chmod 700 "$dir/s1.data"
    store_begin 1
    local before=$token i
    fill "$dir/s1.data"
    for i in $(seq 400); do # until it has no room in the files that it holds
        head -c 200000 /dev/urandom | base64 -w 0 | timeout 5 env ETCDCTL_API=3 etcdctl --endpoints "$(etcd_endpoints s1)" put fill > "$dir/put" 2>&1 || break
    done
    await 120 "the work has ended" has_stopped
    says_why 'cannot use etcd at .*: |etcd .*no space'
    await 60 "etcd has ended, as it does then" has_ended "${server[s1]}"
    rm "$dir/s1.data/filler"
    etcd_start s1
    await_leader "$before"
    judge
}

story_zookeeper_disk_is_full() {
    make_disk "$dir/zk1"
    zk_begin 1
    local before=$token i
    fill "$dir/zk1"
    for i in $(seq 400); do timeout 5 env PYTHONPATH=/usr/lib/python3/dist-packages /usr/bin/python3 test/engines/by_hand.py "$(zk_hosts 1)" put "/fill$i" "$(head -c 90000 /dev/zero | tr '\0' x)" > "$dir/put" 2>&1 || break; done
    await 120 "the work has ended" has_stopped
    says_why 'no server answers'
    await 60 "the server has ended, as it does then" has_ended "${zk[1]}"
    rm "$dir/zk1/filler"
    zk_start 1
    await_leader "$before"
    judge
}

# ---- Clocks are set ----

# The wall clock of an engine, as libfaketime tells it; clocks that measure time go on.
faketime=$(compgen -G '/usr/lib/*/faketime/libfaketime.so.1') || true
work_by_set_clock() { # SECONDS MEMBER: what its wall clock is ahead
    echo "$1" > "$dir/clock"
    LD_PRELOAD=$faketime FAKETIME_TIMESTAMP_FILE=$dir/clock FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1 \
        "$ELECTOR" run --url "$(url "$2")" --quiet work -- "$lib/cluster-worker" "$dir/ticks" >> "$dir/run-$2.log" 2>&1 &
    runner[$2]=$!
}
set_while_it_leads() { # SECONDS...: nobody loses the office by it, and nobody else takes it
    [ -e "$faketime" ] || skip "no libfaketime"
    work_by_set_clock +0 a
    await_leader
    local before=$token by now
    work b
    for by in "$@"; do
        echo "$by" > "$dir/clock"
        now=$(ticks "$before ")
        await 60 "it works on at $by" has_ticks "$before" $((now + 800))
    done
    look
    [ "$token" = "$before" ] || fail "the office was lost with the clock"
    kill -TERM "${runner[a]}"
    await_leader "$before"
    work_by_set_clock "$1" a
    before=$token
    kill -KILL "${runner[b]}"
    await_leader "$before"
    judge
}

story_etcd_clock_is_set() {
    etcd_found 1
    etcd_start s1
    set_while_it_leads -86400 +3600 +86400
}

story_zookeeper_clock_is_set() {
    zk_found 1
    zk_start 1
    set_while_it_leads -86400 +3600 +86400
}

story_kubernetes_clock_is_set() { # renewTime and acquireTime leap with it, and nobody goes by them
    kube_found
    kube_start
    kube_order strict/0 # which wants renewTime to rise
    set_while_it_leads +7200 +3600 +40000 # while the certificate is valid
}

# ---- Rights and certificates end while one leads ----

story_etcd_right_is_withdrawn() {
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
    etcd_query="&user=shop&password-file=$dir/password"
    work a b
    await_leader
    local before=$token
    ctl --user root:secret user revoke-role shop shop >> "$dir/auth"
    kill -KILL "${runner[$leader]}"
    says_why "user shop may not read and write keys below 'shop/'"
    [ "$(cat "$dir"/run-?.log | grep -c 'may not read and write')" -le 2 ] || fail "it is said $(cat "$dir"/run-?.log | grep -c 'may not read and write') times"
    sleep 3 # refused again and again, and keep-alives succeed in between
    [ "$(cat "$dir"/run-?.log | grep -c 'may not read and write')" -le 2 ] || fail "it is said again and again"
    ctl --user root:secret user grant-role shop shop >> "$dir/auth"
    await_leader "$before"
    before=$token
    ctl --user root:secret user delete shop >> "$dir/auth"
    await 60 "the work has ended" has_stopped
    says_why 'refuses user shop'
    judge
}

story_etcd_certificate_expires() { # of the server, which is started with another one
    etcd_found 1
    (
        cd "$dir" || exit
        make_ca ca
        make_certificate ca server "$(etcd_address s1)" 1
        make_certificate ca late "$(etcd_address s1)" -1
    ) > "$dir/openssl" 2>&1
    etcd_scheme=https etcd_url=etcds etcd_query="&ca=$dir/ca.crt"
    etcd_flags=(--cert-file "$dir/server.crt" --key-file "$dir/server.key")
    etcd_answers() { ctl --cacert "$dir/ca.crt" endpoint health > /dev/null 2>&1 || grep -q 'certificate has expired' "$dir/s1.log"; }
    etcd_start s1
    work a b
    await_leader
    local before=$token
    etcd_kill s1
    etcd_flags=(--cert-file "$dir/late.crt" --key-file "$dir/late.key")
    etcd_answers() { [ "$(grep -c 'serving client requests' "$dir/s1.log")" -ge 2 ]; }
    etcd_start s1
    await 60 "the work has ended" has_stopped
    says_why 'cannot use etcd at .*certificate has expired'
    etcd_kill s1
    etcd_flags=(--cert-file "$dir/server.crt" --key-file "$dir/server.key")
    etcd_answers() { [ "$(grep -c 'serving client requests' "$dir/s1.log")" -ge 3 ]; }
    etcd_start s1
    await_leader "$before"
    judge
}

story_etcd_client_certificate_expires() { # while one leads by it; a renewed file counts without a restart
    etcd_found 1
    (
        cd "$dir" || exit
        make_ca ca
        make_certificate ca server "$(etcd_address s1)" 1
        make_certificate ca client client 1
        make_certificate ca health health 1
        cp client.crt renewed.crt
        make_short_certificate ca client 15
    ) > "$dir/openssl" 2>&1
    etcd_scheme=https etcd_url=etcds etcd_query="&ca=$dir/ca.crt&cert=$dir/client.crt&key=$dir/client.key"
    etcd_flags=(--cert-file "$dir/server.crt" --key-file "$dir/server.key" --client-cert-auth --trusted-ca-file "$dir/ca.crt")
    etcd_answers() { ctl --cacert "$dir/ca.crt" --cert "$dir/health.crt" --key "$dir/health.key" endpoint health > /dev/null 2>&1; }
    etcd_start s1
    work a b
    await_leader
    local before=$token
    await 60 "the certificate has expired" is_expired client
    look
    [ "$token" = "$before" ] || fail "the office was lost with the certificate, though the connection is there"
    etcd_kill s1 # the next connection is refused
    etcd_start s1
    await 60 "the work has ended" has_stopped
    says_why 'cannot use etcd at .*; name the right files with ca=, cert= and key='
    cp "$dir/renewed.crt" "$dir/client.new" && mv "$dir/client.new" "$dir/client.crt"
    await_leader "$before"
    judge
}
is_expired() { ! openssl x509 -in "$dir/$1.crt" -noout -checkend 0 > "$dir/checked"; }
make_short_certificate() { # CA NAME SECONDS: once more, for the key that is there
    : > index.txt
    echo 01 > serial
    printf '%s\n' '[ca]' 'default_ca=this' '[this]' database=index.txt serial=serial new_certs_dir=. default_md=sha256 policy=any '[any]' \
        commonName=supplied > short.conf
    openssl ca -batch -notext -config short.conf -cert "$1.crt" -keyfile "$1.key" -in "$2.csr" -extfile "$2.ext" -out "$2.crt" \
        -startdate "$(date -u -d '-1 hour' +%Y%m%d%H%M%SZ)" -enddate "$(date -u -d "+$3 seconds" +%Y%m%d%H%M%SZ)"
}

story_kubernetes_certificate_expires() {
    kube_found
    (cd "$dir" && make_certificate ca late "$(kube_at)" -1) > "$dir/openssl" 2>&1
    kube_start
    work a b
    await_leader
    local before=$token
    kube_kill
    kube_certificate=late
    kube_start
    await 60 "the work has ended" has_stopped
    says_why 'cannot use the API server .*certificate has expired'
    kube_kill
    kube_certificate=server
    kube_start
    await_leader "$before"
    judge
}

story_zookeeper_right_is_withdrawn() { # the ACL of the path becomes another's
    zk_found 1
    zk_start 1
    zk_hand put "/$zk_path" '' shop:open
    echo shop:open > "$dir/auth" && chmod 600 "$dir/auth"
    zk_query="&auth-file=$dir/auth"
    work a b
    await_leader
    local before=$token
    zk_hand acl "/$zk_path/work" other:closed shop:open
    kill -KILL "${runner[$leader]}"
    await 60 "the work has ended" has_stopped
    says_why 'its ACL gives these credentials no right to'
    zk_hand acl "/$zk_path/work" shop:open other:closed
    await_leader "$before"
    judge
}
