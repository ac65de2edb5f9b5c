/* What agents say to each other: every entry comes back as it was, and nothing else is understood. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/peer/payload.h"

/* Each word another. */
#define MSG                           \
    {                                 \
        1, 2, 3, 4, 5, 0, 6, 7, 8, 9, \
        {                             \
            10, 11, 12, 13            \
        }                             \
    }

static const struct payload_entry entries[] = {
    {.type = PAYLOAD_MESSAGE,
     .group = 0x1122334455667788,
     .settings = 0xCAFE0001,
     .flags = PAYLOAD_DETECTOR,
     .msg = MSG},
    {.type = PAYLOAD_LINKED,
     .group = 2,
     .settings = 3,
     .incarnation = UINT64_MAX,
     .sequence = 77,
     .round = 0x01020304,
     .msg = MSG},
    {.type = PAYLOAD_LINK_ACK, .group = 2, .incarnation = 5, .answers = UINT64_MAX, .sequence = UINT32_MAX},
    {.type = PAYLOAD_WHO, .group = UINT64_MAX},
    {.type = PAYLOAD_GROUP,
     .group = 9,
     .settings = 1,
     .flags = PAYLOAD_STANDS,
     .round = UINT32_MAX,
     .number = 1000,
     .length = 7,
     .text = "billing"},
    {.type = PAYLOAD_VALUE, .group = 9, .number = 1u << 20, .length = 0, .text = ""},
    {.type = PAYLOAD_SESSION, .settings = 3, .msg = MSG},
    {.type = PAYLOAD_POSTINGS,
     .settings = 3,
     .flags = PAYLOAD_GAP,
     .incarnation = UINT64_MAX,
     .answers = 128,
     .version = 127,
     .before = 16384},
    {.type = PAYLOAD_POSTING,
     .group = 10,
     .settings = 3,
     .flags = PAYLOAD_PLEASE,
     .incarnation = UINT64_MAX,
     .version = 300,
     .before = 127,
     .number = 1u << 21,
     .preempt_after_ms = UINT32_MAX,
     .term = UINT64_C(1) << 52,
     .heir_term = UINT64_C(1) << 63,
     .heir = 64,
     .length = 3,
     .text = "job",
     .value_length = 5,
     .value = "ten:1"},
    {.type = PAYLOAD_MARK, .sequence = UINT32_MAX},
    {.type = PAYLOAD_ECHO, .sequence = 1},
    {.type = PAYLOAD_STATEMENT,
     .flags = 3,
     .version = 300,
     .before = 299,
     .term = UINT64_C(1) << 52,
     .number = UINT64_MAX,
     .incarnation = UINT64_C(1) << 63,
     .length = 4,
     .text = "work",
     .value_length = 8,
     .value = "lease=1s"},
    {.type = PAYLOAD_STATED, .version = 300, .incarnation = UINT64_MAX, .answers = 128},
    {.type = PAYLOAD_REQUEST,
     .sequence = UINT32_MAX,
     .flags = 2,
     .heir = 64,
     .term = UINT64_C(1) << 52,
     .number = 65534,
     .incarnation = 7,
     .length = 4,
     .text = "work"},
    {.type = PAYLOAD_ANSWER, .sequence = UINT32_MAX, .flags = 255, .answers = UINT64_MAX},
    {.type = PAYLOAD_RELEASED,
     .group = 9,
     .settings = 0xCAFE0002,
     .incarnation = UINT64_C(1) << 40,
     .number = 1u << 20},
    {.type = PAYLOAD_OBITUARY, .settings = 0xCAFE0002, .number = UINT64_C(1) << 40},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static void comes_back_as_it_was(void **state)
{
    struct payload payload;
    struct payload_entry entry;
    uint64_t digest;
    struct payload_place at = PAYLOAD_FIRST;
    payload_begin(&payload, UINT64_C(0xABCDEF0123456789));
    for (size_t i = 0; i < ENTRIES; i++) assert_true(payload_add(&payload, &entries[i]));
    assert_true(payload_head(payload.bytes, payload.size, &digest));
    assert_int_equal(digest, UINT64_C(0xABCDEF0123456789));
    for (size_t i = 0; i < ENTRIES; i++) {
        assert_int_equal(payload_next(payload.bytes, payload.size, &at, &entry), PAYLOAD_ENTRY);
        assert_memory_equal(&entry, &entries[i], sizeof entry);
    }
    assert_int_equal(payload_next(payload.bytes, payload.size, &at, &entry), PAYLOAD_END);
}

static void is_never_cut_short(void **state)
{
    for (size_t i = 0; i < ENTRIES; i++) {
        struct payload payload;
        struct payload_entry entry;
        payload_begin(&payload, 1);
        assert_true(payload_add(&payload, &entries[i]));
        for (size_t size = PAYLOAD_HEAD + 1; size < payload.size; size++) {
            struct payload_place at = PAYLOAD_FIRST;
            assert_int_equal(payload_next(payload.bytes, size, &at, &entry), PAYLOAD_BAD);
            assert_int_equal(at.at, PAYLOAD_HEAD);
        }
    }
}

static bool passes(bool sealed_in_advance, size_t first, size_t second, size_t cut)
{
    struct payload payload;
    payload_begin(&payload, 1);
    assert_true(payload_add(&payload, &entries[first]));
    if (second < ENTRIES) assert_true(payload_add(&payload, &entries[second]));
    return payload_may_pass(payload.bytes, payload.size - cut, sealed_in_advance);
}

static void what_is_of_the_dead_and_nothing_else_is_sealed_in_advance(void **state)
{
    const size_t released = ENTRIES - 2, obituary = ENTRIES - 1, none = ENTRIES;
    struct payload payload;
    for (size_t i = 0; i < ENTRIES; i++) {
        const bool is_of_the_dead = i == released || i == obituary;
        assert_int_equal(passes(true, i, none, 0), is_of_the_dead);
        assert_int_equal(passes(false, i, none, 0), !is_of_the_dead);
        assert_int_equal(passes(true, obituary, i, 0), is_of_the_dead);
        assert_false(passes(false, obituary, i, 0));
        assert_int_equal(passes(false, i, obituary, 0), false);
    }
    assert_false(passes(true, obituary, obituary, 1)); /* cut short */
    payload_begin(&payload, 1);
    assert_true(payload_may_pass(payload.bytes, payload.size, false)); /* a greeting */
    assert_false(payload_may_pass(payload.bytes, payload.size, true));
    assert_false(payload_may_pass(payload.bytes, 3, true));
}

static void other_versions_and_types_are_not_understood(void **state)
{
    uint8_t bytes[64] = {PAYLOAD_VERSION + 1};
    uint64_t digest;
    struct payload_place at = PAYLOAD_FIRST;
    struct payload_entry entry;
    assert_false(payload_head(bytes, sizeof bytes, &digest));
    bytes[0] = PAYLOAD_VERSION;
    assert_false(payload_head(bytes, PAYLOAD_HEAD - 1, &digest));
    assert_false(payload_head(bytes, 0, &digest));
    assert_int_equal(payload_next(bytes, sizeof bytes, &at, &entry), PAYLOAD_BAD);
    bytes[PAYLOAD_HEAD] = PAYLOAD_TOLD + 1;
    assert_false(payload_is_exchange(bytes, sizeof bytes));
    assert_int_equal(payload_next(bytes, sizeof bytes, &at, &entry), PAYLOAD_BAD);
    bytes[PAYLOAD_HEAD] = 255;
    assert_int_equal(payload_next(bytes, sizeof bytes, &at, &entry), PAYLOAD_BAD);
}

static void what_is_no_election_is_recognized_by_its_first_entry(void **state)
{
    struct payload payload;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        payload_begin(&payload, 1);
        assert_false(payload_is_exchange(payload.bytes, payload.size)); /* a greeting */
        assert_true(payload_add(&payload, &entries[i]));
        assert_int_equal(payload_is_exchange(payload.bytes, payload.size),
                         entries[i].type >= PAYLOAD_STATEMENT && entries[i].type <= PAYLOAD_ANSWER);
    }
    assert_int_equal(PAYLOAD_STATEMENT,
                     14); /* never renumber: agents of several versions speak to each other */
    assert_int_equal(PAYLOAD_ANSWER, 17);
}

