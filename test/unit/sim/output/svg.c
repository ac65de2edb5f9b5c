/*
 * The drawn diagram: well-formed, every message in it or counted as left out, labels that do not cover
 * each other, and a mark for whatever happened.
 */
#include "lib/sim/exports.h"

static void every_diagram_is_well_formed(void **state)
{
    for (int i = 0; i < STORIES; i++) {
        struct run run;
        tell(&run, *stories[i]);
        char *text = text_of(sim_write_svg, &run);
        assert_well_formed(text);
        free(text);
        forget(&run);
    }
}

static void every_message_sent_is_drawn(void **state)
{
    for (int i = 0; i < STORIES; i++) {
        if (stories[i] == &crowd) continue;
        struct run run;
        tell(&run, *stories[i]);
        char *text = text_of(sim_write_svg, &run);
        const int sent = count_records(&run, SIM_SENT), ended = count_records(&run, SIM_DELIVERED);
        const int dropped = count_records(&run, SIM_DROPPED);
        assert_int_equal(count(text, "<g class=\"message\""), sent);
        assert_int_equal(count(text, ", delivered at ") + count(text, ", a copy delivered at "), ended);
        assert_int_equal(count(text, ", was lost<") + count(text, ", found it dead at ") +
                             count(text, ", met a cut"),
                         dropped);
        free(text);
        forget(&run);
    }
}

/* The number behind these words, which must stand in this tag. */
static int attribute(const char *tag, const char *words)
{
    const char *at = strstr(tag, words);
    assert_true(at && at < strchr(tag, '>'));
    return (int)strtol(at + strlen(words), NULL, 10);
}

/* Label boxes are told by their round corners (rx). */
static int read_labels(const char *text, int box[][3], int most)
{
    int boxes = 0;
    for (const char *at = text; (at = strstr(at, "<rect x=\"")); at++) {
        const char *corner = strstr(at, " rx=\"");
        if (!corner || corner > strchr(at, '>')) continue;
        assert_true(boxes < most);
        box[boxes][0] = attribute(at, " x=\"");
        box[boxes][1] = attribute(at, " y=\"");
        box[boxes++][2] = attribute(at, " width=\"");
    }
    return boxes;
}

static void labels_never_cover_each_other(void **state)
{
    enum { LABELS_MAX = 2100 };
    static int box[LABELS_MAX][3];
    for (int i = 0; i < STORIES; i++) {
        struct run run;
        tell(&run, *stories[i]);
        char *text = text_of(sim_write_svg, &run);
        const int boxes = read_labels(text, box, LABELS_MAX);
        assert_true(boxes > 5 || stories[i] == &alone);
        for (int a = 0; a < boxes; a++)
            for (int b = 0; b < a; b++)
                assert_false(abs(box[a][1] - box[b][1]) < 14 && box[a][0] < box[b][0] + box[b][2] &&
                             box[b][0] < box[a][0] + box[a][2]);
        free(text);
        forget(&run);
    }
}

static void a_quiet_diagram_labels_every_message_in_full(void **state)
{
    struct run run;
    tell(&run, ring);
    char *text = text_of(sim_write_svg, &run);
    assert_int_equal(count(text, ">Election 3</text>"), 1);
    assert_int_equal(count(text, ">Election 32</text>"), 2);
    assert_int_equal(count(text, ">Election 80</text>"), 6);
    assert_int_equal(count(text, ">Elected 80</text>"), 6);
    free(text);
    forget(&run);
}

