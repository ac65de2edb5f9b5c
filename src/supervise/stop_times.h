/*
 * When a command must get SIGTERM and SIGKILL so that nothing of it runs when the lease ends.
 *
 *     ── renewal ──────────────────────────── SIGTERM ──────────── SIGKILL ──────── deadline
 *                                                 ≤ lease / 4          lease / 10
 *                                                 ≤ --stop-timeout     ≤ 1 s
 *
 * `elector run` sends both (cli/run/deadline.c). The keeper sends SIGKILL at the same time, in case `elector run`
 * hangs (keeper.c). `elector plan` prints both.
 */
#ifndef ELECTOR_SUPERVISE_STOP_TIMES_H
#define ELECTOR_SUPERVISE_STOP_TIMES_H

#include <stdint.h>

struct stop_times {
    uint64_t term_at_ns, kill_at_ns; /* 0: never */
};

/*
 * SIGKILL is due a tenth of the lease before the deadline, but at most 1 s. SIGTERM is due `stop_timeout_ns` before
 * that, but at most a quarter of the lease: a renewal that is merely late must not stop the command. A deadline of 0
 * or UINT64_MAX means that there is no lease.
 */
struct stop_times supervise_stop_times(uint64_t deadline_ns, uint64_t lease_ns, uint64_t stop_timeout_ns);

#endif
