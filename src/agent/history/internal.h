/* The inside of the chronicle. Shared by the files chronicle*.c and nobody else. */
#ifndef ELECTOR_AGENT_HISTORY_INTERNAL_H
#define ELECTOR_AGENT_HISTORY_INTERNAL_H

#include "agent/history/history.h"

struct chronicle_ring {
    struct chronicle_entry *entries;
    uint32_t size;  /* a power of two */
    uint64_t count; /* that were ever added */
};

struct chronicle {
    const struct config *config;
    uint64_t since, added;
    struct chronicle_ring steps, changes;
};

static inline uint32_t chronicle_held(const struct chronicle_ring *ring)
{
    return ring->count < ring->size ? (uint32_t)ring->count : ring->size;
}

/* 0 is the oldest that is left. */
static inline const struct chronicle_entry *chronicle_at(const struct chronicle_ring *ring, uint32_t index)
{
    return &ring->entries[(ring->count - chronicle_held(ring) + index) & (ring->size - 1)];
}

/* 1 is the newest; at most as many as are held. */
static inline const struct chronicle_entry *chronicle_back(const struct chronicle_ring *ring, uint32_t back)
{
    return &ring->entries[(ring->count - back) & (ring->size - 1)];
}

/* Whether it is about the group, or about all. */
static inline bool chronicle_is_of(const struct chronicle_entry *e, uint64_t group)
{
    return e->group == group || e->group == 0;
}

/* A note of the quorum protocol, by its number in quorum.h; -1: another's, or no note. */
int chronicle_quorum_note(const struct chronicle_entry *);

#endif
