/* The inside of the host. Only the files of agent/host include it. */
#ifndef ELECTOR_AGENT_HOST_INTERNAL_H
#define ELECTOR_AGENT_HOST_INTERNAL_H

#include "agent/host/host.h"
#include "agent/host/single/timed_machine.h"
#include "agent/peer/reliable_link.h"

struct session;

enum {
    SESSIONS_MAX = 16, /* different settings (lease, beat, …) that the groups of one agent may have */
    HOST_OPTIONS_MAX = 24,
    HOST_HELD_MAX = 256,
    HOST_UNKNOWN_MAX = 32
};

/* A message that waits for the disk. The time left of its timer is read when it is sent. */
struct host_held {
    struct el_msg msg;
    uint32_t timer, slot;
    bool from_detector;
};

/* Fields that few groups use. */
struct host_extra {
    uint64_t heir_until; /* until then we do not campaign against the member that we handed over to */
    char *value;         /* NULL: none */
    uint64_t value_token;
    uint32_t value_number;      /* counts the values of this group; never 0 after the first */
    struct session_rank *ranks; /* of a group of quorum; NULL: none */
};

/* The value last shown: another than the present one, none, or the present one. */
enum host_value { HOST_VALUE_OTHER, HOST_VALUE_NONE, HOST_VALUE_THIS };

/* Whether and how much a member wants to lead. */
struct host_standing {
    uint64_t since, priority; /* since 0: it does not want to */
    uint32_t preempt_after_ms;
};

/* What differs between the two kinds of group: host/quorum/group.c and host/single/group.c. */
struct host_kind {
    const char *(*name)(const struct host_group *);
    /* The machine's view. The claim ends at *bound, UINT64_MAX: never. *waits: a new claim waits for the
     * disk. */
    struct el_view (*view)(const struct host_group *, uint64_t *bound, bool *waits);
    /* Called before a view is shown. True: it differs from the last one in a way that only this kind knows. */
    bool (*shows)(struct host_group *, const struct host_view *, bool waits);
    void (*begins_or_ends)(struct host_group *); /* leadership here; may be NULL */
    struct host_standing (*standing)(const struct host_group *, el_node member);
    void (*stand)(struct host_group *, bool stands, uint64_t priority);
    void (*be_patient)(struct host_group *, uint32_t ms);
    enum el_answer (*ask)(struct host_group *, enum el_request_what, el_node to);
    void (*spread_value)(struct host_group *);
};
extern const struct host_kind host_kind_session, host_kind_single;

/* Runs groups: a struct session runs many, a struct host_single one. */
struct host_runner {
    const struct host_kind *kind;
    struct host *host;
    const struct el_algorithm *algorithm;
    uint32_t settings; /* a digest that all members must share */
    uint64_t margin;   /* ns between the deadline of the work and the end of the claim */
    struct el_value values[HOST_OPTIONS_MAX];
};

/* A group. The first member of struct session_group (agent/host/quorum/sessions.h) and struct host_single. */
struct host_group {
    struct host_runner *runner;
    uint64_t key;
    struct host_extra *extra; /* NULL: none of its fields is used */
    uint64_t shown_token;     /* this and the other shown_…: the view when `changed` was last called */
    uint32_t leadership;
    uint8_t handover_target; /* the machine wants to hand over to it, once the work has stopped */
    uint8_t shown_leader;
    uint16_t shown_cell : 11;                 /* HOST_CELLS_MAX: none */
    uint16_t shown_role : 2, shown_value : 2; /* enum host_value */
    bool stands : 1;
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct host_group) == 40, "there may be very many");
_Static_assert((int)HOST_CELLS_MAX < 1 << 11 && (int)EL_LEADER < 1 << 2 && (int)HOST_VALUE_THIS < 1 << 2,
               "they fit");

