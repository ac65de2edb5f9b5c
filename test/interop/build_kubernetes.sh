#!/usr/bin/env bash
# Builds kube-apiserver, client-go's example of leader election, and the bench's own candidate of client-go, from Debian's source
# package of Kubernetes: once, about 12 minutes of two processors, into a folder outside the tree, whose name it prints. Only names of
# packages are used: they come from where apt on this machine gets its own, in a list of ours that asks for sources.
#
#   build_kubernetes.sh            builds what is missing
#   build_kubernetes.sh --where    prints the folder; exit code 1 if it is not built
#
# Environment: ELECTOR_KUBERNETES, the folder (default: ~/.cache/elector/kubernetes).
set -euo pipefail
home=${ELECTOR_KUBERNETES:-${XDG_CACHE_HOME:-$HOME/.cache}/elector/kubernetes}
home=$(realpath -m "$home")
cd "$(dirname "$0")/../.."
runner=$PWD/bench/engines/client_go_run.go
programs=(kube-apiserver leader-election client_go_run)
is_built() {
    local each
    for each in "${programs[@]}"; do [ -x "$home/$each" ] || return 1; done
}
if is_built || [ "${1-}" = --where ]; then
    echo "$home"
    is_built
    exit
fi
say() { echo "build_kubernetes: $*" >&2; }
mkdir -p "$home"
exec {lock}> "$home/lock"
flock "$lock" # two builds at once would be twice as slow
if is_built; then echo "$home" && exit; fi

work=$home/work apt=$home/work/apt
mkdir -p "$apt"/{parts,lists/partial,cache/archives/partial}
# shellcheck disable=SC2016 # apt's own variables
apt-get indextargets --format '$(ORIGIN)|deb-src $(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n 's/^Debian|//p' | sort -u > "$apt/parts/sources.list"
[ -s "$apt/parts/sources.list" ] || { say "apt knows no archive of Debian here: no source package" && exit 1; }
private=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt/parts" -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache"
    -o APT::Sandbox::User=root)
say "fetching the source of kubernetes"
apt-get "${private[@]}" update > "$home/log" 2>&1 || { say "apt-get update failed: see $home/log" && exit 1; }
cd "$work"
# The signature of the archive was checked; that of the maintainer is in another keyring.
[ -d tree ] || {
    apt-get "${private[@]}" source --only-source kubernetes >> "$home/log" 2>&1 || { say "no source package: see $home/log" && exit 1; }
    mv kubernetes-*/ tree
}
cd tree
mkdir -p .go/src/k8s.io
[ -L .go/src/k8s.io/kubernetes ] || ln -s ../../.. .go/src/k8s.io/kubernetes
# The reflect2 in the package reads maps out of JSON wrongly when Go is 1.18 or later: every Lease with annotations would crash its handler.
reflect2=/usr/share/gocode/src/github.com/modern-go/reflect2
[ -d "$reflect2" ] || { say "golang-github-modern-go-reflect2-dev is missing: scripts/setup interop" && exit 1; }
rm -rf vendor/github.com/modern-go/reflect2
cp -r "$reflect2" vendor/github.com/modern-go/reflect2
examples=staging/src/k8s.io/client-go/examples
mkdir -p "$examples/client_go_run" && cp "$runner" "$examples/client_go_run/main.go"
say "building: about 12 minutes, once; see $home/log"
# Off the network: all that it needs is in the package.
GOPATH=$PWD/.go CGO_ENABLED=0 GOPROXY=off GOLDFLAGS="-s -w" GOCACHE=$work/go-cache \
    make WHAT="cmd/kube-apiserver vendor/k8s.io/client-go/examples/leader-election vendor/k8s.io/client-go/examples/client_go_run" >> "$home/log" 2>&1 ||
    { say "it does not build: see $home/log" && exit 1; }
for each in "${programs[@]}"; do
    install "$(find _output/local/go/bin _output/bin -name "$each" -type f -print -quit 2> /dev/null)" "$home/$each"
done
dpkg-parsechangelog -S Version > "$home/version" 2> /dev/null || true
rm -rf "$work"
echo "$home"
