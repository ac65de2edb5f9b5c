/*
 * The failure detectors: pure state machines that report which peers they suspect. A detector starts by itself,
 * sends heartbeats for ever, and reports each change of opinion by one VERDICT. Detectors know the core only;
 * hosts and algorithms use them through el_step. This header has their common parts: durations that cannot
 * overflow and heartbeats to all members. Start reading with heartbeat.c.
 */
#ifndef ELECTOR_DETECTORS_DETECTOR_H
#define ELECTOR_DETECTORS_DETECTOR_H

#include "core/machine.h"
#include "detectors/registry.h"

/* No timer is longer than this: about 104 days. */
#define DETECTOR_WAIT_MAX (UINT64_C(1) << 53)

static inline uint64_t detector_within(uint64_t number, uint64_t least, uint64_t most)
{
    return number < least ? least : number > most ? most : number;
}

/* one * times, at most DETECTOR_WAIT_MAX; `times` is at least 1. */
static inline el_duration detector_times(el_duration one, uint64_t times)
{
    return one > DETECTOR_WAIT_MAX / times ? DETECTOR_WAIT_MAX : one * times;
}

static inline void detector_send_all(const struct el_config *cfg, struct el_msg msg, struct el_outbox *out)
{
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (peer != cfg->self) el_send(out, cfg, peer, msg);
}

#endif
