/*
 * The agent's side of the guardian (guardian.h): starts it, and another when it dies; tells it what its clients work at;
 * and keeps it in datagrams that are sealed with the sessions in use.
 *
 * Work has a number. The guardian is told of it when its client begins to stand, and forgets it a while after the client is
 * gone: that is in nobody's way. It is held while somebody leads by it, which a page says that the guardian shares, before
 * the client hears that it leads: so an election takes no word to the guardian. What is held and was not told before is told
 * then. If that cannot be told to a guardian it ends that guardian: one that does not know of all work must not speak.
 *
 * Of each work the guardian also has releases, of the groups that are held by it. They name terms, and a term is one
 * tenure's: one that is older than what is held by now frees what was free already, and nothing else. So nobody waits for
 * them to be sealed, and where one does not come in time the lease decides.
 */
#ifndef ELECTOR_AGENT_GUARDIAN_GUARDIAN_CLIENT_H
#define ELECTOR_AGENT_GUARDIAN_GUARDIAN_CLIENT_H

#include <uv.h>

#include "agent/guardian/guardian.h"
#include "agent/host/host.h"

enum {
    CLIENT_NONE,
    CLIENT_BLIND, /* what cannot be watched */
    CLIENT_WORKS_MAX = 250,
    CLIENT_GROUPS_MAX = 32 /* of one work, that are released: as many as fit into a datagram */
};
_Static_assert((int)CLIENT_WORKS_MAX < (int)GUARDIAN_WATCHED_MAX,
               "the guardian has room for all of it, and for the agent");

struct guardian_client;

/*
 * All are borrowed. The program (NULL: none is to be had) is executed as `PROGRAM guardian words|json`, with the channel and a
 * pidfd of this process as descriptors 3 and 4. NULL: no memory. Nothing runs before the first guardian_client_tick().
 */
struct guardian_client *guardian_client_new(uv_loop_t *, const struct config *, struct host *, struct seal *,
                                            const char *program);
/* Says goodbye, and waits until the guardian is gone. Run the loop once more after it. NULL is nothing. */
void guardian_client_free(struct guardian_client *);

/* What is due. Returns when it wants to be called again, at the latest; call it before each wait. */
uint64_t guardian_client_tick(struct guardian_client *);

/* Of a client: its process (GUARDIAN_WATCH, a pidfd) or a line to whoever keeps its work (GUARDIAN_LINE). Takes the
 * descriptor over; -1, or too many: CLIENT_BLIND. In all of these the obituary may be NULL: nobody watches then. */
uint32_t guardian_client_add(struct guardian_client *, enum guardian_kind, int fd, int connection);
void guardian_client_stand(struct guardian_client *, uint32_t work); /* the client may come to lead */
void guardian_client_drop(struct guardian_client *,
                          uint32_t work); /* the client is gone; what is held stays until it is let go of */
/* A group's tenure begins, or is over. NULL: of no group. */
void guardian_client_hold(struct guardian_client *, uint32_t work, struct host_group *, uint64_t term);
void guardian_client_let_go(struct guardian_client *, uint32_t work, const struct host_group *);

#endif
