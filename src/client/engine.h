/*
 * The client room is libelector, what an application links. It knows include/elector.h, base/ and the agent's
 * socket protocol, and nothing of the agent's code. Start with api.c, the calls of elector.h; wait.c has those
 * that wait and dispatch, connection.c opens, closes and reconnects. group_state.c (with group_table.c,
 * deadlines.c, delivery.c and event_queue.c) keeps the order of events and the deadlines of each group.
 *
 * An engine is one way to be elected: by an agent, by a lock on this host (file/engine.c), or on a store. It is a
 * table of functions, and it reports what it learns. The order of events, deadlines and threads are the business of
 * api.c and group_state.c. connection.c has the table of engines, schemes.c what their URLs look like. agent_engine.c (with agent_events.c, json_lines.c and
 * deadline_view.c) speaks to an agent. It also speaks to the engines of stores: each is the program elector-engine
 * (src/engines), which program.c starts.
 *
 * Rules for an engine:
 * 1. It works only inside the calls of its table, on the thread that owns the elector. None of them blocks.
 * 2. It reports each event at once, in whatever call it is. Reports are queued; no callback runs meanwhile.
 * 3. A call that fails says why with engine_fail() and returns its status.
 * 4. A call with a ticket that returns ELECTOR_OK owns the ticket, and completes it once with engine_done(), perhaps
 *    within the call. If it returns anything else, the caller keeps the ticket.
 * 5. An engine that cannot go on calls engine_gone(). It is closed next, without another call in between.
 */
#ifndef ELECTOR_CLIENT_ENGINE_H
#define ELECTOR_CLIENT_ENGINE_H

#include "elector.h"

#define ENGINE_NEVER UINT64_MAX
#define ENGINE_TOKEN_END (UINT64_C(1) << 53) /* tokens are below this */

struct engine_kind;
struct queued; /* a ticket is an event ELECTOR_DONE that is not queued yet: event_queue.h */

struct engine { /* the first field of each engine's own struct */
    const struct engine_kind *kind;
    elector *owner;
};

struct engine_kind {
    const char *scheme; /* of the URL, before the colon */
    /* `rest` is what follows the colon; borrowed. engine_connected() follows. */
    elector_status (*open)(elector *owner, const char *rest, struct engine **out);
    /* Resigns from everything, completes its tickets with ELECTOR_LOST, and reports nothing else. */
    void (*close)(struct engine *);
    /* engine_elected() follows the ticket. The options are complete, and `value` is not NULL. */
    elector_status (*campaign)(struct engine *, const char *group, const elector_options *,
                               struct queued *ticket);
    elector_status (*change)(struct engine *, const char *group, const elector_options *,
                             struct queued *ticket);
    /* `is_unrenewed`: its work has ended because the lease was not renewed in time. */
    elector_status (*resign)(struct engine *, const char *group, bool is_unrenewed, struct queued *ticket);
    /* `stopped`: the token of our own term, whose work has ended for this; 0: the leader is to be asked to
     * stop. */
    elector_status (*transfer)(struct engine *, const char *group, const char *member, uint64_t stopped,
                               struct queued *ticket);
    elector_status (*proclaim)(struct engine *, const char *group, const char *value, struct queued *ticket);
    elector_status (*observe)(struct engine *, const char *group, struct queued *ticket);   /* NULL: all */
    elector_status (*unobserve)(struct engine *, const char *group, struct queued *ticket); /* NULL: all */
    /* Finds the leader, and the candidates if the engine knows them: ticket_set_leader(), ticket_set_candidates(). */
    elector_status (*look)(struct engine *, const char *group, struct queued *ticket);
    elector_status (*work)(struct engine *, int line,
                           struct queued *ticket); /* may be NULL: see engine_work() */
    elector_status (*stopped)(struct engine *, const char *group, uint64_t token);
    elector_status (*alive)(struct engine *); /* may be NULL: nobody watches over this process */
    int (*fd)(const struct engine *);
    bool (*has_output)(const struct engine *);   /* may be NULL. True: dispatch also when the fd takes output */
    uint64_t (*deadline)(const struct engine *); /* when to dispatch even without input; ENGINE_NEVER */
    void (*dispatch)(struct engine *);
};

extern const struct engine_kind engine_agent, engine_file;
extern const struct engine_kind engine_etcd, engine_etcds, engine_zookeeper,
    engine_kubernetes; /* stores: see program.c */
