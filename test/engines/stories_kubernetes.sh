# shellcheck shell=bash disable=SC2154,SC2034,SC2317 # see lib_kubernetes.sh
# What goes wrong with the API server of Kubernetes and with candidates, and that the witness sees nobody work beside the leader.

# ---- Candidates end ----

story_kubernetes_run_is_killed() { # the engine empties the holder: no lease has to expire
    kube_ttl=60s
    kube_begin
    local before=$token who=$leader
    kill -KILL "${runner[$who]}"
    await_handover "$before"
    [ "$leader" != "$who" ] || fail "$who leads, though it is dead"
    kube_judge
}

story_kubernetes_command_is_killed() {
    kube_ttl=60s
    kube_begin
    local before=$token
    kill -KILL "$worker"
    await_handover "$before"
    kube_judge
}

story_kubernetes_engine_is_killed() { # the work ends at once; the office, when the lease has expired
    kube_begin
    local before=$token who=$leader
    # shellcheck disable=SC2046 # one at least
    kill -KILL $(kube_engine_of "$who")
    await_leader "$before"
    kube_judge
}
kube_engine_of() { pgrep -u "$(id -u)" -f "^elector-engine --client .*[?&]member=$1&kubeconfig=$dir/" | sed -n 1p; }

story_kubernetes_engine_is_frozen() {
    kube_begin
    local before=$token who=$leader pid
    pid=$(kube_engine_of "$who")
    kill -STOP "$pid"
    await_leader "$before"
    [ "$leader" != "$who" ] || fail "$who leads, though its engine stands still"
    kill -CONT "$pid"
    before=$token
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    kube_judge
}

story_kubernetes_resign() {
    kube_ttl=60s
    kube_begin
    local before=$token
    kill -TERM "${runner[$leader]}"
    await_handover "$before"
    kube_judge
}

story_kubernetes_last_one_leaves_a_free_lease() {
    kube_found
    kube_start
    work a
    await_leader
    [[ $(kube_holder) == a_656c6563-* ]] || fail "the holder is $(kube_holder)"
    [ "$(lease_field elector/token)" = "$token" ] || fail "the Lease says token $(lease_field elector/token), not $token"
    [ "$(lease_field leaseDurationSeconds)" = 3 ] || fail "it holds for $(lease_field leaseDurationSeconds) s"
    kill -TERM "${runner[a]}"
    await_exit "${runner[a]}" 0 "elector run"
    [ -z "$(kube_holder)" ] || fail "the holder is $(kube_holder) still"
    kube_judge
}

# ---- The API server fails ----

story_kubernetes_api_is_frozen() { # for longer than the lease: the work ends before, and begins again after
    kube_begin
    local before=$token now
    kill -STOP "$kube"
    await 30 "the work has ended" has_stopped
    now=$(ticks)
    sleep 1 # whoever worked now would be seen
    [ "$(ticks)" = "$now" ] || fail "it works though nobody can renew"
    says_why 'cannot use the API server .*: no answer in time; is it overloaded, frozen, or cut off'
    kill -CONT "$kube"
    await_leader "$before"
    kube_judge
}

story_kubernetes_api_restarts() { # within the lease: nobody loses the office
    kube_ttl=20s
    kube_begin
    local before=$token now
    kube_kill
    says_why 'cannot use the API server .*; is it running'
    kube_start
    now=$(ticks "$before ")
    await 40 "it works on" has_ticks "$before" $((now + 500))
    look
    [ "$token" = "$before" ] || fail "token $token instead of $before"
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    kube_judge
}

story_kubernetes_answers_are_lost() { # after the writes took place
    kube_found
    kube_start
    kube_order lose/3
    work "${members[@]}"
    await_leader
    local before=$token now
    kube_order lose/2
    now=$(ticks "$before ")
    await 30 "it works on" has_ticks "$before" $((now + 1000))
    kube_order lose/1
    kill -TERM "${runner[$leader]}"
    await_leader "$before"
    kube_judge
}

