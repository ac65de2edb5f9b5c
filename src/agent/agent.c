/* See agent.h. One loop: datagrams, the next deadline, the disk, clients, signals. */
#define _GNU_SOURCE
#include "agent/agent.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>
#include <uv.h>

#include "agent/chronicle.h"
#include "agent/control.h"
#include "agent/flight.h"
#include "agent/host.h"
#include "agent/http.h"
#include "agent/log.h"
#include "agent/net.h"
#include "agent/notify.h"
#include "agent/obituary.h"
#include "agent/wire.h"

static const uint64_t SECOND = 1000000000;
enum { LEAVE_WITHIN_S = 10 };

struct agent {
    struct config *config;
    const char *program;
    struct record *record;
    struct host *host;
    struct seal *seal;
    struct control *control;
    struct chronicle *chronicle;
    struct obituary *obituary;
    struct http *http; /* NULL: none */
    struct metrics metrics;
    size_t hearing; /* bytes of the datagram that is being opened */
    struct flight *flight;
    int socket, timer;
    uint64_t wakes_at; /* what the timer is set to; 0: nothing */
    uv_loop_t loop;
    uv_poll_t on_socket, on_timer;
    uv_prepare_t before_waiting;
    uv_signal_t on_signal[4];
    uint64_t watchdog, watchdog_at;
    bool is_leaving, is_done;
    uint64_t leave_by;
    int code;
};

struct writing {
    uv_work_t work;
    struct agent *agent;
    struct record_image *image;
    int error;
    uint64_t took_ns;
};

static uint64_t boot_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now); /* which goes on while the host is suspended */
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static void finish(struct agent *agent, int code)
{
    if (agent->is_done) return;
    agent->is_done = true;
    agent->code = code;
    uv_stop(&agent->loop);
}

/* ---- What the host needs ---- */

static uint64_t host_asks_now(void *whose)
{
    (void)whose;
    return boot_time();
}

static uint64_t host_asks_random(void *whose)
{
    uint64_t drawn;
    (void)whose;
    randombytes_buf(&drawn, sizeof drawn);
    return drawn;
}

