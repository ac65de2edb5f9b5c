/* Common helpers of the verbs: options, errors, colours. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "sim/output/transcript.h"

int cli_usage_error(const char *verb, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "elector %s: ", verb);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return CLI_USAGE;
}

int cli_out_of_memory(const char *verb)
{
    fprintf(stderr, "elector %s: out of memory\n", verb);
    return CLI_CANNOT_TELL;
}

struct sim_style cli_style(void)
{
    const char *no_color = getenv("NO_COLOR");
    return (struct sim_style){.colour = isatty(STDOUT_FILENO) && !(no_color && *no_color)};
}

bool cli_option(int argc, char **argv, int *at, const char *name, const char **value)
{
    const char *word = argv[*at];
    const size_t length = strlen(name);
    if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, length) != 0) return false;
    const char *rest = word + 2 + length;
    if (*rest == '=') {
        *value = rest + 1;
        return true;
    }
    if (*rest != '\0') return false;
    *value = *at + 1 < argc ? argv[++*at] : NULL;
    return true;
}

bool cli_output(const char *verb, const char *value, bool *json)
{
    *json = value && strcmp(value, "json") == 0;
    if (*json || (value && strcmp(value, "text") == 0)) return true;
    cli_usage_error(verb, "--output is text or json%s%s", value ? ", not " : "", value ? value : "");
    return false;
}

void cli_cell(const char *text, int width)
{
    int columns = 0;
    for (; *text; text++) {
        putchar((unsigned char)*text < ' ' || *text == 127 ? '?' : *text);
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    }
    for (; columns < width; columns++) putchar(' ');
}

int cli_finish(const char *verb, FILE *out, int status)
{
    if (fflush(out) == 0 && !ferror(out)) return status;
    fprintf(stderr, "elector %s: cannot write to standard output\n", verb);
    return CLI_CANNOT_TELL;
}
