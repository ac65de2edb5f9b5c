/* Describes groups as JSON: `status` and leader events. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "agent/serve/internal.h"
#include "base/clock.h"

json_t *serve_text(const char *text)
{
    char plain[512];
    size_t size = 0;
    json_t *string = json_string(text);
    if (string) return string;
    for (; size < sizeof plain && text[size]; size++)
        plain[size] = (char)(text[size] & 0x80 ? '?' : text[size]);
    return json_stringn(plain, size);
}

json_t *serve_deadline(uint64_t deadline_ns)
{
    return deadline_ns > INT64_MAX ? json_null() : json_integer((json_int_t)deadline_ns);
}

static json_t *member_name(const struct config *config, el_node member)
{
    return member == EL_NOBODY ? json_null() : serve_text(config->members[member - 1].name);
}

static json_t *leader_name(const struct serve *serve, const struct leadership *o, el_node leader)
{
    const char *foreign = serve->engine && leader ? serve->engine->leader(o->group) : NULL;
    return foreign ? serve_text(foreign) : member_name(serve->config, leader);
}

json_t *serve_nobody_event(const char *group)
{
    return json_pack("{ss ss sn si ss}", "event", "leader", "group", group, "leader", "token", 0, "value", "");
}

json_t *serve_leader_event(const struct serve *serve, const struct leadership *o)
{
    const struct host_view view = host_view_of(o->group);
    return json_pack("{ss ss so sI so}", "event", "leader", "group", host_name(o->group), "leader",
                     leader_name(serve, o, view.leader), "token", (json_int_t)view.token, "value",
                     serve_text(view.value));
}

/* ---- Status ---- */

static json_t *describe_promises(const struct el_algorithm *algorithm)
{
    static const struct {
        uint32_t claim;
        const char *text;
    } claims[] = {
        {EL_CLAIMS_ONE_LEADER, "never two leaders at one instant"},
        {EL_CLAIMS_ONE_PER_TERM, "never two leaders with one token"},
        {EL_CLAIMS_RISING, "tokens rise"},
    };
    char text[128] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        if (algorithm->claims & claims[i].claim)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "; " : "", claims[i].text);
    return json_string(text);
}

static json_t *lease_left(const struct serve *serve, const struct host_view *view)
{
    const uint64_t now = host_clock(serve->host), end = view->deadline_ns;
    if (view->role != EL_LEADER || end == UINT64_MAX) return json_null();
    return json_integer((json_int_t)(end > now ? (end - now) / NS_PER_MS : 0));
}

enum { STANDING_MAX = 64 }; /* of the candidates at a store: a line has room for them */

/* The reachable members with a candidate, and their priorities if they are known. */
static json_t *describe_standing(const struct serve *serve, const struct leadership *o)
{
    json_t *list = json_array();
    const char *name;
    for (uint32_t i = 0; list && serve->engine && i < STANDING_MAX; i++) {
        if ((name = serve->engine->candidate(o->group, i)) == NULL) break;
        json_array_append_new(list, json_pack("{so}", "member", serve_text(name)));
    }
    for (el_node member = 1; list && !serve->engine && member <= serve->config->member_count; member++) {
        const bool is_self = member == serve->config->self;
        uint64_t priority;
        if (!host_stands(o->group, member, &priority)) continue;
        const bool talks =
            config_talks(serve->config, serve->config->self, member); /* else voters told of it */
        if (!is_self && talks && !host_hears(serve->host, member)) continue;
        json_t *known =
            is_self || talks ? json_integer((json_int_t)priority) : NULL; /* voters tell only that it stands */
        json_array_append_new(
            list, json_pack("{so so*}", "member", member_name(serve->config, member), "priority", known));
    }
    return list;
}

