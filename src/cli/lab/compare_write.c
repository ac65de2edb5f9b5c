/* The comparison as a table of at most a hundred columns, and as JSON. */
#include <jansson.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/lab/compare.h"

enum { CELL = 24, NAMES = 160 };

static const char *const trial_names[SIM_TROUBLES] = {"crash-safe", "partition-safe", "restart-safe", "stable"};
static const char *const trial_keys[SIM_TROUBLES] = {"crash_safe", "partition_safe", "restart_safe", "stable"};
static const char *const need_keys[SIM_NEEDS] = {"one-notices", "all-notice", "nobody-dies"};
static const char need_marks[SIM_NEEDS] = {' ', 'a', 'b'};

/* ---- Numbers ---- */

/* "29", "13.4": the quotient to one decimal, which is left out if it is 0. */
static const char *mean_text(uint64_t sum, uint64_t count, char text[CELL])
{
    const uint64_t tenths = (sum * 10 + count / 2) / count;
    if (tenths % 10) {
        snprintf(text, CELL, "%llu.%llu", (unsigned long long)(tenths / 10), (unsigned long long)(tenths % 10));
    } else {
        snprintf(text, CELL, "%llu", (unsigned long long)(tenths / 10));
    }
    return text;
}

/* In percent; never 0 if there is one, and never 100 unless it is all. */
static unsigned percent(uint64_t part, uint64_t whole)
{
    const uint64_t rounded = (part * 100 + whole / 2) / whole;
    if (part == 0 || part == whole) return part ? 100 : 0;
    return rounded == 0 ? 1 : rounded == 100 ? 99 : (unsigned)rounded;
}

/* "two-leaders, disagreement" */
static const char *violation_names(uint32_t violations, char text[NAMES])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t bit = 1; bit < EL_VIOLATIONS_END && used < NAMES; bit <<= 1)
        if (violations & bit)
            used += (size_t)snprintf(text + used, NAMES - used, "%s%s", used ? ", " : "",
                                     el_violation_name((enum el_violation)bit));
    return text;
}

static const char *fault_names(uint32_t faults, char text[NAMES])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t bit = 1; bit < EL_FAULTS_END && used < NAMES; bit <<= 1)
        if (faults & bit)
            used += (size_t)snprintf(text + used, NAMES - used, "%s%s", used ? ", " : "",
                                     el_fault_name((enum el_fault)bit));
    return text;
}

/* ---- The table ---- */

static const char *trial_text(const struct sim_trial *trial, enum sim_trouble trouble, char text[CELL])
{
    const char *mark = trial->unexcused ? "!" : "";
    if (sim_trial_is_vacuous(trial, trouble)) {
        snprintf(text, CELL, "vacuous%s", mark);
    } else if (trial->broken) {
        snprintf(text, CELL, "no (%u %%)%s", percent(trial->broken, trial->runs), mark);
    } else {
        snprintf(text, CELL, "yes%s%s", trial->promised ? "" : "*", mark);
    }
    return text;
}

static void write_cost(FILE *out, const struct compare_row *row)
{
    char messages[CELL] = "-", growth[CELL] = "-", turnaround[CELL] = "-";
    const struct sim_cost *cost = &row->cost, *twice = &row->twice;
    if (cost->runs) {
        mean_text(cost->messages, cost->runs, messages);
        mean_text(cost->turnaround, cost->runs * 1000, turnaround);
    }
    const bool comparable = cost->runs && twice->runs == cost->runs && twice->need == cost->need;
    if (comparable && cost->messages) mean_text(twice->messages, cost->messages, growth);
    fprintf(out, "%8s%c%s%-4s%7s", messages, cost->runs ? need_marks[cost->need] : ' ',
            growth[0] == '-' ? "  " : " ×", growth, turnaround);
}

static void write_row(FILE *out, const struct compare_row *row, uint32_t nodes)
{
    char text[CELL];
    fprintf(out, "%-20s", row->algorithm->name);
    if (!row->ran) {
        fprintf(out, "at most %u members\n", row->algorithm->count_max);
        return;
    }
    write_cost(out, row);
    snprintf(text, sizeof text, "%u of %u", row->survived, nodes);
    fprintf(out, "%9s", text);
    for (int trouble = 0; trouble < SIM_TROUBLES; trouble++)
        fprintf(out,
                trouble == SIM_COMEBACKS ? " %s\n"
                : trouble                ? " %-11s"
                                         : "  %-11s",
                trial_text(&row->trials[trouble], (enum sim_trouble)trouble, text));
}

