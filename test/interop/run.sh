#!/usr/bin/env bash
# Candidates of other programs beside ours, on real stores: test/cluster/run.sh with the stories of this folder. `make interop`
# installs what they need, and builds kube-apiserver once (build_kubernetes.sh). With names as arguments, only those.
set -euo pipefail
cd "$(dirname "$0")/../.."
export ELECTOR_STORIES=test/interop ELECTOR_CLUSTER_JOBS=${ELECTOR_CLUSTER_JOBS:-4} kubernetes
kubernetes=$(test/interop/build_kubernetes.sh) || kubernetes= # then the stories of kube-apiserver are skipped, and say so
exec test/cluster/run.sh "$@"
