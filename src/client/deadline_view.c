/* See deadline_view.h, and the rules in base/deadline_layout.h. */
#define _GNU_SOURCE /* seals */
#include "client/deadline_view.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A slot rarely changes its cell: 8 changes during one reading mean that the agent is faulty. */
enum { TRIES = 8 };

/* Accepts only memory that is sealed against shrinking: a load beyond its end would raise SIGBUS. */
static bool is_page(int fd)
{
    const int seals = fcntl(fd, F_GET_SEALS);
    const int needed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE;
    struct stat file;
    struct deadline_header header;
    if (seals < 0 || (seals & needed) != needed) return false;
    if (fstat(fd, &file) != 0 || file.st_size != sizeof(struct deadline_map)) return false;
    if (pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header) return false;
    return memcmp(header.magic, DEADLINE_MAGIC, sizeof header.magic) == 0 &&
           header.version == DEADLINE_VERSION && header.size == sizeof header &&
           header.cell_count == DEADLINE_CELLS && header.slot_count == DEADLINE_SLOTS;
}

/*
 * Replaces the present mapping, while other threads may read it. What they can see, and why it is no race:
 * - The kernel holds the lock of the address space for writing until the new mapping is in place, and since Linux 6.4 that of
 *   the old mapping too. A reader that faults meanwhile waits for one of them. So each of its loads is from the old page or from
 *   the new one. Until the kernel has flushed a processor's TLB, loads there are from the old page; it does so before it
 *   lets those locks go, so no load from the old page follows one from the new page.
 * - Nobody in this process writes through the mapping, old or new: it is PROT_READ. ThreadSanitizer counts mmap() as a write to
 *   all of it, hence the suppression in test/unit/client/deadline_view.c. It names this function, which does nothing but mmap(), so no other access is hidden.
 * - A reader may get the token of the old page and the deadline of the new one. It then looks again at the token, in the new
 *   page. That is another agent's, which never has the same token; or zeros. A page that is mapped again was zeros
 *   in between: a deadline read from there is 0, and does not lead.
 */
static void *map_over(void *at, int flags, int fd)
{
    void *map = mmap(at, sizeof(struct deadline_map), PROT_READ, flags | (at ? MAP_FIXED : 0), fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

bool deadline_view_map(struct deadline_view *view, int fd)
{
    void *map = is_page(fd) ? map_over(view->map, MAP_SHARED, fd) : NULL;
    if (map && !view->map) view->map = map; /* once, before any thread can learn of a slot in it */
    return map != NULL;
}

void deadline_view_clear(struct deadline_view *view)
{
    if (view->map) (void)map_over(view->map, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

void deadline_view_free(struct deadline_view *view)
{
    if (view->map) munmap(view->map, sizeof(struct deadline_map));
    view->map = NULL;
}

uint64_t deadline_view_deadline(const struct deadline_view *view, uint32_t slot, uint64_t token)
{
    const struct deadline_slot *s = &view->map->slots[slot];
    for (int i = 0; i < TRIES; i++) {
        if (atomic_load_explicit(&s->token, memory_order_acquire) != token) return 0;
        const uint32_t cell = atomic_load_explicit(&s->cell, memory_order_acquire);
        if (cell >= DEADLINE_CELLS) return 0;
        const uint64_t deadline_ns = atomic_load_explicit(&view->map->cells[cell], memory_order_acquire);
        if (atomic_load_explicit(&s->cell, memory_order_acquire) != cell) continue;
        return atomic_load_explicit(&s->token, memory_order_acquire) == token ? deadline_ns : 0;
    }
    return 0;
}
