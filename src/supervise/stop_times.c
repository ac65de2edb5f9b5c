/* See stop_times.h. */
#include "supervise/stop_times.h"

static const uint64_t kill_before_ns_max = UINT64_C(1000000000);

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* `before_ns` ahead of `at_ns`, but never 0, which would mean never. */
static uint64_t ahead_of(uint64_t at_ns, uint64_t before_ns)
{
    return at_ns - least(before_ns, at_ns - 1);
}

struct stop_times supervise_stop_times(uint64_t deadline_ns, uint64_t lease_ns, uint64_t stop_timeout_ns)
{
    struct stop_times stop = {0};
    if (deadline_ns == 0 || deadline_ns == UINT64_MAX) return stop;
    stop.kill_at_ns = ahead_of(deadline_ns, least(lease_ns / 10, kill_before_ns_max));
    stop.term_at_ns = ahead_of(stop.kill_at_ns, least(stop_timeout_ns, lease_ns / 4));
    return stop;
}
