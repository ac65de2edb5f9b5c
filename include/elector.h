/*
 * libelector: many processes campaign for a group, one of them leads, and all of them know which one.
 *
 *     elector *e;
 *     uint64_t token;
 *     if (elector_open(NULL, &e) != ELECTOR_OK ||
 *         elector_campaign(e, "billing", NULL, -1, &token) != ELECTOR_OK)
 *         errx(1, "%s", elector_message(e));
 *     while (elector_dispatch(e) == ELECTOR_OK && elector_is_leader(e, "billing")) do_a_little(token);
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
 * Blocking: only elector_wait(), elector_leader_of(), and elector_campaign() with a timeout other than 0 wait.
 * Every other call returns at once. What it asked of the agent completes with the event ELECTOR_DONE.
 *
 * Threads: one thread at a time may use an elector. As an exception, any thread and any signal handler may call
 * elector_is_leader(), elector_token(), elector_deadline() and elector_wakeup() while another thread is inside
 * any call except elector_close(). The library starts no threads. After fork() only the parent may use the
 * elector.
 *
 * Compatibility: a program runs with every later library of the same soname. The library allocates the structs
 * elector_leader, elector_candidate and elector_event, so read them through the pointers that you get, and never
 * copy or allocate one. They may grow at the end: `size` says how much of the struct the library has filled in.
 * Enumerations grow too, so treat a value that you do not know as "other".
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
    ELECTOR_NOT_LEADING = 2, /* only a leader, or a candidate, can do this */
    ELECTOR_REFUSED = 3,     /* not permitted, or declined: elector_message() says why */
    ELECTOR_INVALID = 4,     /* an argument is wrong: a bad URL, group or value */
    ELECTOR_UNAVAILABLE = 5, /* no answer: is the agent running? */
    ELECTOR_LOST = 6,        /* the connection broke; all leadership held through it has ended */
    ELECTOR_NO_MEMORY = 7,
    ELECTOR_BUSY = 8,        /* a callback must not call this function */
    ELECTOR_INTERRUPTED = 9, /* a signal came, or elector_wakeup() was called; nothing has changed */
    ELECTOR_CLOSED = 10      /* a callback has called elector_close(): the elector no longer exists */
} elector_status;

/* "ok", "timeout", "not-leading" and so on; "unknown" for any other number. Constant. */
ELECTOR_API const char *elector_status_name(elector_status);

/* Lengths in bytes, without the terminating zero. This is the room of the interface, and what the URL names may accept
 * less, and then says so: agents and stores of this version accept names of groups and members up to 63 bytes, locks
 * names of groups up to 250. */
enum { ELECTOR_GROUP_MAX = 253, ELECTOR_VALUE_MAX = 255, ELECTOR_NAME_MAX = 253 };

/* ---- What the library tells ---- */

/* Whether the library has filled in this field of an event, a leader or a candidate. Needed only for fields that
 * were added after 1.0, in a program that may run with an older library. */
#define ELECTOR_HAS(pointer, field) \
    ((size_t)((const char *)(&(pointer)->field + 1) - (const char *)(pointer)) <= (pointer)->size)

/* The leader of a group, as known on this host. */
typedef struct elector_leader {
    size_t size;
    const char *name; /* of the member that leads; "": no leader is known */
    uint64_t token;
    const char *value; /* set with elector_proclaim() or elector_options; "": none */
    bool is_me;        /* this elector leads, not another client of the same agent */
} elector_leader;

/* A member that has candidates for a group and was heard within two seconds. */
typedef struct elector_candidate {
    size_t size;
    const char *member;
    uint64_t priority; /* the highest of its candidates'; 0 also if it is not known */
} elector_candidate;

/*
 * For each group these events come in this order: ELECTED, sometimes STOP, LOST_OFFICE, NEW_LEADER. ELECTED never
 * comes twice without LOST_OFFICE in between. Callbacks run in the thread that calls elector_dispatch(),
 * elector_wait() or a waiting elector_campaign(), and nowhere else.
 *
 * A callback may call every function except those that would call callbacks; these return ELECTOR_BUSY:
 * elector_dispatch(), elector_wait(), elector_leader_of(), and elector_campaign() with a timeout other than 0.
 */
