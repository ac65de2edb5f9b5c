/* See bounds.h. */
#include "algorithms/quorum/bounds.h"

#include "elector/parts.h"

static const uint64_t MILLION = 1000000;

uint64_t quorum_promise_ns(const struct quorum_failover *f)
{
    return el_lease_promised(f->lease, f->drift) + 1;
}

uint64_t quorum_silence_ns(const struct quorum_failover *f)
{
    const uint64_t promise = quorum_promise_ns(f), rate = MILLION - f->drift;
    return promise / rate * MILLION + promise % rate * MILLION / rate + 1;
}

uint64_t quorum_election_ns(const struct quorum_failover *f)
{
    return f->stagger * f->members + f->reask + 4 * f->transmit;
}

uint64_t quorum_worst_ns(const struct quorum_failover *f)
{
    return quorum_silence_ns(f) + quorum_election_ns(f);
}

uint64_t quorum_leniency_ns(uint64_t lease, uint64_t recent)
{
    const uint64_t most = lease / 4 * 3, least = recent / 6;
    const uint64_t more = most > recent ? most - recent : 0;
    return more < least ? least : more > recent / 2 ? recent / 2 : more;
}
