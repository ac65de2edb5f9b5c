/*
 * What the elections that give leadership for a time share: their options, a random wait, and rounds in which
 * everybody is asked and the answers are counted. Three sets of members follow the state of each: who has
 * answered the round under way, who had answered the one before, and who refuses.
 */
#ifndef ELECTOR_ALGORITHMS_MAJORITY_TENURE_H
#define ELECTOR_ALGORITHMS_MAJORITY_TENURE_H

#include "algorithms/mesh/mesh.h"

enum { TENURE_LEASE, TENURE_HEARTBEAT, TENURE_RETRY, TENURE_OPTIONS };
#define TENURE_OPTION_ROWS                                                                       \
    {"lease", EL_DURATION, 0, NULL, "1s", "how long a leader leads, from when it asked for it"}, \
        {"heartbeat", EL_DURATION, 0, NULL, "250ms", "how often a leader asks for more"},        \
        {"retry", EL_DURATION, 0, NULL, "250ms", "who wants to lead waits at random, for up to this long"},

#define TENURE_INEQUALITY_ROWS                                                             \
    {{{1, TENURE_HEARTBEAT}, {1, EL_OF_ROUND_TRIP}},                                       \
     {{1, TENURE_LEASE}},                                                                  \
     "the lease ends before it can be renewed, and every leader loses it"},                \
        {{{1, EL_OF_ROUND_TRIP}},                                                          \
         {{1, TENURE_HEARTBEAT}},                                                          \
         "the next renewal begins before the last one is answered, and none ever counts"}, \
        {{{1, EL_OF_ROUND_TRIP}},                                                          \
         {{1, TENURE_RETRY}},                                                              \
         "those who want to lead begin at nearly the same time, and thwart each other again and again"},

/* Of a list of notes, their names and their texts. */
#define TENURE_NOTE_NAME(name, word, text) name,
#define TENURE_NOTE_TEXT(name, word, text) {word, text},

enum { TENURE_SETS = 3 };

/* How long a granter must stand by what the leader may use for a lease. */
el_duration tenure_promise(const struct el_config *cfg);
/* Arms `timer` for exactly as long as the option says. */
void tenure_arm(const struct el_config *cfg, uint32_t timer, uint32_t option, struct el_outbox *out);
/* Those who wait for the same thing must not all begin at once: `least`, and up to the option retry more.
 * Who may not lead waits for nothing. */
void tenure_wait(const struct el_config *cfg, uint32_t timer, el_duration least, struct el_outbox *out);

void tenure_open_round(uint64_t *sets, const struct el_config *cfg);
/* Counts an answer; true once a majority has answered. */
bool tenure_answer(uint64_t *sets, const struct el_config *cfg, el_node from);
/* Counts a refusal; true once no majority is left to answer. */
bool tenure_refuse(uint64_t *sets, const struct el_config *cfg, el_node from);
/* Why leadership cannot be handed to this member; EL_PERFORMED if it can. It must have answered in this round
 * or in the one before. */
enum el_answer tenure_heir(const uint64_t *sets, const struct el_config *cfg, el_node heir);

#endif
