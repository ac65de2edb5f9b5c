/*
 * A leadership: the candidates for one group among this agent's clients, and the holder, the client that leads.
 * The host says whether this member leads; the leadership chooses the client, and makes sure that its work has
 * stopped before anybody else's may begin. It knows no sockets: a client is an opaque pointer.
 *
 * A client gets these events for a group, in this order: elected, leases, perhaps stop, lost. After stop its
 * deadline moves on for as long as its candidacy has asked for (stop_within_ms), but not for longer than the
 * configuration allows. Then the deadline is frozen: it holds, even if the host's lease is renewed, and the tenure
 * ends there. Without stop_within_ms it is frozen when stop is sent.
 */
#ifndef ELECTOR_AGENT_SERVE_LEADERSHIP_LEADERSHIP_H
#define ELECTOR_AGENT_SERVE_LEADERSHIP_LEADERSHIP_H

#include "agent/host/host.h"
#include "agent/serve/deadline_page.h"
#include "agent/serve/limits/number_set.h"
#include "base/slab.h"

_Static_assert((int)HOST_CELLS_MAX <= (int)DEADLINE_SHARED_CELLS,
               "each cell of the host has a cell on the page");

enum leadership_event_type { LEADERSHIP_ELECTED, LEADERSHIP_LEASE, LEADERSHIP_STOP, LEADERSHIP_LOST };

struct leadership_event {
    enum leadership_event_type type;
    uint64_t token;
    uint64_t deadline_ns; /* UINT64_MAX: no lease */
    const char *reason;   /* STOP, LOST: one word */
    const char
        *cause; /* LOST: what made the client resign, or the store end the claim, if that is known; else NULL */
    bool was_late; /* LEASE: a reader of the page may have seen the old deadline pass */
};

/* The result of a request. With all but LEADERSHIP_DONE nothing has changed. */
enum leadership_answer {
    LEADERSHIP_DONE,
    LEADERSHIP_ALREADY,      /* the client is a candidate already */
    LEADERSHIP_NO_CANDIDATE, /* the client is not a candidate */
    LEADERSHIP_NOT_LEADING,
    LEADERSHIP_NOT_ASKED,    /* `stopped` without a `stop` before */
    LEADERSHIP_UNDER_WAY,    /* a hand-over has begun already */
    LEADERSHIP_CANNOT,       /* the group's algorithm does not support it */
    LEADERSHIP_NOT_ELIGIBLE, /* the other member may not lead, or leads already */
    LEADERSHIP_NOT_STANDING, /* the other member has no candidate */
    LEADERSHIP_OUT_OF_TOUCH, /* the other member has not been heard for 2 s */
    LEADERSHIP_LEAVING,
    LEADERSHIP_FAILED, /* the state file cannot be written */
    LEADERSHIP_NO_MEMORY,
};

/* How a candidate leaves. */
enum leadership_way {
    LEADERSHIP_RESIGNS,  /* it resigns: its work has stopped */
    LEADERSHIP_RUNS_OUT, /* the same, because it saw no renewal in time, and its lease about to end */
    LEADERSHIP_DIES,     /* its connection ended: it is taken for dead, and its work for stopped */
    LEADERSHIP_EXPELLED, /* we closed its connection: it may work until the deadline that it knows */
    LEADERSHIP_HANGS     /* it gave no sign of life until its frozen deadline had passed */
};

/* Options of a candidate; most have none. */
struct leadership_options {
    uint64_t priority;
    uint32_t preempt_after_ms; /* for host_be_patient() */
    uint32_t stop_within_ms;   /* how long its work may take to stop; 0: until the deadline */
    char value[];              /* "": none */
};

struct leadership_candidate {
    void *client;
    uint32_t next, options; /* pieces of leaderships.slab; 0: none */
};

/* What happens to a tenure whose holder was asked to stop; STAYS: it was not. */
enum leadership_ending { LEADERSHIP_STAYS, LEADERSHIP_TRANSFERS, LEADERSHIP_ENDS, LEADERSHIP_ABANDONED };

struct leaderships;

