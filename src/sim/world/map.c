/* Open addressing with linear probing; a pair whose value is 0 keeps its slot. */
#include "sim/world/map.h"

#include <stdlib.h>

struct sim_map_entry {
    uint64_t key; /* 0: free */
    uint64_t value;
};

static uint64_t key_of(el_node a, el_node b)
{
    return (uint64_t)a << 32 | b;
}

static struct sim_map_entry *find(const struct sim_map *map, uint64_t key)
{
    uint64_t at = (key * UINT64_C(0x9E3779B97F4A7C15)) >> 20;
    for (;; at++) {
        struct sim_map_entry *entry = &map->entries[at & (map->capacity - 1)];
        if (entry->key == key || entry->key == 0) return entry;
    }
}

void sim_map_free(struct sim_map *map)
{
    free(map->entries);
    *map = (struct sim_map){0};
}

uint64_t sim_map_get(const struct sim_map *map, el_node a, el_node b)
{
    return map->capacity == 0 ? 0 : find(map, key_of(a, b))->value;
}

static bool grow(struct sim_map *map)
{
    struct sim_map wider = {.capacity = map->capacity ? 2 * map->capacity : 64, .used = map->used};
    wider.entries = calloc(wider.capacity, sizeof *wider.entries);
    if (!wider.entries) return false;
    for (uint64_t i = 0; i < map->capacity; i++)
        if (map->entries[i].key) *find(&wider, map->entries[i].key) = map->entries[i];
    free(map->entries);
    *map = wider;
    return true;
}

bool sim_map_set(struct sim_map *map, el_node a, el_node b, uint64_t value)
{
    if (value == 0 && sim_map_get(map, a, b) == 0) return true;
    if (map->used * 2 >= map->capacity && !grow(map)) return false;
    struct sim_map_entry *entry = find(map, key_of(a, b));
    if (entry->key == 0) map->used++;
    *entry = (struct sim_map_entry){key_of(a, b), value};
    return true;
}
