/* What a person reads: transcripts, summaries, explanations. Whatever happens, they find words for it. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "lib/sim/bench.h"
#include "sim/output/text.h"
#include "sim/output/transcript.h"

#ifdef ELECTOR_SANITIZED
enum { SEEDS = 4 };
#else
enum { SEEDS = 20 };
#endif

static char *page; /* the last thing that was written */

typedef void writer(FILE *out, const struct sim_world *world, const struct sim_result *result,
                    struct sim_style style);

static void transcript(FILE *out, const struct sim_world *world, const struct sim_result *result,
                       struct sim_style style)
{
    sim_write_transcript(out, world, style);
}

static const char *written(writer *write, bool colour)
{
    size_t size = 0;
    free(page);
    FILE *out = open_memstream(&page, &size);
    assert_non_null(out);
    write(out, bench.world, bench.result, (struct sim_style){colour});
    fclose(out);
    assert_int_equal(strlen(page), size);
    return page;
}

static void finds_words(const char *text)
{
    if (strchr(text, '?') || strstr(text, "(null)") || strchr(text, '@') || strchr(text, '#'))
        bench_fail(__FILE__, __LINE__, "no words for something in\n%.2000s", text);
}

static void reads(const char *text, const char *expected)
{
    if (!strstr(text, expected)) bench_fail(__FILE__, __LINE__, "expected '%s' in\n%.2000s", expected, text);
}

static unsigned lines_of(const char *text)
{
    unsigned count = 0;
    for (; *text; text++) count += *text == '\n';
    return count;
}

/* ---- Words for everything ---- */

/* Faults of all sorts, so that every note and every record has a chance. */
static const char *const plays[] = {
    "leader 6; crash 6@0; detect 1",
    "leader 6; crash 6@0,5@3; restart 6@20; detect 1; delay 0.3..1",
    "initiator all; loss 0.2; dup 0.2; reorder 0.2; delay 0.1..1; detect 2; crash 4@1; horizon 300",
    "leader 6; partition 1,2,3|4,5,6@1..30; detect 1; horizon 300",
    "leader 6; cut 6>1@0..9; cut 2>3@2; false-suspect 2:6@1..5; detect 1; horizon 300",
    "leader 6; pause 6@1..40; false-suspect all:6@2..30; clock 2=1.5; initiator 1@60; bound 0.5; horizon 300",
    "initiator 1,4@0.5; crash 6@1,5@1.5,4@2,3@2.5,2@3; detect 1; horizon 300",
    "initiator 1; crash 6@1,5@1,4@1,3@1,2@1,1@4; delay 10ms; horizon 3000ms",
    "initiator all; attr 2=5,3=5; delay exp:1..9; bound 1; horizon 200",
    "initiator 1; crash 6@150; horizon 300",
};

static void nothing_happens_that_there_are_no_words_for(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof plays / sizeof *plays; k++)
            for (int seed = 0; seed < SEEDS; seed++) {
                play_and_record("%s; nodes %u; %s; seed %d", all[i]->name, 6 + all[i]->store, plays[k], seed);
                finds_words(written(transcript, false));
                finds_words(written(sim_write_summary, false));
                finds_words(written(sim_write_violations, false));
                const struct sim_trace *trace = sim_world_trace(bench.world);
                for (uint64_t r = 1; r <= trace->count; r++) {
                    char text[SIM_TEXT];
                    finds_words(sim_record_text(&bench.plan, sim_trace_at(trace, r), text));
                }
            }
}

/* Whatever is wrong at the end of this play has a line of explanation. Returns what was wrong, at any time. */
static uint32_t explained(void)
{
    const char *text = written(sim_write_violations, false);
    for (uint32_t i = 0; i < bench.result->violation_count; i++) {
        const struct sim_violation *violation = &bench.result->violations[i];
        char head[SIM_TEXT];
        const char *at = strstr(text, sim_violation_text(&bench.plan, violation, head));
        if (!at) bench_fail(__FILE__, __LINE__, "no word of %s", head);
        at = strchr(at, '\n') + 1;
        if (violation->time == bench.result->ended && strncmp(at, "    ", 4) != 0)
            bench_fail(__FILE__, __LINE__, "%s is not explained in\n%.2000s", head, text);
    }
    return bench.result->violation_kinds;
}

