/* Requests that change who leads: of candidates, of leaders, and of operators. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>

#include "agent/serve/request/request.h"
#include "base/closer.h"

/* Refuses a candidacy for reasons outside the leadership. */
static bool may_campaign(const struct request *r, const char *value)
{
    const struct config *config = r->serve->config;
    if (!request_is_permitted(r, CONFIG_CAMPAIGN)) return false;
    if (r->serve->leaderships.is_leaving)
        request_answer_as(r, LEADERSHIP_LEAVING);
    else if (r->serve->failed[0])
        request_refuse(r, "not-possible", r->serve->failed);
    else if (!config_may_lead(config, config->self))
        request_refuse(r, "not-possible", "this member is a witness or an observer, and never leads");
    else if (r->from->has_ended)
        request_refuse(r, "not-possible", "a candidate must stay connected");
    else
        return request_is_affordable(r, USER_CANDIDACIES, 1) &&
               request_is_affordable(r, USER_VALUE_BYTES, value ? strlen(value) : 0);
    return false;
}

/* How long to campaign before a leader of lower priority hands over; UINT32_MAX: it does not. */
static bool read_preempt_after(const struct request *r, uint64_t *preempt_after_ms)
{
    const json_t *preempt = json_object_get(r->object, "preempt");
    if (!request_read_number(r, "preempt_after_ms", false, preempt_after_ms)) return false;
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
        request_refuse(r, "bad-request",
                       "`preempt_after_ms` is a number of milliseconds, `preempt` true or false");
        return false;
    }
    if (!request_read_number(r, "priority", false, &wanted->priority) ||
        !request_read_number(r, "stop_within_ms", false, &wanted->stop_within_ms) ||
        !request_read_number(r, "watchdog_ms", false, &wanted->watchdog_ms)) {
        request_refuse(r, "bad-request",
                       "`priority`, `stop_within_ms` and `watchdog_ms` must be whole numbers below 2^53");
        return false;
    }
    return request_read_value(r, false, &wanted->value);
}

static void apply(struct leadership *o, struct connection *c, const struct candidacy *wanted)
{
    leadership_set_preempt_after(o, c, (uint32_t)wanted->preempt_after_ms);
    leadership_set_stop_within(o, c, wanted->stop_within_ms);
}

/* It takes a place at the guardian with its first candidacy: those who only read must not use the places up. */
static void be_watched(struct connection *c)
{
    struct guardian_client *guardian = c->serve->guardian;
    if (c->work || !guardian) return;
    c->work = c->line >= 0 ? guardian_client_add(guardian, c->who.uid, GUARDIAN_LINE, c->line, -1)
                           : guardian_client_add(guardian, c->who.uid, GUARDIAN_WATCH,
                                                 c->who.pid ? serve_process_of(c->fd) : -1, c->fd);
    c->line = -1;
}

/* Answers first: leadership_enter() may send `elected`, which must come after the answer. */
void request_on_campaign(const struct request *r)
{
    struct candidacy wanted;
    char text[300];
    if (!read_candidacy(r, &wanted) || !may_campaign(r, wanted.value)) return;
    struct host_group *group = host_find(r->serve->host, r->group, text, sizeof text);
    struct leadership *o = group ? serve_leadership(r->serve, group) : NULL;
    if (!o) {
        request_refuse(r, "not-possible", group ? "out of memory" : text);
        return;
    }
    if (leadership_stands(o, r->from)) {
        request_answer_as(r, LEADERSHIP_ALREADY);
        return;
    }
    if (!number_set_add(&r->from->entered, o->number)) {
        request_answer_as(r, LEADERSHIP_NO_MEMORY);
        return;
    }
    request_agree(r);
    count_candidacy(r->from, wanted.value ? strlen(wanted.value) : 0);
    be_watched(r->from);
    guardian_client_stand(r->serve->guardian, r->from->work);
    serve_watch(r->from, wanted.watchdog_ms);
    if (leadership_enter(o, r->from, wanted.priority, wanted.value ? wanted.value : "") != LEADERSHIP_DONE)
        connection_doom(r->from);
    apply(o, r->from, &wanted);
}

/* The right is that of a candidate: it had it when it campaigned. */
void request_on_change(const struct request *r)
{
    struct candidacy wanted;
    if (!read_candidacy(r, &wanted)) return;
    struct leadership *o = request_find_leadership(r, CONFIG_CAMPAIGN, leadership_stands);
    if (!o) return;
    const size_t before = leadership_value_size(o, r->from), after = wanted.value ? strlen(wanted.value) : 0;
    if (after > before && !request_is_affordable(r, USER_VALUE_BYTES, after - before)) return;
    const enum leadership_answer said =
        leadership_change(o, r->from, wanted.priority, wanted.value ? wanted.value : "");
    if (said == LEADERSHIP_DONE) {
        r->from->value_bytes += after - before;
        r->from->user->taken[USER_VALUE_BYTES] += after - before;
        serve_watch(r->from, wanted.watchdog_ms);
        apply(o, r->from, &wanted);
    }
    request_answer_as(r, said);
}

