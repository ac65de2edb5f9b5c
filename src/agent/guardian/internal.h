/* Shared by guardian_client.c and sealed.c. */
#ifndef ELECTOR_AGENT_GUARDIAN_INTERNAL_H
#define ELECTOR_AGENT_GUARDIAN_INTERNAL_H

#include "agent/guardian/channel.h"
#include "agent/guardian/guardian_client.h"

struct work {
    enum guardian_kind kind;
    uid_t owner;
    int fd;
    int connection; /* of its client, borrowed; -1: none */
    uint32_t holds;
    bool is_used, stands;
    bool is_dropped;   /* the guardian hears of it about 1 s later */
    bool is_told;      /* to the guardian that runs */
    bool is_blind;     /* it was told as one that cannot be watched */
    uint64_t unsealed; /* peers whose release of it is to be sealed anew, a bit each */
    uint32_t tenure_count;
    struct host_tenure tenures[CLIENT_GROUPS_MAX];
};

struct guardian_client {
    uv_loop_t *loop;
    const struct config *config;
    struct host *host;
    struct seal *seal;
    const char *program;
    struct work works[CLIENT_WORKS_MAX]; /* by number */
    uint64_t tidy_at;                    /* when to forget dropped work; UINT64_MAX: there is none */
    int page_fd;                         /* -1: there is none */
    struct guardian_page *page;          /* NULL: the guardian counts all work as held */

    struct guardian_channel channel;
    uint64_t started_at, start_at, pause_ms;
    uint64_t told_full_at; /* 0: never */
    bool is_armed;         /* the log says that it has an obituary for a peer */
    bool has_all;          /* the guardian knows of all work: it may have obituaries */
    bool has_unsealed;     /* some work is unsealed */
    uint64_t seal_at;      /* not before: the channel was full */
    uint64_t release_at;   /* releases not before */
    uint32_t timeout_ms;
    struct payload payload;
    uint64_t
        sealed_by[CONFIG_MEMBERS_MAX]; /* the session of its obituary; 0: the guardian has none for that peer */
    uint32_t sealed_since
        [CONFIG_MEMBERS_MAX]; /* releases since; after 1000 a peer would drop the obituary as too old */
};

/* Seals what peers should hear if this agent dies, if that or its channels have changed: the obituary, and the releases of each work. */
void guardian_client_seal(struct guardian_client *);

#endif
