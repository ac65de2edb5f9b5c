/*
 * unix:PATH, the engine that speaks to an agent. A request is sent at once, and its ticket waits for the answer; answers
 * come in the order of the requests. When the connection ends, so does all leadership held through it: the agent takes
 * the client for dead, and another is elected. It also ends if the agent owes an answer and says nothing for 5 s.
 */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC */
#include "client/agent_engine.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { LINES_A_TURN = 256 }; /* bounds one dispatch(), also if the agent never stops sending */

static struct agent *agent_of(struct engine *engine)
{
    return (struct agent *)engine;
}

elector_status agent_lost(struct agent *a)
{
    json_lines_close(&a->json_lines);
    return engine_gone(a->base.owner, "the agent is gone", "%s", a->json_lines.reason);
}

static elector_status give_up(struct agent *a)
{
    snprintf(a->json_lines.reason, sizeof a->json_lines.reason,
             "the agent at %s does not answer; does it hang?", a->json_lines.path);
    return agent_lost(a);
}

static uint64_t answer_due(const struct agent *a)
{
    return agent_owes_answer(a) ? a->heard_ns + LINES_ANSWER_MS * NS_PER_MS : ENGINE_NEVER;
}

static void dispatch(struct engine *engine)
{
    struct agent *a = agent_of(engine);
    int lines = 0, got = 1;
    while (lines++ < LINES_A_TURN && (got = agent_hear(a)) > 0) {}
    if (got == 0 && clock_boottime_ns() >= answer_due(a)) give_up(a);
}

/* ---- Requests ---- */

elector_status agent_post(struct agent *a, json_t *request)
{
    if (!request || json_object_set_new(request, "id", json_integer((json_int_t)a->asked + 1)) != 0) {
        json_decref(request);
        return engine_fail(a->base.owner, ELECTOR_NO_MEMORY, "out of memory");
    }
    a->asked++;
    return json_lines_send(&a->json_lines, request) ? ELECTOR_OK : agent_lost(a);
}

/* The same, with a ticket for the answer. */
static elector_status ask(struct engine *engine, json_t *request, struct queued *ticket)
{
    struct agent *a = agent_of(engine);
    const bool is_first = !agent_owes_answer(a);
    const elector_status status = agent_post(a, request);
    if (status != ELECTOR_OK) return status;
    if (is_first) a->heard_ns = clock_boottime_ns();
    ticket->done.id = a->asked;
    ticket->next = NULL;
    if (a->last)
        a->last->next = ticket;
    else
        a->first = ticket;
    a->last = ticket;
    return ELECTOR_OK;
}

static void set(json_t *request, const char *name, json_t *value)
{
    if (request && json_object_set_new(request, name, value) == 0) return;
    if (!request) json_decref(value);
}

static json_t *describe(const char *op, const char *group, const elector_options *options)
{
    json_t *request =
        json_pack("{ss ss sI}", "op", op, "group", group, "priority", (json_int_t)options->priority);
    if (*options->value) set(request, "value", json_string(options->value));
    if (options->preempt_after_ms == ELECTOR_NEVER)
        set(request, "preempt", json_false());
    else if (options->preempt_after_ms)
        set(request, "preempt_after_ms", json_integer((json_int_t)options->preempt_after_ms));
    if (options->stop_within_ms)
        set(request, "stop_within_ms", json_integer((json_int_t)options->stop_within_ms));
    if (options->watchdog_ms) set(request, "watchdog_ms", json_integer((json_int_t)options->watchdog_ms));
    return request;
}

static elector_status campaign(struct engine *engine, const char *group, const elector_options *options,
                               struct queued *ticket)
{
    return ask(engine, describe("campaign", group, options), ticket);
}

static elector_status change(struct engine *engine, const char *group, const elector_options *options,
                             struct queued *ticket)
{
    return ask(engine, describe("change", group, options), ticket);
}

/* Agents of earlier versions ignore the cause. */
static elector_status resign(struct engine *engine, const char *group, bool is_unrenewed, struct queued *ticket)
{
    json_t *request = json_pack("{ss ss}", "op", "resign", "group", group);
    if (is_unrenewed) set(request, "cause", json_string("no-quorum"));
    return ask(engine, request, ticket);
}

static elector_status transfer(struct engine *engine, const char *group, const char *member, uint64_t stopped,
                               struct queued *ticket)
{
    json_t *request = json_pack("{ss ss ss}", "op", "transfer", "group", group, "to", member);
    if (stopped) set(request, "stopped", json_integer((json_int_t)stopped));
    return ask(engine, request, ticket);
}

static elector_status proclaim(struct engine *engine, const char *group, const char *value,
                               struct queued *ticket)
{
    return ask(engine, json_pack("{ss ss ss}", "op", "proclaim", "group", group, "value", value), ticket);
}

/* Needs no ticket: the event `lost` follows. */
static elector_status stopped(struct engine *engine, const char *group, uint64_t token)
{
    return agent_post(agent_of(engine),
                      json_pack("{ss ss sI}", "op", "stopped", "group", group, "token", (json_int_t)token));
}

