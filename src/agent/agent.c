/* See agent.h. One loop handles datagrams, timers, the disk, clients and signals. */
#define _GNU_SOURCE
#include "agent/agent.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "agent/confine/confine.h"
#include "agent/generation.h"
#include "agent/internal.h"
#include "agent/peer/udp.h"
#include "agent/systemd.h"
#include "base/children.h"
#include "base/clock.h"
#include "base/descriptors.h"
#include "base/kernel/realtime.h"
#include "base/kernel/time_slice.h"
#include "base/log/log.h"

enum {
    LEAVE_WITHIN_S = 10 /* after clients have had `stop-timeout` */,
    IN_USE_FOR_S = 5,
    RENEW_EVERY_S = 10,
    HISTORY_WAIT_MS = 500
};

void agent_finish(struct agent *agent, int code)
{
    if (agent->is_done) return;
    agent->is_done = true;
    agent->code = code;
    uv_stop(&agent->loop);
}

/* ---- The loop ---- */

static void hear(void *context, const struct sockaddr_storage *from, const uint8_t *datagram, size_t size)
{
    struct agent *agent = context;
    agent->hearing = size;
    agent->hearing_from = from;
    seal_receive(agent->seal, clock_boottime_ns(), udp_source(agent->config, from), datagram, size);
    agent->hearing_from = NULL;
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    struct agent *agent = handle->data;
    (void)status, (void)events;
    agent->hearing_via = (uint32_t)(handle - agent->on_sockets);
    host_batch_begin(agent->host); /* the host still runs overdue timers before each message */
    (void)udp_receive(agent->udp.sockets[agent->hearing_via], hear, agent);
    host_batch_end(agent->host);
}

static void on_due(uv_poll_t *handle, int status, int events)
{
    struct agent *agent = handle->data;
    (void)status, (void)events;
    if (agent->wakes_at) metrics_woke(&agent->metrics.lateness, clock_boottime_ns(), agent->wakes_at);
    agent->wakes_at = 0; /* setting it again, before the next wait, clears it like a read would */
}

/* ---- Restored from a snapshot ---- */

static void on_uevent(uv_poll_t *handle, int status, int events)
{
    struct agent *agent = handle->data;
    (void)status, (void)events;
    if (!generation_changed(agent->generation)) return;
    seal_renew(agent->seal, clock_boottime_ns());
    log_event(
        LOG_WARN_LEVEL, NULL,
        "this machine was restored from a snapshot: renewing all channels. What it led before may be led by "
        "another: only tokens protect against that");
}

/* If we cannot hear of a restore, a jump of the clock may be its sign. At most every 10 s: it costs handshakes. */
static void look_at_clock(struct agent *agent, uint64_t now)
{
    const bool has_jumped = generation_clock_jumped(&agent->clock_offset, now, clock_wall_ns());
    if (!has_jumped || now - agent->renewed_at < RENEW_EVERY_S * NS_PER_S) return;
    agent->renewed_at = now;
    seal_renew(agent->seal, now);
    log_event(LOG_INFO_LEVEL, NULL,
              "the wall clock was set: renewing all channels, since this machine may have been "
              "restored from a snapshot");
}

static void wake_at(struct agent *agent, uint64_t at)
{
    if (at == agent->wakes_at) return;
    clock_arm(agent->timer, at);
    agent->wakes_at = agent->metrics.lateness.asked_ns = at;
}

static uint64_t keep_alive(struct agent *agent, uint64_t now)
{
    if (agent->watchdog == 0) return UINT64_MAX;
    if (now >= agent->watchdog_at) {
        systemd_notify("WATCHDOG=1");
        agent->watchdog_at = now + agent->watchdog;
    }
    return agent->watchdog_at;
}

