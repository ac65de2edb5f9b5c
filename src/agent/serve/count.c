/* What a change means in numbers: who leads how much, and how long groups went without a leader. */
#define _GNU_SOURCE
#include "agent/serve/internal.h"

void serve_count_in(struct serve *serve, struct metrics *metrics)
{
    serve->metrics = metrics;
}

/* Whether somebody other than the one who leads no more waits to follow it: a group that nobody wants is just empty. */
static bool has_heirs(const struct serve *serve, const struct leadership *o, el_node was)
{
    if (o->candidate_count > 0) return true;
    for (el_node member = 1; member <= serve->config->member_count; member++)
        if (member != was && member != serve->config->self && host_stands(o->group, member, NULL)) return true;
    return false;
}

/* Who fell silent was lost when it was last heard, not when that was noticed. */
static uint64_t lost_at(const struct serve *serve, el_node was, uint64_t now)
{
    const uint64_t silence = was == serve->config->self ? 0 : host_heard(serve->host, was);
    return silence < now ? now - silence : now;
}

void serve_count(struct serve *serve, struct leadership *o, const struct host_view *view)
{
    struct metrics *metrics = serve->metrics;
    const el_node self = serve->config->self, was = o->seen_leader, is = view->leader;
    const uint64_t now = host_clock(serve->host);
    if (!metrics || (was == is && o->seen_token == view->token)) return; /* only its value */
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