static uint64_t host_asks_wall(void *whose)
{
    struct timespec now;
    (void)whose;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void host_sends(void *whose, el_node to, const uint8_t *payload, size_t size)
{
    struct agent *agent = whose;
    seal_send(agent->seal, boot_time(), to, payload, size);
}

static void write_record(uv_work_t *work)
{
    struct writing *writing = work->data;
    const uint64_t began = boot_time();
    writing->error = record_write(writing->agent->record, writing->image);
    writing->took_ns = boot_time() - began;
}

static void wrote_record(uv_work_t *work, int status)
{
    struct writing *writing = work->data;
    struct agent *agent = writing->agent;
    const int error = status ? EIO : writing->error;
    const uint64_t version = writing->image->version;
    chronicle_write(agent->chronicle, boot_time(), writing->took_ns);
    metrics_observe(&agent->metrics.fsyncs, writing->took_ns);
    free(writing->image);
    free(writing);
    if (error)
        log_event(LOG_ERROR_LEVEL, NULL, "cannot write %s: %s; stepping down from everything, and leaving",
                  agent->config->state, strerror(error));
    host_saved(agent->host, version, error);
    if (error && agent->control) control_failed(agent->control, "disk");
    if (error) finish(agent, AGENT_DISK_FAILED);
}

static void host_saves(void *whose, struct record_image *image)
{
    struct agent *agent = whose;
    struct writing *writing = calloc(1, sizeof *writing);
    if (!writing) abort(); /* what is not on disk was never said; a start finds it so */
    *writing = (struct writing){.agent = agent, .image = image};
    writing->work.data = writing;
    if (uv_queue_work(&agent->loop, &writing->work, write_record, wrote_record) != 0) abort();
}

static void host_changed(void *whose, struct host_group *group)
{
    struct agent *agent = whose;
    if (agent->control) control_changed(agent->control, group);
}

static void host_renews(void *whose, uint32_t cell)
{
    struct agent *agent = whose;
    if (agent->control) control_renewed(agent->control, cell);
}

static void host_notes(void *whose, struct host_group *group, const struct host_note *note)
{
    const struct agent *agent = whose;
    char text[256];
    chronicle_note(agent->chronicle, boot_time(), group ? chronicle_group(host_name(group)) : 0, note);
    if (!log_is_verbose()) return;
    host_note_text(agent->config, note, text, sizeof text);
    log_event(LOG_DEBUG_LEVEL, group ? host_name(group) : NULL, "%s", text);
}

static void host_heard_of(void *whose, struct host_group *group, const struct el_msg *msg)
{
    const struct agent *agent = whose;
    chronicle_hear(agent->chronicle, boot_time(), chronicle_group(host_name(group)), host_algorithm(group),
                   msg);
}

static void host_warns(void *whose, struct host_group *group, const char *text)
{
    (void)whose;
    log_event(LOG_WARN_LEVEL, group ? host_name(group) : NULL, "%s", text);
}

/* ---- What the seal needs ---- */

static void seal_sends(void *whose, uint32_t peer, const uint8_t *datagram, size_t size)
{
    struct agent *agent = whose;
    const struct config_member *to = &agent->config->members[peer - 1];
    struct metrics_peer *counted = &agent->metrics.peers[peer - 1];
    const bool is_sent = net_send(agent->socket, to, datagram, size);
    *(is_sent ? &counted->sent_bytes : &counted->unsent) += is_sent ? size : 1;
    if (!is_sent) log_event(LOG_DEBUG_LEVEL, NULL, "cannot send to %s: %s", to->name, strerror(errno));
}

static void seal_delivers(void *whose, uint32_t peer, const uint8_t *payload, size_t size)
{
    struct agent *agent = whose;
    agent->metrics.peers[peer - 1].received_bytes += agent->hearing;
    if (wire_may_pass(payload, size, false)) host_receive(agent->host, peer, payload, size);
}

static void seal_buries(void *whose, uint32_t peer, const uint8_t *payload, size_t size)
{
    struct agent *agent = whose;
    if (!wire_may_pass(payload, size, true)) return;
    log_event(LOG_WARN_LEVEL, NULL, "%s is dead, and its work is over: its guardian says so",
              agent->config->members[peer - 1].name);
    host_receive(agent->host, peer, payload, size);
}

static void seal_was_answered(void *whose, uint32_t peer, uint64_t round_trip_ns)
{
    struct agent *agent = whose;
    metrics_observe(&agent->metrics.peers[peer - 1].round_trips, round_trip_ns);
}

/* ---- The loop ---- */

static void hear(void *whose, const uint8_t *datagram, size_t size)
{
    struct agent *agent = whose;
    agent->hearing = size;
    seal_receive(agent->seal, boot_time(), datagram, size);
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    struct agent *agent = handle->data;
    (void)status, (void)events;
    (void)host_tick(agent->host); /* what is overdue comes first */
    host_hold(agent->host);
    (void)net_receive(agent->socket, hear, agent);
    host_release(agent->host);
}

static void on_due(uv_poll_t *handle, int status, int events)
{
    struct agent *agent = handle->data;
    uint64_t times;
    (void)status, (void)events;
    (void)!read(agent->timer, &times, sizeof times);
    agent->wakes_at = 0;
}

static void wake_at(struct agent *agent, uint64_t at)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(at / SECOND), .tv_nsec = (long)(at % SECOND)}};
    if (at == agent->wakes_at) return;
    (void)timerfd_settime(agent->timer, TFD_TIMER_ABSTIME, &when, NULL);
    agent->wakes_at = at;
}

static uint64_t keep_alive(struct agent *agent, uint64_t now)
{
    if (agent->watchdog == 0) return UINT64_MAX;
    if (now >= agent->watchdog_at) {
        notify("WATCHDOG=1");
        agent->watchdog_at = now + agent->watchdog;
    }
    return agent->watchdog_at;
}

static void before_waiting(uv_prepare_t *handle)
{
    struct agent *agent = handle->data;
    uint64_t next = host_tick(agent->host);
    const uint64_t now = boot_time();
    if (host_has_failed(agent->host) && !agent->is_done) {
        log_event(LOG_ERROR_LEVEL, NULL,
                  "the record takes no more; stepping down from everything, and leaving");
        control_failed(agent->control, "disk");
        finish(agent, AGENT_DISK_FAILED);
    }
    const uint64_t sealed = seal_tick(agent->seal, now), alive = keep_alive(agent, now);
    if (sealed < next) next = sealed;
    if (alive < next) next = alive;
    const uint64_t guarded = obituary_tick(agent->obituary);
    if (guarded < next) next = guarded;
    if (agent->is_leaving) {
        if (control_leave(agent->control) || now >= agent->leave_by) finish(agent, 0);
        if (agent->leave_by < next) next = agent->leave_by;
    }
    wake_at(agent, next > now ? next : now + 1);
}

