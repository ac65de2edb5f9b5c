/*
 * Records of the membership: one encoding, nothing else is taken, and each change is carried out whole or refused with its
 * reason.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/node/records.h"

/* A number that is given to another host in one record: another voter, so another era. */
static void another_host_under_a_number_is_another_voter(void **state)
{
    (void)state;
    struct members_member heir = member(2, "heir", MEMBERS_VOTER);
    const struct members_member *was = members_find(&base, 2);
    heir.since = was->since + 100;
    memset(heir.key[0], 77, MEMBERS_KEY);
    request++;
    struct members_change change = {
        .count = 3, .request = request, .steps = {step(MEMBERS_DROP, 2), enters(heir), step(MEMBERS_SEAT, 2)}};
    assert_int_equal(members_apply(&base, 0x1234, true, &change, &next), MEMBERS_DONE);
    assert_int_equal(next.era, base.era + 1);
}

/* ---- Bytes ---- */

static void has_one_encoding(void **state)
{
    (void)state;
    does(enters(member(4, "e", MEMBERS_VOTER)));
    does(step(MEMBERS_DROP, 9));
    does(step(MEMBERS_SEAT, 4));
    const uint32_t size = members_encode(&base, bytes);
    assert_true(members_decode(&other, bytes, size));
    assert_int_equal(members_encode(&other, again), size);
    assert_memory_equal(bytes, again, size);
    assert_int_equal(other.from_count, 3);
    assert_int_equal(other.gone[0].number, 9);
    assert_true(members_digest(bytes, size) == members_digest(again, size));
}

