/* See store.h. */
#include "check/tables/store.h"

#include <stdlib.h>
#include <string.h>

bool check_store_init(struct check_store *store, size_t size)
{
    enum { INDEX_FIRST = 1 << 12 };
    *store = (struct check_store){.size = size, .mask = INDEX_FIRST - 1};
    store->chunks = calloc(CHECK_CHUNKS, sizeof *store->chunks);
    store->index = calloc(INDEX_FIRST, sizeof *store->index);
    pthread_mutex_init(&store->lock, NULL);
    return store->chunks && store->index;
}

void check_store_free(struct check_store *store)
{
    for (uint32_t i = 0; store->chunks && i < CHECK_CHUNKS && store->chunks[i]; i++) free(store->chunks[i]);
    free(store->chunks);
    free(store->index);
    pthread_mutex_destroy(&store->lock);
    *store = (struct check_store){0};
}

uint64_t check_store_memory(const struct check_store *store)
{
    const uint64_t chunks = (store->count + CHECK_CHUNK - 1) / CHECK_CHUNK;
    return chunks * CHECK_CHUNK * store->size + ((uint64_t)store->mask + 1) * sizeof *store->index;
}

static const struct el_hash *hash_at(const struct check_store *store, uint32_t number)
{
    return check_store_at(store, number);
}

static uint32_t *place_of(const struct check_store *store, uint32_t *index, uint32_t mask,
                          const struct el_hash *hash)
{
    uint32_t at = (uint32_t)hash->low & mask;
    while (index[at]) {
        const struct el_hash *there = hash_at(store, index[at] - 1);
        if (there->low == hash->low && there->high == hash->high) break;
        at = (at + 1) & mask;
    }
    return &index[at];
}

static bool grow(struct check_store *store)
{
    if (store->count < store->mask / 2) return true;
    const uint32_t mask = store->mask * 2 + 1;
    uint32_t *index = calloc((size_t)mask + 1, sizeof *index);
    if (!index) return false;
    for (uint32_t i = 0; i < store->count; i++) *place_of(store, index, mask, hash_at(store, i)) = i + 1;
    free(store->index);
    store->index = index;
    store->mask = mask;
    return true;
}

static uint32_t add(struct check_store *store, const void *record)
{
    uint32_t *place = place_of(store, store->index, store->mask, record);
    if (*place) return *place - 1;
    const uint32_t number = store->count;
    if (number / CHECK_CHUNK >= CHECK_CHUNKS) return UINT32_MAX;
    unsigned char **chunk = &store->chunks[number / CHECK_CHUNK];
    if (!*chunk) *chunk = malloc(CHECK_CHUNK * store->size);
    if (!*chunk) return UINT32_MAX;
    memcpy(check_store_at(store, number), record, store->size);
    store->count++;
    *place = number + 1;
    return grow(store) ? number : UINT32_MAX;
}

uint32_t check_store_add(struct check_store *store, const void *record)
{
    pthread_mutex_lock(&store->lock);
    const uint32_t number = add(store, record);
    pthread_mutex_unlock(&store->lock);
    return number;
}
