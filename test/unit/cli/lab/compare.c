/*
 * The table of a comparison, from numbers that no measurement would give: what each cell says, that all lines
 * fit, and that a broken promise is told with a command that shows it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/lab/compare.h"

enum { TEXT = 8192, WIDTH = 100 };

static struct compare_row row;
static struct comparison comparison;
static char text[TEXT];

static int set_up(void **state)
{
    row = (struct compare_row){.algorithm = el_algorithm_named("bully"),
                               .ran = true,
                               .cost = {.runs = 200, .messages = 5800, .turnaround = 800000},
                               .twice = {.runs = 200, .messages = 26200, .turnaround = 800000},
                               .survived = 5};
    for (int trouble = 0; trouble < SIM_TROUBLES; trouble++)
        row.trials[trouble] = (struct sim_trial){.runs = 200, .promised = true};
    comparison = (struct comparison){{.nodes = 6, .runs = 200, .seed = 7}, &row, 1};
    return 0;
}

static void write_with(bool (*write)(FILE *, const struct comparison *))
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(write(file, &comparison));
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
}

static void says(const char *words)
{
    write_with(compare_write_text);
    if (!strstr(text, words)) fail_msg("there is no '%s' in:\n%s", words, text);
}

static void says_no(const char *words)
{
    write_with(compare_write_text);
    if (strstr(text, words)) fail_msg("there is a '%s' in:\n%s", words, text);
}

static void a_cell_says_what_was_measured_and_promised(void **state)
{
    struct sim_trial *trial = &row.trials[SIM_PARTITIONS];
    says("5 of 6  yes         yes         yes         yes\n");
    says_no("promises less");
    trial->promised = false;
    says("  yes         yes*        yes  ");
    says("promises less");
    trial->broken = 74;
    says(" no (37 %)   yes  ");
    trial->broken = 1;
    says(" no (1 %) ");
    trial->broken = 199;
    says(" no (99 %) ");
    trial->broken = 200;
    says(" no (100 %) ");
}

static void costs_are_means_and_their_growth(void **state)
{
    says("bully                     29  ×4.5       4   5 of 6");
    row.cost.messages = 2520;
    says("                  12.6  ×10.4 ");
    row.twice.need = SIM_ALL_NOTICE; /* another story: not to be compared */
    says("                  12.6   -    ");
    row.cost.need = SIM_ALL_NOTICE;
    says("                  12.6a ×10.4 ");
    says("every detector");
    row.cost.need = SIM_NOBODY_DIES;
    says("                  12.6b  -    ");
    says("nobody dies");
    row.cost = (struct sim_cost){.need = SIM_NEEDS};
    says("                     -   -         -   5 of 6");
    row.cost = row.twice = (struct sim_cost){.runs = 200};
    says("                     0   -         0   5 of 6");
    row.ran = false;
    says("bully               at most 0 members\n");
}

static void no_line_is_wider_than_the_page(void **state)
{
    struct el_algorithm long_named = *row.algorithm;
    long_named.name = "hirschberg-sinclair";
    row.algorithm = &long_named;
    comparison.terms.nodes = 32;
    row.survived = 31;
    row.cost.messages = row.twice.messages = UINT64_C(200) * 1234567 + 20;
    row.cost.turnaround = UINT64_C(200) * 12345600;
    for (int trouble = 0; trouble < SIM_TROUBLES; trouble++)
        row.trials[trouble] = (struct sim_trial){.runs = 200, .broken = 200};
    says("hirschberg-sinclair ");
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t columns = 0;
        for (const char *at = line; *at != '\n'; at++) columns += (*at & 0xC0) != 0x80;
        assert_in_range(columns, 0, WIDTH);
        const size_t length = strcspn(line, "\n");
        assert_true(length == 0 || line[length - 1] != ' ');
    }
}

static void a_broken_promise_is_told_with_a_command(void **state)
{
    assert_false(compare_contradicts(&comparison));
    says_no("!");
    row.trials[SIM_PARTITIONS] = (struct sim_trial){.runs = 200,
                                                    .broken = 100,
                                                    .promised = true,
                                                    .unexcused = 100,
                                                    .run = 3,
                                                    .violations = EL_TWO_LEADERS | EL_DISAGREEMENT,
                                                    .faults = EL_PARTITIONS};
    assert_true(compare_contradicts(&comparison));
    says(" no (50 %)!  ");
    says(
        "\n! bully, partition-safe: 100 of 200 runs broke what it promises. The first shows two-leaders, "
        "disagreement,\n  which its table does not expect of partition. To see it:\n  elector sim bully --ids ");
    says(" --seed 10 "); /* 7 and 3 */
    says(" --partition '");
    row.trials[SIM_PARTITIONS].broken = 0;
    says(" yes!  ");
}

static void the_same_as_json(void **state)
{
    row.trials[SIM_CRASHES].unexcused = 1;
    row.trials[SIM_CRASHES].violations = EL_NO_LEADER | EL_DEAD_LEADER;
    write_with(compare_write_json);
    static const char *const words[] = {"\"nodes\": 6",        "\"seed\": 7",        "\"messages\": 29.0",
                                        "\"messages\": 131.0", "\"survives\": 5",    "\"crash_safe\"",
                                        "\"command\"",         "\"partition_safe\"", "\"unexcused\": 1",
                                        "\"no-leader\"",       "\"stable\""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(text, words[i])) fail_msg("there is no %s in:\n%s", words[i], text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_cell_says_what_was_measured_and_promised, set_up),
        cmocka_unit_test_setup(costs_are_means_and_their_growth, set_up),
        cmocka_unit_test_setup(no_line_is_wider_than_the_page, set_up),
        cmocka_unit_test_setup(a_broken_promise_is_told_with_a_command, set_up),
        cmocka_unit_test_setup(the_same_as_json, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
