# shellcheck shell=bash disable=SC2154 # names of run.sh
# kube-apiserver over one etcd, both on loopback, and a command under client-go's leader election as its own client. Needs
# test/interop/build_kubernetes.sh.
kubernetes=$(test/interop/build_kubernetes.sh)
kubernetes_port=${KUBERNETES_PORT:-23830}
kubernetes_curl() { curl -s --cacert "$work/ca.crt" -H 'Authorization: Bearer root' "$@"; }
kubernetes_api() {
    "$kubernetes/kube-apiserver" --etcd-servers "http://127.0.0.1:$((kubernetes_port + 1))" --bind-address 127.0.0.1 --secure-port "$kubernetes_port" \
        --insecure-port 0 --advertise-address 192.0.2.1 --service-cluster-ip-range 10.0.0.0/24 --tls-cert-file "$work/ca.crt" \
        --tls-private-key-file "$work/ca.key" --token-auth-file "$work/tokens" --authorization-mode RBAC --service-account-issuer https://elector.invalid \
        --service-account-key-file "$work/ca.key" --service-account-signing-key-file "$work/ca.key" --cert-dir "$work/certs" >> "$work/api.log" 2>&1 &
    kubernetes_pid=$!
}
kubernetes_is_ready() { [ "$(kubernetes_curl "https://127.0.0.1:$kubernetes_port/readyz")" = ok ]; }
store_start() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=bench -addext subjectAltName=IP:127.0.0.1 -keyout "$work/ca.key" -out "$work/ca.crt" 2> "$work/openssl"
    echo 'root,root,1,"system:masters"' > "$work/tokens"
    printf '%s\n' 'apiVersion: v1' 'kind: Config' 'current-context: here' 'clusters:' '- name: one' '  cluster:' \
        "    server: https://127.0.0.1:$kubernetes_port" "    certificate-authority: $work/ca.crt" 'contexts:' '- name: here' \
        '  context: {cluster: one, user: me, namespace: default}' 'users:' '- name: me' '  user: {token: root}' > "$work/kubeconfig"
    etcd --data-dir "$work/etcd" --listen-client-urls "http://127.0.0.1:$((kubernetes_port + 1))" --advertise-client-urls "http://127.0.0.1:$((kubernetes_port + 1))" \
        --listen-peer-urls "http://127.0.0.1:$((kubernetes_port + 2))" --initial-advertise-peer-urls "http://127.0.0.1:$((kubernetes_port + 2))" \
        --initial-cluster "default=http://127.0.0.1:$((kubernetes_port + 2))" > "$work/etcd.log" 2>&1 &
    kubernetes_etcd=$!
    kubernetes_api
    until kubernetes_is_ready; do sleep 0.1; done
}
store_stop() { end_process "$kubernetes_pid" "$kubernetes_etcd"; }
store_kill_leader() { # there is one API server: it is started again at once, which takes it some seconds
    end_process "$kubernetes_pid"
    kubernetes_api
}
store_heal() { until kubernetes_is_ready; do sleep 0.1; done; }
store_url() { echo "kubernetes:///default?ttl=${ttl}s&kubeconfig=$work/kubeconfig"; }
own_clients=("client-go")
own_run() { exec setsid "$kubernetes/client_go_run" "$work/kubeconfig" "$ttl" default "own-$2" "$3" "$4"; } # WHO GROUP COMMAND FILE: with &
