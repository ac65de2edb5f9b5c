/* Requests of clients: one JSON object, one answer. Finds the handler, which answers exactly once. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "agent/serve/request/request.h"

/* ---- The connection itself ---- */

/* A client gets the page only before its first candidacy, because `elected` tells it the slot. It may give the
 * page back at any time. */
static void set_page(const struct request *r, bool is_wanted)
{
    struct connection *c = r->from;
    const struct leaderships *leaderships = &r->serve->leaderships;
    if (is_wanted && r->serve->page && !c->had_page && c->campaigns == 0)
        c->has_page = c->page_waits = c->had_page = true;
    if (is_wanted || !c->has_page) return;
    c->has_page = c->page_waits = false;
    for (uint32_t i = number_set_next(&c->entered, 0); i != NUMBER_SET_NONE;
         i = number_set_next(&c->entered, i + 1)) {
        struct leadership *o = leadership_at(leaderships, i);
        if (leadership_is_held_by(o, c)) leadership_tell_leases(o);
        connection_coalesce(c, &c->lease_waits, o);
    }
}

static void on_hello(const struct request *r)
{
    const struct config *config = r->serve->config;
    const json_t *page = json_object_get(r->object, "page");
    uint64_t version;
    if (!request_read_number(r, "version", false, &version) || version > 1) {
        request_refuse(r, "bad-request", "the only version is 1");
        return;
    }
    if (page && !json_is_boolean(page)) {
        request_refuse(r, "bad-request", "`page` must be true or false");
        return;
    }
    if (page) set_page(r, json_is_true(page));
    json_t *names = json_array(), *line = request_begin_answer(r);
    for (uint32_t i = 0; names && i < config->member_count; i++)
        json_array_append_new(names, serve_text(config->members[i].name));
    if (line) {
        json_object_set_new(line, "version", json_integer(1));
        json_object_set_new(line, "member", serve_text(config->members[config->self - 1].name));
        json_object_set_new(line, "cluster", serve_text(config->cluster));
        json_object_set(line, "members", names);
        if (config_is_realtime(config)) json_object_set_new(line, "realtime", json_true());
        if (page) json_object_set_new(line, "page", json_boolean(r->from->has_page));
        serve_describe_engine(r->serve, line);
    }
    json_decref(names);
    connection_say(r->from, line);
}

static void on_alive(const struct request *r)
{
    serve_hear_alive(r->from);
    request_agree(r);
}

static void on_check(const struct request *r)
{
    const json_t *findings = serve_findings(r->serve);
    const struct config *config = r->serve->config;
    json_t *line = findings ? request_begin_answer(r) : NULL;
    if (!findings) {
        request_refuse(r, "not-possible",
                       "an agent has no store to check: `status` and `members` tell what it knows");
        return;
    }
    if (line) {
        json_object_set_new(line, "member", serve_text(config->members[config->self - 1].name));
        serve_describe_engine(r->serve, line);
        json_object_set_new(line, "checks", json_deep_copy(findings));
    }
    connection_say(r->from, line);
}

/* ---- The table ---- */

static const struct operation {
    const char *name;
    void (*handle)(const struct request *);
    bool needs_group, is_change; /* of who leads, or what is told of it: for the audit */
} operations[] = {
    {"hello", on_hello, false, false},
    {"campaign", request_on_campaign, true, true},
    {"resign", request_on_resign, true, true},
    {"transfer", request_on_transfer, true, true},
    {"stopped", request_on_stopped, true, true},
    {"proclaim", request_on_proclaim, true, true},
    {"observe", request_on_observe, false, false},
    {"unobserve", request_on_unobserve, false, false},
    {"status", request_on_status, false, false},
    {"members", request_on_members, false, false},
    {"check", on_check, false, false},
    {"renewals", request_on_renewals, false, false},
    {"history", request_on_history, true, false},
    {"why", request_on_why, true, false},
    {"forget", request_on_forget, true, true},
    {"work", request_on_work, false, false},
    {"alive", on_alive, false, false},
    {"change", request_on_change, true, true},
};

static const struct operation *find_operation(const char *name)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, name) == 0) return &operations[i];
    return NULL;
}

static bool is_id(const json_t *id)
{
    return json_is_number(id) || (json_is_string(id) && json_string_length(id) <= SERVE_ID_MAX);
}

static void handle(struct request *r)
{
    const char *op;
    const json_t *id = json_object_get(r->object, "id");
    if (id && !is_id(id)) {
        request_refuse(r, "bad-request", "`id` must be a number or a string of at most 64 bytes");
        return;
    }
    r->id = id;
    if (!request_read_text(r, "op", true, &op)) {
        request_refuse(r, "bad-request", "`op` must be text");
        return;
    }
    const struct operation *operation = find_operation(op);
    if (!operation) {
        request_refuse(r, "unknown-op", "unknown operation: see docs/socket-protocol.md");
    } else if (!request_read_text(r, "group", operation->needs_group, &r->group)) {
        request_refuse(r, "bad-request", "`group` must be text");
    } else if (r->group && !group_name_is_valid(r->group)) {
        request_refuse(r, "bad-group", "a group's name is 1 to 63 letters, digits, and . _ - : /");
    } else if (serve_can(r->from, r->id, operation->name, r->group)) {
        r->from->refusal = NULL;
        r->from->is_forwarded = false;
        operation->handle(r);
        if (operation->is_change && !r->from->is_forwarded)
            serve_audit_request(r->from, operation->name, r->object, r->group);
    }
}

void serve_request(struct connection *c, const char *line, size_t size)
{
    json_error_t error;
    json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, &error);
    struct request r = {.from = c, .serve = c->serve, .object = object};
    if (json_is_object(object)) {
        handle(&r);
    } else if (object) {
        request_refuse(&r, "bad-request", "a request is a JSON object");
    } else if (json_error_code(&error) == json_error_duplicate_key) {
        request_refuse(&r, "bad-request", "a field occurs twice in this line; send it once");
    } else {
        request_refuse(&r, "bad-request", "this line is not a JSON object");
        connection_doom(c);
    }
    json_decref(object);
}
