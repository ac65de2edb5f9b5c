/* Requests of clients: one JSON object, one answer. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>

#include "agent/serve/internal.h"
#include "base/closer.h"

static const json_int_t NUMBER_END = (json_int_t)EL_EPOCH_MAX;

/* The present request. Its handler answers exactly once. */
struct request {
    struct connection *from;
    struct serve *serve;
    const json_t *object, *id;
    const char *group; /* NULL: none was named */
};

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
    c->refusal = error;
    connection_say(c, line);
}

static void refuse(const struct request *r, const char *error, const char *message)
{
    serve_refuse(r->from, r->id, error, message);
}

static void agree(const struct request *r)
{
    connection_say(r->from, answer(r->id, true));
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

static void answer_as(const struct request *r, enum leadership_answer said)
{
    serve_answer_as(r->from, r->id, r->group, NULL, said);
}

/* ---- Fields ---- */

/* Reads a string field; *text is NULL if it is optional and missing. jansson accepts no zero byte in it. */
static bool read_text(const struct request *r, const char *name, bool is_needed, const char **text)
{
    const json_t *value = json_object_get(r->object, name);
    *text = NULL;
    if (!value) return !is_needed;
    if (!json_is_string(value)) return false;
    *text = json_string_value(value);
    return true;
}

static bool read_number(const struct request *r, const char *name, bool is_needed, uint64_t *number)
{
    const json_t *value = json_object_get(r->object, name);
    *number = 0;
    if (!value) return !is_needed;
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) >= NUMBER_END)
        return false;
    *number = (uint64_t)json_integer_value(value);
    return true;
}

/* False: the request has been refused. */
static bool is_permitted(const struct request *r, enum config_right right)
{
    if (serve_may(r->from, r->group, right)) return true;
    refuse(r, "not-permitted", serve_lack_of(right));
    return false;
}

/* The leadership of the request's group, if the client has the right, or needs none because this is its own.
 * NULL: the request has been refused. */
static struct leadership *find_leadership(const struct request *r, enum config_right right,
                                          bool (*is_own)(const struct leadership *, const void *client))
{
    struct leadership *o = serve_find_leadership(r->serve, r->group);
    if (!(o && is_own(o, r->from)) && !is_permitted(r, right)) return NULL;
    if (!o) refuse(r, "unknown-group", "this agent does not know the group");
    return o;
}

static bool read_value(const struct request *r, bool is_needed, const char **value)
{
    const bool is_text = read_text(r, "value", is_needed, value);
    if (!is_text)
        refuse(r, "bad-request", "`value` must be text");
    else if (*value && strlen(*value) > HOST_VALUE_MAX)
        refuse(r, "bad-value", "a value is at most 255 bytes");
    return is_text && !(*value && strlen(*value) > HOST_VALUE_MAX);
}

/* ---- Operations ---- */

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
    if (!read_number(r, "version", false, &version) || version > 1) {
        refuse(r, "bad-request", "the only version is 1");
        return;
    }
    if (page && !json_is_boolean(page)) {
        refuse(r, "bad-request", "`page` must be true or false");
        return;
    }
    if (page) set_page(r, json_is_true(page));
    json_t *names = json_array(), *line = answer(r->id, true);
    for (uint32_t i = 0; names && i < config->member_count; i++)
        json_array_append_new(names, serve_text(config->members[i].name));
    if (line) {
        json_object_set_new(line, "version", json_integer(1));
        json_object_set_new(line, "member", serve_text(config->members[config->self - 1].name));
        json_object_set_new(line, "cluster", serve_text(config->cluster));
        json_object_set(line, "members", names);
        if (page) json_object_set_new(line, "page", json_boolean(r->from->has_page));
    }
    json_decref(names);
    connection_say(r->from, line);
}

/* Whether the user's limit allows it. False: the request has been refused. */
static bool is_affordable(const struct request *r, enum user_good good, uint64_t more)
{
    char text[200];
    if (user_may_take(r->from->user, r->serve->config, good, more, text, sizeof text)) return true;
    refuse(r, "too-many", text);
    return false;
}