static void open_history(struct agent *agent)
{
    char path[sizeof agent->config->state + 16], text[sizeof agent->config->state + 160];
    snprintf(path, sizeof path, "%s.history", agent->config->state);
    agent->history_file = history_file_open(path, agent->history, host_members(agent->host), text, sizeof text);
    if (text[0]) log_event(LOG_WARN_LEVEL, NULL, "%s", text);
}

static void write_history(struct agent *agent, uint64_t now)
{
    char text[sizeof agent->config->state + 160];
    if (history_file_write(agent->history_file, agent->history, now, text, sizeof text))
        log_event(LOG_WARN_LEVEL, NULL, "%s", text);
}

/* The time came while the loop was busy, so that the timer is set again before it was heard. */
static void measure_lateness(struct agent *agent, uint64_t now)
{
    if (agent->wakes_at == 0 || now < agent->wakes_at) return;
    metrics_woke(&agent->metrics.lateness, now, agent->wakes_at);
    agent->wakes_at = 0;
}

static void warn_of_long_turn(struct agent *agent)
{
    if (agent->has_run_too_long) return;
    agent->has_run_too_long = true;
    log_event(
        LOG_WARN_LEVEL, NULL,
        "this agent ran for %d ms without waiting, and was an ordinary process until now, so that the host "
        "could go on; it may have renewed leases late",
        (int)REALTIME_BURST_MS);
}

static bool is_own_child(const void *context, pid_t child)
{
    const struct agent *agent = context;
    return guardian_client_may_be(agent->guardian, child) || recorder_is_process(agent->recorder, child);
}

/* Guardians that did not die at once; and as process 1 of a container we get the orphans of all others there. While a guardian is
 * being started, any child may be the one: then the reaping waits. */
static void reap(struct agent *agent)
{
    agent->must_reap = guardian_client_may_be(agent->guardian, -1);
    if (!agent->must_reap) children_reap_unknown(is_own_child, agent);
}

static void before_waiting(uv_prepare_t *handle)
{
    struct agent *agent = handle->data;
    if (realtime_resume()) warn_of_long_turn(agent);
    measure_lateness(agent, clock_boottime_ns());
    uint64_t next = host_tick(agent->host);
    const uint64_t now = clock_boottime_ns();
    if (host_has_failed(agent->host) && !agent->is_done) {
        log_event(LOG_ERROR_LEVEL, NULL,
                  "state file full (%d groups) or out of memory: resigning all groups and exiting",
                  (int)RECORD_GROUPS_MAX);
        serve_failed(agent->serve, "disk");
        agent_finish(agent, AGENT_DISK_FAILED);
    }
    agent_watch_disk(agent, now); /* the host ticks once a second at least */
    agent_watch_peers(agent, now);
    write_history(agent, now);
    serve_settle(agent->serve, now);
    const uint64_t untold = serve_tell(agent->serve, now);
    if (untold < next) next = untold;
    agent_watch_names(agent, now);
    look_at_clock(agent, now);
    const uint64_t sealed = seal_tick(agent->seal, now), alive = keep_alive(agent, now);
    if (sealed < next) next = sealed;
    if (alive < next) next = alive;
    const uint64_t dropped = serve_forget_some(agent->serve, now);
    if (dropped < next) next = dropped;
    bool is_lost;
    const uint64_t silent_until = host_silent_until(agent->host, &is_lost);
    exchange_keep_silent(agent->exchange, silent_until, is_lost);
    const uint64_t told = exchange_tick(agent->exchange, now);
    if (told < next) next = told;
    const uint64_t guarded = guardian_client_tick(agent->guardian);
    if (guarded < next) next = guarded;
    if (agent->must_reap) reap(agent);
    const uint64_t logged = log_tick(now);
    if (logged < next) next = logged;
    if (agent->is_leaving) {
        if (serve_leave(agent->serve) || now >= agent->leave_by) agent_finish(agent, 0);
        if (agent->leave_by < next) next = agent->leave_by;
    }
    wake_at(agent, next > now ? next : now + 1);
    metrics_turn(&agent->metrics, uv_hrtime(), uv_metrics_idle_time(&agent->loop));
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct agent *agent = handle->data;
    if (number == SIGCHLD) {
        reap(agent);
    } else if (number == SIGHUP) {
        agent_reload(agent);
    } else if (agent->is_leaving) {
        agent_finish(agent, 128 + number); /* a second signal: exit at once */
    } else {
        log_event(LOG_INFO_LEVEL, NULL,
                  "signal %d: handing over all groups that this member leads, then exiting", number);
        systemd_notify("STOPPING=1");
        agent->is_leaving = true;
        if (agent->http) http_set_unhealthy(agent->http, "leaving");
        agent->leave_by = clock_boottime_ns() + agent->config->stop_timeout + LEAVE_WITHIN_S * NS_PER_S;
    }
}

