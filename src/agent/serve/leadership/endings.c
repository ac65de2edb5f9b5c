/*
 * See endings.h. Thousands of tenures may end at the same time, because a client that led them was disconnected or hangs. Each
 * costs microseconds, so they end in portions, and the loop goes on between these. A tenure that ends late is safe: nobody
 * else leads before it has ended.
 */
#include "agent/serve/leadership/endings.h"

#include "agent/serve/limits/portion.h"

void leadership_look_at_ending(struct leadership *o)
{
    o->all->has_endings = true;
    if (!number_set_add(&o->all->endings, o->number)) o->all->misses_endings = true;
}

static bool is_ending(const struct leadership *o)
{
    return o->tenure->is_held && o->tenure->ending != LEADERSHIP_STAYS;
}

/* Memory had run out: finds them among all. */
static void find_endings(struct leaderships *all)
{
    all->misses_endings = false;
    for (uint32_t i = 0; i < all->count; i++)
        if (is_ending(leadership_at(all, i))) leadership_look_at_ending(leadership_at(all, i));
}

/* The first that is ending, from this number on; NULL: none is. */
static struct leadership *next_ending(struct leaderships *all, uint32_t from)
{
    for (uint32_t i = number_set_next(&all->endings, from); i != NUMBER_SET_NONE;
         i = number_set_next(&all->endings, i + 1)) {
        if (is_ending(leadership_at(all, i))) return leadership_at(all, i);
        number_set_remove(&all->endings, i);
    }
    return NULL;
}

/* From where the last portion ended. True: the rest waits for the next one. */
static bool end_some(struct leaderships *all, uint64_t now)
{
    struct portion portion = portion_begin();
    struct leadership *o = next_ending(all, all->next_ending);
    for (; o && !portion_is_over(&portion); o = next_ending(all, all->next_ending)) {
        all->next_ending = o->number + 1;
        if (o->tenure->stop_by > now) continue;
        leadership_end_overdue(o);
        portion.left--;
    }
    return o != NULL;
}

/* Messages about many share datagrams; those about a single one leave before all else. */
enum leaderships_wait leaderships_tick(struct leaderships *all)
{
    const uint64_t now = host_clock(all->host);
    if (!all->has_endings) return LEADERSHIPS_NONE_END;
    if (all->misses_endings) find_endings(all);
    const bool is_held = all->endings.count > 1;
    if (is_held) host_batch_begin(all->host);
    const bool goes_on = end_some(all, now);
    if (is_held) host_batch_end(all->host);
    if (goes_on) return LEADERSHIPS_SOME_ARE_DUE;
    all->next_ending = 0;
    all->has_endings = all->misses_endings || next_ending(all, 0);
    return all->has_endings ? LEADERSHIPS_SOME_END : LEADERSHIPS_NONE_END;
}

static void leave_some(struct leaderships *all)
{
    if (all->left == all->count) return;
    host_batch_begin(all->host);
    for (struct portion portion = portion_begin(); all->left < all->count && !portion_is_over(&portion);
         portion.left--)
        leadership_leave(leadership_at(all, all->left++));
    host_batch_end(all->host);
}

enum leaderships_wait leaderships_leave(struct leaderships *all)
{
    all->is_leaving = true;
    leave_some(all);
    if (all->left < all->count) return LEADERSHIPS_SOME_ARE_DUE;
    if (all->misses_endings) find_endings(all);
    return all->misses_endings || next_ending(all, 0) ? LEADERSHIPS_SOME_END : LEADERSHIPS_NONE_END;
}