/* Refuses a candidacy for reasons outside the leadership. */
static bool may_campaign(const struct request *r, const char *value)
{
    const struct config *config = r->serve->config;
    if (!is_permitted(r, CONFIG_CAMPAIGN)) return false;
    if (r->serve->leaderships.is_leaving)
        answer_as(r, LEADERSHIP_LEAVING);
    else if (r->serve->failed[0])
        refuse(r, "not-possible", r->serve->failed);
    else if (config->members[config->self - 1].role != CONFIG_VOTER)
        refuse(r, "not-possible", "this member is a witness or an observer, and never leads");
    else if (r->from->has_ended)
        refuse(r, "not-possible", "a candidate must stay connected");
    else if (r->from->campaigns == SERVE_CAMPAIGNS_MAX)
        refuse(r, "too-many", "a connection is a candidate for at most 131072 groups");
    else
        return is_affordable(r, USER_CANDIDACIES, 1) &&
               is_affordable(r, USER_VALUE_BYTES, value ? strlen(value) : 0);
    return false;
}

/* How long to campaign before a leader of lower priority hands over; UINT32_MAX: it does not. */
static bool read_preempt_after(const struct request *r, uint64_t *preempt_after_ms)
{
    const json_t *preempt = json_object_get(r->object, "preempt");
    if (!read_number(r, "preempt_after_ms", false, preempt_after_ms)) return false;
    if (preempt && !json_is_boolean(preempt)) return false;
    if (json_is_false(preempt) || *preempt_after_ms > UINT32_MAX) *preempt_after_ms = UINT32_MAX;
    return true;
}

static void count_candidacy(struct connection *c, size_t value_bytes)
{
    c->campaigns++;
    c->value_bytes += value_bytes;
    c->user->taken[USER_CANDIDACIES]++;
    c->user->taken[USER_VALUE_BYTES] += value_bytes;
}

struct candidacy {
    uint64_t priority, preempt_after_ms, stop_within_ms, watchdog_ms;
    const char *value; /* NULL: none */
};

/* False: the request has been refused. */
static bool read_candidacy(const struct request *r, struct candidacy *wanted)
{
    if (!read_preempt_after(r, &wanted->preempt_after_ms)) {
        refuse(r, "bad-request", "`preempt_after_ms` is a number of milliseconds, `preempt` true or false");
        return false;
    }
    if (!read_number(r, "priority", false, &wanted->priority) ||
        !read_number(r, "stop_within_ms", false, &wanted->stop_within_ms) ||
        !read_number(r, "watchdog_ms", false, &wanted->watchdog_ms)) {
        refuse(r, "bad-request",
               "`priority`, `stop_within_ms` and `watchdog_ms` must be whole numbers below 2^53");
        return false;
    }
    return read_value(r, false, &wanted->value);
}

static void apply(struct leadership *o, struct connection *c, const struct candidacy *wanted)
{
    leadership_set_preempt_after(o, c, (uint32_t)wanted->preempt_after_ms);
    leadership_set_stop_within(o, c, wanted->stop_within_ms);
}

/* Answers first: leadership_enter() may send `elected`, which must come after the answer. */
static void on_campaign(const struct request *r)
{
    struct candidacy wanted;
    char text[300];
    if (!read_candidacy(r, &wanted) || !may_campaign(r, wanted.value)) return;
    struct host_group *group = host_find(r->serve->host, r->group, text, sizeof text);
    struct leadership *o = group ? serve_leadership(r->serve, group) : NULL;
    if (!o) {
        refuse(r, "not-possible", group ? "out of memory" : text);
        return;
    }
    if (leadership_stands(o, r->from)) {
        answer_as(r, LEADERSHIP_ALREADY);
        return;
    }
    if (!number_set_add(&r->from->entered, o->number)) {
        answer_as(r, LEADERSHIP_NO_MEMORY);
        return;
    }
    agree(r);
    count_candidacy(r->from, wanted.value ? strlen(wanted.value) : 0);
    guardian_client_stand(r->serve->guardian, serve_work(r->from));
    serve_watch(r->from, wanted.watchdog_ms);
    if (leadership_enter(o, r->from, wanted.priority, wanted.value ? wanted.value : "") != LEADERSHIP_DONE)
        connection_doom(r->from);
    apply(o, r->from, &wanted);
}

