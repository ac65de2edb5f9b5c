#!/usr/bin/env bash
# Tells stories of engines on real stores, on loopback: test/cluster/run.sh with the stories of this folder. With names as
# arguments, only those. ELECTOR_CLUSTER_KEEP=1 keeps the logs.
set -euo pipefail
cd "$(dirname "$0")/../.."
export ELECTOR_STORIES=test/engines ELECTOR_CLUSTER_JOBS=${ELECTOR_CLUSTER_JOBS:-4}
exec test/cluster/run.sh "$@"
