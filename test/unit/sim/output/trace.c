/* The trace: none, the last so many, or all; indices count from 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/output/trace.h"

static void add(struct sim_trace *trace, uint64_t count)
{
    for (uint64_t i = 1; i <= count; i++) {
        const struct sim_record record = {.time = 10 * i, .number = i};
        assert_int_equal(sim_trace_add(trace, &record), i);
    }
}

static void keeping_none_costs_nothing(void **state)
{
    struct sim_trace trace;
    assert_true(sim_trace_init(&trace, 0));
    const struct sim_record record = {.time = 1};
    assert_int_equal(sim_trace_add(&trace, &record), 0);
    assert_int_equal(trace.count, 0);
    assert_null(trace.records);
    assert_null(sim_trace_at(&trace, 0));
    assert_null(sim_trace_at(&trace, 1));
    sim_trace_free(&trace);
}

static void keeping_all_keeps_all(void **state)
{
    struct sim_trace trace;
    assert_true(sim_trace_init(&trace, SIM_KEEP_ALL));
    assert_int_equal(sim_trace_first(&trace), 1);
    assert_null(sim_trace_at(&trace, 1));
    add(&trace, 5000);
    assert_int_equal(sim_trace_first(&trace), 1);
    for (uint64_t i = 1; i <= 5000; i++) {
        assert_int_equal(sim_trace_at(&trace, i)->number, i);
        assert_int_equal(sim_trace_at(&trace, i)->time, 10 * i);
    }
    assert_null(sim_trace_at(&trace, 0));
    assert_null(sim_trace_at(&trace, 5001));
    assert_null(sim_trace_at(&trace, UINT64_MAX));
    sim_trace_free(&trace);
    assert_null(sim_trace_at(&trace, 1));
}

static void keeping_the_last_few_forgets_the_others(void **state)
{
    static const uint64_t keeps[] = {1, 2, 7, 100};
    for (size_t k = 0; k < sizeof keeps / sizeof *keeps; k++) {
        struct sim_trace trace;
        assert_true(sim_trace_init(&trace, keeps[k]));
        for (uint64_t i = 1; i <= 50; i++) {
            const struct sim_record record = {.number = i};
            assert_int_equal(sim_trace_add(&trace, &record), i);
            const uint64_t first = i > keeps[k] ? i - keeps[k] + 1 : 1;
            assert_int_equal(sim_trace_first(&trace), first);
            assert_null(sim_trace_at(&trace, first - 1));
            for (uint64_t at = first; at <= i; at++) assert_int_equal(sim_trace_at(&trace, at)->number, at);
            assert_null(sim_trace_at(&trace, i + 1));
        }
        sim_trace_free(&trace);
    }
}

static void a_record_has_no_hidden_padding(void **state)
{
    assert_int_equal(sizeof(struct sim_record), 5 * sizeof(uint64_t) + 4 * sizeof(uint32_t) + 4 + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeping_none_costs_nothing),
        cmocka_unit_test(keeping_all_keeps_all),
        cmocka_unit_test(keeping_the_last_few_forgets_the_others),
        cmocka_unit_test(a_record_has_no_hidden_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
