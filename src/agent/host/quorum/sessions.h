/*
 * Groups of quorum in the agent. A struct session holds this member's sessions with all other members, for one
 * set of times, and all groups with those times. Beats go from member to member: an idle group costs no
 * message, no timer and no CPU time. What a member says about its groups (who stands, who leads, who is the
 * heir) is a posting, which the other members copy.
 *
 * The driver (algorithms/quorum/driver.h) decides what an event does, here as in the simulator and the checker.
 * This room adds only what many groups need. It may know the driver, agent/host/internal.h and base; only
 * agent/host includes this header. Start reading here, then:
 *   step.c        one call of the driver: before it, and carrying out what it asks for
 *   sessions.c    start, messages and timers of the sessions
 *   group.c       messages, timers and requests of one group; turns
 *   deadlines.c   cells: one cached deadline for all groups with the same supporters
 *   postings.c    postings to peers, in order and without gaps
 *   pacing.c      fewer datagrams for beats
 *   compact.c, group_heap.c   the compact form of a group; groups with a timer
 *   forget.c      drops a group that nobody uses
 */
#ifndef ELECTOR_AGENT_HOST_QUORUM_SESSIONS_H
#define ELECTOR_AGENT_HOST_QUORUM_SESSIONS_H

#include "agent/host/internal.h"
#include "algorithms/quorum/driver.h"
#include "base/slab.h"

enum {
    SESSION_GROUPS_MAX = CONFIG_GROUPS_LIMIT,
    SESSION_GROUP_TIMERS = QUORUM_FORMER - QUORUM_ASKED,
    SESSION_CELLS_MAX = 64,
    SESSION_COMPACTED = 32, /* bytes of the compact form inside struct session_group; enough if it is idle */
    SESSION_STANDING_MAX = 1024, /* groups that ask for votes at a time; the others wait for their turn */
    SESSION_HOPELESS_MAX = 256,  /* the same, if our own vote is promised to another member */
    SESSION_CHUNK = 1024,        /* groups that are told of changes before the next datagram is read */
    SESSION_LOT = 32,            /* and before checking again whether the peers keep up */
    SESSION_HELD_LEAST = 1024,   /* messages that wait for the disk, beside one for each group and member */
};
enum { SESSION_NO_CELL = UINT8_MAX };
_Static_assert((int)SESSION_CELLS_MAX < (int)SESSION_NO_CELL, "none has that number");
_Static_assert((int)SESSIONS_MAX *(int)SESSION_CELLS_MAX <= (int)HOST_CELLS_MAX, "each cell has a number");
/* If a peer lags, check again after 1 ms: its echo may have been lost. */
#define SESSION_PACE UINT64_C(1000000)
/* After 200 ms do not wait for members that were given groups: they may never claim them. */
#define SESSION_PATIENCE UINT64_C(200000000)

/* How much a member wants to lead a group, and since when. */
struct session_rank {
    uint64_t priority, since;
    uint32_t preempt_after_ms;
};

/*
 * A group between two calls. There may be a million of them, so the state of its machine is kept in compact form
 * (compact.c). Each call expands it into the struct session_work of the session.
 */
struct session_group {
    struct host_group base;
    uint64_t posted;       /* the version of its last posting; 0: never posted */
    uint32_t number;       /* its index in the session plus 1; other groups refer to it by this; 0: none */
    uint32_t older, newer; /* the postings before and after it, by number */
    uint32_t next_in_turn;
    uint32_t place;           /* its index in the heap plus 1; 0: it has no timer */
    uint8_t cell;             /* its cell, if it leads; else SESSION_NO_CELL */
    uint8_t role;             /* of its machine, also while it is compact */
    uint16_t units_aside : 9; /* units of the slab that its compact form takes; 0: it is in `folded` */
    bool waits_for_turn : 1, is_due : 1; /* waits_for_turn: to campaign; is_due: its STAND timer has fired */
    bool is_unshown : 1;                 /* it leads, but waits for the disk: in session.unshown */
    bool is_free : 1;                    /* we vote, and promise it to nobody: candidates may stand */
    uint8_t folded[SESSION_COMPACTED];   /* the compact form, or the number of its piece of the slab */
    char name[];
};