static void a_name_is_text_and_short(void **state)
{
    struct payload payload;
    struct payload_entry entry = entries[4];
    struct payload_place at = PAYLOAD_FIRST;
    payload_begin(&payload, 1);
    entry.length = PAYLOAD_NAME_MAX + 1;
    memset(entry.text, 'x', entry.length);
    assert_true(payload_add(&payload, &entry));
    assert_int_equal(payload_next(payload.bytes, payload.size, &at, &entry), PAYLOAD_BAD);
    payload_begin(&payload, 1);
    entry = entries[4];
    entry.text[2] = '\0';
    assert_true(payload_add(&payload, &entry));
    at = PAYLOAD_FIRST;
    assert_int_equal(payload_next(payload.bytes, payload.size, &at, &entry), PAYLOAD_BAD);
}

/* Each of these bytes alone makes an entry that nobody writes. */
static void a_number_is_written_in_one_way_only(void **state)
{
    static const struct {
        uint8_t bytes[16];
        size_t size;
        bool is_good;
    } tries[] = {
        {{PAYLOAD_MARK, 1, 5}, 3, true},
        {{PAYLOAD_MARK, 0}, 2, true},
        {{PAYLOAD_MARK, 0x81, 0, 5}, 4, false}, /* 1, in two bytes */
        {{PAYLOAD_MARK, 2, 5}, 3, false},       /* a word that it has not */
        {{PAYLOAD_MARK, 3, 5}, 3, false},
        {{PAYLOAD_MARK, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F}, 7, true},
        {{PAYLOAD_MARK, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F}, 7, false}, /* more than 32 bits */
        {{PAYLOAD_POSTINGS, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1}, 12, true},
        {{PAYLOAD_POSTINGS, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2},
         12,
         false}, /* than 64 */
        {{PAYLOAD_POSTINGS, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0}, 13, false},
        {{PAYLOAD_SESSION, 0}, 2, false}, /* a message of no kind */
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        uint8_t bytes[PAYLOAD_HEAD + sizeof tries[0].bytes] = {PAYLOAD_VERSION};
        struct payload_entry entry;
        struct payload_place at = PAYLOAD_FIRST;
        memcpy(bytes + PAYLOAD_HEAD, tries[i].bytes, tries[i].size);
        assert_int_equal(payload_next(bytes, PAYLOAD_HEAD + tries[i].size, &at, &entry),
                         tries[i].is_good ? PAYLOAD_ENTRY : PAYLOAD_BAD);
    }
}

