/* See number_set.h. */
#include "agent/serve/limits/number_set.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct number_set *set, uint32_t pages)
{
    if (pages <= set->room) return true;
    uint64_t **grown = realloc(set->pages, pages * sizeof *grown);
    if (!grown) return false;
    memset(grown + set->room, 0, (pages - set->room) * sizeof *grown);
    set->pages = grown;
    set->room = pages;
    return true;
}

bool number_set_add(struct number_set *set, uint32_t number)
{
    if (!make_room(set, number / NUMBER_SET_PAGE + 1)) return false;
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
    for (uint32_t i = 0; i < set->room; i++) free(set->pages[i]);
    free(set->pages);
    *set = (struct number_set){0};
}

uint32_t number_set_next(const struct number_set *set, uint32_t from)
{
    for (uint32_t at = from, end = set->room * NUMBER_SET_PAGE; at < end; at = (at / 64 + 1) * 64) {
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
