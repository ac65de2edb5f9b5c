/* See places.h. */
#include "agent/serve/leadership/places.h"

#include <stdlib.h>

/* The tenure of a leadership that was never held. Constant: leadership_has_room() replaces it before a tenure begins. */
static const struct leadership_tenure none = {.cell = HOST_NO_CELL};

static struct leadership_tenure *no_tenure(void)
{
    return (struct leadership_tenure *)(uintptr_t)&none;
}

bool leadership_has_room(struct leadership *o)
{
    if (o->tenure != &none) return true;
    struct leadership_tenure *tenure =
        slab_at(&o->all->slab, slab_take(&o->all->slab, slab_units(sizeof *tenure)));
    if (!tenure) return false;
    *tenure = none;
    o->tenure = tenure;
    return true;
}

struct leadership *leadership_known(const struct leaderships *all, const struct host_group *group)
{
    return host_leadership(group) ? leadership_at(all, host_leadership(group) - 1) : NULL;
}

static bool make_room(struct leaderships *all)
{
    if (all->count < all->room) return true;
    const uint32_t block = all->room / LEADERSHIP_BLOCK;
    struct leadership **blocks = realloc(all->blocks, (block + 1) * sizeof *blocks);
    if (!blocks) return false;
    all->blocks = blocks;
    blocks[block] = calloc(LEADERSHIP_BLOCK, sizeof *blocks[block]);
    if (blocks[block]) all->room += LEADERSHIP_BLOCK;
    return blocks[block] != NULL;
}

struct leadership *leadership_of(struct leaderships *all, struct host_group *group)
{
    if (host_leadership(group)) return leadership_known(all, group);
    if (!all->first_free && !make_room(all)) return NULL;
    const uint32_t number = all->first_free ? all->first_free - 1 : all->count++;
    struct leadership *o = leadership_at(all, number);
    if (all->first_free) {
        all->first_free = o->candidates;
        all->free--;
    }
    struct leadership_tenure *tenure = o->tenure ? o->tenure : no_tenure();
    *o = (struct leadership){.tenure = tenure, .all = all, .group = group, .number = number};
    host_set_leadership(group, number + 1);
    return o;
}

void leadership_vacate(struct leadership *o)
{
    struct leaderships *all = o->all;
    struct leadership_tenure *tenure = o->tenure; /* its piece stays with the place */
    if (tenure->token > all->dropped_token) all->dropped_token = tenure->token;
    if (tenure != &none) *tenure = none;
    *o = (struct leadership){.tenure = tenure, .all = all, .number = o->number, .candidates = all->first_free};
    all->first_free = o->number + 1;
    all->free++;
}

void leaderships_free(struct leaderships *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (!leadership_is_free(leadership_at(all, i))) host_set_leadership(leadership_at(all, i)->group, 0);
    for (uint32_t i = 0; i < all->room / LEADERSHIP_BLOCK; i++) free(all->blocks[i]);
    slab_free(&all->slab);
    number_set_clear(&all->endings);
    free(all->blocks);
    all->blocks = NULL;
    all->count = all->room = 0;
}