static void every_violation_at_the_end_is_explained(void **state)
{
    uint32_t count = 0, seen = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof plays / sizeof *plays; k++)
            for (int seed = 0; seed < SEEDS; seed++) {
                play_and_record("%s; nodes %u; %s; seed %d", all[i]->name, 6 + all[i]->store, plays[k], seed);
                seen |= explained();
            }
    play_and_record("next-in-line; nodes 6; leader 6; crash 6@0; detect 1; set alternatives=2");
    seen |= explained();
    for (uint32_t kind = 1; kind < EL_VIOLATIONS_END; kind <<= 1) {
        assert_true(strlen(sim_violation_meaning((enum el_violation)kind)) > 10);
        if (!(seen & kind) && kind != EL_SAME_TERM && kind != EL_DEMOTED && kind != EL_TOKEN_FELL &&
            kind != EL_TWO_DECISIONS && kind != EL_OUT_OF_TURN)
            bench_fail(__FILE__, __LINE__, "nothing led to %s", el_violation_name((enum el_violation)kind));
    }
}

static void colours_change_no_words(void **state)
{
    static writer *const writers[] = {transcript, sim_write_summary, sim_write_violations};
    for (size_t k = 0; k < sizeof plays / sizeof *plays; k++)
        for (size_t w = 0; w < sizeof writers / sizeof *writers; w++) {
            play_and_record("bully; nodes 6; %s; expect leader 6", plays[k]);
            char *plain = strdup(written(writers[w], false));
            assert_non_null(plain);
            assert_null(strchr(plain, '\033'));
            written(writers[w], true);
            char *in = page, *out = page;
            while (*in) {
                if (*in == '\033') {
                    in += strcspn(in, "m") + 1;
                } else {
                    *out++ = *in++;
                }
            }
            *out = '\0';
            assert_string_equal(page, plain);
            free(plain);
        }
}

/* ---- The transcript ---- */

static void a_transcript_tells_the_story(void **state)
{
    play_and_record("bully; nodes 3; leader 3; crash 3@0; detect 1");
    const char *text = written(transcript, false);
    reads(text, "3 CRASHES");
    reads(text, "1 suspects 3");
    reads(text, "1 → 2,3  Election 1");
    reads(text, "2 LEADS");
    reads(text, "Coordinator 2");
}

static void a_message_to_many_is_one_line(void **state)
{
    play_and_record("multicast; nodes 30; initiator 30");
    reads(written(transcript, false), "30 → 1,2,3,4,5,6,7,8,…  Election 30");
}

static void a_set_is_shown_with_its_members(void **state)
{
    play_and_record("ring-collect; ids 7,5,9; initiator 7");
    reads(written(transcript, false), "5 → 9  Elect {7,5}");
}

static void what_the_network_does_is_told(void **state)
{
    play_and_record("bully; nodes 2; leader 2; initiator 1; partition 1|2@0..9; detect 1");
    reads(written(transcript, false), "the network breaks: 1|2");
    reads(page, "the network heals: 1|2");
    reads(page, "1 trusts 2 again");
    reads(page, "meets a cut link");
    play_and_record("bully; nodes 2; initiator 1; loss 1");
    reads(written(transcript, false), "is lost");
    play_and_record("bully; nodes 2; initiator 1; dup 1");
    reads(written(transcript, false), "arrives twice");
    play_and_record("bully; nodes 2; initiator 1; crash 2@0.5; restart 2@2; pause 1@3..4");
    reads(written(transcript, false), "finds it dead");
    reads(page, "2 comes back with an empty memory");
    reads(page, "1 stands still");
    reads(page, "1 goes on");
}

static void a_run_without_events_is_an_empty_page(void **state)
{
    play_and_record("bully; nodes 2; initiator none");
    assert_string_equal(written(transcript, false), "");
    assert_string_equal(written(sim_write_violations, false), "");
}

