/* A recording being written. Shared by recorder.c, snapshot_writer.c and file_writer.c. */
#ifndef ELECTOR_AGENT_RECORDER_INTERNAL_H
#define ELECTOR_AGENT_RECORDER_INTERNAL_H

#include <sys/types.h>

#include "agent/recorder/recorder.h"

enum {
    RECORDER_ROOM = 384 * 1024,       /* for the state of nearly every host that the loop packs itself */
    RECORDER_COPIES_REALTIME = 131072 /* copying this process takes 1.5 ms then; 8 ms with a million */
};

struct recorder {
    struct host_hooks inner;
    const struct config *config;
    struct record *record;
    int fd;       /* of the shared memory that the recording is in */
    uint8_t *map; /* that memory at its initial size: both halves, and room for small states */
    size_t map_size;
    uint8_t *base; /* the half being written */
    size_t size;   /* of each half */
    uint8_t *more; /* its additional room; NULL: not in use */
    size_t more_size;
    uint8_t *room; /* RECORDER_ROOM bytes in which states are packed, so that the loop allocates nothing */
    size_t used;   /* end of the whole entries, in `more` once that is in use */
    uint64_t generation;
    uint32_t sum;                /* of the last entry */
    uint64_t at;                 /* its time */
    struct recorder_bytes frame; /* the entry being written */
    uint32_t depth;              /* of calls that have not returned */
    uint64_t noted;
    uint32_t flags;
    bool is_paused; /* nothing is recorded: no room is left, and no state to begin the other half with */
    pid_t keeper;   /* the process that writes this half's state; 0: none */
    pid_t writer;   /* the process that copies the recording to its file; 0: it has died */
    int line;       /* to the writer: a byte asks for a copy and is answered after it; its end is our death */
    uint8_t boot[RECORDER_BOOT];
    uint32_t copies_most; /* groups, by host_weight(): with more the loop would stand still for too long */
    bool has_warned_of_many;
    bool has_warned_of_pause; /* warn once: both come in bursts */
    bool has_warned_of_state;
};

/* Stores a field of the half's head in one instruction, after everything written before: this process may die
 * at any instruction, and another one reads meanwhile. All fields are aligned to 4 bytes, and those of 8 bytes
 * have zeros above: no recording is as large as 4 GiB. */
void recorder_publish(const struct recorder *, size_t at, uint32_t value);
uint8_t *recorder_other_half(const struct recorder *);

/* ---- snapshot_writer.c ---- */

/* Writes the state that the half begins with, where it does not overwrite the other half's. `host` is NULL
 * before it has begun. False: errno says why; ENOSPC if the file would have to grow and may not. */
bool recorder_keep_state(struct recorder *, struct host *, bool may_grow);
/* The same for a half that has just begun: at once if the host is small, else in another process. */
void recorder_begin_to_keep(struct recorder *, struct host *);
/* Whether that may be done now. If not, warns once. */
bool recorder_may_keep(struct recorder *, struct host *);
/* Whether that process has ended. Does not block. */
bool recorder_has_kept(struct recorder *);
/* Whether the half has its state. */
bool recorder_has_state(const uint8_t *half);

/* ---- file_writer.c ---- */

/* Starts the process that copies the recording to this file, which it owns from then on. False: errno says
 * why. */
bool recorder_start_writer(struct recorder *, int file, const char *path);
/* Ends the process, after it has copied everything, and waits for that up to `wait_ms`. False: it is still at
 * it, and ends when it has done so. */
bool recorder_end_writer(struct recorder *, uint32_t wait_ms);
/* Warns if the process has died. Does not block. */
void recorder_check_writer(struct recorder *);

#endif
