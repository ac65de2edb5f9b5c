/*
 * Partial-order reduction, where it is plainly sound: on a ring that keeps order, with nothing left to go
 * wrong, the next message of a node is the only thing that can happen to it, and nothing that others do
 * changes that. If it also changes nothing that a property sees, every other order leads to the same worlds,
 * so this one move is enough. The search takes all moves after all if the one leads to a world seen before,
 * so that nobody is put off for ever.
 */
#include "check/world/model.h"

struct single {
    check_visitor *visit;
    void *whose;
    const struct check_world *from;
    const struct check_model *model;
    el_node node;
    uint32_t letter; /* that it hears next */
    bool is_seen;    /* some way in which that can come out changes what a property sees */
};

static bool is_spent(const struct check_model *model, const struct check_world *world)
{
    for (uint32_t i = 0; i < CHECK_BUDGETS; i++)
        if (model->config->budget[i] == CHECK_ANY || check_spent(world->spent, i) < model->config->budget[i])
            return false;
    return true;
}

/* Everybody lives and runs, nobody's timer does: messages along the ring are all there is. */
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

static bool look(void *whose, struct check_world *world, const struct check_step *step)
{
    struct single *single = whose;
    if (hears(single, step) && !is_invisible(single, world)) single->is_seen = true;
    return !single->is_seen;
}

/* Whatever it draws when it hears that: all ways are this one move's. */
static bool pick(void *whose, struct check_world *world, const struct check_step *step)
{
    const struct single *single = whose;
    return hears(single, step) ? single->visit(single->whose, world, step) : true;
}

static bool has_call(const struct check_model *model, const struct check_world *world, el_node node)
{
    return check_head_of(check_local_at(model, world->local[node - 1]))->flags & LOCAL_CALLS;
}

/*
 * Every bound on moves, messages or time is something that other orders spend otherwise. And who once met a
 * dead neighbour may go on to skip it when it is back, so that there is another way in to the next.
 */
bool check_may_be_ample(const struct check_model *model)
{
    const struct check_config *config = model->config;
    return config->reduce && model->fifo && model->algorithm->ring && config->time == CHECK_FREE &&
           !config->depth && !config->flight && !config->budget[CHECK_CRASH];
}

/* All that a node can hear comes from the one before it: who hears of two neighbours hears them in any
 * order. */
static bool goes_one_way(const struct check_model *model, const struct check_world *world)
{
    for (uint32_t i = 0; i < world->flight_count; i++) {
        const struct el_msg *msg = &check_letter_at(model, world->flight[i])->msg;
        if (msg->to != msg->from % model->count + 1) return false;
    }
    return true;
}

bool check_ample(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                 check_visitor *visit, void *whose)
{
    if (!check_may_be_ample(model) || !is_spent(model, world) || !is_plain(model, world)) return false;
    if (!goes_one_way(model, world)) return false;
    for (uint32_t i = 0; i < world->flight_count; i++) {
        const struct check_letter *letter = check_letter_at(model, world->flight[i]);
        const bool waits = i > 0 && check_letter_at(model, world->flight[i - 1])->msg.to == letter->msg.to;
        if (waits || has_call(model, world, letter->msg.to)) continue;
        struct single single = {.visit = visit,
                                .whose = whose,
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