static void what_was_said_before_is_not_said_again(void **state)
{
    struct payload payload;
    struct payload_entry next = entries[0];
    payload_begin(&payload, 1);
    assert_true(payload_add(&payload, &next));
    const size_t first = payload.size;
    assert_true(first > PAYLOAD_HEAD + 25);
    assert_true(payload_add(&payload, &next));
    assert_int_equal(payload.size, first + 10); /* type, group, no word */
    next.msg.epoch++;
    assert_true(payload_add(&payload, &next));
    assert_int_equal(payload.size, first + 21);
    struct payload again = payload;
    memset(again.before, 0xAB, sizeof again.before);
    assert_true(payload_resume(&again));
    assert_memory_equal(&again, &payload, sizeof payload);
    again.size--;
    assert_false(payload_resume(&again));
}

static void a_full_payload_takes_no_more(void **state)
{
    struct payload payload;
    struct payload_entry entry = entries[0], read;
    struct payload_place at = PAYLOAD_FIRST;
    unsigned count = 0, found = 0;
    payload_begin(&payload, 1);
    while (payload_add(&payload, &entry)) {
        entry.group++;
        entry.msg.rank = entry.msg.rank ? 0 : UINT64_MAX - count;
        count++;
    }
    assert_true(count > 60);
    const struct payload full = payload;
    assert_false(payload_add(&payload, &entry));
    assert_memory_equal(&payload, &full, sizeof full);
    for (; payload_next(payload.bytes, payload.size, &at, &read) == PAYLOAD_ENTRY; found++)
        assert_int_equal(read.group, entries[0].group + found);
    assert_int_equal(found, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_as_it_was),
        cmocka_unit_test(is_never_cut_short),
        cmocka_unit_test(other_versions_and_types_are_not_understood),
        cmocka_unit_test(what_is_of_the_dead_and_nothing_else_is_sealed_in_advance),
        cmocka_unit_test(what_is_no_election_is_recognized_by_its_first_entry),
        cmocka_unit_test(a_name_is_text_and_short),
        cmocka_unit_test(a_number_is_written_in_one_way_only),
        cmocka_unit_test(what_was_said_before_is_not_said_again),
        cmocka_unit_test(a_full_payload_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
