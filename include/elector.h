/*
 * Elector for applications: many processes, one leader, and everyone knows who.
 *
 *     elector *e;
 *     elector_term term;
 *     if (elector_open(NULL, &e) != ELECTOR_OK || elector_campaign(e, "billing", NULL, -1, &term) != ELECTOR_OK)
 *         errx(1, "%s", elector_message(e));
 *     while (elector_dispatch(e) == ELECTOR_OK && elector_is_leader(e, "billing")) do_a_little(term.token);
 *     elector_close(e);
 *
 * A leader leads until a deadline that moves on while a majority supports it. Nothing that only a leader may do is
 * done without asking elector_is_leader() just before, which compares the deadline with the clock at that very
 * instant; and what outlives that instant is fenced: give the token to the resource, which refuses lower ones.
 * To ask takes no lock and no system call, so it can be asked before every write. The agent moves the deadline on by itself
 * where it can (docs/library.md says where not); events, a request to stop among them, come from elector_dispatch() and
 * whatever waits, so call one of them no later than elector_timeout_ms() says.
 *
 * Threads: one elector belongs to one thread at a time, except that elector_is_leader(), elector_token() and
 * elector_deadline() may be called from any thread while another is inside any other call but elector_close().
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
    ELECTOR_TIMEOUT = 1,     /* it did not happen in time; it may still */
    ELECTOR_NOT_LEADING = 2, /* only a leader can do this */
    ELECTOR_REFUSED = 3,     /* not permitted, or declined: elector_message() says why */
    ELECTOR_INVALID = 4,     /* an argument makes no sense: a bad URL, group or value */
    ELECTOR_UNAVAILABLE = 5, /* nobody answers: is the agent running? */
    ELECTOR_LOST = 6,        /* the connection broke; all leadership held through it is over */
    ELECTOR_NO_MEMORY = 7,
    ELECTOR_BUSY = 8, /* called from within a callback that must not */
} elector_status;

enum { ELECTOR_GROUP_MAX = 63, ELECTOR_VALUE_MAX = 255, ELECTOR_NAME_MAX = 63 };

/* A tenure of ours. */
typedef struct elector_term {
    uint64_t token;       /* higher than that of every leader before; below 2^53 */
    uint64_t deadline_ns; /* on CLOCK_BOOTTIME: what a leader does is over by then, unless it moves on;
                             UINT64_MAX: there is no lease (file:), it ends with the process */
} elector_term;

/* Who leads a group, as far as is known here. */
typedef struct elector_leader {
    char name[ELECTOR_NAME_MAX + 1]; /* of the member; empty: nobody is known to */
    uint64_t token;
    char value[ELECTOR_VALUE_MAX + 1]; /* what the leader has proclaimed, or empty */
    bool is_me;                        /* through this very elector */
} elector_leader;

/*
 * What happens, in this order for each group: elected, then lost, then (a new) leader; never elected twice without
 * lost between. STOP comes before lost when leadership is to be handed over: stop the work, then call
 * elector_stopped(); until then, or the deadline, nobody else leads. A deadline that passes is LOST_OFFICE too.
 * From a callback everything may be called but what would call callbacks (ELECTOR_BUSY): dispatch, wait, leader_of, and
 * campaign other than with timeout 0; elector_close() does nothing there.
 */
typedef enum elector_event_type {
    ELECTOR_ELECTED = 1,
    ELECTOR_STOP,
    ELECTOR_LOST_OFFICE,
    ELECTOR_NEW_LEADER,
} elector_event_type;

typedef struct elector_event {
    elector_event_type type;
    const char *group;     /* borrowed until the callback returns */
    elector_term term;     /* ELECTED, STOP, LOST_OFFICE */
    elector_leader leader; /* NEW_LEADER */
    const char *reason;    /* STOP, LOST_OFFICE: in plain words; borrowed */
} elector_event;

typedef void elector_callback(void *whose, const elector_event *event);

/*
 * `url`: unix:PATH, the agent's socket; file:PATH, a lock on this host alone, no agent needed. NULL: what
 * $ELECTOR_URL says, else the agent's usual socket. *out is set even on failure, unless memory ran out, so that
 * elector_message() can be asked; close it in any case.
 */
ELECTOR_API elector_status elector_open(const char *url, elector **out);
ELECTOR_API void elector_close(elector *); /* resigns from everything; NULL is fine */

/* Why the last call failed, in one line. Never NULL. */
ELECTOR_API const char *elector_message(const elector *);

#define ELECTOR_NEVER UINT64_MAX

typedef struct elector_options {
    size_t size;       /* sizeof(elector_options): set by elector_options_init */
    uint64_t priority; /* of equal members the higher is preferred; default 0 */
    const char *value; /* proclaimed when elected; may be NULL */
    uint64_t
        preempt_after_ms; /* where the group's configuration has preempt = on: how long it stands before a leader of
                                  lower priority makes way for it; default 0; ELECTOR_NEVER */
} elector_options;
ELECTOR_API void elector_options_init(elector_options *);

/* Campaigns, and waits until elected; timeout in ms, -1 for ever, 0 to begin only (ELECTOR_TIMEOUT, then dispatch). */
ELECTOR_API elector_status elector_campaign(elector *, const char *group, const elector_options *,
                                            int timeout_ms, elector_term *term);
ELECTOR_API elector_status elector_resign(elector *, const char *group);
ELECTOR_API elector_status elector_transfer(elector *, const char *group, const char *member);
/* The same of a group that is led through this elector, and whose work has ended already: no STOP follows, and it leads
 * no more from this call on, unless it is refused. It remains a candidate. */
ELECTOR_API elector_status elector_hand_over(elector *, const char *group, const char *member);
ELECTOR_API elector_status elector_proclaim(elector *, const char *group, const char *value);
/* The answer to STOP: the work is done with. */
ELECTOR_API elector_status elector_stopped(elector *, const char *group);

/* Now, by the clock. False for a group that was never campaigned for. */
ELECTOR_API bool elector_is_leader(const elector *, const char *group);
ELECTOR_API uint64_t elector_token(const elector *, const char *group); /* 0: not leading */
ELECTOR_API uint64_t elector_deadline(const elector *, const char *group);

/* Follows a group (NULL: all groups that the agent knows): NEW_LEADER events come, the present one at once. */
ELECTOR_API elector_status elector_observe(elector *, const char *group);
/* Who leads, as known now; waits for an answer, not for a leader. */
ELECTOR_API elector_status elector_leader_of(elector *, const char *group, int timeout_ms, elector_leader *);

/*
 * For event loops: poll the descriptor for input, wait no longer than until the deadline, then dispatch. After
 * ELECTOR_LOST there is no descriptor (-1) and no candidacy; the next campaign, observe or leader_of connects anew.
 */
ELECTOR_API void elector_on_event(elector *, elector_callback *, void *whose);
ELECTOR_API int elector_fd(const elector *);            /* may change after ELECTOR_LOST */
ELECTOR_API int elector_timeout_ms(const elector *);    /* -1: none */
ELECTOR_API elector_status elector_dispatch(elector *); /* never blocks; calls the callback */
ELECTOR_API elector_status elector_wait(elector *,
                                        int timeout_ms); /* until an event was delivered, or a signal came */

ELECTOR_API const char *elector_version(void);

#ifdef __cplusplus
}
#endif

#endif
