/* Heartbeats and a threshold: node 2 of three, an interval of 1000. */
#include "lib/node/crowd.h"
#include "lib/node/node.h"

static void sit_among_three(void)
{
    sit_down(el_detector_named("heartbeat"), 3, 2);
    option("interval", 1000);
    option("threshold", 3);
    starts();
}

static void beats_at_once_and_expects_everybody(void **state)
{
    sit_among_three();
    did("arm beat 1000; send 1,3 Heartbeat 2; arm silence@1 3000; arm silence@3 3000");
    times_out("beat");
    did("arm beat 1000; send 1,3 Heartbeat 2");
}

static void begins_anew_when_it_comes_back(void **state)
{
    sit_down(el_detector_named("heartbeat"), 2, 1);
    option("interval", 1000);
    option("threshold", 2);
    comes_back();
    did("arm beat 1000; send 2 Heartbeat 1; arm silence@2 2000");
}

static void any_arrival_ends_the_silence(void **state)
{
    sit_among_three();
    hears(1, "Heartbeat 1");
    did("arm silence@1 3000");
}

static void accuses_the_silent_and_clears_it_when_it_is_heard(void **state)
{
    sit_among_three();
    times_out_for("silence", 3);
    did("note accuses 3 3; accuse 3");
    hears(1, "Heartbeat 1");
    did("arm silence@1 3000");
    hears(3, "Heartbeat 3");
    did("arm silence@3 3000; note returns 3; clear 3");
    hears(3, "Heartbeat 3");
    did("arm silence@3 3000");
}

static void one_alone_beats_to_nobody(void **state)
{
    sit_down(el_detector_named("heartbeat"), 1, 1);
    option("interval", 1000);
    starts();
    did("arm beat 1000");
}

static void no_threshold_is_one_and_no_wait_overflows(void **state)
{
    sit_down(el_detector_named("heartbeat"), 2, 1);
    option("interval", 1000);
    starts();
    did("arm beat 1000; send 2 Heartbeat 1; arm silence@2 1000");
    sit_down(el_detector_named("heartbeat"), 2, 1);
    option("interval", UINT64_MAX);
    option("threshold", UINT64_MAX);
    starts();
    did("arm beat 9007199254740992; send 2 Heartbeat 1; arm silence@2 9007199254740992");
}

/* ---- A crowd ---- */

static void three_seconds(void)
{
    gather("heartbeat", 3);
    crowd_option("interval", SECOND);
    crowd_option("threshold", 3);
    all_start();
}

/* (threshold - 1) I .. threshold I, plus the delay, whenever in its interval the member dies. */
static void a_crash_is_noticed_within_the_bound(void **state)
{
    for (uint64_t phase = 0; phase < SECOND; phase += 90 * MILLISECOND) {
        three_seconds();
        live(5 * SECOND + phase);
        kills(3);
        live(2 * SECOND + crowd.delay - 1);
        assert_string_equal(suspicions(), "");
        live(SECOND + 1);
        assert_string_equal(suspicions(), "1:3 2:3");
    }
}

static void the_bound_is_reached_at_both_ends(void **state)
{
    three_seconds();
    live(5 * SECOND); /* it has just beaten */
    kills(3);
    live(3 * SECOND + crowd.delay - 1);
    assert_string_equal(suspicions(), "");
    live(1);
    assert_string_equal(suspicions(), "1:3 2:3");
    three_seconds();
    live(6 * SECOND - 1); /* it was about to beat */
    kills(3);
    live(2 * SECOND + crowd.delay);
    assert_string_equal(suspicions(), "");
    live(1);
    assert_string_equal(suspicions(), "1:3 2:3");
}

static void who_comes_back_is_cleared_by_its_first_beat(void **state)
{
    three_seconds();
    live(5 * SECOND);
    kills(3);
    live(10 * SECOND);
    assert_string_equal(suspicions(), "1:3 2:3");
    revives(3);
    live(crowd.delay);
    assert_string_equal(suspicions(), "");
    live(20 * SECOND);
    assert_string_equal(suspicions(), "");
    assert_int_equal(crowd.accusations, 2);
}

static void who_never_started_is_noticed_too(void **state)
{
    gather("heartbeat", 2);
    crowd_option("interval", SECOND);
    crowd_option("threshold", 3);
    kills(2);
    crowd_start(1, EL_FRESH);
    live(3 * SECOND - 1);
    assert_string_equal(suspicions(), "");
    live(1);
    assert_string_equal(suspicions(), "1:2");
}

static void a_broken_link_looks_like_a_crash(void **state)
{
    three_seconds();
    cuts(3, 1, true);
    live(10 * SECOND);
    assert_string_equal(suspicions(), "1:3");
}

/* ---- All of them ---- */

static void there_are_four_in_teaching_order(void **state)
{
    static const char *const names[] = {"heartbeat", "phi", "swim", "path"};
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_detectors(&count);
    assert_int_equal(count, 4);
    for (uint32_t i = 0; i < count; i++) {
        assert_string_equal(all[i]->name, names[i]);
        assert_ptr_equal(el_detector_named(names[i]), all[i]);
        assert_null(el_algorithm_named(names[i]));
    }
    assert_null(el_detector_named("bully"));
    assert_null(el_detector_named(""));
}

static void each_beats_and_has_no_view(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_detectors(&count);
    for (uint32_t i = 0; i < count; i++) {
        const struct el_algorithm *a = all[i];
        assert_true(a->beats);
        assert_null(a->view);
        assert_null(a->on_campaign);
        assert_int_equal(a->state_bytes % 8, 0);
        assert_int_equal(a->state_per_member % 8, 0);
        assert_true(strlen(a->summary) && strlen(a->idea) && strlen(a->reference));
        for (uint32_t k = 1; k <= a->kind_count; k++) assert_true(strlen(a->kinds[k]) > 0);
        for (uint32_t k = 0; k < a->timer_count; k++) assert_true(strlen(a->timers[k]) > 0);
        for (uint32_t k = 0; k < a->option_count; k++) assert_true(strlen(a->options[k].help) > 0);
        for (uint32_t k = 0; k < a->note_count; k++)
            for (uint32_t m = 0; m < k; m++) assert_string_not_equal(a->notes[k].name, a->notes[m].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beats_at_once_and_expects_everybody),
        cmocka_unit_test(begins_anew_when_it_comes_back),
        cmocka_unit_test(any_arrival_ends_the_silence),
        cmocka_unit_test(accuses_the_silent_and_clears_it_when_it_is_heard),
        cmocka_unit_test(one_alone_beats_to_nobody),
        cmocka_unit_test(no_threshold_is_one_and_no_wait_overflows),
        cmocka_unit_test(a_crash_is_noticed_within_the_bound),
        cmocka_unit_test(the_bound_is_reached_at_both_ends),
        cmocka_unit_test(who_comes_back_is_cleared_by_its_first_beat),
        cmocka_unit_test(who_never_started_is_noticed_too),
        cmocka_unit_test(a_broken_link_looks_like_a_crash),
        cmocka_unit_test(there_are_four_in_teaching_order),
        cmocka_unit_test(each_beats_and_has_no_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
