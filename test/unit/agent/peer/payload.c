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

static const struct wire_entry entries[] = {
    {.type = WIRE_MESSAGE,
     .group = 0x1122334455667788,
     .settings = 0xCAFE0001,
     .flags = WIRE_DETECTOR,
     .msg = MSG},
    {.type = WIRE_LINKED,
     .group = 2,
     .settings = 3,
     .life = UINT64_MAX,
     .sequence = 77,
     .round = 0x01020304,
     .msg = MSG},
    {.type = WIRE_LINK_ACK, .group = 2, .life = 5, .answers = UINT64_MAX, .sequence = UINT32_MAX},
    {.type = WIRE_WHO, .group = UINT64_MAX},
    {.type = WIRE_GROUP,
     .group = 9,
     .settings = 1,
     .flags = WIRE_STANDS,
     .round = UINT32_MAX,
     .number = 1000,
     .length = 7,
     .text = "billing"},
    {.type = WIRE_VALUE, .group = 9, .number = 1u << 20, .length = 0, .text = ""},
    {.type = WIRE_SESSION, .settings = 3, .msg = MSG},
    {.type = WIRE_BOARD,
     .settings = 3,
     .flags = WIRE_GAP,
     .life = UINT64_MAX,
     .answers = 128,
     .version = 127,
     .before = 16384},
    {.type = WIRE_POSTING,
     .group = 10,
     .settings = 3,
     .flags = WIRE_PLEASE,
     .life = UINT64_MAX,
     .version = 300,
     .before = 127,
     .number = 1u << 21,
     .patience = UINT32_MAX,
     .term = UINT64_C(1) << 52,
     .heir_term = UINT64_C(1) << 63,
     .heir = 64,
     .length = 3,
     .text = "job",
     .value_length = 5,
     .value = "ten:1"},
    {.type = WIRE_MARK, .sequence = UINT32_MAX},
    {.type = WIRE_ECHO, .sequence = 1},
    {.type = WIRE_RELEASED, .group = 9, .settings = 0xCAFE0002, .life = UINT64_C(1) << 40, .number = 1u << 20},
    {.type = WIRE_OBITUARY, .settings = 0xCAFE0002, .number = UINT64_C(1) << 40},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static void comes_back_as_it_was(void **state)
{
    struct wire_payload payload;
    struct wire_entry entry;
    uint64_t digest;
    struct wire_place at = WIRE_FIRST;
    wire_begin(&payload, UINT64_C(0xABCDEF0123456789));
    for (size_t i = 0; i < ENTRIES; i++) assert_true(wire_add(&payload, &entries[i]));
    assert_true(wire_head(payload.bytes, payload.size, &digest));
    assert_int_equal(digest, UINT64_C(0xABCDEF0123456789));
    for (size_t i = 0; i < ENTRIES; i++) {
        assert_int_equal(wire_next(payload.bytes, payload.size, &at, &entry), WIRE_ENTRY);
        assert_memory_equal(&entry, &entries[i], sizeof entry);
    }
    assert_int_equal(wire_next(payload.bytes, payload.size, &at, &entry), WIRE_END);
}

static void is_never_cut_short(void **state)
{
    for (size_t i = 0; i < ENTRIES; i++) {
        struct wire_payload payload;
        struct wire_entry entry;
        wire_begin(&payload, 1);
        assert_true(wire_add(&payload, &entries[i]));
        for (size_t size = WIRE_HEAD + 1; size < payload.size; size++) {
            struct wire_place at = WIRE_FIRST;
            assert_int_equal(wire_next(payload.bytes, size, &at, &entry), WIRE_BAD);
            assert_int_equal(at.at, WIRE_HEAD);
        }
    }
}

static bool passes(bool sealed_in_advance, size_t first, size_t second, size_t cut)
{
    struct wire_payload payload;
    wire_begin(&payload, 1);
    assert_true(wire_add(&payload, &entries[first]));
    if (second < ENTRIES) assert_true(wire_add(&payload, &entries[second]));
    return wire_may_pass(payload.bytes, payload.size - cut, sealed_in_advance);
}

static void what_is_of_the_dead_and_nothing_else_is_sealed_in_advance(void **state)
{
    const size_t released = ENTRIES - 2, obituary = ENTRIES - 1, none = ENTRIES;
    struct wire_payload payload;
    for (size_t i = 0; i < ENTRIES; i++) {
        const bool is_of_the_dead = i == released || i == obituary;
        assert_int_equal(passes(true, i, none, 0), is_of_the_dead);
        assert_int_equal(passes(false, i, none, 0), !is_of_the_dead);
        assert_int_equal(passes(true, obituary, i, 0), is_of_the_dead);
        assert_false(passes(false, obituary, i, 0));
        assert_int_equal(passes(false, i, obituary, 0), false);
    }
    assert_false(passes(true, obituary, obituary, 1)); /* cut short */
    wire_begin(&payload, 1);
    assert_true(wire_may_pass(payload.bytes, payload.size, false)); /* a greeting */
    assert_false(wire_may_pass(payload.bytes, payload.size, true));
    assert_false(wire_may_pass(payload.bytes, 3, true));
}

static void other_versions_and_types_are_not_understood(void **state)
{
    uint8_t bytes[64] = {WIRE_VERSION + 1};
    uint64_t digest;
    struct wire_place at = WIRE_FIRST;
    struct wire_entry entry;
    assert_false(wire_head(bytes, sizeof bytes, &digest));
    bytes[0] = WIRE_VERSION;
    assert_false(wire_head(bytes, WIRE_HEAD - 1, &digest));
    assert_false(wire_head(bytes, 0, &digest));
    assert_int_equal(wire_next(bytes, sizeof bytes, &at, &entry), WIRE_BAD);
    bytes[WIRE_HEAD] = WIRE_ECHO + 1;
    assert_int_equal(wire_next(bytes, sizeof bytes, &at, &entry), WIRE_BAD);
    bytes[WIRE_HEAD] = 255;
    assert_int_equal(wire_next(bytes, sizeof bytes, &at, &entry), WIRE_BAD);
}

static void a_name_is_text_and_short(void **state)
{
    struct wire_payload payload;
    struct wire_entry entry = entries[4];
    struct wire_place at = WIRE_FIRST;
    wire_begin(&payload, 1);
    entry.length = WIRE_NAME_MAX + 1;
    memset(entry.text, 'x', entry.length);
    assert_true(wire_add(&payload, &entry));
    assert_int_equal(wire_next(payload.bytes, payload.size, &at, &entry), WIRE_BAD);
    wire_begin(&payload, 1);
    entry = entries[4];
    entry.text[2] = '\0';
    assert_true(wire_add(&payload, &entry));
    at = WIRE_FIRST;
    assert_int_equal(wire_next(payload.bytes, payload.size, &at, &entry), WIRE_BAD);
}

/* Each of these bytes alone makes an entry that nobody writes. */
static void a_number_is_written_in_one_way_only(void **state)
{
    static const struct {
        uint8_t bytes[16];
        size_t size;
        bool is_good;
    } tries[] = {
        {{WIRE_MARK, 1, 5}, 3, true},
        {{WIRE_MARK, 0}, 2, true},
        {{WIRE_MARK, 0x81, 0, 5}, 4, false}, /* 1, in two bytes */
        {{WIRE_MARK, 2, 5}, 3, false},       /* a word that it has not */
        {{WIRE_MARK, 3, 5}, 3, false},
        {{WIRE_MARK, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F}, 7, true},
        {{WIRE_MARK, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F}, 7, false}, /* more than 32 bits */
        {{WIRE_BOARD, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1}, 12, true},
        {{WIRE_BOARD, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2}, 12, false}, /* than 64 */
        {{WIRE_BOARD, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0}, 13, false},
        {{WIRE_SESSION, 0}, 2, false}, /* a message of no kind */
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        uint8_t bytes[WIRE_HEAD + sizeof tries[0].bytes] = {WIRE_VERSION};
        struct wire_entry entry;
        struct wire_place at = WIRE_FIRST;
        memcpy(bytes + WIRE_HEAD, tries[i].bytes, tries[i].size);
        assert_int_equal(wire_next(bytes, WIRE_HEAD + tries[i].size, &at, &entry),
                         tries[i].is_good ? WIRE_ENTRY : WIRE_BAD);
    }
}

static void what_was_said_before_is_not_said_again(void **state)
{
    struct wire_payload payload;
    struct wire_entry next = entries[0];
    wire_begin(&payload, 1);
    assert_true(wire_add(&payload, &next));
    const size_t first = payload.size;
    assert_true(first > WIRE_HEAD + 25);
    assert_true(wire_add(&payload, &next));
    assert_int_equal(payload.size, first + 10); /* type, group, no word */
    next.msg.epoch++;
    assert_true(wire_add(&payload, &next));
    assert_int_equal(payload.size, first + 21);
    struct wire_payload again = payload;
    memset(again.before, 0xAB, sizeof again.before);
    assert_true(wire_resume(&again));
    assert_memory_equal(&again, &payload, sizeof payload);
    again.size--;
    assert_false(wire_resume(&again));
}

static void a_full_payload_takes_no_more(void **state)
{
    struct wire_payload payload;
    struct wire_entry entry = entries[0], read;
    struct wire_place at = WIRE_FIRST;
    unsigned count = 0, found = 0;
    wire_begin(&payload, 1);
    while (wire_add(&payload, &entry)) {
        entry.group++;
        entry.msg.rank = entry.msg.rank ? 0 : UINT64_MAX - count;
        count++;
    }
    assert_true(count > 60);
    const struct wire_payload full = payload;
    assert_false(wire_add(&payload, &entry));
    assert_memory_equal(&payload, &full, sizeof full);
    for (; wire_next(payload.bytes, payload.size, &at, &read) == WIRE_ENTRY; found++)
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
        cmocka_unit_test(a_name_is_text_and_short),
        cmocka_unit_test(a_number_is_written_in_one_way_only),
        cmocka_unit_test(what_was_said_before_is_not_said_again),
        cmocka_unit_test(a_full_payload_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
