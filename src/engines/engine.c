/* See engine.h and run.h: the loop, as in src/agent/agent.c, without peers, disk and guardian. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <jansson.h>
#include <sodium.h>

#include "agent/agent.h"
#include "agent/history/history.h"
#include "agent/systemd.h"
#include "base/children.h"
#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log/log.h"
#include "base/units.h"
#include "elector/parts.h"
#include "engines/internal.h"
#include "engines/run.h"

enum { LEAVE_WITHIN_S = 10, GIVE_UP_WITHIN_S = 2, LOOK_WITHIN_S = 4, TELL_AGAIN_S = 60 };
static const el_duration least_ttl = 2 * NS_PER_S;
static const el_duration usual_ttl = 5 * NS_PER_S;

/* ---- The host's hooks ---- */

static uint64_t hook_now(void *context)
{
    (void)context;
    return clock_boottime_ns();
}

static uint64_t hook_random(void *context)
{
    uint64_t number;
    (void)context;
    randombytes_buf(&number, sizeof number);
    return number;
}

static uint64_t hook_wall(void *context)
{
    (void)context;
    return clock_wall_ns() / NS_PER_MS;
}

static void hook_changed(void *context, struct host_group *group)
{
    const struct engine *engine = context;
    if (engine->serve) serve_changed(engine->serve, group);
}

static void hook_note(void *context, struct host_group *group, const struct host_note *note)
{
    const struct engine *engine = context;
    char text[256];
    if (!log_is_verbose()) return;
    host_note_text(&engine->config, note, text, sizeof text);
    log_event(LOG_DEBUG_LEVEL, group ? group->name : NULL, "%s", text);
}

/* ---- For adapters ---- */

uv_loop_t *engine_loop(const struct engine *engine)
{
    return (uv_loop_t *)(uintptr_t)&engine->loop;
}

const char *engine_member(const struct engine *engine)
{
    return engine->config.members[0].name;
}

el_duration engine_ttl(const struct engine *engine)
{
    return engine->host->kept_ns;
}

static struct el_value *value_of(const struct engine *engine, const char *option)
{
    const struct el_algorithm *algorithm = engine->kind->algorithm;
    for (uint32_t i = 0; i < algorithm->option_count; i++)
        if (strcmp(algorithm->options[i].name, option) == 0) return &engine->host->values[i];
    return NULL;
}

void engine_set_time(struct engine *engine, const char *option, el_duration time)
{
    struct el_value *value = value_of(engine, option);
    if (value) value->number = time;
}

el_duration engine_time(const struct engine *engine, const char *option)
{
    const struct el_value *value = value_of(engine, option);
    return value ? value->number : 0;
}

void engine_set_worst_failover(struct engine *engine, el_duration time)
{
    engine->host->worst_failover_ns = time;
}

el_duration engine_lease_within(const struct engine *engine, el_duration kept)
{
    return el_lease_held(kept, engine->config.drift);
}

void engine_hears_store(struct engine *engine)
{
    engine->host->heard_ns = clock_boottime_ns();
}

void engine_is_ready(struct engine *engine)
{
    if (engine->is_ready) return;
    engine->is_ready = true;
    engine->trouble[0] = '\0';
    if (engine->serve) serve_resume(engine->serve);
}

/* What is refused again and again, while other requests succeed in between, is told once a minute. */
static void tell(struct engine *engine, const char text[ENGINE_TEXT])
{
    const uint64_t now = clock_boottime_ns();
    const bool is_told = strcmp(text, engine->told) == 0 && now - engine->told_ns < TELL_AGAIN_S * NS_PER_S;
    engine->comes_and_goes = is_told;
    if (is_told) return;
    memcpy(engine->told, text, ENGINE_TEXT);
    engine->told_ns = now;
    log_event(LOG_WARN_LEVEL, NULL, "%s", text);
}

