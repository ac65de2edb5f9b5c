/* Finds the entries of one group without looking at those of others: entries whose groups fall into one bucket are linked, from the
 * newest back. A link that leads out of the ring is the end, so nothing is unlinked when an entry is overwritten. */
#include <stdlib.h>

#include "agent/history/internal.h"

enum { HOPS_MAX = 8192 }; /* in one bucket */

bool history_ring_init(struct history_ring *ring, uint32_t size)
{
    *ring = (struct history_ring){.size = size,
                                  .entries = calloc(size, sizeof *ring->entries),
                                  .back = calloc(size, sizeof *ring->back),
                                  .newest = calloc(size, sizeof *ring->newest)};
    return ring->entries && ring->back && ring->newest;
}

void history_ring_free(struct history_ring *ring)
{
    free(ring->entries);
    free(ring->back);
    free(ring->newest);
}

static uint32_t *newest_of(const struct history_ring *ring, uint64_t group)
{
    return &ring->newest[(group >> 8) &
                         (ring->size - 1)]; /* its lowest bit is always set, see history_group() */
}

void history_ring_add(struct history_ring *ring, const struct history_entry *entry)
{
    const uint32_t slot = (uint32_t)ring->count & (ring->size - 1), place = (uint32_t)ring->count + 1;
    uint32_t *newest = newest_of(ring, entry->group);
    ring->entries[slot] = *entry;
    ring->back[slot] = *newest ? place - *newest : 0;
    *newest = place;
    ring->count++;
}

/* The newest entries of exactly this group, the newest first. */
static uint32_t collect(const struct history_ring *ring, uint64_t group, const struct history_entry **list,
                        uint32_t most)
{
    const uint32_t held = history_held(ring), count = (uint32_t)ring->count;
    uint32_t place = *newest_of(ring, group), found = 0;
    for (uint32_t hops = 0; place && count - place < held && found < most && hops < HOPS_MAX; hops++) {
        const uint32_t slot = (place - 1) & (ring->size - 1), back = ring->back[slot];
        if (ring->entries[slot].group == group) list[found++] = &ring->entries[slot];
        if (back == 0 || back >= held) break;
        place -= back;
    }
    return found;
}

uint32_t history_collect(const struct history_ring *ring, uint64_t group, bool with_all,
                         const struct history_entry *list[HISTORY_COLLECTED_MAX])
{
    const struct history_entry *own[HISTORY_COLLECTED_MAX], *all[HISTORY_COLLECTED_MAX];
    uint32_t own_count = collect(ring, group, own, HISTORY_COLLECTED_MAX),
             all_count = with_all ? collect(ring, 0, all, HISTORY_COLLECTED_MAX) : 0;
    const uint32_t sum = own_count + all_count,
                   count = sum < HISTORY_COLLECTED_MAX ? sum : HISTORY_COLLECTED_MAX;
    uint32_t own_at = 0, all_at = 0;
    for (uint32_t i = count; i > 0; i--) { /* from the newest on, into the last place */
        const bool takes_own =
            all_at == all_count || (own_at < own_count && own[own_at]->number > all[all_at]->number);
        list[i - 1] = takes_own ? own[own_at++] : all[all_at++];
    }
    return count;
}
