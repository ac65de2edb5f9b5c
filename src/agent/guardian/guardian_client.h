/*
 * The agent's side of the guardian (guardian.h). It starts a guardian, and another when that dies; tells it
 * what the agent's clients work at; and gives it datagrams that are sealed with the sessions in use.
 *
 * Each work has a number. The guardian is told of it when its client becomes a candidate, and forgets it about
 * 1 s after the client is gone: nobody waits for either. A work is held while its client leads by it. The
 * shared page says so before the client hears that it leads, so an election needs no message to the guardian.
 * If a work is held that the guardian was not told of, it is told then. If that fails, the agent ends the
 * guardian: one that does not know of all work must send nothing.
 *
 * For each work the guardian also has releases of the groups that are held by it. They name terms, and a term
 * belongs to one tenure. So an old release frees only what is free already, nobody waits until releases are
 * sealed, and without one the lease decides.
 */
#ifndef ELECTOR_AGENT_GUARDIAN_GUARDIAN_CLIENT_H
#define ELECTOR_AGENT_GUARDIAN_GUARDIAN_CLIENT_H

#include <uv.h>

#include "agent/guardian/guardian.h"
#include "agent/host/host.h"

enum {
    CLIENT_NONE,
    CLIENT_BLIND, /* all work that cannot be watched */
    CLIENT_WORKS_MAX = 250,
    CLIENT_GROUPS_MAX = 32 /* of one work that are released: as many as fit into a datagram */
};
_Static_assert((int)CLIENT_WORKS_MAX < (int)GUARDIAN_WATCHED_MAX,
               "the guardian has room for all of it, and for the agent");

struct guardian_client;

/*
 * Borrows all arguments. Executes the program (NULL: none) as `PROGRAM guardian words|json`, with the channel
 * and a pidfd of this process as descriptors 3 and 4, but not before the first guardian_client_tick(). The
 * thread that calls this must be the loop's: it takes the alive lock (alive_lock.h). NULL: no memory.
 */
struct guardian_client *guardian_client_new(uv_loop_t *, const struct config *, struct host *, struct seal *,
                                            const char *program);
/* Says goodbye and waits until the guardian is gone, 1 s at most. Run the loop once more after it. NULL does
 * nothing. */
void guardian_client_free(struct guardian_client *);

/* Whether this child of ours may be the guardian: it is, or one is being started, whose number is not known yet. */
bool guardian_client_may_be(const struct guardian_client *, pid_t child);

/* Does what is due. Call it before each wait, and again no later than at the time that it returns. */
uint64_t guardian_client_tick(struct guardian_client *);

/*
 * Adds the work of a client: its process (GUARDIAN_WATCH, with a pidfd) or a line to its keeper
 * (GUARDIAN_LINE). Owns `fd` from then on. Borrows the client's connection until guardian_client_drop(); -1:
 * none. Returns CLIENT_BLIND if fd is -1, if its user `owner` has half of the places, or if there are too many, which is logged. Here and below the guardian_client may be NULL:
 * then nobody watches.
 */
uint32_t guardian_client_add(struct guardian_client *, uid_t owner, enum guardian_kind, int fd, int connection);
void guardian_client_stand(struct guardian_client *, uint32_t work); /* the client is a candidate */
/* The client is gone. What it holds stays held until guardian_client_let_go(). */
void guardian_client_drop(struct guardian_client *, uint32_t work);
/* A group's tenure begins, or is over. The group may be NULL. */
void guardian_client_hold(struct guardian_client *, uint32_t work, struct host_group *, uint64_t term);
void guardian_client_let_go(struct guardian_client *, uint32_t work, const struct host_group *);

#endif
