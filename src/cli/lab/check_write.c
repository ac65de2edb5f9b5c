/* The checker's answer as text and as JSON. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/lab/check.h"

static void write_grouped(FILE *out, uint64_t number)
{
    char digits[32];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) fputc(',', out);
        fputc(digits[i], out);
    }
}

/* ---- Bounds ---- */

static void write_clocks(FILE *out, const struct check_config *config)
{
    static const char *const names[] = {"slow", "true", "fast"};
    fputs(config->rate || !config->rates ? ", clocks" : ", clocks slow, true and fast", out);
    if (!config->rates) fputs(" true", out);
    for (uint32_t i = 0; config->rate && i < config->cluster->count; i++)
        fprintf(out, "%s %s", i ? "," : "", names[config->rate[i]]);
}

void check_write_bounds(FILE *out, const struct check_request *request, const struct check_result *result)
{
    const struct check_config *config = &request->config;
    bool any = false;
    for (int i = 0; i < CHECK_BUDGETS; i++) {
        if (!config->budget[i]) continue;
        fprintf(out, "%s%s ", any ? ", " : "", check_budget_name((enum check_budget)i));
        if (config->budget[i] == CHECK_ANY)
            fputs("any", out);
        else
            fprintf(out, "%u", config->budget[i]);
        any = true;
    }
    if (!any) fputs("no faults", out);
    const uint32_t records = config->cluster->record_count;
    if (records) fprintf(out, "; the members change up to %u time%s", records, records == 1 ? "" : "s");
    if (config->terms) fprintf(out, "; terms up to %" PRIu64, config->terms);
    if (config->flight) fprintf(out, "; at most %u messages under way", config->flight);
    if (config->depth) fprintf(out, "; at most %u moves", config->depth);
    if (config->time == CHECK_TICKS) {
        fprintf(out, "; ticks of %g ms", (double)config->tick / 1e6);
        if (config->horizon) fprintf(out, ", %u of them", config->horizon);
        if (config->rounds) fputs(", a message takes one tick", out);
        if (config->late) fprintf(out, ", messages late by %u at most", config->late);
        write_clocks(out, config);
    } else if (config->algorithm->timer_count) {
        fputs("; timers at any moment", out);
    }
    if (config->algorithm->beats) fputs("; equal messages under way count once", out);
    if (result->permutations > 1)
        fprintf(out, "; worlds equal under %u renamings are one", result->permutations);
}

/* ---- Text and JSON ---- */

static uint32_t moves_of(const struct check_path *path)
{
    uint32_t moves = 0;
    for (uint32_t i = 0; i < path->count; i++) moves += path->moves[i].type != CHECK_START;
    return moves;
}

/* A copy and a loss are steps of their own, and what is left in flight at rest is cleared away: so there may be more steps
 * than moves. A delay, and a hop that fails, have moves without a step. */
static uint32_t steps_of(const struct check_request *request, const struct check_result *result)
{
    char *text = NULL;
    size_t size = 0;
    uint32_t steps = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) check_write_moves(out, request, result);
    if (!out || fclose(out) != 0) return 0;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        steps += strncmp(line, "step ", 5) == 0 && strncmp(line, "step loop", 9) != 0;
    free(text);
    return steps;
}

static void write_broken(FILE *out, const struct check_request *request, const struct check_result *result)
{
    const uint32_t moves = moves_of(&result->path), steps = steps_of(request, result);
    fprintf(out, "%s is BROKEN, after %u moves", check_property_name(result->broken), moves);
    if (steps != moves) fprintf(out, " (%u steps)", steps);
    fprintf(out, ": %s\n", check_property_text(result->broken));
}

/* Returns how many there are. */
static uint32_t write_properties(FILE *out, uint32_t properties)
{
    uint32_t count = 0;
    for (int i = 0; i < CHECK_PROPERTIES; i++)
        if (properties & 1u << i)
            fprintf(out, "%s%s", count++ ? ", " : "", check_property_name((enum check_property)i));
    return count;
}

