/*
 * An elector: a group_state for each group that it ever campaigned for, and the queue of events for the
 * callback. A group_state is neither freed nor moved before elector_close(), so any thread may walk the list.
 */
#ifndef ELECTOR_CLIENT_GROUP_STATE_H
#define ELECTOR_CLIENT_GROUP_STATE_H

#include <stdatomic.h>

#include "client/deadline_view.h"
#include "client/engine.h"
#include "client/event_queue.h"

/* OWN_EVENTS_MAX: 5 terms of each group, which only an application that does not dispatch leaves waiting.
 * LEADERS_MAX: more groups than an agent can have. */
enum {
    GROUPS_MAX = 256,
    BUCKET_BITS = 8,
    OWN_EVENTS_MAX = 16 * GROUPS_MAX,
    LEADERS_MAX = 1 << 18,
    URL_MAX = 4095
};

struct group_state {
    struct group_state *next, *next_in_bucket;
    size_t length; /* of the group's name */
    char group[ELECTOR_GROUP_MAX + 1];
    /*
     * Read by all threads, under the rules of a slot of the deadline page (base/deadline_layout.h): the token
     * is stored after the fields that it makes valid, and cleared before they change. A reader checks that the
     * token is the same before and after. 0: not leading.
     */
    _Atomic uint64_t token;
    _Atomic uint64_t deadline_ns; /* as reported; unused if there is a slot */
    _Atomic uint32_t slot;        /* of the deadline page, or ENGINE_NO_SLOT */
    /* Used by the owner's thread only. */
    elector_term term; /* the last one */
    bool standing;     /* a candidate or the leader */
    bool leading;      /* ELECTED was reported, LOST_OFFICE was not */
    bool stopping;     /* STOP was reported */
    bool over;         /* the application has said that its work in this term has ended */
    bool lapsed;       /* lost by our clock alone: the agent may still renew this term */
    bool leader_waits; /* `leader` contradicts our term; report it after LOST_OFFICE */
    elector_leader leader;
    struct queued
        *loss; /* LOST_OFFICE of the term that leads: made with ELECTED, so that it always finds room */
    uint64_t last_event; /* the number of the last event of our own; a leader is reported after it */
};

struct elector {
    _Atomic(struct group_state *) group_states;              /* all */
    _Atomic(struct group_state *) buckets[1 << BUCKET_BITS]; /* the same, hashed by name */
    size_t group_state_count;
    struct deadline_view page;
    const struct engine_kind *kind; /* NULL: the URL was invalid */
    struct engine *engine;          /* NULL: not open */
    char rest[URL_MAX + 1];         /* of the URL */
    uint64_t watchdog_ns, alive_ns; /* elector_alive(): how often at least, 0: never; when it was sent last */
    bool gone;                      /* engine_gone() was called since it was opened */
    bool delivering;
    elector_callback *callback;
    void *context;
    struct event_queue events;
    char message[512];
};

struct group_state *group_state_find(const elector *, const char *group);
/* Finds or creates. NULL: more than GROUPS_MAX, or out of memory; message and *status are set. */
struct group_state *group_state_make(elector *, const char *group, elector_status *status);
/* From any thread: the deadline and token of the present term; 0: not leading. */
uint64_t group_state_deadline(const elector *, const struct group_state *, uint64_t *token);
/* Updates term.deadline_ns. */
void group_state_refresh(const elector *, struct group_state *);
/* From now on elector_is_leader() is false. Call it before anyone is told that the work has ended. */
void group_state_end_work(struct group_state *);
/* Undoes group_state_end_work(), unless this term has been lost meanwhile. */
void group_state_resume_work(struct group_state *, uint64_t token);
/* Loses the terms whose deadline has passed, also if the engine has not reported it. */
void group_state_expire(elector *);
uint64_t group_state_next_deadline(const elector *);
/* Hands the events queued so far to the callback, and returns their number. */
size_t group_state_deliver(elector *);

#endif
