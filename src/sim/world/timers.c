/* Timers: the world keeps the deadlines, on each node's own clock. */
#include <stdlib.h>

#include "core/machine.h"
#include "sim/internal.h"

enum { TRUE_RATE = 1000000 };

/* Converts a duration on the node's clock to world time, and back. */
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

/* A node with timers for each peer has a long list of them, so they are looked up by number. */
static el_node number_of(uint32_t channel, uint32_t timer, uint32_t slot)
{
    el_require(channel < 2 && timer < 1u << 6 && slot < 1u << 25);
    return (channel << 6 | timer) << 25 | slot;
}

static struct sim_timer *find(struct sim_world *world, struct sim_key_of_timer key)
{
    if (world->timers_by_number.capacity) {
        const uint64_t index =
            sim_map_get(&world->timers_by_number, key.node, number_of(key.channel, key.timer, key.slot));
        return index ? &world->timers[index] : NULL;
    }
    for (uint32_t i = world->nodes[key.node].timers; i; i = world->timers[i].next) {
        struct sim_timer *t = &world->timers[i];
        if (t->timer == key.timer && t->slot == key.slot && t->channel == key.channel) return t;
    }
    return NULL;
}

static bool grow(struct sim_world *world)
{
    const uint32_t capacity = world->timer_capacity ? 2 * world->timer_capacity : 64;
    void *timers = realloc(world->timers, capacity * sizeof *world->timers);
    if (!timers) return false;
    world->timers = timers;
    world->timer_capacity = capacity;
    if (world->timer_count == 0) world->timer_count = 1; /* index 0 ends a list */
    return true;
}

static void note_number(struct sim_world *world, el_node node, uint32_t index)
{
    const struct sim_timer *t = &world->timers[index];
    if (!sim_map_set(&world->timers_by_number, node, number_of(t->channel, t->timer, t->slot), index))
        world->result.out_of_memory = true;
}

/* From the first timer for a peer on, all timers have numbers. */
static void number_all(struct sim_world *world)
{
    for (el_node node = 1; node <= world->plan->cluster.count; node++)
        for (uint32_t i = world->nodes[node].timers; i; i = world->timers[i].next) note_number(world, node, i);
}

static struct sim_timer *find_or_add(struct sim_world *world, struct sim_key_of_timer key)
{
    struct sim_timer *found = find(world, key);
    if (found) return found;
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
    world->timers[index] = (struct sim_timer){.timer = key.timer,
                                              .slot = key.slot,
                                              .channel = (uint8_t)key.channel,
                                              .next = world->nodes[key.node].timers};
    world->nodes[key.node].timers = index;
    if (world->timers_by_number.capacity) {
        note_number(world, key.node, index);
    } else if (key.slot) {
        number_all(world);
    }
    return &world->timers[index];
}

struct sim_event sim_timer_timeout(const struct sim_world *world, el_node node, const struct sim_timer *t)
{
    return (struct sim_event){.time = t->deadline,
                              .cause = t->cause,
                              .type = SIM_TIMEOUT,
                              .class = SIM_TIMERS,
                              .channel = t->channel,
                              .node = node,
                              .incarnation = world->nodes[node].incarnation,
                              .timer = t->timer,
                              .slot = t->slot,
                              .generation = t->generation,
                              .due = t->deadline};
}

/* From now on the timer fires at this deadline only, or, in a script, when a step says so. It fires at once
 * if the deadline has passed: after a pause, an overdue timer may be moved. */
static void schedule(struct sim_world *world, el_node node, struct sim_timer *t, sim_time deadline)
{
    if (t->generation == 0) world->machines[t->channel].armed++;
    t->generation = ++world->generation;
    t->deadline = deadline;
    if (world->plan->script) return;
    struct sim_event event = sim_timer_timeout(world, node, t);
    if (deadline < world->now) {
        event.time = world->now;
        event.class = SIM_OVERDUE;
    }
    sim_push(world, &event);
}

const struct sim_timer *sim_timer_armed(struct sim_world *world, struct sim_key_of_timer key)
{
    const struct sim_timer *t = find(world, key);
    return t && t->generation ? t : NULL;
}