static void the_last_records_alone_can_be_told(void **state)
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++)
        for (uint64_t keep = 1; keep < 40; keep += 3) {
            bench_play(__FILE__, __LINE__, keep, "%s; nodes 6; %s", all[i]->name, plays[2]);
            finds_words(written(transcript, false));
            finds_words(written(sim_write_violations, false));
        }
}

/* ---- The summary ---- */

static void a_summary_says_who_leads(void **state)
{
    play_and_record("bully; nodes 3; initiator 1");
    reads(written(sim_write_summary, false), "bully: all 3 name 3\n");
    reads(page, "  messages    ");
    reads(page, "  turnaround  ");
    play_and_record("bully; nodes 2; initiator 1; crash 2@0");
    reads(written(sim_write_summary, false), "bully: 1 is the only one, and leads itself\n");
    play_and_record("bully; nodes 2; initiator none; crash 1@0,2@0");
    reads(written(sim_write_summary, false), "bully: nobody is left\n");
    reads(page, "  messages    0\n");
    play_and_record("bully; nodes 3; initiator 1; cut 3>1; cut 2>1; until 2");
    assert_true(lines_of(written(sim_write_summary, false)) >= 3);
}

static void a_summary_counts_what_went_wrong(void **state)
{
    play_and_record("bully; nodes 4; initiator 1; loss 1");
    reads(written(sim_write_summary, false), "  lost        ");
    play_and_record("bully; nodes 4; initiator 1; dup 1");
    reads(written(sim_write_summary, false), "  copies      ");
    play_and_record("ring-max; nodes 4; initiator 1; crash 2@0");
    reads(written(sim_write_summary, false), "  failed hops 2\n");
}

static void a_summary_tells_elections_apart(void **state)
{
    play_and_record("bully; nodes 3; initiator 1@0,1@50");
    reads(written(sim_write_summary, false), "  election 1  from 0: ");
    reads(page, "  election 2  from 50: ");
    reads(page, ", leader 3\n");
}

static void a_summary_says_which_expectations_hold(void **state)
{
    play_and_record("bully; nodes 3; initiator 1; expect leader 3; expect leader 2");
    reads(written(sim_write_summary, false), "  expected    leader 3: yes\n");
    reads(page, "  expected    leader 2: NO\n");
}

static void a_summary_of_disagreement_says_who_believes_what(void **state)
{
    play_and_record("bully; nodes 5; leader 5; partition 1,2,3|4,5@0; detect 1; crash 4@20; horizon 30");
    reads(written(sim_write_summary, false), "bully: the 4 alive do not agree\n");
    reads(page, "    node                  role      names         term\n"
                "    1, 2                  follower  3             1\n");
    reads(page, "    4                     dead\n");
    play_and_record("bully; nodes 3; initiator 1");
    assert_null(strstr(written(sim_write_summary, false), "names "));
}

static void a_table_of_beliefs_is_bounded(void **state)
{
    play_and_record("bully; nodes 60; initiator 1; loss 1; until 1");
    const unsigned lines = lines_of(written(sim_write_summary, false));
    play_and_record("raft; nodes 60; loss 1; until 4000ms");
    assert_true(lines < 20 && lines_of(written(sim_write_summary, false)) < 24);
    play_and_record("chang-roberts; nodes 60; leader 60; initiator 1; crash 60@0; until 2");
    reads(written(sim_write_summary, false), ", …  ");
}

static void a_leader_without_terms_has_no_token(void **state)
{
    play_and_record("chang-roberts; nodes 4; initiator 1; resource 1");
    reads(written(transcript, false), "the resource REFUSES 4: it has no token\n");
    reads(written(sim_write_summary, false),
          "  resource    0 times admitted, 0 refused, 6 without a token to check\n");
}

static void an_endless_run_is_cut_with_a_note(void **state)
{
    play_and_record("chang-roberts; ids 3,32,5,80,6,12; initiator 3; crash 80@3.5");
    const char *text = written(transcript, false);
    assert_int_equal(lines_of(text), 101);
    reads(text, "lines more: it does not come to rest (--trace FILE has every event)\n");
    reads(written(sim_write_summary, false), "  turnaround  none: cut at 563.5 T, and still busy\n");
    play_and_record("chang-roberts; ids 3,32,5,80,6,12; initiator 3,3@40; crash 80@43.5");
    reads(written(sim_write_summary, false), " messages, without an end\n");
    play_and_record("chang-roberts; nodes 40; initiator all"); /* long, but not endless */
    assert_true(lines_of(written(transcript, false)) > 101);
}