static const uint32_t at_rest = 1u << CHECK_AGREEMENT | 1u << CHECK_BEST | 1u << CHECK_GROUPS,
                      eventually = 1u << CHECK_RESTS | 1u << CHECK_ELECTS, of_leaders = check_always;

uint32_t check_vacuous(const struct check_request *request, const struct check_result *result)
{
    const uint32_t idle = (result->resting ? 0 : at_rest) | (result->has_led ? 0 : of_leaders);
    return result->verdict == CHECK_BROKEN ? 0 : request->config.properties & idle;
}

bool check_is_answered(const struct check_request *request, const struct check_result *result)
{
    const bool is_exhausted =
        result->verdict == CHECK_HOLDS || (result->exhausted > 0 && !(request->config.properties & eventually));
    return is_exhausted && check_vacuous(request, result) != request->config.properties;
}

static void write_holding(FILE *out, uint32_t properties)
{
    fputs(write_properties(out, properties) == 1 ? " holds" : " hold", out);
}

/* What the limits allowed, and what one move more would cost. */
static void write_stop(FILE *out, const struct check_result *result)
{
    const double factor = result->growth;
    fprintf(out, "  stopped     %s; ", result->text);
    write_grouped(out, result->frontier);
    fputs(" worlds wait", out);
    if (factor > 1 && result->seconds > 0)
        fprintf(out, ". One move more: about %.1f times as many worlds, %.0f s, %.1f GB", factor,
                result->seconds * factor, (double)result->memory * factor / 1e9);
    fputs(". Allow more with --budget and --memory, or ask for less: --terms, --depth, fewer faults\n", out);
}

/* "with any loss and duplication, terms up to 1: one-per-term holds in all 76,420 worlds; 2: the time is used up" */
static void write_further(FILE *out, const struct check_request *request)
{
    const struct check_further *further = &request->further;
    if (!further->was_tried) return;
    fprintf(out, "  further     %s %" PRIu64 ": ",
            further->in_rounds ? "in rounds (a message takes one tick), ticks up to"
                               : "with any loss and duplication, terms up to",
            further->bound ? further->bound : further->next);
    if (further->states) {
        write_holding(out, request->config.properties & check_always);
        fputs(" in all ", out);
        write_grouped(out, further->states);
        fputs(" worlds", out);
    } else {
        fputs(further->bound ? "nobody leads" : further->why, out);
    }
    if (further->bound && further->next && further->next != further->bound)
        fprintf(out, "; %" PRIu64 ": %s", further->next, further->why);
    fputc('\n', out);
}

static void write_vacuous(FILE *out, const struct check_request *request, const struct check_result *result)
{
    const uint32_t vacuous = check_vacuous(request, result);
    if (vacuous & at_rest) {
        fputs("  vacuous     ", out);
        write_properties(out, vacuous & at_rest);
        fputs(": no world within the bounds is at rest\n", out);
    }
    if (vacuous & of_leaders) {
        fputs("  vacuous     ", out);
        write_properties(out, vacuous & of_leaders);
        fputs(": nobody leads in any world within the bounds\n", out);
    }
}

static void write_verdict(FILE *out, const struct check_request *request, const struct check_result *result)
{
    const struct check_config *config = &request->config;
    fprintf(out, "%s, %u nodes: ", config->algorithm->name, config->cluster->count);
    switch (result->verdict) {
    case CHECK_HOLDS:
    case CHECK_STOPPED:
        if (!check_is_answered(request, result)) {
            fprintf(out, "cannot tell: %s\n",
                    result->verdict == CHECK_STOPPED ? result->text
                                                     : "what was asked is vacuous within the bounds");
            return;
        }
        write_holding(out, config->properties & ~check_vacuous(request, result));
        if (result->verdict == CHECK_HOLDS)
            fputs(" in every world within the bounds\n", out);
        else
            fprintf(out, " in every world that %u moves reach\n", result->exhausted);
        return;
    case CHECK_BROKEN: write_broken(out, request, result); return;
    case CHECK_REFUSED: fprintf(out, "%s\n", result->text); return;
    }
}

