/* Common helpers of the verbs: options, errors, colours. */
#define _GNU_SOURCE
#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/closest.h"
#include "base/kernel/memfd.h"
#include "cli/cli.h"
#include "elector.h"
#include "elector/core.h"
#include "sim/output/transcript.h"

int cli_usage_error(const char *verb, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "elector %s: ", verb);
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is begun in the line above
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return CLI_USAGE;
}

const char *cli_meant(const struct closest *closest)
{
    static char text[CLOSEST_MAX + 32];
    snprintf(text, sizeof text, closest->best[0] ? "; did you mean %s?" : ";%s", closest->best);
    return text;
}

const char *cli_meant_algorithm(const char *word)
{
    struct closest closest = closest_to(word);
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) closest_offer(&closest, all[i]->name, strlen(all[i]->name));
    return cli_meant(&closest);
}

/* Catches what the verb prints as its help. The size; 0: it cannot be caught. */
static size_t read_help(int (*run)(int argc, char **argv), const char *verb, char *text, size_t size)
{
    char *words[] = {(char *)(uintptr_t)verb, (char *)(uintptr_t) "--help", NULL};
    const int memory = memfd_new("elector-help"), before = dup(STDOUT_FILENO);
    ssize_t got = 0;
    if (memory >= 0 && before >= 0 && fflush(stdout) == 0 && dup2(memory, STDOUT_FILENO) >= 0) {
        (void)run(2, words);
        fflush(stdout);
        dup2(before, STDOUT_FILENO);
        got = pread(memory, text, size, 0);
    }
    if (memory >= 0) close(memory);
    if (before >= 0) close(before);
    return got > 0 ? (size_t)got : 0;
}

int cli_unknown(const char *verb, int (*run)(int argc, char **argv), const char *word)
{
    char text[16384], name[CLOSEST_MAX + 1];
    const size_t size = read_help(run, verb, text, sizeof text);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    struct closest closest = closest_to(name);
    for (size_t i = 0; i + 2 < size; i++) {
        const bool begins = text[i] == '-' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '[');
        size_t end = i;
        while (begins && end < size && (isalnum((unsigned char)text[end]) || text[end] == '-')) end++;
        if (end > i + 2) closest_offer(&closest, text + i, end - i);
    }
    return cli_usage_error(verb, "%s %s%s `elector %s --help` lists the options",
                           word[0] == '-' ? "unknown option" : "did not expect", word, cli_meant(&closest),
                           verb);
}

int cli_out_of_memory(const char *verb)
{
    fprintf(stderr, "elector %s: out of memory\n", verb);
    return CLI_CANNOT_TELL;
}

int cli_status_code(elector_status status)
{
    switch (status) {
    case ELECTOR_OK: return CLI_YES;
    case ELECTOR_REFUSED:
    case ELECTOR_NOT_LEADING: return CLI_NO;
    case ELECTOR_INVALID: return CLI_USAGE;
    default: return CLI_CANNOT_TELL;
    }
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

/* The number of bytes of the control character that the text begins with; 0: it is another. C2 80 to C2 9F is
 * U+0080 to U+009F, which some terminals obey as they obey an escape. */
static size_t control_size(const char *text, size_t size)
{
    const unsigned char c = (unsigned char)text[0];
    if (c < ' ' || c == 0x7F) return 1;
    return c == 0xC2 && size > 1 && (unsigned char)text[1] >= 0x80 && (unsigned char)text[1] < 0xA0 ? 2 : 0;
}

void cli_put_plain(const char *text)
{
    for (size_t left = strlen(text), size; left > 0; text += size, left -= size) {
        size = control_size(text, left);
        putchar(size ? '?' : *text);
        if (!size) size = 1;
    }
}

void cli_cell(const char *text, int width)
{
    int columns = 0;
    cli_put_plain(text);
    for (; *text; text++) columns += ((unsigned char)*text & 0xc0) != 0x80;
    for (; columns < width; columns++) putchar(' ');
}

/* jansson escapes what JSON demands, up to U+001F; a newline is its own and stands between values. It hands over
 * whole characters. */
static int put_json(const char *text, size_t left, void *out)
{
    for (size_t size; left > 0; text += size, left -= size) {
        size = *text == '\n' ? 0 : control_size(text, left);
        if (size)
            fprintf(out, "\\u%04X", (unsigned char)text[size - 1]);
        else
            putc(*text, out);
        if (!size) size = 1;
    }
    return ferror(out) ? -1 : 0;
}

int cli_put_json(const struct json_t *json, FILE *out, size_t flags)
{
    return json_dump_callback(json, put_json, out, flags);
}

int cli_finish(const char *verb, FILE *out, int status)
{
    if (fflush(out) == 0 && !ferror(out)) return status;
    fprintf(stderr, "elector %s: cannot write to standard output\n", verb);
    return CLI_CANNOT_TELL;
}