static void what_happens_is_marked(void **state)
{
    static const struct {
        const story *told;
        const char *marks[5];
    } cases[] = {
        {&ring, {">chang-roberts</text>", "15 messages", "turnaround 15 T", "leader 80", "class=\"crown\""}},
        {&bully,
         {"class=\"crash\"", "stroke-dasharray=\"3 5\"", ">down<", "class=\"crown\"", "class=\"leads\""}},
        {&split,
         {"class=\"band\"", ">partition 1,2,3|4,5<", ">two-leaders at 5: 3, 5<", ">follows 3<", ">follows 5<"}},
        {&paused, {"class=\"pause\"", "class=\"violation\"", ">is elected<", ">leads<", ">stands still<"}},
        {&comeback, {"class=\"suspicion\"", ">comes back<", ">3?<", "class=\"crash\"", ">suspects<"}},
        {&interrupted, {"opacity=\"0.2\"", "still under way", "no agreement", ">no leader<", ">time in T<"}},
        {&scripted_ring,
         {">the loop begins<", "class=\"band\"", ">endless at 9<", ">is told of it<", ", was lost<"}},
        {&endless_ring, {">endless at 30<", ">does not arrive<", "3 failed hops", ">is told of it<", ">down<"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run;
        tell(&run, *cases[i].told);
        char *text = text_of(sim_write_svg, &run);
        for (int mark = 0; mark < 5; mark++) assert_has(text, cases[i].marks[mark]);
        free(text);
        forget(&run);
    }
}

static void equal_messages_at_once_share_a_label(void **state)
{
    static const story twice = {"algorithm", "ring-basic", "nodes", "4", "initiator", "1,1", NULL};
    struct run run;
    tell(&run, twice);
    char *text = text_of(sim_write_svg, &run);
    assert_int_equal(count(text, ">Election 1 ×2<"), 1);
    assert_int_equal(count(text, ">Election 1<"), 0);
    assert_int_equal(count(text, "<g class=\"message\""), count_records(&run, SIM_SENT));
    free(text);
    forget(&run);
}

static void a_timer_is_drawn_only_if_something_came_of_it(void **state)
{
    struct run run;
    tell(&run, bully);
    char *text = text_of(sim_write_svg, &run);
    int effective = 0;
    for (uint64_t i = 1; i < run.trace->count; i++) {
        const struct sim_record *r = sim_trace_at(run.trace, i);
        bool effect = false;
        for (uint64_t j = i + 1; r->what == SIM_TIMED_OUT && j <= run.trace->count; j++) {
            const struct sim_record *next = sim_trace_at(run.trace, j);
            effect |= next->cause == i && (next->what == SIM_SENT || next->what == SIM_VIEWED);
        }
        effective += effect;
    }
    assert_true(effective > 0);
    assert_int_equal(count(text, "class=\"timer\""), effective + 1); /* and the legend */
    free(text);
    forget(&run);
}

static void a_node_that_did_not_crash_is_not_marked(void **state)
{
    struct run run;
    tell(&run, ring);
    char *text = text_of(sim_write_svg, &run);
    assert_int_equal(count(text, "class=\"crash\""), 0);
    assert_int_equal(count(text, "class=\"violation\""), 0);
    assert_int_equal(count(text, "class=\"band\""), 0);
    assert_int_equal(count(text, "left out"), 0);
    assert_int_equal(count(text, "class=\"crown\""), 2); /* the election, and the legend */
    free(text);
    forget(&run);
}

static void a_large_run_is_drawn_in_part_and_says_so(void **state)
{
    static const story endless = {"algorithm", "chang-roberts", "nodes",   "30",    "initiator", "1",
                                  "crash",     "30@29.5",       "horizon", "90000", NULL};
    static const story *const large[] = {&crowd, &endless};
    for (int i = 0; i < 2; i++) {
        struct run run;
        tell(&run, *large[i]);
        char *text = text_of(sim_write_svg, &run), caption[64];
        const int drawn = count(text, "<g class=\"message\"");
        assert_true(drawn > 100 && drawn <= 2000);
        assert_true(strlen(text) < 2000000);
        snprintf(caption, sizeof caption, "; %d messages are left out.", count_records(&run, SIM_SENT) - drawn);
        assert_has(text, caption);
        assert_well_formed(text);
        free(text);
        forget(&run);
    }
}

static void a_long_silence_is_drawn_short(void **state)
{
    static const story far = {"algorithm", "chang-roberts", "nodes", "3", "initiator", "1,3@1000000", NULL};
    struct run run;
    tell(&run, far);
    char *text = text_of(sim_write_svg, &run);
    assert_in_range(attribute(strstr(text, "<svg"), " width=\""), 100, 2000);
    assert_has(text, ">1000000</text>");
    assert_int_equal(count(text, "<g class=\"message\""), count_records(&run, SIM_SENT));
    free(text);
    forget(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_diagram_is_well_formed),
        cmocka_unit_test(every_message_sent_is_drawn),
        cmocka_unit_test(labels_never_cover_each_other),
        cmocka_unit_test(a_quiet_diagram_labels_every_message_in_full),
        cmocka_unit_test(what_happens_is_marked),
        cmocka_unit_test(equal_messages_at_once_share_a_label),
        cmocka_unit_test(a_timer_is_drawn_only_if_something_came_of_it),
        cmocka_unit_test(a_node_that_did_not_crash_is_not_marked),
        cmocka_unit_test(a_large_run_is_drawn_in_part_and_says_so),
        cmocka_unit_test(a_long_silence_is_drawn_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
