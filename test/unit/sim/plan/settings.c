/*
 * Collecting settings: the lines of a scenario file, with their places,
 * and the keys that there are.
 */
#define _XOPEN_SOURCE 700
#include <stdlib.h>
#include <unistd.h>

#include "lib/sim/typed.h"

/* ---- Files ---- */

static char path[64];

static int read_text(const char *text, size_t size)
{
    clear();
    snprintf(path, sizeof path, "%s/elector-XXXXXX", P_tmpdir);
    const int file = mkstemp(path);
    assert_int_not_equal(file, -1);
    assert_int_equal(write(file, text, size), size);
    close(file);
    const int status = sim_settings_read(&settings, path, &error);
    unlink(path);
    return status;
}

static void reads(const char *text, const char *expected)
{
    char said[512] = "";
    if (read_text(text, strlen(text)) != 0) print_error("%s\n", error.text);
    for (size_t i = 0; i < settings.count; i++) {
        const struct sim_setting *s = &settings.list[i];
        const size_t used = strlen(said);
        snprintf(said + used, sizeof said - used, "%s%u:%u %s=%s", i ? "; " : "", s->line, s->column, s->key,
                 s->value);
    }
    assert_string_equal(said, expected);
}

static void a_scenario_is_one_setting_a_line(void **state)
{
    reads("", "");
    reads("algorithm bully", "1:11 algorithm=bully");
    reads("algorithm bully\nnodes 3\n", "1:11 algorithm=bully; 2:7 nodes=3");
    reads("algorithm bully\r\nnodes 3\r\n", "1:11 algorithm=bully; 2:7 nodes=3");
    reads("# a story\n\n  nodes\t 3  \n   # indented\nseed 7 # lucky\n", "3:10 nodes=3; 5:6 seed=7");
    reads("expect leader 5\nexpect no violation", "1:8 expect=leader 5; 2:8 expect=no violation");
    reads("leader\n", "1:7 leader=");
    reads("partition 1|2#3\n", "1:11 partition=1|2#3"); /* no comment: there is no space before it */
    reads("seed 7\t# lucky\n", "1:6 seed=7");
}

static void fails_to_read(const char *text, size_t size, const char *expected)
{
    char whole[256];
    assert_int_equal(read_text(text, size), -1);
    snprintf(whole, sizeof whole, "%s%s", path, expected);
    assert_string_equal(error.text, whole);
}

static void a_step_can_number_messages(void **state)
{
    reads("step deliver 1>2 Vote #2  # the second\nnodes 3 #3 of them\nstep loop #here\nstep loop # 2\n",
          "1:6 step=deliver 1>2 Vote #2; 2:7 nodes=3; 3:6 step=loop; 4:6 step=loop");
}

static void an_unknown_word_is_named_with_its_place(void **state)
{
    const char text[] = "nodes 3\n  nodez 3\n";
    fails_to_read(
        text, strlen(text),
        ":2:3: unknown word 'nodez'; a line is one of the options of `elector sim --help` and its value");
}

static void a_file_that_is_not_text_is_refused(void **state)
{
    fails_to_read("nodes 3\nseed\0 1\n", 16, ":2:5: this is not text; a scenario is a text file");
    fails_to_read("nodes \x7F\n", 8, ":1:7: this is not text; a scenario is a text file");
    fails_to_read("nodes 3\n\x1B[1m", 12, ":2:1: this is not text; a scenario is a text file");
}

static void a_file_that_is_too_large_is_refused(void **state)
{
    const size_t size = 1 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, '\n', size);
    fails_to_read(text, size, ": larger than a scenario may be (1 MiB)");
    free(text);
}

static void a_file_that_is_not_there_is_an_error(void **state)
{
    clear();
    assert_int_equal(sim_settings_read(&settings, "no/such/file", &error), -1);
    assert_string_equal(error.text, "no/such/file: cannot read it: No such file or directory");
    clear();
    assert_int_equal(sim_settings_read(&settings, ".", &error), -1);
    assert_non_null(strstr(error.text, ".: cannot read it: "));
}

/* ---- Keys ---- */

static void every_key_says_what_it_takes(void **state)
{
    size_t count = 0;
    const struct sim_key *keys = sim_keys(&count);
    assert_int_equal(count, 45);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(keys[i].argument);
        assert_true(strlen(keys[i].help) > 0);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(keys[i].name, keys[k].name);
    }
}

static void many_settings_fit(void **state)
{
    clear();
    for (int i = 0; i < 100; i++) assert_true(sim_settings_add(&settings, "seed", "1", 0, 0));
    assert_int_equal(settings.count, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scenario_is_one_setting_a_line),
        cmocka_unit_test(a_step_can_number_messages),
        cmocka_unit_test(an_unknown_word_is_named_with_its_place),
        cmocka_unit_test(a_file_that_is_not_text_is_refused),
        cmocka_unit_test(a_file_that_is_too_large_is_refused),
        cmocka_unit_test(a_file_that_is_not_there_is_an_error),
        cmocka_unit_test(every_key_says_what_it_takes),
        cmocka_unit_test(many_settings_fit),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