/* The present or last time that a client here led the group. */
struct leadership_tenure {
    struct leadership_candidate *holder; /* NULL though held: expelled, or overdue; closed until stop_by */
    uint64_t token, deadline_ns; /* as told to the holder; with a cell, leaderships.cells has the newest */
    uint64_t stop_by;            /* if ending: when the deadline is frozen, or when it ends at the latest */
    const char *reason;          /* why we end it; NULL: we do not */
    uint32_t told_before, told_after; /* list of those with is_told: numbers of leaderships plus 1 */
    uint32_t cell;                    /* of the host, or HOST_NO_CELL */
    uint32_t work;                    /* the guardian's number for the holder's work */
    uint8_t ending;                   /* enum leadership_ending */
    uint8_t to;                       /* TRANSFERS: the member to hand over to */
    bool is_held;                     /* the member leads, and no other client may begin */
    bool is_told;                     /* the holder gets an event for each lease */
    bool is_published;                /* on the deadline page, in the slot with the leadership's number */
    bool is_frozen;                   /* the holder's deadline no longer moves on */
    bool is_unrenewed;                /* it ends because no majority renewed its lease */
};

/* One for each group, as long as the group exists. Read its fields freely; change them only by the calls
 * below. */
struct leadership {
    struct leaderships *all;
    struct host_group *group;         /* NULL: leadership_is_free() */
    struct leadership_tenure *tenure; /* the last one; before the first a constant, never held. Not NULL */
    uint64_t lost_ns;                 /* since when a leader is missing; 0: there is one, or there never was */
    uint64_t seen_token;              /* this and the other seen_ fields: as last reported to observers */
    uint32_t seen_value;              /* host_view.value_number */
    uint32_t
        candidates; /* a piece of leaderships.slab: the first is elected next; free: the next free one's number, plus 1 */
    uint32_t number; /* 0, 1, ... in leaderships */
    uint16_t candidate_count;
    uint8_t seen_leader;
    bool is_failover; /* when the leader was lost, another candidate waited */
};
_Static_assert(sizeof(struct leadership) <= 56 && sizeof(struct leadership_candidate) <= 16 &&
                   sizeof(struct leadership_tenure) <= 64,
               "there may be very many");

enum { LEADERSHIP_BLOCK = 256 }; /* leaderships allocated at a time */

struct history;
struct history_entry;

struct leaderships {
    struct host *host;
    const struct config *config;
    struct deadline_page *page; /* borrowed; NULL: no deadline page */
    uint64_t dropped_token;     /* the highest that a dropped group had: its slot must not see it again */
    struct history *history;    /* requests and events are added there; may be NULL */
    void *context;
    /* Sends an event to a client. Called from within any call here or of the host; must not call back. */
    void (*tell)(void *context, void *client, struct leadership *, const struct leadership_event *);
    /* A tenure begins, before its holder hears of it, or has ended (client is NULL). The tenure of an expelled
     * holder ends at its deadline. May be NULL; must not call back. */
    void (*tenure)(void *context, void *client, struct leadership *);
    /* Its holder was told that it no longer leads, and why (history.h); may be NULL. For the log. */
    void (*noted)(void *context, const struct leadership *, const struct history_entry *);
    /* Its lease was not renewed in time, and counts as renewed so late: a lease at least, so that every shorter lease would have
     * been lost too. Called for each group. May be NULL. */
    void (*lapsed)(void *context, const struct leadership *, uint64_t late_ns);
    /* For how long this agent stood still, if it went on at `since` or later; may be NULL: never. */
    uint64_t (*stood_still)(void *context, uint64_t since_ns);
    /* Whether the client reads its deadlines on the page; may be NULL: none does. */
    bool (*reads_page)(void *context, const void *client);
    /* Whether a voter has the same settings for the group, if it is heard; may be NULL: all have. */
    bool (*counts)(void *context, const struct host_group *, el_node);
    /* Whether the client gives no sign of life; may be NULL: none hangs. */
    bool (*hangs)(void *context, const void *client);
    struct leadership **blocks; /* leadership_at() */
    uint32_t count, room;       /* of places, used or free */
    uint32_t waiting;           /* groups with a candidate here, and without a leader */
    uint32_t waiting_numbers;   /* theirs, by exclusive or: if there is one, its number */
    uint32_t free,
        first_free;   /* places whose group was dropped: how many, and the number of the first, plus 1 */
    struct slab slab; /* candidates, options and tenures */
    uint32_t told;    /* first of the list of those with is_told: its number plus 1 */
    uint64_t cells[HOST_CELLS_MAX]; /* the deadlines of the host's cells, as published */
    bool is_leaving, has_failed;
    uint32_t left;             /* leaving: those below have been asked to stop */
    bool has_endings;          /* some tenures may be ending: leaderships_tick() looks at them */
    bool misses_endings;       /* memory ran out: look at all */
    struct number_set endings; /* numbers of those that may be ending */
    uint32_t next_ending;      /* where leaderships_tick() goes on */
};

