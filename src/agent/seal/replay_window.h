/*
 * Which counters of a session were seen, as in RFC 6479: the highest, and a ring of bits for those behind it. One word
 * more than the window, so that moving forward clears whole words.
 */
#ifndef ELECTOR_AGENT_SEAL_REPLAY_WINDOW_H
#define ELECTOR_AGENT_SEAL_REPLAY_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum {
    REPLAY_WINDOW = 2048, /* the highest counter and the 2,047 below it */
    REPLAY_WORDS = REPLAY_WINDOW / 64 + 1,
};

struct replay_window_window { /* zeroes: nothing seen */
    uint64_t above;           /* the highest counter seen, and one */
    uint64_t words[REPLAY_WORDS];
};

/* Marks it. False: it was seen, or it is too far behind to tell. Ask only about what is authentic. */
bool replay_window_accept(struct replay_window_window *, uint64_t counter);

#endif
