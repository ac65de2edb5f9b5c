/*
 * The groups of an elector by name: an open hash table that any thread, and any signal handler, may read while the
 * owner adds. A full table is replaced by one of twice the size. A reader may still be in the old one, so that is kept
 * until elector_close(); all old ones together are as large as the present one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/group_hash.h"
#include "client/group_state.h"

enum { FIRST_BITS = 4 };

struct group_table {
    struct group_table *older;
    unsigned bits;
    struct group_state *_Atomic places[]; /* 1 << bits; NULL: free */
};

static size_t first_place(const struct group_table *table, const char *group, size_t length)
{
    return group_hash(group, length) >> (64 - table->bits);
}

struct group_state *group_state_find(const elector *e, const char *group)
{
    const struct group_table *table = atomic_load_explicit(&e->table, memory_order_acquire);
    if (!table) return NULL;
    const size_t length = strlen(group), mask = ((size_t)1 << table->bits) - 1;
    for (size_t at = first_place(table, group, length);; at = (at + 1) & mask) {
        struct group_state *o = atomic_load_explicit(&table->places[at], memory_order_acquire);
        if (!o || (o->length == length && memcmp(o->name, group, length) == 0)) return o;
    }
}

static void add(struct group_table *table, struct group_state *o)
{
    const size_t mask = ((size_t)1 << table->bits) - 1;
    size_t at = first_place(table, o->name, o->length);
    while (atomic_load_explicit(&table->places[at], memory_order_relaxed)) at = (at + 1) & mask;
    atomic_store_explicit(&table->places[at], o, memory_order_release);
}

/* Keeps at least half of the table free. */
static struct group_table *with_room(elector *e)
{
    struct group_table *table = atomic_load_explicit(&e->table, memory_order_relaxed);
    if (table && 2 * (e->group_state_count + 1) <= (size_t)1 << table->bits) return table;
    const unsigned bits = table ? table->bits + 1 : FIRST_BITS;
    struct group_table *larger = calloc(1, sizeof *larger + (sizeof larger->places[0] << bits));
    if (!larger) return NULL;
    larger->bits = bits;
    larger->older = table;
    for (struct group_state *o = e->group_states; o; o = o->next) add(larger, o);
    atomic_store_explicit(&e->table, larger, memory_order_release);
    return larger;
}

struct group_state *group_state_make(elector *e, const char *group, elector_status *status)
{
    struct group_state *o = group_state_find(e, group);
    if (o) return o;
    if (e->group_state_count == GROUPS_MAX) {
        *status = engine_fail(e, ELECTOR_REFUSED, "%s: %d groups at most for one elector; open another", group,
                              GROUPS_MAX);
        return NULL;
    }
    const size_t length = strlen(group);
    struct group_table *table = with_room(e);
    o = table && deadlines_reserve(e, e->group_state_count + 1) ? calloc(1, sizeof *o + length + 1) : NULL;
    if (!o) {
        *status = engine_fail(e, ELECTOR_NO_MEMORY, "%s: out of memory", group);
        return NULL;
    }
    memcpy(o->name, group, length + 1);
    o->length = (uint8_t)length;
    atomic_init(&o->slot, ENGINE_NO_SLOT);
    o->next = e->group_states;
    e->group_states = o;
    e->group_state_count++;
    add(table, o);
    return o;
}

void group_states_free(elector *e)
{
    for (struct group_state *o = e->group_states, *next; o; o = next) {
        next = o->next;
        group_state_withdraw(o);
        free(o->leader);
        event_free(o->loss);
        free(o);
    }
    for (struct group_table *table = atomic_load(&e->table), *older; table; table = older) {
        older = table->older;
        free(table);
    }
    free(e->heap);
}