/* The state of one group, expanded for a call. compact.c treats all but the first field as 64-bit words. */
struct session_work {
    const struct session_group *group;     /* the group that is expanded here; NULL: none */
    uint64_t timers[SESSION_GROUP_TIMERS]; /* when they are due; UINT64_MAX: not armed */
    uint64_t candidates;                   /* members that want to lead, a bit for each */
    struct quorum_group quorum;
    struct quorum_ballot ballots[CONFIG_MEMBERS_MAX];
};

/* A group with timers, and when the first is due. */
struct session_timed {
    uint64_t due;
    struct session_group *group;
};

/* The cached deadline of all groups that we lead by promises of the same voters. */
struct session_cell {
    uint64_t voters; /* a bit for each */
    uint64_t deadline, lease_end;
    uint32_t groups;
    bool is_retired; /* a promise behind it has ended or was replaced: not renewed; its groups move away */
    bool is_over;    /* the deadline has passed, and its groups were shown as not leading */
};

struct session_held {
    el_node to;
    uint64_t group; /* its key; 0: the message concerns no group */
    uint8_t flags;
    struct el_msg msg;
};

/* What had been queued before the last save, and so waits only for an earlier write. Without this, messages
 * would wait for ever while saves follow each other. */
struct session_sooner {
    uint64_t by, version, ceiling;
    uint32_t held, unshown;
};

/* How far we have read a peer's postings, and sent it ours. */
struct postings_peer {
    uint64_t incarnation, read; /* of this incarnation we have read up to this version */
    struct session_group *next; /* the next to send; NULL: all were sent */
    uint64_t sent, sent_at;     /* the last version sent, and when */
    uint64_t again;      /* the version from which we last sent again because of a gap, plus 1; 0: never */
    uint32_t unanswered; /* postings sent but not acknowledged */
    bool owes_answer, has_gap;
    bool
        owes_anew; /* it has not read the last postings of groups that we have dropped: it must drop all and read anew */
};

struct session {
    struct host_runner runner; /* the first member: session_of() */
    struct session *next;
    uint32_t number;
    uint64_t key;                       /* of its entry in the record */
    const struct config_group *section; /* the section that it was made for; NULL: none */
    struct el_cluster cluster;
    struct el_config cfg;
    uint64_t ids[CONFIG_MEMBERS_MAX], priorities[CONFIG_MEMBERS_MAX]; /* of the group that is being called */
    uint8_t roles[CONFIG_MEMBERS_MAX];

    struct quorum_member me;
    struct quorum_peer peers[CONFIG_MEMBERS_MAX];
    struct quorum_backing backing[CONFIG_MEMBERS_MAX];
    uint64_t timers[QUORUM_ASKED][CONFIG_MEMBERS_MAX + 1];
    uint64_t next_due;
    struct el_outbox out;

    uint64_t saved_by; /* number of the write after which its record is on disk */
    uint64_t saved_ceiling;
    struct session_sooner sooner;
    uint64_t safe_version, safe_ceiling; /* postings and terms up to these need not wait for the disk */
    bool is_on_disk;                     /* our incarnation: before that nothing is sent */
    bool tells_candidates;   /* we vote, and there are candidates: postings to who does not vote are TOLD */
    bool has_warned_of_disk; /* since the last write; not packed, because it is for the log only */
    struct session_held *held;
    uint32_t held_count, held_room;
    struct session_group **unshown; /* groups that lead, but whose term is not on disk yet */
    uint32_t unshown_count, unshown_room;

