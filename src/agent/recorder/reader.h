/* A recording being read. Shared by reader.c and replay.c. */
#ifndef ELECTOR_AGENT_RECORDER_READER_H
#define ELECTOR_AGENT_RECORDER_READER_H

#include "agent/recorder/replay.h"

struct recorder_part { /* a half */
    uint8_t *bytes;
    uint8_t *more;          /* its additional room */
    size_t used, more_used; /* more_used 0: nothing is in it */
    size_t pending;         /* bytes of an unfinished call after the last entry */
    uint32_t flags;
    bool has_beginning; /* the next fields are set; else it continues where the other half ends */
    uint64_t generation, at;
    uint8_t *state; /* of the host; state_size 0: the host begins with the first call */
    const uint8_t *config, *record;
    size_t state_size, config_size, record_size;
    uint8_t boot[RECORDER_BOOT];
};

struct recorder_reader {
    uint8_t *bytes;
    size_t size;
    struct recorder_part parts[2]; /* the older one first; it has a beginning */
    uint32_t part_count;
    struct config config;
};

/* Reads the frames of the entry at *at, and moves *at to the next; entries end at `used`. False: damaged. */
bool recorder_entry(uint8_t *bytes, size_t used, size_t *at, uint32_t *sum, struct recorder_bytes *frames);

#endif