/* The right is that of a candidate: it had it when it campaigned. */
static void on_change(const struct request *r)
{
    struct candidacy wanted;
    if (!read_candidacy(r, &wanted)) return;
    struct leadership *o = find_leadership(r, CONFIG_CAMPAIGN, leadership_stands);
    if (!o) return;
    const size_t before = leadership_value_size(o, r->from), after = wanted.value ? strlen(wanted.value) : 0;
    if (after > before && !is_affordable(r, USER_VALUE_BYTES, after - before)) return;
    const enum leadership_answer said =
        leadership_change(o, r->from, wanted.priority, wanted.value ? wanted.value : "");
    if (said == LEADERSHIP_DONE) {
        r->from->value_bytes += after - before;
        r->from->user->taken[USER_VALUE_BYTES] += after - before;
        serve_watch(r->from, wanted.watchdog_ms);
        apply(o, r->from, &wanted);
    }
    answer_as(r, said);
}

static void on_resign(const struct request *r)
{
    const json_t *force = json_object_get(r->object, "force");
    if (force && !json_is_boolean(force)) {
        refuse(r, "bad-request", "`force` must be true or false");
        return;
    }
    struct leadership *o =
        find_leadership(r, json_is_true(force) ? CONFIG_CONTROL : CONFIG_CAMPAIGN, leadership_stands);
    if (!o) return;
    if (json_is_true(force) && !leadership_stands(o, r->from)) {
        if (!serve_forward(r->from, r->id, o, EXCHANGE_RESIGN, EL_NOBODY)) answer_as(r, leadership_depose(o));
        return;
    }
    const size_t bytes = leadership_value_size(o, r->from);
    const enum leadership_answer said = leadership_withdraw(o, r->from, LEADERSHIP_RESIGNS);
    if (said == LEADERSHIP_DONE) {
        number_set_remove(&r->from->entered, o->number);
        r->from->campaigns--;
        r->from->value_bytes -= bytes;
        r->from->user->taken[USER_CANDIDACIES]--;
        r->from->user->taken[USER_VALUE_BYTES] -= bytes;
        (void)serve_is_forgotten(r->serve, o); /* notes since when nobody uses it */
    }
    answer_as(r, said);
}

static void on_transfer(const struct request *r)
{
    const char *name;
    uint64_t stopped;
    if (!read_text(r, "to", true, &name)) {
        refuse(r, "bad-request", "`to` must be the name of a member");
        return;
    }
    if (!read_number(r, "stopped", false, &stopped)) {
        refuse(r, "bad-request", "`stopped` must be the number that came with `elected`");
        return;
    }
    struct leadership *o = find_leadership(r, CONFIG_CONTROL, leadership_is_held_by);
    if (!o) return;
    const el_node to = config_position(r->serve->config, name);
    if (to == EL_NOBODY)
        refuse(r, "unknown-member", "there is no such member in the configuration");
    else if (stopped || !serve_forward(r->from, r->id, o, EXCHANGE_TRANSFER, to))
        answer_as(r, stopped ? leadership_hand_over(o, r->from, stopped, to) : leadership_transfer(o, to));
}

static void on_stopped(const struct request *r)
{
    uint64_t token;
    if (!read_number(r, "token", true, &token)) {
        refuse(r, "bad-request", "`token` must be the number that came with `stop`");
        return;
    }
    struct leadership *o = find_leadership(r, CONFIG_CAMPAIGN, leadership_stands);
    serve_hear_alive(r->from);
    if (o) answer_as(r, leadership_stopped(o, r->from, token));
}

static void on_alive(const struct request *r)
{
    serve_hear_alive(r->from);
    agree(r);
}

static void on_proclaim(const struct request *r)
{
    const char *value;
    if (!read_value(r, true, &value)) return;
    struct leadership *o = find_leadership(r, CONFIG_CAMPAIGN, leadership_stands);
    if (o) answer_as(r, leadership_proclaim(o, r->from, value));
}

