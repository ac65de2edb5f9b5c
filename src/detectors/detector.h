/*
 * What the detectors share: times that cannot overflow whatever the options say, and beating to everybody.
 * A detector starts by itself, beats for ever, and speaks through VERDICT, once for each change of its mind.
 */
#ifndef ELECTOR_DETECTORS_DETECTOR_H
#define ELECTOR_DETECTORS_DETECTOR_H

#include "core/machine.h"
#include "detectors/registry.h"

/* Nobody waits for longer than this: about a hundred days. */
#define DETECTOR_WAIT_MAX (UINT64_C(1) << 53)

static inline uint64_t detector_within(uint64_t number, uint64_t least, uint64_t most)
{
    return number < least ? least : number > most ? most : number;
}

/* So many times, at least once. */
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