typedef enum elector_event_type {
    ELECTOR_ELECTED = 1, /* we lead, with this token */
    ELECTOR_STOP = 2,    /* hand over: end the work, then call elector_stopped(). Nobody else leads before that
                                call or the deadline, whichever comes first; see stop_within_ms */
    ELECTOR_LOST_OFFICE =
        3, /* we no longer lead: another does, the connection broke, or the deadline has passed */
    ELECTOR_NEW_LEADER = 4,  /* an observed group has a new leader, or none */
    ELECTOR_DONE = 5,        /* a call has completed: `call`, and `status` with ELECTOR_OK or why not */
    ELECTOR_CONNECTED = 6,   /* the agent has answered: elector_open() or a reconnection has completed */
    ELECTOR_DISCONNECTED = 7 /* the connection broke, or could not be made; LOST_OFFICE came before */
} elector_event_type;

/* Why we must stop, or no longer lead; why we are disconnected. */
typedef enum elector_reason {
    ELECTOR_REASON_NONE = 0,            /* of an event without a reason */
    ELECTOR_REASON_OTHER = 1,           /* none of the following: `text` says it */
    ELECTOR_REASON_RESIGNED = 2,        /* we resigned */
    ELECTOR_REASON_TRANSFERRED = 3,     /* handed over to another member */
    ELECTOR_REASON_NOT_TRANSFERRED = 4, /* we had stopped for a hand-over, then the other member was gone */
    ELECTOR_REASON_FORCED = 5,          /* somebody with the right to do so made us resign */
    ELECTOR_REASON_NO_QUORUM = 6,       /* the agent lost its majority */
    ELECTOR_REASON_DISK = 7,            /* the agent cannot write its state file */
    ELECTOR_REASON_LEAVING = 8,         /* the agent is about to stop */
    ELECTOR_REASON_PREEMPTED = 9,       /* a better candidate leads */
    ELECTOR_REASON_WATCHDOG = 10,       /* elector_alive() was not called in time */
    ELECTOR_REASON_DEADLINE = 11,       /* the deadline passed before anything else was heard */
    ELECTOR_REASON_DISCONNECTED = 12,   /* the connection to the agent broke */
    ELECTOR_REASON_SUPERSEDED = 13,     /* another leader, or a later term of ours, was heard of first */
    ELECTOR_REASON_LOCK_REMOVED = 14,   /* file: somebody removed the lock file */
    ELECTOR_REASON_REMOVED = 15 /* a store: our key, node or Lease is gone, or another's; `text` says more */
} elector_reason;

/* "none", "other", "resigned", "no-quorum" and so on; "other" for any other number. Constant. */
ELECTOR_API const char *elector_reason_name(elector_reason);

/* The calls that complete with ELECTOR_DONE. Each that returned ELECTOR_OK (elector_campaign(): also
 * ELECTOR_TIMEOUT or ELECTOR_INTERRUPTED) completes exactly once, in the order of the calls for a group. */
typedef enum elector_call {
    ELECTOR_CALL_NONE = 0, /* of another event */
    ELECTOR_CALL_CAMPAIGN = 1,
    ELECTOR_CALL_CHANGE = 2,
    ELECTOR_CALL_RESIGN = 3,
    ELECTOR_CALL_TRANSFER = 4,
    ELECTOR_CALL_HAND_OVER = 5,
    ELECTOR_CALL_PROCLAIM = 6,
    ELECTOR_CALL_OBSERVE = 7,
    ELECTOR_CALL_UNOBSERVE = 8,
    ELECTOR_CALL_CANDIDATES = 9
} elector_call;

/* Everything that it points to is borrowed until the callback returns. */
typedef struct elector_event {
    size_t size;
    elector_event_type type;
    elector_reason reason;                      /* STOP, LOST_OFFICE, DISCONNECTED */
    const char *group;                          /* "": CONNECTED, DISCONNECTED, and calls for all groups */
    void *data;                                 /* of the group, see elector_set_data() */
    uint64_t token;                             /* ELECTED, STOP, LOST_OFFICE */
    uint64_t deadline_ns;                       /* the same; as it was when the event happened */
    const elector_leader *leader;               /* NEW_LEADER; otherwise NULL */
    const char *text;                           /* for people: the reason; or why a call failed. Never NULL */
    elector_call call;                          /* DONE */
    elector_status status;                      /* DONE, DISCONNECTED */
    const elector_candidate *const *candidates; /* DONE of elector_candidates(), `candidate_count` of them */
    size_t candidate_count;
} elector_event;

typedef void elector_callback(void *context, const elector_event *event);

/* ---- Opening and closing ---- */

