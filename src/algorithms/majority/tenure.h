/*
 * The common part of the elections with leases (chubby, paxos-lease): their options, a random wait, and rounds
 * that ask every member and count the answers. Three sets of members follow each state: those that answered
 * the current round, those that answered the previous one, and those that refuse.
 */
#ifndef ELECTOR_ALGORITHMS_MAJORITY_TENURE_H
#define ELECTOR_ALGORITHMS_MAJORITY_TENURE_H

#include "algorithms/mesh/mesh.h"

enum { TENURE_LEASE, TENURE_HEARTBEAT, TENURE_RETRY, TENURE_OPTIONS };
#define TENURE_OPTION_ROWS                                                                         \
    {"lease", EL_DURATION, 0, NULL, "1s", "length of a lease, counted from the leader's request"}, \
        {"heartbeat", EL_DURATION, 0, NULL, "250ms", "how often a leader renews its lease"},       \
        {"retry", EL_DURATION, 0, NULL, "250ms", "longest random wait before a member tries to lead"},

#define TENURE_INEQUALITY_ROWS                                                                       \
    {{{1, TENURE_HEARTBEAT}, {1, EL_OF_ROUND_TRIP}},                                                 \
     {{1, TENURE_LEASE}},                                                                            \
     "the lease would expire before it can be renewed, and every leader would lose it"},             \
        {{{1, EL_OF_ROUND_TRIP}},                                                                    \
         {{1, TENURE_HEARTBEAT}},                                                                    \
         "the next renewal would begin before the last one is answered, and none would ever count"}, \
        {{{1, EL_OF_ROUND_TRIP}},                                                                    \
         {{1, TENURE_RETRY}},                                                                        \
         "members that want to lead would begin at nearly the same time and block each other repeatedly"},

enum { TENURE_SETS = 3 };

/* How long a granter must keep its promise so that the leader may use it for one lease. */
el_duration tenure_promise(const struct el_config *cfg);
/* Arms `timer` for exactly the duration of the option. */
void tenure_arm(const struct el_config *cfg, uint32_t timer, uint32_t option, struct el_outbox *out);
/* Waits for `least` plus a random time up to the option retry, so that competing members do not all begin at
 * once. A member that may not lead does not wait. */
void tenure_wait(const struct el_config *cfg, uint32_t timer, el_duration least, struct el_outbox *out);

void tenure_open_round(uint64_t *sets, const struct el_config *cfg);
/* Counts an answer; true once a majority has answered. */
bool tenure_answer(uint64_t *sets, const struct el_config *cfg, el_node from);
/* Counts a refusal; true once no majority is left to answer. */
bool tenure_refuse(uint64_t *sets, const struct el_config *cfg, el_node from);
/* EL_PERFORMED if leadership can be handed to this member, otherwise the reason. The member must have answered
 * in this round or in the previous one. */
enum el_answer tenure_heir(const uint64_t *sets, const struct el_config *cfg, el_node heir);

#endif