/* Keys, permissions and logging are taken over; what the protocol stands on takes a restart. */
static void reload(struct agent *agent)
{
    struct config *config = agent->config, *fresh = calloc(1, sizeof *fresh);
    char text[512];
    if (!fresh) return;
    if (!config_read(fresh, config->path, text, sizeof text)) {
        log_event(LOG_ERROR_LEVEL, NULL, "%s; the old configuration goes on", text);
    } else if (!config_is_same_cluster(config, fresh)) {
        log_event(
            LOG_ERROR_LEVEL, NULL,
            "members, groups and their settings, paths and the cluster's id change only with a restart; the "
            "old configuration goes on");
    } else {
        *config = *fresh;
        seal_set_cluster_keys(agent->seal, (const uint8_t(*)[SEAL_KEY])config->cluster_keys,
                              config->cluster_key_count);
        log_set(config->log == CONFIG_LOG_JSON, config->verbose);
        log_event(LOG_INFO_LEVEL, NULL, "read %s again", config->path);
    }
    config_wipe(fresh);
    free(fresh);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct agent *agent = handle->data;
    if (number == SIGHUP) {
        reload(agent);
    } else if (agent->is_leaving) {
        finish(agent, 128 + number); /* asked twice */
    } else {
        log_event(LOG_INFO_LEVEL, NULL, "leaving: what this member leads is handed over");
        notify("STOPPING=1");
        agent->is_leaving = true;
        if (agent->http) http_set_unwell(agent->http, "leaving");
        agent->leave_by = boot_time() + LEAVE_WITHIN_S * SECOND;
    }
}

/* ---- Starting and stopping ---- */

static int refuse(const char *text, int code)
{
    log_event(LOG_ERROR_LEVEL, NULL, "%s", text);
    return code;
}

static int open_record(struct agent *agent)
{
    const struct config *config = agent->config;
    struct record_identity identity = {.member = config->members[config->self - 1].id};
    char text[512];
    memcpy(identity.cluster_id, config->cluster_id, sizeof identity.cluster_id);
    switch (record_open(&agent->record, config->state, &identity, text, sizeof text)) {
    case RECORD_READY: return 0;
    case RECORD_LOST:
        log_event(
            LOG_WARN_LEVEL, NULL,
            "%s; grants nothing until the others have told what they know. If this cluster is new, begin with "
            "the state file that `elector init` wrote",
            text);
        return 0;
    case RECORD_REFUSED: break;
    }
    return refuse(text, AGENT_CANNOT_START);
}

static int open_seal(struct agent *agent)
{
    const struct config *config = agent->config;
    static uint8_t keys[CONFIG_MEMBERS_MAX][SEAL_KEY];
    struct seal_config seal = {.self = config->self,
                               .count = config->member_count,
                               .public_keys = (const uint8_t(*)[SEAL_KEY])keys,
                               .cluster_key_count = config->cluster_key_count,
                               .plain = !config->has_keys};
    for (uint32_t i = 0; i < config->member_count; i++)
        memcpy(keys[i], config->members[i].public_key, SEAL_KEY);
    memcpy(seal.secret_key, config->secret_key, SEAL_KEY);
    memcpy(seal.cluster_keys, config->cluster_keys, sizeof seal.cluster_keys);
    memcpy(seal.cluster_id, config->cluster_id, sizeof seal.cluster_id);
    agent->seal = seal_new(&seal, (struct seal_hooks){.whose = agent,
                                                      .send = seal_sends,
                                                      .deliver = seal_delivers,
                                                      .bury = seal_buries,
                                                      .answered = seal_was_answered});
    sodium_memzero(&seal, sizeof seal);
    return agent->seal
               ? 0
               : refuse("cannot seal traffic: no memory, or libsodium does not start", AGENT_CANNOT_START);
}

/* Who asked for it does not go without; the usual place may be another agent's of this host. */
static int open_http(struct agent *agent)
{
    const struct http_setup setup = {.config = agent->config,
                                     .host = agent->host,
                                     .control = agent->control,
                                     .seal = agent->seal,
                                     .metrics = &agent->metrics};
    char text[512];
    if (!agent->config->http.ss_family) return 0;
    agent->http = http_new(&agent->loop, &setup, text, sizeof text);
    if (!agent->http && !agent->config->http_is_default) return refuse(text, AGENT_CANNOT_START);
    if (!agent->http) log_event(LOG_WARN_LEVEL, NULL, "%s; goes on without", text);
    return 0;
}

