/*
 * Who, among the clients of this agent, stands for each group and who of them leads it. The host says whether this
 * member leads; an leadership says which client that is, and sees to it that the work has stopped before anybody else's may
 * begin. No socket in here: a client is a word of its owner's.
 *
 * For one client and group events come as elected, lease..., (stop,) lost. After stop no lease: the deadline that
 * stop tells is kept, however long the host's claim is renewed.
 */
#ifndef ELECTOR_AGENT_SERVE_LEADERSHIP_H
#define ELECTOR_AGENT_SERVE_LEADERSHIP_H

#include "agent/host/host.h"
#include "agent/serve/deadline_page.h"
#include "base/slab.h"

_Static_assert((int)HOST_CELLS_MAX <= (int)DEADLINE_SHARED_CELLS, "a cell of the host's has one on the page");

enum leadership_event_type { LEADERSHIP_ELECTED, LEADERSHIP_LEASE, LEADERSHIP_STOP, LEADERSHIP_LOST };

struct leadership_event {
    enum leadership_event_type type;
    uint64_t token;
    uint64_t deadline_ns; /* UINT64_MAX: no lease */
    const char *reason;   /* STOP, LOST: one word */
    bool was_late;        /* LEASE: who reads the page may have seen the old deadline pass */
};

/* What is said of a request. All but LEADERSHIP_DONE: nothing was done. */
enum leadership_answer {
    LEADERSHIP_DONE,
    LEADERSHIP_ALREADY,      /* it is a candidate */
    LEADERSHIP_NO_CANDIDATE, /* it is none */
    LEADERSHIP_NOT_LEADING,
    LEADERSHIP_NOT_ASKED,    /* `stopped`, and nobody had said `stop` */
    LEADERSHIP_UNDER_WAY,    /* it is being handed over */
    LEADERSHIP_CANNOT,       /* the group's algorithm has no such thing */
    LEADERSHIP_NOT_ELIGIBLE, /* that member may not lead, or does */
    LEADERSHIP_NOT_STANDING, /* that member has no candidate */
    LEADERSHIP_OUT_OF_TOUCH, /* that member has not been heard of lately */
    LEADERSHIP_LEAVING,
    LEADERSHIP_FAILED, /* the disk */
    LEADERSHIP_NO_MEMORY,
};

enum leadership_way {
    LEADERSHIP_RESIGNS, /* it says so: its work has stopped */
    LEADERSHIP_DIES,    /* its connection ended, so it is gone and its work with it */
    LEADERSHIP_EXPELLED /* we hung up: its work may go on until the deadline it knows */
};

/* What few candidates bring along. */
struct leadership_wishes {
    uint64_t priority;
    uint32_t preempt_after_ms; /* host_be_patient() */
    char value[];              /* "": none */
};

struct leadership_candidate {
    void *client;
    uint32_t next, wishes; /* pieces of leaderships.slab; 0: none */
};

enum leadership_ending { LEADERSHIP_STAYS, LEADERSHIP_TRANSFERS, LEADERSHIP_ENDS };

struct leaderships;

/* Of an leadership that is held from here, or was. */
struct leadership_tenure {
    struct leadership_candidate *holder; /* NULL though held: expelled or too late, its time runs out */
    uint64_t token,
        deadline_ns; /* as the holder was told; where it is in a cell, leaderships.cells knows better */
    uint64_t stop_by;
    const char *reason;               /* why it is about to be lost, if that is our doing */
    uint32_t told_before, told_after; /* numbers of leaderships, and 1 */
    uint32_t cell;                    /* of the host's, or HOST_NO_CELL */
    uint32_t work;                    /* a word for whoever watches over it */
    uint8_t ending; /* enum leadership_ending; not STAYS: stop was said, and by stop_by it is over */
    uint8_t to;
    bool is_held;
    bool is_told;      /* by lines, of each lease: it is on that list */
    bool is_published; /* it is on the page, in the slot that has the leadership's number */
};

