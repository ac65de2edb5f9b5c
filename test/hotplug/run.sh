#!/usr/bin/env bash
# The second processor of this host is taken offline and comes back, again and again, under agents with profile realtime. In soak
# only: everything else on the host has one processor meanwhile. As root, and where the kernel allows it; skipped with a line elsewhere.
#
# Environment: ELECTOR, BUILD; ELECTOR_HOTPLUG_TIMES, how often (10).
set -euo pipefail
cd "$(dirname "$0")/../.."
ELECTOR_STORIES=test/hotplug exec test/cluster/run.sh "$@"
