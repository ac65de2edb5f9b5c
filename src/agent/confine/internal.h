/* Shared by the files of the confine room. */
#ifndef ELECTOR_AGENT_CONFINE_INTERNAL_H
#define ELECTOR_AGENT_CONFINE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "agent/confine/confine.h"

enum confine_test {
    CONFINE_ALWAYS, /* allowed, whatever its arguments */
    CONFINE_EQUAL, /* allowed if the argument's lower 32 bits are `value`; a call may have several such rules */
    CONFINE_WITHOUT, /* allowed if the argument has none of the bits in `value` */
    CONFINE_ABSENT /* fails with ENOSYS also where a forbidden call is reported: the C library tries it, and has another
                      * way if it is not there */
};

struct confine_rule {
    int call;
    enum confine_test test;
    unsigned argument; /* from 0 */
    uint32_t value;
};

/* calls.c: what is not here is forbidden. The most frequent calls come first. */
extern const struct confine_rule confine_rules[];
extern const size_t confine_rule_count;

/* filter.c. False: not on this architecture, or the kernel refuses (errno). */
bool confine_install(bool reports);

#endif
