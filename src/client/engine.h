/*
 * The client room is libelector, what an application links. It knows include/elector.h, base/ and the agent's
 * socket protocol, and nothing of the agent's code. Start with api.c, the calls of elector.h. group_state.c
 * (with event_queue.c) keeps the order of events and the deadlines of each group. agent_engine.c (with
 * json_lines.c and deadline_view.c) speaks to an agent; file_engine.c (with lock_file.c) needs none.
 *
 * An engine is one way to be elected: an agent's socket, or a lock on this host. It is a table of functions,
 * and it reports what it learns. The order of events, deadlines and threads are the business of api.c and
 * group_state.c.
 *
 * Rules for an engine:
 * 1. It works only inside the calls of its table, on the thread that owns the elector.
 * 2. It reports each event at once, in whatever call it is. Reports are queued; no callback runs meanwhile.
 * 3. A call that fails says why with engine_fail() and returns its status.
 * 4. An engine that cannot go on calls engine_gone(). It is closed next, without another call in between.
 */
#ifndef ELECTOR_CLIENT_ENGINE_H
#define ELECTOR_CLIENT_ENGINE_H

#include "elector.h"

#define ENGINE_NEVER UINT64_MAX
#define ENGINE_TOKEN_END (UINT64_C(1) << 53) /* tokens are below this */

struct engine_kind;

struct engine { /* the first field of each engine's own struct */
    const struct engine_kind *kind;
    elector *owner;
};

struct engine_kind {
    const char *scheme; /* of the URL, before the colon */
    /* `rest` is what follows the colon; borrowed. */
    elector_status (*open)(elector *owner, const char *rest, struct engine **out);
    void (*close)(struct engine *); /* resigns from everything, and reports nothing */
    /* Returns once the campaign has begun. engine_elected() follows, perhaps within this call. `value` may be
     * "". */
    elector_status (*campaign)(struct engine *, const char *group, const elector_options *);
    elector_status (*resign)(struct engine *, const char *group);
    /* `stopped`: the token of our own term, whose work has ended for this; 0: the leader is to be asked to
     * stop. */
    elector_status (*transfer)(struct engine *, const char *group, const char *member, uint64_t stopped);
    elector_status (*proclaim)(struct engine *, const char *group, const char *value);
    elector_status (*stopped)(struct engine *, const char *group, uint64_t token);
    elector_status (*alive)(struct engine *); /* may be NULL: nobody watches over this process */
    elector_status (*observe)(struct engine *, const char *group); /* NULL: all */
    elector_status (*work)(struct engine *, int line);             /* may be NULL: see engine_work() */
    elector_status (*leader_of)(struct engine *, const char *group, uint64_t until_ns, elector_leader *);
    int (*fd)(const struct engine *);
    uint64_t (*deadline)(const struct engine *); /* when to dispatch even without input; ENGINE_NEVER */
    void (*dispatch)(struct engine *);           /* never blocks */
};

extern const struct engine_kind engine_agent, engine_file;

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
void engine_elected(elector *, const char *group, uint64_t token, uint64_t deadline_ns, uint32_t slot);
void engine_lease(elector *, const char *group, uint64_t token, uint64_t deadline_ns);
void engine_stop(elector *, const char *group, uint64_t token, uint64_t deadline_ns, const char *reason);
/* `stands`: we are still a candidate. */
void engine_lost(elector *, const char *group, uint64_t token, const char *reason, bool stands);
void engine_leader(elector *, const char *group, const elector_leader *);
/* Ends all leadership for this reason; the format is for elector_message(). Returns ELECTOR_LOST. */
elector_status engine_gone(elector *, const char *reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool engine_is_gone(const elector *);

/*
 * For a program that supervises the working processes (elector run). `line` is a SOCK_SEQPACKET socket
 * (borrowed). If the agent dies, its guardian asks through it for the work to end, and need not wait for this
 * process to exit. See `work` in docs/socket-protocol.md.
 */
elector_status engine_work(elector *, int line);

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
