/*
 * The sessions of this member with all others, for one set of times, and the groups that stand on them. Beats are
 * between members: a group at rest costs no message, no timer and no time, however many there are. What a member has to
 * say of its groups (who stands, who leads, who is the heir) is posted on its postings, which the others copy (postings.c).
 *
 * The driver (algorithms/quorum/driver.h) decides what an event does, here as in the simulator and the checker. This host adds what
 * many groups need, and nothing else: their compact form, the pace of beats, changes told in lots, postings, cells, turns, and what
 * waits for the disk. Shared by the files of agent/host, and nobody else.
 */
#ifndef ELECTOR_AGENT_HOST_QUORUM_SESSION_H
#define ELECTOR_AGENT_HOST_QUORUM_SESSION_H

#include "agent/host/internal.h"
#include "algorithms/quorum/driver.h"
#include "base/slab.h"

enum {
    SESSION_GROUPS_MAX = 131072,
    SESSION_GROUP_TIMERS = QUORUM_TIMERS - QUORUM_ASKED,
    SESSION_CELLS_MAX = 64,
    SESSION_COMPACTED =
        32, /* bytes of a group's machine that are with it: enough for one of few members that rests */
    SESSION_STANDING_MAX = 1024, /* groups that ask for votes at a time: the others wait for their turn */
    SESSION_HOPELESS_MAX = 256,  /* and of those who cannot have their own */
    SESSION_CHUNK = 1024,        /* groups that are told news before the network is listened to again */
    SESSION_LOT = 32,            /* and before it is looked whether the others keep up */
};
enum { SESSION_NO_CELL = UINT8_MAX };
_Static_assert((int)SESSION_CELLS_MAX < (int)SESSION_NO_CELL, "none has that number");
_Static_assert((int)SESSIONS_MAX *(int)SESSION_CELLS_MAX <= (int)HOST_CELLS_MAX, "each cell has a number");
/* When somebody does not, after so many ns it is looked again: its word that it does may be lost. */
#define SESSION_PACE UINT64_C(1000000)
/* After so many ns those who were given groups are not waited for: they may never claim them. */
#define SESSION_PATIENCE UINT64_C(200000000)

/* How much a member wants to lead a group. */
struct session_rank {
    uint64_t priority, since;
    uint32_t preempt_after_ms;
};

/*
 * A group as it is kept, and there are many: what its machine works on is folded (compact.c), and unfolded for each call
 * into the one place that its session has for that.
 */
struct session_group {
    struct host_group base;
    uint64_t posted;       /* the version of our postings that it was posted with; 0: never */
    uint32_t number;       /* its place among the session's, and 1: so others point to it; 0: to nobody */
    uint32_t older, newer; /* on the postings */
    uint32_t next_in_turn;
    uint32_t place;                      /* among those with a timer, and 1; 0: it has none */
    uint8_t cell;                        /* leading: of the session's cells */
    uint8_t role;                        /* of its machine, unfolded or not */
    uint16_t units_aside : 9;            /* that what is folded takes of the slab; 0: it is here */
    bool waits_for_turn : 1, is_due : 1; /* to be called, or its STAND timer has run out */
    bool is_unshown : 1;                 /* it is among those that wait for the disk */
    uint8_t folded[SESSION_COMPACTED];   /* or the number of its piece */
    char name[];
};

/* What a group's machine works on, for one group at a time. All but the first are words to compact.c. */
struct session_work {
    const struct session_group *group;     /* whose it is, as it is folded or about to be; NULL: nobody's */
    uint64_t timers[SESSION_GROUP_TIMERS]; /* when they are due; UINT64_MAX: not armed */
    uint64_t candidates;                   /* who wants to lead, a bit for each member */
    struct quorum_group quorum;
    struct quorum_ballot ballots[CONFIG_MEMBERS_MAX];
};

/* A group with a timer, and when the first of them is due. */
struct session_timed {
    uint64_t due;
    struct session_group *group;
};

/* Groups that are led by the promises of the same voters end at the same time. */
struct session_cell {
    uint64_t voters; /* a bit for each */
    uint64_t deadline, lease_end;
    uint32_t groups;
    bool is_retired; /* a promise behind it is another now: nobody is renewed by it, and all will leave */
    bool is_over;    /* the deadline has passed, and the groups were shown so */
};

struct session_held {
    el_node to;
    uint64_t group; /* its key; 0: of no group */
    uint8_t flags;
    struct el_msg msg;
};

/* What came before the last thing that was saved waits for no more than an earlier write: where one thing after another is
 * saved, all would wait for ever. How much that is, of each. */
struct session_sooner {
    uint64_t by, version, ceiling;
    uint32_t held, unshown;
};

