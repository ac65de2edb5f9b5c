/* Named timers: the host keeps the deadlines, on each node's own clock. */
#include <stdlib.h>

#include "inner.h"

enum { TRUE_RATE = 1000000 };

/* A duration on the node's clock, as it passes in the world; and back. */
static sim_time in_world(const struct sim_world *world, el_node node, el_duration local)
{
    const uint64_t rate = world->nodes[node].rate;
    return rate == TRUE_RATE ? local : local / rate * TRUE_RATE + local % rate * TRUE_RATE / rate;
}

static el_duration on_clock(const struct sim_world *world, el_node node, sim_time passed)
{
    const uint64_t rate = world->nodes[node].rate;
    return rate == TRUE_RATE ? passed : passed / TRUE_RATE * rate + passed % TRUE_RATE * rate / TRUE_RATE;
}

struct sim_timer *sim_timer_find(struct sim_world *world, el_node node, uint32_t timer, uint32_t slot)
{
    for (uint32_t i = world->nodes[node].timers; i; i = world->timers[i].next)
        if (world->timers[i].timer == timer && world->timers[i].slot == slot) return &world->timers[i];
    return NULL;
}

static bool grow(struct sim_world *world)
{
    const uint32_t capacity = world->timer_capacity ? 2 * world->timer_capacity : 64;
    void *timers = realloc(world->timers, capacity * sizeof *world->timers);
    if (!timers) return false;
    world->timers = timers;
    world->timer_capacity = capacity;
    if (world->timer_count == 0) world->timer_count = 1; /* 0 ends a list */
    return true;
}

static struct sim_timer *add(struct sim_world *world, el_node node, uint32_t timer, uint32_t slot)
{
    uint32_t index = world->timer_free;
    if (index) {
        world->timer_free = world->timers[index].next;
    } else {
        if (world->timer_count == world->timer_capacity && !grow(world)) {
            world->result.out_of_memory = true;
            return NULL;
        }
        index = world->timer_count++;
    }
    world->timers[index] = (struct sim_timer){.timer = timer, .slot = slot, .next = world->nodes[node].timers};
    world->nodes[node].timers = index;
    return &world->timers[index];
}

static void schedule(struct sim_world *world, el_node node, const struct sim_timer *t)
{
    const struct sim_event event = {.time = t->deadline,
                                    .cause = t->cause,
                                    .type = SIM_TIMEOUT,
                                    .class = SIM_TIMERS,
                                    .node = node,
                                    .incarnation = world->nodes[node].incarnation,
                                    .timer = t->timer,
                                    .slot = t->slot,
                                    .generation = t->generation,
                                    .due = t->deadline};
    sim_push(world, &event);
}

void sim_timer_arm(struct sim_world *world, el_node node, const struct el_action *action, uint64_t cause)
{
    struct sim_timer *t = sim_timer_find(world, node, action->timer, action->slot);
    if (!t) t = add(world, node, action->timer, action->slot);
    if (!t) return;
    if (t->generation == 0) world->armed++;
    const el_duration width = action->max - action->min;
    const el_duration jitter = width ? sim_random_below(&world->random[SIM_STREAM_TIMER], width + 1) : 0;
    t->generation = ++world->generation;
    t->armed_at = world->now;
    t->deadline = world->now + in_world(world, node, action->min + jitter);
    t->cause = cause;
    schedule(world, node, t);
}

void sim_timer_disarm(struct sim_world *world, el_node node, uint32_t timer, uint32_t slot)
{
    struct sim_timer *t = sim_timer_find(world, node, timer, slot);
    if (!t || t->generation == 0) return;
    t->generation = 0;
    world->armed--;
}

void sim_timer_move(struct sim_world *world, el_node node, uint32_t timer, uint32_t to, uint32_t slot)
{
    const struct sim_timer *from = sim_timer_find(world, node, timer, slot);
    if (!from || from->generation == 0) return;
    const struct sim_timer moved = *from;
    sim_timer_disarm(world, node, timer, slot);
    struct sim_timer *target = sim_timer_find(world, node, to, slot);
    if (!target) target = add(world, node, to, slot);
    if (!target) return;
    if (target->generation == 0) world->armed++;
    target->generation = ++world->generation;
    target->armed_at = moved.armed_at;
    target->deadline = moved.deadline;
    target->cause = moved.cause;
    schedule(world, node, target);
}

el_duration sim_timer_left(struct sim_world *world, el_node node, uint32_t timer, uint32_t slot)
{
    const struct sim_timer *t = sim_timer_find(world, node, timer, slot);
    if (!t || t->generation == 0 || t->deadline <= world->now) return 0;
    return on_clock(world, node, t->deadline - world->now);
}

el_duration sim_timer_elapsed(struct sim_world *world, el_node node, uint32_t timer, uint32_t slot)
{
    const struct sim_timer *t = sim_timer_find(world, node, timer, slot);
    return t ? on_clock(world, node, world->now - t->armed_at) : 0;
}

bool sim_timer_fires(struct sim_world *world, const struct sim_event *event)
{
    const struct sim_node *node = &world->nodes[event->node];
    if (!node->alive || node->incarnation != event->incarnation) return false;
    struct sim_timer *t = sim_timer_find(world, event->node, event->timer, event->slot);
    if (!t || t->generation != event->generation) return false;
    t->generation = 0;
    world->armed--;
    return true;
}

void sim_timer_forget_all(struct sim_world *world, el_node node)
{
    for (uint32_t i = world->nodes[node].timers; i;) {
        const uint32_t next = world->timers[i].next;
        if (world->timers[i].generation) world->armed--;
        world->timers[i].next = world->timer_free;
        world->timer_free = i;
        i = next;
    }
    world->nodes[node].timers = 0;
}
