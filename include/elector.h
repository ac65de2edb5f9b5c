/*
 * libelector: many processes campaign for a group, one of them leads, and all of them know which one.
 *
 *     elector *e;
 *     elector_term term;
 *     if (elector_open(NULL, &e) != ELECTOR_OK ||
 *         elector_campaign(e, "billing", NULL, -1, &term) != ELECTOR_OK)
 *         errx(1, "%s", elector_message(e));
 *     while (elector_dispatch(e) == ELECTOR_OK && elector_is_leader(e, "billing")) do_a_little(term.token);
 *     elector_close(e);
 *
 * Three rules make this safe:
 *
 * 1. Ask, then act. A leader leads until a deadline, which moves on while a majority of the cluster supports
 *    it. Call elector_is_leader() just before each action that only a leader may take: it compares the deadline
 *    with the clock. It takes no lock and makes no system call, so it is cheap enough to ask before every
 *    write.
 * 2. Fence. An action may take effect after the deadline, for example a write that is delayed in the network.
 *    Send the term's token with it, and let the resource refuse a token lower than the highest it has seen.
 * 3. Dispatch. Events, including requests to stop, arrive in elector_dispatch() and in the calls that wait.
 *    Call one of them no later than elector_timeout_ms() says. The agent usually moves deadlines on without a
 *    call; docs/library.md says when it cannot. Then they move on only in these calls.
 *
 * Threads: one thread at a time may use an elector. As an exception, any thread may call elector_is_leader(),
 * elector_token() and elector_deadline() while another thread is inside any call except elector_close(). The
 * library starts no threads. After fork() only the parent may use the elector.
 */
#ifndef ELECTOR_H
#define ELECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ELECTOR_API __attribute__((visibility("default")))
#else
#define ELECTOR_API
#endif

typedef struct elector elector;

typedef enum elector_status {
    ELECTOR_OK = 0,
    ELECTOR_TIMEOUT = 1,     /* it did not happen in time; it may still happen */
    ELECTOR_NOT_LEADING = 2, /* only a leader can do this */
    ELECTOR_REFUSED = 3,     /* not permitted, or declined: elector_message() says why */
    ELECTOR_INVALID = 4,     /* an argument is wrong: a bad URL, group or value */
    ELECTOR_UNAVAILABLE = 5, /* no answer: is the agent running? */
    ELECTOR_LOST = 6,        /* the connection broke; all leadership held through it has ended */
    ELECTOR_NO_MEMORY = 7,
    ELECTOR_BUSY = 8, /* a callback must not call this function */
} elector_status;

/* Lengths in bytes, without the terminating zero. */
enum { ELECTOR_GROUP_MAX = 63, ELECTOR_VALUE_MAX = 255, ELECTOR_NAME_MAX = 63 };

/* One tenure of this process as leader of a group. */
typedef struct elector_term {
    uint64_t token;       /* higher than the token of every earlier leader of the group; below 2^53 */
    uint64_t deadline_ns; /* on CLOCK_BOOTTIME, as it was when the struct was filled in: elector_deadline() has
                             the newest. UINT64_MAX: no lease (file:), the term ends with the process */
} elector_term;

/* The leader of a group, as known on this host. */
typedef struct elector_leader {
    char name[ELECTOR_NAME_MAX + 1]; /* of the member that leads; empty: no leader is known */
    uint64_t token;
    char value[ELECTOR_VALUE_MAX + 1]; /* set with elector_proclaim() or elector_options; may be empty */
    bool is_me;                        /* this elector leads, not another client of the same agent */
} elector_leader;

/*
 * Events come in this order for each group: ELECTED, sometimes STOP, LOST_OFFICE, NEW_LEADER. ELECTED never
 * comes twice without LOST_OFFICE in between. Callbacks run in the thread that calls elector_dispatch(),
 * elector_wait() or a waiting elector_campaign(), and nowhere else.
 *
 * A callback may call every function except those that would call callbacks; these return ELECTOR_BUSY:
 * elector_dispatch(), elector_wait(), elector_leader_of(), and elector_campaign() with a timeout other than 0.
 * elector_close() does nothing in a callback.
 */
typedef enum elector_event_type {
    ELECTOR_ELECTED = 1, /* we lead, with this term */
    ELECTOR_STOP,        /* hand over: end the work, then call elector_stopped(). Nobody else leads before that
                            call or the deadline, whichever comes first; see stop_within_ms */
    ELECTOR_LOST_OFFICE, /* we no longer lead: another does, the connection broke, or the deadline has passed */
    ELECTOR_NEW_LEADER,  /* an observed group has a new leader, or none */
} elector_event_type;

typedef struct elector_event {
    elector_event_type type;
    const char *group;     /* borrowed until the callback returns */
    elector_term term;     /* ELECTED, STOP, LOST_OFFICE */
    elector_leader leader; /* NEW_LEADER */
    const char *reason;    /* STOP, LOST_OFFICE: for people to read; borrowed until the callback returns */
} elector_event;

typedef void elector_callback(void *context, const elector_event *event);

/* ---- Opening and closing ---- */

/*
 * Connects. `url` is unix:PATH, an agent's socket, or file:PATH, a lock on this host that needs no agent. NULL
 * means $ELECTOR_URL, or unix:/run/elector/agent.sock if that is unset. On failure *out is set too, unless
 * memory ran out, so that elector_message() can say why: close it in any case.
 */
