/* How much of the processors others take: neither this process nor any that it, or one of those, has started. */
#ifndef ELECTOR_BENCH_HOSTILE_LOAD_H
#define ELECTOR_BENCH_HOSTILE_LOAD_H

#include <stdint.h>

/* In ticks of the clock, since an arbitrary time. What a process took that has ended counts as others', unless its parent is one of us
 * and has waited for it. */
uint64_t load_of_others(void);
uint64_t load_ticks_a_second(void);

#endif
