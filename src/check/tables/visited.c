/* See visited.h. Tables are mapped, not allocated: untouched pages cost nothing, and huge pages save most TLB
 * misses. */
#define _DEFAULT_SOURCE
#include "check/tables/visited.h"

#include <string.h>
#include <sys/mman.h>

enum { SLOTS_FIRST = 1 << 14 };

static void *map(uint64_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return NULL;
    if (bytes >= (UINT64_C(4) << 20)) (void)madvise(at, bytes, MADV_HUGEPAGE);
    return at;
}

static bool map_slots(struct check_visited *visited, uint64_t slots, bool numbered)
{
    visited->slots = map(slots * sizeof *visited->slots);
    visited->numbers = numbered && visited->slots ? map(slots * sizeof *visited->numbers) : NULL;
    visited->mask = slots - 1;
    return visited->slots && (!numbered || visited->numbers);
}

static void unmap_slots(struct check_visited *visited)
{
    if (visited->slots) munmap(visited->slots, (visited->mask + 1) * sizeof *visited->slots);
    if (visited->numbers) munmap(visited->numbers, (visited->mask + 1) * sizeof *visited->numbers);
}

bool check_visited_init(struct check_visited *visited, uint64_t memory, bool numbered)
{
    *visited = (struct check_visited){0};
    const uint64_t most = memory / sizeof *visited->origins;
    visited->origin_max = most < UINT32_MAX ? most : UINT32_MAX;
    visited->origins = map(visited->origin_max * sizeof *visited->origins);
    return visited->origins && map_slots(visited, SLOTS_FIRST, numbered);
}

void check_visited_free(struct check_visited *visited)
{
    unmap_slots(visited);
    if (visited->origins) munmap(visited->origins, visited->origin_max * sizeof *visited->origins);
    *visited = (struct check_visited){0};
}

static uint64_t slot_bytes(const struct check_visited *visited)
{
    return sizeof *visited->slots + (visited->numbers ? sizeof *visited->numbers : 0);
}

uint64_t check_visited_memory(const struct check_visited *visited)
{
    return (visited->mask + 1) * slot_bytes(visited) + atomic_load(&visited->count) * sizeof *visited->origins;
}

/* The slot of this fingerprint. If *is_new, the slot was free and is now ours, with its high word still
 * unwritten. */
static uint64_t claim(struct check_visited *visited, uint64_t low, uint64_t high, bool *is_new)
{
    for (uint64_t at = low & visited->mask;; at = (at + 1) & visited->mask) {
        struct check_slot *slot = &visited->slots[at];
        uint64_t there = atomic_load_explicit(&slot->low, memory_order_acquire);
        if (there == 0) {
            *is_new = atomic_compare_exchange_strong(&slot->low, &there, low);
            if (*is_new) return at;
        }
        if (there != low) continue;
        uint64_t rest;
        while ((rest = atomic_load_explicit(&slot->high, memory_order_acquire)) == 0) {
        } /* another thread is about to write it */
        *is_new = false;
        if (rest == high) return at;
    }
}

uint32_t check_visited_number(struct check_visited *visited, struct check_origin origin)
{
    const uint32_t number = (uint32_t)atomic_fetch_add(&visited->count, 1);
    visited->origins[number] = origin;
    return number;
}

bool check_visited_meet(struct check_visited *visited, struct el_hash hash)
{
    const uint64_t low = hash.low ? hash.low : 1, high = hash.high ? hash.high : 1;
    bool is_new = false;
    const uint64_t at = claim(visited, low, high, &is_new);
    if (!is_new) return false;
    atomic_fetch_add_explicit(&visited->filled, 1, memory_order_relaxed);
    atomic_store_explicit(&visited->slots[at].high, high, memory_order_release);
    return true;
}

bool check_visited_add(struct check_visited *visited, struct el_hash hash, struct check_origin origin,
                       uint32_t *number)
{
    const uint64_t low = hash.low ? hash.low : 1, high = hash.high ? hash.high : 1;
    bool is_new = false;
    const uint64_t at = claim(visited, low, high, &is_new);
    if (is_new) {
        atomic_fetch_add_explicit(&visited->filled, 1, memory_order_relaxed);
        *number = check_visited_number(visited, origin);
        if (visited->numbers) atomic_store_explicit(&visited->numbers[at], *number, memory_order_relaxed);
        atomic_store_explicit(&visited->slots[at].high, high, memory_order_release);
    } else if (visited->numbers) {
        *number = atomic_load_explicit(&visited->numbers[at], memory_order_relaxed);
    }
    return is_new;
}

bool check_visited_is_full(const struct check_visited *visited)
{
    return atomic_load_explicit(&visited->filled, memory_order_relaxed) > visited->mask / 8 * 5;
}

bool check_visited_is_brimming(const struct check_visited *visited)
{
    const uint64_t count = atomic_load_explicit(&visited->count, memory_order_relaxed);
    const uint64_t filled = atomic_load_explicit(&visited->filled, memory_order_relaxed);
    return filled > visited->mask / 16 * 15 || count + 4096 > visited->origin_max;
}

uint32_t check_visited_find(const struct check_visited *visited, struct el_hash hash)
{
    const uint64_t low = hash.low ? hash.low : 1, high = hash.high ? hash.high : 1;
    for (uint64_t at = low & visited->mask;; at = (at + 1) & visited->mask) {
        const uint64_t there = atomic_load_explicit(&visited->slots[at].low, memory_order_relaxed);
        if (there == 0) return UINT32_MAX;
        if (there == low && atomic_load_explicit(&visited->slots[at].high, memory_order_relaxed) == high)
            return atomic_load_explicit(&visited->numbers[at], memory_order_relaxed);
    }
}

static void move_over(struct check_visited *to, const struct check_visited *from)
{
    for (uint64_t i = 0; i <= from->mask; i++) {
        const uint64_t low = atomic_load_explicit(&from->slots[i].low, memory_order_relaxed);
        if (low == 0) continue;
        uint64_t at = low & to->mask;
        while (atomic_load_explicit(&to->slots[at].low, memory_order_relaxed)) at = (at + 1) & to->mask;
        atomic_store_explicit(&to->slots[at].low, low, memory_order_relaxed);
        atomic_store_explicit(&to->slots[at].high,
                              atomic_load_explicit(&from->slots[i].high, memory_order_relaxed),
                              memory_order_relaxed);
        if (to->numbers)
            atomic_store_explicit(&to->numbers[at],
                                  atomic_load_explicit(&from->numbers[i], memory_order_relaxed),
                                  memory_order_relaxed);
    }
}

bool check_visited_grow(struct check_visited *visited, uint64_t memory)
{
    struct check_visited old = {.slots = visited->slots, .numbers = visited->numbers, .mask = visited->mask};
    const uint64_t count = atomic_load(&visited->count), slots = 2 * (visited->mask + 1);
    const uint64_t needs = slots * slot_bytes(visited) * 3 / 2 + count * sizeof *visited->origins;
    if (needs > memory || 2 * count > visited->origin_max) return false;
    if (!map_slots(visited, slots, old.numbers != NULL)) {
        visited->slots = old.slots, visited->numbers = old.numbers, visited->mask = old.mask;
        return false;
    }
    move_over(visited, &old);
    unmap_slots(&old);
    return true;
}
