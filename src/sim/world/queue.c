/* A first-in first-out lane for events that come in order, a heap for the others. */
#include "sim/world/queue.h"

#include <stdlib.h>

struct sim_slot {
    sim_time time;
    uint64_t order;
    uint64_t event; /* index into events */
};

enum { CLASS_SHIFT = 60, FIRST_CAPACITY = 64 };

void sim_queue_free(struct sim_queue *queue)
{
    free(queue->lane);
    free(queue->heap);
    free(queue->events);
    free(queue->vacant);
    *queue = (struct sim_queue){0};
}

/* ---- The lane ---- */

static struct sim_event *lane_at(const struct sim_queue *queue, uint64_t index)
{
    return &queue->lane[(queue->lane_head + index) & (queue->lane_capacity - 1)];
}

static bool lane_grow(struct sim_queue *queue)
{
    const uint64_t capacity = queue->lane_capacity ? 2 * queue->lane_capacity : FIRST_CAPACITY;
    struct sim_event *lane = malloc(capacity * sizeof *lane);
    if (!lane) return false;
    for (uint64_t i = 0; i < queue->lane_count; i++) lane[i] = *lane_at(queue, i);
    free(queue->lane);
    queue->lane = lane;
    queue->lane_capacity = capacity;
    queue->lane_head = 0;
    return true;
}

static bool fits_lane(const struct sim_queue *queue, const struct sim_event *event)
{
    return event->class == SIM_MESSAGES &&
           (queue->lane_count == 0 || lane_at(queue, queue->lane_count - 1)->time <= event->time);
}

/* ---- The heap ---- */

static bool before(sim_time time, uint64_t order, const struct sim_slot *other)
{
    return time != other->time ? time < other->time : order < other->order;
}

static bool heap_grow(struct sim_queue *queue)
{
    const uint64_t capacity = queue->heap_capacity ? 2 * queue->heap_capacity : FIRST_CAPACITY;
    if (capacity > UINT32_MAX) return false;
    void *heap = realloc(queue->heap, capacity * sizeof *queue->heap);
    if (heap) queue->heap = heap;
    void *events = realloc(queue->events, capacity * sizeof *queue->events);
    if (events) queue->events = events;
    void *vacant = realloc(queue->vacant, capacity * sizeof *queue->vacant);
    if (vacant) queue->vacant = vacant;
    if (!heap || !events || !vacant) return false;
    for (uint64_t i = queue->heap_capacity; i < capacity; i++) queue->vacant[i] = (uint32_t)i;
    queue->heap_capacity = capacity;
    return true;
}

static bool heap_push(struct sim_queue *queue, const struct sim_event *event, uint64_t order)
{
    if (queue->heap_count == queue->heap_capacity && !heap_grow(queue)) return false;
    const uint64_t place = queue->vacant[queue->heap_count];
    queue->events[place] = *event;
    queue->events[place].order = order;
    uint64_t at = queue->heap_count++;
    while (at > 0 && before(event->time, order, &queue->heap[(at - 1) / 2])) {
        queue->heap[at] = queue->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    queue->heap[at] = (struct sim_slot){event->time, order, place};
    return true;
}

static void heap_pop(struct sim_queue *queue, struct sim_event *event)
{
    *event = queue->events[queue->heap[0].event];
    queue->vacant[--queue->heap_count] = (uint32_t)queue->heap[0].event;
    const struct sim_slot last = queue->heap[queue->heap_count];
    uint64_t at = 0;
    for (;;) {
        uint64_t child = 2 * at + 1;
        if (child >= queue->heap_count) break;
        if (child + 1 < queue->heap_count &&
            before(queue->heap[child + 1].time, queue->heap[child + 1].order, &queue->heap[child]))
            child++;
        if (!before(queue->heap[child].time, queue->heap[child].order, &last)) break;
        queue->heap[at] = queue->heap[child];
        at = child;
    }
    queue->heap[at] = last;
}

/* ---- Both ---- */

bool sim_queue_push(struct sim_queue *queue, const struct sim_event *event)
{
    const uint64_t order = (uint64_t)event->class << CLASS_SHIFT | queue->sequence++;
    if (!fits_lane(queue, event)) return heap_push(queue, event, order);
    if (queue->lane_count == queue->lane_capacity && !lane_grow(queue)) return false;
    struct sim_event *tail = lane_at(queue, queue->lane_count++);
    *tail = *event;
    tail->order = order;
    return true;
}

bool sim_queue_pop(struct sim_queue *queue, struct sim_event *event)
{
    const struct sim_event *first = queue->lane_count ? lane_at(queue, 0) : NULL;
    if (!first || (queue->heap_count && !before(first->time, first->order, &queue->heap[0]))) {
        if (queue->heap_count == 0) return false;
        heap_pop(queue, event);
        return true;
    }
    *event = *first;
    queue->lane_head = (queue->lane_head + 1) & (queue->lane_capacity - 1);
    queue->lane_count--;
    return true;
}
