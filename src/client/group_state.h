/*
 * An elector: a group_state for each group that it ever named, and the queue of events for the callback. A group_state
 * is neither freed nor moved before elector_close(), so any thread may look one up.
 */
#ifndef ELECTOR_CLIENT_GROUP_STATE_H
#define ELECTOR_CLIENT_GROUP_STATE_H

#include <stdatomic.h>

#include "client/deadline_view.h"
#include "client/engine.h"
#include "client/event_queue.h"

/* GROUPS_MAX: as many as an agent has slots on its deadline page. If an application does
 * not dispatch, at most OWN_EVENTS_MAX + OWN_EVENTS_EACH × groups events wait.
 * LEADERS_MAX: more groups than an agent can have. */
enum {
    GROUPS_MAX = 1 << 20,
    OWN_EVENTS_MAX = 4096,
    OWN_EVENTS_EACH = 16,
    LEADERS_MAX = 1 << 21,
    URL_MAX = 4095
};

/* The options of a candidate, to stand again with them. */
struct candidacy {
    uint64_t priority;
    uint32_t preempt_after_ms; /* UINT32_MAX: never */
    uint32_t stop_within_ms, watchdog_ms;
    char value[];
};

struct group_state {
    /*
     * Read by all threads, under the rules of a slot of the deadline page (base/deadline_layout.h): the token
     * is stored after the fields that it makes valid, and cleared before they change. A reader checks that the
     * token is the same before and after. 0: not leading.
     */
    _Atomic uint64_t token;
    _Atomic uint64_t deadline_ns; /* as reported; unused if there is a slot */
    _Atomic uint32_t slot;        /* of the deadline page, or ENGINE_NO_SLOT */
    /* Used by the owner's thread only. */
    uint32_t heap_place; /* deadlines.c; 0: not there */
    struct group_state *next;
    uint64_t term_token, term_deadline_ns; /* of the last term */
    void *data;
    struct candidacy *candidacy; /* NULL: not a candidate */
    struct leader_copy *leader;  /* contradicts our term, and is reported after LOST_OFFICE; NULL: none */
    struct queued
        *loss; /* LOST_OFFICE of the term that leads: made with ELECTED, so that it always finds room */
    uint64_t last_event; /* the number of the last event of our own; a leader is reported after it */
    uint16_t campaigns;  /* requests without an answer */
    uint16_t resigns;    /* the same. While there are some, the agent's events are of an earlier candidacy */
    uint8_t length;      /* of the name */
    bool leading : 1;    /* ELECTED was reported, LOST_OFFICE was not */
    bool stopping : 1;   /* STOP was reported */
    bool over : 1;       /* the application has said that its work in this term has ended */
    bool lapsed : 1;     /* lost by our clock alone: the agent may still renew this term */
    bool observed : 1;   /* by name */
    bool ignored : 1;    /* elector_unobserve() was called for it */
    bool owes_campaign : 1, owes_observe : 1; /* these calls complete after the next reconnection */
    char name[];
};

struct elector {
    struct group_table *_Atomic table; /* group_table.c */
    struct group_state *group_states;  /* all, the newest first */
    size_t group_state_count;
    struct group_state **heap;               /* deadlines.c */
    size_t heap_count, heap_room, heap_next; /* heap_next: the place that is looked at next */
    struct deadline_view page;
    int poll_fd,
        wake_fd;   /* the descriptor of the elector, and the eventfd of elector_wakeup() in it; -1: none */
    int engine_fd; /* the engine's descriptor in poll_fd; -1: none */
    bool polls_output;
    const struct engine_kind *kind; /* NULL: the URL was invalid */
    struct engine *engine;          /* NULL: not open */
    char rest[URL_MAX + 1];         /* of the URL */
    char member[ELECTOR_NAME_MAX + 1], cluster[ELECTOR_NAME_MAX + 1];
    char lacks[160];  /* what the engine has not, each with a space before and behind: engine_lacks() */
    bool is_realtime; /* engine_is_realtime() */
    bool has_store;   /* engine_has_store() */
    uint64_t watchdog_ns, alive_ns; /* elector_alive(): how often at least, 0: never; when it was sent last */
    bool connected;                 /* engine_connected() was called since the engine was opened */
    bool gone;                      /* engine_gone() was called since it was opened */
    elector_status gone_status;     /* ELECTOR_LOST, or ELECTOR_UNAVAILABLE if it never connected */
    uint64_t longest_delay_ns;      /* elector_set_reconnect(); 0: off */
    uint64_t delay_ns, retry_ns;    /* the last delay, and when to try again; ENGINE_NEVER: not */
    bool observes_all, ignores_all, owes_observe_all;
    bool delivering;
    bool closing;                   /* a callback has called elector_close() */
    struct queued *parting;         /* DISCONNECTED: made with the engine, so that it always finds room */
    struct group_state *campaigner; /* elector_campaign() waits for this one */
    elector_status declined;        /* why its campaign was declined; ELECTOR_OK: it was not */
    struct leader_copy *answer;     /* of elector_leader_of() */
    elector_callback *callback;
    void *context;
    struct event_queue events;
    char message[512];
};

