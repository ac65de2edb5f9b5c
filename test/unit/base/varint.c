/* Numbers of seven bits a byte: each has one form, and only that form is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/varint.h"

static void each_number_comes_back_from_as_few_bytes_as_it_needs(void **state)
{
    static const struct {
        uint64_t number;
        unsigned bytes;
    } known[] = {{0, 1},
                 {0x7f, 1},
                 {0x80, 2},
                 {0x3fff, 2},
                 {0x4000, 3},
                 {UINT64_MAX >> 1, 9},
                 {(UINT64_MAX >> 1) + 1, 10},
                 {UINT64_MAX, 10}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint8_t bytes[VARINT_MAX];
        uint64_t number = 1;
        assert_int_equal(varint_put(bytes, known[i].number), known[i].bytes);
        assert_int_equal(varint_get(bytes, known[i].bytes, &number), known[i].bytes);
        assert_true(number == known[i].number);
        assert_int_equal(varint_get(bytes, known[i].bytes - 1, &number), 0); /* cut off */
    }
}

static void puts_the_lowest_bits_first(void **state)
{
    uint8_t bytes[VARINT_MAX];
    assert_int_equal(varint_put(bytes, 300), 2);
    assert_memory_equal(bytes, "\xac\x02", 2);
}

static void reads_no_second_form_of_a_number(void **state)
{
    static const char *const wrong[] = {"\x80\x00",                                  /* 0 in two bytes */
                                        "\xff\x00",                                  /* 127 in two bytes */
                                        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",  /* 65 bits */
                                        "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"}; /* no end */
    static const unsigned sizes[] = {2, 2, 10, 10};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t number;
        assert_int_equal(varint_get((const uint8_t *)wrong[i], sizes[i], &number), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_number_comes_back_from_as_few_bytes_as_it_needs),
                                       cmocka_unit_test(puts_the_lowest_bits_first),
                                       cmocka_unit_test(reads_no_second_form_of_a_number)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