ELECTOR_API elector_status elector_open(const char *url, elector **out);
/* Resigns from all groups, so end the work first. NULL is allowed. */
ELECTOR_API void elector_close(elector *);

/* Why the last call failed, in one line. Never NULL; borrowed until the next call. */
ELECTOR_API const char *elector_message(const elector *);

/* ---- Leading ---- */

#define ELECTOR_NEVER UINT64_MAX

typedef struct elector_options {
    size_t size; /* sizeof(elector_options): set by elector_options_init() */
    /* Among members that are equal otherwise the highest is preferred; below 2^53. Default: 0. */
    uint64_t priority;
    /* Proclaimed when elected. Default: NULL, none. */
    const char *value;
    /* If the group is configured with preempt = on: a leader of lower priority hands over after we have
     * campaigned for this long. Default: 0; ELECTOR_NEVER: it does not hand over. */
    uint64_t preempt_after_ms;
    /* How long our work may take to stop. After STOP the deadline moves on for this long, as long as a majority
     * supports us and the agent's configuration (stop-timeout) allows. Default: 0, it does not move on. */
    uint64_t stop_within_ms;
    /* While we lead, elector_alive() must be called at least this often. Default: 0, it need not. It holds for all
     * groups of this elector; of several values the smallest counts. */
    uint64_t watchdog_ms;
} elector_options;
/* Sets the defaults. Call it first: a struct of another size is refused. */
ELECTOR_API void elector_options_init(elector_options *);

/*
 * Campaigns for the group, and waits until elected, at most `timeout_ms` (-1: no limit; 0: do not wait). After
 * ELECTOR_TIMEOUT we are still a candidate, and ELECTED may come in a later call. `options` may be NULL for the
 * defaults; `term` may be NULL. A leader that loses leadership remains a candidate, unless it has resigned or
 * the connection broke.
 */
ELECTOR_API elector_status elector_campaign(elector *, const char *group, const elector_options *options,
                                            int timeout_ms, elector_term *term);
/* Ends candidacy and leadership. End the work first: we do not lead from this call on. */
ELECTOR_API elector_status elector_resign(elector *, const char *group);
/* Asks the leader to hand over to `member`: it gets STOP. Any agent but an observer's passes it on to the leader's.
 * ELECTOR_OK means that the hand-over has begun. */
ELECTOR_API elector_status elector_transfer(elector *, const char *group, const char *member);
/* The same for a group that this elector leads and whose work has ended already: no STOP follows, and we do not
 * lead from this call on. If the call is refused, we lead as before. We remain a candidate. */
ELECTOR_API elector_status elector_hand_over(elector *, const char *group, const char *member);
/* Sets the leader's value, which every observer of the group sees: an address, for example. */
ELECTOR_API elector_status elector_proclaim(elector *, const char *group, const char *value);
/* The answer to STOP: the work has ended, and another may lead. */
ELECTOR_API elector_status elector_stopped(elector *, const char *group);

/*
 * Says that this process does its work. Call it from the loop that does the work, several times within watchdog_ms; it
 * sends at most four messages in that time, and never waits. If the calls cease, the agent renews our deadlines no more
 * and sends STOP with the reason "watchdog". Nobody else leads before our deadline. If we are still silent then, the
 * agent ends the connection. Does nothing without watchdog_ms, and for file:.
 */
ELECTOR_API elector_status elector_alive(elector *);

/* Whether this elector leads at this instant. False for a group that it never campaigned for. */
ELECTOR_API bool elector_is_leader(const elector *, const char *group);
/* The token of the present term; 0: not leading. */
ELECTOR_API uint64_t elector_token(const elector *, const char *group);
/* The present deadline in ns on CLOCK_BOOTTIME, which may have passed; 0: not leading;
 * UINT64_MAX: no lease (file:). */
ELECTOR_API uint64_t elector_deadline(const elector *, const char *group);

/* ---- Following ---- */

/* Requests NEW_LEADER events for a group, the present leader first. NULL: for all groups that the agent
 * knows. */
ELECTOR_API elector_status elector_observe(elector *, const char *group);
/* The leader as known now. Waits for the agent's answer, at most `timeout_ms`, but not for a leader. */
ELECTOR_API elector_status elector_leader_of(elector *, const char *group, int timeout_ms, elector_leader *);

/* ---- Event loops ---- */

/*
 * Poll elector_fd() for input with the timeout elector_timeout_ms(), then call elector_dispatch(). Programs
 * without an event loop call elector_wait() instead.
 *
 * After ELECTOR_LOST there is no descriptor (-1) and no candidacy, and nothing is retried automatically. The
 * next elector_campaign(), elector_observe() or elector_leader_of() connects again.
 */
ELECTOR_API void elector_on_event(elector *, elector_callback *, void *context); /* NULL: events are dropped */
ELECTOR_API int elector_fd(const elector *);            /* another one after a reconnection */
ELECTOR_API int elector_timeout_ms(const elector *);    /* for poll(2); -1: no limit */
ELECTOR_API elector_status elector_dispatch(elector *); /* reads what has arrived, calls back; never blocks */
/* The same, but waits until it has delivered an event. ELECTOR_TIMEOUT: a signal came, or the time is
 * up (-1: no limit). */
ELECTOR_API elector_status elector_wait(elector *, int timeout_ms);

ELECTOR_API const char *elector_version(void);

#ifdef __cplusplus
}
#endif

#endif
