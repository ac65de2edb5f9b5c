/*
 * The journal of the history: its changes of leaders, what leaders' agents said, and the last steps before each write, as bytes
 * that outlive the agent. This file knows bytes only; file.c reads and writes them.
 *
 * A journal is a head and records:
 *   head     magic, version, a digest of the notes of quorum, one of the list of members, the kernel's boot id, and both
 *            clocks at one instant
 *   records  a length (2 bytes), a checksum (4 bytes), and the body, which begins with its kind
 * Numbers are little-endian. Times are CLOCK_BOOTTIME; the head turns those of an earlier boot into those of this one.
 *
 * The bytes may come from anybody. A record that ends early is the last one: the agent died while it was written. All else that is
 * wrong condemns the journal.
 */
#ifndef ELECTOR_AGENT_HISTORY_JOURNAL_H
#define ELECTOR_AGENT_HISTORY_JOURNAL_H

#include "agent/history/history.h"

enum { JOURNAL_BOOT = 16, JOURNAL_HEAD = 64, JOURNAL_STEPS_MAX = 2048 /* in one write: the newest */ };

/* The place and time of its beginning. */
struct journal_place {
    uint64_t members; /* a digest of the list of members: entries name them by position */
    uint8_t boot[JOURNAL_BOOT];
    uint64_t boot_ns, wall_ns; /* at one instant */
};

void journal_head(const struct journal_place *, uint8_t bytes[JOURNAL_HEAD]);
/* What was added since the last call, or `all` that is held, as records. NULL: nothing, or out of memory. The caller frees it. */
uint8_t *journal_take(struct history *, bool all, size_t *size);

enum journal_outcome { JOURNAL_READ, JOURNAL_CUT, JOURNAL_EMPTY, JOURNAL_OTHER, JOURNAL_DAMAGED };
/*
 * Adds what the journal tells to a new history. Tenures that were open are closed: nobody knows what happened since. CUT: it ends
 * within a record, and all records before count. OTHER: it is of another list of members, or another version. With OTHER and DAMAGED the history stays as new as it was.
 */
enum journal_outcome journal_read(struct history *, const struct journal_place *now, const uint8_t *bytes,
                                  size_t size);

#endif