/* ---- Below the table ---- */

static bool some_cost(const struct comparison *comparison, enum sim_need need)
{
    for (uint32_t i = 0; i < comparison->count; i++)
        if (comparison->rows[i].cost.runs && comparison->rows[i].cost.need == need) return true;
    return false;
}

static bool some_vacuous(const struct comparison *comparison)
{
    for (uint32_t i = 0; i < comparison->count; i++)
        for (int trouble = 0; trouble < SIM_TROUBLES; trouble++)
            if (comparison->rows[i].trials[trouble].runs &&
                sim_trial_is_vacuous(&comparison->rows[i].trials[trouble], (enum sim_trouble)trouble))
                return true;
    return false;
}

static bool some_trial(const struct comparison *comparison, bool broken, bool promised)
{
    for (uint32_t i = 0; i < comparison->count; i++)
        for (int trouble = 0; trouble < SIM_TROUBLES; trouble++) {
            const struct sim_trial *trial = &comparison->rows[i].trials[trouble];
            if (sim_trial_is_vacuous(trial, (enum sim_trouble)trouble)) continue;
            if (trial->runs && (trial->broken > 0) == broken && (broken || trial->promised == promised))
                return true;
        }
    return false;
}

static void write_legend(FILE *out, const struct comparison *comparison)
{
    fprintf(out, "\nmessages: the highest leads and dies, the lowest calls (or all notice by themselves).\n"
                 "×: how they grow with twice the nodes; ×2 is linear, ×4 quadratic.\n");
    if (some_cost(comparison, SIM_ALL_NOTICE)) fputs("a: where every detector reports the death.\n", out);
    if (some_cost(comparison, SIM_NOBODY_DIES))
        fputs("b: where nobody dies; after a death it elects nobody.\n", out);
    if (some_trial(comparison, false, true)) fputs("yes: in no run broken, as it promises.\n", out);
    if (some_trial(comparison, false, false)) fputs("yes*: in no run broken, though it promises less.\n", out);
    if (some_trial(comparison, true, false)) fputs("no: broken in this share of the runs.\n", out);
    if (some_vacuous(comparison))
        fputs("vacuous: in no run broken, but in none did any side of a partition elect a leader.\n", out);
    fputs("More: elector compare --help; elector algorithms NAME.\n", out);
}

/* ---- Contradictions ---- */

bool compare_contradicts(const struct comparison *comparison)
{
    for (uint32_t i = 0; i < comparison->count; i++)
        for (int trouble = 0; trouble < SIM_TROUBLES; trouble++)
            if (comparison->rows[i].trials[trouble].unexcused) return true;
    return false;
}

/* The first run that shows a contradiction, as options of `elector sim`. */
static bool tell_again(struct sim_settings *settings, const struct comparison *comparison,
                       const struct compare_row *row, enum sim_trouble trouble)
{
    return sim_story_of_trouble(settings, row->algorithm, trouble, &comparison->terms,
                                row->trials[trouble].run);
}

static void write_command(FILE *out, const struct sim_settings *settings)
{
    fprintf(out, "  elector sim %s", settings->list[0].value);
    for (size_t i = 1; i < settings->count; i++)
        fprintf(out, strchr(settings->list[i].value, '|') ? " --%s '%s'" : " --%s %s", settings->list[i].key,
                settings->list[i].value);
    fputc('\n', out);
}

static bool write_contradiction(FILE *out, const struct comparison *comparison, const struct compare_row *row,
                                enum sim_trouble trouble)
{
    const struct sim_trial *trial = &row->trials[trouble];
    struct sim_settings settings = {0};
    char violations[NAMES], faults[NAMES];
    fprintf(out,
            "\n! %s, %s: %llu of %llu runs broke what it promises. The first shows %s,\n"
            "  which its table does not expect of %s. To see it:\n",
            row->algorithm->name, trial_names[trouble], (unsigned long long)trial->unexcused,
            (unsigned long long)trial->runs, violation_names(trial->violations, violations),
            fault_names(trial->faults, faults));
    const bool told = tell_again(&settings, comparison, row, trouble);
    if (told) write_command(out, &settings);
    sim_settings_free(&settings);
    return told;
}

