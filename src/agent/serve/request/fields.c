/* What the handlers of requests share: fields of the JSON object, rights and limits, and answers. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "agent/serve/request/request.h"

static const json_int_t NUMBER_END = (json_int_t)EL_EPOCH_MAX;

/* ---- Answers ---- */

static void set_id(json_t *line, const json_t *id)
{
    if (!line || !id) return;
    json_object_set_new(line, "id", json_deep_copy(id));
}

static json_t *answer(const json_t *id, bool ok)
{
    json_t *line = json_object();
    set_id(line, id);
    if (line) json_object_set_new(line, "ok", json_boolean(ok));
    return line;
}

void serve_refuse(struct connection *c, const json_t *id, const char *error, const char *message)
{
    json_t *line = answer(id, false);
    if (line) json_object_set_new(line, "error", json_string(error));
    if (line) json_object_set_new(line, "message", serve_text(message));
    if (line && c->serve->engine) json_object_set_new(line, "engine", json_string(c->serve->engine->name));
    c->refusal = error;
    connection_say(c, line);
}

void request_refuse(const struct request *r, const char *error, const char *message)
{
    serve_refuse(r->from, r->id, error, message);
}

void request_agree(const struct request *r)
{
    connection_say(r->from, answer(r->id, true));
}

json_t *request_begin_answer(const struct request *r)
{
    return answer(r->id, true);
}

void serve_answer_as(struct connection *c, const json_t *id, const char *group, const char *leader,
                     enum leadership_answer said)
{
    static const struct {
        const char *error, *message;
    } words[] = {
        [LEADERSHIP_ALREADY] = {"already-campaigning", "this connection is a candidate already"},
        [LEADERSHIP_NO_CANDIDATE] = {"not-campaigning", "this connection is not a candidate"},
        [LEADERSHIP_NOT_LEADING] = {"not-leading", "not led by this connection or host, or not in that term"},
        [LEADERSHIP_NOT_ASKED] = {"not-possible", "no stop was requested: resign instead"},
        [LEADERSHIP_UNDER_WAY] = {"under-way", "a hand-over is in progress already"},
        [LEADERSHIP_CANNOT] = {"not-possible", "the group's algorithm does not support this"},
        [LEADERSHIP_NOT_ELIGIBLE] = {"not-possible", "that member leads already, or may not lead"},
        [LEADERSHIP_NOT_STANDING] = {"not-possible", "that member has no candidate"},
        [LEADERSHIP_OUT_OF_TOUCH] = {"out-of-touch", "that member has not been heard for 2 s"},
        [LEADERSHIP_LEAVING] = {"leaving", "this agent is about to stop"},
        [LEADERSHIP_FAILED] = {"not-possible", "this agent cannot write its state file"},
        [LEADERSHIP_NO_MEMORY] = {"too-many", "this agent is out of memory"},
    };
    char text[300];
    c->refusal = NULL;
    if (said == LEADERSHIP_DONE) {
        connection_say(c, answer(id, true));
        return;
    }
    if (leader && said == LEADERSHIP_NOT_LEADING)
        snprintf(text, sizeof text, "%s: %s answers that it no longer leads; ask again", group, leader);
    else if (leader)
        snprintf(text, sizeof text, "%s: %s, which leads, answers: %s", group, leader, words[said].message);
    else
        snprintf(text, sizeof text, "%s: %s", group, words[said].message);
    serve_refuse(c, id, words[said].error, text);
}

void request_answer_as(const struct request *r, enum leadership_answer said)
{
    serve_answer_as(r->from, r->id, r->group, NULL, said);
}

/* ---- Fields ---- */

bool request_read_text(const struct request *r, const char *name, bool is_needed, const char **text)
{
    const json_t *value = json_object_get(r->object, name);
    *text = NULL;
    if (!value) return !is_needed;
    if (!json_is_string(value)) return false;
    *text = json_string_value(value);
    return true;
}

bool request_read_number(const struct request *r, const char *name, bool is_needed, uint64_t *number)
{
    const json_t *value = json_object_get(r->object, name);
    *number = 0;
    if (!value) return !is_needed;
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) >= NUMBER_END)
        return false;
    *number = (uint64_t)json_integer_value(value);
    return true;
}

bool request_is_permitted(const struct request *r, enum config_right right)
{
    if (serve_may(r->from, r->group, right)) return true;
    request_refuse(r, "not-permitted", serve_lack_of(right));
    return false;
}

struct leadership *request_find_leadership(const struct request *r, enum config_right right,
                                           bool (*is_own)(const struct leadership *, const void *client))
{
    struct leadership *o = serve_find_leadership(r->serve, r->group);
    if (!(o && is_own(o, r->from)) && !request_is_permitted(r, right)) return NULL;
    if (!o) request_refuse(r, "unknown-group", "this agent does not know the group");
    return o;
}

bool request_read_value(const struct request *r, bool is_needed, const char **value)
{
    const bool is_text = request_read_text(r, "value", is_needed, value);
    if (!is_text)
        request_refuse(r, "bad-request", "`value` must be text");
    else if (*value && strlen(*value) > HOST_VALUE_MAX)
        request_refuse(r, "bad-value", "a value is at most 255 bytes");
    return is_text && !(*value && strlen(*value) > HOST_VALUE_MAX);
}

/* ---- Limits ---- */

bool request_is_affordable(const struct request *r, enum user_good good, uint64_t more)
{
    char text[200];
    if (user_may_take(r->from->user, r->serve->config, good, more, text, sizeof text)) return true;
    request_refuse(r, "too-many", text);
    return false;
}

void request_say(const struct request *r, json_t *line)
{
    set_id(line, r->id);
    connection_say(r->from, line);
}
