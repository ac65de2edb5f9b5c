/* See claims.h. */
#define _GNU_SOURCE
#include "silence/claims.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const uint64_t GAP_NS = 4000000; /* between two ticks of a host that runs there is less */

uint64_t claims_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct claims *claims_open(const char *path, bool is_ours)
{
    const int fd = open(path, (is_ours ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0600);
    if (fd < 0) return NULL;
    if (is_ours && ftruncate(fd, sizeof(struct claims)) != 0) return NULL;
    void *map =
        mmap(NULL, sizeof(struct claims), is_ours ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return map == MAP_FAILED ? NULL : map;
}

void claims_tell(struct claims *claims, uint64_t ns, bool leads)
{
    static bool led;
    const uint32_t count = atomic_load(&claims->count);
    struct claims_interval *last = count ? &claims->list[count - 1] : NULL;
    if (leads && led && last && ns - atomic_load(&last->last_ns) < GAP_NS) {
        atomic_store(&last->last_ns, ns);
    } else if (leads) {
        const uint32_t at = count < CLAIMS_MAX ? count : CLAIMS_MAX - 1;
        struct claims_interval *one = &claims->list[at];
        one->first_ns = ns;
        one->begins = !led;
        atomic_store(&one->last_ns, ns);
        atomic_store(&claims->count, at + 1);
        if (count == CLAIMS_MAX) atomic_fetch_add(&claims->forgotten, 1);
        if (!led) atomic_fetch_add(&claims->begins, 1);
    }
    led = leads;
}

uint64_t claims_last_ns(const struct claims *claims)
{
    const uint32_t count = atomic_load(&claims->count);
    return count ? atomic_load(&claims->list[count - 1].last_ns) : 0;
}

uint64_t claims_overlap_ns(const struct claims *a, const struct claims *b)
{
    uint64_t longest = 0;
    for (uint32_t i = 0, k = 0; i < a->count && k < b->count;) {
        const struct claims_interval *x = &a->list[i], *y = &b->list[k];
        const uint64_t from = x->first_ns > y->first_ns ? x->first_ns : y->first_ns;
        const uint64_t to = x->last_ns < y->last_ns ? x->last_ns : y->last_ns;
        if (from <= to && to - from + 1 > longest) longest = to - from + 1;
        if (x->last_ns < y->last_ns)
            i++;
        else
            k++;
    }
    return longest;
}
