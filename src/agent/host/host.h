/*
 * The host of the machines: one el_algorithm for each group, its timers on CLOCK_BOOTTIME, its record, its messages.
 * It adds no protocol of its own. Everything happens on one thread, inside the calls below.
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

/* A group as it is seen here, now. */
struct host_view {
    enum el_role role;
    el_node leader; /* EL_NOBODY: none is known */
    uint64_t token;
    uint64_t
        deadline_ns; /* leading: work is over by then (the lease's end less the margin); UINT64_MAX: no lease */
    uint64_t lease_end_ns;
    const char *value;     /* of the leader; "" */
    uint32_t value_number; /* another value has another number; "": 0 */
};

/* What a machine did, in numbers: host_note_text() has the words. */
struct host_note {
    const struct el_algorithm *by; /* the group's, or the detector below it */
    uint32_t number;
    uint64_t values[2];
};

/*
 * All that can happen to a host, call by call. One happens at one instant, `at`: the clock stands still until it returns. So
 * what a host does is a function of its configuration, its record, its calls, and of what random and wall_ms answer: flight.h.
 */
enum host_called {
    HOST_BEGINS,
    HOST_TICKS,
    HOST_RECEIVES, /* numbers: from; bytes: the payload */
    HOST_SAVED,    /* numbers: version, error */
    HOST_FINDS,    /* a group that is new; bytes: its name */
    HOST_STANDS,   /* numbers: whether, priority */
    HOST_WAITS,    /* host_be_patient(); numbers: ms */
    HOST_WISHES,
    HOST_RESIGNS,
    HOST_TRANSFERS, /* numbers: to */
    HOST_PROCLAIMS, /* bytes: the value */
    HOST_CAMPAIGNS,
    HOST_HOLDS,
    HOST_RELEASES
};

struct host_call {
    enum host_called what;
    struct host *host; /* as it is before */
    uint64_t at;
    uint64_t group; /* its key, where it is about one */
    uint64_t numbers[2];
    const void *bytes; /* borrowed */
    size_t size;
};

struct host_hooks {
    void *context;
    uint64_t (*now)(void *context); /* CLOCK_BOOTTIME, in ns; tests bring their own */
    void (*send)(void *context, el_node to, const uint8_t *payload, size_t size);
    /* To be written and synced by another thread; host_saved() when that is done. The host frees nothing of it. */
    void (*save)(void *context, struct record_image *);
    void (*changed)(void *context, struct host_group *); /* its view, or only the deadline or the value of it */
    void (*note)(void *context, struct host_group *, const struct host_note *); /* the group may be NULL */
    void (*warn)(void *context, struct host_group *,
                 const char *text); /* what an operator should mend; the group may be NULL */
    uint64_t (*random)(void *context);
    uint64_t (*wall_ms)(void *context);
    /* The deadline of all groups with this cell is another; may be NULL. */
    void (*renewed)(void *context, uint32_t cell);
    /* A voter's promise has come, so long after what it answers was sent, and it was to come at once; may be NULL. */
    void (*answered)(void *context, el_node peer, uint64_t round_trip_ns);
    /* A message to a group of quorum, of who may speak, before it is acted upon; may be NULL. */
    void (*heard)(void *context, struct host_group *, const struct el_msg *);
    /* Every call from outside, before and after, also if `changed` or `renewed` makes it; may be NULL. What the host calls
     * of itself is no call. */
    void (*called)(void *context, const struct host_call *);
    void (*returned)(void *context);
};

struct host *host_new(const struct config *, struct record *, struct host_hooks);
void host_free(struct host *);

/*
 * All of its state as bytes, between two calls; and a new host's from such bytes, whoever they come from, but for the
 * states of machines of other algorithms than quorum: those are run as they are, and are refused unless the bytes are trusted.
 * False: there is no room, or the bytes make no sense, and the host is only to be freed.
 */
struct recorder_bytes;
bool host_pack(struct host *, struct recorder_bytes *);
bool host_unpack(struct host *, struct recorder_bytes *, bool trusts);
/* How long that takes, in groups of quorum, of which a thousand take less than a millisecond. */
uint32_t host_weight(const struct host *);
/* A write is under way; as often is held. */
bool host_is_saving(const struct host *);
uint32_t host_holds(const struct host *);

