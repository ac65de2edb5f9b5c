/*
 * A fingerprint of everything that decides how a scripted run can continue: states and records of the nodes,
 * which nodes are alive, armed timers, messages in flight. If it occurs twice, the run can repeat for ever.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/internal.h"

struct scene {
    unsigned char *bytes;
    size_t size, capacity;
    bool out_of_memory;
};

static void put(struct scene *scene, const void *bytes, size_t size)
{
    if (!scene->bytes || size > scene->capacity - scene->size) {
        const size_t capacity = 2 * (scene->capacity + size);
        void *wider = realloc(scene->bytes, capacity);
        scene->out_of_memory |= !wider;
        if (!wider) return;
        scene->bytes = wider;
        scene->capacity = capacity;
    }
    memcpy(scene->bytes + scene->size, bytes, size);
    scene->size += size;
}

static void put_number(struct scene *scene, uint64_t number)
{
    put(scene, &number, sizeof number);
}

/* Sorts the last `count` pieces of `size` bytes, whose order does not matter. */
static void sort_last(struct scene *scene, size_t count, size_t size,
                      int (*compare)(const void *, const void *))
{
    if (count > 1 && !scene->out_of_memory)
        qsort(scene->bytes + scene->size - count * size, count, size, compare);
}

struct armed {
    uint64_t timer, slot, left;
};

static int compare_timers(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct armed));
}

static void put_timers(struct scene *scene, struct sim_world *world, el_node node)
{
    uint64_t count = 0;
    for (uint32_t i = world->nodes[node].timers; i; i = world->timers[i].next) {
        const struct sim_timer *t = &world->timers[i];
        if (t->generation == 0) continue;
        struct armed armed = {t->timer, t->slot, 0};
        if (world->plan->script == SIM_BY_TICKS)
            armed.left =
                sim_timer_left(world, (struct sim_key_of_timer){node, SIM_ELECTION, t->timer, t->slot});
        put(scene, &armed, sizeof armed);
        count++;
    }
    sort_last(scene, count, sizeof(struct armed), compare_timers);
    put_number(scene, count);
}

static void put_node(struct scene *scene, struct sim_world *world, el_node node)
{
    const struct sim_machine *election = &world->machines[SIM_ELECTION];
    const struct sim_node *n = &world->nodes[node];
    put_number(scene, n->alive);
    put_number(scene, n->paused);
    put_number(scene, world->disks[node].lost);
    put(scene, &world->disks[node].durable, sizeof world->disks[node].durable);
    if (!n->alive) return;
    put(scene, sim_state(election, node), election->state_size);
    put_timers(scene, world, node);
}

/* The suspicions; in a script only a step changes them. */
static void put_suspicions(struct scene *scene, const struct sim_world *world)
{
    for (size_t i = 0; i < world->plan->step_count; i++) {
        const struct sim_step *step = &world->plan->steps[i];
        if (step->type != SIM_STEP_COMMAND || step->command.type != SIM_DO_SUSPECT) continue;
        put_number(scene, sim_map_get(&world->suspicions, step->command.node, step->command.peer) != 0);
    }
}

struct flying {
    struct el_msg msg;
    uint64_t returns; /* 1: the hop can still fail and return to its sender */
};

static int compare_messages(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct flying));
}

bool sim_fingerprint(struct sim_world *world, struct el_hash *hash)
{
    struct scene scene = {0};
    for (el_node node = 1; node <= world->plan->cluster.count; node++) put_node(&scene, world, node);
    put_suspicions(&scene, world);
    for (size_t i = 0; i < world->stage.flight_count; i++) {
        const struct sim_event *event = &world->stage.flight[i];
        const struct sim_node *sender = &world->nodes[event->msg.from];
        const bool returns = !event->copy && sender->alive && sender->incarnation == event->incarnation;
        const struct flying flying = {event->msg, returns};
        put(&scene, &flying, sizeof flying);
    }
    sort_last(&scene, world->stage.flight_count, sizeof(struct flying), compare_messages);
    const bool made = !scene.out_of_memory;
    if (made) *hash = el_fingerprint(scene.bytes, scene.size);
    free(scene.bytes);
    return made;
}