/*
 * Connects. `url` is unix:PATH, an agent's socket; file:PATH, a lock on this host that needs no agent; or a store:
 * etcd://…, etcds://…, zookeeper://…, kubernetes:///NAMESPACE, for which the library starts elector-engine. NULL
 * means $ELECTOR_URL, or unix:/run/elector/agent.sock if that is unset. Does not wait for the agent's answer:
 * CONNECTED or DISCONNECTED follows, and calls may be made before. On failure *out is set too, unless memory ran
 * out, so that elector_message() can say why: close it in any case.
 */
ELECTOR_API elector_status elector_open(const char *url, elector **out);
/*
 * Resigns from all groups, so end the work first. NULL is allowed. In a callback it resigns at once; when the
 * callback returns, the elector is freed, no further events come, and the call that ran the callback returns
 * ELECTOR_CLOSED.
 */
ELECTOR_API void elector_close(elector *);

/*
 * Reconnects by itself. When the connection breaks, or cannot be made, the library tries again in
 * elector_dispatch() and in the calls that wait: after 100 ms, then after twice as long each time, up to
 * `longest_ms`. Then it stands again for every group that we are a candidate of, with the same options, and
 * observes again. Leadership is still lost when the connection breaks. 0: off, the default.
 */
ELECTOR_API void elector_set_reconnect(elector *, uint64_t longest_ms);

/* Why the last call failed, in one line. Never NULL; borrowed until the next call. */
ELECTOR_API const char *elector_message(const elector *);

/* The name of the member that we are a client of, and of its cluster. "" before CONNECTED. For file: the member
 * is this process, as HOST:PID, and the cluster is "". Borrowed until elector_close(); they change only if
 * another agent answers at the same URL. */
ELECTOR_API const char *elector_member(const elector *);
ELECTOR_API const char *elector_cluster(const elector *);

/* ---- Leading ---- */

#define ELECTOR_NEVER UINT64_MAX

/* The default of every option is 0, also of those that later versions add. */
typedef struct elector_options {
    size_t size; /* set by elector_options_init() */
    /* Among members that are equal otherwise the highest is preferred; below 2^53. */
    uint64_t priority;
    /* Proclaimed when elected; at most ELECTOR_VALUE_MAX bytes of UTF-8; copied. NULL: none. */
    const char *value;
    /* If the group is configured with preempt = on: a leader of lower priority hands over after we have
     * campaigned for this long. ELECTOR_NEVER: it does not hand over. */
    uint64_t preempt_after_ms;
    /* How long our work may take to stop. After STOP the deadline moves on for this long, as long as a majority
     * supports us and the agent's configuration (stop-timeout) allows. 0: it does not move on. */
    uint64_t stop_within_ms;
    /* While we lead, elector_alive() must be called at least this often. 0: it need not. It holds for all groups of
     * this elector; of several values the smallest counts. */
    uint64_t watchdog_ms;
} elector_options;
/*
 * Sets the defaults: elector_options_init(&options, sizeof options). A smaller struct, of a program that was
 * compiled with an earlier header, keeps the defaults of the options that it does not have. A larger struct is
 * accepted if the options that this library does not know have their defaults. Otherwise the call that takes it
 * returns ELECTOR_INVALID: to ignore an option could be unsafe.
 */
ELECTOR_API void elector_options_init(elector_options *, size_t size);

/*
 * Campaigns for the group, and waits until elected, at most `timeout_ms` (-1: no limit; 0: do not wait). `options`
 * may be NULL for the defaults, and are ignored if we are a candidate already (elector_change()). `token` may be
 * NULL. After ELECTOR_TIMEOUT and ELECTOR_INTERRUPTED we are still a candidate, and ELECTED may come in a later
 * call. A leader that loses leadership remains a candidate, unless it has resigned or the connection broke. If
 * the agent declines the candidacy, a waiting call returns why; DONE tells it in any case.
 */
ELECTOR_API elector_status elector_campaign(elector *, const char *group, const elector_options *options,
                                            int timeout_ms, uint64_t *token);
/* Replaces the options of our candidacy. A leader keeps leading, and its new value is proclaimed. A watchdog_ms
 * can be added or made smaller, and remains until the connection ends. */
ELECTOR_API elector_status elector_change(elector *, const char *group, const elector_options *options);
/* Ends candidacy and leadership. End the work first: we do not lead from this call on. */
ELECTOR_API elector_status elector_resign(elector *, const char *group);
/* Asks the leader to hand over to `member`: it gets STOP. Any agent with a vote passes it on to the leader's.
 * DONE with ELECTOR_OK means that the hand-over has begun. */
ELECTOR_API elector_status elector_transfer(elector *, const char *group, const char *member);
/* The same for a group that this elector leads and whose work has ended already: no STOP follows, and we do not
 * lead from this call on. If DONE says that it was declined, we lead as before. We remain a candidate. */
