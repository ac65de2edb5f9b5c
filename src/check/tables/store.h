/* A store of records of one size. Each is kept once and has a number. Any thread may add; numbers are never
 * reused. */
#ifndef ELECTOR_CHECK_TABLES_STORE_H
#define ELECTOR_CHECK_TABLES_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "elector/core.h"

enum { CHECK_CHUNK = 1 << 12, CHECK_CHUNKS = 1 << 16 };

struct check_store {
    size_t size;            /* of a record, which begins with its fingerprint */
    unsigned char **chunks; /* [CHECK_CHUNKS] */
    _Atomic uint32_t count; /* read by the progress report */
    uint32_t *index;        /* open addressing; number + 1, 0 is free */
    _Atomic uint32_t mask;
    pthread_mutex_t lock;
};

bool check_store_init(struct check_store *store, size_t size);
void check_store_free(struct check_store *store);
uint64_t check_store_memory(const struct check_store *store);

/* The number of the record with this fingerprint; adds a copy if there is none. UINT32_MAX: out of memory. */
uint32_t check_store_add(struct check_store *store, const void *record);

static inline void *check_store_at(const struct check_store *store, uint32_t number)
{
    return store->chunks[number / CHECK_CHUNK] + (size_t)(number % CHECK_CHUNK) * store->size;
}

#endif
