/* See frontier.h. */
#define _DEFAULT_SOURCE
#define _FILE_OFFSET_BITS 64
#include "check/tables/frontier.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void check_frontier_init(struct check_frontier *frontier, uint64_t in_memory_max)
{
    *frontier = (struct check_frontier){.in_memory_max = in_memory_max};
    pthread_mutex_init(&frontier->lock, NULL);
}

struct check_chunk *check_chunk_new(void)
{
    struct check_chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk) return NULL;
    chunk->offset = -1;
    chunk->words = malloc(CHECK_CHUNK_WORDS * sizeof *chunk->words);
    if (chunk->words) return chunk;
    free(chunk);
    return NULL;
}

void check_chunk_free(struct check_chunk *chunk)
{
    if (!chunk) return;
    free(chunk->words);
    free(chunk);
}

void check_frontier_free(struct check_frontier *frontier)
{
    while (frontier->first) {
        struct check_chunk *next = frontier->first->next;
        check_chunk_free(frontier->first);
        frontier->first = next;
    }
    if (frontier->file) fclose(frontier->file);
    pthread_mutex_destroy(&frontier->lock);
    *frontier = (struct check_frontier){0};
}

static bool write_out(struct check_frontier *frontier, struct check_chunk *chunk)
{
    const size_t bytes = chunk->used * sizeof *chunk->words;
    if (!frontier->file) frontier->file = tmpfile();
    if (!frontier->file) return false;
    for (size_t done = 0; done < bytes;) {
        const ssize_t wrote = pwrite(fileno(frontier->file), (const char *)chunk->words + done, bytes - done,
                                     frontier->file_end + (int64_t)done);
        if (wrote <= 0) return false;
        done += (size_t)wrote;
    }
    chunk->offset = frontier->file_end;
    frontier->file_end += (int64_t)bytes;
    free(chunk->words);
    chunk->words = NULL;
    return true;
}

static bool read_back(const struct check_frontier *frontier, struct check_chunk *chunk)
{
    const size_t bytes = chunk->used * sizeof *chunk->words;
    chunk->words = malloc(bytes);
    for (size_t done = 0; chunk->words && done < bytes;) {
        const ssize_t got = pread(fileno(frontier->file), (char *)chunk->words + done, bytes - done,
                                  chunk->offset + (int64_t)done);
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return chunk->words != NULL;
}

void check_frontier_put(struct check_frontier *frontier, struct check_chunk *chunk, uint64_t worlds)
{
    const uint64_t bytes = CHECK_CHUNK_WORDS * sizeof *chunk->words;
    pthread_mutex_lock(&frontier->lock);
    if (frontier->in_memory + bytes <= frontier->in_memory_max)
        frontier->in_memory += bytes;
    else if (!write_out(frontier, chunk))
        frontier->failed = true;
    chunk->next = NULL;
    if (frontier->last)
        frontier->last->next = chunk;
    else
        frontier->first = chunk;
    frontier->last = chunk;
    frontier->worlds += worlds;
    pthread_mutex_unlock(&frontier->lock);
}

struct check_chunk *check_frontier_take(struct check_frontier *frontier)
{
    pthread_mutex_lock(&frontier->lock);
    struct check_chunk *chunk = frontier->first;
    if (chunk) {
        frontier->first = chunk->next;
        if (!frontier->first) frontier->last = NULL;
        if (chunk->offset < 0) frontier->in_memory -= CHECK_CHUNK_WORDS * sizeof *chunk->words;
    }
    pthread_mutex_unlock(&frontier->lock);
    if (chunk && chunk->offset >= 0 && !read_back(frontier, chunk)) {
        frontier->failed = true;
        check_chunk_free(chunk);
        return NULL;
    }
    return chunk;
}

_Static_assert(CHECK_FLIGHT_MAX <= UINT8_MAX, "their number takes a byte");

/* The words before the locals: number, history, broken links with two flags above them, ticks and number of
 * letters, and the budgets spent. */
enum { HEAD_WORDS = 4 + 2 * CHECK_SPENT_WORDS, CALLED_AT = 30, DAWN_AT = 31 };

bool check_chunk_add(struct check_chunk *chunk, const struct check_model *model,
                     const struct check_world *world, uint32_t number)
{
    const uint32_t words = HEAD_WORDS + model->count + world->flight_count;
    if (chunk->used + words > CHECK_CHUNK_WORDS) return false;
    uint32_t *at = chunk->words + chunk->used;
    *at++ = number;
    *at++ = world->history;
    *at++ = world->broken | (uint32_t)world->called << CALLED_AT | (uint32_t)world->dawn << DAWN_AT;
    *at++ = (uint32_t)world->ticks << 16 | (uint32_t)world->leaderless << 8 | world->flight_count;
    memcpy(at, world->spent, sizeof world->spent);
    at += (size_t)2 * CHECK_SPENT_WORDS;
    memcpy(at, world->local, model->count * sizeof *at);
    at += model->count;
    memcpy(at, world->flight, world->flight_count * sizeof *at);
    chunk->used += words;
    return true;
}

bool check_chunk_next(const struct check_chunk *chunk, const struct check_model *model, uint32_t *at,
                      struct check_world *world, uint32_t *number)
{
    if (*at >= chunk->used) return false;
    const uint32_t *word = chunk->words + *at;
    *number = *word++;
    world->history = *word++;
    world->called = (uint8_t)(*word >> CALLED_AT & 1);
    world->dawn = (uint8_t)(*word >> DAWN_AT);
    world->broken = *word++ & ((1u << CALLED_AT) - 1);
    world->ticks = (uint16_t)(*word >> 16);
    world->leaderless = (uint8_t)(*word >> 8);
    world->flight_count = (uint8_t)*word++;
    memcpy(world->spent, word, sizeof world->spent);
    word += (size_t)2 * CHECK_SPENT_WORDS;
    memcpy(world->local, word, model->count * sizeof *word);
    word += model->count;
    memcpy(world->flight, word, world->flight_count * sizeof *word);
    word += world->flight_count;
    *at = (uint32_t)(word - chunk->words);
    return true;
}