story_kubernetes_ends_while_it_acquires() { # the write takes place, its answer comes too late, and there is nobody left to work
    kube_ttl=5s
    kube_found
    kube_start
    ask_kube -X POST -H 'Content-Type: application/json' --data \
        '{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"work"},"spec":{}}' "$(kube_leases)" > "$dir/made"
    kube_order silent/1
    kube_order delay/1500/update
    "$ELECTOR" campaign work --url "$(url a)" > "$dir/a.log" 2>&1 &
    local campaign=$!
    await 30 "the Lease is a's" holder_is a_
    kube_order delay/0
    kill -KILL "$campaign"
    await 30 "the Lease is nobody's" holder_is ''
    [ ! -s "$dir/violations" ] || fail "the API server saw: $(sed -n 1p "$dir/violations")"
}
holder_is() { # BEGINNING; "": nobody
    local holder
    holder=$(kube_holder)
    [[ -z $1 && -z $holder ]] || [[ -n $1 && $holder == $1* ]]
}

story_kubernetes_api_is_slow_and_busy() { # 429 with Retry-After, 500, 300 ms for each answer
    kube_ttl=12s
    kube_begin
    local before=$token now
    kube_order delay/300
    kube_order code/429/1/4
    now=$(ticks "$before ")
    await 30 "it works on" has_ticks "$before" $((now + 1000))
    kube_order code/500/-/3
    now=$(ticks "$before ")
    await 30 "it works on after 500" has_ticks "$before" $((now + 1000))
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    kube_judge
}

story_kubernetes_watches_end() { # 410 in the stream, also as the first word, and a stream that is silent
    kube_begin
    local before=$token who=$leader listed now
    kube_order gone
    kill -KILL "${runner[$who]}"
    await_leader "$before"
    work "$who"
    before=$token
    kube_order count/list
    listed=$(cat "$dir/ordered")
    kube_order silent/1
    now=$(ticks "$before ")
    await 30 "a renewal goes by" has_ticks "$before" $((now + 800))
    kube_order compact
    kube_order end-watches
    await 30 "three engines list again" has_listed $((listed + 3))
    kube_order silent/0
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    kube_order silent/1
    before=$token
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    kube_judge
}

has_listed() { kube_order count/list && [ "$(cat "$dir/ordered")" -ge "$1" ]; }

story_kubernetes_waits_by_watch() { # while it is held nobody asks: only renewals, and the watches
    kube_begin
    local before
    kube_order count/get
    before=$(cat "$dir/ordered")
    sleep 2.5
    kube_order count/get
    [ $(($(cat "$dir/ordered") - before)) -le 3 ] || fail "$(($(cat "$dir/ordered") - before)) reads in 2.5 s"
    kube_judge
}

# ---- By hand ----

story_kubernetes_lease_is_deleted() { # tokens rise over another object
    kube_begin
    local before=$token who=$leader
    ask_kube -X DELETE "$(kube_leases)/work" > "$dir/deleted"
    await_leader "$before"
    says_removed "$who" 'our Lease is gone'
    before=$token
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    judge_tokens
}

story_kubernetes_holder_is_taken_by_hand() {
    kube_begin
    local before=$token who=$leader
    kube_order strict/0
    lease
    python3 - "$dir/lease.json" << 'PYTHON'
import json, sys
lease = json.load(open(sys.argv[1]))
del lease["metadata"]["resourceVersion"]
lease["spec"].update(holderIdentity="somebody", leaseDurationSeconds=2, acquireTime=lease["spec"]["renewTime"])
json.dump(lease, open(sys.argv[1], "w"))
PYTHON
    await 30 "it is taken" taken_by_hand
    await_leader "$before"
    says_removed "$who" 'our Lease is gone'
    judge_tokens
}
taken_by_hand() { # with the version of now; a renewal may come between
    local version
    version=$(ask_kube "$(kube_leases)/work" | sed -nE 's/.*"resourceVersion": "([0-9]+)".*/\1/p')
    sed -E "s/\"metadata\": \{/\"metadata\": {\"resourceVersion\": \"$version\", /" "$dir/lease.json" > "$dir/put.json"
    [ "$(ask_kube -o "$dir/put.out" -w '%{http_code}' -X PUT -H 'Content-Type: application/json' --data-binary "@$dir/put.json" "$(kube_leases)/work")" = 200 ]
}

