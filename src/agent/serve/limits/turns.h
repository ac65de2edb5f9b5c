/*
 * Who is served next, and how much of one turn of the agent's loop the clients may take. A client that has work for the
 * agent queues; it gets a portion of it done, and queues again behind the others. Candidates have a queue of their own,
 * which is served first: those who only ask cannot keep a leader from saying that it has stopped. One portion of a candidate
 * with thousands of groups may take a whole turn; then the next turn begins with one of the others.
 *
 * No clock: callers pass in the time.
 */
#ifndef ELECTOR_AGENT_SERVE_LIMITS_TURNS_H
#define ELECTOR_AGENT_SERVE_LIMITS_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TURN_US = 1000,         /* all clients together take this long in one turn, */
    TURN_REQUESTS = 256,    /* make so many requests, */
    TURN_BYTES = 64 * 1024, /* and are written so much */
    TURN_PORTION = 4,       /* requests of one client while others wait */
    TURN_ALONE = 64         /* and if nobody does */
};

enum turn_queue { TURN_CANDIDATES, TURN_OTHERS, TURN_QUEUES };

struct turn_place {
    struct turn_place *before, *after;
    bool is_queued;
    uint8_t queue;
};

/* Zeroed: nobody waits. */
struct turns {
    struct turn_place *first[TURN_QUEUES], *last[TURN_QUEUES];
    uint32_t count;                             /* that wait */
    bool others_were_served, others_come_first; /* in this turn */
    uint64_t began_ns;
    uint32_t requests; /* since the turn began, */
    size_t bytes;      /* and bytes written */
};

/* A place that is queued keeps its position. */
void turns_join(struct turns *, struct turn_place *, enum turn_queue);
void turns_leave(struct turns *, struct turn_place *);
bool turns_wait(const struct turns *); /* somebody does */

void turns_begin(struct turns *, uint64_t now_ns);
/* Whether the turn is over: the rest waits for the next one. */
bool turns_are_over(const struct turns *, uint64_t now_ns);
/* The next one, taken out of its queue; NULL: nobody waits. Candidates have the first half of a turn for themselves. */
struct turn_place *turns_next(struct turns *, uint64_t now_ns);

#endif
