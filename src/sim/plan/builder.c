/* Parsing the parts of settings, with error messages that point at the mistake. */
#include "sim/plan/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

enum { ID_LIST_SHOWN = 12 };

/* ---- Errors ---- */

int build_fail_at(struct builder *b, const char *at, const char *format, ...)
{
    char what[340], where[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const struct sim_setting *s = b->now;
    if (!s) {
        snprintf(where, sizeof where, "%s", b->settings->file ? b->settings->file : "");
    } else if (s->line) {
        const size_t offset = at ? (size_t)(at - s->value) : 0;
        snprintf(where, sizeof where, "%.100s:%u:%zu: %s", b->settings->file, s->line, s->column + offset,
                 s->key);
    } else {
        snprintf(where, sizeof where, "--%s %.100s", s->key, b->whole ? b->whole : s->value);
    }
    snprintf(b->error->text, sizeof b->error->text, "%s%s%s", where, *where ? ": " : "", what);
    return -1;
}

int build_out_of_memory(struct builder *b)
{
    return build_fail_at(b, NULL, "out of memory");
}

static int unknown_id(struct builder *b, const char *at, uint64_t id)
{
    char list[200] = "";
    size_t used = 0;
    const struct el_cluster *cluster = &b->plan->cluster;
    for (el_node n = 1; n <= cluster->count && n <= ID_LIST_SHOWN && used < sizeof list - 24; n++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%llu", n > 1 ? ", " : "",
                                 (unsigned long long)el_id(cluster, n));
    return build_fail_at(b, at, "no node has the id %llu; the ids are %s%s", (unsigned long long)id, list,
                         cluster->count > ID_LIST_SHOWN ? ", …" : "");
}

/* ---- Settings by key ---- */

const struct sim_setting *build_last_of(const struct builder *b, const char *key)
{
    const struct sim_setting *found = NULL;
    for (size_t i = 0; i < b->settings->count; i++)
        if (strcmp(b->settings->list[i].key, key) == 0) found = &b->settings->list[i];
    return found;
}

int build_once(struct builder *b, const char *key, build_reader *read)
{
    b->now = build_last_of(b, key);
    const int status = b->now ? read(b, b->now->value) : 0;
    if (status == 0) b->now = NULL;
    return status;
}

int build_each(struct builder *b, const char *key, build_reader *read)
{
    for (size_t i = 0; i < b->settings->count; i++) {
        b->now = &b->settings->list[i];
        if (strcmp(b->now->key, key) == 0 && read(b, b->now->value) != 0) return -1;
    }
    b->now = NULL;
    return 0;
}

/* ---- Pieces of values ---- */

int build_read_node(struct builder *b, const char **at, el_node *node)
{
    uint64_t id = 0;
    skip_space(at);
    const char *start = *at;
    if (!units_read_number(at, &id))
        return build_fail_at(b, start, "expected the id of a node, not '%.20s'", start);
    *node = sim_plan_node(b->plan, id);
    return *node ? 0 : unknown_id(b, start, id);
}

int build_read_node_or_all(struct builder *b, const char **at, el_node *node)
{
    *node = EL_NOBODY;
    return parse_text(at, "all") ? 0 : build_read_node(b, at, node);
}

int build_read_node_or_leader(struct builder *b, const char **at, el_node *node)
{
    *node = EL_NOBODY;
    return parse_text(at, "leader") ? 0 : build_read_node(b, at, node);
}

int build_read_time(struct builder *b, const char **at, sim_time *time)
{
    if (**at == '-') return build_fail_at(b, *at, "a time cannot be before 0");
    if (!parse_time(at, b->plan->unit, time, NULL))
        return build_fail_at(
            b, *at, "expected a time such as 4, 2.5 or 150ms, at most a hundred days, not '%.20s'", *at);
    return 0;
}

int build_read_at(struct builder *b, const char **at, sim_time *time)
{
    if (!parse_char(at, '@'))
        return build_fail_at(b, *at, "the time is missing: ID@T, with T in message delays or as 150ms");
    return build_read_time(b, at, time);
}

int build_read_span(struct builder *b, const char **at, sim_time *from, sim_time *until)
{
    *from = 0;
    *until = SIM_NEVER;
    if (**at != '@') return 0;
    if (build_read_at(b, at, from) != 0) return -1;
    const char *start = *at;
    if (!parse_text(at, "..")) return 0;
    if (build_read_time(b, at, until) != 0) return -1;
    return *until > *from ? 0 : build_fail_at(b, start, "a span must end after it begins");
}

int build_read_more(struct builder *b, const char **at, bool *more)
{
    skip_space(at);
    *more = parse_char(at, ',');
    if (*more || **at == '\0') return 0;
    return build_fail_at(b, *at, "did not expect '%.20s' here", *at);
}

int build_read_whole(struct builder *b, const char *value, uint64_t *number)
{
    const char *at = value;
    if (units_read_number(&at, number) && parse_end(&at) && *number < EL_EPOCH_MAX) return 0;
    return build_fail_at(b, value, "expected a whole number below 2^53");
}

void *build_one_more(void *array_in_out, size_t *count, size_t size)
{
    void **array = array_in_out;
    if ((*count & (*count - 1)) == 0) { /* the array is full at 0, 1, 2, 4, 8 … */
        void *wider = realloc(*array, (*count ? 2 * *count : 1) * size);
        if (!wider) return NULL;
        *array = wider;
    }
    return (char *)*array + (*count)++ * size;
}

int build_read_only_time(struct builder *b, const char *value, sim_time *time)
{
    const char *at = value;
    if (build_read_time(b, &at, time) != 0) return -1;
    return parse_end(&at) ? 0 : build_fail_at(b, at, "expected a time and nothing behind it");
}
