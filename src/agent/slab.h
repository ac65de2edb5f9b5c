/*
 * Memory in pieces of any small size, for what there are very many of: no header before each, the heap is asked for a block
 * at a time, and what is given back is used for the next of that size. Pieces stay where they are; all are freed together.
 */
#ifndef ELECTOR_AGENT_SLAB_H
#define ELECTOR_AGENT_SLAB_H

#include <stddef.h>
#include <stdint.h>

enum { SLAB_UNIT = 16, SLAB_UNITS_MAX = 160, SLAB_BLOCK = 65536 };

struct slab {
    struct slab_piece *unused[SLAB_UNITS_MAX + 1]; /* by their size in units */
    struct slab_block *blocks;
    uint32_t block_count;
    size_t used; /* of the first */
};

static inline uint32_t slab_units(size_t size)
{
    return (uint32_t)((size + SLAB_UNIT - 1) / SLAB_UNIT);
}

/* Zeros, on the boundary of a unit. NULL: no memory. */
void *slab_take(struct slab *, uint32_t units);
void slab_give_back(struct slab *, void *, uint32_t units); /* as many as were taken; NULL: nothing happens */
void slab_free(struct slab *);                              /* what it holds, not itself */

#endif