/* ---- Starting and stopping ---- */

/* Before the first thread and process, which inherit the filter, and before keys are copied. A `text` says why there is none. */
static void confine(const struct config *config, char *text, size_t size)
{
    text[0] = '\0';
    confine_memory();
    if (config->seccomp) (void)confine_calls(text, size);
}

static int refuse(const char *text, int code)
{
    log_event(LOG_ERROR_LEVEL, NULL, "%s", text);
    return code;
}

static void tell_wait(const char *text)
{
    log_event(LOG_WARN_LEVEL, NULL, "%s; waiting up to %d s for it to exit", text, (int)IN_USE_FOR_S);
}

static int open_record(struct agent *agent)
{
    const struct config *config = agent->config;
    struct record_identity identity = {.member = config->members[config->self - 1].id};
    char text[512];
    memcpy(identity.cluster_id, config->cluster_id, sizeof identity.cluster_id);
    switch (record_await(&agent->record, config->state, &identity, IN_USE_FOR_S * 1000, tell_wait, text,
                         sizeof text)) {
    case RECORD_READY: return 0;
    case RECORD_LOST:
        log_event(
            LOG_WARN_LEVEL, NULL,
            "%s; granting nothing until the other members have reported; then tokens may jump ahead, to those of the "
            "wall clock (10^15). In a new cluster, start with "
            "the state file that `elector init` wrote",
            text);
        return 0;
    case RECORD_REFUSED: return refuse(text, AGENT_CANNOT_START);
    case RECORD_IN_USE: break;
    }
    log_event(LOG_ERROR_LEVEL, NULL, "%s; stop that agent first", text);
    return AGENT_CANNOT_START;
}

static int open_seal(struct agent *agent)
{
    struct config *config = agent->config;
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
    agent->seal = seal_new(&seal, agent_seal_hooks(agent));
    sodium_memzero(&seal, sizeof seal);
    config_forget_keys(config);
    if (!agent->seal)
        return refuse("cannot seal traffic: out of memory, or libsodium does not start", AGENT_CANNOT_START);
    if (!seal_is_locked(agent->seal) && config->has_keys)
        log_event(
            LOG_WARN_LEVEL, NULL,
            "key memory cannot be locked (RLIMIT_MEMLOCK is too small): keys may reach the swap space; raise the "
            "limit, with LimitMEMLOCK= in the service");
    return 0;
}

static int open_http(struct agent *agent)
{
    const struct http_setup setup = {.config = agent->config,
                                     .host = agent->host,
                                     .serve = agent->serve,
                                     .seal = agent->seal,
                                     .metrics = &agent->metrics,
                                     .stall_ns = agent->stall_ns};
    if (!agent->config->http.ss_family) return 0;
    agent->http = http_new(&agent->loop, &setup);
    return agent->http ? 0 : refuse("out of memory", AGENT_CANNOT_START);
}

