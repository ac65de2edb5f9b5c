/* See event_queue.h. */
#include "client/event_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/group_hash.h"

struct queued *event_make(elector_event_type type, const char *group)
{
    struct queued *q = calloc(1, sizeof *q);
    if (!q) return NULL;
    q->type = type;
    snprintf(q->group, sizeof q->group, "%s", group);
    return q;
}

static void append(struct event_queue *queue, struct queued *q)
{
    q->number = ++queue->numbers;
    if (queue->last)
        queue->last->next = q;
    else
        queue->first = q;
    queue->last = q;
}

uint64_t event_queue_add(struct event_queue *queue, struct queued *q)
{
    append(queue, q);
    queue->own_count++;
    return q->number;
}

/* ---- Leaders ---- */

static struct queued **bucket_of(struct event_queue *queue, const char *group)
{
    return &queue->leaders[group_hash(group, strlen(group)) >> (64 - EVENT_BUCKET_BITS)];
}

/* Where the group's last leader is linked; NULL is linked there if none waits. */
static struct queued **find_leader(struct event_queue *queue, const char *group)
{
    struct queued **at = bucket_of(queue, group);
    while (*at && strcmp((*at)->group, group) != 0) at = &(*at)->next_in_bucket;
    return at;
}

bool event_queue_tell_leader(struct event_queue *queue, const char *group, const elector_leader *leader,
                             uint64_t after)
{
    struct queued **at = find_leader(queue, group), *q = *at;
    if (!q || q->number < after) {
        q = event_make(ELECTOR_NEW_LEADER, group);
        if (!q) return false;
        q->next_in_bucket = *at ? (*at)->next_in_bucket : NULL;
        *at = q; /* an earlier one stays in the queue, and is replaced no more */
        queue->leader_count++;
        append(queue, q);
    }
    q->leader = *leader;
    return true;
}

/* ---- Taking ---- */

static void forget_leader(struct event_queue *queue, const struct queued *q)
{
    struct queued **at = find_leader(queue, q->group);
    if (*at == q) *at = q->next_in_bucket;
    queue->leader_count--;
}

struct queued *event_queue_take(struct event_queue *queue, uint64_t last)
{
    struct queued *q = queue->first;
    if (!q || q->number > last) return NULL;
    queue->first = q->next;
    if (!queue->first) queue->last = NULL;
    if (q->type == ELECTOR_NEW_LEADER)
        forget_leader(queue, q);
    else
        queue->own_count--;
    return q;
}

void event_queue_clear(struct event_queue *queue)
{
    for (struct queued *q; (q = event_queue_take(queue, UINT64_MAX));) free(q);
}