/* `number` is below leaderships.count. */
static inline struct leadership *leadership_at(const struct leaderships *all, uint32_t number)
{
    return &all->blocks[number / LEADERSHIP_BLOCK][number % LEADERSHIP_BLOCK];
}

/* Its group was dropped, and no other has taken its place yet. */
static inline bool leadership_is_free(const struct leadership *o)
{
    return o->group == NULL;
}

/* It has a candidate here, and no leader was seen. */
static inline bool leadership_waits(const struct leadership *o)
{
    return o->candidate_count > 0 && o->seen_leader == EL_NOBODY;
}

/* After a change of what leadership_waits() says; `did`: what it said before. */
static inline void leadership_count_waiting(const struct leadership *o, bool did)
{
    if (leadership_waits(o) == did) return;
    o->all->waiting += did ? UINT32_MAX : 1; /* one less, or one more */
    o->all->waiting_numbers ^= o->number;
}

static inline uint32_t leaderships_used(const struct leaderships *all)
{
    return all->count - all->free;
}

/* The group's leadership, created if necessary. NULL: out of memory. */
struct leadership *leadership_of(struct leaderships *, struct host_group *);
struct leadership *leadership_known(const struct leaderships *,
                                    const struct host_group *); /* NULL: it has none yet */
void leaderships_free(struct leaderships *); /* not the struct itself; resigns from nothing */

/* The host has dropped its group. There is no candidate and no tenure. Its number may go to another group. */
void leadership_vacate(struct leadership *);

/* For host_hooks.changed. */
void leadership_changed(struct leadership *);
/* For host_hooks.renewed. */
void leaderships_renewed(struct leaderships *, uint32_t cell);
/* The holder no longer reads the page: it gets an event for each lease from now on. */
void leadership_tell_leases(struct leadership *);
/* The last deadline that the holder can know, by event or by the page. */
uint64_t leadership_told_until(const struct leadership *);
/* How long ago that was, in the last tenure; UINT64_MAX: it is not over, or the tenure had no worker. The work had stopped by
 * then, so a tenure is never told to have lasted longer, however late this agent notices. */
uint64_t leadership_over_ns(const struct leadership *, uint64_t token);

enum leadership_answer leadership_enter(struct leadership *, void *client, uint64_t priority,
                                        const char *value);
/* For a client that has entered. Does nothing if memory runs out. */
void leadership_set_preempt_after(struct leadership *, const void *client, uint32_t ms);
/* The same. */
void leadership_set_stop_within(struct leadership *, const void *client, uint64_t ms);
/* Replaces priority and value of a candidate. If it leads, it leads on, and its value is proclaimed. */
enum leadership_answer leadership_change(struct leadership *, const void *client, uint64_t priority,
                                         const char *value);
enum leadership_answer leadership_withdraw(struct leadership *, void *client, enum leadership_way);
enum leadership_answer leadership_stopped(struct leadership *, const void *client, uint64_t token);
enum leadership_answer leadership_proclaim(struct leadership *, const void *client, const char *value);
/* Tells the holder to stop; the hand-over follows when it has stopped. The holder remains a candidate. */
enum leadership_answer leadership_transfer(struct leadership *, el_node to);
/* The same, requested by the holder, whose work in that term has ended already: no stop is sent. */
enum leadership_answer leadership_hand_over(struct leadership *, const void *client, uint64_t token,
                                            el_node to);
enum leadership_answer leadership_depose(struct leadership *);
/* The holder, if this client is, gives no sign of life. Its deadline no longer moves on, and it is told to stop. It
 * may work on, so nobody else leads before the deadline. If it still hangs then, it is no longer a candidate. */
void leadership_abandon(struct leadership *, const void *client);
bool leadership_is_held_by(const struct leadership *, const void *client);
size_t leadership_value_size(const struct leadership *,
                             const void *client); /* bytes of its candidacy's value */
bool leadership_stands(const struct leadership *, const void *client);

enum leaderships_wait {
    LEADERSHIPS_NONE_END,
    LEADERSHIPS_SOME_END,    /* some tenures are ending */
    LEADERSHIPS_SOME_ARE_DUE /* there were too many for one turn of the loop: call it again in the next one */
};

/* Ends the tenures whose holder was told to stop and whose stop_by has passed; a portion of them. */
enum leaderships_wait leaderships_tick(struct leaderships *);
/* Tells all holders to stop, a portion of them, and accepts no candidates from now on. NONE_END once nobody leads; ask after
 * each change. */
enum leaderships_wait leaderships_leave(struct leaderships *);
void leaderships_fail(struct leaderships *);

#endif
