/* See slab.h. */
#include "base/slab.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct slab *slab)
{
    const uint32_t room = slab->block_room ? 2 * slab->block_room : 16;
    if (slab->blocks && slab->block_count < slab->block_room) return true;
    unsigned char **blocks = realloc(slab->blocks, room * sizeof *blocks);
    if (!blocks) return false;
    slab->blocks = blocks;
    slab->block_room = room;
    return true;
}

/* The rest of the last block becomes one free piece of that size. */
static bool begin_block(struct slab *slab)
{
    unsigned char *block = make_room(slab) ? malloc(SLAB_BLOCK) : NULL;
    if (!block) return false;
    const uint32_t end = slab->block_count * SLAB_BLOCK_UNITS, left = end ? SLAB_BLOCK_UNITS - slab->used : 0;
    if (left) slab_give_back(slab, end - left, left);
    slab->blocks[slab->block_count++] = block;
    slab->used = end == 0; /* number 0 means no piece */
    return true;
}

uint32_t slab_take(struct slab *slab, uint32_t units)
{
    uint32_t piece = slab->unused[units];
    if (piece) {
        memcpy(&slab->unused[units], slab_at(slab, piece), sizeof piece);
    } else {
        if ((slab->block_count == 0 || slab->used + units > SLAB_BLOCK_UNITS) && !begin_block(slab)) return 0;
        piece = (slab->block_count - 1) * SLAB_BLOCK_UNITS + slab->used;
        slab->used += units;
    }
    memset(slab_at(slab, piece), 0, (size_t)units * SLAB_UNIT);
    return piece;
}

void slab_give_back(struct slab *slab, uint32_t piece, uint32_t units)
{
    if (!piece) return;
    memcpy(slab_at(slab, piece), &slab->unused[units], sizeof piece);
    slab->unused[units] = piece;
}

void slab_free(struct slab *slab)
{
    for (uint32_t i = 0; i < slab->block_count; i++) free(slab->blocks[i]);
    free(slab->blocks);
    *slab = (struct slab){0};
}
