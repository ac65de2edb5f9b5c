/* The inside of a recording that is read. Shared by reader.c and replay.c. */
#ifndef ELECTOR_AGENT_RECORDER_READER_H
#define ELECTOR_AGENT_RECORDER_READER_H

#include "agent/recorder/replay.h"

struct recorder_part { /* a half */
    uint8_t *bytes;
    uint8_t *more;          /* what was added to it */
    size_t used, more_used; /* more_used: 0: nothing is in it */
    size_t pending;         /* bytes behind the last of these */
    uint32_t flags;
    bool has_beginning; /* which the rest is of; without it, it goes on where the one before ends */
    uint64_t generation, at;
    uint8_t *state; /* the host's; state_size 0: it begins */
    const uint8_t *config, *record;
    size_t state_size, config_size, record_size;
    uint8_t boot[RECORDER_BOOT];
};

struct recorder_reader {
    uint8_t *bytes;
    size_t size;
    struct recorder_part parts[2]; /* the older first, which has its beginning */
    uint32_t part_count;
    struct config config;
};

/* The frames of the entry at *at of so many bytes, and *at moves on. False: it is damaged. */
bool recorder_entry(uint8_t *bytes, size_t used, size_t *at, uint32_t *sum, struct recorder_bytes *frames);

#endif
