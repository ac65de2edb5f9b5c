/*
 * A client that campaigns for many groups at one agent, over as few connections as the agent lets it have. It speaks the
 * socket's protocol itself, many requests ahead of their answers, as a platform with many partitions would.
 */
#ifndef ELECTOR_BENCH_CROWD_H
#define ELECTOR_BENCH_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CROWD_CONNECTIONS_MAX = 256, CROWD_REFUSAL_MAX = 200 };

struct crowd_connection {
    int fd;
    bool is_full; /* the agent takes no further group on it */
    uint32_t asked;
    char *in, *out;
    size_t in_size, out_size, out_first;
};

struct crowd {
    const char *path; /* of the agent's socket */
    uint32_t count;   /* groups, named g-0 and so on */
    uint32_t next;    /* to be asked for; those that were turned away come again */
    uint32_t *again, again_count;
    uint32_t asked, entered, elected; /* requests without an answer; groups it stands in; elections heard of */
    struct crowd_connection connections[CROWD_CONNECTIONS_MAX];
    uint32_t connection_count;
    char refusal[CROWD_REFUSAL_MAX]; /* what it was told when it was told to stop; empty: nothing of the kind */
    bool is_gone;                    /* the agent has hung up */
};

/* False: there is no agent, or no memory. */
bool crowd_open(struct crowd *, const char *path, uint32_t count);
void crowd_close(struct crowd *);
/* One turn of all of them: what can be asked is asked, what has come is counted; waits at most so long. */
void crowd_turn(struct crowd *crowds, uint32_t crowd_count, int timeout_ms);

#endif
