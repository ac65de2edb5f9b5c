/* The algorithms of this build, in teaching order. A new one is a file and a line here. */
#include "registry.h"

static const struct el_algorithm *const table[] = {
    &el_ring_basic, &el_chang_roberts,       &el_ring_initiator, &el_ring_collect,       &el_ring_max,
    &el_lelann,     &el_hirschberg_sinclair, &el_peterson,       &el_itai_rodeh,         &el_multicast,
    &el_bully,      &el_bully_modified,      &el_next_in_line,   &el_candidate_ordinary, &el_invitation,
};

const struct el_algorithm *const *el_algorithms(uint32_t *count)
{
    *count = sizeof table / sizeof *table;
    return table;
}

static bool same(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

const struct el_algorithm *el_algorithm_named(const char *name)
{
    for (uint32_t i = 0; i < sizeof table / sizeof *table; i++)
        if (same(table[i]->name, name)) return table[i];
    return NULL;
}
