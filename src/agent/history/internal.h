/* The inside of the history. Shared by the files history*.c and nobody else. */
#ifndef ELECTOR_AGENT_HISTORY_INTERNAL_H
#define ELECTOR_AGENT_HISTORY_INTERNAL_H

#include "agent/history/history.h"

struct history_ring {
    struct history_entry *entries;
    uint32_t size;  /* a power of two */
    uint64_t count; /* that were ever added */
};

struct history {
    const struct config *config;
    uint64_t since, added;
    struct history_ring steps, changes;
};

static inline uint32_t history_held(const struct history_ring *ring)
{
    return ring->count < ring->size ? (uint32_t)ring->count : ring->size;
}

/* 0 is the oldest that is left. */
static inline const struct history_entry *history_at(const struct history_ring *ring, uint32_t index)
{
    return &ring->entries[(ring->count - history_held(ring) + index) & (ring->size - 1)];
}

/* 1 is the newest; at most as many as are held. */
static inline const struct history_entry *history_back(const struct history_ring *ring, uint32_t back)
{
    return &ring->entries[(ring->count - back) & (ring->size - 1)];
}

/* Whether it is about the group, or about all. */
static inline bool history_is_of(const struct history_entry *e, uint64_t group)
{
    return e->group == group || e->group == 0;
}

/* A note of the quorum protocol, by its number in quorum.h; -1: another's, or no note. */
int history_quorum_note(const struct history_entry *);

#endif
