/* Shared by the files of the history room. */
#ifndef ELECTOR_AGENT_HISTORY_INTERNAL_H
#define ELECTOR_AGENT_HISTORY_INTERNAL_H

#include "agent/history/history.h"

struct history_ring {
    struct history_entry *entries;
    uint32_t size;  /* a power of two */
    uint64_t count; /* entries ever added */
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

/* 0 is the oldest entry held. */
static inline const struct history_entry *history_at(const struct history_ring *ring, uint32_t index)
{
    return &ring->entries[(ring->count - history_held(ring) + index) & (ring->size - 1)];
}

/* 1 is the newest entry; `back` is at most history_held(). */
static inline const struct history_entry *history_back(const struct history_ring *ring, uint32_t back)
{
    return &ring->entries[(ring->count - back) & (ring->size - 1)];
}

/* Whether it concerns the group, or all groups. */
static inline bool history_is_of(const struct history_entry *e, uint64_t group)
{
    return e->group == group || e->group == 0;
}

/* The number (quorum.h) of a note of quorum; -1: a note of another algorithm, or no note. */
int history_quorum_note(const struct history_entry *);

#endif