struct host_single {
    struct host_group base;
    struct host_runner runner;
    struct host_single *next_solo;
    uint32_t number; /* its index in the host's solo_list */
    uint64_t shown_deadline;
    struct el_cluster cluster, detectors; /* the same members, but different options */
    uint64_t ids[CONFIG_MEMBERS_MAX], priorities[CONFIG_MEMBERS_MAX], ranks[CONFIG_MEMBERS_MAX];
    uint8_t roles[CONFIG_MEMBERS_MAX];
    uint64_t stood_at[CONFIG_MEMBERS_MAX]; /* when a peer last said that it wants to lead */
    uint64_t stands_since[CONFIG_MEMBERS_MAX];
    uint32_t preempt_after_ms[CONFIG_MEMBERS_MAX]; /* see agent/peer/payload.h */
    struct el_value detector_values[HOST_OPTIONS_MAX];
    struct timed_machine election, detector;
    bool has_detector, has_links;
    struct reliable_link *links; /* [count]; NULL: the algorithm needs none */
    uint64_t links_due;
    uint32_t round;     /* of an election over links, which has no terms: see agent/host/single/rounds.c */
    uint32_t fruitless; /* rounds in a row without a leader */
    uint64_t unsettled_since; /* since when there is no leader, or members disagree; 0: there is one */
    bool suspected[CONFIG_MEMBERS_MAX]; /* by the detector */
    bool leads[CONFIG_MEMBERS_MAX];     /* as each peer last said in this round */
    uint64_t saved_by;                  /* number of the write after which its record is on disk */
    struct host_held held[HOST_HELD_MAX];
    uint32_t held_count;
    char name[CONFIG_NAME_MAX + 1];
};

/* How much of what we sent to a peer has arrived: see entries.c. */
struct host_flow {
    uint32_t unmarked, marked, echoed; /* datagrams since the last mark; marks sent; marks echoed */
    uint64_t waits_since;
};

/* Groups by key: many hash tables, since one of a million groups would take 0.1 s to grow, in one turn of the loop. */
enum { HOST_INDEX_PARTS = 256 };
struct host_index {
    uint32_t *places;     /* see host.c; 1/8 stays free */
    uint32_t size, count; /* size: a power of two */
};

struct host {
    const struct config *config;
    struct record *record;
    struct host_hooks hooks;
    uint64_t members; /* a digest of the member list */
    uint32_t group_count, solo_count;
    struct host_index index[HOST_INDEX_PARTS];
    struct host_single *solos, *solo_list[RECORD_GROUPS_MAX];
    struct session *sessions, *session_list[SESSIONS_MAX]; /* linked, the newest first; by number */
    struct el_durable past; /* the highest values that sessions of any settings have saved */
    bool has_past;          /* an earlier incarnation had sessions */
    bool has_begun;
    uint64_t writes_begun, writes_done;
    bool is_dirty, has_failed;
    uint32_t holds;
    uint32_t depth;   /* of nested calls */
    bool is_outside;  /* inside a hook that may call the host */
    bool sends_first; /* we give a group up: its heir waits for our datagrams, our clients do not */
    uint64_t instant; /* time of the outermost call */
    uint64_t heard[CONFIG_MEMBERS_MAX];   /* when; 0: never */
    uint64_t told_at[CONFIG_MEMBERS_MAX]; /* when host_warn_of() last did */
    /* The last complaint about a peer, and when; nothing but host_differs() reads it. */
    uint64_t differed_at[CONFIG_MEMBERS_MAX];
    enum host_difference difference[CONFIG_MEMBERS_MAX];
    uint64_t sent_at[CONFIG_MEMBERS_MAX];
    uint64_t refresh_at;
    struct {
        uint64_t key, asked_at;
    } unknown[HOST_UNKNOWN_MAX];
    struct payload out[CONFIG_MEMBERS_MAX];
    struct host_flow flow[CONFIG_MEMBERS_MAX];
};

static inline struct host *host_of(const struct host_group *group)
{
    return group->runner->host;
}

static inline uint64_t host_now(const struct host *host)
{
    return host->depth ? host->instant : host->hooks.now(host->hooks.context);
}

/* host.c */
/* Adds a group without starting it. */
struct host_group *host_enlist(struct host *, const char *name, uint64_t key, char *text, size_t size);
void host_write(struct host *); /* begins to write the record if it has changed */

