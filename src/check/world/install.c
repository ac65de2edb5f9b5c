/* Members that change: which records can be decided in a world, and which node may install which. */
#include "check/world/moves.h"

static bool votes(const struct el_cluster *cluster, el_node node)
{
    return !cluster->roles || cluster->roles[node - 1] == EL_CANDIDATE ||
           cluster->roles[node - 1] == EL_ORDINARY;
}

static uint64_t voters_by(const struct el_cluster *cluster, uint64_t record)
{
    uint64_t voters = 0;
    if (record) return cluster->records[record - 1].voters;
    for (el_node node = 1; node <= cluster->count; node++)
        if (votes(cluster, node)) voters |= el_bit(node);
    return voters;
}

/*
 * How members decide the next record is no matter of this model: it can be decided when a majority of the voters of
 * the last one live, have installed it, and know its era to be sole. One of them proposes it.
 */
static bool may_propose(const struct check_walk *walk, el_node node, uint64_t decided)
{
    const struct check_model *model = walk->model;
    const uint64_t voters = voters_by(model->cluster, decided);
    uint32_t all = 0, able = 0;
    bool is_able = false;
    for (el_node voter = 1; voter <= model->count; voter++) {
        const struct check_local *local = check_local_of(walk, voter);
        if (!(voters & el_bit(voter))) continue;
        all++;
        if (!(check_flags_of(walk, voter) & LOCAL_ALIVE)) continue;
        if (local->members.record != decided || !local->members.is_sole) continue;
        able++;
        is_able |= voter == node;
    }
    return is_able && able > all / 2;
}

static void install(struct check_walk *walk, el_node node, uint64_t record, uint64_t floor)
{
    const uint64_t value = floor << EL_RECORD_SHIFT | (record + 1);
    if (value > UINT32_MAX) {
        check_give_up(walk->model, "terms are too high for a record of the members: bound them with --terms");
        return;
    }
    const struct check_step step = {.type = CHECK_INSTALL, .node = node, .letter = (uint32_t)value};
    check_let(walk, CHECK_FREE_OF_COST, step, check_event(CHECK_INSTALL, (uint32_t)value));
}

void check_install(struct check_walk *walk, el_node node)
{
    const struct el_cluster *cluster = walk->model->cluster;
    if (cluster->record_count == 0 || !walk->model->algorithm->membership) return;
    const struct check_history *history = check_history_at(walk->model, walk->from->history);
    const struct el_membership known = check_local_of(walk, node)->members;
    for (uint64_t record = known.record + 1; record <= history->decided; record++)
        install(walk, node, record, history->floors[record]);
    if (history->decided < cluster->record_count && may_propose(walk, node, history->decided))
        install(walk, node, history->decided + 1, known.floor);
}
