/* The attacks of a neighbour on an agent: each runs as fast as it can, until its processes are killed. */
#ifndef ELECTOR_BENCH_HOSTILE_ATTACKS_H
#define ELECTOR_BENCH_HOSTILE_ATTACKS_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Whom they attack. */
struct victim {
    const char *folder;      /* of the cluster's files */
    const char *socket;      /* the agent's */
    struct sockaddr_in http; /* where it serves HTTP, */
    struct sockaddr_in peer; /* and where it hears its peers */
    const char *disk;        /* the mount point of its file system; "": none of its own */
    atomic_ulong *hits; /* in shared memory: counted up by each attacker whenever it has reached the agent */
};

struct attack {
    const char *name, *text;
    void (*run)(const struct victim *); /* never returns. NULL: the attacker is another process */
    uint32_t processes;
    int needs_root; /* does not give up its user */
};

int attack_join(const struct victim *); /* a connection to its socket; -1: none */
void attack_hit(const struct victim *);

/* mass.c: thousands of tenures that end together. */
void be_expelled(const struct victim *);
void hang(const struct victim *);

/* handshakes.c: attackers that have the cluster key, or a recording. */
bool learn_handshakes(
    const struct victim *); /* before b is started, for both of them; false: that was not possible */
void shake_hands_as_b(const struct victim *);
void replay_hands_of_b(const struct victim *);

extern const struct attack attacks[];
extern const uint32_t attack_count;

#endif
