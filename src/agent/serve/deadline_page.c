/* See deadline_page.h. */
#define _GNU_SOURCE /* seals */
#include "agent/serve/deadline_page.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/kernel/memfd.h"

struct deadline_page {
    int fd;
    struct deadline_map *map;
};

/* Seals it: ours stays the only writable mapping, and the size is fixed, so no reader can get SIGBUS. */
static struct deadline_map *map_and_seal(int fd)
{
    if (ftruncate(fd, sizeof(struct deadline_map)) != 0) return NULL;
    struct deadline_map *map = mmap(NULL, sizeof *map, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) return NULL;
    map->header = (struct deadline_header){.magic = DEADLINE_MAGIC,
                                           .version = DEADLINE_VERSION,
                                           .size = sizeof map->header,
                                           .cell_count = DEADLINE_CELLS,
                                           .slot_count = DEADLINE_SLOTS};
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return map;
    munmap(map, sizeof *map);
    return NULL;
}

struct deadline_page *deadline_page_new(void)
{
    struct deadline_page *page = malloc(sizeof *page);
    if (!page) return NULL;
    page->fd = memfd_new("elector");
    page->map = page->fd >= 0 ? map_and_seal(page->fd) : NULL;
    if (page->map) return page;
    if (page->fd >= 0) close(page->fd);
    free(page);
    return NULL;
}

void deadline_page_free(struct deadline_page *page)
{
    if (!page) return;
    munmap(page->map, sizeof *page->map);
    close(page->fd);
    free(page);
}

int deadline_page_fd(const struct deadline_page *page)
{
    return page->fd;
}

void deadline_page_set_deadline(struct deadline_page *page, uint32_t cell, uint64_t deadline_ns)
{
    if (page) atomic_store_explicit(&page->map->cells[cell], deadline_ns, memory_order_release);
}

void deadline_page_occupy(struct deadline_page *page, uint32_t slot, uint64_t token, uint32_t cell)
{
    if (!page) return;
    struct deadline_slot *s = &page->map->slots[slot];
    atomic_store_explicit(&s->cell, cell, memory_order_release);
    atomic_store_explicit(&s->token, token, memory_order_release);
}

void deadline_page_move(struct deadline_page *page, uint32_t slot, uint32_t cell)
{
    if (page) atomic_store_explicit(&page->map->slots[slot].cell, cell, memory_order_release);
}

void deadline_page_freeze(struct deadline_page *page, uint32_t slot, uint64_t deadline_ns)
{
    if (!page) return;
    deadline_page_set_deadline(page, slot, deadline_ns);
    atomic_store_explicit(&page->map->slots[slot].cell, slot, memory_order_release);
}

void deadline_page_vacate(struct deadline_page *page, uint32_t slot)
{
    if (page) atomic_store_explicit(&page->map->slots[slot].token, 0, memory_order_release);
}
