/*
 * unix:PATH, the engine that speaks to an agent. A request waits for its answer for at most 5 s; events that
 * arrive meanwhile are reported at once. When the connection ends, so does all leadership held through it: the
 * agent takes the client for dead, and another is elected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/deadline_view.h"
#include "client/engine.h"
#include "client/json_lines.h"

enum { LINES_A_TURN = 256 }; /* bounds one dispatch(), also if the agent never stops sending */

struct agent {
    struct engine base;
    struct json_lines json_lines;
    json_int_t asked; /* the id of the last request */
    bool has_page;    /* deadlines are read from the deadline page, and no lease events come */
};

static struct agent *agent_of(struct engine *engine)
{
    return (struct agent *)engine;
}

static elector_status lost(struct agent *a)
{
    json_lines_close(&a->json_lines);
    return engine_gone(a->base.owner, "the agent is gone", "%s", a->json_lines.reason);
}

static elector_status nonsense(struct agent *a, const char *what)
{
    snprintf(a->json_lines.reason, sizeof a->json_lines.reason,
             "the agent at %s sent %s; is it of another version?", a->json_lines.path, what);
    return lost(a);
}

/* ---- Events ---- */

/* null: there is no lease. */
static bool read_deadline(const json_t *event, uint64_t *deadline_ns)
{
    *deadline_ns = ENGINE_NEVER;
    return json_is_null(json_object_get(event, "deadline_ns")) ||
           json_lines_number(event, "deadline_ns", 1, deadline_ns);
}

static bool read_token(const json_t *event, uint64_t *token)
{
    return json_lines_number(event, "token", 1, token) && *token < ENGINE_TOKEN_END;
}

/* Absent, or without a page: lease events will renew the term. */
static bool read_slot(const struct agent *a, const json_t *event, uint32_t *slot)
{
    uint64_t number;
    *slot = ENGINE_NO_SLOT;
    if (!a->has_page || !json_object_get(event, "slot")) return true;
    if (!json_lines_number(event, "slot", 0, &number) || number >= DEADLINE_SLOTS) return false;
    *slot = (uint32_t)number;
    return true;
}

/* Null or absent: no leader. */
static bool read_leader(const json_t *from, elector_leader *leader)
{
    const json_t *who = json_object_get(from, "leader"), *value = json_object_get(from, "value");
    *leader = (elector_leader){0};
    if (who && !json_is_null(who)) {
        const char *name = json_lines_text(from, "leader", ELECTOR_NAME_MAX);
        if (!name || !read_token(from, &leader->token)) return false;
        snprintf(leader->name, sizeof leader->name, "%s", name);
    }
    if (value && !json_is_null(value)) {
        const char *text = json_lines_text(from, "value", ELECTOR_VALUE_MAX);
        if (!text) return false;
        if (leader->name[0]) snprintf(leader->value, sizeof leader->value, "%s", text);
    }
    return true;
}

static bool hear_leader(struct agent *a, const json_t *event, const char *group)
{
    elector_leader leader;
    if (!read_leader(event, &leader)) return false;
    engine_leader(a->base.owner, group, &leader);
    return true;
}

/* False: a field is missing or of the wrong kind. */
static bool hear_event(struct agent *a, const json_t *event, const char *name)
{
    elector *owner = a->base.owner;
    const char *group = json_lines_text(event, "group", ELECTOR_GROUP_MAX),
               *reason = json_lines_text(event, "reason", 127), *cause = json_lines_text(event, "cause", 127);
    uint64_t token = 0, deadline_ns = 0;
    uint32_t slot;
    const bool moves = strcmp(name, "lease") == 0, begins = strcmp(name, "elected") == 0;
    const bool stops = strcmp(name, "stop") == 0, ends = strcmp(name, "lost") == 0;
    if (strcmp(name, "leader") == 0) return group && hear_leader(a, event, group);
    if (!moves && !begins && !stops && !ends) return true; /* an event of a later version */
    if (!group || !read_token(event, &token)) return false;
    if (!reason) reason = "the agent did not say why";
    if (ends) {
        engine_lost(owner, group, token, cause ? cause : reason, strcmp(reason, "resigned") != 0);
        return true;
    }
    if (!read_deadline(event, &deadline_ns) || !read_slot(a, event, &slot)) return false;
    if (moves) engine_lease(owner, group, token, deadline_ns);
    if (begins) engine_elected(owner, group, token, deadline_ns, slot);
    if (stops) engine_stop(owner, group, token, deadline_ns, reason);
    return true;
}

/* Reads one line. 1: got one, and if it is the awaited answer, *answer is set; 0: none yet; -1: the connection
 * ended. */