static void the_length_of_t_is_told(void **state)
{
    play_and_record("bully; nodes 5; leader 5; crash 5@0; initiator 2");
    reads(written(sim_write_summary, false), "  turnaround  4 T   (T = 1 ms)\n");
    play_and_record("bully; nodes 5; leader 5; crash 5@0; initiator 2; delay 10ms");
    reads(written(sim_write_summary, false), "  turnaround  40 ms\n");
}

/* ---- Expectations ---- */

static bool holds(const char *expectation)
{
    bench_play(__FILE__, __LINE__, 0, "chang-roberts; nodes 3; initiator 3; crash 1@0; expect %s", expectation);
    const bool each = sim_expectation_holds(&bench.plan, bench.result, &bench.plan.expects[0]);
    assert_int_equal(sim_expectations_hold(&bench.plan, bench.result), each);
    return each;
}

static void expectations_hold_or_do_not(void **state)
{
    static const struct {
        const char *text;
        bool holds;
    } cases[] = {
        {"leader 3", true},           {"leader 2", false},           {"leader none", false},
        {"agreement", true},          {"no agreement", false},       {"messages 4", true},
        {"messages 5", false},        {"messages Election 2", true}, {"messages Elected 1", false},
        {"failed-hops 2", true},      {"failed-hops 0", false},      {"no violation", true},
        {"violation endless", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (holds(cases[i].text) != cases[i].holds) bench_fail(__FILE__, __LINE__, "%s", cases[i].text);
    play("chang-roberts; nodes 3; initiator 3; expect turnaround 6");
    assert_true(sim_expectations_hold(&bench.plan, bench.result));
}

static void a_violation_that_was_expected_is_no_surprise(void **state)
{
    static const char story[] = "chang-roberts; nodes 3; initiator 3; crash 3@0.5";
    play("%s; horizon 50", story);
    violated(EL_ENDLESS);
    assert_true(sim_unexpected_violations(&bench.plan, bench.result) & EL_ENDLESS);
    assert_false(sim_expectations_hold(&bench.plan, bench.result));
    play("%s; horizon 50; expect violation endless; expect violation no-leader; expect leader none", story);
    assert_int_equal(sim_unexpected_violations(&bench.plan, bench.result), 0);
    assert_true(sim_expectations_hold(&bench.plan, bench.result));
}

static int finish(void **state)
{
    bench_clear();
    free(page);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_happens_that_there_are_no_words_for),
        cmocka_unit_test(every_violation_at_the_end_is_explained),
        cmocka_unit_test(colours_change_no_words),
        cmocka_unit_test(a_transcript_tells_the_story),
        cmocka_unit_test(a_message_to_many_is_one_line),
        cmocka_unit_test(a_set_is_shown_with_its_members),
        cmocka_unit_test(what_the_network_does_is_told),
        cmocka_unit_test(a_run_without_events_is_an_empty_page),
        cmocka_unit_test(the_last_records_alone_can_be_told),
        cmocka_unit_test(a_summary_says_who_leads),
        cmocka_unit_test(a_summary_counts_what_went_wrong),
        cmocka_unit_test(a_summary_tells_elections_apart),
        cmocka_unit_test(a_summary_says_which_expectations_hold),
        cmocka_unit_test(a_summary_of_disagreement_says_who_believes_what),
        cmocka_unit_test(a_table_of_beliefs_is_bounded),
        cmocka_unit_test(a_leader_without_terms_has_no_token),
        cmocka_unit_test(an_endless_run_is_cut_with_a_note),
        cmocka_unit_test(the_length_of_t_is_told),
        cmocka_unit_test(expectations_hold_or_do_not),
        cmocka_unit_test(a_violation_that_was_expected_is_no_surprise),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
