/* The inside of the host. Shared by the files host*.c and nobody else. */
#ifndef ELECTOR_AGENT_HOST_INNER_H
#define ELECTOR_AGENT_HOST_INNER_H

#include "agent/host.h"
#include "agent/link.h"
#include "agent/machine.h"

enum { HOST_OPTIONS_MAX = 24, HOST_HELD_MAX = 256, HOST_UNKNOWN_MAX = 32 };

/* A message that waits for the disk. What is left of its timer is read when it leaves. */
struct host_held {
    struct el_msg msg;
    uint32_t timer, slot;
    bool from_detector;
};

struct host_group {
    struct host *host;
    struct host_group *next;
    char name[CONFIG_NAME_MAX + 1];
    uint64_t key;
    uint32_t settings; /* a digest that all members must share */
    void *office;

    struct el_cluster cluster, detectors; /* the same members; each machine has options of its own */
    uint64_t ids[CONFIG_MEMBERS_MAX], priorities[CONFIG_MEMBERS_MAX];
    uint8_t roles[CONFIG_MEMBERS_MAX];
    uint64_t stood_at[CONFIG_MEMBERS_MAX]; /* when a peer last said that it wants to lead */
    uint64_t stands_since[CONFIG_MEMBERS_MAX];
    uint32_t patience[CONFIG_MEMBERS_MAX]; /* in ms: see wire.h */
    struct el_value values[HOST_OPTIONS_MAX], detector_values[HOST_OPTIONS_MAX];
    uint64_t margin;
    struct machine election, detector;
    bool has_detector, has_links;
    struct link *links; /* [count], where the algorithm needs them */
    uint64_t links_due;

    bool stands;
    uint64_t leaderless_since; /* 0: somebody leads */
    uint64_t heir_until;       /* until when one that it was handed over to has precedence */
    el_node wish;              /* whom the machine would hand over to, once the work has stopped */
    uint64_t saved_by;         /* the write after which what it saved is on disk */
    struct host_held held[HOST_HELD_MAX];
    uint32_t held_count;

    struct host_view shown; /* as `changed` was last called for */
    char value[HOST_VALUE_MAX + 1];
    uint64_t value_token;
};

struct host {
    const struct config *config;
    struct record *record;
    struct host_hooks hooks;
    uint64_t members; /* a digest of who they are */
    struct host_group *groups;
    uint32_t group_count;
    uint64_t writes_begun, writes_done;
    bool is_dirty, has_failed;
    uint64_t heard[CONFIG_MEMBERS_MAX];   /* when; 0: never */
    uint64_t told_at[CONFIG_MEMBERS_MAX]; /* when we last complained of its member list */
    uint64_t sent_at[CONFIG_MEMBERS_MAX];
    uint64_t refresh_at;
    struct {
        uint64_t key, asked_at;
    } unknown[HOST_UNKNOWN_MAX];
    struct wire_payload out[CONFIG_MEMBERS_MAX];
};

static inline uint64_t host_now(const struct host *host)
{
    return host->hooks.now(host->hooks.whose);
}

/* host.c */
void host_write(struct host *); /* begins to write the record, if there is something new in it */

/* host_wire.c */
void host_put(struct host *, el_node to, const struct wire_entry *);
void host_greet(struct host *, el_node to); /* an empty word, so that both know that the link works */
void host_put_all(struct host *, const struct wire_entry *);
void host_flush(struct host *); /* ends every call: what was said and saved goes out */
struct wire_entry host_describe(const struct host_group *);
void host_send_value(struct host_group *, el_node to); /* 0: to all */

/* host_group.c */
/* The value of an option by name; `otherwise` if the algorithm has none of that name. */
uint64_t host_option(const struct host_group *, const char *name, uint64_t otherwise);
struct host_group *host_group_new(struct host *, const char *name, uint64_t key, char *text, size_t size);
void host_group_free(struct host_group *);
struct host_group *host_by_key(struct host *, uint64_t key);
void host_group_start(struct host_group *);
void host_group_hear(struct host_group *, bool for_detector, const struct el_msg *);
void host_group_show(struct host_group *);
uint64_t host_group_due(const struct host_group *);
bool host_group_fire(struct host_group *, uint64_t now);
/* What a peer says of its wish to lead. */
void host_group_peer_stands(struct host_group *, el_node peer, const struct wire_entry *, uint64_t now);
/* A message of it says so, too. */
void host_group_peer_speaks(struct host_group *, el_node peer, uint64_t now);
/* An election that came to nothing, since who takes part changed in the middle of it, is called again. */
void host_group_call_again(struct host_group *, uint64_t now);
void host_group_expire_peers(struct host_group *, uint64_t now);

/* host_act.c */
struct machine_owner host_group_owner(struct host_group *);
/* What it saved is not on disk yet, so that nothing may be said or claimed that came after. */
bool host_group_is_waiting(const struct host_group *);
void host_group_release(struct host_group *); /* what waited for the disk */
const struct link_hooks *host_link_hooks(struct host_group *, struct link_hooks *);

#endif
