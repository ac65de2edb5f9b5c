/* Tables: each column is as wide as its widest cell, so that no two cells touch, and nothing in a cell moves the others. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/table.h"

/* What the table writes to standard output. */
static const char *written(struct cli_table *table)
{
    static char text[4096];
    FILE *file = tmpfile();
    const int before = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    assert_true(cli_table_write(table));
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void keeps_columns_apart(void **state)
{
    struct cli_table table = {.columns = 3};
    cli_table_add(&table, (const char *[]){"SINCE", "LEADER", "LED FOR"});
    cli_table_add(&table, (const char *[]){"59 min 59 s", "a-member-with-a-long-name", "9 µs"});
    cli_table_add(&table, (const char *[]){"1 µs", "b", "10 ms"});
    assert_string_equal(written(&table), "SINCE        LEADER                     LED FOR\n"
                                         "59 min 59 s  a-member-with-a-long-name  9 µs\n"
                                         "1 µs         b                          10 ms\n");
}

static void takes_many_rows(void **state)
{
    struct cli_table table = {.columns = 2};
    for (int i = 0; i < 1000; i++) cli_table_add(&table, (const char *[]){"x", "\033"});
    assert_true(strncmp(written(&table), "x  ?\nx  ?\n", 10) == 0);
    assert_int_equal(table.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_columns_apart),
                                       cmocka_unit_test(takes_many_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