story_kubernetes_store_is_restored() { # resourceVersion falls, and tokens do not
    kube_begin
    local before=$token
    kube_order backup
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    before=$token
    kube_order strict/0
    kube_order restore
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    judge_tokens
}

story_kubernetes_is_restored_under_a_leader() { # to when it led before: who comes new must be above what it has by now
    kube_found
    kube_start
    work a
    await_leader
    local before=$token
    kube_order backup
    ask_kube -X DELETE "$(kube_leases)/work" > "$dir/deleted"
    await_leader "$before"
    before=$token
    kube_order strict/0
    kube_order restore
    await 30 "the Lease has the token again" token_is "$before"
    kill -TERM "${runner[a]}"
    await_exit "${runner[a]}" 0 "elector run"
    work b
    await_leader "$before"
    judge_tokens
}
token_is() { [ "$(lease_field elector/token)" = "$1" ]; }

# ---- With candidates of client-go ----

story_kubernetes_client_go_waits_for_us() {
    kube_found
    kube_start
    work a
    await_leader
    client_go foreign
    sleep 4 # longer than the lease: it sees each renewal
    [ ! -s "$dir/foreign.said" ] || fail "it leads beside us"
    kill -TERM "${runner[a]}"
    await 30 "it leads" grep -q '^leads' "$dir/foreign.said"
    await_exit "${runner[a]}" 0 "elector run"
    work b
    "$ELECTOR" status work --url "$(url x)" > "$dir/status"
    grep -q foreign "$dir/status" || fail "status does not name it: $(cat "$dir/status")"
    kill -TERM "$it"
    await_leader "$token"
    after_foreign_end
    kube_judge
}
after_foreign_end() { # who leads now began after the other one had lost
    local lost began
    lost=$(awk '$1 == "lost" { print $2 }' "$dir/foreign.said")
    began=$(awk -v token="$token" '$1 == "begin" && $2 == token { print $3 }' "$dir/ticks")
    [ "$lost" -lt "$began" ] || fail "we began at $began, before it had lost at $lost"
}

story_kubernetes_client_go_is_frozen() { # we wait for the time that it wrote, not for ours
    kube_ttl=2s
    kube_found
    kube_start
    client_go foreign 4 3 0.5
    await 30 "it leads" grep -q '^leads' "$dir/foreign.said"
    work a b
    kill -STOP "$it"
    await_leader
    kill -CONT "$it"
    await 30 "it has lost" grep -q '^lost' "$dir/foreign.said"
    kube_judge # the server counts the time of a takeover
}

# ---- Who we are ----

story_kubernetes_token_rotates() { # the old one is refused, and the file has another
    kube_begin
    local before=$token now
    echo next-token > "$dir/token"
    kube_users "next-token shop $kube_rights" "root admin $kube_rights"
    now=$(ticks "$before ")
    await 30 "it works on" has_ticks "$before" $((now + 1500))
    look
    [ "$token" = "$before" ] || fail "the office was lost with the token"
    kube_users "root admin $kube_rights"
    await 30 "the work has ended" has_stopped
    await 30 "the refusal is named" grep -q 'does not accept our credentials (401): renew those that' "$dir/run-$leader.log"
    kube_users "next-token shop $kube_rights" "root admin $kube_rights"
    await_leader "$before"
    kube_judge
}

story_kubernetes_rights_are_withdrawn() {
    kube_begin
    local before=$token
    kube_users "good-token shop get,create,update" "root admin $kube_rights"
    kube_order gone
    await 30 "polling is named" grep -qE 'no right to (list|watch) leases in namespace shop: polling instead' "$dir/run-a.log"
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    kube_users "good-token shop get" "root admin $kube_rights"
    await 30 "the work has ended" has_stopped
    await 30 "the refusal is named" grep -q 'no right to update leases in namespace shop (403): bind a Role' "$dir/run-$leader.log"
    kube_judge
}

