/* A binary heap of the groups that have a timer. Most groups have none. */
#include "agent/host/quorum/sessions.h"

static void put(struct session *s, uint32_t at, struct session_timed timed)
{
    s->heap[at] = timed;
    timed.group->place = at + 1;
}

static uint32_t rise(struct session *s, uint32_t at)
{
    const struct session_timed timed = s->heap[at];
    for (; at && s->heap[(at - 1) / 2].due > timed.due; at = (at - 1) / 2) put(s, at, s->heap[(at - 1) / 2]);
    put(s, at, timed);
    return at;
}

static void sink(struct session *s, uint32_t at)
{
    const struct session_timed timed = s->heap[at];
    for (uint32_t child = 2 * at + 1; child < s->heap_count; child = 2 * at + 1) {
        if (child + 1 < s->heap_count && s->heap[child + 1].due < s->heap[child].due) child++;
        if (s->heap[child].due >= timed.due) break;
        put(s, at, s->heap[child]);
        at = child;
    }
    put(s, at, timed);
}

static void remove_at(struct session *s, uint32_t at)
{
    const struct session_timed last = s->heap[--s->heap_count];
    s->heap[at].group->place = 0;
    if (at == s->heap_count) return;
    put(s, at, last);
    sink(s, rise(s, at));
}

void session_heap_update(struct session_group *group, uint64_t due)
{
    struct session *s = session_of(group);
    if (group->place && due == UINT64_MAX) {
        remove_at(s, group->place - 1);
    } else if (group->place) {
        s->heap[group->place - 1].due = due;
        sink(s, rise(s, group->place - 1));
    } else if (due != UINT64_MAX) { /* session_group_new() has made room for all groups */
        put(s, s->heap_count, (struct session_timed){due, group});
        (void)rise(s, s->heap_count++);
    }
}
