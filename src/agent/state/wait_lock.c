/* See record.h. Nobody is told when a lock is free, so it is looked at again and again: that is for starts only. */
#define _GNU_SOURCE
#include <time.h>

#include "agent/state/record.h"
#include "base/clock.h"

static const struct timespec before_the_next_look = {.tv_nsec = 50 * NS_PER_MS};

enum record_outcome record_await(struct record **made, const char *path, const struct record_identity *identity,
                                 unsigned preempt_after_ms, void (*tell)(const char *text), char *text,
                                 size_t size)
{
    const uint64_t end = clock_monotonic_ns() + preempt_after_ms * NS_PER_MS;
    enum record_outcome outcome = record_open(made, path, identity, text, size);
    if (outcome == RECORD_IN_USE) tell(text);
    while (outcome == RECORD_IN_USE && clock_monotonic_ns() < end) {
        nanosleep(&before_the_next_look, NULL);
        outcome = record_open(made, path, identity, text, size);
    }
    return outcome;
}
