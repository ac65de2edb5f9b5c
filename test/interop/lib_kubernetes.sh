# shellcheck shell=bash disable=SC2154,SC2034,SC2317 # names are shared with test/cluster/lib.sh and test/engines/lib_kubernetes.sh
# kube-apiserver itself, over Debian's etcd, in the place of the in-tree API server: the same stories are told with it. What its users
# may do, RBAC says; a user's name is the token's first word, or the certificate's.
[ -n "${kubernetes:-}" ] || return 0 # it is not built: only the in-tree one is there

real_etcd() { echo "http://$prefix.9:2379"; }
real_put() { # PATH BODY: as the administrator; made if it is not there, by a POST: a PUT of a new Role crashes its handler
    local url=https://$(kube_at):$kube_port$1
    ask_kube -f -o "$dir/put.out" -X POST -H 'Content-Type: application/json' --data "$2" "${url%/*}" ||
        ask_kube -f -o "$dir/put.out" -X PUT -H 'Content-Type: application/json' --data "$2" "$url"
}

kube_order() { [[ $1 == strict/* ]] || fail "the real API server takes no order $1"; }

kube_users() { # LINES as in test/engines/apiserver
    printf '%s\n' "$@" > "$dir/users"
    [ -z "${kube:-}" ] || real_rights
}
real_rights() {
    local rbac=/apis/rbac.authorization.k8s.io/v1/namespaces/shop who user verbs rules
    for who in good-token next-token other-token cn:client; do
        user=${who#cn:} user=${user%-token}
        verbs=$(awk -v who="$who" '$1 == who { print $3 }' "$dir/users")
        rules='[]'
        [ -z "$verbs" ] || rules="[{\"apiGroups\":[\"coordination.k8s.io\"],\"resources\":[\"leases\"],\"verbs\":[\"${verbs//,/\",\"}\"]}]"
        real_put "$rbac/roles/$user" "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"Role\",\"metadata\":{\"name\":\"$user\"},\"rules\":$rules}"
        real_put "$rbac/rolebindings/$user" "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"RoleBinding\",\"metadata\":{\"name\":\"$user\"},
            \"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"$user\"},
            \"subjects\":[{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"User\",\"name\":\"$user\"}]}"
    done
}

kube_start() {
    [ -s "$dir/sa.key" ] || openssl genrsa -out "$dir/sa.key" 2048 2> "$dir/openssl"
    printf '%s\n' 'root,root,1,"system:masters"' good-token,good,2 next-token,next,3 other-token,other,4 > "$dir/tokens"
    if [ -z "${real_store:-}" ]; then
        etcd --data-dir "$dir/etcd" --listen-client-urls "$(real_etcd)" --advertise-client-urls "$(real_etcd)" \
            --listen-peer-urls "http://$prefix.9:2380" --initial-advertise-peer-urls "http://$prefix.9:2380" \
            --initial-cluster "default=http://$prefix.9:2380" --unsafe-no-fsync > "$dir/etcd.out" 2>&1 &
        real_store=$!
        await 60 "etcd answers" real_etcd_answers
    fi
    real_api
    await 120 "kube-apiserver is ready" real_is_ready
    ask_kube -o "$dir/namespace" -X POST -H 'Content-Type: application/json' --data '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}' \
        "https://$(kube_at):$kube_port/api/v1/namespaces"
    await 60 "rights can be written" real_rights
    await 60 "rights count" real_has_rights
}
real_etcd_answers() { ETCDCTL_API=3 etcdctl --endpoints "$(real_etcd)" endpoint health > /dev/null 2>&1; }
real_is_ready() { [ "$(ask_kube "https://$(kube_at):$kube_port/readyz")" = ok ]; }
real_has_rights() { # they reach the authorizer a moment after they were written
    local code
    [[ $(awk '$1 == "good-token" { print $3 }' "$dir/users") == *get* ]] || return 0
    code=$(curl -s -o /dev/null -w '%{http_code}' --cacert "$dir/ca.crt" -H 'Authorization: Bearer good-token' "$(kube_leases)/none")
    [ "$code" = 404 ]
}
real_api() {
    "$kubernetes/kube-apiserver" --etcd-servers "$(real_etcd)" --bind-address "$(kube_at)" --secure-port "$kube_port" --insecure-port 0 \
        --advertise-address 192.0.2.1 --service-cluster-ip-range 10.0.0.0/24 --tls-cert-file "$dir/${kube_certificate:-server}.crt" \
        --tls-private-key-file "$dir/${kube_certificate:-server}.key" --client-ca-file "$dir/ca.crt" --token-auth-file "$dir/tokens" \
        --authorization-mode RBAC --service-account-issuer https://elector.invalid --service-account-key-file "$dir/sa.key" \
        --service-account-signing-key-file "$dir/sa.key" --cert-dir "$dir/certs" --disable-admission-plugins ServiceAccount \
        "${real_flags[@]}" >> "$dir/real.out" 2>&1 &
    kube=$!
}
real_flags=()

# client-go's example: it holds for 60 s, and looks every 5 s.
real_example() { # IDENTITY: as process $it
    "$kubernetes/leader-election" --kubeconfig "$dir/kubeconfig" --lease-lock-name work --lease-lock-namespace shop --id "$1" > "$dir/$1.said" 2>&1 &
    it=$!
}
real_ctl() { kubectl --kubeconfig "$dir/kubeconfig" --namespace shop "$@"; }
