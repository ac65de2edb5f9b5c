/*
 * What an elector is made of: an office for each group that was ever campaigned for, and the events that wait for the
 * callback. Offices are never freed or moved before elector_close(), so that any thread may walk the list.
 */
#ifndef ELECTOR_CLIENT_GROUP_STATE_H
#define ELECTOR_CLIENT_GROUP_STATE_H

#include <stdatomic.h>

#include "client/deadline_view.h"
#include "client/engine.h"

enum { OFFICES_MAX = 256, BUCKETS = 256, EVENTS_MAX = 3 * OFFICES_MAX, REASON_MAX = 127, URL_MAX = 4095 };

struct group_state {
    struct group_state *next, *next_in_bucket;
    size_t length; /* of the group's name */
    char group[ELECTOR_GROUP_MAX + 1];
    /*
     * For all threads, in the manner of a slot of the page, and for the same reasons: the token is written after what it
     * makes valid and taken away first; who reads has the same token before and after. 0: nobody here may work.
     */
    _Atomic uint64_t token;
    _Atomic uint64_t deadline_ns; /* as told; where there is no slot */
    _Atomic uint32_t slot;        /* of the page, or ENGINE_NO_SLOT */
    /* For the owner's thread. */
    elector_term term; /* the last one */
    bool standing;     /* is a candidate, or leads */
    bool leading;      /* ELECTED was reported, LOST_OFFICE was not */
    bool stopping;     /* STOP was reported */
    bool over;         /* we have said ourselves that the work of this term has ended */
    bool lapsed;       /* lost by our clock alone: who else speaks of this term may move it on yet */
    bool leader_waits; /* what contradicts our office is told once it is lost */
    elector_leader leader;
};

struct queued {
    elector_event_type type;
    char group[ELECTOR_GROUP_MAX + 1];
    elector_term term;
    elector_leader leader;
    char reason[REASON_MAX + 1];
};

struct elector {
    _Atomic(struct group_state *) group_states;     /* all */
    _Atomic(struct group_state *) buckets[BUCKETS]; /* the same, to be found by name */
    size_t group_state_count;
    struct deadline_view page;
    const struct engine_kind *kind; /* NULL: the URL made no sense */
    struct engine *engine;          /* NULL: not open */
    char rest[URL_MAX + 1];         /* of the URL */
    bool gone;                      /* engine_gone() was called since it was opened */
    bool delivering;
    elector_callback *callback;
    void *context;
    struct queued *queue; /* EVENTS_MAX of them; the last OFFICES_MAX are kept for LOST_OFFICE */
    size_t first, count;
    char message[512];
};

struct group_state *group_state_find(const elector *, const char *group);
/* NULL: too many, or no memory, with the message and *status set. */
struct group_state *group_state_make(elector *, const char *group, elector_status *status);
/* Until when it leads, and with which token, as this thread sees it now; 0: it does not. */
uint64_t group_state_deadline(const elector *, const struct group_state *, uint64_t *token);
/* The term's deadline as it is now. */
void group_state_refresh(const elector *, struct group_state *);
/* From now on nobody here may work for it: before anybody else is told. */
void group_state_end_work(struct group_state *);
void group_state_resume_work(struct group_state *,
                             uint64_t token); /* which has not ended after all, unless it is lost by now */
/* Offices whose deadline has passed are lost, whoever is silent. */
void group_state_expire(elector *);
uint64_t group_state_next_deadline(const elector *);
/* Hands what is queued now to the callback. How many. */
size_t group_state_deliver(elector *);

#endif
