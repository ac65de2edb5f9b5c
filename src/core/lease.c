/* Lease lengths under clock drift: the holder's is rounded down, the granter's up. */
#include "core/machine.h"
#include "elector/parts.h"

enum { WHOLE = 1000000 };

/* value * up / down without overflow; up and down stay below 2^21. */
static uint64_t scale(uint64_t value, uint32_t up, uint32_t down, bool round_up)
{
    const uint64_t whole = value / down * up;
    const uint64_t rest = value % down * up;
    return whole + rest / down + (round_up && rest % down != 0);
}

el_duration el_lease_held(el_duration promise, uint32_t drift)
{
    el_require(drift < WHOLE && promise <= UINT64_MAX / 4);
    return scale(promise, WHOLE - drift, WHOLE + drift, false);
}

el_duration el_lease_promised(el_duration lease, uint32_t drift)
{
    el_require(drift < WHOLE && lease / (WHOLE - drift) < UINT64_MAX / (UINT64_C(2) * WHOLE)); /* it fits */
    return scale(lease, WHOLE + drift, WHOLE - drift, true);
}