/* What is said from here on waits, so that datagrams fill up, until it is released as often as it was held. */
void host_hold(struct host *);
void host_release(struct host *);

void host_receive(struct host *, el_node from, const uint8_t *payload, size_t size);
/* Whatever is due. Returns when the next is; UINT64_MAX: nothing. Call it before anything else after a wait. */
uint64_t host_tick(struct host *);
void host_saved(struct host *, uint64_t version, int error);

/* NULL with the reason in text: no such name, too many, or its hash collides. */
struct host_group *host_find(struct host *, const char *name, char *text, size_t size);
/* One that is there already; NULL: there is none. */
struct host_group *host_known(const struct host *, const char *name);
struct host_group *host_by_key(const struct host *, uint64_t key);
uint64_t host_key(const struct host_group *);
struct host_group *host_next(struct host *, struct host_group *after); /* all of them; NULL begins and ends */
const char *host_name(const struct host_group *);
const struct el_algorithm *host_algorithm(const struct host_group *);
struct host_view host_view_of(const struct host_group *);
uint32_t host_leadership(const struct host_group *); /* a word for whoever serves the clients; 0 at first */
void host_set_leadership(struct host_group *, uint32_t);

/*
 * Groups that are led by promises of the same members have one deadline, in a cell that they share: it is renewed for all
 * of them at once, and `changed` is not called for that; it is when a group comes into another cell. HOST_NO_CELL: this one has a deadline, if any, of its own.
 */
enum { HOST_CELLS_MAX = 1024 }; /* cells have smaller numbers */
#define HOST_NO_CELL UINT32_MAX
uint32_t host_cell(const struct host_group *);
uint64_t host_cell_deadline(const struct host *, uint32_t cell);

/* Whether somebody here wants to lead, and how much: peers are told. */
void host_stand(struct host_group *, bool stands, uint64_t priority);
/* How long it is content to stand while a lower-ranked one leads; UINT32_MAX: for ever. Peers learn it with the next
 * host_stand(), or within a second. */
void host_be_patient(struct host_group *, uint32_t ms);
/* Whom its machine would like to hand over to, told once; nobody: it is content. It is for the leadership to stop the
 * work first, and then to transfer. */
el_node host_handover_target(struct host_group *);
/* The work must have been stopped. */
enum el_answer host_resign(struct host_group *);
enum el_answer host_transfer(struct host_group *, el_node to);
void host_proclaim(struct host_group *, const char *value);
/* Asks for an election now, of a group that stands already: after a resignation the machine would wait for others. */
void host_campaign(struct host_group *);
/* Whether a member wants to lead, as far as is known here; *priority (may be NULL) gets how much. */
bool host_stands(const struct host_group *, el_node member, uint64_t *priority);
/* A write failed: nothing leads here any more, or will. */
bool host_has_failed(const struct host *);
uint64_t host_clock(const struct host *); /* what hooks.now says */
/* The same, which runs on during a call: to tell of it, and never to decide by. */
uint64_t host_stopwatch(const struct host *);
/* When a peer was last heard, in ns ago; UINT64_MAX: never. */
uint64_t host_heard(const struct host *, el_node peer);
/* From a leader's silence to the next one's election, at the worst, with this group's settings; 0: no bound. */
uint64_t host_worst_failover_ns(const struct host_group *);
/* One sentence without its subject, members by name. `text` is ended in any case. */
void host_note_text(const struct config *, const struct host_note *, char *text, size_t size);

/* What peers are to be told when this process and all the work of its clients are over. False: nothing, or not before the number of
 * this life is on disk. */
bool host_obituary(const struct host *, struct payload *);
/* The same, when this process and the work of these tenures are over. It stays true whatever comes later, since a term is
 * one tenure's: there is nothing to take back. */
struct host_tenure {
    struct host_group *group;
    uint64_t term;
};
bool host_releases(const struct host *, const struct host_tenure *, uint32_t count, struct payload *);
/* For so long it may be of use to them. */
uint64_t host_longest_lease_ns(const struct host *);

#endif
