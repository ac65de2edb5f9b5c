/*
 * The terms that lead, as a binary heap by the last deadline that we know. On the deadline page they move on without a
 * call; so a term that comes to the top looks there, and sinks. An elector that leads thousands of groups looks at
 * each once in a lease.
 */
#include <stdlib.h>

#include "client/group_state.h"

bool deadlines_reserve(elector *e, size_t count)
{
    if (count <= e->heap_room) return true;
    const size_t room = e->heap_room ? 2 * e->heap_room : 8;
    struct group_state **heap = realloc(e->heap, room * sizeof *heap);
    if (!heap) return false;
    e->heap = heap;
    e->heap_room = room;
    return true;
}

static void place(const elector *e, size_t at, struct group_state *o)
{
    e->heap[at] = o;
    o->heap_place = (uint32_t)at + 1;
}

static void rise(const elector *e, size_t at, struct group_state *o)
{
    while (at > 0 && e->heap[(at - 1) / 2]->term_deadline_ns > o->term_deadline_ns) {
        place(e, at, e->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(e, at, o);
}

static void sink(const elector *e, size_t at, struct group_state *o)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < e->heap_count &&
            e->heap[child + 1]->term_deadline_ns < e->heap[child]->term_deadline_ns)
            child++;
        if (child >= e->heap_count || e->heap[child]->term_deadline_ns >= o->term_deadline_ns) break;
        place(e, at, e->heap[child]);
        at = child;
    }
    place(e, at, o);
}

void deadlines_put(elector *e, struct group_state *o)
{
    if (!o->heap_place) {
        rise(e, e->heap_count++, o);
    } else {
        rise(e, o->heap_place - 1, o);
        sink(e, o->heap_place - 1, o);
    }
}

void deadlines_remove(elector *e, struct group_state *o)
{
    if (!o->heap_place) return;
    const size_t at = o->heap_place - 1;
    struct group_state *last = e->heap[--e->heap_count];
    o->heap_place = 0;
    if (last == o) return;
    place(e, at, last);
    deadlines_put(e, last);
}
