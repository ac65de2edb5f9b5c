#!/usr/bin/env bash
# Candidates of other programs beside ours, on real stores: test/cluster/run.sh with the stories of this folder. `make interop`
# installs what they need, and builds kube-apiserver once (build_kubernetes.sh). With names as arguments, only those.
set -euo pipefail
cd "$(dirname "$0")/../.."
export ELECTOR_STORIES=test/interop ELECTOR_CLUSTER_JOBS=${ELECTOR_CLUSTER_JOBS:-4} kubernetes
# Without it, its stories are skipped, the others are told, and the end is a failure all the same.
kubernetes=
needs_it=$([ $# -gt 0 ] && [[ " $*" != *' real-'* ]] || echo yes)
[ -z "$needs_it" ] || kubernetes=$(test/interop/build_kubernetes.sh) || kubernetes=
status=0
test/cluster/run.sh "$@" || status=$?
[ -z "$needs_it" ] || [ -n "$kubernetes" ] || { echo "FAIL kube-apiserver is not built, so its stories were skipped: see the lines of build_kubernetes above" && exit 1; }
exit $status
