/* What agents say to each other: every entry comes back as it was, and nothing else is understood. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/wire.h"

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
    {.type = WIRE_RELEASED, .group = 9, .settings = 0xCAFE0002, .life = UINT64_C(1) << 40, .number = 1u << 20},
    {.type = WIRE_OBITUARY, .settings = 0xCAFE0002, .number = UINT64_C(1) << 40},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static void comes_back_as_it_was(void **state)
{
    struct wire_payload payload;
    struct wire_entry entry;
    uint64_t digest;
    size_t at = WIRE_HEAD;
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
            size_t at = WIRE_HEAD;
            assert_int_equal(wire_next(payload.bytes, size, &at, &entry), WIRE_BAD);
            assert_int_equal(at, WIRE_HEAD);
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
    size_t at = WIRE_HEAD;
    struct wire_entry entry;
    assert_false(wire_head(bytes, sizeof bytes, &digest));
    bytes[0] = WIRE_VERSION;
    assert_false(wire_head(bytes, WIRE_HEAD - 1, &digest));
    assert_false(wire_head(bytes, 0, &digest));
    assert_int_equal(wire_next(bytes, sizeof bytes, &at, &entry), WIRE_BAD);
    bytes[WIRE_HEAD] = WIRE_RELEASED + 1;
    assert_int_equal(wire_next(bytes, sizeof bytes, &at, &entry), WIRE_BAD);
    bytes[WIRE_HEAD] = 255;
    assert_int_equal(wire_next(bytes, sizeof bytes, &at, &entry), WIRE_BAD);
}

static void a_name_is_text_and_short(void **state)
{
    struct wire_payload payload;
    struct wire_entry entry = entries[4];
    size_t at = WIRE_HEAD;
    wire_begin(&payload, 1);
    entry.length = WIRE_NAME_MAX + 1;
    memset(entry.text, 'x', entry.length);
    assert_true(wire_add(&payload, &entry));
    assert_int_equal(wire_next(payload.bytes, payload.size, &at, &entry), WIRE_BAD);
    wire_begin(&payload, 1);
    entry = entries[4];
    entry.text[2] = '\0';
    assert_true(wire_add(&payload, &entry));
    at = WIRE_HEAD;
    assert_int_equal(wire_next(payload.bytes, payload.size, &at, &entry), WIRE_BAD);
}

static void a_full_payload_takes_no_more(void **state)
{
    struct wire_payload payload;
    unsigned count = 0;
    wire_begin(&payload, 1);
    while (wire_add(&payload, &entries[0])) count++;
    assert_int_equal(count, (SEAL_PAYLOAD_MAX - WIRE_HEAD) / 94);
    const size_t size = payload.size;
    assert_false(wire_add(&payload, &entries[0]));
    assert_int_equal(payload.size, size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_as_it_was),
        cmocka_unit_test(is_never_cut_short),
        cmocka_unit_test(other_versions_and_types_are_not_understood),
        cmocka_unit_test(what_is_of_the_dead_and_nothing_else_is_sealed_in_advance),
        cmocka_unit_test(a_name_is_text_and_short),
        cmocka_unit_test(a_full_payload_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
