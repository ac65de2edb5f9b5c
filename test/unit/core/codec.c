/* The wire form: decoding accepts exactly what encoding produces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elector/core.h"
#include "sim/world/random.h"

enum { VERSION_AT = 0, KIND_AT = 1, RESERVED_AT = 3, SIZES = 100, RANDOM_RUNS = 100000 };

static const struct el_msg sample = {
    .from = 0x01020304,
    .to = 0x11121314,
    .subject = 0x21222324,
    .kind = 0x31,
    .flags = 0x41,
    .epoch = 0x5152535455565758,
    .rank = 0x6162636465666768,
    .aux = 0x7172737475767778,
    .more = 0x8182838485868788,
    .extra = {0x9192939495969798, 0xA1A2A3A4A5A6A7A8, 0xB1B2B3B4B5B6B7B8, 0xC1C2C3C4C5C6C7C8}};

static const uint8_t golden[EL_WIRE_SIZE] = {
    0x02, 0x31, 0x41, 0x00, 0x04, 0x03, 0x02, 0x01, 0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22, 0x21,
    0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51, 0x68, 0x67, 0x66, 0x65, 0x64, 0x63, 0x62, 0x61,
    0x78, 0x77, 0x76, 0x75, 0x74, 0x73, 0x72, 0x71, 0x88, 0x87, 0x86, 0x85, 0x84, 0x83, 0x82, 0x81,
    0x98, 0x97, 0x96, 0x95, 0x94, 0x93, 0x92, 0x91, 0xa8, 0xa7, 0xa6, 0xa5, 0xa4, 0xa3, 0xa2, 0xa1,
    0xb8, 0xb7, 0xb6, 0xb5, 0xb4, 0xb3, 0xb2, 0xb1, 0xc8, 0xc7, 0xc6, 0xc5, 0xc4, 0xc3, 0xc2, 0xc1,
};

static void a_message_on_the_wire_is_these_bytes(void **state)
{
    uint8_t wire[EL_WIRE_SIZE];
    el_encode(&sample, wire);
    assert_memory_equal(wire, golden, sizeof wire);
}

static void these_bytes_are_that_message(void **state)
{
    struct el_msg msg;
    memset(&msg, 0xEE, sizeof msg);
    assert_int_equal(el_decode(golden, sizeof golden, &msg), EL_WIRE_OK);
    assert_memory_equal(&msg, &sample, sizeof msg);
}

static void a_message_has_no_hidden_padding(void **state)
{
    const size_t fields = 3 * sizeof(el_node) + 2 * sizeof(uint8_t) + sizeof(uint16_t) + 8 * sizeof(uint64_t);
    assert_int_equal(sizeof(struct el_msg), fields);
}

static void every_field_survives_at_its_limits(void **state)
{
    static const uint64_t limits[] = {0, 1, 0x80, 0xFF, 0x100, 0xFFFF, UINT32_MAX, UINT64_MAX};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int field = 0; field < 13; field++) {
            struct el_msg msg = {.kind = 1}, back;
            switch (field) {
            case 0: msg.from = (el_node)limits[i]; break;
            case 1: msg.to = (el_node)limits[i]; break;
            case 2: msg.subject = (el_node)limits[i]; break;
            case 3: msg.kind = (uint8_t)(limits[i] | 1); break;
            case 4: msg.flags = (uint8_t)limits[i]; break;
            case 5: msg.epoch = limits[i]; break;
            case 6: msg.rank = limits[i]; break;
            case 7: msg.aux = limits[i]; break;
            case 8: msg.more = limits[i]; break;
            default: msg.extra[field - 9] = limits[i]; break;
            }
            uint8_t wire[EL_WIRE_SIZE];
            el_encode(&msg, wire);
            assert_int_equal(el_decode(wire, sizeof wire, &back), EL_WIRE_OK);
            assert_memory_equal(&back, &msg, sizeof msg);
        }
}

/* The refusal, and that nothing was written. */
static void refused(const uint8_t *wire, size_t size, enum el_wire expected)
{
    struct el_msg msg, before;
    memset(&msg, 0xEE, sizeof msg);
    before = msg;
    assert_int_equal(el_decode(wire, size, &msg), expected);
    assert_memory_equal(&msg, &before, sizeof msg);
}

