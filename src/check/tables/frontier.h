/* The frontier: worlds that wait to be expanded, in chunks. Chunks go to disk when they take too much
 * memory. */
#ifndef ELECTOR_CHECK_TABLES_FRONTIER_H
#define ELECTOR_CHECK_TABLES_FRONTIER_H

#include <pthread.h>
#include <stdio.h>

#include "check/world/model.h"

enum { CHECK_CHUNK_WORDS = 1 << 15 };

struct check_chunk {
    struct check_chunk *next;
    int64_t offset; /* in the file; -1: in memory */
    uint32_t used;  /* words */
    uint32_t *words;
};

struct check_frontier {
    struct check_chunk *first, *last;
    _Atomic uint64_t worlds, in_memory; /* their number; bytes. Read by the progress report */
    uint64_t in_memory_max;
    FILE *file;
    int64_t file_end;
    pthread_mutex_t lock;
    bool failed; /* disk or memory is full */
};

void check_frontier_init(struct check_frontier *frontier, uint64_t in_memory_max);
void check_frontier_free(struct check_frontier *frontier);
/* Puts a full chunk into the frontier; takes one to expand, whose words the caller frees. NULL: none is
 * left. */
void check_frontier_put(struct check_frontier *frontier, struct check_chunk *chunk, uint64_t worlds);
struct check_chunk *check_frontier_take(struct check_frontier *frontier);
struct check_chunk *check_chunk_new(void);
void check_chunk_free(struct check_chunk *chunk);

/* Adds one world to a chunk. False if it does not fit. */
bool check_chunk_add(struct check_chunk *chunk, const struct check_model *model,
                     const struct check_world *world, uint32_t number);
/* Reads the world at word *at and moves *at past it; false at the end. */
bool check_chunk_next(const struct check_chunk *chunk, const struct check_model *model, uint32_t *at,
                      struct check_world *world, uint32_t *number);

#endif
