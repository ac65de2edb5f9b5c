/* A set of numbers below NUMBER_SET_END. It takes memory for those that are in it: 512 bytes for 4,096 neighbours, and a pointer
 * for each 4,096 numbers up to the highest. An agent has thousands of clients, and most of them care for one group. */
#ifndef ELECTOR_AGENT_SERVE_LIMITS_NUMBER_SET_H
#define ELECTOR_AGENT_SERVE_LIMITS_NUMBER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NUMBER_SET_PAGE = 4096,
    NUMBER_SET_END = 1 << 20,
    NUMBER_SET_NONE = NUMBER_SET_END /* number_set_next(): no more */
};

/* Zeroed: the empty set. */
struct number_set {
    uint64_t **pages; /* [room]; NULL: none of its numbers is in the set */
    uint32_t room;
    uint32_t count;
};

bool number_set_add(struct number_set *, uint32_t number); /* false: out of memory */
void number_set_remove(struct number_set *, uint32_t number);
void number_set_clear(struct number_set *); /* and frees its memory */
/* The first number in the set that is not below `from`. */
uint32_t number_set_next(const struct number_set *, uint32_t from);

static inline bool number_set_has(const struct number_set *set, uint32_t number)
{
    const uint64_t *page = number / NUMBER_SET_PAGE < set->room ? set->pages[number / NUMBER_SET_PAGE] : NULL;
    return page && page[number % NUMBER_SET_PAGE / 64] >> (number % 64) & 1;
}

#endif