static int open_all(struct agent *agent)
{
    char text[512];
    int code = open_record(agent);
    if (code == 0) code = open_seal(agent);
    if (code) return code;
    agent->socket = net_open(agent->config, text, sizeof text);
    if (agent->socket < 0) return refuse(text, AGENT_CANNOT_START);
    agent->timer = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (agent->timer < 0) return refuse("cannot have a timer on CLOCK_BOOTTIME", AGENT_CANNOT_START);
    struct host_hooks hooks = {.whose = agent,
                               .now = host_asks_now,
                               .send = host_sends,
                               .save = host_saves,
                               .changed = host_changed,
                               .renewed = host_renews,
                               .note = host_notes,
                               .warn = host_warns,
                               .random = host_asks_random,
                               .wall_ms = host_asks_wall,
                               .heard = host_heard_of};
    agent->chronicle = chronicle_new(agent->config, boot_time());
    agent->flight = flight_begin(agent->config, agent->record, &hooks);
    agent->host = agent->chronicle ? host_new(agent->config, agent->record, hooks) : NULL;
    if (agent->host)
        agent->obituary = obituary_new(&agent->loop, agent->config, agent->host, agent->seal, agent->program);
    if (!agent->obituary) return refuse("out of memory", AGENT_CANNOT_START);
    agent->control = control_new(&agent->loop, agent->config, agent->host, text, sizeof text);
    if (!agent->control) return refuse(text, AGENT_CANNOT_START);
    control_set_chronicle(agent->control, agent->chronicle);
    control_watch_by(agent->control, agent->obituary);
    control_count_in(agent->control, &agent->metrics);
    return open_http(agent);
}

static void begin(struct agent *agent)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    const struct config *config = agent->config;
    char text[256];
    agent->on_socket.data = agent->on_timer.data = agent->before_waiting.data = agent;
    uv_poll_init(&agent->loop, &agent->on_socket, agent->socket);
    uv_poll_start(&agent->on_socket, UV_READABLE, on_readable);
    uv_poll_init(&agent->loop, &agent->on_timer, agent->timer);
    uv_poll_start(&agent->on_timer, UV_READABLE, on_due);
    uv_prepare_init(&agent->loop, &agent->before_waiting);
    uv_prepare_start(&agent->before_waiting, before_waiting);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        uv_signal_init(&agent->loop, &agent->on_signal[i]);
        agent->on_signal[i].data = agent;
        uv_signal_start(&agent->on_signal[i], on_signal, signals[i]);
    }
    for (uint32_t i = 0; i < config->group_count; i++) /* those that are known by name begin now */
        if (!strchr(config->groups[i].name, '*') &&
            !host_find(agent->host, config->groups[i].name, text, sizeof text))
            log_event(LOG_ERROR_LEVEL, config->groups[i].name, "%s", text);
}

static void warn_of_promises(const struct config *config)
{
    for (uint32_t i = 0; i < config->group_count; i++) {
        const struct el_algorithm *algorithm = config->groups[i].algorithm;
        if (!algorithm || strcmp(algorithm->name, "quorum") == 0) continue;
        log_event(LOG_WARN_LEVEL, config->groups[i].name,
                  "is led by %s, which does not promise what quorum does; `elector algorithms %s` says what "
                  "breaks it",
                  algorithm->name, algorithm->name);
    }
}

static void close_handle(uv_handle_t *handle, void *whose)
{
    (void)whose;
    if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void close_all(struct agent *agent)
{
    http_free(agent->http);
    if (agent->control) control_free(agent->control);
    agent->control = NULL; /* what the last write changes is nobody's news any more */
    obituary_free(agent->obituary);
    agent->obituary = NULL;
    uv_walk(&agent->loop, close_handle, NULL);
    uv_run(&agent->loop, UV_RUN_DEFAULT); /* a write that is under way is waited for */
    uv_loop_close(&agent->loop);
    host_free(agent->host);
    flight_close(agent->flight);
    chronicle_free(agent->chronicle);
    seal_free(agent->seal);
    if (agent->record) record_close(agent->record);
    if (agent->socket >= 0) close(agent->socket);
    if (agent->timer >= 0) close(agent->timer);
}

int agent_run(struct config *config, const char *program)
{
    struct agent agent = {
        .config = config, .program = program, .socket = -1, .timer = -1, .metrics.version = ELECTOR_VERSION};
    char address[80], http[80] = "nowhere";
    log_set(config->log == CONFIG_LOG_JSON, config->verbose);
    if (sodium_init() < 0 || uv_loop_init(&agent.loop) != 0)
        return refuse("libsodium or libuv does not start", AGENT_CANNOT_START);
    (void)signal(SIGPIPE, SIG_IGN);
    agent.metrics.started_ms = host_asks_wall(&agent);
    agent.code = open_all(&agent);
    if (agent.code == 0) {
        begin(&agent);
        agent.watchdog = notify_watchdog_ns();
        config_write_address(&config->members[config->self - 1].address, address, sizeof address);
        if (agent.http) config_write_address(&config->http, http, sizeof http);
        log_event(LOG_INFO_LEVEL, NULL, "member %s of %s, %u members, on %s%s; clients at %s, HTTP at %s",
                  config->members[config->self - 1].name, config->cluster, config->member_count, address,
                  config->has_keys ? "" : " without keys", config->socket, http);
        warn_of_promises(config);
        notify("READY=1");
        uv_run(&agent.loop, UV_RUN_DEFAULT);
    }
    close_all(&agent);
    return agent.code;
}
