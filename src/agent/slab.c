/* See slab.h. */
#include "agent/slab.h"

#include <stdlib.h>
#include <string.h>

struct slab_piece {
    struct slab_piece *next;
};

struct slab_block {
    struct slab_block *next;
    _Alignas(SLAB_UNIT) unsigned char bytes[SLAB_BLOCK];
};

/* What is left of the block is used for pieces of that size. */
static int begin_block(struct slab *slab)
{
    struct slab_block *block = malloc(sizeof *block);
    if (!block) return 0;
    if (slab->blocks && slab->used < SLAB_BLOCK)
        slab_give_back(slab, slab->blocks->bytes + slab->used,
                       (uint32_t)((SLAB_BLOCK - slab->used) / SLAB_UNIT));
    block->next = slab->blocks;
    slab->blocks = block;
    slab->block_count++;
    slab->used = 0;
    return 1;
}

void *slab_take(struct slab *slab, uint32_t units)
{
    const size_t size = (size_t)units * SLAB_UNIT;
    struct slab_piece *piece = slab->unused[units];
    if (piece) {
        slab->unused[units] = piece->next;
    } else {
        if ((!slab->blocks || slab->used + size > SLAB_BLOCK) && !begin_block(slab)) return NULL;
        piece = (struct slab_piece *)(void *)(slab->blocks->bytes + slab->used);
        slab->used += size;
    }
    memset(piece, 0, size);
    return piece;
}

void slab_give_back(struct slab *slab, void *bytes, uint32_t units)
{
    struct slab_piece *piece = bytes;
    if (!piece) return;
    piece->next = slab->unused[units];
    slab->unused[units] = piece;
}

void slab_free(struct slab *slab)
{
    while (slab->blocks) {
        struct slab_block *block = slab->blocks;
        slab->blocks = block->next;
        free(block);
    }
    *slab = (struct slab){0};
}
