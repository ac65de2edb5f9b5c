# shellcheck shell=bash disable=SC2154,SC2034,SC2317 # see lib_kubernetes.sh
# kube-apiserver and client-go's example, from Debian's source package. The stories of the in-tree API server, told with the real one; and
# what only the real one can show.

[[ $name != real-* ]] || [ -n "${kubernetes:-}" ] || skip "kube-apiserver is not built"

story_real_same_answers() { # the in-tree API server is as good as these
    kube_found
    make_other_server
    kube_start
    kube_users "good-token shop $kube_rights" "other-token shop get,list,watch" "root admin $kube_rights"
    await 30 "the reader may read" reader_reads
    same_answers
    kube_kill # and the history that it has served is gone
    real_ctl_etcd put other 1 > "$dir/put"
    real_ctl_etcd compact "$(real_ctl_etcd get other -w fields | awk '/"Revision"/ { print $3 }')" > "$dir/compact"
    kube_start
    curl -sf "http://$prefix.2:$((kube_port + 1))/compact" > "$dir/ordered"
    same_answers old
}
same_answers() { # [old]
    local which
    for which in "$(kube_at)" "$prefix.2"; do
        python3 test/interop/answers.py "https://$which:$kube_port" "$dir/ca.crt" good-token other-token "$@" > "$dir/$which.answers" 2> "$dir/answers.log" ||
            fail "$which: $(tail -n 1 "$dir/answers.log")"
    done
    diff "$dir/$(kube_at).answers" "$dir/$prefix.2.answers" > "$dir/answers.log" || fail "$(grep -c '^<' "$dir/answers.log") answers differ: $(sed -n '2p' "$dir/answers.log")"
}
real_ctl_etcd() { ETCDCTL_API=3 etcdctl --endpoints "$(real_etcd)" "$@"; }
make_other_server() {
    mkdir "$dir/ours"
    printf '%s\n' "good-token shop $kube_rights" "other-token shop get,list,watch" "root admin $kube_rights" > "$dir/ours/users"
    (cd "$dir" && make_certificate ca ours "$prefix.2" 1) > "$dir/openssl" 2>&1
    python3 test/engines/apiserver/server.py "$prefix.2" "$kube_port" "$dir/ours" "$dir/ours.crt" "$dir/ours.key" "$dir/ca.crt" > "$dir/ours.out" 2>&1 &
    await 30 "the in-tree API server is ready" grep -q ready "$dir/ours.out"
}
reader_reads() { [ "$(curl -s -o /dev/null -w '%{http_code}' --cacert "$dir/ca.crt" -H 'Authorization: Bearer other-token' "$(kube_leases)")" = 200 ]; }

# ---- As with the in-tree API server ----

story_real_run_is_killed() { story_kubernetes_run_is_killed; }
story_real_command_is_killed() { story_kubernetes_command_is_killed; }
story_real_engine_is_killed() { story_kubernetes_engine_is_killed; }
story_real_engine_is_frozen() { story_kubernetes_engine_is_frozen; }
story_real_last_one_leaves_a_free_lease() { story_kubernetes_last_one_leaves_a_free_lease; }
story_real_api_is_frozen() { story_kubernetes_api_is_frozen; }
story_real_lease_is_deleted() { story_kubernetes_lease_is_deleted; }
story_real_holder_is_taken_by_hand() { story_kubernetes_holder_is_taken_by_hand; }
story_real_rights_are_missing() { story_kubernetes_rights_are_missing; }
story_real_client_certificate() { story_kubernetes_client_certificate; }
story_real_values() { story_kubernetes_values; }

story_real_api_restarts() { # within the lease: nobody loses the office
    kube_ttl=60s
    story_kubernetes_api_restarts
}

# ---- What only the real one can show ----

story_real_rights_are_withdrawn() { # from one who leads: RBAC, within moments
    kube_begin
    kube_users "good-token shop get" "root admin $kube_rights"
    await 60 "the work has ended" has_stopped
    await 30 "the refusal is named" grep -q 'no right to update leases in namespace shop (403): bind a Role' "$dir/run-$leader.log"
    local before=$token
    kube_users "good-token shop $kube_rights" "root admin $kube_rights"
    await_leader "$before"
    kube_judge
}

