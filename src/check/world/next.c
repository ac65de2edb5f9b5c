/*
 * From a world to those that are kept next. Usually that is one move. In rounds it is all that happens at one instant:
 * the worlds in between are judged and not kept, since every way through an instant ends in the next one.
 */
#include "check/world/next.h"

#include <string.h>

enum { STEPS_MAX = 400 };

struct way {
    struct check_model *model;
    struct check_memo *memo;
    const struct check_world *from; /* of the last step */
    check_finder *find;
    void *whose;
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
    way->goes_on = way->find(way->whose, world, &found);
}

static bool take(void *whose, struct check_world *world, const struct check_step *step)
{
    struct way *way = whose;
    uint32_t broken = 0;
    if (way->count == STEPS_MAX) {
        check_give_up(way->model, "too much happens at one instant");
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
        if (!is_moving) { /* nothing runs: no tick will end this instant, and whatever comes next begins one */
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
                check_finder *find, void *whose)
{
    struct way way;
    way.model = model, way.memo = memo, way.from = world, way.find = find, way.whose = whose;
    way.count = 0, way.goes_on = true;
    check_memo_trim(memo);
    return check_successors(model, memo, world, take, &way);
}

bool check_next_ample(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                      check_finder *find, void *whose)
{
    struct way way;
    way.model = model, way.memo = memo, way.from = world, way.find = find, way.whose = whose;
    way.count = 0, way.goes_on = true;
    check_memo_trim(memo);
    return check_ample(model, memo, world, take, &way);
}
