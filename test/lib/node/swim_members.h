/*
 * Shared by the two tests of SWIM: node 1 of several, with a period of 1000 and a timeout of 200, and a
 * crowd. A rumour in a message is f(lags) 5 alive, 6 suspect, 7 dead; m(ore) is its subject, with the accuser
 * in the upper half; a(ux) is the incarnation.
 */
#ifndef ELECTOR_TEST_LIB_NODE_SWIM_MEMBERS_H
#define ELECTOR_TEST_LIB_NODE_SWIM_MEMBERS_H

#include "lib/node/crowd.h"
#include "lib/node/node.h"

static inline void sit_among(uint32_t count)
{
    sit_down(el_detector_named("swim"), count, 1);
    option("period", 1000);
    option("timeout", 200);
    option("indirect", 3);
    option("shortest", 4);
    option("longest", 6);
    starts();
}

/* The order is 2, 3, 4, 5 as long as the first is drawn. */
static inline void pings_two(void)
{
    times_out("period");
    draws(0);
}

static inline void crowd_of(uint32_t count)
{
    gather("swim", count);
    crowd_option("period", SECOND);
    crowd_option("timeout", 200 * MILLISECOND);
    crowd_option("indirect", 3);
    crowd_option("shortest", 4);
    crowd_option("longest", 6);
    all_start();
}

#endif
