/* Groups with a timer, in a binary heap: most have none most of the time. */
#include <stdlib.h>

#include "agent/session.h"
#include "core/machine.h"

static void put(struct session *s, uint32_t at, struct session_group *group)
{
    s->heap[at] = group;
    group->place = at + 1;
}

static void rise(struct session *s, uint32_t at)
{
    struct session_group *group = s->heap[at];
    const uint64_t due = session_due_of(group);
    for (; at && session_due_of(s->heap[(at - 1) / 2]) > due; at = (at - 1) / 2)
        put(s, at, s->heap[(at - 1) / 2]);
    put(s, at, group);
}

static void sink(struct session *s, uint32_t at)
{
    struct session_group *group = s->heap[at];
    const uint64_t due = session_due_of(group);
    for (uint32_t child = 2 * at + 1; child < s->heap_count; child = 2 * at + 1) {
        if (child + 1 < s->heap_count && session_due_of(s->heap[child + 1]) < session_due_of(s->heap[child]))
            child++;
        if (session_due_of(s->heap[child]) >= due) break;
        put(s, at, s->heap[child]);
        at = child;
    }
    put(s, at, group);
}

static void remove_at(struct session *s, uint32_t at)
{
    struct session_group *last = s->heap[--s->heap_count];
    s->heap[at]->place = 0;
    if (at == s->heap_count) return;
    put(s, at, last);
    rise(s, at);
    sink(s, last->place - 1);
}

void session_heap_mend(struct session_group *group)
{
    struct session *s = session_of(group);
    const bool is_armed = session_due_of(group) != UINT64_MAX;
    if (group->place && !is_armed) {
        remove_at(s, group->place - 1);
    } else if (group->place) {
        rise(s, group->place - 1);
        sink(s, group->place - 1);
    } else if (is_armed) { /* there is room for all groups: session_group_new() sees to that */
        put(s, s->heap_count++, group);
        rise(s, group->place - 1);
    }
}
