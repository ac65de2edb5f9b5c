/* Shared by engine.c, check.c, host.c and group.c. */
#ifndef ELECTOR_ENGINES_INTERNAL_H
#define ELECTOR_ENGINES_INTERNAL_H

#include <jansson.h>

#include "agent/config/config.h"
#include "agent/host/host.h"
#include "agent/host/single/timed_machine.h"
#include "agent/serve/serve.h"
#include "engines/engine.h"

enum { ENGINE_OPTIONS_MAX = 16 };

struct host_group {
    struct host *host;
    struct timed_machine machine; /* state NULL: it has never stood */
    char name[CONFIG_NAME_MAX + 1];
    uint64_t key, number;
    uint64_t incarnation; /* of the machine: each start has its own, so that late answers do not count */
    uint32_t leadership;
    bool stands;   /* a client here wants to lead, and the machine runs */
    bool observed; /* engine_observed() has come */
    uint64_t priority;
    uint64_t asked_ns; /* since when somebody here wants to know */
    struct engine_candidate *queue;
    uint32_t queued;
    char *value; /* proclaimed here, in the tenure value_token; NULL: none */
    uint64_t value_token;
    uint32_t value_number;
    enum el_role shown_role; /* this and the next: the view when `changed` was last called */
    el_node shown_leader;
    uint64_t shown_token, shown_deadline;
    uint32_t shown_value;
    void *data; /* the adapter's */
};

struct host {
    const struct config *config;
    struct host_hooks hooks;
    struct engine *engine;
    struct host_group **groups; /* by number */
    uint32_t count, room;
    uint32_t *index; /* hash table of numbers plus 1; its size is a power of two */
    uint32_t index_size;
    uint64_t heard_ns; /* the store; 0: never */
    uint64_t margin;
    uint64_t kept_ns; /* how long the store keeps a session */
    uint64_t worst_failover_ns;
    struct el_cluster cluster;
    struct el_value values[ENGINE_OPTIONS_MAX];
    uint64_t ids[ENGINE_STORE];
};

el_duration engine_time(const struct engine *,
                        const char *option); /* see engine_set_time(); 0: there is none */

struct engine {
    uv_loop_t loop;
    const struct store_kind *kind;
    void *opened;
    struct config config;
    struct host *host;
    struct serve *serve;
    struct serve_engine as_served;
    struct metrics *metrics;
    uv_prepare_t before_waiting;
    uv_poll_t on_timer;
    uv_signal_t on_signal[4];
    int timer; /* on CLOCK_BOOTTIME */
    uint64_t wakes_at;
    uint64_t watchdog,
        watchdog_at; /* how often systemd wants to hear from us, 0: never; when it is told next */
    bool serves_one; /* client, and ends with it */
    bool is_ready, is_stopping /* a signal has come */, is_leaving, is_done;
    uint64_t leave_by;
    int code;
    char trouble[ENGINE_TEXT]; /* "": none */
    char told[ENGINE_TEXT];    /* the last trouble that was logged, and when */
    uint64_t told_ns;
    bool comes_and_goes; /* that one came again soon after it was over */
    /* check.c */
    json_t *findings;
    bool is_checking;
    uint64_t checked_ns;
};

/* check.c */
const json_t *engine_findings(void *context);              /* for serve_engine.check */
uint64_t engine_check_tick(struct engine *, uint64_t now); /* when to call it again */

/* group.c */
struct host_group *engine_group_make(struct host *, const char *name, uint64_t key);
void engine_group_free(struct host_group *);
void engine_group_show(struct host_group *);
void engine_group_fire(struct host_group *, uint64_t now); /* what is due */
uint64_t engine_group_due(const struct host_group *);
const char *engine_leader_name(const struct host_group *); /* NULL: the member's */
const char *engine_candidate_name(const struct host_group *, uint32_t place);

static inline uint64_t host_now(const struct host *host)
{
    return host->hooks.now(host->hooks.context);
}

#endif
