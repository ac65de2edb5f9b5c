/* Counts changes of leaders: how many groups are led, here and elsewhere, and how long each failover took. */
#define _GNU_SOURCE
#include "agent/serve/internal.h"

void serve_set_metrics(struct serve *serve, struct metrics *metrics)
{
    serve->metrics = metrics;
}

/* Whether another candidate waits. Without one, a group without a leader is not a failover. */
static bool has_heirs(const struct serve *serve, const struct leadership *o, el_node was)
{
    if (o->candidate_count > 0) return true;
    for (el_node member = 1; member <= serve->config->member_count; member++)
        if (member != was && member != serve->config->self && host_stands(o->group, member, NULL)) return true;
    return false;
}

/* A failover begins when the lost leader was last heard, not when its silence was noticed. */
static uint64_t lost_at(const struct serve *serve, el_node was, uint64_t now)
{
    const uint64_t silence = was == serve->config->self ? 0 : host_heard(serve->host, was);
    return silence < now ? now - silence : now;
}

void serve_count_change(struct serve *serve, struct leadership *o, const struct host_view *view)
{
    struct metrics *metrics = serve->metrics;
    const el_node self = serve->config->self, was = o->seen_leader, is = view->leader;
    const uint64_t now = host_clock(serve->host);
    if (!metrics || (was == is && o->seen_token == view->token)) return; /* only the value has changed */
    if (was != EL_NOBODY) metrics->led--;
    if (was == self) metrics->led_here--;
    if (is != EL_NOBODY) metrics->led++;
    if (is == self) metrics->led_here++;
    if (is == EL_NOBODY) {
        o->lost_ns = has_heirs(serve, o, was) ? lost_at(serve, was, now) : 0;
        return;
    }
    metrics->leader_changes++;
    if (was != EL_NOBODY) o->lost_ns = lost_at(serve, was, now);
    if (o->lost_ns) metrics_observe(&metrics->failovers, now - o->lost_ns);
    o->lost_ns = 0;
}
