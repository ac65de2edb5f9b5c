/*
 * The counters that a channel has seen, as in RFC 6479: the highest, and a ring of bits for those below it. The
 * ring has one word more than the window, so that moving forward clears whole words.
 */
#ifndef ELECTOR_AGENT_SEAL_REPLAY_WINDOW_H
#define ELECTOR_AGENT_SEAL_REPLAY_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum {
    REPLAY_WINDOW = 2048, /* the highest counter and the 2,047 below it */
    REPLAY_WORDS = REPLAY_WINDOW / 64 + 1,
};

struct replay_window { /* zeroed: nothing seen */
    uint64_t above;    /* the highest counter seen, plus 1 */
    uint64_t words[REPLAY_WORDS];
};

/* Marks a counter as seen. False: it was seen before, or is too old to tell. Call it for authentic packets
 * only. */
bool replay_window_accept(struct replay_window *, uint64_t counter);

#endif
