/* See table.h. */
#include "cli/table.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static char *copy_of(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy) memcpy(copy, text, size);
    return copy;
}

static bool has_room(struct cli_table *table)
{
    if (table->count + table->columns <= table->room) return true;
    const size_t room = table->room ? 2 * table->room : 16 * table->columns;
    char **cells = realloc(table->cells, room * sizeof *cells);
    if (!cells) return false;
    table->cells = cells;
    table->room = room;
    return true;
}

void cli_table_add(struct cli_table *table, const char *const *cells)
{
    if (table->is_out_of_memory || !has_room(table)) {
        table->is_out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < table->columns; i++) {
        char *copy = copy_of(cells[i]);
        if (!copy) table->is_out_of_memory = true;
        table->cells[table->count++] = copy;
    }
}

/* In characters, not bytes. */
static int width_of(const char *text)
{
    int width = 0;
    for (; text && *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

bool cli_table_write(struct cli_table *table)
{
    int widths[CLI_TABLE_COLUMNS_MAX] = {0};
    for (size_t i = 0; i < table->count; i++) {
        const int width = width_of(table->cells[i]);
        if (width > widths[i % table->columns]) widths[i % table->columns] = width;
    }
    for (size_t i = 0; i < table->count; i++) {
        const size_t column = i % table->columns;
        const bool is_last = column + 1 == table->columns;
        cli_cell(table->cells[i] ? table->cells[i] : "?", is_last ? 0 : widths[column] + 2);
        if (is_last) putchar('\n');
        free(table->cells[i]);
    }
    free(table->cells);
    table->cells = NULL;
    table->count = table->room = 0;
    return !table->is_out_of_memory;
}
