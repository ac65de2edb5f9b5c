/*
 * SIGHUP: reads the configuration again, in a thread of its own. The same thread looks up the names of members that are not
 * heard, as long as they are not: at boot there may be no name server, and later a host may get another address. Reading looks up hosts and users and opens
 * files, each of which may block for as long as a name server or a disk likes; leases do not wait for that. Nor
 * does libuv's pool do it, whose thread writes the state file.
 *
 * The thread shares nothing with the agent but a struct reading. An agent that exits does not wait for the
 * thread: whoever lets go of the reading last frees it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/internal.h"
#include "base/clock.h"
#include "base/log/log.h"

/* A named member that is silent for 5 s is looked up again: after 1 s, 2 s, 4 s, ... 32 s, and every 32 s. */
enum { MISSED_AFTER_S = 5, NAMES_FIRST_S = 1, NAMES_LAST_S = 32 };

struct agent_reading {
    atomic_int holders;
    int done;        /* an eventfd: readable when the thread has finished */
    bool only_names; /* look up the names of members; else read the file */
    bool is_good;
    char path[sizeof(((struct config *)0)->path)], text[512];
    struct config config;
};

static void let_go(struct agent_reading *reading)
{
    if (atomic_fetch_sub(&reading->holders, 1) > 1) return;
    close(reading->done);
    config_wipe(&reading->config);
    free(reading);
}

/* In the thread: of a copy of the members. */
static void look_up(struct config *config)
{
    char reason[200];
    for (uint32_t i = 0; i < config->member_count; i++) {
        struct config_member *member = &config->members[i];
        if (member->host_name[0])
            member->is_unresolved = !config_address(member->host_name, &member->address, reason, sizeof reason);
    }
}

static void *read_config(void *context)
{
    struct agent_reading *reading = context;
    const uint64_t one = 1;
    if (reading->only_names)
        look_up(&reading->config);
    else
        reading->is_good =
            config_read_patiently(&reading->config, reading->path, reading->text, sizeof reading->text);
    (void)!write(reading->done, &one, sizeof one);
    let_go(reading);
    return NULL;
}

static void tell_difference(void *context, const struct config_difference *d)
{
    const struct agent *agent = context;
    if (agent->serve) serve_await_restart(agent->serve, d);
    log_event(LOG_WARN_LEVEL, NULL, "not taken over: %s %s is still %s, and %s in the file; needs a restart",
              d->section, d->key, d->was, d->is);
}

static void tell_unresolved(void *context, const char *text)
{
    (void)context;
    log_event(LOG_WARN_LEVEL, NULL, "%s", text);
}

/* Each section that is new: groups that begin from now on follow it. One that exists keeps its settings. */
static void tell_sections(const struct agent *agent, uint32_t before)
{
    const struct config *config = agent->config;
    for (uint32_t i = before; i < config->group_count; i++) {
        const char *name = config->groups[i].name;
        const bool exists = host_known(agent->host, name) != NULL;
        log_event(exists ? LOG_WARN_LEVEL : LOG_INFO_LEVEL, NULL, "taken over: [group %s]%s", name,
                  exists
                      ? "; its rights count now, but the group exists already, and its settings need a restart"
                      : "; groups that exist already keep their settings until a restart");
    }
}

static void tell_address(const struct config_member *member)
{
    char address[80];
    config_write_address(&member->address, address, sizeof address);
    log_event(LOG_INFO_LEVEL, NULL, "member %s: %s is %s", member->name, member->host_name, address);
}

/* What all members must share, and what was opened at the start, needs a restart. */
static void take_over(struct agent *agent, struct agent_reading *reading)
{
    struct config *config = agent->config;
    if (!reading->is_good) {
        log_event(LOG_ERROR_LEVEL, NULL, "cannot reload: %s; keeping the old configuration", reading->text);
        return;
    }
    const uint32_t sections = config->group_count;
    if (agent->serve) serve_await_no_restart(agent->serve);
    const uint32_t left = config_merge(config, &reading->config, tell_difference, agent);
    if (config->has_keys && reading->config.cluster_key_count)
        seal_set_cluster_keys(agent->seal, (const uint8_t(*)[SEAL_KEY])reading->config.cluster_keys,
                              reading->config.cluster_key_count);
    config_forget_keys(&reading->config); /* before the copy, which stays */
    for (uint32_t i = 0; i < config->member_count; i++)
        if (memcmp(&config->members[i].address, &reading->config.members[i].address,
                   sizeof config->members[i].address) != 0)
            tell_address(&reading->config.members[i]);
    *config = reading->config;
    log_set(config->log == CONFIG_LOG_JSON, config->verbose);
    exchange_renew(agent->exchange, agent_random(agent) | 1);
    config_each_unresolved(config, tell_unresolved, NULL);
    tell_sections(agent, sections);
    if (config->group_count != sections) recorder_begin_again(agent->recorder);
    log_event(LOG_INFO_LEVEL, NULL, left ? "reloaded %s, except for the %u above" : "reloaded %s", config->path,
              left);
}

