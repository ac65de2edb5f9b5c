/*
 * Who, among the clients of this agent, stands for each group and who of them leads it. The host says whether this
 * member leads; an office says which client that is, and sees to it that the work has stopped before anybody else's may
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

_Static_assert((int)HOST_CELLS_MAX <= (int)PAGE_SHARED_CELLS, "a cell of the host's has one on the page");

enum office_event_type { OFFICE_ELECTED, OFFICE_LEASE, OFFICE_STOP, OFFICE_LOST };

struct office_event {
    enum office_event_type type;
    uint64_t token;
    uint64_t deadline_ns; /* UINT64_MAX: no lease */
    const char *reason;   /* STOP, LOST: one word */
    bool was_late;        /* LEASE: who reads the page may have seen the old deadline pass */
};

/* What is said of a request. All but OFFICE_DONE: nothing was done. */
enum office_answer {
    OFFICE_DONE,
    OFFICE_ALREADY,      /* it is a candidate */
    OFFICE_NO_CANDIDATE, /* it is none */
    OFFICE_NOT_LEADING,
    OFFICE_NOT_ASKED,    /* `stopped`, and nobody had said `stop` */
    OFFICE_UNDER_WAY,    /* it is being handed over */
    OFFICE_CANNOT,       /* the group's algorithm has no such thing */
    OFFICE_NOT_ELIGIBLE, /* that member may not lead, or does */
    OFFICE_NOT_STANDING, /* that member has no candidate */
    OFFICE_OUT_OF_TOUCH, /* that member has not been heard of lately */
    OFFICE_LEAVING,
    OFFICE_FAILED, /* the disk */
    OFFICE_NO_MEMORY,
};

enum office_way {
    OFFICE_RESIGNS, /* it says so: its work has stopped */
    OFFICE_DIES,    /* its connection ended, so it is gone and its work with it */
    OFFICE_EXPELLED /* we hung up: its work may go on until the deadline it knows */
};

/* What few candidates bring along. */
struct office_wishes {
    uint64_t priority;
    uint32_t patience; /* host_be_patient() */
    char value[];      /* "": none */
};

struct office_candidate {
    void *client;
    uint32_t next, wishes; /* pieces of offices.slab; 0: none */
};

enum office_ending { OFFICE_STAYS, OFFICE_TRANSFERS, OFFICE_ENDS };

struct offices;

/* Of an office that is held from here, or was. */
struct office_tenure {
    struct office_candidate *holder; /* NULL though held: expelled or too late, its time runs out */
    uint64_t token, deadline_ns; /* as the holder was told; where it is in a cell, offices.cells knows better */
    uint64_t stop_by;
    const char *reason;               /* why it is about to be lost, if that is our doing */
    uint32_t told_before, told_after; /* numbers of offices, and 1 */
    uint32_t cell;                    /* of the host's, or HOST_NO_CELL */
    uint32_t work;                    /* a word for whoever watches over it */
    uint8_t ending; /* enum office_ending; not STAYS: stop was said, and by stop_by it is over */
    uint8_t to;
    bool is_held;
    bool is_told;      /* by lines, of each lease: it is on that list */
    bool is_published; /* it is on the page, in the slot that has the office's number */
};

/* One for each group, for as long as there is the group. Read it; change it by the calls below. */
struct office {
    struct offices *all;
    struct host_group *group;
    struct office_tenure *tenure; /* the last; never NULL: before the first it is one that nobody holds */
    uint64_t lost_ns;             /* since when a leader is missing; 0: it is not, or nobody waits for one */
    uint64_t seen_token;          /* by observers, in this and those that follow; for whoever has some */
    uint32_t seen_value;          /* host_view.value_number */
    uint32_t candidates;          /* a piece of offices.slab: the first is the next */
    uint32_t number;              /* 0, 1, ... in all */
    uint16_t candidate_count;
    uint8_t seen_leader;
};
_Static_assert(sizeof(struct office) <= 56 && sizeof(struct office_candidate) <= 16 &&
                   sizeof(struct office_tenure) <= 64,
               "there may be very many");

enum { OFFICE_BLOCK = 256 }; /* offices that memory is asked for at a time */

struct chronicle;

struct offices {
    struct host *host;
    const struct config *config;
    struct page *page;           /* borrowed; NULL: there is none */
    struct chronicle *chronicle; /* what is asked and told goes there, too; NULL: nowhere */
    void *whose;
    /* May be called from within any call here or of the host; must not call back. */
    void (*tell)(void *whose, void *client, struct office *, const struct office_event *);
    /* A tenure begins, before its holder hears of it, or is over: then whoever held it may be gone (client is NULL). Where
     * its holder was expelled it goes on until its time is over. NULL: nobody asks. Must not call back either. */
    void (*tenure)(void *whose, void *client, struct office *);
    /* Whether it reads its deadlines on the page; may be NULL: none does. */
    bool (*reads_page)(void *whose, const void *client);
    struct office **blocks; /* office_at() */
    uint32_t count, room;
    struct slab slab;               /* their candidates and tenures */
    uint32_t told;                  /* those whose holders must be told of each lease: a number, and 1 */
    uint64_t cells[HOST_CELLS_MAX]; /* their deadlines, as published */
    bool is_leaving, has_failed;
    bool has_endings; /* some may be asked to stop */
};

/* Below offices.count. */
static inline struct office *office_at(const struct offices *all, uint32_t number)
{
    return &all->blocks[number / OFFICE_BLOCK][number % OFFICE_BLOCK];
}

/* Its office, made if there is none yet. NULL: no memory. */
struct office *office_of(struct offices *, struct host_group *);
struct office *office_known(const struct offices *, const struct host_group *); /* NULL: it has none */
void offices_free(struct offices *); /* what it holds, not itself; nothing is resigned from */

/* For host_hooks.changed. */
void office_changed(struct office *);
/* For host_hooks.renewed. */
void offices_renewed(struct offices *, uint32_t cell);
/* Its holder reads the page no more. */
void office_tell_leases(struct office *);
/* Until when its holder leads, as far as it could know. */
uint64_t office_told_until(const struct office *);

enum office_answer office_enter(struct office *, void *client, uint64_t priority, const char *value);
/* Of who has entered. Without memory for it nothing changes. */
void office_be_patient(struct office *, const void *client, uint32_t ms);
enum office_answer office_withdraw(struct office *, void *client, enum office_way);
enum office_answer office_stopped(struct office *, const void *client, uint64_t token);
enum office_answer office_proclaim(struct office *, const void *client, const char *value);
/* Begun, when done: the holder is told to stop, and the rest follows when it has. It remains a candidate. */
enum office_answer office_transfer(struct office *, el_node to);
/* The same by its holder, whose work in that term has ended already: nobody is told to stop. */
enum office_answer office_hand_over(struct office *, const void *client, uint64_t token, el_node to);
enum office_answer office_depose(struct office *);
bool office_is_held_by(const struct office *, const void *client);
bool office_stands(const struct office *, const void *client);

/* Who was told to stop and does not say so is taken at the deadline's word. True: some have still time left. */
bool offices_tick(struct offices *);
/* Nobody here is to lead any more. True when nobody does; ask again after each change. */
bool offices_leave(struct offices *);
void offices_fail(struct offices *);

#endif