/* One for each group, for as long as there is the group. Read it; change it by the calls below. */
struct leadership {
    struct leaderships *all;
    struct host_group *group;
    struct leadership_tenure *tenure; /* the last; never NULL: before the first it is one that nobody holds */
    uint64_t lost_ns;    /* since when a leader is missing; 0: it is not, or nobody waits for one */
    uint64_t seen_token; /* by observers, in this and those that follow; for whoever has some */
    uint32_t seen_value; /* host_view.value_number */
    uint32_t candidates; /* a piece of leaderships.slab: the first is the next */
    uint32_t number;     /* 0, 1, ... in all */
    uint16_t candidate_count;
    uint8_t seen_leader;
};
_Static_assert(sizeof(struct leadership) <= 56 && sizeof(struct leadership_candidate) <= 16 &&
                   sizeof(struct leadership_tenure) <= 64,
               "there may be very many");

enum { LEADERSHIP_BLOCK = 256 }; /* leaderships that memory is asked for at a time */

struct history;

struct leaderships {
    struct host *host;
    const struct config *config;
    struct deadline_page *page; /* borrowed; NULL: there is none */
    struct history *history;    /* what is asked and told goes there, too; NULL: nowhere */
    void *context;
    /* May be called from within any call here or of the host; must not call back. */
    void (*tell)(void *context, void *client, struct leadership *, const struct leadership_event *);
    /* A tenure begins, before its holder hears of it, or is over: then whoever held it may be gone (client is NULL). Where
     * its holder was expelled it goes on until its time is over. NULL: nobody asks. Must not call back either. */
    void (*tenure)(void *context, void *client, struct leadership *);
    /* Whether it reads its deadlines on the page; may be NULL: none does. */
    bool (*reads_page)(void *context, const void *client);
    struct leadership **blocks; /* leadership_at() */
    uint32_t count, room;
    struct slab slab;               /* their candidates and tenures */
    uint32_t told;                  /* those whose holders must be told of each lease: a number, and 1 */
    uint64_t cells[HOST_CELLS_MAX]; /* their deadlines, as published */
    bool is_leaving, has_failed;
    bool has_endings; /* some may be asked to stop */
};

/* Below leaderships.count. */
static inline struct leadership *leadership_at(const struct leaderships *all, uint32_t number)
{
    return &all->blocks[number / LEADERSHIP_BLOCK][number % LEADERSHIP_BLOCK];
}

/* Its leadership, made if there is none yet. NULL: no memory. */
struct leadership *leadership_of(struct leaderships *, struct host_group *);
struct leadership *leadership_known(const struct leaderships *,
                                    const struct host_group *); /* NULL: it has none */
void offices_free(struct leaderships *); /* what it holds, not itself; nothing is resigned from */

/* For host_hooks.changed. */
void leadership_changed(struct leadership *);
/* For host_hooks.renewed. */
void offices_renewed(struct leaderships *, uint32_t cell);
/* Its holder reads the page no more. */
void leadership_tell_leases(struct leadership *);
/* Until when its holder leads, as far as it could know. */
uint64_t leadership_told_until(const struct leadership *);

enum leadership_answer leadership_enter(struct leadership *, void *client, uint64_t priority,
                                        const char *value);
/* Of who has entered. Without memory for it nothing changes. */
void leadership_be_patient(struct leadership *, const void *client, uint32_t ms);
enum leadership_answer leadership_withdraw(struct leadership *, void *client, enum leadership_way);
enum leadership_answer leadership_stopped(struct leadership *, const void *client, uint64_t token);
enum leadership_answer leadership_proclaim(struct leadership *, const void *client, const char *value);
/* Begun, when done: the holder is told to stop, and the rest follows when it has. It remains a candidate. */
enum leadership_answer leadership_transfer(struct leadership *, el_node to);
/* The same by its holder, whose work in that term has ended already: nobody is told to stop. */
enum leadership_answer leadership_hand_over(struct leadership *, const void *client, uint64_t token,
                                            el_node to);
enum leadership_answer leadership_depose(struct leadership *);
bool leadership_is_held_by(const struct leadership *, const void *client);
bool leadership_stands(const struct leadership *, const void *client);

/* Who was told to stop and does not say so is taken at the deadline's word. True: some have still time left. */
bool offices_tick(struct leaderships *);
/* Nobody here is to lead any more. True when nobody does; ask again after each change. */
bool offices_leave(struct leaderships *);
void offices_fail(struct leaderships *);

#endif