void engine_trouble(struct engine *engine, const char *format, ...)
{
    char text[ENGINE_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const bool is_news = strcmp(text, engine->trouble) != 0;
    memcpy(engine->trouble, text, sizeof text);
    if (is_news && (engine->is_ready || !engine->serves_one)) tell(engine, text);
    if (!engine->is_ready && engine->serve) serve_resume(engine->serve);
}

void engine_trouble_is_over(struct engine *engine)
{
    if (engine->is_ready && engine->trouble[0] && !engine->comes_and_goes)
        log_event(LOG_INFO_LEVEL, NULL, "%s answers again", engine->kind->name);
    engine->trouble[0] = '\0';
}

static void finish(struct engine *engine)
{
    if (engine->is_done) return;
    engine->is_done = true;
    uv_stop(&engine->loop);
}

void engine_has_left(struct engine *engine)
{
    if (engine->is_leaving) finish(engine);
}

/* ---- For serve ---- */

/* A store that does not answer about a group is no reason to wait for ever: then nobody is known to lead. */
static bool is_settled(void *context, const struct host_group *group, const char **trouble)
{
    const struct engine *engine = context;
    const uint64_t now = clock_boottime_ns();
    if (!group && engine->is_ready) return true;
    if (!group) {
        if (engine->trouble[0]) *trouble = engine->trouble;
        return false;
    }
    if (group->observed) return true;
    if (now - group->asked_ns < LOOK_WITHIN_S * NS_PER_S) return false;
    *trouble = engine->trouble[0] ? engine->trouble : "the store has not answered yet: try again";
    return false;
}

/* ---- The loop ---- */

static void wake_at(struct engine *engine, uint64_t at)
{
    if (at == engine->wakes_at) return;
    clock_arm(engine->timer, at);
    engine->wakes_at = at;
}

static void on_due(uv_poll_t *handle, int status, int events)
{
    struct engine *engine = handle->data;
    (void)status, (void)events;
    engine->wakes_at = 0;
    serve_resume(engine->serve); /* a request may have waited for long enough */
}

/* No client is left: all that they led was resigned, and their work has ended. */
static void leave(struct engine *engine, uint64_t now)
{
    if (engine->is_leaving) return;
    engine->is_leaving = true;
    engine->leave_by = now + GIVE_UP_WITHIN_S * NS_PER_S;
    engine->kind->leave(engine->opened);
}

/* A service that starts `elector agent --engine` may have WatchdogSec=. */
static uint64_t keep_alive(struct engine *engine, uint64_t now)
{
    if (engine->watchdog == 0) return UINT64_MAX;
    if (now >= engine->watchdog_at) {
        systemd_notify("WATCHDOG=1");
        engine->watchdog_at = now + engine->watchdog;
    }
    return engine->watchdog_at;
}

static void before_waiting(uv_prepare_t *handle)
{
    struct engine *engine = handle->data;
    uint64_t next = host_tick(engine->host);
    const uint64_t now = clock_boottime_ns();
    if (engine->serves_one && serve_client_count(engine->serve) == 0) leave(engine, now);
    if (engine->is_stopping && !engine->is_leaving && (serve_leave(engine->serve) || now >= engine->leave_by))
        leave(engine, now);
    if (engine->is_leaving && now >= engine->leave_by) finish(engine);
    if ((engine->is_leaving || engine->is_stopping) && engine->leave_by < next) next = engine->leave_by;
    const uint64_t others[] = {serve_tell(engine->serve, now), serve_forget_some(engine->serve, now),
                               engine_check_tick(engine, now), keep_alive(engine, now)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] < next) next = others[i];
    if (now + NS_PER_S < next) next = now + NS_PER_S; /* for requests that wait */
    wake_at(engine, next > now ? next : now + 1);
}

static bool has_no_child(const void *context, pid_t child)
{
    (void)context, (void)child;
    return false;
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct engine *engine = handle->data;
    if (number ==
        SIGCHLD) { /* as process 1 of a container we get the orphans of all others there; we have no child */
        children_reap_unknown(has_no_child, NULL);
        return;
    }
    if (number == SIGHUP) {
        if (!engine->serves_one)
            log_event(LOG_INFO_LEVEL, NULL,
                      "signal %d: an engine has no file to read again; for another URL start it anew", number);
        return;
    }
    if (engine->is_stopping) {
        engine->code = 128 + number;
        finish(engine);
        return;
    }
    engine->is_stopping = true;
    engine->leave_by = clock_boottime_ns() + engine->config.stop_timeout + LEAVE_WITHIN_S * NS_PER_S;
    if (!engine->serves_one) systemd_notify("STOPPING=1");
}

/* ---- Beginning ---- */

static void name_self(struct config_member *self, const struct engine_url *url)
{
    char host[256] = "";
    const char *given = url_option(url, "member");
    if (!given && gethostname(host, sizeof host - 1) == 0) host[strcspn(host, ".")] = '\0';
    snprintf(self->name, sizeof self->name, "%s", given ? given : host);
    for (char *at = self->name; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *at)) *at = '-';
    if (!config_is_member_name(self->name)) snprintf(self->name, sizeof self->name, "host");
}

