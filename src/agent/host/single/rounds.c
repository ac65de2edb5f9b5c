/*
 * Rounds. Algorithms for reliable links have no terms, and assume that members and ranks do not change during
 * an election. Here a client may begin to stand at any time. Then a member may drop a claim that should win, or
 * two members may compare different ranks. In the end nobody is elected, or members disagree.
 *
 * A member that sees this for at least 2 s begins the next round: machines and links start afresh. Every
 * message carries the number of its round. A message of an earlier round is dropped, and a later round is
 * joined. The machines do not know of rounds.
 */
#include <string.h>

#include "agent/host/internal.h"
#include "base/clock.h"

enum { AGAIN_S = 2, FRUITLESS_MAX = 3 };

static void restart(struct host_single *group, el_node incumbent)
{
    timed_machine_reset(&group->election);
    group->unsettled_since = host_now(group->runner.host);
    if (group->fruitless < FRUITLESS_MAX) group->fruitless++;
    timed_machine_step(
        &group->election,
        &(struct el_event){.type = EL_START, .start = {.how = EL_FRESH, .incumbent = incumbent}});
    for (el_node peer = 1; peer <= group->cluster.count; peer++)
        if (group->suspected[peer - 1])
            timed_machine_step(&group->election, &(struct el_event){.type = EL_SUSPECT, .peer = peer});
    host_group_show(&group->base);
}

static void enter(struct host_single *group, uint32_t round)
{
    const struct host *host = group->runner.host;
    struct reliable_link_hooks hooks;
    char text[96];
    snprintf(text, sizeof text, "an election came to nothing, and is held again: round %u", round);
    host->hooks.warn(host->hooks.context, &group->base, text);
    group->round = round;
    memset(group->leads, 0, sizeof group->leads);
    for (uint32_t i = 0; i < group->cluster.count; i++)
        reliable_link_begin_anew(&group->links[i], host_link_hooks(group, &hooks));
    restart(group, EL_NOBODY);
}

bool host_single_leads(const struct host_single *group)
{
    return group->base.stands && group->base.shown_role == EL_LEADER;
}

/* The one member that says it leads; EL_NOBODY if none or several do. */
static el_node only_leader(const struct host_single *group)
{
    el_node found = EL_NOBODY;
    uint32_t count = 0;
    for (el_node member = 1; member <= group->cluster.count; member++) {
        const bool is_self = member == group->runner.host->config->self;
        if (!(is_self ? host_single_leads(group) : group->leads[member - 1])) continue;
        found = member;
        count++;
    }
    return count == 1 ? found : EL_NOBODY;
}

static void hold_again(struct host_single *group, el_node leads)
{
    if (leads != EL_NOBODY) { /* only we missed the election: restart under its leader, and disturb nobody */
        restart(group, leads);
    } else if (group->base.stands && group->round < UINT32_MAX) {
        enter(group, group->round + 1);
        const struct payload_entry entry = host_single_describe(group);
        host_put_all(group->runner.host, &entry);
        host_campaign(&group->base);
    }
}

void host_single_call_again(struct host_single *group, uint64_t now)
{
    const el_node only = only_leader(group);
    const bool is_settled = group->has_links ? group->base.shown_leader && group->base.shown_leader == only
                                             : group->base.shown_leader != EL_NOBODY;
    /* 2 s and 8 transmissions, enough for a failed hop; doubled after each fruitless round, up to 8 times
     * that. */
    const uint64_t wait = (AGAIN_S * NS_PER_S + 8 * group->cluster.transmit_max) << group->fruitless;
    if (group->election.algorithm->beats) return;
    if (is_settled) {
        group->unsettled_since = group->fruitless = 0;
    } else if (group->unsettled_since == 0) {
        group->unsettled_since = now;
    } else if (now - group->unsettled_since >= wait) {
        group->unsettled_since = now;
        if (group->has_links)
            hold_again(group, only);
        else
            host_campaign(&group->base);
    }
}

bool host_single_is_of_round(struct host_single *group, el_node peer, uint32_t round)
{
    if (!group->has_links || round == group->round) return true;
    if (round < group->round) {
        const struct payload_entry ours = host_single_describe(group);
        host_put(group->runner.host, peer, &ours);
        return false;
    }
    enter(group, round);
    return true;
}