/* A request to depose was refused or done here: the leader is not at another agent. */
static void answer_deposed(const struct request *r, const struct leadership *o, enum leadership_answer said)
{
    char text[CONFIG_NAME_MAX + 100];
    snprintf(text, sizeof text, "%s: nobody leads it", r->group);
    if (said == LEADERSHIP_NOT_LEADING && host_view_of(o->group).leader == EL_NOBODY)
        request_refuse(r, "not-leading", text);
    else
        request_answer_as(r, said);
}

void request_on_resign(const struct request *r)
{
    const json_t *force = json_object_get(r->object, "force");
    if (force && !json_is_boolean(force)) {
        request_refuse(r, "bad-request", "`force` must be true or false");
        return;
    }
    const char *cause;
    if (!request_read_text(r, "cause", false, &cause)) {
        request_refuse(r, "bad-request", "`cause` must be a word");
        return;
    }
    struct leadership *o =
        request_find_leadership(r, json_is_true(force) ? CONFIG_CONTROL : CONFIG_CAMPAIGN, leadership_stands);
    if (!o) return;
    if (json_is_true(force) && !leadership_stands(o, r->from)) {
        if (!serve_forward(r->from, r->id, o, EXCHANGE_RESIGN, EL_NOBODY))
            answer_deposed(r, o, leadership_depose(o));
        return;
    }
    const size_t bytes = leadership_value_size(o, r->from);
    const enum leadership_answer said = leadership_withdraw(
        o, r->from, cause && strcmp(cause, "no-quorum") == 0 ? LEADERSHIP_RUNS_OUT : LEADERSHIP_RESIGNS);
    if (said == LEADERSHIP_DONE) {
        number_set_remove(&r->from->entered, o->number);
        r->from->campaigns--;
        r->from->value_bytes -= bytes;
        r->from->user->taken[USER_CANDIDACIES]--;
        r->from->user->taken[USER_VALUE_BYTES] -= bytes;
        (void)serve_is_forgotten(r->serve, o); /* notes since when nobody uses it */
    }
    request_answer_as(r, said);
}

void request_on_transfer(const struct request *r)
{
    const char *name;
    uint64_t stopped;
    if (!request_read_text(r, "to", true, &name)) {
        request_refuse(r, "bad-request", "`to` must be the name of a member");
        return;
    }
    if (!request_read_number(r, "stopped", false, &stopped)) {
        request_refuse(r, "bad-request", "`stopped` must be the number that came with `elected`");
        return;
    }
    struct leadership *o = request_find_leadership(r, CONFIG_CONTROL, leadership_is_held_by);
    if (!o) return;
    const el_node to = config_position(r->serve->config, name);
    char text[CONFIG_NAME_MAX + 100];
    snprintf(text, sizeof text, "there is no member %s in the configuration; `elector members` lists them",
             strlen(name) <= CONFIG_NAME_MAX ? name : "with a name so long");
    if (to == EL_NOBODY)
        request_refuse(r, "unknown-member", text);
    else if (stopped || !serve_forward(r->from, r->id, o, EXCHANGE_TRANSFER, to))
        answer_deposed(r, o,
                       stopped ? leadership_hand_over(o, r->from, stopped, to) : leadership_transfer(o, to));
}

void request_on_stopped(const struct request *r)
{
    uint64_t token;
    if (!request_read_number(r, "token", true, &token)) {
        request_refuse(r, "bad-request", "`token` must be the number that came with `stop`");
        return;
    }
    struct leadership *o = request_find_leadership(r, CONFIG_CAMPAIGN, leadership_stands);
    serve_hear_alive(r->from);
    if (o) request_answer_as(r, leadership_stopped(o, r->from, token));
}

void request_on_proclaim(const struct request *r)
{
    const char *value;
    if (!request_read_value(r, true, &value)) return;
    struct leadership *o = request_find_leadership(r, CONFIG_CAMPAIGN, leadership_stands);
    if (o) request_answer_as(r, leadership_proclaim(o, r->from, value));
}

void request_on_forget(const struct request *r)
{
    struct leadership *o = request_find_leadership(r, CONFIG_CONTROL, leadership_stands);
    if (!o) return;
    if (serve_forget(r->serve, o))
        request_agree(r);
    else
        request_refuse(r, "in-use",
                       "the group is in use: it has a leader, a candidate or a section of its own");
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
void request_on_work(const struct request *r)
{
    struct connection *c = r->from;
    struct serve *serve = r->serve;
    const int line = c->passed;
    c->passed = -1;
    if (line < 0 || !is_line(line)) {
        request_refuse(r, "bad-request", "`work` comes with a socket of type SOCK_SEQPACKET, as SCM_RIGHTS");
        if (line >= 0) closer_close(line, &c->user->closing);
        return;
    }
    if (!serve->guardian ||
        !c->work) { /* nobody outlives us, or nobody is to be told yet: what is left is to hold it */
        if (c->line >= 0) closer_close(c->line, &c->user->closing);
        c->line = line;
        request_agree(r);
        return;
    }
    const uint32_t before = c->work;
    c->work = guardian_client_add(serve->guardian, c->who.uid, GUARDIAN_LINE, line, -1);
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
    request_agree(r);
}