void sim_timer_arm(struct sim_world *world, struct sim_key_of_timer key, el_duration min, el_duration max,
                   uint64_t cause)
{
    struct sim_timer *t = find_or_add(world, key);
    if (!t) return;
    struct sim_random *dice = &world->machines[key.channel].random[SIM_STREAM_TIMER];
    const el_duration width = max - min;
    const el_duration jitter = width == 0 ? 0 : world->plan->script ? width : sim_random_below(dice, width + 1);
    t->armed_at = (int64_t)world->now;
    t->cause = cause;
    t->earliest = world->now + in_world(world, key.node, min);
    schedule(world, key.node, t, world->now + in_world(world, key.node, min + jitter));
}

static void unarm(struct sim_world *world, struct sim_timer *t)
{
    t->generation = 0;
    world->machines[t->channel].armed--;
}

void sim_timer_disarm(struct sim_world *world, struct sim_key_of_timer key)
{
    struct sim_timer *t = find(world, key);
    if (t && t->generation) unarm(world, t);
}

void sim_timer_move(struct sim_world *world, struct sim_key_of_timer key, uint32_t to)
{
    struct sim_timer *from = find(world, key);
    if (!from || from->generation == 0) return;
    const struct sim_timer moved = *from;
    unarm(world, from);
    key.timer = to;
    struct sim_timer *target = find_or_add(world, key);
    if (!target) return;
    target->armed_at = moved.armed_at;
    target->cause = moved.cause;
    target->earliest = moved.earliest;
    schedule(world, key.node, target, moved.deadline);
}

el_duration sim_timer_left(struct sim_world *world, struct sim_key_of_timer key)
{
    const struct sim_timer *t = find(world, key);
    if (!t || t->generation == 0) return 0;
    if (world->plan->script == SIM_BY_STEPS) /* no time passes: all of it is left until it fires */
        return on_clock(world, key.node, (sim_time)((int64_t)t->deadline - t->armed_at));
    if (t->deadline <= world->now) return 0;
    return on_clock(world, key.node, t->deadline - world->now);
}

el_duration sim_timer_elapsed(struct sim_world *world, struct sim_key_of_timer key)
{
    const struct sim_timer *t = find(world, key);
    if (!t || t->armed_at > (int64_t)world->now) return 0; /* the clock was set back */
    return on_clock(world, key.node, (sim_time)((int64_t)world->now - t->armed_at));
}

void sim_timer_jump(struct sim_world *world, el_node node, int64_t local)
{
    const sim_time far = in_world(world, node, (el_duration)(local < 0 ? -local : local));
    const int64_t leap = local < 0 ? -(int64_t)far : (int64_t)far;
    for (uint32_t i = world->nodes[node].timers; i; i = world->timers[i].next) {
        struct sim_timer *t = &world->timers[i];
        t->armed_at -= leap;
        if (t->generation == 0) continue;
        const int64_t deadline = (int64_t)t->deadline - leap;
        schedule(world, node, t, deadline > (int64_t)world->now ? (sim_time)deadline : world->now);
    }
}

bool sim_timer_fires(struct sim_world *world, const struct sim_event *event)
{
    const struct sim_node *node = &world->nodes[event->node];
    if (!node->alive || node->incarnation != event->incarnation) return false;
    const struct sim_key_of_timer key = {event->node, (enum sim_channel)event->channel, event->timer,
                                         event->slot};
    struct sim_timer *t = find(world, key);
    if (!t || t->generation != event->generation) return false;
    unarm(world, t);
    return true;
}

void sim_timer_forget_all(struct sim_world *world, el_node node)
{
    for (uint32_t i = world->nodes[node].timers; i;) {
        const uint32_t next = world->timers[i].next;
        const struct sim_timer *t = &world->timers[i];
        if (world->timers_by_number.capacity)
            sim_map_set(&world->timers_by_number, node, number_of(t->channel, t->timer, t->slot), 0);
        if (t->generation) unarm(world, &world->timers[i]);
        world->timers[i].next = world->timer_free;
        world->timer_free = i;
        i = next;
    }
    world->nodes[node].timers = 0;
}