story_real_token_is_revoked() { # of a service account, bound to a Secret: the Secret goes, and the file has another token
    kube_ttl=20s
    kube_found
    kube_start
    local core=https://$(kube_at):$kube_port/api/v1/namespaces/shop now
    local account='{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"worker"}}'
    ask_kube -f -o "$dir/account" -X POST -H 'Content-Type: application/json' --data "$account" "$core/serviceaccounts"
    real_put /apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings/worker '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding",
        "metadata":{"name":"worker"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"good"},
        "subjects":[{"kind":"ServiceAccount","name":"worker","namespace":"shop"}]}'
    service_token one > "$dir/token"
    work a b
    await_leader
    local before=$token
    service_token two > "$dir/token.new" && mv "$dir/token.new" "$dir/token"
    ask_kube -f -o "$dir/deleted" -X DELETE "$core/secrets/one"
    now=$(ticks "$before ")
    await 40 "it works on" has_ticks "$before" $((now + 1500))
    look
    [ "$token" = "$before" ] || fail "the office was lost with the token"
    kube_judge
}
service_token() { # NAME of a Secret, to which it is bound
    local core=https://$(kube_at):$kube_port/api/v1/namespaces/shop
    ask_kube -f -o "$dir/secret" -X POST -H 'Content-Type: application/json' --data "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"$1\"}}" "$core/secrets"
    ask_kube -f -X POST -H 'Content-Type: application/json' --data '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":600,
        "boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"'"$1"'"}}}' "$core/serviceaccounts/worker/token" |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["status"]["token"])'
}

story_real_history_is_compacted() { # while the API server was away: watches begin anew with a list
    kube_ttl=60s
    kube_begin
    local before=$token i
    kill -STOP "$kube"
    for i in 1 2 3 4 5; do real_ctl_etcd put "other$i" "$i" > "$dir/put"; done
    kube_kill
    real_ctl_etcd compact "$(real_ctl_etcd get other5 -w fields | awk '/"Revision"/ { print $3 }')" > "$dir/compact"
    kube_start
    kill -KILL "${runner[$leader]}"
    await_leader "$before"
    kube_judge
}

story_real_store_below_is_frozen() { # the API server answers, and cannot write: no renewal
    kube_begin
    local before=$token
    kill -STOP "$real_store"
    await 60 "the work has ended" has_stopped
    kill -CONT "$real_store"
    await_leader "$before"
    kube_judge
}

story_real_namespace_does_not_exist() {
    kube_found
    kube_start
    kube_config "token: root"
    kube_namespace=none
    "$ELECTOR" campaign work --url "$(url b)" > "$dir/b.log" 2>&1 &
    await 30 "b is told" grep -q 'namespace none does not exist: `kubectl create namespace none`' "$dir/b.log"
    kube_namespace=shop
    kube_config "token: wrong"
    refused 3 'does not accept our credentials \(401\)' "$ELECTOR" status work --url "$(url a)"
}

story_real_example_waits_for_us() { # and we for it; kubectl shows who holds
    kube_found
    kube_start
    kube_ttl=60s
    work a
    await_leader
    local before=$token
    [[ $(real_ctl get lease work -o 'jsonpath={.spec.holderIdentity}') == a_656c6563-* ]] || fail "kubectl does not see a"
    real_ctl get lease work > "$dir/said"
    says '^work +a_656c6563-'
    real_example it
    await 30 "it looks" grep -qE 'attempting to acquire|new leader elected' "$dir/it.said"
    await 30 "it sees us" grep -q 'new leader elected: a_656c6563-' "$dir/it.said"
    kill -TERM "${runner[a]}"
    await 60 "it leads" grep -q 'Controller loop' "$dir/it.said"
    await_exit "${runner[a]}" 0 "elector run"
    work b
    await 30 "we see it" sees_example
    [ "$(real_ctl get lease work -o 'jsonpath={.spec.holderIdentity}')" = it ] || fail "kubectl does not see it"
    ! works_beyond "$before" || fail "we work beside it"
    kill -TERM "$it"
    await_leader "$before"
    [ "$(real_ctl get lease work -o 'jsonpath={.spec.leaseTransitions}')" -ge 2 ] || fail "leaseTransitions are $(real_ctl get lease work -o 'jsonpath={.spec.leaseTransitions}')"
    kube_judge
}
sees_example() { [ "$("$ELECTOR" status work --url "$(url x)" 2> /dev/null | awk '$1 == "work" { print $2 }')" = it ]; }
