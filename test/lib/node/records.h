/* A record of four members in hand, and changes to try on it. */
#ifndef ELECTOR_TEST_LIB_NODE_RECORDS_H
#define ELECTOR_TEST_LIB_NODE_RECORDS_H

#include "algorithms/members/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct members_record base, next, other;
static uint8_t bytes[MEMBERS_BYTES_MAX], again[MEMBERS_BYTES_MAX];

static inline struct members_address address(uint8_t host, uint8_t port)
{
    return (struct members_address){.size = 6, .bytes = {10, 0, 0, host, 0, port}};
}

static inline struct members_member member(uint16_t number, const char *name, enum members_role role)
{
    struct members_member m = {.number = number, .role = (uint8_t)role, .since = number, .keys = 1};
    m.name_size = (uint8_t)strlen(name);
    memcpy(m.name, name, m.name_size);
    m.place.addresses = 1;
    m.place.address[0] = address((uint8_t)number, 7);
    memset(m.key[0], number, MEMBERS_KEY);
    return m;
}

/* a, b, c vote, d observes. */
static inline int set_up(void **state)
{
    (void)state;
    memset(&base, 0, sizeof base);
    memset(base.cluster, 7, sizeof base.cluster);
    base.lineage = 3;
    base.version = base.era = 1;
    base.members[base.count++] = member(1, "a", MEMBERS_VOTER);
    base.members[base.count++] = member(2, "b", MEMBERS_VOTER);
    base.members[base.count++] = member(3, "c", MEMBERS_WITNESS);
    base.members[base.count++] = member(9, "d", MEMBERS_OBSERVER);
    return 0;
}

static inline struct members_step step(enum members_step_kind kind, uint16_t number)
{
    return (struct members_step){.kind = kind, .number = number};
}

static inline struct members_step enters(struct members_member m)
{
    return (struct members_step){.kind = MEMBERS_ENTER, .member = m};
}

static uint64_t request;

static inline enum members_answer try_two(struct members_step one, struct members_step two)
{
    request++;
    struct members_change change = {.count = two.kind ? 2 : 1, .request = request, .steps = {one, two}};
    return members_apply(&base, 0x1234, true, &change, &next);
}

static inline enum members_answer try(struct members_step one)
{
    return try_two(one, (struct members_step){0});
}

static inline void does(struct members_step one)
{
    assert_int_equal(try(one), MEMBERS_DONE);
    base = next;
}

#endif