json_t *serve_describe_group(const struct serve *serve, const struct leadership *o)
{
    static const char *const roles[] = {
        [EL_IDLE] = "idle", [EL_ELECTING] = "electing", [EL_FOLLOWER] = "follower", [EL_LEADER] = "leader"};
    const struct host_view view = host_view_of(o->group);
    const struct el_algorithm *algorithm = host_algorithm(o->group);
    uint32_t votes, counted;
    serve_count_votes(serve, o->group, &votes, &counted);
    return json_pack(
        "{ss ss so sI ss so sI so so so sI sI}", "group", host_name(o->group), "algorithm", algorithm->name,
        "leader", leader_name(serve, o, view.leader), "token", (json_int_t)view.token, "role", roles[view.role],
        "lease_left_ms", lease_left(serve, &view), "candidates", (json_int_t)o->candidate_count, "standing",
        describe_standing(serve, o), "value", serve_text(view.value), "promises", describe_promises(algorithm),
        "votes", (json_int_t)votes, "votes_counted", (json_int_t)counted);
}

/* NULL: not known, as of an engine. */
static json_t *describe_lateness(const struct serve *serve)
{
    if (!serve->metrics) return NULL;
    const uint64_t late = metrics_longest_lateness_ns(&serve->metrics->lateness, clock_boottime_ns());
    return json_integer((json_int_t)((late + NS_PER_US - 1) / NS_PER_US));
}

json_t *serve_begin_status(const struct serve *serve)
{
    const struct config *config = serve->config;
    json_t *line =
        json_pack("{sb so so so so* so* ss* s[]}", "ok", 1, "member", member_name(config, config->self),
                  "cluster", serve_text(config->cluster), "members", serve_describe_members(serve),
                  "http_error", serve->http_error[0] ? serve_text(serve->http_error) : NULL, "late_us",
                  describe_lateness(serve), "refused", serve->refused, "groups");
    serve_add_sections(serve, line);
    return line;
}

static size_t append_group(const struct serve *serve, json_t *line, const struct leadership *o, uint64_t *worst)
{
    json_t *group = serve_describe_group(serve, o);
    const size_t size = group ? json_dumpb(group, NULL, 0, JSON_COMPACT) : 0;
    const uint64_t failover = host_worst_failover_ns(o->group);
    if (failover > *worst) *worst = failover;
    json_array_append_new(json_object_get(line, "groups"), group);
    return size;
}

static void end_status(json_t *line, uint64_t worst)
{
    json_object_set_new(line, "worst_failover_ms",
                        json_integer((json_int_t)((worst + NS_PER_MS - 1) /
                                                  NS_PER_MS))); /* a bound: rounded up, as by `elector plan` */
}

json_t *serve_status_of(const struct serve *serve, const struct leadership *o)
{
    uint64_t worst = 0;
    json_t *line = serve_begin_status(serve);
    if (!line) return NULL;
    (void)append_group(serve, line, o, &worst);
    end_status(line, worst);
    return line;
}

json_t *serve_status_page(const struct connection *c, uint32_t *next)
{
    const struct serve *serve = c->serve;
    uint64_t worst = 0;
    size_t size = 0;
    json_t *line = serve_begin_status(serve);
    for (uint32_t looked = 0;
         line && *next < serve->leaderships.count && looked < SERVE_STATUS_GROUPS && size < SERVE_STATUS_BYTES;
         looked++) {
        const struct leadership *o = leadership_at(&serve->leaderships, (*next)++);
        if (!leadership_is_free(o) && serve_may_read(c, o) && !serve_is_forgotten(c->serve, o))
            size += append_group(serve, line, o, &worst);
    }
    if (!line) return NULL;
    end_status(line, worst);
    json_object_set_new(line, "more", json_boolean(*next < serve->leaderships.count));
    return line;
}

json_t *serve_status_line(struct connection *c)
{
    json_t *line = serve_status_page(c, &c->status_next);
    c->in_status = line && c->status_next < c->serve->leaderships.count;
    if (line && c->status_id) json_object_set(line, "id", c->status_id);
    if (!c->in_status) {
        json_decref(c->status_id);
        c->status_id = NULL;
    }
    return line;
}
