/* See event_queue.h. */
#include "client/event_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/group_hash.h"

/* ---- Copies ---- */

static char *put(char *at, const char *text, const char **where)
{
    const size_t size = strlen(text) + 1;
    memcpy(at, text, size);
    *where = at;
    return at + size;
}

struct leader_copy *leader_copy_make(const elector_leader *leader)
{
    const char *name = leader->name ? leader->name : "", *value = leader->value ? leader->value : "";
    struct leader_copy *copy = malloc(sizeof *copy + strlen(name) + strlen(value) + 2);
    if (!copy) return NULL;
    copy->told = (elector_leader){.size = sizeof copy->told, .token = leader->token, .is_me = leader->is_me};
    (void)put(put(copy->text, name, &copy->told.name), value, &copy->told.value);
    return copy;
}

bool ticket_set_leader(struct queued *ticket, const elector_leader *leader)
{
    free(ticket->done.leader);
    ticket->done.leader = leader_copy_make(leader);
    return ticket->done.leader != NULL;
}

bool ticket_set_candidates(struct queued *ticket, const elector_candidate *from, size_t count)
{
    size_t texts = 0;
    for (size_t i = 0; i < count; i++) texts += strlen(from[i].member) + 1;
    struct candidate_copies *copies =
        malloc(sizeof *copies + count * (sizeof copies->list[0] + sizeof *from) + texts);
    if (!copies) return false;
    elector_candidate *each = (elector_candidate *)(void *)(copies->list + count);
    char *at = (char *)(each + count);
    for (size_t i = 0; i < count; i++) {
        each[i] = (elector_candidate){.size = sizeof *each, .priority = from[i].priority};
        at = put(at, from[i].member, &each[i].member);
        copies->list[i] = &each[i];
    }
    copies->count = count;
    free(ticket->done.candidates);
    ticket->done.candidates = copies;
    return true;
}

/* ---- Events ---- */

struct queued *event_make(elector_event_type type, const char *group, size_t text_max)
{
    struct queued *q = calloc(1, sizeof *q + text_max + 1);
    if (!q) return NULL;
    q->type = type;
    q->group = group;
    return q;
}

/* With a copy of the group. */
static struct queued *make_with(elector_event_type type, const char *group)
{
    const size_t size = strlen(group) + 1;
    struct queued *q = calloc(1, sizeof *q + size);
    if (!q) return NULL;
    q->type = type;
    (void)put(q->text, group, &q->group);
    return q;
}

struct queued *ticket_make(elector_call call, const char *group)
{
    struct queued *q = make_with(ELECTOR_DONE, group ? group : "");
    if (q) q->done.call = call;
    return q;
}

void event_free(struct queued *q)
{
    if (!q) return;
    if (q->type == ELECTOR_NEW_LEADER) free(q->leader);
    if (q->type == ELECTOR_DONE) {
        free(q->done.message);
        free(q->done.candidates);
        free(q->done.leader);
    }
    free(q);
}

static void append(struct event_queue *queue, struct queued *q)
{
    q->next = NULL;
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
    struct leader_copy *copy = leader_copy_make(leader);
    if (!copy) return false;
    if (!q || q->number < after) {
        q = make_with(ELECTOR_NEW_LEADER, group);
        if (!q) {
            free(copy);
            return false;
        }
        q->next_in_bucket = *at ? (*at)->next_in_bucket : NULL;
        *at = q; /* an earlier one stays in the queue, and is replaced no more */
        queue->leader_count++;
        append(queue, q);
    }
    free(q->leader);
    q->leader = copy;
    return true;
}

static void uncount(struct event_queue *queue, struct queued *q)
{
    if (q->type != ELECTOR_NEW_LEADER) {
        queue->own_count--;
        return;
    }
    struct queued **at = find_leader(queue, q->group);
    if (*at == q) *at = q->next_in_bucket;
    queue->leader_count--;
}

void event_queue_forget_leader(struct event_queue *queue, const char *group)
{
    struct queued **at = &queue->first, *before = NULL;
    while (*at) {
        struct queued *q = *at;
        if (q->type != ELECTOR_NEW_LEADER || (group && strcmp(q->group, group) != 0)) {
            before = q;
            at = &q->next;
            continue;
        }
        *at = q->next;
        uncount(queue, q);
        event_free(q);
    }
    queue->last = before;
}

/* ---- Taking ---- */

struct queued *event_queue_take(struct event_queue *queue, uint64_t last)
{
    struct queued *q = queue->first;
    if (!q || q->number > last) return NULL;
    queue->first = q->next;
    if (!queue->first) queue->last = NULL;
    uncount(queue, q);
    return q;
}

void event_queue_clear(struct event_queue *queue)
{
    for (struct queued *q; (q = event_queue_take(queue, UINT64_MAX));) event_free(q);
}