static void take_names_over(struct agent *agent, const struct agent_reading *reading)
{
    struct config *config = agent->config;
    for (uint32_t i = 0; i < config->member_count; i++)
        if (i + 1 != config->self && config_adopt_address(&config->members[i], &reading->config.members[i]))
            tell_address(&config->members[i]);
}

static void on_closed(uv_handle_t *poll)
{
    free(poll);
}

/* Ends the present reading, if there is one. */
static void stop(struct agent *agent)
{
    if (!agent->reading) return;
    uv_close((uv_handle_t *)agent->on_reading, on_closed);
    let_go(agent->reading);
    agent->reading = NULL;
}

static void on_done(uv_poll_t *poll, int status, int events)
{
    struct agent *agent = poll->data;
    (void)status, (void)events;
    if (agent->reading->only_names)
        take_names_over(agent, agent->reading);
    else
        take_over(agent, agent->reading);
    stop(agent);
    if (agent->reads_again) agent_reload(agent);
}

static bool start(struct agent_reading *reading)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return false;
    const bool is_started = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                            pthread_create(&thread, &attributes, read_config, reading) == 0;
    pthread_attr_destroy(&attributes);
    return is_started;
}

/* False: out of memory or of descriptors. */
static bool begin(struct agent *agent, bool only_names)
{
    struct agent_reading *reading = calloc(1, sizeof *reading);
    uv_poll_t *poll = calloc(1, sizeof *poll);
    if (reading) reading->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!reading || !poll || reading->done < 0 || uv_poll_init(&agent->loop, poll, reading->done) != 0) {
        if (reading && reading->done >= 0) close(reading->done);
        free(reading);
        free(poll);
        return false;
    }
    atomic_init(&reading->holders, 1);
    memcpy(reading->path, agent->config->path, sizeof reading->path);
    reading->only_names = only_names;
    if (only_names) {
        reading->config.member_count = agent->config->member_count;
        memcpy(reading->config.members, agent->config->members, sizeof reading->config.members);
    }
    poll->data = agent;
    agent->reading = reading;
    agent->on_reading = poll;
    (void)uv_poll_start(poll, UV_READABLE, on_done); /* cannot fail: the handle is not closing */
    atomic_fetch_add(&reading->holders, 1);
    if (start(reading)) return true;
    let_go(reading);
    stop(agent);
    return false;
}

void agent_reload(struct agent *agent)
{
    agent->reads_again = agent->reading != NULL;
    if (agent->reading) return; /* the file may have changed since: read it once more */
    if (!begin(agent, false))
        log_event(LOG_ERROR_LEVEL, NULL,
                  "cannot reload: out of memory or descriptors; keeping the old configuration");
}

/* A member whose host has a name, and that should be heard and is not: perhaps it has moved. */
static bool is_missed(const struct agent *agent, uint32_t i)
{
    const struct config_member *member = &agent->config->members[i];
    if (i + 1 == agent->config->self || !member->host_name[0]) return false;
    if (!config_talks(agent->config, agent->config->self, i + 1)) return false; /* nothing is sent there */
    return member->is_unresolved || host_heard(agent->host, i + 1) > MISSED_AFTER_S * NS_PER_S;
}

void agent_watch_names(struct agent *agent, uint64_t now)
{
    bool is_any_missed = false;
    for (uint32_t i = 0; i < agent->config->member_count && !is_any_missed; i++)
        is_any_missed = is_missed(agent, i);
    if (!is_any_missed) agent->names_wait = 0;
    if (!is_any_missed || now < agent->names_at || agent->reading) return;
    agent->names_wait = agent->names_wait ? 2 * agent->names_wait : NAMES_FIRST_S * NS_PER_S;
    if (agent->names_wait > NAMES_LAST_S * NS_PER_S) agent->names_wait = NAMES_LAST_S * NS_PER_S;
    agent->names_at = now + agent->names_wait;
    (void)begin(agent, true); /* out of memory or descriptors: next time */
}

void agent_stop_reload(struct agent *agent)
{
    stop(agent);
}
