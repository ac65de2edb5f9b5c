/* A member's stability, as the attribute of its rank. */
#include "core/machine.h"
#include "elector/parts.h"

/* Each full `mercy` of uptime halves the penalty. */
static uint64_t forgiven(uint64_t penalty, el_duration uptime, el_duration mercy)
{
    el_require(mercy > 0);
    const uint64_t halves = uptime / mercy;
    return halves < 64 ? penalty >> halves : 0;
}

void el_quality_failed(struct el_quality *quality, el_duration uptime, el_duration mercy)
{
    const uint64_t left = forgiven(quality->penalty, uptime, mercy);
    quality->penalty = left == 0 ? 1 : left < EL_PENALTY_MAX / 2 ? 2 * left : EL_PENALTY_MAX;
}

uint64_t el_quality_attribute(const struct el_quality *quality, uint64_t priority, el_duration uptime,
                              el_duration mercy)
{
    const uint64_t penalty = forgiven(quality->penalty, uptime, mercy);
    return penalty < priority ? priority - penalty : 0;
}