/* Each cut, one byte more, and each bit: refused, or the encoding of another valid record. */
static void takes_nothing_else(void **state)
{
    (void)state;
    does(step(MEMBERS_DROP, 9));
    const uint32_t size = members_encode(&base, bytes);
    for (uint32_t cut = 0; cut < size; cut++) assert_false(members_decode(&other, bytes, cut));
    bytes[size] = 0;
    assert_false(members_decode(&other, bytes, size + 1));
    uint32_t refused = 0;
    for (uint32_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (!members_decode(&other, bytes, size)) {
            refused++;
        } else {
            assert_int_equal(members_encode(&other, again), size);
            assert_memory_equal(bytes, again, size);
        }
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_true(refused > 100);
}

#define refuses(record) assert_false(members_is_valid(&(record)))

static void knows_what_no_record_is(void **state)
{
    (void)state;
    static struct members_record r;
    r = base;
    assert_true(members_is_valid(&r));
    r.members[1].number = 1, refuses(r), r = base;
    r.members[1].role = 5, refuses(r), r = base;
    r.members[1].role = 0, refuses(r), r = base;
    r.members[1].name[0] = ' ', refuses(r), r = base;
    r.members[1].name[0] = 'a', refuses(r), r = base; /* twice */
    r.members[1].name_size = 0, refuses(r), r = base;
    r.members[1].name[40] = 'x', refuses(r), r = base;
    memset(r.members[1].key[0], 1, MEMBERS_KEY), refuses(r), r = base; /* a's */
    memset(r.members[1].key[0], 0, MEMBERS_KEY), refuses(r), r = base;
    memset(&r.members[1].place, 0, sizeof r.members[1].place), refuses(r), r = base; /* nobody reaches it */
    r.members[1].place.address[0].bytes[5] = 0, refuses(r), r = base;
    r.members[1].place.address[0].size = 7, refuses(r), r = base;
    r.members[1].place.address[0].bytes[7] = 1, refuses(r), r = base;
    r.members[1].place.address[1] = address(9, 9), refuses(r), r = base; /* behind the last */
    r.members[1].place.address[0] = address(1, 7), refuses(r), r = base; /* a's */
    r.members[1].place.addresses = 4, refuses(r), r = base;
    r.members[1].place.is_dynamic = 1, refuses(r), r = base;
    r.members[1].place.port = 7, refuses(r), r = base; /* of no host */
    r.forgotten = EL_EPOCH_MAX, refuses(r), r = base;
    r.members[3].state = MEMBERS_JOINING, refuses(r), r = base; /* an observer joins nothing */
    r.members[1].since = EL_EPOCH_MAX, refuses(r), r = base;
    r.version = 0, refuses(r), r = base;
    r.version = 2, refuses(r), r = base; /* without a record before it */
    r.era = 2, refuses(r), r = base;
    r.from_count = 1, r.from[0] = 1, refuses(r), r = base; /* the first era came from none */
    r.count = 0, refuses(r);
}

/* ---- Changes ---- */

static void who_is_to_vote_joins_first(void **state)
{
    (void)state;
    does(enters(member(4, "e", MEMBERS_VOTER)));
    assert_int_equal(members_find(&base, 4)->state, MEMBERS_JOINING);
    assert_int_equal(members_voter_count(&base), 3);
    assert_int_equal(base.era, 1);
    assert_int_equal(base.version, 2);
    assert_int_equal(base.before, 0x1234);
    does(step(MEMBERS_SEAT, 4));
    assert_int_equal(members_voter_count(&base), 4);
    assert_int_equal(base.era, 2);
    assert_int_equal(base.from_count, 3);
    does(step(MEMBERS_LEAVE, 1));
    assert_int_equal(base.era, 2); /* a leaving voter still votes */
    assert_int_equal(base.from_count, 0);
    assert_int_equal(try(step(MEMBERS_SEAT, 4)), MEMBERS_NOT_JOINING);
}

static void replaces_a_dead_voter_in_one_record(void **state)
{
    (void)state;
    does(enters(member(4, "e", MEMBERS_VOTER)));
    assert_int_equal(try_two(step(MEMBERS_SEAT, 4), step(MEMBERS_DROP, 1)), MEMBERS_DONE);
    assert_int_equal(next.era, base.era + 1);
    assert_int_equal(members_voter_count(&next), 3);
    assert_null(members_find(&next, 1));
    assert_int_equal(next.from[0], 1);
}

static void another_host_under_an_old_number_is_another_voter(void **state)
{
    (void)state;
    struct members_member m = member(2, "B", MEMBERS_VOTER);
    memset(m.key[0], 77, MEMBERS_KEY);
    m.place.address[0] = address(77, 7);
    does(step(MEMBERS_DROP, 2));
    assert_int_equal(try(enters(m)), MEMBERS_NUMBER_USED);
    m.since = 3;
    does(enters(m));
    assert_int_equal(base.members[1].number, 2); /* by rising number */
    const uint64_t era = base.era;
    does(step(MEMBERS_SEAT, 2));
    assert_int_equal(base.era, era + 1);
}

static void changes_roles(void **state)
{
    (void)state;
    struct members_step promote = step(MEMBERS_ROLE, 9), demote = step(MEMBERS_ROLE, 3),
                        lead = step(MEMBERS_ROLE, 3);
    promote.member.role = MEMBERS_VOTER, demote.member.role = MEMBERS_CANDIDATE,
    lead.member.role = MEMBERS_VOTER;
    does(promote);
    assert_int_equal(members_voter_count(&base), 3);
    assert_int_equal(try(promote), MEMBERS_IS_SO_ALREADY);
    assert_int_equal(try(lead), MEMBERS_DONE); /* a witness that may lead: who votes is the same */
    assert_int_equal(next.era, base.era);
    does(demote);
    assert_int_equal(members_voter_count(&base), 2);
    assert_int_equal(base.era, 2);
}

static void readdresses_and_rekeys(void **state)
{
    (void)state;
    struct members_step move = step(MEMBERS_READDRESS, 1), key = step(MEMBERS_ADD_KEY, 1);
    move.member = member(50, "x", MEMBERS_VOTER);
    memset(key.member.key[0], 50, MEMBERS_KEY);
    does(move);
    assert_int_equal(base.members[0].place.address[0].bytes[3], 50);
    assert_int_equal(try(move), MEMBERS_IS_SO_ALREADY);
    assert_int_equal(try(step(MEMBERS_DROP_KEY, 1)), MEMBERS_ONE_KEY);
    does(key);
    assert_int_equal(base.members[0].keys, 2);
    assert_int_equal(try(key), MEMBERS_IS_SO_ALREADY);
    memset(key.member.key[0], 51, MEMBERS_KEY);
    assert_int_equal(try(key), MEMBERS_KEYS_FULL);
    does(step(MEMBERS_DROP_KEY, 1));
    assert_int_equal(base.members[0].key[0][0], 50);
    assert_int_equal(base.era, 1);
}

static void refuses_what_makes_no_sense(void **state)
{
    (void)state;
    struct members_member m = member(4, "a", MEMBERS_VOTER);
    assert_int_equal(try(enters(m)), MEMBERS_NAME_TAKEN);
    m = member(3, "e", MEMBERS_VOTER);
    assert_int_equal(try(enters(m)), MEMBERS_NUMBER_TAKEN);
    m = member(4, "e", MEMBERS_VOTER), memset(m.key[0], 1, MEMBERS_KEY);
    assert_int_equal(try(enters(m)), MEMBERS_KEY_TAKEN);
    m = member(4, "e", MEMBERS_VOTER), m.place.address[0] = address(1, 7);
    assert_int_equal(try(enters(m)), MEMBERS_ADDRESS_TAKEN);
    m = member(4, "e f", MEMBERS_VOTER);
    assert_int_equal(try(enters(m)), MEMBERS_BAD_MEMBER);
    m = member(4, "e", (enum members_role)7);
    assert_int_equal(try(enters(m)), MEMBERS_BAD_MEMBER);
    m = member(1001, "e", MEMBERS_VOTER), m.place.address[0] = address(77, 7);
    assert_int_equal(try(enters(m)), MEMBERS_BAD_MEMBER);
    assert_int_equal(try(step(MEMBERS_DROP, 8)), MEMBERS_UNKNOWN);
    assert_int_equal(try(step(MEMBERS_SEAT, 1)), MEMBERS_NOT_JOINING);
    does(step(MEMBERS_DROP, 9));
    m = member(10, "e", MEMBERS_OBSERVER), memset(m.key[0], 9, MEMBERS_KEY);
    assert_int_equal(try(enters(m)), MEMBERS_KEY_GONE);
    does(step(MEMBERS_DROP, 1));
    does(step(MEMBERS_DROP, 2));
    assert_int_equal(try(step(MEMBERS_DROP, 3)), MEMBERS_LAST_VOTER);
}

static void carries_out_a_request_once_and_one_at_a_time(void **state)
{
    (void)state;
    struct members_change change = {.count = 1, .request = 99, .floor = 5, .steps = {step(MEMBERS_LEAVE, 1)}};
    assert_int_equal(members_apply(&base, 1, false, &change, &next), MEMBERS_IS_JOINT);
    assert_int_equal(members_apply(&base, 1, true, &change, &next), MEMBERS_DONE);
    assert_int_equal(next.floor, 5);
    base = next;
    assert_int_equal(members_apply(&base, 1, true, &change, &next), MEMBERS_DONE_BEFORE);
    change.request = 100, change.count = MEMBERS_STEPS_MAX + 1;
    assert_int_equal(members_apply(&base, 1, true, &change, &next), MEMBERS_TOO_MANY_STEPS);
}

static void is_full_at_its_limits(void **state)
{
    (void)state;
    struct members_member m;
    char name[16];
    for (uint32_t at = 10; at <= MEMBERS_MAX; at++) {
        const uint16_t number = (uint16_t)at;
        snprintf(name, sizeof name, "n%u", number);
        m = member(number, name, number < 100 ? MEMBERS_VOTER : MEMBERS_CANDIDATE);
        memset(m.key[0], 0, MEMBERS_KEY);
        m.key[0][0] = (uint8_t)number, m.key[0][1] = (uint8_t)(number >> 8), m.key[0][2] = 1;
        m.place.address[0].bytes[2] = (uint8_t)(number >> 8), m.place.address[0].bytes[1] = 9;
        m.state = number < 100 ? MEMBERS_JOINING : MEMBERS_IN;
        base.members[base.count++] = m;
    }
    for (uint32_t i = 4; members_voter_count(&base) < MEMBERS_VOTERS_MAX; i++)
        base.members[i].state = MEMBERS_IN;
    const uint32_t size = members_encode(&base, bytes);
    assert_true(size <= MEMBERS_BYTES_MAX && members_decode(&other, bytes, size));
    assert_int_equal(try(step(MEMBERS_SEAT, 90)), MEMBERS_TOO_MANY_VOTERS);
    for (uint16_t number = 4; number < 9; number++) {
        snprintf(name, sizeof name, "m%u", number);
        does(enters(member(number, name, MEMBERS_OBSERVER)));
    }
    does(step(MEMBERS_DROP, 9));
    m = member(9, "last", MEMBERS_OBSERVER), m.since = 10, memset(m.key[0], 200, MEMBERS_KEY);
    does(enters(m));
    assert_int_equal(base.count, MEMBERS_MAX - 0);
    m = member(1, "more", MEMBERS_OBSERVER);
    assert_int_equal(try(enters(m)), MEMBERS_NUMBER_TAKEN); /* every number is */
}

static void keeps_the_last_that_are_gone_and_done(void **state)
{
    (void)state;
    char name[16];
    for (uint32_t i = 0; i < MEMBERS_GONE_MAX + 6; i++) {
        struct members_member m = member((uint16_t)(100 + i), "x", MEMBERS_OBSERVER);
        snprintf(name, sizeof name, "x%u", i);
        m.name_size = (uint8_t)strlen(name);
        memcpy(m.name, name, m.name_size);
        does(enters(m));
        does(step(MEMBERS_DROP, m.number));
    }
    assert_int_equal(base.gone_count, MEMBERS_GONE_MAX);
    assert_int_equal(base.gone[0].number, 106);
    assert_int_equal(base.done_count, MEMBERS_DONE_MAX);
    assert_int_equal(base.done[MEMBERS_DONE_MAX - 1], request);
    assert_true(members_is_valid(&base));
}

static void every_answer_has_a_text(void **state)
{
    (void)state;
    for (int answer = 0; answer < MEMBERS_ANSWERS; answer++)
        assert_true(strlen(members_answer_text((enum members_answer)answer)) > 3);
    assert_string_equal(members_answer_text(MEMBERS_ANSWERS), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(another_host_under_a_number_is_another_voter, set_up),
        cmocka_unit_test_setup(has_one_encoding, set_up),
        cmocka_unit_test_setup(takes_nothing_else, set_up),
        cmocka_unit_test_setup(knows_what_no_record_is, set_up),
        cmocka_unit_test_setup(who_is_to_vote_joins_first, set_up),
        cmocka_unit_test_setup(replaces_a_dead_voter_in_one_record, set_up),
        cmocka_unit_test_setup(another_host_under_an_old_number_is_another_voter, set_up),
        cmocka_unit_test_setup(changes_roles, set_up),
        cmocka_unit_test_setup(readdresses_and_rekeys, set_up),
        cmocka_unit_test_setup(refuses_what_makes_no_sense, set_up),
        cmocka_unit_test_setup(carries_out_a_request_once_and_one_at_a_time, set_up),
        cmocka_unit_test_setup(is_full_at_its_limits, set_up),
        cmocka_unit_test_setup(keeps_the_last_that_are_gone_and_done, set_up),
        cmocka_unit_test_setup(every_answer_has_a_text, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
