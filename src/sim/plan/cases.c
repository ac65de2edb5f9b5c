/* The best and the worst case of the textbooks, so that nobody has to find the options that stage them. */
#include <string.h>

#include "sim/plan/builder.h"

struct ranking {
    el_node best, second, lowest;
};

static struct ranking rank_members(const struct el_cluster *cluster)
{
    struct ranking r = {0};
    for (el_node node = 1; node <= cluster->count; node++) {
        if (r.lowest == EL_NOBODY || el_outranks(cluster, r.lowest, node)) r.lowest = node;
        if (!el_may_lead(cluster, node)) continue;
        if (el_outranks(cluster, node, r.best)) {
            r.second = r.best;
            r.best = node;
        } else if (el_outranks(cluster, node, r.second)) {
            r.second = node;
        }
    }
    return r;
}

static int add_commands(struct builder *b, el_node caller, el_node dead)
{
    struct sim_command *call = caller ? build_add_command(b, SIM_DO_CAMPAIGN, 0) : NULL;
    if (caller && !call) return build_out_of_memory(b);
    if (call) call->node = caller;
    struct sim_command *crash = dead ? build_add_command(b, SIM_DO_CRASH, 0) : NULL;
    if (dead && !crash) return build_out_of_memory(b);
    if (crash) crash->node = dead;
    return 0;
}

/* Only `witness` is told of the death, and asks nobody of whom it knows that. */
static int add_witness(struct builder *b, el_node witness, el_node dead)
{
    struct sim_plan *plan = b->plan;
    plan->detect = 0;
    for (el_node node = 1; node <= plan->cluster.count; node++) {
        if (node == witness || node == dead) continue;
        struct sim_miss *miss = build_one_more(&plan->misses, &plan->miss_count, sizeof *miss);
        if (!miss) return build_out_of_memory(b);
        *miss = (struct sim_miss){node, dead};
    }
    for (uint32_t i = 0; i < plan->algorithm->option_count; i++)
        if (strcmp(plan->algorithm->options[i].name, "exclude-suspects") == 0) plan->options[i].number = 1;
    return 0;
}

/*
 * Ring: the future leader calls (best), or its successor does (worst). Elsewhere the leader has crashed: the
 * second-highest knows it (best), or the lowest calls, and everybody else has to find out (worst).
 */
static int read_case(struct builder *b, const char *value)
{
    struct sim_plan *plan = b->plan;
    static const char *const own[] = {"initiator", "leader", "crash", "detect", "detector", "miss", "script"};
    const bool is_best = strcmp(value, "best") == 0;
    const struct ranking rank = rank_members(&plan->cluster);
    if (!is_best && strcmp(value, "worst") != 0) return build_fail_at(b, value, "a case is best or worst");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (build_last_of(b, own[i]))
            return build_fail_at(b, value, "the case says itself who leads, dies and calls: leave out %s",
                                 own[i]);
    if (plan->algorithm->beats)
        return build_fail_at(b, value, "%s starts elections by itself; the cases are of those that are called",
                             plan->algorithm->name);
    if (!rank.best || !rank.second) return build_fail_at(b, value, "a case needs two members that may lead");
    if (plan->algorithm->ring)
        return add_commands(b, is_best ? rank.best : rank.best % plan->cluster.count + 1, EL_NOBODY);
    plan->incumbent = rank.best;
    if (!is_best) return add_commands(b, rank.lowest, rank.best);
    return add_commands(b, EL_NOBODY, rank.best) != 0 ? -1 : add_witness(b, rank.second, rank.best);
}

int build_case(struct builder *b)
{
    return build_once(b, "case", read_case);
}
