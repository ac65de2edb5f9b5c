/*
 * /groups: some groups, chosen by name and leader. One request looks at HTTP_GROUPS_LOOKED groups and describes
 * HTTP_GROUPS_MAX of them, however many there are; the answer says where the next request goes on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/serve/http/internal.h"
#include "base/clock.h"

enum { SEARCH_MAX = 255 };

struct query {
    uint64_t from, most;
    char search[SEARCH_MAX + 1]; /* part of the name; "": all */
    el_node leader;              /* EL_NOBODY: those without one */
    bool has_leader;             /* only those with this leader */
};

static bool read_leader(const struct config *config, const char *name, el_node *leader)
{
    *leader = EL_NOBODY;
    if (!*name) return true;
    for (el_node member = 1; member <= config->member_count; member++)
        if (strcmp(config->members[member - 1].name, name) == 0) *leader = member;
    return *leader != EL_NOBODY;
}

/* NULL, or what is wrong. */
static const char *read_query(const struct http *http, struct MHD_Connection *c, struct query *query)
{
    char name[CONFIG_NAME_MAX + 1];
    const char *search = http_value_of(c, "search"), *leader = http_value_of(c, "leader");
    *query = (struct query){.most = HTTP_GROUPS_MAX};
    if (!http_read_number(c, "from", UINT32_MAX, &query->from))
        return "`from` is the `next` of an earlier answer";
    if (!http_read_number(c, "most", HTTP_GROUPS_MAX, &query->most) || query->most == 0)
        return "`most` is a number from 1 to 64";
    if (search && !http_unescape(search, query->search, SEARCH_MAX))
        return "`search` is a part of a name, with %XX for other characters";
    query->has_leader = leader != NULL;
    if (leader &&
        !(http_unescape(leader, name, CONFIG_NAME_MAX) && read_leader(http->with.config, name, &query->leader)))
        return "`leader` is the name of a member, or empty for groups without a leader";
    return NULL;
}

static bool is_meant(const struct http *http, const struct query *query, const struct leadership *o)
{
    return !leadership_is_free(o) && http_may_tell(http, o) &&
           (!query->has_leader || o->seen_leader == query->leader) &&
           (!query->search[0] || strcasestr(host_name(o->group), query->search)) &&
           !serve_is_forgotten(http->with.serve, o);
}

const char *http_list_groups(struct http *http, struct MHD_Connection *c, json_t **answer)
{
    const struct serve *serve = http->with.serve;
    const uint32_t count = serve->leaderships.count;
    struct query query;
    uint64_t worst_ns = 0;
    const char *mistake = read_query(http, c, &query);
    if (mistake) return mistake;
    json_t *list = json_array();
    uint64_t next = query.from, looked = 0, told = 0;
    for (; next < count && told < query.most && looked < HTTP_GROUPS_LOOKED; next++, looked++) {
        const struct leadership *o = leadership_at(&serve->leaderships, (uint32_t)next);
        if (!is_meant(http, &query, o)) continue;
        const uint64_t failover = host_worst_failover_ns(o->group);
        if (failover > worst_ns) worst_ns = failover;
        json_array_append_new(list, serve_describe_group(serve, o));
        told++;
    }
    *answer = json_pack("{sb sI so sI so}", "ok", 1, "count", (json_int_t)leaderships_used(&serve->leaderships),
                        "groups", list, "worst_failover_ms", (json_int_t)(worst_ns / NS_PER_MS), "next",
                        next < count ? json_integer((json_int_t)next) : json_null());
    return NULL;
}
