/*
 * Memory in pieces of any small size, for what there are very many of: no header before each, the heap is asked for a block
 * at a time, and what is given back is used for the next of that size. Pieces stay where they are; all are freed together.
 *
 * A piece has a number, which takes half of the room that a pointer does; 0 is no piece's.
 */
#ifndef ELECTOR_BASE_SLAB_H
#define ELECTOR_BASE_SLAB_H

#include <stddef.h>
#include <stdint.h>

enum { SLAB_UNIT = 8, SLAB_UNITS_MAX = 320, SLAB_BLOCK = 65536, SLAB_BLOCK_UNITS = SLAB_BLOCK / SLAB_UNIT };

struct slab {
    uint32_t unused[SLAB_UNITS_MAX + 1]; /* the first of those that were given back, by their size in units */
    unsigned char **blocks;
    uint32_t block_count, block_room;
    uint32_t used; /* units of the last block */
};

static inline uint32_t slab_units(size_t size)
{
    return (uint32_t)((size + SLAB_UNIT - 1) / SLAB_UNIT);
}

/* NULL: there is no piece 0. */
static inline void *slab_at(const struct slab *slab, uint32_t piece)
{
    return piece ? slab->blocks[piece / SLAB_BLOCK_UNITS] + (size_t)(piece % SLAB_BLOCK_UNITS) * SLAB_UNIT
                 : NULL;
}

/* Its number; zeros, on the boundary of a unit. 0: no memory. */
uint32_t slab_take(struct slab *, uint32_t units);
void slab_give_back(struct slab *, uint32_t piece,
                    uint32_t units); /* as many as were taken; 0: nothing happens */
void slab_free(struct slab *);       /* what it holds, not itself */

#endif