/* group_table.c */
struct group_state *group_state_find(const elector *, const char *group);
/* Finds or creates. NULL: more than GROUPS_MAX, or out of memory; message and *status are set. */
struct group_state *group_state_make(elector *, const char *group, elector_status *status);
void group_states_free(elector *);

/* deadlines.c: the terms that lead, by the last deadline that we know. The page may have a later one, never an
 * earlier. */
bool deadlines_reserve(elector *, size_t count);     /* false: out of memory */
void deadlines_put(elector *, struct group_state *); /* adds it, or moves it to term_deadline_ns */
void deadlines_remove(elector *, struct group_state *);

/* group_state.c */
/* From any thread: the deadline and token of the present term; 0: not leading. */
uint64_t group_state_deadline(const elector *, const struct group_state *, uint64_t *token);
/* Its deadline has passed, and the agent has not said that the term is over. */
bool group_state_ran_out(const elector *, const struct group_state *);
/* From now on elector_is_leader() is false. Call it before anyone is told that the work has ended. */
void group_state_end_work(struct group_state *);
/* Undoes group_state_end_work(), unless this term has been lost meanwhile. */
void group_state_resume_work(struct group_state *, uint64_t token);
/* Loses the terms whose deadline has passed, also if the engine has not reported it. */
void group_state_expire(elector *);
uint64_t group_state_next_deadline(const elector *);
/* Ends a candidacy. */
void group_state_withdraw(struct group_state *);

/* delivery.c: hands the events queued so far to the callback, and returns their number. After elector_close() in a
 * callback it stops. */
size_t elector_deliver(elector *);

/* connection.c */
elector_status elector_connect(elector *); /* opens the engine, if it is not open */
void elector_disconnect(elector *);
/* Every call into the engine ends with this. */
elector_status elector_settle(elector *, elector_status);
/* With elector_set_reconnect(): connects if it is time, and stands again. */
void elector_retry(elector *);
bool elector_reconnects(const elector *); /* there is no connection, but there will be */
void elector_destroy(elector *);

/* arguments.c: each sets the message if the argument is wrong. */
elector_status elector_check_group(elector *, const char *group);
elector_status elector_check_member(elector *, const char *member);
elector_status elector_check_value(elector *, const char *value);
/* Copies the options that the caller has; `given` may be NULL for the defaults. `value` is never NULL afterwards. */
elector_status elector_read_options(elector *, const elector_options *given, elector_options *all);

/* api.c */
/* We are a candidate, or will be after the reconnection. */
elector_status elector_begin_campaign(elector *, const char *group, const elector_options *);
/* With ELECTOR_CALL_NONE the ticket is awaited, and *ticket is set. */
elector_status elector_begin_look(elector *, elector_call, const char *group, struct queued **ticket);

/* wait.c */
/* Waits until the ticket is complete, then returns its status; the caller frees it. ELECTOR_TIMEOUT or
 * ELECTOR_INTERRUPTED: the ticket is gone, and *ticket is NULL. */
elector_status elector_await(elector *, struct queued **ticket, uint64_t until_ns);
elector_status elector_hear(elector *); /* reads what has arrived, and delivers nothing */
/* Waits for input, the next deadline or until_ns. False: a signal came, or elector_wakeup(). */
bool elector_sleep(elector *, uint64_t until_ns);
bool elector_was_woken(const elector *); /* and forgets it */

#endif