story_kubernetes_rights_are_missing() { # a candidate that waits is told before it should lead; one that looks is not
    kube_found
    kube_users "good-token shop $kube_rights" "other-token shop get,list,watch" "root admin $kube_rights"
    kube_start
    work a
    await_leader
    kube_config "token: other-token"
    "$ELECTOR" status work --url "$(url x)" > "$dir/said" 2>&1
    ! grep -q 'no right' "$dir/said" || fail "one that looks is told: $(cat "$dir/said")"
    work b
    await 30 "b is told" grep -q 'no right to create and update leases in namespace shop: a candidate here cannot lead' "$dir/run-b.log"
    kube_judge
}

story_kubernetes_in_a_pod() {
    kube_found
    kube_start
    mkdir "$dir/pod"
    cp "$dir/ca.crt" "$dir/pod/ca.crt"
    cp "$dir/token" "$dir/pod/token"
    printf shop > "$dir/pod/namespace"
    export KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT=$kube_port
    KUBERNETES_SERVICE_HOST=$(kube_at)
    url() { echo "kubernetes://?ttl=3s&member=$1&serviceaccount=$dir/pod"; }
    work a b
    await_leader
    [[ $(pgrep -af elector) != *good-token* ]] || fail "ps shows the token"
    kill -KILL "${runner[$leader]}"
    await_leader "$token"
    kube_judge
}

story_kubernetes_client_certificate() { # in the kubeconfig itself
    kube_found
    (cd "$dir" && make_certificate ca client somebody 1) > "$dir/openssl" 2>&1
    kube_users "cn:client shop $kube_rights" "root admin $kube_rights"
    kube_config "client-certificate-data: $(base64 -w 0 "$dir/client.crt")" "client-key-data: $(base64 -w 0 "$dir/client.key")"
    sed -i "s#certificate-authority: ca.crt#certificate-authority-data: $(base64 -w 0 "$dir/ca.crt")#" "$dir/kubeconfig"
    kube_start
    work a b
    await_leader
    kill -KILL "${runner[$leader]}"
    await_leader "$token"
    kube_judge
}

# ---- Bad input, and the rest ----

story_kubernetes_bad_input() {
    kube_found
    refused 3 'cannot use the API server .*is it running' "$ELECTOR" status work --url "$(url a)"
    kube_start
    refused 2 'three slashes' "$ELECTOR" status work --url kubernetes://host/shop
    refused 2 'is no namespace' "$ELECTOR" status work --url "kubernetes:///Shop?kubeconfig=$dir/kubeconfig"
    refused 2 "has no option 'ca'" "$ELECTOR" status work --url "kubernetes:///shop?ca=x"
    refused 2 'cannot read /none, the kubeconfig' "$ELECTOR" status work --url "kubernetes:///shop?kubeconfig=/none"
    refused 2 "context 'x': there is none of this name" "$ELECTOR" status work --url "$(url a)&context=x"
    refused 2 'no credentials for Kubernetes: .* set kubeconfig=FILE or KUBECONFIG' env HOME="$dir/none" "$ELECTOR" status work --url kubernetes:///shop
    refused 2 'knows no priorities|no priorities' "$ELECTOR" run --priority 3 --url "$(url a)" work -- true
    refused 1 'no transfer to a named candidate' "$ELECTOR" transfer work --to b --url "$(url a)"
    refused 1 'keeps no history' "$ELECTOR" history work --url "$(url a)"
    kube_config "exec: {command: aws}"
    refused 2 'no plugins are run: use a token' "$ELECTOR" status work --url "$(url a)"
    kube_config "token: wrong"
    refused 3 'does not accept our credentials \(401\)' "$ELECTOR" status work --url "$(url a)"
    kube_config "tokenFile: token"
    kube_namespace=none
    "$ELECTOR" campaign work --url "$(url b)" > "$dir/b.log" 2>&1 &
    await 30 "b is told" grep -q 'namespace none does not exist: `kubectl create namespace none`' "$dir/b.log"
    kube_namespace=shop
    "$ELECTOR" campaign Upper/case --url "$(url c)" > "$dir/c.log" 2>&1 &
    await 30 "c is told" grep -q "the group 'Upper/case' cannot be elected on Kubernetes" "$dir/c.log"
    (cd "$dir" && make_ca other && sed -i 's/certificate-authority: ca.crt/certificate-authority: other.crt/' kubeconfig) > "$dir/openssl" 2>&1
    refused 3 'cannot use the API server .*certificate' "$ELECTOR" status work --url "$(url a)"
    kube_config "tokenFile: token"
    ELECTOR_URL=$(url a) "$ELECTOR" doctor > "$dir/said"
    says '^ok +namespace +shop takes Leases'
}

