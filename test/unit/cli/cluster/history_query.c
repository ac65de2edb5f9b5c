/* Durations as `elector why` and `elector history` write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/cluster/history_query.h"

static void a_span_is_written_in_its_unit(void **state)
{
    static const struct {
        uint64_t us;
        const char *text;
    } spans[] = {
        {0, "less than 1 µs"}, /* what is cut off must not look like nothing */
        {1, "1 µs"},           {999, "999 µs"},         {1000, "1.000 ms"},        {999999, "999.999 ms"},
        {1000000, "1.00 s"},   {60000000, "1 min 0 s"}, {3600000000, "1 h 0 min"}, {90000000000, "1 d 1 h"}};
    char text[PAST_SPAN];
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        assert_string_equal(history_query_span(spans[i].us, text), spans[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_span_is_written_in_its_unit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
