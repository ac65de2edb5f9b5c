/*
 * An allocator for very many small objects. It has no header per piece and takes blocks of 64 KiB from the
 * heap. A piece that is given back is reused for the next request of the same size. Pieces never move; all are
 * freed together.
 *
 * A piece is named by a 32-bit number, half the size of a pointer; 0 means no piece.
 */
#ifndef ELECTOR_BASE_SLAB_H
#define ELECTOR_BASE_SLAB_H

#include <stddef.h>
#include <stdint.h>

enum { SLAB_UNIT = 8, SLAB_UNITS_MAX = 320, SLAB_BLOCK = 65536, SLAB_BLOCK_UNITS = SLAB_BLOCK / SLAB_UNIT };

struct slab {
    uint32_t unused[SLAB_UNITS_MAX + 1]; /* free lists by size in units: the first piece of each */
    unsigned char **blocks;
    uint32_t block_count, block_room;
    uint32_t used; /* units taken of the last block */
};

static inline uint32_t slab_units(size_t size)
{
    return (uint32_t)((size + SLAB_UNIT - 1) / SLAB_UNIT);
}

/* NULL for piece 0. */
static inline void *slab_at(const struct slab *slab, uint32_t piece)
{
    return piece ? slab->blocks[piece / SLAB_BLOCK_UNITS] + (size_t)(piece % SLAB_BLOCK_UNITS) * SLAB_UNIT
                 : NULL;
}

/* The number of a zeroed piece, aligned to SLAB_UNIT. 0: out of memory. */
uint32_t slab_take(struct slab *, uint32_t units);
void slab_give_back(struct slab *, uint32_t piece, uint32_t units); /* `units` as taken; piece 0 is ignored */
void slab_free(struct slab *);                                      /* frees all pieces, not the struct */

#endif
