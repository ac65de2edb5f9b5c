/* A sparse table from pairs of nodes to values that few pairs have: a suspicion, a link's last arrival. */
#ifndef ELECTOR_SIM_WORLD_MAP_H
#define ELECTOR_SIM_WORLD_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "elector/core.h"

struct sim_map {
    struct sim_map_entry *entries;
    uint64_t capacity, used;
};

void sim_map_free(struct sim_map *map);
/* The value of a pair, 0 if it has none. */
uint64_t sim_map_get(const struct sim_map *map, el_node a, el_node b);
/* Sets the value; 0 removes it. False if memory ran out. */
bool sim_map_set(struct sim_map *map, el_node a, el_node b, uint64_t value);

#endif
