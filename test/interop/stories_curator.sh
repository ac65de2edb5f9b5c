# shellcheck shell=bash disable=SC2154,SC2034 # see lib_curator.sh
# Curator's two recipes for leaders, in one queue with our candidates.

story_curator_latch() {
    curator_queue latch
    grep -q '^sees a it$' "$dir/it.said" || fail "Curator sees $(grep sees "$dir/it.said"), not a and it"
}

story_curator_selector() { curator_queue selector; }