story_kubernetes_values() { # what the leader proclaims is an annotation, which the next one does not keep
    kube_found
    kube_start
    "$ELECTOR" campaign work --value 10.0.0.1:9000 --url "$(url a)" > "$dir/a.log" 2>&1 &
    local first=$!
    await 30 "the value is there" has_value 10.0.0.1:9000
    "$ELECTOR" status work --url "$(url x)" --output json > "$dir/said"
    says '"leader": *"a"'
    says '"value": *"10.0.0.1:9000"'
    "$ELECTOR" status --url "$(url x)" > "$dir/said" # of all groups: Leases that an Elector has held
    says '^work +a '
    kill -TERM "$first"
    await_exit "$first" 0 "elector campaign"
    "$ELECTOR" campaign work --url "$(url b)" > "$dir/b.log" 2>&1 &
    await 30 "b leads" b_leads
    has_value '' || fail "the value is $(lease_field elector/value) still"
    [ ! -s "$dir/violations" ] || fail "the API server saw: $(sed -n 1p "$dir/violations")"
}
has_value() { [ "$(lease_field elector/value)" = "$1" ]; }
b_leads() { [[ $(kube_holder) == b_* ]]; }

story_kubernetes_for_a_host() { # one engine behind a socket: many clients, many Leases
    kube_found
    kube_start
    "$ELECTOR" agent --engine "$(url host1)" --socket "$dir/h1.sock" 2> "$dir/h1.log" &
    local engine=$! i
    url() { echo "unix:$dir/$1.sock"; }
    await 30 "the engine answers" answers h1
    work h1
    for i in 1 2 3; do "$ELECTOR" run --quiet --url "$(url h1)" "other-$i" -- sleep 60 & done
    await_leader
    await 30 "the other groups are led" others_are_led
    kill -TERM "$engine"
    await_exit "$engine" 0 "the engine"
    [ -z "$(kube_holder)" ] || fail "the holder is $(kube_holder) still"
    kube_judge
}

story_kubernetes_thousand_groups() { # one list and one watch; each group has a Lease of its own
    kube_found
    kube_ttl=60s
    kube_start
    "$BUILD/elector-engine" --socket "$dir/s" "$(url a)" >> "$dir/a.log" 2>&1 &
    local it=$!
    await 30 "the engine listens" test -S "$dir/s"
    python3 test/engines/thousand.py "$dir/s" > "$dir/campaign" 2>&1 &
    await 60 "it leads a thousand groups" grep -q 'leads 1000' "$dir/campaign"
    kube_order count/watch
    [ "$(cat "$dir/ordered")" = 1 ] || fail "$(cat "$dir/ordered") watches"
    kube_order count/list
    [ "$(cat "$dir/ordered")" = 1 ] || fail "$(cat "$dir/ordered") lists"
    ! grep lost "$dir/campaign" > "$dir/lost" || fail "$(head -n 1 "$dir/lost")"
    [ ! -s "$dir/violations" ] || fail "the API server saw: $(sed -n 1p "$dir/violations")"
}

others_are_led() { [ "$(field h1 other-1 leader)$(field h1 other-2 leader)$(field h1 other-3 leader)" = host1host1host1 ]; }