/* Needs no ticket, either: whoever says that it is alive must not hang with the agent. */
static elector_status alive(struct engine *engine)
{
    struct agent *a = agent_of(engine);
    return json_lines_is_full(&a->json_lines) ? ELECTOR_OK : agent_post(a, json_pack("{ss}", "op", "alive"));
}

static elector_status observe(struct engine *engine, const char *group, struct queued *ticket)
{
    json_t *request = json_pack("{ss}", "op", "observe");
    if (group) set(request, "group", json_string(group));
    return ask(engine, request, ticket);
}

static elector_status unobserve(struct engine *engine, const char *group, struct queued *ticket)
{
    json_t *request = json_pack("{ss}", "op", "unobserve");
    if (group) set(request, "group", json_string(group));
    return ask(engine, request, ticket);
}

static elector_status look(struct engine *engine, const char *group, struct queued *ticket)
{
    return ask(engine, json_pack("{ss ss}", "op", "status", "group", group), ticket);
}

static elector_status work(struct engine *engine, int line, struct queued *ticket)
{
    struct json_lines *w = &agent_of(engine)->json_lines;
    if (w->passes >= 0) close(w->passes);
    w->passes = fcntl(line, F_DUPFD_CLOEXEC, 3);
    return ask(engine, json_pack("{ss}", "op", "work"), ticket);
}

/* ---- Opening and closing ---- */

elector_status agent_greet(struct agent *a, bool wants_page)
{
    const elector_status status =
        agent_post(a, json_pack("{ss si sb}", "op", "hello", "version", 1, "page", wants_page));
    if (status == ELECTOR_OK) a->hello = a->asked;
    return status;
}

static void close_agent(struct engine *engine)
{
    struct agent *a = agent_of(engine);
    char why[512];
    snprintf(why, sizeof why, "%s",
             engine_is_gone(engine->owner) ? elector_message(engine->owner) : "the connection is closed");
    while (a->first) {
        struct queued *ticket = a->first;
        a->first = ticket->next;
        ticket->next = NULL;
        engine_done(engine->owner, ticket, ELECTOR_LOST, why);
    }
    json_lines_close(&a->json_lines);
    free(a);
}

/* `url`: of an engine, else NULL. */
static elector_status open_lines(elector *owner, const char *path, const char *url, struct engine **out)
{
    struct agent *a = malloc(sizeof *a);
    if (!a) return engine_fail(owner, ELECTOR_NO_MEMORY, "out of memory");
    a->base = (struct engine){.kind = &engine_agent, .owner = owner};
    a->asked = a->hello = 0;
    a->first = a->last = NULL;
    a->has_page = false;
    a->heard_ns = clock_boottime_ns();
    elector_status status = url ? json_lines_start(&a->json_lines, url) : json_lines_open(&a->json_lines, path);
    if (status != ELECTOR_OK) engine_fail(owner, status, "%s", a->json_lines.reason);
    if (status == ELECTOR_OK) status = agent_greet(a, true);
    if (status == ELECTOR_OK)
        *out = &a->base;
    else
        close_agent(&a->base);
    return status;
}

static elector_status open_agent(elector *owner, const char *path, struct engine **out)
{
    return open_lines(owner, path, NULL, out);
}

static elector_status open_program(elector *owner, const char *scheme, const char *rest, struct engine **out)
{
    char *url;
    if (asprintf(&url, "%s:%s", scheme, rest) < 0)
        return engine_fail(owner, ELECTOR_NO_MEMORY, "out of memory");
    const elector_status status = open_lines(owner, NULL, url, out);
    free(url);
    return status;
}

static int descriptor(const struct engine *engine)
{
    return ((const struct agent *)engine)->json_lines.fd;
}

static bool has_output(const struct engine *engine)
{
    return json_lines_is_full(&((const struct agent *)engine)->json_lines);
}

static uint64_t deadline(const struct engine *engine)
{
    const struct agent *a = (const struct agent *)engine;
    const struct json_lines *w = &a->json_lines;
    const bool more = w->used < w->size && memchr(w->in + w->used, '\n', w->size - w->used);
    return more ? 0 : answer_due(a);
}

#define SPEAKS_LINES                                                                                      \
    .close = close_agent, .campaign = campaign, .change = change, .resign = resign, .transfer = transfer, \
    .proclaim = proclaim, .observe = observe, .unobserve = unobserve, .look = look, .work = work,         \
    .stopped = stopped, .alive = alive, .fd = descriptor, .has_output = has_output, .deadline = deadline, \
    .dispatch = dispatch

const struct engine_kind engine_agent = {.scheme = "unix", .open = open_agent, SPEAKS_LINES};

/* Stores, each by the program that elects on it: program.c. */
#define PROGRAM(name)                                                                        \
    static elector_status open_##name(elector *owner, const char *rest, struct engine **out) \
    {                                                                                        \
        return open_program(owner, #name, rest, out);                                        \
    }                                                                                        \
    const struct engine_kind engine_##name = {.scheme = #name, .open = open_##name, SPEAKS_LINES}
PROGRAM(etcd);
PROGRAM(etcds);
PROGRAM(zookeeper);
PROGRAM(kubernetes);
