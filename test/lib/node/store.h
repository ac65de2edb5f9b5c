/*
 * Shared by the tests of the elections on a store. Node 4 of four is the store. A lease is 100, a heartbeat 40, a request is given
 * up after 30; clocks are true. Of the extra words of a message, w is the incarnation, x the key before ours, y the first
 * key of all, z the session that an earlier incarnation left; m is the number of the request.
 */
#ifndef ELECTOR_TEST_LIB_NODE_STORE_H
#define ELECTOR_TEST_LIB_NODE_STORE_H

#include "lib/node/lease.h"

enum { STORE = 4 };

static inline void sit_at_store(const char *algorithm, el_node self)
{
    sit(algorithm, STORE, self);
    option("lease", 100);
    option("heartbeat", 40);
    option("timeout", 30);
    option("observe", 1);
    option("tidy", 1);
}

/* ---- Node 1, a candidate ---- */

static inline void sit_opening(const char *algorithm)
{
    sit_at_store(algorithm, 1);
    starts();
}

/* It has session 7. */
static inline void sit_standing(const char *algorithm, const char *opened)
{
    sit_opening(algorithm);
    hears(STORE, opened);
}

#endif
