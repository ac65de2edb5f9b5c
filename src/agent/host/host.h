/*
 * The host runs the election machines for all groups of one agent. It supplies what machines do not have:
 * timers on CLOCK_BOOTTIME, a durable record, messages to peers, randomness. It adds no rule about who leads. It
 * adds postings, flow control and, for other algorithms, rounds. All calls come from one thread.
 *
 * This room may know the algorithms, agent/config, agent/peer, agent/state and base; snapshot/ also knows the
 * recorder's bytes. It does not know clients, sockets or the guardian: they are behind struct host_hooks. Start
 * reading here, then:
 *   host.c, call.c   groups by name and key, time, the disk; the frame around every call
 *   entries.c        messages to peers and from them
 *   group.c          a group as the rest of the agent sees it
 *   obituary.c       what peers are told when this agent is dead
 *   quorum/          groups of the default algorithm, quorum: start at quorum/sessions.h
 *   single/          a group of any other algorithm: start at single/group.c
 *   snapshot/        the state of a host as bytes, for recordings: start at snapshot/pack.c
 */
#ifndef ELECTOR_AGENT_HOST_HOST_H
#define ELECTOR_AGENT_HOST_HOST_H

#include "agent/config/config.h"
#include "agent/peer/payload.h"
#include "agent/state/record.h"
#include "elector/core.h"

enum { HOST_VALUE_MAX = 255 };

struct host;
struct host_group;

/* The view of a group, at this moment. */
struct host_view {
    enum el_role role;
    el_node leader; /* EL_NOBODY: none is known */
    uint64_t token;
    uint64_t deadline_ns; /* leader: work must stop by then (lease end less margin); UINT64_MAX: no lease */
    uint64_t lease_end_ns;
    const char *value;     /* proclaimed by the leader; "": none */
    uint32_t value_number; /* a changed value has another number; 0 for "" */
};

/* What a machine did, as numbers. host_note_text() makes a sentence of it. */
struct host_note {
    const struct el_algorithm *by; /* the group's algorithm, or its failure detector */
    uint32_t number;
    uint64_t values[2];
};

/*
 * Every call that a host can get. A call happens at one instant, `at`: host_now() stays the same until it
 * returns. So the host's behaviour is a function of its configuration, its record, its calls, and the answers
 * of random and wall_ms. The recorder (agent/recorder/recorder.h) relies on that.
 */
enum host_called {
    HOST_BEGINS,
    HOST_TICKS,
    HOST_RECEIVES, /* numbers: from; bytes: the payload */
    HOST_SAVED,    /* numbers: version, error */
    HOST_FINDS,    /* host_find() makes a new group; bytes: its name */
    HOST_STANDS,   /* numbers: stands, priority */
    HOST_WAITS,    /* host_be_patient(); numbers: ms */
    HOST_WISHES,   /* host_handover_target() */
    HOST_RESIGNS,
    HOST_TRANSFERS, /* numbers: to */
    HOST_PROCLAIMS, /* bytes: the value */
    HOST_CAMPAIGNS,
    HOST_HOLDS,
    HOST_RELEASES,
    HOST_FORGETS /* host_forget() */
};

struct host_call {
    enum host_called what;
    struct host *host; /* in its state before the call */
    uint64_t at;
    uint64_t group; /* its key, if the call concerns one group */
    uint64_t numbers[2];
    const void *bytes; /* borrowed */
    size_t size;
};