/* Whether what the URL names speaks docs/socket-protocol.md: an agent, or the engine of a store. Not so: a lock. */
bool engine_speaks_lines(const char *url);
/* Whether the library starts an engine for it. An agent's socket may be served by an engine, too: only `hello` tells. */
bool engine_is_store(const char *url);
/* What is expected instead, if the scheme is unknown or has something else after its colon. NULL: it is well. */
#define ENGINE_URL_EXPECTED                                                    \
    "expected unix:PATH (an agent's socket), file:PATH (a lock), or a store: " \
    "etcd://HOST:PORT (etcds: with TLS), zookeeper://HOST:PORT/PATH, kubernetes:///NAMESPACE"
const char *engine_url_flaw(const char *url);

/* Sets elector_message(). Returns the status. */
elector_status engine_fail(elector *, elector_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Maps a deadline page (base/deadline_layout.h) until the engine is closed. The descriptor is borrowed. False:
 * it is not a deadline page. */
bool engine_page(elector *, int fd);
#define ENGINE_NO_SLOT UINT32_MAX

/*
 * Reports. All but engine_leader() are ignored for groups that this elector never campaigned for. If `slot` is
 * a slot of the deadline page, the deadline is read there from now on; then engine_lease() only revives a term
 * that expired because the agent was late.
 */
void engine_connected(elector *, const char *member, const char *cluster);
/* What it has not, of the operations and fields of the socket protocol ("transfer", "priority"). Call it before
 * engine_connected(), once for each, first with NULL: nothing is missing. */
void engine_declare_lack(elector *, const char *what);
bool engine_lacks(const elector *, const char *what);
/* Whether the agent has `profile = realtime`, so that who supervises work is to be as prompt. Call it before engine_connected(). */
void engine_declare_realtime(elector *, bool);
bool engine_is_realtime(const elector *);
/* Whether what answered is an engine of a store, at whatever URL; also if it refused, because its store does not answer. */
void engine_declare_store(elector *, bool);
bool engine_has_store(const elector *);
void engine_done(elector *, struct queued *ticket, elector_status, const char *message);
void engine_elected(elector *, const char *group, uint64_t token, uint64_t deadline_ns, uint32_t slot);
void engine_lease(elector *, const char *group, uint64_t token, uint64_t deadline_ns);
void engine_stop(elector *, const char *group, uint64_t token, uint64_t deadline_ns, elector_reason,
                 const char *text);
/* `stands`: we are still a candidate. */
void engine_lost(elector *, const char *group, uint64_t token, elector_reason, const char *text, bool stands);
void engine_leader(elector *, const char *group, const elector_leader *);
/* Ends all leadership for this reason; the format is for elector_message(). Returns ELECTOR_LOST. */
elector_status engine_gone(elector *, const char *reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* After engine_gone(), before it ever connected: it is not worth trying again. */
void engine_is_in_vain(elector *);
bool engine_is_gone(const elector *);

/* The reason of this name in the socket protocol; ELECTOR_REASON_OTHER: it has none. */
elector_reason engine_reason(const char *name);

/* For the commands of elector itself (asking.c). These wait for the answer, at most 5 s; events that arrive meanwhile
 * are queued. */
elector_status engine_try_connection(
    elector *); /* this does not wait. TIMEOUT: it has not answered our hello yet */
elector_status engine_transfer(elector *, const char *group, const char *member);
/* elector_resign(), for a program that saw its lease about to end: history and log tell it as no-quorum, even if a
 * renewal comes meanwhile. Does not wait. */
elector_status engine_resign_unrenewed(elector *, const char *group);
/*
 * For a program that supervises the working processes (elector run). `line` is a SOCK_SEQPACKET socket
 * (borrowed). If the agent dies, its guardian asks through it for the work to end, and need not wait for this
 * process to exit. See `work` in docs/socket-protocol.md.
 */
elector_status engine_work(elector *, int line);
/* The socket by which leadership is held; -1: none. A process that inherits it can end the connection. */
int engine_socket(const elector *);

/* The instant timeout_ms from now, by clock_boottime_ns(); ENGINE_NEVER if it is negative. */
uint64_t engine_until(int timeout_ms);
/* The rest of the time for poll(): whole milliseconds, rounded up; -1: no limit. */
int engine_left_ms(uint64_t until_ns);
#define ENGINE_DEFAULT_URL "unix:/run/elector/agent.sock"
/* $ELECTOR_URL; NULL if it is unset or empty, or if this program has raised privileges. */
const char *engine_named_url(void);
/* The URL that elector_open(NULL) and the verbs use: $ELECTOR_URL, else the agent's default socket. It is never
 * a lock that nobody has named: only `elector run`, which can say so, falls back to one (cli/run/url.h). */
const char *engine_usual_url(void);

#endif