void check_write_text(FILE *out, const struct check_request *request, const struct check_result *result)
{
    write_verdict(out, request, result);
    if (result->verdict == CHECK_BROKEN) {
        fputc('\n', out);
        check_write_moves(out, request, result);
        fputc('\n', out);
    }
    fputs("  bounds      ", out);
    check_write_bounds(out, request, result);
    fputs("\n  explored    ", out);
    write_grouped(out, result->states);
    fputs(" worlds, ", out);
    write_grouped(out, result->moves);
    fprintf(out, " moves, to depth %u", result->depth);
    if (result->verdict == CHECK_HOLDS) fputs("; nothing left on the frontier", out);
    if (result->cut) {
        fputs("; ", out);
        write_grouped(out, result->cut);
        fputs(" moves beyond a bound were not made", out);
        if (result->verdict == CHECK_HOLDS && request->config.properties & eventually)
            fputs(", and all may yet be well beyond it", out);
    }
    if (result->covered) {
        fputs("; ", out);
        write_grouped(out, result->covered);
        fputs(" successors were covered by richer worlds", out);
    }
    fputc('\n', out);
    if (result->verdict == CHECK_STOPPED) write_stop(out, result);
    write_further(out, request);
    write_vacuous(out, request, result);
    fputs("  made of     ", out);
    write_grouped(out, result->locals);
    fputs(" local states, ", out);
    write_grouped(out, result->messages);
    fputs(" messages; ", out);
    write_grouped(out, result->resting);
    fputs(" worlds at rest\n  took        ", out);
    const double per_second = result->seconds > 0 ? (double)result->states / result->seconds : 0;
    fprintf(out, "%.2f s, %.2f million worlds a second, %.0f MB\n", result->seconds, per_second / 1e6,
            (double)result->memory / 1e6);
}

static json_t *json_properties(uint32_t properties)
{
    json_t *names = json_array();
    for (int i = 0; i < CHECK_PROPERTIES; i++)
        if (properties & 1u << i)
            json_array_append_new(names, json_string(check_property_name((enum check_property)i)));
    return names;
}

int check_write_json(FILE *out, const struct check_request *request, const struct check_result *result)
{
    static const char *const verdicts[] = {"holds", "broken", "stopped", "refused"};
    const struct check_config *config = &request->config;
    json_t *properties = json_properties(config->properties), *budgets = json_object();
    for (int i = 0; i < CHECK_BUDGETS; i++)
        json_object_set_new(budgets, check_budget_name((enum check_budget)i), json_integer(config->budget[i]));
    json_t *root = json_pack("{s:s, s:I, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I}",
                             "algorithm", config->algorithm->name, "nodes", (json_int_t)config->cluster->count,
                             "verdict", verdicts[result->verdict], "properties", properties, "budget", budgets,
                             "states", (json_int_t)result->states, "moves", (json_int_t)result->moves,
                             "frontier", (json_int_t)result->frontier, "cut", (json_int_t)result->cut, "depth",
                             (json_int_t)result->depth, "local_states", (json_int_t)result->locals, "messages",
                             (json_int_t)result->messages, "resting", (json_int_t)result->resting, "seconds",
                             result->seconds, "memory_bytes", (json_int_t)result->memory);
    if (!root) return -1;
    if (result->verdict == CHECK_BROKEN) {
        json_object_set_new(root, "broken", json_string(check_property_name(result->broken)));
        json_object_set_new(root, "length", json_integer(moves_of(&result->path)));
        json_object_set_new(root, "steps", json_integer(steps_of(request, result)));
    }
    if (result->text[0]) json_object_set_new(root, "text", json_string(result->text));
    if (result->verdict == CHECK_STOPPED)
        json_object_set_new(root, "exhausted_moves", json_integer(result->exhausted));
    if (request->further.was_tried)
        json_object_set_new(
            root, "further",
            json_pack("{s:s, s:I, s:I}", "bound", request->further.in_rounds ? "ticks" : "terms", "exhausted",
                      (json_int_t)request->further.bound, "states", (json_int_t)request->further.states));
    json_object_set_new(root, "vacuous", json_properties(check_vacuous(request, result)));
    const int status = cli_put_json(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(root);
    fputc('\n', out);
    return status;
}
