# shellcheck shell=bash disable=SC2154,SC2034,SC2317 # names are shared with test/cluster/lib.sh and lib_etcd.sh
# The strict API server of test/engines/apiserver on a loopback address of its own, over TLS, and candidates a, b, c.

kube_ttl=3s
kube_namespace=shop
kube_query=
kube_port=6443
kube_rights=get,list,watch,create,update,delete

kube_at() { echo "$prefix.1"; }
kube_order() { curl -sf "http://$(kube_at):$((kube_port + 1))/$1" > "$dir/ordered" || fail "the API server takes no order $1"; }
ask_kube() { curl -s --cacert "$dir/ca.crt" -H 'Authorization: Bearer root' "$@"; }
kube_leases() { echo "https://$(kube_at):$kube_port/apis/coordination.k8s.io/v1/namespaces/$kube_namespace/leases"; }
lease() { ask_kube "$(kube_leases)/${1:-work}" > "$dir/lease.json"; } # [NAME]
lease_field() { # NAME: of the spec, or an annotation
    lease
    python3 -c 'import json, sys
lease = json.load(open(sys.argv[1]))
print({**lease["metadata"].get("annotations", {}), **lease["spec"]}.get(sys.argv[2], ""))' "$dir/lease.json" "$1"
}
kube_holder() { lease_field holderIdentity; }

kube_found() { # makes certificates, users and the kubeconfig
    members=(a b c)
    url() { echo "kubernetes:///$kube_namespace?ttl=$kube_ttl&member=$1&kubeconfig=$dir/kubeconfig$kube_query"; } # CANDIDATE
    (
        cd "$dir" || exit
        make_ca ca && make_certificate ca server "$(kube_at)" 1
    ) > "$dir/openssl" 2>&1
    echo good-token > "$dir/token"
    kube_users "good-token shop $kube_rights" "root admin $kube_rights"
    kube_config "tokenFile: token"
}
kube_users() { printf '%s\n' "$@" > "$dir/users.new" && mv "$dir/users.new" "$dir/users"; }
kube_config() { # LINES of the user
    {
        printf '%s\n' 'apiVersion: v1' 'kind: Config' 'current-context: here' 'clusters:' '- name: one' '  cluster:' \
            "    server: https://$(kube_at):$kube_port" '    certificate-authority: ca.crt' 'contexts:' '- name: here' \
            '  context: {cluster: one, user: me, namespace: shop}' 'users:' '- name: me' '  user:'
        printf '    %s\n' "$@"
    } > "$dir/kubeconfig"
}

kube_start() {
    python3 test/engines/apiserver/server.py "$(kube_at)" "$kube_port" "$dir" "$dir/${kube_certificate:-server}.crt" \
        "$dir/${kube_certificate:-server}.key" "$dir/ca.crt" > "$dir/api.out" 2>> "$dir/api.log" &
    kube=$!
    await 30 "the API server is ready" grep -q ready "$dir/api.out"
}
kube_kill() {
    kill -KILL "$kube"
    wait "$kube" 2> /dev/null || true
}
kube_begin() { # the server, and the candidates at work
    kube_found
    kube_start
    work "${members[@]}"
    await_leader
}

# A candidate without Elector's code, as process $it, which waits as long as its own configuration says.
client_go() { # IDENTITY [DURATION RENEW_DEADLINE RETRY]
    python3 test/engines/apiserver/candidate.py "https://$(kube_at):$kube_port" "$kube_namespace" work "$1" root "${2:-3}" "${3:-2}" "${4:-0.3}" "$dir/ca.crt" \
        > "$dir/$1.said" 2> "$dir/$1.log" &
    it=$!
}
kube_judge() { # what the server saw, too
    judge
    [ ! -s "$dir/violations" ] || fail "the API server saw: $(sed -n 1p "$dir/violations")"
    [ ! -s "$dir/api.log" ] || fail "the API server: $(tail -n 1 "$dir/api.log")"
}
