/* See number_set.h. */
#include "agent/serve/limits/number_set.h"

#include <stdlib.h>

bool number_set_add(struct number_set *set, uint32_t number)
{
    uint64_t **page = &set->pages[number / NUMBER_SET_PAGE];
    if (!*page) *page = calloc(NUMBER_SET_PAGE / 64, sizeof **page);
    if (!*page) return false;
    if (number_set_has(set, number)) return true;
    (*page)[number % NUMBER_SET_PAGE / 64] |= UINT64_C(1) << (number % 64);
    set->count++;
    return true;
}

void number_set_remove(struct number_set *set, uint32_t number)
{
    if (!number_set_has(set, number)) return;
    set->pages[number / NUMBER_SET_PAGE][number % NUMBER_SET_PAGE / 64] &= ~(UINT64_C(1) << (number % 64));
    if (--set->count == 0) number_set_clear(set);
}

void number_set_clear(struct number_set *set)
{
    for (uint32_t i = 0; i < NUMBER_SET_PAGES; i++) free(set->pages[i]);
    *set = (struct number_set){0};
}

uint32_t number_set_next(const struct number_set *set, uint32_t from)
{
    for (uint32_t at = from; at < NUMBER_SET_END; at = (at / 64 + 1) * 64) {
        const uint64_t *page = set->pages[at / NUMBER_SET_PAGE];
        if (!page) {
            at = at / NUMBER_SET_PAGE * NUMBER_SET_PAGE + NUMBER_SET_PAGE - 64;
            continue;
        }
        const uint64_t left = page[at % NUMBER_SET_PAGE / 64] >> (at % 64);
        if (left) return at + (uint32_t)__builtin_ctzll(left);
    }
    return NUMBER_SET_NONE;
}