/* call.c: every call from outside begins with host_enter() and ends with host_leave() */
struct host_entry {
    bool is_told, was_outside;
};
struct host_entry host_enter(struct host *, struct host_call);
void host_leave(struct host *, struct host_entry);
void host_tell_changed(struct host_group *);
void host_tell_renewed(struct host *, uint32_t cell);

/* entries.c */
void host_put(struct host *, el_node to, const struct payload_entry *);
void host_greet(struct host *, el_node to); /* an empty datagram, so that the peer knows that the link works */
void host_put_all(struct host *, const struct payload_entry *);
void host_flush(struct host *); /* ends every call: sends messages and begins to write the record */
bool host_keeps_up(struct host *, el_node peer); /* false: send only what is urgent */
/* Warns of a peer, at most every 10 s: its name, then the text. */
void host_warn_of(struct host *host, struct host_group *group, el_node from, const char *what);
/* The same: it has something else than we have, and nothing that it says is counted. */
void host_complain(struct host *, struct host_group *, el_node from, enum host_difference, const char *what);

/* group.c */
/* The value of an option by name; `otherwise` if the algorithm has none of that name. */
uint64_t host_option(const struct host_group *, const char *name, uint64_t otherwise);
/* Members with different times or algorithms have different digests, and must not count each other's votes. */
uint32_t host_digest_settings(const struct host *, const struct el_algorithm *, const struct el_value *);
void host_group_show(struct host_group *);
void host_set_value(struct host_group *, const char *value, uint64_t token);
const char *host_value_of(const struct host_group *, uint64_t token); /* proclaimed in that term; "" */
struct host_extra *host_extra_of(struct host_group *); /* allocates it if necessary; NULL: no memory */
void host_free_extra(struct host_group *);
/* Passes a machine's note to hooks.note. */
void host_note(struct host *, struct host_group *, const struct el_algorithm *, const struct el_action *);

/* obituary.c */
void host_bury(struct host *, el_node from, const struct payload_entry *);
void host_hear_released(struct host *, el_node from, const struct payload_entry *);

/* agent/host/single/group.c */
struct host_single *host_single_new(struct host *, const char *name, uint64_t key,
                                    const struct config_group *section, const struct el_algorithm *);
void host_single_free(struct host_single *);
void host_single_start(struct host_single *);
void host_single_hear(struct host_single *, bool for_detector, const struct el_msg *);
uint64_t host_single_due(const struct host_single *);
bool host_single_fire(struct host_single *, uint64_t now);
/* A peer says whether it wants to lead. */
void host_single_peer_stands(struct host_single *, el_node peer, const struct payload_entry *, uint64_t now);
/* A message of a peer shows that it wants to lead. */
void host_single_peer_speaks(struct host_single *, el_node peer, uint64_t now);
/* Every second: repeats who wants to lead and what is proclaimed, in case it was lost; calls an election
 * again that elected nobody. A peer that has not said for 4 s that it wants to lead no longer counts as a
 * candidate. */
void host_single_refresh(struct host_single *, uint64_t now);
struct payload_entry host_single_describe(const struct host_single *);
void host_single_send_value(struct host_single *, el_node to); /* 0: to all */

/* agent/host/single/rounds.c */
/* Every second: if an election has elected nobody for too long, calls it again or begins a new round. */
void host_single_call_again(struct host_single *, uint64_t now);
/* True: the message is of this round, or of a later one, which we join. False: of an earlier one; tells the
 * peer. */
bool host_single_is_of_round(struct host_single *, el_node peer, uint32_t round);
/* We lead, and a client here wants to lead. */
bool host_single_leads(const struct host_single *);

/* agent/host/single/actions.c */
struct timed_machine_owner host_single_owner(struct host_single *);
/* Its record is not on disk yet: do not send or claim what came after it. */
bool host_single_is_waiting(const struct host_single *);
void host_single_release(struct host_single *); /* sends what waited for the disk */
const struct reliable_link_hooks *host_link_hooks(struct host_single *, struct reliable_link_hooks *);

static inline struct host_single *host_single_of(struct host_group *group)
{
    return group->runner->kind == &host_kind_single ? (struct host_single *)group : NULL;
}

#endif
