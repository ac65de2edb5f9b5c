/*
 * The guardian: a small process beside the agent that outlives it. The agent tells it which work its clients
 * do, and gives it datagrams that are sealed already. When the agent dies, the guardian ends that work. Once it
 * knows that none of it is left, it sends the obituaries. If only some work is known to be over, it sends the
 * releases for that work. When in doubt it sends nothing: then the lease decides, as it would without a
 * guardian.
 *
 * The guardian's side (guardian.c, process.c, alive_lock.c) may know base and confine, and nothing else: no
 * keys, no elections. The agent's side (guardian_client.c, sealed.c, channel.c, spawn.c) may know the host, the peers' addresses
 * and seal.
 * Start reading here, then:
 *   guardian.c          what a guardian knows, and what it does when the agent is dead
 *   process.c           its process: reads messages and waits for the agent's death
 *   alive_lock.h        the lock that tells of the death first
 *   guardian_client.h   the agent's side: what it knows of its clients' work; sealed.c seals the datagrams
 *   channel.h           its guardian's process and the channel to it; spawn.c starts one
 *
 * Agent and guardian have a pair of SOCK_SEQPACKET sockets, the channel. A message is a struct
 * guardian_message, perhaps with a descriptor. The agent tells of a client's work when the client becomes a
 * candidate. The guardian reads all messages before it acts.
 *
 * They also share a page (struct guardian_page):
 * - Its bytes say which work leads, so that an election need not wake the guardian. The agent sets a work's
 *   byte before the client hears that it leads. It clears the byte when that work is over or was told to end.
 *   The guardian reads the bytes when the agent is dead and nobody can write them. So it knows all work that
 *   may still run, and waits for no other. The agent uses a number again only after GUARDIAN_UNWATCH, and while
 *   its byte is 0. Without a page all work counts as leading.
 * - Its lock tells the guardian of the agent's death (alive_lock.h). If the lock does not tell, the guardian
 *   waits for the end of the channel and for the agent's pidfd.
 *
 * The kernel closes the connections of a dead agent only after it has freed the agent's memory: 1 ms for 8 MB,
 * 18 ms for 128 MB. The guardian shuts them down before that, so that an application knows early and can stop
 * its work.
 */
#ifndef ELECTOR_AGENT_GUARDIAN_GUARDIAN_H
#define ELECTOR_AGENT_GUARDIAN_GUARDIAN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    GUARDIAN_WATCHED_MAX = 256,
    GUARDIAN_PEERS_MAX = 64,
    GUARDIAN_DATAGRAM_MAX = 1200,
    GUARDIAN_TIMEOUT_MAX_MS = 10 * 60 * 1000,
    GUARDIAN_TIMES = 3,   /* how often each datagram is sent */
    GUARDIAN_PAUSE_MS = 3 /* between two of those */
};

enum guardian_kind {
    GUARDIAN_BEGIN = 1, /* with a datagram socket to send from; the first message, and once */
    GUARDIAN_PAGE,      /* with a memfd that holds a struct guardian_page; once, and before any work */
    GUARDIAN_WATCH, /* work `number` is a process: with its pidfd. The guardian waits for it, never kills it */
    GUARDIAN_LINE, /* work `number` has a keeper: with one end of a pair of SOCK_SEQPACKET sockets, see below */
    GUARDIAN_BLIND,      /* work `number` cannot be watched: the guardian will not know when it is over */
    GUARDIAN_CONNECTION, /* the client's connection of work `number`: shut down when the agent is dead */
    GUARDIAN_UNWATCH,    /* work `number` is over, or never began */
    GUARDIAN_OBITUARY,   /* the obituary for peer `number`, to `address`. Size 0 takes the last one back */
    GUARDIAN_RELEASE,    /* the release of work `number` for `peer`, to `address`. Size 0: none */
    GUARDIAN_TIMEOUT,    /* `number` ms after the agent's death an obituary is of no use any more */
    GUARDIAN_GOODBYE     /* the agent exits normally: do nothing */
};

/* Messages on a line. The guardian asks the keeper to end the work. The keeper kills it, and answers when no
 * process of it is left and none can start. */
#define GUARDIAN_LINE_END "end"
#define GUARDIAN_LINE_OVER "over"

struct guardian_page {
    pthread_mutex_t alive;                       /* see alive_lock.h */
    _Atomic uint8_t leads[GUARDIAN_WATCHED_MAX]; /* by the number of the work; 0: it leads nothing */
};
_Static_assert(ATOMIC_CHAR_LOCK_FREE == 2,
               "a byte is shared between processes, which no library lock could guard");

struct guardian_message {
    uint32_t kind, number, peer;
    uint32_t size; /* of the datagram, which may be shorter than its room: the message ends with it */
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
    int fd;                                                 /* -1: it cannot be watched */
    int connection;                                         /* of its client; -1: none came */
    uint32_t told;                                          /* how often its releases were sent */
    struct guardian_obituary *releases[GUARDIAN_PEERS_MAX]; /* by position - 1; NULL: none */
};

struct guardian { /* initially zero, with socket = -1 */
    int socket;
    struct guardian_page *page; /* NULL: none came */
    bool has_left;              /* the agent has said goodbye */
    bool is_mute; /* a message was not understood: the guardian knows nothing for certain, and sends nothing */
    uint32_t timeout_ms;
    uint32_t watched_count;
    struct guardian_watched watched[GUARDIAN_WATCHED_MAX];
    struct guardian_obituary obituaries[GUARDIAN_PEERS_MAX]; /* by position - 1 */
};

/* Takes one message, and owns the descriptor from then on (-1: none came). The agent itself is work number
 * 0. */
void guardian_take(struct guardian *, const struct guardian_message *, size_t size, int fd);
/* The agent's loop thread is dead (alive_lock.h): do not wait for its process. */
void guardian_agent_died(struct guardian *);
/* Ends all work, and waits for it and for the agent. True: all is certainly over. False: some may still run;
 * the releases for the rest were sent. */
bool guardian_end_all(struct guardian *);
void guardian_tell(const struct guardian *); /* sends every obituary, GUARDIAN_TIMES */
void guardian_mourn(struct guardian *);      /* the two above, and a line in the log */
void guardian_close(struct guardian *);

/* The guardian's process, until its end. `agent` is a pidfd of the agent. */
_Noreturn void guardian_main(int channel, int agent);

#endif
