/*
 * The guardian: a small process beside the agent, which outlives it. It has no keys and knows nothing of elections. The
 * agent tells it what is worked at in its name, and hands it datagrams that are sealed already. When the agent dies,
 * the guardian sees to it that all of that work ends, and only when it knows that nothing is left it sends the obituaries.
 * Of work that is over while other work goes on, or is not known to be over, it sends the releases. Whatever it does not
 * know for certain keeps it silent: then the lease decides, as if there were no guardian.
 *
 * Between them is a pair of SOCK_SEQPACKET sockets; a message is a struct guardian_message, perhaps with a descriptor.
 * The agent tells of a client's work when it begins to stand, and the guardian reads everything before the end. Which work
 * leads is on a page that both share, so that an election wakes no guardian: a work's word is set before its client hears
 * that it leads, and is 0 when what it did is over, or was told to be. The guardian looks there once nobody can write to it any more:
 * its agent is dead. So whoever may work is known and marked, and what is not marked is nothing to wait for. A number is
 * given anew only after GUARDIAN_UNWATCH, and while its word is 0. Without a page all that it knows of counts.
 */
#ifndef ELECTOR_AGENT_GUARDIAN_GUARDIAN_H
#define ELECTOR_AGENT_GUARDIAN_GUARDIAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    GUARDIAN_WATCHED_MAX = 256,
    GUARDIAN_PEERS_MAX = 64,
    GUARDIAN_DATAGRAM_MAX = 1200,
    GUARDIAN_PATIENCE_MAX_MS = 10 * 60 * 1000,
    GUARDIAN_TIMES = 3,   /* that each datagram is sent, */
    GUARDIAN_PAUSE_MS = 3 /* so long apart */
};

enum guardian_kind {
    GUARDIAN_BEGIN = 1, /* with a datagram socket to send from; the first, and once */
    GUARDIAN_PAGE,      /* with a memfd, a struct guardian_page; once, and before any work */
    GUARDIAN_WATCH, /* `number` is a process: with its pidfd; its end is waited for, and never brought about */
    GUARDIAN_LINE, /* `number` is work under a keeper: with the end of a pair of SOCK_SEQPACKET sockets, see below */
    GUARDIAN_BLIND,   /* `number` cannot be watched: as long as it is there, nothing is known */
    GUARDIAN_UNWATCH, /* `number` is over, or was never begun */
    GUARDIAN_OBITUARY, /* a datagram to `address`, as the one for peer `number`; of size 0: there is none any more */
    GUARDIAN_RELEASE, /* a datagram to `address`, as the one for `peer` when only the work `number` is over; or none */
    GUARDIAN_PATIENCE, /* `number` milliseconds after the agent's death, obituaries are of no use any more */
    GUARDIAN_GOODBYE   /* the agent leaves in good order: nothing is to be done */
};

_Static_assert(ATOMIC_CHAR_LOCK_FREE == 2, "who only reads a page cannot write to a lock");

/* On a line: the guardian asks for the end of the work; whoever keeps it kills it, and answers once nothing is left of it
 * and nothing of it can begin any more. */
#define GUARDIAN_LINE_END "end"
#define GUARDIAN_LINE_OVER "over"

struct guardian_page {
    _Atomic uint8_t leads[GUARDIAN_WATCHED_MAX]; /* by the number of the work; 0: it holds nothing */
};

struct guardian_message {
    uint32_t kind, number, peer;
    uint32_t size; /* of the datagram; what follows may be cut off behind it */
    struct sockaddr_storage address;
    uint8_t datagram[GUARDIAN_DATAGRAM_MAX];
};
#define GUARDIAN_HEAD offsetof(struct guardian_message, datagram)

struct guardian_obituary {
    uint32_t size; /* 0: none */
    struct sockaddr_storage address;
    uint8_t datagram[GUARDIAN_DATAGRAM_MAX];
};

enum guardian_state { GUARDIAN_GOES_ON, GUARDIAN_IS_OVER, GUARDIAN_NEVER_KNOWN };

struct guardian_watched {
    uint32_t number;
    enum guardian_kind kind;
    enum guardian_state state;
    int fd;                                                 /* -1: of what cannot be watched */
    uint32_t told;                                          /* how often its releases were sent */
    struct guardian_obituary *releases[GUARDIAN_PEERS_MAX]; /* by position - 1; NULL: none */
};

struct guardian { /* zeroes, but for socket = -1, begin it */
    int socket;
    const struct guardian_page *page; /* NULL: none came */
    bool has_left;                    /* the agent has said goodbye */
    bool is_mute;                     /* something was not understood: nothing is certain any more */
    uint32_t preempt_after_ms;
    uint32_t watched_count;
    struct guardian_watched watched[GUARDIAN_WATCHED_MAX];
    struct guardian_obituary obituaries[GUARDIAN_PEERS_MAX]; /* by position - 1 */
};

/* Takes one message in, and the descriptor over (-1: none came). */
void guardian_take(struct guardian *, const struct guardian_message *, size_t size, int fd);
/* The agent is dead. True: all work of its clients is over, for certain. False: that cannot be known, or not in time; what
 * is over was told. */
bool guardian_end_all(struct guardian *);
void guardian_tell(const struct guardian *); /* every peer, several times */
void guardian_close(struct guardian *);

/* A guardian's life, in its own process; `agent` is a pidfd of it. Returns the exit code. */
int guardian_main(int channel, int agent);

#endif
