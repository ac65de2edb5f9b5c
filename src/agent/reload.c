/*
 * SIGHUP: reads the configuration again, in a thread of its own. Reading looks up hosts and users and opens
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
#include "base/log.h"

struct agent_reading {
    atomic_int holders;
    int done; /* an eventfd: readable when the thread has finished */
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

static void *read_config(void *context)
{
    struct agent_reading *reading = context;
    const uint64_t one = 1;
    reading->is_good = config_read(&reading->config, reading->path, reading->text, sizeof reading->text);
    (void)!write(reading->done, &one, sizeof one);
    let_go(reading);
    return NULL;
}

/* Takes keys, permissions and logging over. Settings that all members must share need a restart. */
static void take_over(struct agent *agent, struct agent_reading *reading)
{
    struct config *config = agent->config;
    if (!reading->is_good) {
        log_event(LOG_ERROR_LEVEL, NULL, "cannot reload: %s; keeping the old configuration", reading->text);
    } else if (!config_is_same_cluster(config, &reading->config)) {
        log_event(
            LOG_ERROR_LEVEL, NULL,
            "cannot reload: members, groups and their settings, paths and the cluster's id need a restart; "
            "keeping the old configuration");
    } else {
        seal_set_cluster_keys(agent->seal, (const uint8_t(*)[SEAL_KEY])reading->config.cluster_keys,
                              reading->config.cluster_key_count);
        config_forget_keys(&reading->config); /* before the copy, which stays */
        *config = reading->config;
        log_set(config->log == CONFIG_LOG_JSON, config->verbose);
        exchange_renew(agent->exchange, agent_random(agent) | 1);
        log_event(LOG_INFO_LEVEL, NULL, "reloaded %s", config->path);
    }
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
static bool begin(struct agent *agent)
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
    if (!begin(agent))
        log_event(LOG_ERROR_LEVEL, NULL,
                  "cannot reload: out of memory or descriptors; keeping the old configuration");
}

void agent_stop_reload(struct agent *agent)
{
    stop(agent);
}
