/* elector help: prints a document, or the part of one that an error names. main.c has the verbs. */
#define _GNU_SOURCE /* memrchr */
#include <ctype.h>
#include <string.h>

#include "base/closest.h"
#include "cli/cli.h"
#include "cli/help_texts.h"

/* The name of a topic: "run" of "docs/run.md", "elector.conf" of "man/elector.conf.5.scd". */
static size_t topic_of(const struct cli_help_text *text, const char **name)
{
    const char *slash = strrchr(text->name, '/');
    *name = slash ? slash + 1 : text->name;
    const char *end = strrchr(*name, '.');
    if (strcmp(end, ".scd") == 0) end = memrchr(*name, '.', (size_t)(end - *name));
    return (size_t)(end - *name);
}

static bool is_page(const struct cli_help_text *text)
{
    return strncmp(text->name, "man/", 4) == 0;
}

/* As somebody or an error writes it: run, run.md, docs/run.md, elector.conf(5). README alone is the one of the tree. */
static bool is_named(const struct cli_help_text *text, const char *word, size_t size)
{
    const char *name;
    const size_t length = topic_of(text, &name), whole = strlen(text->name);
    if (strncmp(word, "./", 2) == 0) word += 2, size -= 2;
    if (size == whole && memcmp(word, text->name, size) == 0) return true;
    if (size < length || strncasecmp(word, name, length) != 0) return false;
    const char *rest = word + length;
    size -= length;
    if (size == 0) return true;
    if (is_page(text)) return size == 3 && rest[0] == '(' && rest[1] == name[length + 1] && rest[2] == ')';
    return size == 3 && memcmp(rest, ".md", 3) == 0;
}

/* ---- A part of a document ---- */

/* The anchor of a heading, as in a link: small letters, digits, - and _; blanks become -. */
static bool is_anchor(const char *heading, const char *end, const char *anchor)
{
    for (; heading < end; heading++) {
        const unsigned char c = (unsigned char)*heading;
        if (c < 0x80 && !isalnum(c) && c != '-' && c != '_' && c != ' ') continue;
        if (tolower(c == ' ' ? '-' : c) != (unsigned char)*anchor++) return false;
    }
    return *anchor == '\0';
}

/* From the heading with this anchor up to the next that is as high. False: there is none. */
static bool find_part(const char **begin, const char **end, const char *anchor)
{
    size_t level = 0;
    const char *from = NULL;
    bool in_code = false;
    for (const char *line = *begin; line < *end;) {
        const char *next = memchr(line, '\n', (size_t)(*end - line));
        next = next ? next : *end;
        const size_t depth = strspn(line, "#");
        if (strncmp(line, "```", 3) == 0) in_code = !in_code;
        if (!in_code && depth > 0 && line[depth] == ' ') {
            if (from && depth <= level) {
                *end = line;
                break;
            }
            if (!from && is_anchor(line + depth + 1, next, anchor)) {
                from = line;
                level = depth;
            }
        }
        line = next + 1;
    }
    if (from) *begin = from;
    return from != NULL;
}

/* ---- The verb ---- */

static const struct cli_help_text *find(const char *word, size_t size)
{
    for (unsigned i = 0; i < cli_help_text_count; i++)
        if (is_named(&cli_help_texts[i], word, size)) return &cli_help_texts[i];
    return NULL;
}

void cli_write_topics(FILE *out)
{
    size_t column = 0;
    for (unsigned i = 0; i < cli_help_text_count; i++) {
        const char *name;
        char topic[64];
        size_t length = topic_of(&cli_help_texts[i], &name);
        if (strcmp(cli_help_texts[i].name, "docs/README.md") == 0) continue;
        if (is_page(&cli_help_texts[i]))
            snprintf(topic, sizeof topic, "'%.*s(%c)'", (int)length, name, name[length + 1]);
        else
            snprintf(topic, sizeof topic, "%.*s", (int)length, name);
        length = strlen(topic);
        const bool begins = column == 0 || column + length + 2 > 100;
        fprintf(out, "%s%s", !begins ? "  " : column ? "\n    " : "    ", topic); /* deeper than the verbs */
        column = begins ? length + 4 : column + length + 2;
    }
    fputc('\n', out);
}

bool cli_has_topic(const char *word)
{
    return find(word, strcspn(word, "#")) != NULL;
}

void cli_offer_topics(struct closest *closest)
{
    for (unsigned i = 0; i < cli_help_text_count; i++) {
        const char *name;
        const size_t length = topic_of(&cli_help_texts[i], &name);
        closest_offer(closest, name, length);
    }
}

int cli_help_topic(const char *word)
{
    const size_t size = strcspn(word, "#");
    const struct cli_help_text *text = find(word, size);
    const char *begin = text->begin, *end = text->end;
    if (word[size] == '#' && !find_part(&begin, &end, word + size + 1))
        return cli_usage_error("help", "%s has no part '%s'; `elector help %.*s` prints all of it", text->name,
                               word + size + 1, (int)size, word);
    fwrite(begin, 1, (size_t)(end - begin), stdout);
    return cli_finish("help", stdout, CLI_YES);
}