ELECTOR_API elector_status elector_hand_over(elector *, const char *group, const char *member);
/* Sets the leader's value, which every observer of the group sees: an address, for example. */
ELECTOR_API elector_status elector_proclaim(elector *, const char *group, const char *value);
/* The answer to STOP: the work has ended, and another may lead. LOST_OFFICE follows. */
ELECTOR_API elector_status elector_stopped(elector *, const char *group);

/*
 * Says that this process does its work. Call it from the loop that does the work, several times within watchdog_ms; it
 * sends at most four messages in that time, and never waits. If the calls cease, the agent renews our deadlines no more
 * and sends STOP with the reason WATCHDOG. Nobody else leads before our deadline. If we are still silent then, the
 * agent ends the connection. Does nothing without watchdog_ms, and for file:.
 */
ELECTOR_API elector_status elector_alive(elector *);

/* Whether this elector leads at this instant. False for a group that it never campaigned for. */
ELECTOR_API bool elector_is_leader(const elector *, const char *group);
/* The token of the present term: higher than the token of every earlier leader of the group, and below 2^53. 0: not
 * leading. */
ELECTOR_API uint64_t elector_token(const elector *, const char *group);
/* The present deadline in ns on CLOCK_BOOTTIME, which may have passed; 0: not leading;
 * UINT64_MAX: no lease (file:), the term ends with the process. */
ELECTOR_API uint64_t elector_deadline(const elector *, const char *group);

/* ---- Following ---- */

/* Requests NEW_LEADER events for a group, the present leader first. NULL: for all groups that the agent
 * knows. */
ELECTOR_API elector_status elector_observe(elector *, const char *group);
/* Ends them: no NEW_LEADER of this group comes after this call. NULL: of any group, also of those that were observed
 * by name. */
ELECTOR_API elector_status elector_unobserve(elector *, const char *group);
/* Asks which members have candidates for a group: DONE brings them. */
ELECTOR_API elector_status elector_candidates(elector *, const char *group);
/* The leader as known now. Waits for the agent's answer, at most `timeout_ms` (-1: no limit), but not for a leader.
 * *leader is borrowed until the next elector_leader_of() or elector_close(); NULL if the call fails. */
ELECTOR_API elector_status elector_leader_of(elector *, const char *group, int timeout_ms,
                                             const elector_leader **leader);

/* ---- Event loops ---- */

/*
 * Poll elector_fd() for input with the timeout elector_timeout_ms(), then call elector_dispatch(). Programs
 * without an event loop call elector_wait() instead.
 *
 * Without elector_set_reconnect(), there is no candidacy after ELECTOR_LOST, and nothing is retried
 * automatically. The next elector_campaign(), elector_observe() or elector_leader_of() connects again.
 */
ELECTOR_API void elector_on_event(elector *, elector_callback *, void *context); /* NULL: events are dropped */
/* Attaches a pointer to a group: it comes with every event of the group. NULL at first. Neither read nor freed. */
ELECTOR_API elector_status elector_set_data(elector *, const char *group, void *data);
ELECTOR_API void *elector_data(const elector *, const char *group);
/* One descriptor from elector_open() to elector_close(), also across reconnections. Only poll it. -1: elector_open()
 * could not make one. */
ELECTOR_API int elector_fd(const elector *);
ELECTOR_API int elector_timeout_ms(const elector *); /* for poll(2); -1: no limit */
/* Reads what has arrived, and calls back; never blocks. ELECTOR_LOST or ELECTOR_UNAVAILABLE: there is no connection
 * (with elector_set_reconnect(), ELECTOR_OK instead). */
ELECTOR_API elector_status elector_dispatch(elector *);
/* The same, but waits until it has delivered an event. ELECTOR_TIMEOUT: the time is up (-1: no limit).
 * ELECTOR_INTERRUPTED: a signal handler ran, or elector_wakeup() was called. */
ELECTOR_API elector_status elector_wait(elector *, int timeout_ms);
/*
 * Ends the call that waits in another thread, or was interrupted by this signal handler: it returns
 * ELECTOR_INTERRUPTED. If none waits, the next one returns so, unless elector_dispatch() comes before it. Several
 * calls may count as one. A signal that comes just before a call begins to wait does not end it; a handler that calls
 * elector_wakeup() does.
 */
ELECTOR_API void elector_wakeup(const elector *);

ELECTOR_API const char *elector_version(void);

#ifdef __cplusplus
}
#endif

#endif
