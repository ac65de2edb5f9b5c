/*
 * What a client can ask for. An agent has every operation. An engine (src/engines) does not have some, and says so in its
 * `hello`; and it has to ask its store first, so a request may have to wait. Then it is put back, with all that follow it.
 */
#define _GNU_SOURCE
#include <string.h>

#include "agent/serve/internal.h"

void serve_set_engine(struct serve *serve, const struct serve_engine *engine)
{
    serve->engine = engine;
}

void serve_resume(struct serve *serve)
{
    for (uint32_t i = 0; i < SERVE_CONNECTIONS_MAX && serve->connection_count; i++) {
        struct connection *c = serve->connections[i];
        if (!c || !c->is_held) continue;
        c->is_held = false;
        connection_wake(c);
    }
}

const char *serve_lacks(const struct serve *serve, const char *what)
{
    if (!serve->engine) return NULL;
    for (const char *const(*lack)[2] = serve->engine->lacks; (*lack)[0]; lack++)
        if (strcmp((*lack)[0], what) == 0) return (*lack)[1];
    return NULL;
}

void serve_describe_engine(const struct serve *serve, json_t *line)
{
    if (!serve->engine) return;
    json_t *lacks = json_array();
    json_object_set_new(line, "engine", json_string(serve->engine->name));
    for (const char *const(*lack)[2] = serve->engine->lacks; (*lack)[0]; lack++)
        json_array_append_new(lacks, json_string((*lack)[0]));
    json_object_set_new(line, "lacks", lacks);
}

const json_t *serve_findings(const struct serve *serve)
{
    return serve->engine ? serve->engine->check(serve->engine->context) : NULL;
}

struct leadership *serve_make_leadership(struct serve *serve, const char *group)
{
    char text[300];
    struct host_group *made = host_find(serve->host, group, text, sizeof text);
    return made ? serve_leadership(serve, made) : NULL;
}

/* Those that the machine of a candidate answers by itself. */
static bool needs_no_look(const struct connection *c, const char *op, const char *group)
{
    const struct leadership *o = serve_find_leadership(c->serve, group);
    return strcmp(op, "campaign") == 0 || (o && leadership_stands(o, c));
}

bool serve_can(struct connection *c, const json_t *id, const char *op, const char *group)
{
    const struct serve_engine *engine = c->serve->engine;
    const char *trouble = NULL, *lack = serve_lacks(c->serve, op);
    if (!engine) return true;
    if (lack) {
        serve_refuse(c, id, "not-possible", lack);
        return false;
    }
    if (strcmp(op, "check") == 0) { /* also while the store does not answer */
        c->is_held = serve_findings(c->serve) == NULL;
        return !c->is_held;
    }
    bool is_settled = engine->settled(engine->context, NULL, &trouble);
    if (is_settled && !trouble && group && serve_may(c, group, CONFIG_READ) && !needs_no_look(c, op, group)) {
        const struct leadership *o = serve_make_leadership(c->serve, group);
        if (!o) trouble = "there are too many groups, or there is no memory left";
        if (o) serve_touch(c->serve, o); /* it is not forgotten while the request waits for the store */
        if (o) is_settled = engine->settled(engine->context, o->group, &trouble);
    }
    c->is_held = !is_settled && !trouble;
    if (trouble) serve_refuse(c, id, "unavailable", trouble);
    return is_settled && !trouble;
}
