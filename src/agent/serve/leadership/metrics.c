/* Counts changes of leaders: how many groups are led, here and elsewhere, and how long each failover took. */
#define _GNU_SOURCE
#include "agent/history/history.h"
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
static uint64_t lost_at(uint64_t silence, uint64_t now)
{
    return silence < now ? now - silence : now;
}

static void count(struct metrics *metrics, el_node self, el_node was, el_node is)
{
    if (!metrics) return;
    if (was != EL_NOBODY) metrics->led--;
    if (was == self) metrics->led_here--;
    if (is != EL_NOBODY) metrics->led++;
    if (is == self) metrics->led_here++;
    if (is != EL_NOBODY) metrics->leader_changes++;
}

void serve_count_change(struct serve *serve, struct leadership *o, const struct host_view *view, uint64_t now,
                        struct history_change *change)
{
    const el_node self = serve->config->self, was = o->seen_leader, is = view->leader;
    const uint64_t over = was && was == self ? leadership_over_ns(o, o->seen_token) : UINT64_MAX,
                   silence = was && was != self   ? host_heard(serve->host, was)
                             : over != UINT64_MAX ? over
                                                  : 0;
    *change = (struct history_change){.group = history_group(host_name(o->group)),
                                      .before = was,
                                      .leader = is,
                                      .token = view->token,
                                      .heard_ns = was && was != self ? silence : over,
                                      .nobody_ns = UINT64_MAX};
    count(serve->metrics, self, was, is);
    if (was != EL_NOBODY) o->lost_ns = lost_at(silence, now);
    if (was != EL_NOBODY) o->is_failover = is != EL_NOBODY || has_heirs(serve, o, was);
    if (is == EL_NOBODY) return;
    if (o->lost_ns) change->nobody_ns = now - o->lost_ns;
    change->is_failover = o->lost_ns && o->is_failover;
    o->lost_ns = 0;
    if (change->is_failover && serve->metrics && !serve->leaderships.history)
        metrics_observe(&serve->metrics->failovers, change->nobody_ns);
}

static void observe(void *context, uint64_t nobody_ns)
{
    metrics_observe(context, nobody_ns);
}

void serve_settle(struct serve *serve, uint64_t now)
{
    if (serve->metrics && serve->leaderships.history)
        history_settle(serve->leaderships.history, now, observe, &serve->metrics->failovers);
}
