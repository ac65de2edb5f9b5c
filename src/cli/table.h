/* A table of text on standard output: each column is as wide as its widest cell, so no two cells touch. */
#ifndef ELECTOR_CLI_TABLE_H
#define ELECTOR_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_TABLE_COLUMNS_MAX = 10 };

struct cli_table {
    size_t columns;
    char **cells; /* row by row */
    size_t count, room;
    bool is_out_of_memory;
};

/* Adds one row; copies the cells. */
void cli_table_add(struct cli_table *, const char *const *cells);
/* Writes all rows with two blanks between columns, control characters replaced, and frees the cells. False: some row was
 * lost, because memory ran out. */
bool cli_table_write(struct cli_table *);

#endif