struct host_hooks {
    void *context;
    uint64_t (*now)(void *context); /* CLOCK_BOOTTIME, in ns; tests bring their own */
    void (*send)(void *context, el_node to, const uint8_t *payload, size_t size);
    /* Another thread writes and syncs the image, which it owns. Call host_saved() when that is done. */
    void (*save)(void *context, struct record_image *);
    void (*changed)(void *context, struct host_group *); /* its view has changed, or its deadline or value */
    void (*note)(void *context, struct host_group *, const struct host_note *); /* the group may be NULL */
    /* Something that an operator should mend; the group may be NULL. */
    void (*warn)(void *context, struct host_group *, const char *text);
    uint64_t (*random)(void *context);
    uint64_t (*wall_ms)(void *context);
    /* The deadline of all groups of this cell has changed; may be NULL. */
    void (*renewed)(void *context, uint32_t cell);
    /* A promise that was not to wait has come, this long after the message that it answers; may be NULL. */
    void (*answered)(void *context, el_node peer, uint64_t round_trip_ns);
    /* The peer sent a message of quorum that it may not send, or with a term that no clock has reached; may be NULL. */
    void (*refused)(void *context, el_node peer);
    /* An admitted message to a group of quorum, before it is handled; may be NULL. */
    void (*heard)(void *context, struct host_group *, const struct el_msg *);
    /* Before and after every call from outside, also if `changed` or `renewed` makes it; may be NULL. A call
     * that the host makes to itself does not count. */
    void (*called)(void *context, const struct host_call *);
    void (*returned)(void *context);
};

struct host *host_new(const struct config *, struct record *, struct host_hooks);
void host_free(struct host *);

/*
 * The whole state as bytes, between two calls; and back, into a new host. Unpacking checks the bytes, so they
 * may come from anybody. The states of algorithms other than quorum cannot be checked, and are refused unless
 * `trusts`. False: out of memory, or the bytes are wrong; then only free the host.
 */
struct recorder_bytes;
bool host_pack(struct host *, struct recorder_bytes *);
bool host_unpack(struct host *, struct recorder_bytes *, bool trusts);
/* The cost of packing, in groups of quorum: 1000 of them take less than 1 ms. */
uint32_t host_weight(const struct host *);
/* Whether a write is under way; how many host_batch_begin() have no host_batch_end() yet. */
bool host_is_saving(const struct host *);
uint32_t host_holds(const struct host *);

/* Holds back messages, so that datagrams fill up, until host_batch_end() was called as often as host_batch_begin(). */
void host_batch_begin(struct host *);
void host_batch_end(struct host *);

void host_receive(struct host *, el_node from, const uint8_t *payload, size_t size);
/* Does what is due, and returns when it must be called again; UINT64_MAX: never. Call it first after a wait. */
uint64_t host_tick(struct host *);
void host_saved(struct host *, uint64_t version, int error);

/* Finds or makes a group. NULL, and the reason in text: invalid name, too many groups, or a hash collision. */
struct host_group *host_find(struct host *, const char *name, char *text, size_t size);
/* Finds a group and makes none; NULL: there is none. */
struct host_group *host_known(const struct host *, const char *name);
struct host_group *host_by_key(const struct host *, uint64_t key);
uint64_t host_key(const struct host_group *);
struct host_group *host_next(struct host *, struct host_group *after); /* all; NULL begins and ends */
/*
 * Drops a group that nobody uses, and with it all pointers to it: its place can be taken by another. False: not now; it is used
 * after all, a promise of it lives, a peer in touch has not read that we have left it, or its algorithm keeps a record.
 */
bool host_forget(struct host_group *);
const char *host_name(const struct host_group *);
const struct el_algorithm *host_algorithm(const struct host_group *);
struct host_view host_view_of(const struct host_group *);
uint32_t host_leadership(const struct host_group *); /* for agent/serve; 0 at first */
void host_set_leadership(struct host_group *, uint32_t);

/*
 * A cell is the cached deadline of all groups that the same voters support. A renewal changes the cell once for
 * all its groups, and calls `renewed`, not `changed`. When a group moves to another cell, `changed` is called.
 * HOST_NO_CELL: the group has its own deadline, or none.
 */
enum { HOST_CELLS_MAX = 1024 }; /* cells have smaller numbers */
#define HOST_NO_CELL UINT32_MAX
uint32_t host_cell(const struct host_group *);
uint64_t host_cell_deadline(const struct host *, uint32_t cell);
/* Called when the cell is renewed: how much later than one beat after the renewal before, which had set the deadline `before_ns`. */
uint64_t host_cell_late_ns(const struct host *, uint32_t cell, uint64_t before_ns);