    uint32_t *groups; /* pieces of the slab */
    uint32_t group_count, group_room;
    uint32_t *news; /* [group_room], if tells_candidates: a digest of what they were last told of each group */
    struct slab slab;                 /* groups, and compact forms that do not fit into them */
    struct session_work work, folded; /* folded: a copy as it was expanded, since most calls change nothing */
    struct session_timed *heap;       /* the earliest first */
    uint32_t heap_count, heap_room;

    uint32_t standing; /* groups that ask for votes */
    uint32_t given;    /* groups that we granted to another member, which has not claimed them yet */
    struct session_group *first_in_turn, *last_in_turn;

    uint32_t changes; /* enum quorum_changes that not all groups have been told yet */
    uint32_t cursor, left;
    uint64_t told_at; /* when groups were last told */
    struct quorum_obituary obituaries[CONFIG_MEMBERS_MAX];
    uint32_t obituary_count;

    struct session_cell cells[SESSION_CELLS_MAX];
    uint32_t cell_count;

    uint64_t urgent;  /* peers whose last beat was QUORUM_URGENT, a bit for each */
    uint64_t hurried; /* peers that got no QUORUM_DEFERRABLE beat since their probe was opened */
    struct el_msg answers[CONFIG_MEMBERS_MAX]; /* answers that wait for our next beat to a peer; kind 0: none */

    uint64_t version; /* of our postings */
    struct session_group *oldest, *newest;
    struct postings_peer postings[CONFIG_MEMBERS_MAX];

    uint64_t forgotten; /* the highest term of all groups that were dropped; groups made since begin above it */
};

/* sessions.c */
/* The key of the record that holds the highest values of all sessions, whatever their settings. */
uint64_t session_past_key(const struct config *);
/* The session for a group of this section; starts it if it is new. NULL: no memory, or too many sessions. */
struct session *session_for(struct host *, const struct config_group *section);
/* The same, without starting it. */
struct session *session_add(struct host *, const struct config_group *section, bool *is_new);
void session_free(struct session *);
void session_hear(struct session *, const struct el_msg *); /* a message that concerns no group */
/* Fires what is due, then tells some groups what has changed. Returns when to call it again. */
uint64_t session_tick(struct session *);
/* All peers keep up with what we sent: messages that can wait may be sent. */
bool session_may_pour(const struct session *);
/* Promises have ended and not all groups have been told: pushing votes comes before standing. */
bool session_is_giving(const struct session *);
/* Every second: reserves terms once half a block is used, so that no election waits for the disk. */
void session_look_ahead(struct session *);
void session_release(struct session *);          /* sends what waited for the disk */
bool session_is_waiting(const struct session *); /* its last record is not on disk yet */
/* This incarnation of a member and all its work have ended, as its own guardian says. */
void session_bury(struct session *, el_node who, uint64_t incarnation);

/* step.c: one call of the driver */
struct session_step {
    struct quorum q;
    uint32_t changes;
    struct quorum_claim claim; /* before the call */
    bool stood, gave;
    bool is_deferrable;              /* the message says that its answer may wait */
    struct quorum_obituary obituary; /* in the message */
};
/* `group` may be NULL. */
void session_open(struct session *, struct session_group *, struct session_step *);
/* The same to look at it only: nothing may be called that acts. */
void session_look(struct session *, struct session_group *, struct quorum *);
/* Carries out what the driver asked for, and updates postings, cells and views. */
void session_close(struct session *, struct session_group *, struct session_step *);
/* A message to the sessions (group NULL) or to a group. True: it was admitted. */
bool session_deliver(struct session *, struct session_group *, const struct el_msg *);

/* pacing.c: see there */
/* Whether we lead some group or stand for one. */
bool session_is_urgent(const struct session *);
/* Flags for our beat to this member, besides those of the driver. */
uint8_t session_beat_flags(const struct session *, el_node to);
/* How much longer than one interval we wait for another's beat before we beat of our own accord. */
uint64_t session_lag(const struct session *, uint64_t interval);
/* How much longer than the driver asks for a member counts as recently heard. */
uint64_t session_leniency(const struct session *, uint64_t recent);
/* After an admitted beat. True: send our own beat now. */
bool session_hear_pace(struct session *, const struct el_msg *beat);
/* Keeps an answer for our next beat. False: it may not wait. */
bool session_keep_answer(struct session *, const struct el_msg *);
/* Removes and returns the answer that waits; kind 0: none. */
struct el_msg session_take_answer(struct session *, el_node to);

