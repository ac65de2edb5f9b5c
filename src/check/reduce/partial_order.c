/*
 * Partial-order reduction, only where it is clearly sound: on a ring that keeps order, with no fault left in
 * the budget. There a node's next message is the only event that can happen to it, and no other node changes
 * that. If the message also changes nothing that a property sees, every other order leads to the same worlds,
 * so this one move is enough. If it leads to a world seen before, the search takes all moves, so that no node
 * is postponed for ever.
 */
#include "check/world/model.h"

struct single {
    check_visitor *visit;
    void *context;
    const struct check_world *from;
    const struct check_model *model;
    el_node node;
    uint32_t letter; /* the next message it receives */
    bool is_seen;    /* some outcome of that changes what a property sees */
};

static bool is_spent(const struct check_model *model, const struct check_world *world)
{
    for (uint32_t i = 0; i < CHECK_BUDGETS; i++)
        if (model->config->budget[i] == CHECK_ANY || check_spent(world->spent, i) < model->config->budget[i])
            return false;
    return true;
}

/* True if all nodes are alive and running and no timer is armed: only messages can happen. */
static bool is_plain(const struct check_model *model, const struct check_world *world)
{
    for (uint32_t i = 0; i < model->count; i++) {
        const struct check_local *local = check_local_at(model, world->local[i]);
        const struct check_head *head = check_head_of(local);
        if ((head->flags & (LOCAL_ALIVE | LOCAL_PAUSED)) != LOCAL_ALIVE || head->suspects) return false;
        const uint16_t *left = check_left_of(model, local);
        for (size_t j = 0; j < model->left_count; j++)
            if (left[j] != LEFT_NONE) return false;
    }
    return true;
}

static bool is_invisible(const struct single *single, const struct check_world *after)
{
    const uint32_t i = single->node - 1;
    const struct check_local *a = check_local_at(single->model, single->from->local[i]);
    const struct check_local *b = check_local_at(single->model, after->local[i]);
    return a->leading == b->leading && a->leader == b->leader && a->term == b->term;
}

static bool hears(const struct single *single, const struct check_step *step)
{
    return step->type == CHECK_DELIVER && step->node == single->node && step->letter == single->letter;
}

static bool look(void *context, struct check_world *world, const struct check_step *step)
{
    struct single *single = context;
    if (hears(single, step) && !is_invisible(single, world)) single->is_seen = true;
    return !single->is_seen;
}

/* Collects every outcome of this one move, whatever number the node draws. */
static bool pick(void *context, struct check_world *world, const struct check_step *step)
{
    const struct single *single = context;
    return hears(single, step) ? single->visit(single->context, world, step) : true;
}

static bool has_call(const struct check_model *model, const struct check_world *world, el_node node)
{
    return check_head_of(check_local_at(model, world->local[node - 1]))->flags & LOCAL_CALLS;
}

/*
 * Other orders use up bounds on moves, messages or time differently, so there must be none. There must be no
 * crashes either: a node that once met a dead neighbour may skip it even after its restart, which opens
 * another path.
 */
bool check_may_be_ample(const struct check_model *model)
{
    const struct check_config *config = model->config;
    return config->reduce && model->fifo && model->algorithm->ring && config->time == CHECK_FREE &&
           !config->depth && !config->flight && !config->budget[CHECK_CRASH];
}

/* True if every node receives only from its predecessor. Messages from two neighbours come in any order. */
static bool goes_one_way(const struct check_model *model, const struct check_world *world)
{
    for (uint32_t i = 0; i < world->flight_count; i++) {
        const struct el_msg *msg = &check_letter_at(model, world->flight[i])->msg;
        if (msg->to != msg->from % model->count + 1) return false;
    }
    return true;
}

bool check_ample(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                 check_visitor *visit, void *context)
{
    if (!check_may_be_ample(model) || !is_spent(model, world) || !is_plain(model, world)) return false;
    if (!goes_one_way(model, world)) return false;
    for (uint32_t i = 0; i < world->flight_count; i++) {
        const struct check_letter *letter = check_letter_at(model, world->flight[i]);
        const bool waits = i > 0 && check_letter_at(model, world->flight[i - 1])->msg.to == letter->msg.to;
        if (waits || has_call(model, world, letter->msg.to)) continue;
        struct single single = {.visit = visit,
                                .context = context,
                                .from = world,
                                .model = model,
                                .node = letter->msg.to,
                                .letter = world->flight[i]};
        (void)check_successors(model, memo, world, look, &single);
        if (single.is_seen) continue;
        (void)check_successors(model, memo, world, pick, &single);
        return true;
    }
    return false;
}
