/*
 * What each user's clients take of the agent together, and how much they may (the configuration's limits of a user). Root
 * and the agent's own user are not limited, and a part of all connections is reserved for them: they must be able to look
 * at an agent that others fill.
 */
#ifndef ELECTOR_AGENT_SERVE_LIMITS_USERS_H
#define ELECTOR_AGENT_SERVE_LIMITS_USERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/config/config.h"

enum user_good { USER_CONNECTIONS, USER_CANDIDACIES, USER_OBSERVED, USER_VALUE_BYTES, USER_GOODS };

struct user {
    struct user *next;
    uid_t uid;
    uint32_t clients; /* that refer to it */
    uint64_t taken[USER_GOODS];
    uint32_t observes_all; /* connections that observe all groups */
    atomic_uint closing;   /* descriptors that it passed and that are being closed (closer.h) */
};

/* Zeroed: no users. */
struct users {
    struct user *first;
};

/* Finds or makes it, and counts one more that refers to it. NULL: out of memory. */
struct user *users_meet(struct users *, uid_t);
/* One fewer refers to it. A user is forgotten when nobody does and none of its descriptors is being closed. */
void users_part(struct users *, struct user *);
void users_free(struct users *);
/* The user that has taken most of it; NULL: nobody has taken any. */
const struct user *users_greediest(const struct users *, enum user_good);

bool user_is_trusted(const struct user *); /* root, or the agent's own */
/* Whether it may take `more` of it. Otherwise `text` says why not, and which setting decides. */
bool user_may_take(const struct user *, const struct config *, enum user_good, uint64_t more, char *text,
                   size_t size);

#endif