static int open_all(struct agent *agent)
{
    char text[512];
    struct host_hooks hooks = agent_host_hooks(agent);
    int code = open_record(agent);
    if (code) return code;
    agent->recorder =
        recorder_begin(agent->config, agent->record, &hooks); /* forks: no key but the config's yet */
    code = open_seal(agent);
    if (code) return code;
    if (!udp_open(&agent->udp, agent->config, text, sizeof text)) return refuse(text, AGENT_CANNOT_START);
    agent->timer = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (agent->timer < 0) return refuse("cannot create a timer on CLOCK_BOOTTIME", AGENT_CANNOT_START);
    agent->history = history_new(agent->config, clock_boottime_ns());
    agent->host = agent->history ? host_new(agent->config, agent->record, hooks) : NULL;
    if (agent->host) open_history(agent);
    if (agent->host)
        agent->guardian =
            guardian_client_new(&agent->loop, agent->config, agent->host, agent->seal, agent->program);
    if (agent->host)
        agent->exchange = exchange_new(agent->config, host_members(agent->host), agent_random(agent) | 1,
                                       agent_exchange_hooks(agent));
    if (!agent->guardian || !agent->exchange) return refuse("out of memory", AGENT_CANNOT_START);
    agent->serve = serve_new(&agent->loop, agent->config, agent->host, text, sizeof text);
    if (!agent->serve) return refuse(text, AGENT_CANNOT_START);
    serve_set_history(agent->serve, agent->history);
    serve_set_guardian(agent->serve, agent->guardian);
    serve_set_metrics(agent->serve, &agent->metrics);
    serve_set_exchange(agent->serve, agent->exchange);
    serve_set_listener(agent->serve, agent_notice_step, agent);
    return open_http(agent);
}

static void begin(struct agent *agent)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    const size_t signal_count = sizeof signals / sizeof *signals;
    const struct config *config = agent->config;
    char text[256];
    agent->on_timer.data = agent->before_waiting.data = agent;
    for (uint32_t i = 0; i < agent->udp.count; i++) {
        agent->on_sockets[i].data = agent;
        uv_poll_init(&agent->loop, &agent->on_sockets[i], agent->udp.sockets[i]);
        uv_poll_start(&agent->on_sockets[i], UV_READABLE, on_readable);
    }
    uv_poll_init(&agent->loop, &agent->on_timer, agent->timer);
    uv_poll_start(&agent->on_timer, UV_READABLE, on_due);
    agent->generation = generation_open(); /* without it only the clock tells */
    agent->on_generation.data = agent;
    if (agent->generation >= 0) {
        uv_poll_init(&agent->loop, &agent->on_generation, agent->generation);
        uv_poll_start(&agent->on_generation, UV_READABLE, on_uevent);
    }
    uv_prepare_init(&agent->loop, &agent->before_waiting);
    uv_prepare_start(&agent->before_waiting, before_waiting);
    for (size_t i = 0; i < signal_count; i++) {
        uv_signal_init(&agent->loop, &agent->on_signal[i]);
        agent->on_signal[i].data = agent;
        uv_signal_start(&agent->on_signal[i], on_signal, signals[i]);
    }
    for (uint32_t i = 0; i < config->group_count; i++) /* groups with a name of their own begin now */
        if (!strchr(config->groups[i].name, '*') &&
            !host_find(agent->host, config->groups[i].name, text, sizeof text))
            log_event(LOG_ERROR_LEVEL, config->groups[i].name, "%s", text);
}

static void begin_realtime(struct agent *agent)
{
    /* Its guardian is spawned before: the agent would wait for a child that is an ordinary process. */
    (void)guardian_client_tick(agent->guardian);
    const struct realtime got = realtime_begin(REALTIME_AGENT, REALTIME_ALONE);
    realtime_describe(&got, agent->refused, sizeof agent->refused);
    serve_set_refused(agent->serve, agent->refused);
    if (agent->refused[0])
        log_event(
            LOG_WARN_LEVEL, NULL,
            "profile realtime works without %s: when this host is busy, leases of 30 ms may end although nothing has failed",
            agent->refused);
    else
        log_event(LOG_INFO_LEVEL, NULL, "profile realtime: SCHED_FIFO and locked memory are granted");
}

