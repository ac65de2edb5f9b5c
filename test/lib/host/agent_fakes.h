/* Fakes of the parts of the agent that a host needs, without a disk. Exactly one file of a test includes it. */
#ifndef ELECTOR_TEST_LIB_HOST_AGENT_FAKES_H
#define ELECTOR_TEST_LIB_HOST_AGENT_FAKES_H

#include <stdlib.h>
#include <string.h>

#include "agent/host/host.h"

struct record {
    int unused;
};

bool record_forgot(const struct record *record)
{
    return false;
}

uint32_t record_count(const struct record *record)
{
    return 0;
}

bool record_get(const struct record *record, uint64_t key, struct el_durable *durable)
{
    return false;
}

bool record_has_room(const struct record *record, uint64_t key)
{
    return true;
}

bool record_put(struct record *record, uint64_t key, const struct el_durable *durable)
{
    return true;
}

struct record_image *record_image_of(struct record *record)
{
    return calloc(1, sizeof(struct record_image));
}

#endif
