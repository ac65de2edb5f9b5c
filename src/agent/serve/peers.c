/* Which members count: those that are heard and have the same settings and the same list of members. */
#define _GNU_SOURCE
#include "agent/exchange/exchange.h"
#include "agent/serve/internal.h"
#include "base/clock.h"

static const uint64_t HEARD_WITHIN = 2 * NS_PER_S;
enum { DIFFERENCES_MAX = 4, MANY_MEMBERS = 16 };

void serve_set_refused(struct serve *serve, const char *what)
{
    serve->refused = what;
}

void serve_set_exchange(struct serve *serve, struct exchange *exchange)
{
    serve->exchange = exchange;
}

uint64_t serve_heard(const struct serve *serve, el_node peer)
{
    const uint64_t by_host = host_heard(serve->host, peer);
    const uint64_t at_all =
        serve->exchange ? exchange_heard(serve->exchange, host_clock(serve->host), peer) : UINT64_MAX;
    return at_all < by_host ? at_all : by_host;
}

bool serve_understands(const struct serve *serve, el_node peer, char theirs[EXCHANGE_VERSIONS_TEXT])
{
    if (!serve->exchange || serve_heard(serve, peer) >= HEARD_WITHIN) return true;
    return exchange_understands(serve->exchange, peer, theirs);
}

bool serve_differs(const struct serve *serve, el_node peer)
{
    if (peer == serve->config->self || serve_heard(serve, peer) >= HEARD_WITHIN) return false;
    if (!serve_understands(serve, peer, NULL)) return true;
    if (serve->exchange && exchange_knows(serve->exchange, peer))
        return exchange_differs(serve->exchange, peer, NULL);
    return host_differs(serve->host, peer) != HOST_SAME;
}

/* An agent of an earlier version does not tell its settings. Then only its messages show them. */
bool serve_counts(const struct serve *serve, el_node member, const struct host_group *group)
{
    if (member == serve->config->self) return true;
    if (!host_hears(serve->host, member) || !serve_understands(serve, member, NULL)) return false;
    if (serve->exchange && exchange_knows(serve->exchange, member))
        return !exchange_differs(serve->exchange, member, host_name(group));
    return host_differs(serve->host, member) == HOST_SAME || host_hears_in(group, member);
}

uint64_t serve_silence(const struct serve *serve, el_node member, bool *is_lost)
{
    *is_lost = false;
    if (!config_votes(serve->config, member)) return 0;
    const uint64_t now = host_clock(serve->host);
    if (member == serve->config->self) {
        const uint64_t until = host_silent_until(serve->host, is_lost);
        return until > now ? until - now : 0;
    }
    if (!serve->exchange || !host_hears(serve->host, member)) return 0;
    return exchange_silence(serve->exchange, now, member, is_lost);
}

bool serve_grants(const struct serve *serve, el_node member)
{
    bool is_lost;
    return serve_silence(serve, member, &is_lost) == 0 && !is_lost;
}

void serve_count_votes(const struct serve *serve, const struct host_group *group, uint32_t *votes,
                       uint32_t *counted)
{
    const bool has_silence = host_knows_silence(group);
    *votes = *counted = 0;
    for (el_node member = 1; member <= serve->config->member_count; member++) {
        if (!config_votes(serve->config, member)) continue;
        ++*votes;
        *counted += serve_counts(serve, member, group) && (!has_silence || serve_grants(serve, member));
    }
}

json_t *serve_list_differences(const struct exchange_difference *differences, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < count; i++)
        json_array_append_new(list, json_pack("{so so so}", "what", serve_text(differences[i].what), "ours",
                                              serve_text(differences[i].ours), "theirs",
                                              serve_text(differences[i].theirs)));
    return list;
}

json_t *serve_describe_differences(const struct serve *serve, el_node peer)
{
    struct exchange_difference differences[DIFFERENCES_MAX];
    const uint32_t most = serve->config->member_count > MANY_MEMBERS ? 1 : DIFFERENCES_MAX;
    if (!serve_differs(serve, peer) || !serve_understands(serve, peer, NULL)) return NULL;
    const uint32_t count = serve->exchange ? exchange_differences(serve->exchange, peer, differences, most) : 0;
    json_t *list = serve_list_differences(differences, count);
    if (list && count == 0)
        json_array_append_new(list, json_pack("{ss}", "what",
                                              host_differs(serve->host, peer) == HOST_OTHER_MEMBERS
                                                  ? "list of members"
                                                  : "settings of some group"));
    return list;
}