static int hear(struct agent *a, json_t **answer)
{
    json_t *line;
    const int got = json_lines_read(&a->json_lines, &line);
    *answer = NULL;
    if (got < 0) lost(a);
    if (got <= 0) return got;
    const json_t *event = json_object_get(line, "event"), *id = json_object_get(line, "id");
    if (json_is_string(event)) {
        if (!hear_event(a, line, json_string_value(event)))
            nonsense(a, "an event with a field missing or wrong");
    } else if (event || !json_is_boolean(json_object_get(line, "ok"))) {
        nonsense(a, "a line that is neither an answer nor an event");
    } else if (json_is_integer(id) && json_integer_value(id) == a->asked) {
        *answer = json_incref(line);
    } else if (!id && json_is_false(json_object_get(line, "ok"))) { /* our request could not be parsed */
        char text[200];
        json_lines_refusal(line, text, sizeof text);
        snprintf(a->json_lines.reason, sizeof a->json_lines.reason, "the agent at %s: %s", a->json_lines.path,
                 text);
        lost(a);
    }
    json_decref(line);
    if (!engine_is_gone(a->base.owner)) return 1;
    json_lines_close(&a->json_lines);
    json_decref(*answer);
    *answer = NULL;
    return -1;
}

static void dispatch(struct engine *engine)
{
    json_t *answer;
    int lines = 0;
    while (lines++ < LINES_A_TURN && hear(agent_of(engine), &answer) > 0) json_decref(answer);
}

/* ---- Requests ---- */

static elector_status post(struct agent *a, json_t *request)
{
    if (request) json_object_set_new(request, "id", json_integer(++a->asked));
    if (!request) return engine_fail(a->base.owner, ELECTOR_NO_MEMORY, "out of memory");
    return json_lines_send(&a->json_lines, request) ? ELECTOR_OK : lost(a);
}

/* Steals the request. With ELECTOR_OK the caller frees *answer. */
static elector_status ask(struct agent *a, json_t *request, uint64_t until_ns, json_t **answer)
{
    char text[400];
    *answer = NULL;
    elector_status status = post(a, request);
    while (status == ELECTOR_OK && !*answer) {
        const int heard = hear(a, answer);
        if (heard < 0) return ELECTOR_LOST;
        if (heard == 0 && !json_lines_wait(&a->json_lines, until_ns))
            return engine_fail(a->base.owner, ELECTOR_TIMEOUT, "the agent at %s does not answer; does it hang?",
                               a->json_lines.path);
    }
    if (status == ELECTOR_OK && json_is_false(json_object_get(*answer, "ok"))) {
        status = json_lines_refusal(*answer, text, sizeof text);
        engine_fail(a->base.owner, status, "%s", text);
        json_decref(*answer);
        *answer = NULL;
    }
    return status;
}

/* Without an answer we cannot know whether the agent acted on the request. So a timeout ends the connection. */
static elector_status tell(struct engine *engine, json_t *request)
{
    struct agent *a = agent_of(engine);
    json_t *answer;
    const elector_status status = ask(a, request, engine_until(LINES_ANSWER_MS), &answer);
    json_decref(answer);
    if (status != ELECTOR_TIMEOUT) return status;
    snprintf(a->json_lines.reason, sizeof a->json_lines.reason,
             "the agent at %s does not answer; does it hang?", a->json_lines.path);
    return lost(a);
}

static elector_status campaign(struct engine *engine, const char *group, const elector_options *options)
{
    json_t *request =
        json_pack("{ss ss sI}", "op", "campaign", "group", group, "priority", (json_int_t)options->priority);
    if (request && options->value && *options->value)
        json_object_set_new(request, "value", json_string(options->value));
    if (request && options->preempt_after_ms == ELECTOR_NEVER)
        json_object_set_new(request, "preempt", json_false());
    else if (request && options->preempt_after_ms)
        json_object_set_new(request, "preempt_after_ms", json_integer((json_int_t)options->preempt_after_ms));
    if (request && options->stop_within_ms)
        json_object_set_new(request, "stop_within_ms", json_integer((json_int_t)options->stop_within_ms));
    if (request && options->watchdog_ms)
        json_object_set_new(request, "watchdog_ms", json_integer((json_int_t)options->watchdog_ms));
    return tell(engine, request);
}

static elector_status resign(struct engine *engine, const char *group)
{
    return tell(engine, json_pack("{ss ss}", "op", "resign", "group", group));
}

static elector_status transfer(struct engine *engine, const char *group, const char *member, uint64_t stopped)
{
    json_t *request = json_pack("{ss ss ss}", "op", "transfer", "group", group, "to", member);
    if (request && stopped) json_object_set_new(request, "stopped", json_integer((json_int_t)stopped));
    return tell(engine, request);
}

static elector_status proclaim(struct engine *engine, const char *group, const char *value)
{
    return tell(engine, json_pack("{ss ss ss}", "op", "proclaim", "group", group, "value", value));
}

/* Does not wait for the answer, since callbacks call it; the event `lost` follows. */
static elector_status stopped(struct engine *engine, const char *group, uint64_t token)
{
    return post(agent_of(engine),
                json_pack("{ss ss sI}", "op", "stopped", "group", group, "token", (json_int_t)token));
}