/* Says whether a client here wants to lead, and its priority. Peers are told. */
void host_stand(struct host_group *, bool stands, uint64_t priority);
/* How long this member stands before it pre-empts a lower-ranked leader; UINT32_MAX: never. Peers learn it
 * with the next host_stand(), or within 1 s. */
void host_be_patient(struct host_group *, uint32_t ms);
/* The member that the machine wants to hand over to; EL_NOBODY: none. Told once. The caller stops the work,
 * and then calls host_transfer(). */
el_node host_handover_target(struct host_group *);
/* Before either of these the work must have been stopped. */
enum el_answer host_resign(struct host_group *);
enum el_answer host_transfer(struct host_group *, el_node to);
void host_proclaim(struct host_group *, const char *value);
/* Asks for an election now, if we stand. Without it the machine lets others go first after a resignation. */
void host_campaign(struct host_group *);
/* Whether a member wants to lead, as far as we know; *priority (may be NULL) gets its priority. */
bool host_stands(const struct host_group *, el_node member, uint64_t *priority);
/* A write has failed: no group is led here any more. */
bool host_has_failed(const struct host *);
uint64_t host_clock(const struct host *); /* hooks.now(), fixed during a call */
/* hooks.now(), also during a call: for measurements only, never for decisions. */
uint64_t host_stopwatch(const struct host *);
/* Nanoseconds since the last message of a peer; UINT64_MAX: there was none. */
uint64_t host_heard(const struct host *, el_node peer);
/* Whether a peer is there, for people: false as soon as it is suspected or its guardian tells that it is dead. An
 * observer, and a witness for another one, send nothing but greetings: they count for 2 s. */
bool host_hears(const struct host *, el_node peer);
/* Until when, by host_clock(), this voter grants nothing because it has just started; 0: that is over, or it has no vote.
 * `is_lost`: its record was lost, and it grants nothing until enough voters have told it what it may have promised. */
uint64_t host_silent_until(const struct host *, bool *is_lost);
bool host_knows_silence(const struct host_group *); /* by its algorithm: others have no such time */
/* A digest of the list of members, which is in the head of every payload. */
uint64_t host_members(const struct host *);
/* What a message of the peer, within the last 2 s, showed to be other than here. Nothing that it says there counts. */
enum host_difference { HOST_SAME, HOST_OTHER_SETTINGS, HOST_OTHER_MEMBERS };
enum host_difference host_differs(const struct host *, el_node peer);
/* Whether a message of the peer about groups with the settings of this one came within three beats. */
bool host_hears_in(const struct host_group *, el_node peer);
/* For a group that this member leads: the time since a majority last renewed the lease; 0: it has none. Healthy leaders
 * renew every beat. After *late_ns the lease counts as not renewed: three beats, or half a lease if that is less. */
uint64_t host_unrenewed_ns(const struct host_group *, uint64_t *late_ns);
/* Why a claim of this member ended before its deadline, though nobody here ended it: one word; and a sentence for people, or
 * NULL. */
const char *host_early_end(const struct host_group *, const char **sentence);
uint64_t host_lease_less_margin_ns(const struct host_group *); /* from a renewal to the deadline of the work */
uint64_t host_lease_ns(const struct host_group *);             /* 0: it has none */
/* The longest time from a leader's silence to the next election, by this group's settings; 0: no bound. */
uint64_t host_worst_failover_ns(const struct host_group *);
/* A sentence without its subject, with the names of members. `text` always ends with '\0'. */
void host_note_text(const struct config *, const struct host_note *, char *text, size_t size);

/* What peers must be told once this process and all work of its clients have ended. False: nothing, or our
 * incarnation is not on disk yet. */
bool host_obituary(const struct host *, struct payload *);
/* The same for these tenures alone. It need not be taken back later, since a term belongs to one tenure. */
struct host_tenure {
    struct host_group *group;
    uint64_t term;
};
bool host_death_releases(const struct host *, const struct host_tenure *, uint32_t count, struct payload *);
/* The longest lease of all groups: after that, an obituary is of no use. */
uint64_t host_longest_lease_ns(const struct host *);

#endif