/* What was read of a peer's postings, and sent to it of ours. */
struct postings_peer {
    uint64_t incarnation, read; /* which incarnation's, how far */
    struct session_group *next; /* to be sent; NULL: all is */
    uint64_t sent, sent_at;     /* up to this version, and when */
    uint64_t again;             /* and 1: from where it was last sent again because of a gap; 0: never */
    uint32_t unanswered;        /* how many of those it has not said that it has read */
    bool owes_answer, has_gap;
};

struct session {
    struct host_runner runner; /* the first member: session_of() */
    struct session *next;
    uint32_t number;
    uint64_t key;                       /* of its record */
    const struct config_group *section; /* that it was begun for; NULL: none */
    struct el_cluster cluster;
    struct el_config cfg;
    uint64_t ids[CONFIG_MEMBERS_MAX], priorities[CONFIG_MEMBERS_MAX]; /* as the group that is called has them */
    uint8_t roles[CONFIG_MEMBERS_MAX];

    struct quorum_member me;
    struct quorum_peer peers[CONFIG_MEMBERS_MAX];
    struct quorum_backing backing[CONFIG_MEMBERS_MAX];
    uint64_t timers[QUORUM_ASKED][CONFIG_MEMBERS_MAX + 1];
    uint64_t next_due;
    struct el_outbox out;

    uint64_t saved_by; /* the write after which what it saved is on disk */
    uint64_t saved_ceiling;
    struct session_sooner sooner;
    uint64_t safe_version, safe_ceiling; /* so far of the postings, and of terms, nothing waits for the disk */
    bool is_on_disk;                     /* its life: until then nothing is said */
    struct session_held *held;
    uint32_t held_count, held_room;
    struct session_group **unshown; /* lead, but that is not on disk yet */
    uint32_t unshown_count, unshown_room;

    uint32_t *groups; /* pieces of the slab */
    uint32_t group_count, group_room;
    struct slab slab;                 /* groups, and what is folded of them */
    struct session_work work, folded; /* and as it is folded: most calls change nothing */
    struct session_timed *heap;       /* the earliest first */
    uint32_t heap_count, heap_room;

    uint32_t standing; /* groups that ask for votes */
    uint32_t given;    /* and those that are another's by our vote, who has not claimed them yet */
    struct session_group *first_in_turn, *last_in_turn;

    uint32_t changes; /* of the sessions, that not all groups have been told of: enum quorum_changes */
    uint32_t cursor, left;
    uint64_t told_at; /* when some were told last */
    struct quorum_obituary obituaries[CONFIG_MEMBERS_MAX];
    uint32_t obituary_count;

    struct session_cell cells[SESSION_CELLS_MAX];
    uint32_t cell_count;

    uint64_t urgent;  /* peers whose last beat said that they do, a bit for each */
    uint64_t hurried; /* and who was asked for no answer at leisure since its probe was opened */
    struct el_msg answers[CONFIG_MEMBERS_MAX]; /* that wait for our next beat; of kind 0: none */

    uint64_t version; /* of our postings */
    struct session_group *oldest, *newest;
    struct postings_peer postings[CONFIG_MEMBERS_MAX];
};

/* session.c */
/* Of the record of what sessions of any settings have used. */
uint64_t session_past_key(const struct config *);
/* The sessions that a group of these settings stands on, begun if it is the first; NULL: no memory, or too many. */
struct session *session_for(struct host *, const struct config_group *section);
/* The same, and if it is new it is still to be begun. */
struct session *session_add(struct host *, const struct config_group *section, bool *is_new);
void session_free(struct session *);
void session_hear(struct session *, const struct el_msg *); /* of no group */
/* Whatever is due; then some groups are told the news. Returns when the next is due. */
uint64_t session_tick(struct session *);
/* All others keep up with what they were sent: more of what can wait may follow. */
bool session_may_pour(const struct session *);
/* Promises have ended, and not all groups have been told: who is to have them is given them before anybody asks. */
bool session_is_giving(const struct session *);
/* Now and then: reserves terms while half a block is left, so that no election waits for the disk. */
void session_look_ahead(struct session *);
void session_release(struct session *);          /* what waited for the disk */
bool session_is_waiting(const struct session *); /* something of it is not on disk yet */
/* The life of a member is over, and all its work: exactly that life. Others are told. */
void session_bury(struct session *, el_node who, uint64_t incarnation);