/* The configuration of an agent that has no peer but the store. */
static void configure(struct engine *engine, const struct engine_request *request, const struct engine_url *url)
{
    struct config *config = &engine->config;
    *config = (struct config){.member_count = 2,
                              .self = 1,
                              .socket_mode = 0660,
                              .socket_per_user = 1024,
                              .candidacies_per_user = 16384,
                              .observed_per_user = 16384,
                              .value_bytes_per_user = 1 << 20,
                              .forget_after = 3600 * NS_PER_S,
                              .group_limit = ENGINE_GROUPS_MAX,
                              .stop_timeout = 30 * NS_PER_S,
                              .http_groups = 0,
                              .drift = 10000,
                              .transmit_max = NS_PER_MS,
                              .verbose = request->verbose,
                              .log = request->json ? CONFIG_LOG_JSON : CONFIG_LOG_WORDS};
    name_self(&config->members[0], url);
    config->members[0].id = 1;
    config->members[1].id = 2;
    config->members[1].role = CONFIG_OBSERVER;
    snprintf(config->members[1].name, sizeof config->members[1].name, "%s", engine->kind->name);
    snprintf(config->cluster, sizeof config->cluster, "%s", engine->kind->name);
    if (request->socket) snprintf(config->socket, sizeof config->socket, "%s", request->socket);
}

static bool set_times(struct engine *engine, const struct engine_url *url, char text[ENGINE_TEXT])
{
    const char *given = url_option(url, "ttl");
    el_duration ttl = engine->kind->usual_ttl ? engine->kind->usual_ttl : usual_ttl;
    if (given && (!units_time(given, &ttl) || ttl < least_ttl || ttl % NS_PER_S)) {
        snprintf(text, ENGINE_TEXT, "%.160s: 'ttl' is a number of whole seconds, at least 2s, such as 5s",
                 url->text);
        return false;
    }
    config_values(NULL, NULL, engine->kind->algorithm, engine->host->values);
    engine->host->kept_ns = ttl;
    engine->host->margin = ttl / 20;
    engine_set_time(engine, "lease", engine_lease_within(engine, ttl));
    engine_set_time(engine, "heartbeat", ttl / 5);
    engine_set_time(engine, "timeout", ttl / 4);
    return true;
}

static void turn_away(int client, const char *engine, int code, const char *text)
{
    const char *error = code == AGENT_BAD_CONFIG ? "bad-url" : "unavailable";
    json_t *line = json_pack("{sb ss ss ss}", "ok", 0, "error", error, "message", text, "engine", engine);
    char *written = line ? json_dumps(line, JSON_COMPACT) : NULL;
    if (written) (void)!send(client, written, strlen(written), MSG_NOSIGNAL);
    if (written) (void)!send(client, "\n", 1, MSG_NOSIGNAL);
    free(written);
    json_decref(line);
}

/* `engine`: its name; "": it is of no kind that there is. */
static int refuse(const struct engine_request *request, const char *engine, const char *text, int code)
{
    if (request->client >= 0)
        turn_away(request->client, engine, code, text);
    else
        log_event(LOG_ERROR_LEVEL, NULL, "%s", text);
    return code;
}

static void watch_all(struct engine *engine)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    const size_t signal_count = getpid() == 1 ? 4 : 3;
    engine->before_waiting.data = engine->on_timer.data = engine;
    (void)uv_prepare_init(&engine->loop, &engine->before_waiting);
    (void)uv_prepare_start(&engine->before_waiting, before_waiting);
    (void)uv_poll_init(&engine->loop, &engine->on_timer, engine->timer);
    (void)uv_poll_start(&engine->on_timer, UV_READABLE, on_due);
    for (size_t i = 0; i < signal_count; i++) {
        (void)uv_signal_init(&engine->loop, &engine->on_signal[i]);
        engine->on_signal[i].data = engine;
        (void)uv_signal_start(&engine->on_signal[i], on_signal, signals[i]);
    }
}

/* In the log of an engine for a host: its clients come and go. An engine of one client leaves that to the client. */
static void tell_loss(void *context, enum serve_step what, const char *group, const struct history_entry *e)
{
    const struct engine *engine = context;
    if (what != SERVE_LEASE_LOST || engine->serves_one) return;
    const char *reason = e->reason ? e->reason : "lost";
    const bool is_unrenewed = strcmp(reason, "no-quorum") == 0,
               is_removed = strcmp(reason, engine->kind->removed) == 0;
    log_event(is_unrenewed || is_removed ? LOG_WARN_LEVEL : LOG_INFO_LEVEL, group,
              "leadership lost here: %s%s%s%s", reason, is_unrenewed ? "; " : "",
              is_unrenewed ? engine->kind->name : "", is_unrenewed ? " has not renewed the lease in time" : "");
}