/* Observing does not create a group: who may only observe could create groups up to the limit. */
static void await(const struct request *r)
{
    struct connection *c = r->from;
    if (serve_awaits(c, r->group)) {
        agree(r);
    } else if (c->awaited_count == SERVE_AWAITED_MAX) {
        refuse(r, "too-many",
               "this connection observes 64 groups that do not exist yet, the maximum: observe all instead");
    } else if (is_affordable(r, USER_OBSERVED, 1)) {
        if (!serve_await(c, r->group)) connection_doom(c);
        agree(r);
        connection_say(c, serve_nobody_event(r->group));
    }
}

/* Each change is told to all of them, so there are not many. */
static bool may_observe_all(const struct request *r)
{
    const struct user *user = r->from->user;
    const uint32_t count = r->serve->observers_of_all_count;
    char text[200];
    if (r->from->observes_all) return true;
    if (user_is_trusted(user) ? count < SERVE_OBSERVE_ALL_MAX
                              : user->observes_all < SERVE_OBSERVE_ALL_EACH &&
                                    count < SERVE_OBSERVE_ALL_MAX - SERVE_OBSERVE_ALL_EACH)
        return true;
    snprintf(
        text, sizeof text,
        "%u connections observe all groups, %u of them of user %u, who may have %d: name the groups instead",
        count, user->observes_all, (unsigned)user->uid, (int)SERVE_OBSERVE_ALL_EACH);
    refuse(r, "too-many", text);
    return false;
}

static void on_observe(const struct request *r)
{
    struct connection *c = r->from;
    if (r->group && !is_permitted(r, CONFIG_READ)) return;
    const struct leadership *only = r->group ? serve_find_leadership(r->serve, r->group) : NULL;
    if (r->group && !only) {
        await(r);
        return;
    }
    const bool is_new = only ? !number_set_has(&c->observed, only->number) : !c->observes_all;
    if (only ? is_new && !is_affordable(r, USER_OBSERVED, 1) : !may_observe_all(r)) return;
    agree(r);
    if (only ? is_new && !serve_observe(c, only) : !serve_observe_all(c)) connection_doom(c);
    if (only) connection_coalesce(c, &c->leader_waits, only);
    connection_wake(c);
}

static void say_with_id(const struct request *r, json_t *line)
{
    set_id(line, r->id);
    connection_say(r->from, line);
}

/* For requests that change nothing. NULL: the request has been refused. */
static const struct leadership *look_up(const struct request *r)
{
    if (!is_permitted(r, CONFIG_READ)) return NULL;
    const struct leadership *o = serve_find_leadership(r->serve, r->group);
    if (!o) refuse(r, "unknown-group", "this agent does not know the group");
    return o;
}

/* One page of the groups. The client asks for the next one when it has read this one. */
static void answer_page(const struct request *r)
{
    uint64_t from;
    if (!read_number(r, "from", true, &from)) {
        refuse(r, "bad-request", "`from` must be 0, or the number that came as `next`");
        return;
    }
    uint32_t next = from < SERVE_GROUPS_MAX ? (uint32_t)from : SERVE_GROUPS_MAX;
    json_t *line = serve_status_page(r->from, &next);
    if (json_is_true(json_object_get(line, "more")))
        json_object_set_new(line, "next", json_integer((json_int_t)next));
    say_with_id(r, line);
}

static void on_status(const struct request *r)
{
    if (r->group) {
        const struct leadership *o = look_up(r);
        if (o && serve_is_forgotten(r->serve, o))
            refuse(r, "unknown-group", "nobody has used the group for long, or it was forgotten");
        else if (o)
            say_with_id(r, serve_status_of(r->serve, o));
        return;
    }
    if (json_object_get(r->object, "from")) {
        answer_page(r);
        return;
    }
    r->from->in_status = true;
    r->from->status_next = 0;
    r->from->status_id = r->id ? json_deep_copy(r->id) : NULL;
}

static void on_forget(const struct request *r)
{
    const struct leadership *o = find_leadership(r, CONFIG_CONTROL, leadership_stands);
    if (!o) return;
    if (serve_forget(r->serve, o))
        agree(r);
    else
        refuse(r, "in-use", "the group is in use: it has a leader, a candidate or a section of its own");
}

