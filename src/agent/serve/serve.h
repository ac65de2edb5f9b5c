/*
 * The serve room serves local clients at the agent's socket, as docs/socket-protocol.md says. It knows the
 * host, the history, the metrics and the guardian's client, but neither sockets between members nor keys. Start
 * with serve.c, which passes changes on. accept.c listens and lets clients in, turn.c serves them in turn,
 * connection.c is one client's bytes, request.c its requests, observers.c who hears of which group, rights.c who may make them, status.c, members.c and history.c their answers. leadership.h decides which client
 * leads a group, deadline_page.h publishes until when, change_list.h orders changes for /events, and serve/http
 * answers over HTTP.
 *
 * At most SERVE_CONNECTIONS_MAX clients are connected at a time, and memory is bounded whatever a client sends
 * or fails to read. Requests run host_tick() first, which may change the host's next timer: so the loop must
 * call host_tick() each time before it waits.
 */
#ifndef ELECTOR_AGENT_SERVE_SERVE_H
#define ELECTOR_AGENT_SERVE_SERVE_H

#include <jansson.h>
#include <uv.h>

#include "agent/exchange/exchange.h"
#include "agent/guardian/guardian_client.h"
#include "agent/host/host.h"
#include "agent/metrics/metrics.h"

enum { SERVE_CONNECTIONS_MAX = CONFIG_CLIENTS_MAX };

struct serve;

/* Listens. Configuration and host are borrowed. NULL: `text` says in one line what failed, where, and what to
 * do. */
struct serve *serve_new(uv_loop_t *, const struct config *, struct host *, char *text, size_t size);
/* The same for one client, connected by `fd`, which it owns. It does not listen. */
struct serve *serve_new_for(uv_loop_t *, const struct config *, struct host *, int fd, char *text, size_t size);
uint32_t serve_client_count(const struct serve *);

/*
 * What is behind the host, if that is no cluster of agents but a store (src/engines). An answer may take its time there: while
 * `settled` is false, a request waits, and those after it. serve_resume() says that it may have changed.
 */
struct serve_engine {
    void *context;
    const char *name; /* "etcd" */
    const char *const (
        *lacks)[2]; /* operations and fields that it does not have, each with the reason; last: NULLs */
    /* Whether the store has been asked about the group; NULL: whether it has answered at all. *trouble is set if it cannot be
     * asked, and then the request is refused with that text. */
    bool (*settled)(void *context, const struct host_group *, const char **trouble);
    const char *(*leader)(const struct host_group *); /* a leader that is no member; NULL: it is one */
    const char *(*candidate)(const struct host_group *,
                             uint32_t place); /* in the order of succession; NULL: no more */
    /* A list of findings, for the answer to `check`; borrowed. NULL: they are being found out, and serve_resume() follows. */
    const json_t *(*check)(void *context);
};
void serve_set_engine(struct serve *, const struct serve_engine *); /* borrowed */
void serve_resume(struct serve *);
/* Changes and clients' actions are added there, and `history` and `why` answered from there. Borrowed. */
struct history;
void serve_set_history(struct serve *, struct history *);
/* The guardian learns which client works for which group. Borrowed; call it before the first client
 * connects. */
void serve_set_guardian(struct serve *, struct guardian_client *);
/* Changes of leaders are counted there. Borrowed. */
void serve_set_metrics(struct serve *, struct metrics *);
/* The file was read again, and this key of it waits for a restart: `members` tells it, at most 16 of them. */
void serve_await_restart(struct serve *, const struct config_difference *);
void serve_await_no_restart(struct serve *); /* the file is read again: forget those of the last time */
/* Knows which settings the peers have. Borrowed; NULL: only what the host sees is known. */
void serve_set_exchange(struct serve *, struct exchange *);
/* Whether the peer is heard, but does not count in some group: it has other settings, another list of members, or messages of
 * another version. */
bool serve_differs(const struct serve *, el_node peer);
/* What `profile = realtime` asked for and was refused, in words; "": nothing. Borrowed; NULL: it asked for nothing. */
void serve_set_refused(struct serve *, const char *what);
/* Is told each change of leaders and each end of leadership here, once it is in the history, and a change to a leader again
 * when all agents tell the same of it (SETTLED; of the first SERVE_UNSETTLED_MAX changes of a burst). For the log. `entry` is
 * borrowed; NULL: a client was refused, and `group` says why. */
enum serve_step { SERVE_LEADER_CHANGED, SERVE_LEADER_SETTLED, SERVE_LEASE_LOST, SERVE_CLIENT_REFUSED };
struct history_entry;
void serve_set_listener(struct serve *,
                        void (*)(void *context, enum serve_step, const char *group,
                                 const struct history_entry *),
                        void *context);
/* Drops some of the groups that nobody has used for `forget-after`. Returns when to call it again; UINT64_MAX: when a client has
 * asked for it, which wakes the loop. */
uint64_t serve_forget_some(struct serve *, uint64_t now_ns);
/* Counts failovers whose story is complete; call it once a second or more often. */
void serve_settle(struct serve *, uint64_t now);
/* Tells log and peers of changes that have waited for long enough. Returns when to call it again; UINT64_MAX: none waits. */
uint64_t serve_tell(struct serve *, uint64_t now_ns);
/* A request of a client of another agent, which has checked its rights. */
struct payload_entry;
enum exchange_outcome serve_take_forwarded(struct serve *, const struct payload_entry *);
/* The answer to a request that was passed on for a client here. */
void serve_answered(struct serve *, uint32_t request, enum exchange_outcome);
/* For host_hooks.changed. */
void serve_changed(struct serve *, struct host_group *);
/* For host_hooks.renewed. */
void serve_renewed(struct serve *, uint32_t cell);
/* Asks all leaders here to stop, and hands their groups over. True once nobody leads here: call it in each turn
 * of the loop until then. Clients are served until serve_free(). */
bool serve_leave(struct serve *);
/* The state file cannot be written: all leadership here ends, and campaigns are refused with `why`. */
void serve_failed(struct serve *, const char *why);
/* Disconnects all clients and removes the socket, without resigning. Its memory is freed when the loop has
 * closed its handles: run the loop once more. The host may be freed before that. */
void serve_free(struct serve *);

#endif
