/*
 * PATH/elector/tokens-above holds a number that is added to czxids to make tokens, so that they rise after a migration or a restore.
 * It is read once, before anybody here stands: candidates of one path must not differ about it.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "base/units.h"
#include "engines/zookeeper/internal.h"

#define TOKENS_ABOVE_MAX (UINT64_C(1) << 52)
enum { DIGITS = 24 };

bool tokens_make(const struct zookeeper *z, int64_t czxid, uint64_t *token)
{
    *token = czxid > 0 ? (uint64_t)czxid + z->tokens_above : 0;
    return czxid > 0 && (uint64_t)czxid < EL_EPOCH_MAX && *token < EL_EPOCH_MAX;
}

static bool read_number(const char *data, int size, uint64_t *number)
{
    char text[DIGITS];
    if (size <= 0 || size >= DIGITS) return false;
    snprintf(text, sizeof text, "%.*s", size, data);
    return units_number(text, TOKENS_ABOVE_MAX, number);
}

static void on_number(int rc, const char *data, int size, const struct Stat *stat, const void *context)
{
    struct zookeeper *z = (struct zookeeper *)(uintptr_t)context;
    (void)stat;
    z->reads_tokens = false;
    if (zookeeper_is_broken(rc)) return; /* once more, when we are connected */
    if (rc == ZOK && !read_number(data, size, &z->tokens_above)) {
        engine_trouble(z->engine,
                       "zookeeper: %s/elector/tokens-above holds no number up to 2^52: write one, or delete it",
                       z->path);
    } else if (rc != ZOK && rc != ZNONODE) {
        zookeeper_refused(z, z->path, "read elector/tokens-above below it", rc);
    } else {
        z->knows_tokens = true;
        zookeeper_soon(z);
    }
}

void tokens_read(struct zookeeper *z)
{
    char path[PATH_SIZE];
    if (z->knows_tokens || z->reads_tokens || z->is_leaving || !z->client || !client_is_connected(z->client))
        return;
    snprintf(path, sizeof path, "%s/elector/tokens-above", z->path);
    z->reads_tokens = zoo_awget(client_handle(z->client), path, NULL, NULL, on_number, z) == ZOK;
    zookeeper_pump(z);
}
