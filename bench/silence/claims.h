/*
 * When a host did what only a leader may do: intervals in a file that it maps, so that a tick costs no system call and the others
 * see it at once. Times are CLOCK_MONOTONIC, the same for all hosts of this machine, read before the question whether the host leads.
 */
#ifndef BENCH_SILENCE_CLAIMS_H
#define BENCH_SILENCE_CLAIMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLAIMS_MAX = 1 << 18 };

struct claims_interval {
    uint64_t first_ns;
    _Atomic uint64_t last_ns;
    bool begins; /* it did not lead before; else it did, but was not running */
};

struct claims {
    _Atomic uint32_t count, begins;
    _Atomic uint32_t forgotten; /* intervals that had no room: the newest always has, in the last place */
    struct claims_interval list[CLAIMS_MAX];
};

uint64_t claims_now_ns(void);
/* NULL: it cannot be opened. */
struct claims *claims_open(const char *path, bool is_ours);
/* The host was asked at `ns` and leads, or does not. */
void claims_tell(struct claims *, uint64_t ns, bool leads);
/* When the host last said that it leads; 0: never. */
uint64_t claims_last_ns(const struct claims *);
/* The longest time in which both did a leader's work at once; 0: none. */
uint64_t claims_overlap_ns(const struct claims *, const struct claims *);

#endif
