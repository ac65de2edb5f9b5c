/*
 * An engine is a way to be elected: an agent's socket, a lock on this host, later others. It is one table of functions
 * and reports what it hears; the order of events, the deadlines and the threads are api.c's and group_state.c's business.
 *
 * Rules for an engine:
 * 1. Everything happens inside the calls of the table, on the thread that owns the elector.
 * 2. What it hears it reports at once, whatever call it is in: reports are queued, no callback runs meanwhile.
 * 3. A call that fails says why with engine_fail() and returns its status.
 * 4. An engine that cannot go on says engine_gone() and is closed soon after; nothing else is called in between.
 */
#ifndef ELECTOR_CLIENT_ENGINE_H
#define ELECTOR_CLIENT_ENGINE_H

#include "elector.h"

#define ENGINE_NEVER UINT64_MAX
#define ENGINE_TOKEN_END (UINT64_C(1) << 53) /* tokens are below */

struct engine_kind;

struct engine { /* an engine's own struct begins with it */
    const struct engine_kind *kind;
    elector *owner;
};

struct engine_kind {
    const char *scheme; /* of the URL, before the colon */
    /* `rest` is what follows the colon; borrowed. */
    elector_status (*open)(elector *owner, const char *rest, struct engine **out);
    void (*close)(struct engine *); /* resigns from everything, and reports nothing */
    /* Returns once it has begun; engine_elected() follows, perhaps within. `value` may be "". */
    elector_status (*campaign)(struct engine *, const char *group, const elector_options *);
    elector_status (*resign)(struct engine *, const char *group);
    /* `stopped`: the token of the work that has ended for this; 0: whoever leads is asked to end its work. */
    elector_status (*transfer)(struct engine *, const char *group, const char *member, uint64_t stopped);
    elector_status (*proclaim)(struct engine *, const char *group, const char *value);
    elector_status (*stopped)(struct engine *, const char *group, uint64_t token);
    elector_status (*observe)(struct engine *, const char *group); /* NULL: all */
    elector_status (*work)(struct engine *, int line);             /* may be absent: see engine_work() */
    elector_status (*leader_of)(struct engine *, const char *group, uint64_t until_ns, elector_leader *);
    int (*fd)(const struct engine *);
    uint64_t (*deadline)(const struct engine *); /* when to dispatch even without input; ENGINE_NEVER */
    void (*dispatch)(struct engine *);           /* never blocks */
};

extern const struct engine_kind engine_agent, engine_file;

/* Why a call fails, for elector_message(). Returns the status. */
elector_status engine_fail(elector *, elector_status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A page of deadlines (base/deadline_layout.h), from the descriptor that it came in, which is borrowed. False: it is none. It is
 * there for as long as the engine is open. */
bool engine_page(elector *, int fd);
#define ENGINE_NO_SLOT UINT32_MAX

/* What is heard. Groups that nobody campaigned for have no office, so only engine_leader() counts there. With a slot of the
 * page the deadline is read there from now on, and a lease is told only if it was moved on too late. */
void engine_elected(elector *, const char *group, uint64_t token, uint64_t deadline_ns, uint32_t slot);
void engine_lease(elector *, const char *group, uint64_t token, uint64_t deadline_ns);
void engine_stop(elector *, const char *group, uint64_t token, uint64_t deadline_ns, const char *reason);
/* `stands`: it is a candidate still. */
void engine_lost(elector *, const char *group, uint64_t token, const char *reason, bool stands);
void engine_leader(elector *, const char *group, const elector_leader *);
/* All leadership is over, for this reason; the message says more. Returns ELECTOR_LOST. */
elector_status engine_gone(elector *, const char *reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool engine_is_gone(const elector *);

/*
 * For who starts processes that work: the guardian of an agent that died asks for their end through the line, a
 * SOCK_SEQPACKET socket (borrowed), and does not wait for the end of this process. docs/socket-protocol.md, `work`.
 */
elector_status engine_work(elector *, int line);

/* By clock_boottime_ns(), from now on; less than 0: never. */
uint64_t engine_until(int timeout_ms);
/* For poll(): whole milliseconds, rounded up; -1: no limit. */
int engine_left_ms(uint64_t until_ns);
/* What elector_open(NULL) opens. */
const char *engine_usual_url(void);

#endif
