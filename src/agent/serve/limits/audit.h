/*
 * Which changes by clients get a line of their own in the log. A client that repeats itself must not fill the
 * log, nor hide what others do: changes are counted by user, operation and outcome, and of each such kind
 * AUDIT_LINES are written in AUDIT_WINDOW. The others are counted, and told as a number when the window ends.
 * No clock, no log: rights.c has both.
 */
#ifndef ELECTOR_AGENT_SERVE_LIMITS_AUDIT_H
#define ELECTOR_AGENT_SERVE_LIMITS_AUDIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"

enum { AUDIT_LINES = 10, AUDIT_KINDS = 128 };
#define AUDIT_WINDOW (10 * NS_PER_S)

struct audit_kind {
    uid_t uid;
    const char *what; /* a constant; NULL: this place is free */
    bool is_granted;
    uint64_t since_ns;
    uint32_t lines, left_out;
};

/* Zero: nothing happened yet. */
struct audit {
    struct audit_kind kinds[AUDIT_KINDS];
    uint32_t beyond; /* changes of kinds for which there was no place */
};

/* Whether to write a line for this change; otherwise it was counted. `what` must live as long as the audit. */
bool audit_admits(struct audit *, uint64_t now_ns, uid_t, const char *what, bool is_granted);
/* True: so many of this kind were left out in a window that is over (kind->what is NULL: of any kind). Call it
 * until it is false. */
bool audit_take_left_out(struct audit *, uint64_t now_ns, struct audit_kind *kind);
/* Whether audit_take_left_out() will have something to tell. */
bool audit_has_left_out(const struct audit *);

#endif
