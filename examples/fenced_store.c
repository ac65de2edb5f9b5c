/*
 * A store that refuses writes of a leader that has been replaced, even if that leader does not know it yet. The store
 * keeps the highest token that it has seen, and refuses lower ones. It needs no clock, only tokens that rise.
 *
 * The comparison and the write must be one step. Here a mutex makes them one; in a database, make the token a column and
 * the comparison part of the statement (UPDATE … WHERE token <= ?).
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct fenced_store {
    pthread_mutex_t mutex;
    uint64_t token; /* the highest ever seen */
    char value[256];
};

static void store_init(struct fenced_store *store)
{
    memset(store, 0, sizeof *store);
    pthread_mutex_init(&store->mutex, NULL);
}

/* False: refused, because the store has seen a higher token. */
static bool store_write(struct fenced_store *store, uint64_t token, const char *value)
{
    pthread_mutex_lock(&store->mutex);
    const bool fresh = token != 0 && token >= store->token;
    if (fresh) {
        store->token = token;
        snprintf(store->value, sizeof store->value, "%s", value);
    }
    pthread_mutex_unlock(&store->mutex);
    return fresh;
}

/* A new leader reads with its own token, so that no earlier leader can change what it has read. */
static bool store_read(struct fenced_store *store, uint64_t token, char *value, size_t size)
{
    pthread_mutex_lock(&store->mutex);
    const bool fresh = token != 0 && token >= store->token;
    if (fresh) {
        store->token = token;
        snprintf(value, size, "%s", store->value);
    }
    pthread_mutex_unlock(&store->mutex);
    return fresh;
}

#ifndef FENCED_STORE_ALONE
#include <err.h>

#include <elector.h>

/* One process leads twice. A late write from its first term is refused. */
int main(void)
{
    struct fenced_store store;
    char value[256];
    elector *e;
    uint64_t old, new;
    store_init(&store);
    if (elector_open(NULL, &e) != ELECTOR_OK || elector_campaign(e, "store", NULL, -1, &old) != ELECTOR_OK ||
        elector_resign(e, "store") != ELECTOR_OK || elector_campaign(e, "store", NULL, -1, &new) != ELECTOR_OK)
        errx(1, "%s", elector_message(e));
    if (!store_read(&store, new, value, sizeof value)) errx(1, "the new leader was refused");
    printf("token %" PRIu64 " writes: %s\n", old, store_write(&store, old, "late") ? "taken" : "refused");
    printf("token %" PRIu64 " writes: %s\n", new, store_write(&store, new, "mine") ? "taken" : "refused");
    elector_close(e);
    return 0;
}
#endif