/* group.c */
struct session_group *session_group_new(struct session *, const char *name, uint64_t key);
void session_group_hear(struct session_group *, const struct el_msg *);
void session_group_fire(struct session_group *, uint64_t due); /* fires its timer that is due then */
void session_take_turns(struct session *); /* lets waiting groups campaign, as far as there is room */
/* Reads a posting of a peer. */
void session_group_read(struct session_group *, el_node peer, const struct payload_entry *);
/* We do not vote: reads what a voter tells us. */
void session_group_read_news(struct session_group *, el_node peer, const struct payload_entry *);
void session_group_forget_peer(struct session_group *, el_node peer);    /* it has restarted */
void session_group_disregard_peer(struct session_group *, el_node peer); /* and claims nothing */
void session_tell_changes(struct session *, uint32_t most);
void session_show_wishes(struct session *);
struct quorum_claim session_claim_of(const struct session_group *);

/* forget.c */
/* Drops the group, and the last group takes its number. False: not now. Nothing may hold a pointer to it. */
bool session_group_forget(struct session_group *);
/* The group that will take its number; NULL: none. */
struct session_group *session_group_heir_of_number(const struct session_group *);

/* deadlines.c */
/* Moves a group to the cell of its present supporters. */
void session_assign_cell(struct session_group *, const struct quorum *);
/* The promise of this voter has ended, or is of another incarnation or epoch. */
void session_retire_cells(struct session *, el_node voter);
/* Promises were renewed or have ended: computes deadlines again and calls hooks.renewed. */
void session_renew_cells(struct session *);
/* Shows the groups of cells whose deadline has passed. Returns the next deadline. */
uint64_t session_end_cells(struct session *, uint64_t now);

/* compact.c */
/* Expands a group. If you change it, call session_compact() before any other group is expanded. */
struct session_work *session_expand(const struct session_group *);
void session_compact(struct session_group *);

/* group_heap.c */
void session_heap_update(struct session_group *, uint64_t due); /* UINT64_MAX: no timer is left */

/* postings.c: see there */
void postings_post(struct session_group *);                 /* something that we say about it has changed */
void postings_take_down(struct session_group *);            /* it is dropped */
bool postings_may_be_dropped(const struct session_group *); /* every peer in touch has read its last posting */
void postings_flush(struct session *);
bool postings_is_behind(const struct session *);      /* postings wait only because a reader lags */
bool postings_has_sent(const struct session_group *); /* its posting, to all linked peers */
/* Sends how far both sides have read, with every beat. `please`: a peer that is behind should answer. */
void postings_state(struct session *, el_node to, bool please);
void postings_hear_state(struct session *, el_node from, const struct payload_entry *);
void postings_hear_posting(struct session *, el_node from, const struct payload_entry *);
void postings_meet(struct session *, el_node peer); /* it has restarted */
/* Our knowledge of the group may have changed: posts it if candidates must hear. */
void postings_tell_news(struct session_group *, const struct quorum *);
/* Every second: tells candidates again of each group that is still free. */
void postings_tell_again(struct session *);

/* The number of a cell among the cells of all sessions. */
static inline uint32_t session_cell_number(const struct session *s, uint32_t cell)
{
    return s->number * SESSION_CELLS_MAX + cell;
}

/* NULL for number 0. */
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

/* [count]; NULL: no member has given a priority. */
static inline struct session_rank *session_ranks(const struct session_group *group)
{
    return group->base.extra ? group->base.extra->ranks : NULL;
}

/* NULL: it is not a group of quorum. */
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
