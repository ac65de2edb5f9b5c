#!/usr/bin/env bash
# Candidates of other programs beside ours, on real stores: test/cluster/run.sh with the stories of this folder. `make interop`
# installs what they need. With names as arguments, only those.
set -euo pipefail
cd "$(dirname "$0")/../.."
export ELECTOR_STORIES=test/interop ELECTOR_CLUSTER_JOBS=${ELECTOR_CLUSTER_JOBS:-4}
exec test/cluster/run.sh "$@"
