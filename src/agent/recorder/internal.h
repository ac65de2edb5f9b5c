/* The inside of a recording that is written. Shared by recorder.c and snapshot_writer.c. */
#ifndef ELECTOR_AGENT_RECORDER_INTERNAL_H
#define ELECTOR_AGENT_RECORDER_INTERNAL_H

#include <sys/types.h>

#include "agent/recorder/recorder.h"

struct recorder {
    struct host_hooks inner;
    const struct config *config;
    struct record *record;
    int fd;
    uint8_t *map; /* of the file as it was made: the halves, and room for states that are small */
    size_t map_size;
    uint8_t *base; /* the half that is written to */
    size_t size;   /* of each */
    uint8_t *more; /* what was added to it; NULL: nothing is in use */
    size_t more_size;
    size_t used; /* whole entries end there, in what was added once that is in use */
    uint64_t generation;
    uint32_t sum;                /* of the last entry */
    uint64_t at;                 /* its time */
    struct recorder_bytes frame; /* the entry that is being written */
    uint32_t depth;              /* of calls that have not returned */
    uint64_t noted;
    uint32_t flags;
    bool is_paused; /* what goes in is not recorded: there is no room, and no state to begin anew with */
    pid_t keeper;   /* the process that writes this half's state; 0: none does */
    bool has_warned_of_pause; /* once is enough: both come in storms */
    bool has_warned_of_state;
};

/* A reader that finds us dead must find what was written before in place. */
void recorder_publish(const struct recorder *, size_t at, uint64_t value, unsigned bytes);
uint8_t *recorder_other_half(const struct recorder *);

/* ---- snapshot_writer.c ---- */

/* What a half begins with, the host's state included (NULL: it has not begun), to where the other half's is not. False with
 * errno; ENOSPC where the file would have to grow and may not. */
bool recorder_keep_state(struct recorder *, struct host *, bool may_grow);
/* The same for the half that begins now, at once or by another process. */
void recorder_begin_to_keep(struct recorder *, struct host *);
/* Whether that process has ended. Waits for nobody. */
bool recorder_has_kept(struct recorder *);
/* Whether the half has its state. */
bool recorder_has_state(const uint8_t *half);

#endif