static void every_other_size_is_refused(void **state)
{
    uint8_t wire[SIZES + 1] = {0};
    memcpy(wire, golden, sizeof golden);
    for (size_t size = 0; size <= SIZES; size++)
        if (size != EL_WIRE_SIZE) refused(wire, size, size < EL_WIRE_SIZE ? EL_WIRE_SHORT : EL_WIRE_LONG);
    refused(NULL, 0, EL_WIRE_SHORT);
}

static void every_other_version_is_refused(void **state)
{
    uint8_t wire[EL_WIRE_SIZE];
    memcpy(wire, golden, sizeof wire);
    for (unsigned version = 0; version < 256; version++) {
        wire[VERSION_AT] = (uint8_t)version;
        if (version != EL_WIRE_VERSION) refused(wire, sizeof wire, EL_WIRE_OTHER_VERSION);
    }
}

static void a_message_of_no_kind_is_refused(void **state)
{
    uint8_t wire[EL_WIRE_SIZE];
    memcpy(wire, golden, sizeof wire);
    wire[KIND_AT] = 0;
    refused(wire, sizeof wire, EL_WIRE_NO_KIND);
}

static void what_is_reserved_must_be_zero(void **state)
{
    uint8_t wire[EL_WIRE_SIZE];
    memcpy(wire, golden, sizeof wire);
    for (unsigned value = 1; value < 256; value++) {
        wire[RESERVED_AT] = (uint8_t)value;
        refused(wire, sizeof wire, EL_WIRE_RESERVED);
    }
}

static void any_other_byte_changes_the_message(void **state)
{
    for (size_t at = 0; at < EL_WIRE_SIZE; at++)
        for (unsigned flip = 1; flip < 256; flip++) {
            if (at == VERSION_AT || at == RESERVED_AT || (at == KIND_AT && (golden[at] ^ flip) == 0)) continue;
            uint8_t wire[EL_WIRE_SIZE];
            struct el_msg msg;
            memcpy(wire, golden, sizeof wire);
            wire[at] ^= (uint8_t)flip;
            assert_int_equal(el_decode(wire, sizeof wire, &msg), EL_WIRE_OK);
            assert_memory_not_equal(&msg, &sample, sizeof msg);
        }
}

static void what_is_decoded_encodes_to_the_same_bytes(void **state)
{
    struct sim_random dice;
    unsigned accepted = 0, refusals = 0;
    sim_random_seed(&dice, 1, 0);
    for (unsigned run = 0; run < RANDOM_RUNS; run++) {
        uint8_t wire[EL_WIRE_SIZE], again[EL_WIRE_SIZE];
        for (size_t i = 0; i < sizeof wire; i++) wire[i] = (uint8_t)sim_random_next(&dice);
        if (run % 4) wire[VERSION_AT] = EL_WIRE_VERSION;
        if (run % 8) wire[RESERVED_AT] = 0;
        struct el_msg msg;
        if (el_decode(wire, sizeof wire, &msg) == EL_WIRE_OK) {
            accepted++;
            el_encode(&msg, again);
            assert_memory_equal(again, wire, sizeof wire);
        } else {
            refusals++;
            assert_true(wire[VERSION_AT] != EL_WIRE_VERSION || wire[KIND_AT] == 0 || wire[RESERVED_AT] != 0);
        }
    }
    assert_true(accepted > RANDOM_RUNS / 2 && refusals > RANDOM_RUNS / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_on_the_wire_is_these_bytes),
        cmocka_unit_test(these_bytes_are_that_message),
        cmocka_unit_test(a_message_has_no_hidden_padding),
        cmocka_unit_test(every_field_survives_at_its_limits),
        cmocka_unit_test(every_other_size_is_refused),
        cmocka_unit_test(every_other_version_is_refused),
        cmocka_unit_test(a_message_of_no_kind_is_refused),
        cmocka_unit_test(what_is_reserved_must_be_zero),
        cmocka_unit_test(any_other_byte_changes_the_message),
        cmocka_unit_test(what_is_decoded_encodes_to_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
