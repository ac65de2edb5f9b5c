/*
 * Shared by the two tests of Paxos: node 3 of five, so a majority is three. Rounds are six ballots apart: 7
 * to 11 are the first round, 13 to 17 the second; 9 and 15 are ours. Election 1 is the incumbent's. T is 21,
 * and the first random wait is 63..126.
 */
#ifndef ELECTOR_TEST_LIB_NODE_PAXOS_H
#define ELECTOR_TEST_LIB_NODE_PAXOS_H

#include "lib/node/record.h"

static inline void sit_under_five(void)
{
    sit("paxos", 5, 3);
    starts_under(5);
    did("");
    sees("follows 5");
    in_term(1);
}

static inline void call_an_election(void)
{
    sit_under_five();
    campaigns();
    did("arm patience 63..126; note opens 9 2; save e2; send 1,2,4,5 Prepare 3 e2 a9");
    saved(2, 9, 0, 0);
    sees("elects");
}

static inline void ask_to_accept(void)
{
    call_an_election();
    hears(1, "Promise 1 e2 a9");
    did("");
    hears(2, "Promise 2 e2 a9");
    did("note stands; save e2; send 1,2,4,5 Accept 3 e2 a9");
    saved(2, 9, 9, 3);
    sees("elects");
}

#endif
