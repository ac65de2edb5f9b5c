# shellcheck shell=bash
# Beside test/cluster/lib.sh: how agents with profile realtime are begun and looked at.
# shellcheck source=test/cluster/stories_realtime.sh
source test/cluster/stories_realtime.sh
