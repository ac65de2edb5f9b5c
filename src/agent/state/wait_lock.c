/* Waits for the lock of the state file at start. flock() has no timeout, so this tries every 50 ms. */
#define _GNU_SOURCE
#include <time.h>

#include "agent/state/record.h"
#include "base/clock.h"

static const struct timespec pause_between_tries = {.tv_nsec = 50 * NS_PER_MS};

enum record_outcome record_await(struct record **made, const char *path, const struct record_identity *identity,
                                 unsigned timeout_ms, void (*tell)(const char *text), char *text, size_t size)
{
    const uint64_t end = clock_monotonic_ns() + timeout_ms * NS_PER_MS;
    enum record_outcome outcome = record_open(made, path, identity, text, size);
    if (outcome == RECORD_IN_USE) tell(text);
    while (outcome == RECORD_IN_USE && clock_monotonic_ns() < end) {
        nanosleep(&pause_between_tries, NULL);
        outcome = record_open(made, path, identity, text, size);
    }
    return outcome;
}
