/*
 * The worlds that the search keeps after a given one. Usually they are one move away. In rounds they are one
 * instant away: the worlds in between are checked but not kept, since every path through an instant ends in
 * the next one.
 */
#include "check/world/next.h"

#include <string.h>

enum { STEPS_MAX = 400 };

struct way {
    struct check_model *model;
    struct check_memo *memo;
    const struct check_world *from; /* of the last step */
    check_finder *find;
    void *context;
    struct check_step steps[STEPS_MAX];
    uint32_t count;
    bool goes_on;
};

static bool is_fault(const struct way *way)
{
    for (uint32_t i = 0; i < way->count; i++)
        if (way->steps[i].is_fault) return true;
    return false;
}

static void arrive(struct way *way, const struct check_world *world, uint32_t broken)
{
    const struct check_found found = {way->steps, way->count, broken, is_fault(way)};
    way->goes_on = way->find(way->context, world, &found);
}

static bool take(void *context, struct check_world *world, const struct check_step *step)
{
    struct way *way = context;
    uint32_t broken = 0;
    if (way->count == STEPS_MAX) {
        check_give_up(way->model, "too many events at one instant");
        return false;
    }
    if (step->outcome)
        world->history =
            check_remember(way->model, world->history, step->node, way->from->local[step->node - 1],
                           world->local[step->node - 1], &broken);
    broken |= check_judge(way->model, world);
    way->steps[way->count++] = *step;
    const bool is_inside = way->model->config->rounds && !world->dawn && !broken && step->type != CHECK_START;
    if (is_inside && !check_is_cut(way->model, world)) {
        const struct check_world *from = way->from;
        way->from = world;
        const bool is_moving = check_successors(way->model, way->memo, world, take, way);
        way->from = from;
        if (!is_moving) { /* no timer runs, so no tick ends this instant: the next event begins a new one */
            world->dawn = 1;
            arrive(way, world, broken);
        }
    } else {
        arrive(way, world, broken);
    }
    way->count--;
    return way->goes_on;
}

bool check_next(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                check_finder *find, void *context)
{
    struct way way;
    way.model = model, way.memo = memo, way.from = world, way.find = find, way.context = context;
    way.count = 0, way.goes_on = true;
    check_memo_trim(memo);
    return check_successors(model, memo, world, take, &way);
}

bool check_next_ample(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                      check_finder *find, void *context)
{
    struct way way;
    way.model = model, way.memo = memo, way.from = world, way.find = find, way.context = context;
    way.count = 0, way.goes_on = true;
    check_memo_trim(memo);
    return check_ample(model, memo, world, take, &way);
}