/* step.c: one call of the machines */
struct session_step {
    struct quorum q;
    uint32_t changes;
    struct quorum_claim claim; /* as it was */
    bool stood, gave;
    bool is_deferrable;              /* what is heard: its answer may wait */
    struct quorum_obituary obituary; /* that it tells */
};
/* `group` may be NULL. */
void session_open(struct session *, struct session_group *, struct session_step *);
/* Carries out what the machines asked for, and sees to what follows from it. */
void session_close(struct session *, struct session_group *, struct session_step *);
/* A message, to the sessions or to a group. True: it was admitted. */
bool session_deliver(struct session *, struct session_group *, const struct el_msg *);

/* pacing.c: see there */
/* Of our beat to this one, besides the machine's. */
uint8_t session_beat_flags(const struct session *, el_node to);
/* How much longer than an interval we wait for somebody's beat before we beat by ourselves. */
uint64_t session_lag(const struct session *, uint64_t interval);
/* How much longer than the machine says a member counts as heard lately. */
uint64_t session_leniency(const struct session *, uint64_t recent);
/* A beat that was admitted. True: ours should follow, now. */
bool session_hear_pace(struct session *, const struct el_msg *beat);
/* What may wait for our next beat. False: this may not. */
bool session_keep_answer(struct session *, const struct el_msg *);
/* What has waited goes now; of kind 0: nothing has. */
struct el_msg session_take_answer(struct session *, el_node to);

/* group.c */
struct session_group *session_group_new(struct session *, const char *name, uint64_t key);
void session_group_hear(struct session_group *, const struct el_msg *);
void session_group_fire(struct session_group *, uint64_t due); /* the timer that is due then */
void session_take_turns(struct session *);                     /* of those who could not be called at once */
/* A peer has posted this. */
void session_group_read(struct session_group *, el_node peer, const struct payload_entry *);
void session_group_forget_peer(struct session_group *, el_node peer); /* whose life was another */
void session_tell_changes(struct session *, uint32_t most);
void session_show_wishes(struct session *);
struct quorum_claim session_claim_of(const struct session_group *);

/* deadlines.c */
/* Which cell a group belongs to now. */
void session_assign_cell(struct session_group *, const struct quorum *);
/* What this voter promised has ended, or is another life's or epoch's. */
void session_retire_cells(struct session *, el_node voter);
/* Promises were renewed, or ended: hooks.renewed. */
void session_renew_cells(struct session *);
/* Shows the groups of those whose time is over; returns when the next one's is. */
uint64_t session_end_cells(struct session *, uint64_t now);

/* compact.c */
/* Its words, to be read; or to be written to, and then session_compact() follows, before those of another are asked for. */
struct session_work *session_expand(const struct session_group *);
void session_compact(struct session_group *);

/* timers.c */
void session_timers_mend(struct session_group *, uint64_t due); /* UINT64_MAX: it has no timer any more */

/* postings.c: see there */
void postings_post(struct session_group *); /* something about it has changed */
void postings_flush(struct session *);
bool postings_is_behind(const struct session *);      /* more could be sent if its reader kept up */
bool postings_has_sent(const struct session_group *); /* to all who answer */
/* How far both are; goes with every beat, and asks for an answer from who is behind. */
void postings_state(struct session *, el_node to, bool please);
void postings_hear_state(struct session *, el_node from, const struct payload_entry *);
void postings_hear_posting(struct session *, el_node from, const struct payload_entry *);
void postings_meet(struct session *, el_node peer); /* in another life */

/* Among those of all sessions. */
static inline uint32_t session_cell_number(const struct session *s, uint32_t cell)
{
    return s->number * SESSION_CELLS_MAX + cell;
}

/* NULL: nobody has number 0. */
static inline struct session_group *session_group_at(const struct session *s, uint32_t number)
{
    return number ? slab_at(&s->slab, s->groups[number - 1]) : NULL;
}

static inline uint32_t session_number_of(const struct session_group *group)
{
    return group ? group->number : 0;
}

static inline struct session *session_of(const struct session_group *group)
{
    return (struct session *)group->base.runner;
}

static inline bool session_wants(const struct session_group *group, el_node member)
{
    return session_expand(group)->candidates >> (member - 1) & 1;
}

/* [count]; NULL: nobody has said how much it wants to lead. */
static inline struct session_rank *session_ranks(const struct session_group *group)
{
    return group->base.extra ? group->base.extra->ranks : NULL;
}

/* NULL: it is not one of a session's. */
static inline struct session_group *session_group_of(const struct host_group *group)
{
    const bool is_one = group && group->runner->kind == &host_kind_session;
    return is_one ? (struct session_group *)(uintptr_t)group : NULL;
}

static inline uint64_t session_first_due(const uint64_t timers[SESSION_GROUP_TIMERS])
{
    uint64_t due = timers[0];
    for (uint32_t i = 1; i < SESSION_GROUP_TIMERS; i++)
        if (timers[i] < due) due = timers[i];
    return due;
}

#endif