static void warn_of_promises(const struct config *config)
{
    for (uint32_t i = 0; i < config->group_count; i++) {
        const struct el_algorithm *algorithm = config->groups[i].algorithm;
        if (!algorithm || strcmp(algorithm->name, "quorum") == 0) continue;
        log_event(LOG_WARN_LEVEL, config->groups[i].name,
                  "algorithm %s does not give quorum's guarantees; `elector algorithms %s` says what breaks it",
                  algorithm->name, algorithm->name);
    }
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void close_all(struct agent *agent)
{
    http_free(agent->http);
    if (agent->serve) serve_free(agent->serve);
    agent->serve = NULL; /* changes by the last write are not reported */
    guardian_client_free(agent->guardian);
    agent->guardian = NULL;
    agent_stop_reload(agent);
    uv_walk(&agent->loop, close_handle, NULL);
    uv_run(&agent->loop, UV_RUN_DEFAULT); /* waits for a write in progress */
    uv_loop_close(&agent->loop);
    host_free(agent->host);
    recorder_close(agent->recorder);
    history_file_close(agent->history_file, agent->history, HISTORY_WAIT_MS);
    history_free(agent->history);
    exchange_free(agent->exchange);
    seal_free(agent->seal);
    if (agent->record) record_close(agent->record);
    udp_close(&agent->udp);
    if (agent->timer >= 0) close(agent->timer);
    if (agent->generation >= 0) close(agent->generation);
}

int agent_run(struct config *config, const char *program, uint64_t (*stall_ns)(const struct config *))
{
    struct agent agent = {.config = config,
                          .program = program,
                          .stall_ns = stall_ns,
                          .timer = -1,
                          .generation = -1,
                          .metrics.version = ELECTOR_VERSION};
    char address[CONFIG_PLACE_TEXT], http[80] = "off", unconfined[160];
    log_set(config->log == CONFIG_LOG_JSON, config->verbose);
    confine(config, unconfined, sizeof unconfined);
    if (sodium_init() < 0 || uv_loop_init(&agent.loop) != 0)
        return refuse("libsodium or libuv does not start", AGENT_CANNOT_START);
    (void)uv_loop_configure(&agent.loop, UV_METRICS_IDLE_TIME);
    (void)signal(SIGPIPE, SIG_IGN);
    descriptors_allow_many();
    agent.metrics.started_ms = clock_wall_ns() / NS_PER_MS;
    agent.notices.began_at = clock_boottime_ns();
    agent.code = open_all(&agent);
    if (agent.code == 0) {
        begin(&agent);
        agent.watchdog = systemd_watchdog_ns();
        config_write_place(config, config->self, address, sizeof address);
        const bool is_served = agent.http && http_is_served(agent.http);
        if (is_served) config_write_address(&config->http, http, sizeof http);
        log_event(LOG_INFO_LEVEL, NULL, "member %s of %s, %u members, on %s%s; clients at %s, HTTP %s%s",
                  config->members[config->self - 1].name, config->cluster, config->member_count, address,
                  config->has_keys ? "" : " without keys", config->socket, is_served ? "at " : "",
                  is_served || !agent.http ? http : "not yet");
        if (unconfined[0])
            log_event(LOG_INFO_LEVEL, NULL, "no system calls are forbidden to this agent: %s", unconfined);
        warn_of_promises(config);
        systemd_notify("READY=1");
        if (config_is_realtime(config)) begin_realtime(&agent);
        log_defer(true);      /* a failover does not wait for the log */
        time_slice_shorten(); /* of an agent that is no real-time process */
        uv_run(&agent.loop, UV_RUN_DEFAULT);
        log_defer(false);
    }
    close_all(&agent);
    return agent.code;
}