static void on_history(const struct request *r)
{
    uint64_t most;
    const bool is_number = read_number(r, "last", false, &most);
    if (!json_object_get(r->object, "last")) most = SERVE_HISTORY_USUAL;
    if (!is_number || most == 0 || most > SERVE_HISTORY_MAX) {
        refuse(r, "bad-request", "`last` must be a whole number from 1 to 64");
        return;
    }
    const struct leadership *o = look_up(r);
    if (o) say_with_id(r, serve_history(r->serve, o, (uint32_t)most));
}

static void on_why(const struct request *r)
{
    const struct leadership *o = look_up(r);
    if (o) say_with_id(r, serve_why(r->serve, o));
}

/* ---- Work ---- */

static bool is_line(int fd)
{
    int domain = 0, type = 0;
    socklen_t size = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) return false;
    size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && domain == AF_UNIX &&
           type == SOCK_SEQPACKET;
}

/* From now on the guardian waits for the other end of this socket, not for the client's process. */
static void on_work(const struct request *r)
{
    struct connection *c = r->from;
    struct serve *serve = r->serve;
    const int line = c->passed;
    c->passed = -1;
    if (line < 0 || !is_line(line)) {
        refuse(r, "bad-request", "`work` comes with a socket of type SOCK_SEQPACKET, as SCM_RIGHTS");
        if (line >= 0) closer_close(line, &c->user->closing);
        return;
    }
    const uint32_t before = c->work;
    c->work = guardian_client_add(serve->guardian, GUARDIAN_LINE, line, -1);
    if (c->campaigns) guardian_client_stand(serve->guardian, c->work);
    for (uint32_t i = number_set_next(&c->entered, 0); i != NUMBER_SET_NONE;
         i = number_set_next(&c->entered, i + 1)) {
        struct leadership *o = leadership_at(&serve->leaderships, i);
        if (!leadership_is_held_by(o, c)) continue;
        guardian_client_hold(serve->guardian, c->work, o->group, o->tenure->token);
        guardian_client_let_go(serve->guardian, o->tenure->work, o->group);
        o->tenure->work = c->work;
    }
    guardian_client_drop(serve->guardian, before);
    agree(r);
}

/* ---- The table ---- */

static const struct operation {
    const char *name;
    void (*handle)(const struct request *);
    bool needs_group, is_change; /* of who leads, or what is told of it: for the audit */
} operations[] = {
    {"hello", on_hello, false, false},     {"campaign", on_campaign, true, true},
    {"resign", on_resign, true, true},     {"transfer", on_transfer, true, true},
    {"stopped", on_stopped, true, true},   {"proclaim", on_proclaim, true, true},
    {"observe", on_observe, false, false}, {"status", on_status, false, false},
    {"history", on_history, true, false},  {"why", on_why, true, false},
    {"forget", on_forget, true, true},     {"work", on_work, false, false},
    {"alive", on_alive, false, false},     {"change", on_change, true, true},
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
        refuse(r, "bad-request", "`id` must be a number or a string of at most 64 bytes");
        return;
    }
    r->id = id;
    if (!read_text(r, "op", true, &op)) {
        refuse(r, "bad-request", "`op` must be text");
        return;
    }
    const struct operation *operation = find_operation(op);
    if (!operation) {
        refuse(r, "unknown-op", "unknown operation: see docs/socket-protocol.md");
    } else if (!read_text(r, "group", operation->needs_group, &r->group)) {
        refuse(r, "bad-request", "`group` must be text");
    } else if (r->group && !group_name_is_valid(r->group)) {
        refuse(r, "bad-group", "a group's name is 1 to 63 letters, digits, and . _ - : /");
    } else {
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
        refuse(&r, "bad-request", "a request is a JSON object");
    } else if (json_error_code(&error) == json_error_duplicate_key) {
        refuse(&r, "bad-request", "a field occurs twice in this line; send it once");
    } else {
        refuse(&r, "bad-request", "this line is not a JSON object");
        connection_doom(c);
    }
    json_decref(object);
}