/* Does not wait for the answer, either: whoever says that it is alive must not hang with the agent. */
static elector_status alive(struct engine *engine)
{
    struct agent *a = agent_of(engine);
    return json_lines_is_full(&a->json_lines) ? ELECTOR_OK : post(a, json_pack("{ss}", "op", "alive"));
}

static elector_status observe(struct engine *engine, const char *group)
{
    json_t *request = json_pack("{ss}", "op", "observe");
    if (request && group) json_object_set_new(request, "group", json_string(group));
    return tell(engine, request);
}

static elector_status work(struct engine *engine, int line)
{
    agent_of(engine)->json_lines.passes = line;
    const elector_status status = tell(engine, json_pack("{ss}", "op", "work"));
    agent_of(engine)->json_lines.passes = -1;
    return status;
}

static elector_status leader_of(struct engine *engine, const char *group, uint64_t until_ns,
                                elector_leader *leader)
{
    struct agent *a = agent_of(engine);
    json_t *answer;
    elector_status status = ask(a, json_pack("{ss ss}", "op", "status", "group", group), until_ns, &answer);
    if (status != ELECTOR_OK) return status;
    const json_t *known = json_array_get(json_object_get(answer, "groups"), 0);
    const char *name = json_lines_text(known, "group", ELECTOR_GROUP_MAX);
    if (!json_is_array(json_object_get(answer, "groups")) ||
        (known && (!name || strcmp(name, group) != 0 || !read_leader(known, leader))))
        status = nonsense(a, "a status with a field missing or wrong");
    json_decref(answer);
    return status;
}

/* ---- Opening ---- */

static void close_agent(struct engine *engine)
{
    json_lines_close(&agent_of(engine)->json_lines);
    free(engine);
}

/* *is_good is false if the agent has sent a page that we cannot use. */
static void take_page(struct agent *a, bool is_given, bool *is_good)
{
    const int fd = json_lines_take_passed(&a->json_lines);
    a->has_page = is_given && fd >= 0 && engine_page(a->base.owner, fd);
    *is_good = a->has_page || !is_given;
    if (fd >= 0) close(fd);
}

static elector_status hello(struct agent *a, bool wants_page, bool *is_good)
{
    json_t *answer;
    uint64_t version = 0;
    elector_status status = ask(a, json_pack("{ss si sb}", "op", "hello", "version", 1, "page", wants_page),
                                engine_until(LINES_ANSWER_MS), &answer);
    if (status == ELECTOR_OK && (!json_lines_number(answer, "version", 1, &version) || version != 1))
        status =
            engine_fail(a->base.owner, ELECTOR_UNAVAILABLE,
                        "the agent at %s speaks another version of the protocol, not 1", a->json_lines.path);
    if (status == ELECTOR_OK)
        take_page(a, wants_page && json_is_true(json_object_get(answer, "page")), is_good);
    json_decref(answer);
    return status;
}

/* If the agent's page is unusable (another version), says hello again without one, so that lease events
 * come. */
static elector_status greet(struct agent *a)
{
    bool is_good = true;
    elector_status status = hello(a, true, &is_good);
    if (status == ELECTOR_OK && !is_good) status = hello(a, false, &is_good);
    return status == ELECTOR_TIMEOUT || status == ELECTOR_LOST ? ELECTOR_UNAVAILABLE : status;
}

static elector_status open_agent(elector *owner, const char *path, struct engine **out)
{
    struct agent *a = malloc(sizeof *a);
    if (!a) return engine_fail(owner, ELECTOR_NO_MEMORY, "out of memory");
    a->base = (struct engine){.kind = &engine_agent, .owner = owner};
    a->asked = 0;
    a->has_page = false;
    elector_status status = json_lines_open(&a->json_lines, path);
    if (status != ELECTOR_OK) engine_fail(owner, status, "%s", a->json_lines.reason);
    if (status == ELECTOR_OK) status = greet(a);
    if (status == ELECTOR_OK)
        *out = &a->base;
    else
        close_agent(&a->base);
    return status;
}

static int descriptor(const struct engine *engine)
{
    return ((const struct agent *)engine)->json_lines.fd;
}

/* Output that the socket did not take is retried after 20 ms, since the application polls for input only. */
static uint64_t deadline(const struct engine *engine)
{
    const struct json_lines *w = &((const struct agent *)engine)->json_lines;
    const bool more = w->used < w->size && memchr(w->in + w->used, '\n', w->size - w->used);
    if (more) return 0;
    return json_lines_is_full(w) ? engine_until(20) : ENGINE_NEVER;
}

const struct engine_kind engine_agent = {
    .scheme = "unix",
    .open = open_agent,
    .close = close_agent,
    .campaign = campaign,
    .resign = resign,
    .transfer = transfer,
    .proclaim = proclaim,
    .stopped = stopped,
    .alive = alive,
    .observe = observe,
    .work = work,
    .leader_of = leader_of,
    .fd = descriptor,
    .deadline = deadline,
    .dispatch = dispatch,
};