bool compare_write_text(FILE *out, const struct comparison *comparison)
{
    const struct sim_trial_terms *terms = &comparison->terms;
    fprintf(out, "%u nodes, %llu run%s for each cell from seed %llu; T is one message delay.\n\n", terms->nodes,
            (unsigned long long)terms->runs, terms->runs == 1 ? "" : "s", (unsigned long long)terms->seed);
    fprintf(out, "%-20s%8s%7s%7s%9s  %-11s %-11s %s\n", "", "", "", "", "", "crash-", "partition-", "restart-");
    fprintf(out, "%-20s%8s  ×%-4s%7s%9s  %-11s %-11s %-11s %s\n", "", "messages", "", "T", "survives", "safe",
            "safe", "safe", "stable");
    for (uint32_t i = 0; i < comparison->count; i++) write_row(out, &comparison->rows[i], terms->nodes);
    write_legend(out, comparison);
    for (uint32_t i = 0; i < comparison->count; i++)
        for (int trouble = 0; trouble < SIM_TROUBLES; trouble++)
            if (comparison->rows[i].trials[trouble].unexcused &&
                !write_contradiction(out, comparison, &comparison->rows[i], (enum sim_trouble)trouble))
                return false;
    return true;
}

/* ---- JSON ---- */

static json_t *json_cost(const struct sim_cost *cost)
{
    if (!cost->runs) return json_null();
    const double runs = (double)cost->runs;
    return json_pack("{s:s, s:f, s:f}", "story", need_keys[cost->need], "messages",
                     (double)cost->messages / runs, "turnaround", (double)cost->turnaround / runs / 1000);
}

static json_t *json_words(const char *text)
{
    json_t *words = json_array();
    while (*text) {
        const size_t length = strcspn(text, ",");
        json_array_append_new(words, json_stringn(text, length));
        text += length + strspn(text + length, ", ");
    }
    return words;
}

/* An array of words, so that no quoting is needed. */
static json_t *json_command(const struct comparison *comparison, const struct compare_row *row,
                            enum sim_trouble trouble)
{
    struct sim_settings settings = {0};
    json_t *words = json_pack("[s, s, s]", "elector", "sim", row->algorithm->name);
    const bool told = tell_again(&settings, comparison, row, trouble);
    for (size_t i = 1; told && i < settings.count; i++) {
        json_array_append_new(words, json_sprintf("--%s", settings.list[i].key));
        json_array_append_new(words, json_string(settings.list[i].value));
    }
    sim_settings_free(&settings);
    return words;
}

static json_t *json_trial(const struct comparison *comparison, const struct compare_row *row,
                          enum sim_trouble trouble)
{
    const struct sim_trial *trial = &row->trials[trouble];
    char names[NAMES];
    json_t *cell = json_pack("{s:b, s:b, s:I, s:I, s:b, s:I}", "holds", trial->broken == 0, "vacuous",
                             sim_trial_is_vacuous(trial, trouble), "runs", (json_int_t)trial->runs, "broken",
                             (json_int_t)trial->broken, "promised", trial->promised, "unexcused",
                             (json_int_t)trial->unexcused);
    if (!trial->unexcused) return cell;
    json_object_set_new(cell, "violations", json_words(violation_names(trial->violations, names)));
    json_object_set_new(cell, "faults", json_words(fault_names(trial->faults, names)));
    json_object_set_new(cell, "command", json_command(comparison, row, trouble));
    return cell;
}

static json_t *json_row(const struct comparison *comparison, const struct compare_row *row)
{
    json_t *object = json_pack("{s:s}", "algorithm", row->algorithm->name);
    if (!row->ran) {
        json_object_set_new(object, "members_max", json_integer(row->algorithm->count_max));
        return object;
    }
    json_object_set_new(object, "cost", json_cost(&row->cost));
    json_object_set_new(object, "cost_of_twice", json_cost(&row->twice));
    json_object_set_new(object, "survives", json_integer(row->survived));
    for (int trouble = 0; trouble < SIM_TROUBLES; trouble++)
        json_object_set_new(object, trial_keys[trouble],
                            json_trial(comparison, row, (enum sim_trouble)trouble));
    return object;
}

bool compare_write_json(FILE *out, const struct comparison *comparison)
{
    const struct sim_trial_terms *terms = &comparison->terms;
    json_t *rows = json_array();
    for (uint32_t i = 0; i < comparison->count; i++)
        json_array_append_new(rows, json_row(comparison, &comparison->rows[i]));
    json_t *whole = json_pack("{s:i, s:I, s:I, s:o}", "nodes", (int)terms->nodes, "runs",
                              (json_int_t)terms->runs, "seed", (json_int_t)terms->seed, "algorithms", rows);
    if (!whole) return false;
    cli_put_json(whole, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    fputc('\n', out);
    json_decref(whole);
    return true;
}
