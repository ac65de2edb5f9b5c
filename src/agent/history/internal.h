/* Shared by the files of the history room. */
#ifndef ELECTOR_AGENT_HISTORY_INTERNAL_H
#define ELECTOR_AGENT_HISTORY_INTERNAL_H

#include "agent/history/history.h"

enum { HISTORY_REASON = 32, HISTORY_REASONS_MAX = 32 };
enum { HISTORY_COLLECTED_MAX = 1024 }; /* entries of a group that are looked at, the newest ones */

struct history_ring {
    struct history_entry *entries;
    uint32_t *back;   /* index.c: from each entry to the one before it in its bucket; 0: none */
    uint32_t *newest; /* of each bucket: entries added before it, plus 1; 0: none */
    uint32_t size;    /* a power of two */
    uint64_t count;   /* entries ever added */
};

/* A statement that was made or heard. */
struct history_stated {
    uint64_t group, token, span_ns;
    uint64_t at_ns;         /* BEGINNING: when it was, with the shift; 0: not known. Not in the journal */
    uint8_t by, what, word; /* word: enum history_beginning or enum history_end */
    char detail[HISTORY_DETAIL];
};

struct history {
    const struct config *config;
    uint64_t since, added;
    struct history_ring steps, changes;
    struct history_stated *stated; /* HISTORY_STATEMENTS, a ring */
    uint64_t stated_count;
    uint64_t shift; /* added to all times, so that none before the boot of this host is negative */
    uint64_t taken_changes, taken_steps, taken_stated; /* what journal_take() has given */
    char (*reasons)[HISTORY_REASON]; /* those that a journal told; see history_keep_reason() */
    uint32_t reason_count;
    uint32_t restates; /* groups for which history_restate() may still look */
    uint64_t restated; /* statements below this one are of before the restart */
    uint64_t settled;  /* changes up to this one were given to history_settle() */
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

/* index.c */
bool history_ring_init(struct history_ring *, uint32_t size); /* false: out of memory; free it in any case */
void history_ring_free(struct history_ring *);
void history_ring_add(struct history_ring *, const struct history_entry *);
/* The newest entries of the group, and if wanted those that concern all groups, the oldest first. Returns their number. */
uint32_t history_collect(const struct history_ring *, uint64_t group, bool with_all,
                         const struct history_entry *list[HISTORY_COLLECTED_MAX]);

/* Whether it concerns the group, or all groups. */
static inline bool history_is_of(const struct history_entry *e, uint64_t group)
{
    return e->group == group || e->group == 0;
}

/* history.c */
/* To the caller's clock. What was before the boot of this host is negative there: only differences of times count. */
void history_unshift(const struct history *, struct history_tenure *);
/* The journal closed it when this agent started: when it ended nobody here knows. */
bool history_is_by_start(const struct history_entry *);
/* When a leader was lost: when it was last heard; of this member: when its lease ended, or at once if that was not before. */
uint64_t history_lost_at(const struct history_entry *);
void history_add_step(struct history *, struct history_entry);
void history_add_change(struct history *, struct history_entry);
/* The text with the lifetime of the history. NULL: too many different ones. */
const char *history_keep_reason(struct history *, const char *reason);

/* statements.c */
/* Replaces what was seen by what the leader's agent says; `before` led before, or EL_NOBODY. */
void history_correct(const struct history *, uint64_t group, struct history_tenure *, el_node before);
/* No tenure ends after the next one begins: `next` of the same history, both corrected. */
void history_clip(struct history_tenure *, const struct history_tenure *next);
/* What this member alone knows about a change. `began`: the last change to a leader before it, or NULL. */
uint32_t history_make_statements(struct history *, const struct history_entry *change,
                                 const struct history_entry *began, struct history_statement *list);

/* The number (quorum.h) of a note of quorum; -1: a note of another algorithm, or no note. */
int history_quorum_note(const struct history_entry *);

#endif