/* 0, or the exit code: `text` says why. */
static int open_all(struct engine *engine, const struct engine_request *request, const struct engine_url *url,
                    char text[ENGINE_TEXT])
{
    const struct host_hooks hooks = {.context = engine,
                                     .now = hook_now,
                                     .random = hook_random,
                                     .wall_ms = hook_wall,
                                     .changed = hook_changed,
                                     .note = hook_note};
    configure(engine, request, url);
    engine->timer = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    engine->host = host_new(&engine->config, NULL, hooks);
    engine->metrics = calloc(1, sizeof *engine->metrics);
    snprintf(text, ENGINE_TEXT, "out of memory, or of descriptors");
    if (engine->timer < 0 || !engine->host || !engine->metrics) return AGENT_CANNOT_START;
    engine->host->engine = engine;
    if (!url_knows(url, url_common_options, engine->kind->options, text)) return AGENT_BAD_CONFIG;
    if (!set_times(engine, url, text)) return AGENT_BAD_CONFIG;
    if (!engine->kind->open(engine, url, &engine->opened, text)) return AGENT_BAD_CONFIG;
    engine->as_served = (struct serve_engine){.context = engine,
                                              .name = engine->kind->name,
                                              .lacks = engine->kind->lacks,
                                              .settled = is_settled,
                                              .check = engine_findings,
                                              .leader = engine_leader_name,
                                              .candidate = engine_candidate_name};
    engine->serve =
        engine->serves_one
            ? serve_new_for(&engine->loop, &engine->config, engine->host, request->client, text, ENGINE_TEXT)
            : serve_new(&engine->loop, &engine->config, engine->host, text, ENGINE_TEXT);
    if (!engine->serve) return AGENT_CANNOT_START;
    serve_set_engine(engine->serve, &engine->as_served);
    serve_set_metrics(engine->serve, engine->metrics);
    serve_set_listener(engine->serve, tell_loss, engine);
    return 0;
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void close_all(struct engine *engine)
{
    struct serve *serve = engine->serve;
    engine->serve = NULL; /* nobody hears of changes any more */
    serve_free(serve);
    if (engine->opened) engine->kind->close(engine->opened);
    uv_walk(&engine->loop, close_handle, NULL);
    (void)uv_run(&engine->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&engine->loop);
    host_free(engine->host);
    free(engine->metrics);
    json_decref(engine->findings);
    if (engine->timer >= 0) close(engine->timer);
}

int engine_run(const struct engine_request *request)
{
    struct engine_url url;
    char text[ENGINE_TEXT];
    struct engine *engine = calloc(1, sizeof *engine);
    log_set(request->json, request->verbose);
    if (request->client >= 0) log_only_warnings(); /* the application's standard error is not ours */
    if (!engine) return refuse(request, "", "out of memory", AGENT_CANNOT_START);
    engine->timer = -1;
    engine->serves_one = request->client >= 0;
    engine->kind = store_kind_of(request->url, text, sizeof text);
    if (!engine->kind || !url_parse(&url, request->url, engine->kind->port, text)) {
        const char *name = engine->kind ? engine->kind->name : "";
        free(engine);
        return refuse(request, name, text, AGENT_BAD_CONFIG);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    descriptors_allow_many();
    if (sodium_init() < 0 || uv_loop_init(&engine->loop) != 0) {
        free(engine);
        return refuse(request, "", "libsodium or libuv does not start", AGENT_CANNOT_START);
    }
    const int code = open_all(engine, request, &url, text);
    if (code) {
        (void)refuse(request, engine->kind->name, text, code);
        engine->code = code;
    } else {
        watch_all(engine);
        if (!engine->serves_one) {
            log_event(LOG_INFO_LEVEL, NULL, "electing on %s; clients at %s", request->url, request->socket);
            systemd_notify("READY=1");
            engine->watchdog = systemd_watchdog_ns();
        }
        (void)uv_run(&engine->loop, UV_RUN_DEFAULT);
    }
    close_all(engine);
    const int result = engine->code;
    free(engine);
    return result;
}
