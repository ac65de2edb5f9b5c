/* Requests that change nothing: observe, status, members, history and why. */
#define _POSIX_C_SOURCE 200809L
#include "agent/serve/request/request.h"
#include "base/clock.h"

/* Observing does not create a group: who may only observe could create groups up to the limit. */
static void await(const struct request *r)
{
    struct connection *c = r->from;
    if (serve_awaits(c, r->group)) {
        request_agree(r);
    } else if (c->awaited_count == SERVE_AWAITED_MAX) {
        request_refuse(
            r, "too-many",
            "this connection observes 64 groups that do not exist yet, the maximum: observe all instead");
    } else if (request_is_affordable(r, USER_OBSERVED, 1)) {
        if (!serve_await(c, r->group)) connection_doom(c);
        request_agree(r);
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
    request_refuse(r, "too-many", text);
    return false;
}

void request_on_observe(const struct request *r)
{
    struct connection *c = r->from;
    if (r->group && !request_is_permitted(r, CONFIG_READ)) return;
    const struct leadership *only = r->group ? serve_find_leadership(r->serve, r->group) : NULL;
    if (r->group && !only) {
        await(r);
        return;
    }
    const bool is_new = only ? !number_set_has(&c->observed, only->number) : !c->observes_all;
    if (only ? is_new && !request_is_affordable(r, USER_OBSERVED, 1) : !may_observe_all(r)) return;
    request_agree(r);
    if (only ? is_new && !serve_observe(c, only) : !serve_observe_all(c)) connection_doom(c);
    if (only) connection_coalesce(c, &c->leader_waits, only);
    connection_wake(c);
}

/* Of what the client itself has asked for: that needs no right. Events that were sent before the answer may still come. */
void request_on_unobserve(const struct request *r)
{
    if (r->group)
        serve_unobserve(r->from, r->group);
    else
        serve_unobserve_all(r->from);
    request_agree(r);
}

/* What it was, also of a group that is no longer known. */
static bool may_be_told(const struct request *r)
{
    if (!request_is_permitted(r, CONFIG_READ)) return false;
    const bool is_known = serve_remembers(r->serve, r->group);
    if (!is_known) request_refuse(r, "unknown-group", "this agent does not know the group");
    return is_known;
}

/* One page of the groups. The client asks for the next one when it has read this one. */
static void answer_page(const struct request *r)
{
    uint64_t from;
    if (!request_read_number(r, "from", true, &from)) {
        request_refuse(r, "bad-request", "`from` must be 0, or the number that came as `next`");
        return;
    }
    uint32_t next = from < SERVE_GROUPS_MAX ? (uint32_t)from : SERVE_GROUPS_MAX;
    json_t *line = serve_status_page(r->from, &next);
    if (json_is_true(json_object_get(line, "more")))
        json_object_set_new(line, "next", json_integer((json_int_t)next));
    request_say(r, line);
}

void request_on_status(const struct request *r)
{
    if (r->group) {
        if (!may_be_told(r)) return;
        const struct leadership *o = serve_find_leadership(r->serve, r->group);
        if (!o || serve_is_forgotten(r->serve, o))
            request_refuse(r, "unknown-group", "nobody has used the group for long, or it was forgotten");
        else
            request_say(r, serve_status_of(r->serve, o));
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

void request_on_members(const struct request *r)
{
    request_say(r, serve_members(r->serve));
}

/* How late this member's leases were renewed in the last hour. */
void request_on_renewals(const struct request *r)
{
    const struct serve *serve = r->serve;
    uint64_t counts[METRICS_STEPS];
    if (!serve->metrics) {
        request_refuse(r, "not-possible", "only an agent renews leases");
        return;
    }
    const uint64_t longest =
        metrics_renewals_of_hour(&serve->metrics->renewals, host_clock(serve->host), counts);
    json_t *steps = json_array(), *list = json_array();
    for (uint32_t i = 0; i < METRICS_STEPS; i++) {
        if (i + 1 < METRICS_STEPS)
            json_array_append_new(steps, json_integer((json_int_t)(metrics_step_ns(i) / NS_PER_US)));
        json_array_append_new(list, json_integer((json_int_t)counts[i]));
    }
    const uint64_t lost = metrics_lost_in_hour(&serve->metrics->renewals, host_clock(serve->host));
    request_say(r, json_pack("{sb so sI sI so so}", "ok", 1, "member",
                             serve_text(serve->config->members[serve->config->self - 1].name), "lost",
                             (json_int_t)lost, "longest_us", (json_int_t)(longest / NS_PER_US), "steps_us",
                             steps, "counts", list));
}

void request_on_history(const struct request *r)
{
    uint64_t most;
    const bool is_number = request_read_number(r, "last", false, &most);
    if (!json_object_get(r->object, "last")) most = SERVE_HISTORY_USUAL;
    if (!is_number || most == 0 || most > SERVE_HISTORY_MAX) {
        request_refuse(r, "bad-request", "`last` must be a whole number from 1 to 64");
        return;
    }
    if (may_be_told(r)) request_say(r, serve_history(r->serve, r->group, (uint32_t)most));
}

void request_on_why(const struct request *r)
{
    if (may_be_told(r)) request_say(r, serve_why(r->serve, r->group));
}
