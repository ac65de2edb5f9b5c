/* The catalogue and a run as JSON. Keys are written in the order in which web/shared/engine.ts declares them. */
#include <stdio.h>

#include "elector/parts.h"
#include "sim/output/text.h"
#include "sim/output/transcript.h"
#include "wasm/page.h"

/* ---- Values ---- */

static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; text && *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') fputc('\\', out);
        if (c < ' ') {
            fprintf(out, "\\u%04x", c);
        } else {
            fputc(c, out);
        }
    }
    fputc('"', out);
}

static void put_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\":", key);
    put_string(out, text);
    fputc(',', out);
}

static void put_number(FILE *out, const char *key, uint64_t number)
{
    fprintf(out, "\"%s\":%llu,", key, (unsigned long long)number);
}

/* As text: a script of the page keeps only 53 bits of a number. */
static void put_exactly(FILE *out, const char *key, uint64_t number)
{
    fprintf(out, "\"%s\":\"%llu\",", key, (unsigned long long)number);
}

static void put_flag(FILE *out, const char *key, bool flag)
{
    fprintf(out, "\"%s\":%s,", key, flag ? "true" : "false");
}

/* Lists leave a comma after the last element, which an empty object or null closes. */
static void end_list(FILE *out)
{
    fputs("null],", out);
}

static void put_texts(FILE *out, const char *key, const char *const *texts, uint32_t count)
{
    fprintf(out, "\"%s\":[", key);
    for (uint32_t i = 0; i < count; i++) {
        put_string(out, texts[i]);
        fputc(',', out);
    }
    end_list(out);
}

/* ---- The catalogue ---- */

static void put_options(FILE *out, const struct el_algorithm *algorithm)
{
    static const char *const kinds[] = {
        [EL_FLAG] = "flag",         [EL_CHOICE] = "choice",        [EL_NUMBER] = "number",
        [EL_DURATION] = "duration", [EL_MEMBERS] = "members",      [EL_ROLES] = "members",
        [EL_OBSERVERS] = "members", [EL_VOTELESS_LIST] = "members"};
    fputs("\"options\":[", out);
    for (uint32_t i = 0; i < algorithm->option_count; i++) {
        const struct el_option *option = &algorithm->options[i];
        fputc('{', out);
        put_text(out, "name", option->name);
        put_text(out, "kind", kinds[option->kind]);
        put_text(out, "choices", option->choices);
        put_text(out, "preset", option->preset);
        put_text(out, "help", option->help);
        fputs("\"end\":0},", out);
    }
    end_list(out);
}

static void put_notes(FILE *out, const struct el_algorithm *algorithm)
{
    fputs("\"notes\":[", out);
    for (uint32_t i = 0; i < algorithm->note_count; i++) {
        put_string(out, algorithm->notes[i].name);
        fputc(',', out);
    }
    end_list(out);
}

static void put_algorithm(FILE *out, const struct el_algorithm *algorithm)
{
    fputc('{', out);
    put_text(out, "name", algorithm->name);
    put_text(out, "summary", algorithm->summary);
    put_text(out, "idea", algorithm->idea);
    put_text(out, "reference", algorithm->reference);
    put_flag(out, "ring", algorithm->ring);
    put_flag(out, "beats", algorithm->beats);
    put_flag(out, "majority", algorithm->majority);
    put_flag(out, "store", algorithm->store);
    put_number(out, "countMax", algorithm->count_max);
    put_number(out, "claims", algorithm->claims);
    put_number(out, "routineKinds", algorithm->routine_kinds);
    put_number(out, "setKinds", algorithm->set_kinds);
    put_flag(out, "transfers", algorithm->on_request != NULL);
    put_texts(out, "kinds", algorithm->kinds + 1, algorithm->kind_count);
    put_texts(out, "timers", algorithm->timers, algorithm->timer_count);
    put_texts(out, "facts", algorithm->facts, algorithm->fact_count);
    put_notes(out, algorithm);
    put_options(out, algorithm);
    fputs("\"end\":0},", out);
}

static void put_registry(FILE *out, const char *key,
                         const struct el_algorithm *const *(*registry)(uint32_t *count))
{
    uint32_t count = 0;
    const struct el_algorithm *const *all = registry(&count);
    fprintf(out, "\"%s\":[", key);
    for (uint32_t i = 0; i < count; i++) put_algorithm(out, all[i]);
    end_list(out);
}

static void put_settings(FILE *out)
{
    size_t count = 0;
    const struct sim_key *keys = sim_keys(&count);
    fputs("\"settings\":[", out);
    for (size_t i = 0; i < count; i++) {
        fputc('{', out);
        put_text(out, "name", keys[i].name);
        put_text(out, "argument", keys[i].argument);
        put_text(out, "help", keys[i].help);
        fputs("\"end\":0},", out);
    }
    end_list(out);
}

static void put_violation_kinds(FILE *out)
{
    fputs("\"violations\":[", out);
    for (uint32_t kind = 1; kind < EL_VIOLATIONS_END; kind <<= 1) {
        fputc('{', out);
        put_number(out, "kind", kind);
        put_text(out, "name", el_violation_name((enum el_violation)kind));
        put_text(out, "meaning", sim_violation_meaning((enum el_violation)kind));
        fputs("\"end\":0},", out);
    }
    end_list(out);
}

/* What an algorithm may promise, and the violations that break each promise. */
static void put_promises(FILE *out)
{
    static const struct {
        const char *text;
        uint32_t claims; /* 0: every run must keep it */
        uint32_t violations;
    } promises[] = {
        {"one leader at a time", EL_CLAIMS_ONE_LEADER, EL_TWO_LEADERS},
        {"all agree at rest", EL_CLAIMS_AGREEMENT | EL_CLAIMS_GROUPS,
         EL_DISAGREEMENT | EL_NO_LEADER | EL_DEAD_LEADER},
        {"the best leads", EL_CLAIMS_BEST, EL_NOT_BEST},
        {"one leader a term", EL_CLAIMS_ONE_PER_TERM, EL_SAME_TERM},
        {"a leader stays", EL_CLAIMS_STABLE, EL_DEMOTED},
        {"terms rise", EL_CLAIMS_RISING, EL_TOKEN_FELL},
        {"one decision a number", EL_CLAIMS_ONE_DECISION, EL_TWO_DECISIONS},
        {"everybody in turn", EL_CLAIMS_IN_ORDER, EL_OUT_OF_TURN},
        {"comes to rest", 0, EL_ENDLESS},
    };
    fputs("\"promises\":[", out);
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
        fputc('{', out);
        put_text(out, "text", promises[i].text);
        put_number(out, "claims", promises[i].claims);
        put_number(out, "violations", promises[i].violations);
        fputs("\"end\":0},", out);
    }
    end_list(out);
}

void page_write_catalogue(FILE *out)
{
    fputc('{', out);
    put_registry(out, "algorithms", el_algorithms);
    put_registry(out, "deciders", el_deciders);
    put_registry(out, "detectors", el_detectors);
    put_settings(out);
    put_violation_kinds(out);
    put_promises(out);
    fputs("\"end\":0}", out);
}

/* ---- A run ---- */

static void put_members(FILE *out, const struct sim_plan *plan)
{
    fputs("\"members\":[", out);
    for (el_node node = 1; node <= plan->cluster.count; node++) {
        fputc('{', out);
        put_exactly(out, "id", el_id(&plan->cluster, node));
        put_exactly(out, "attribute", el_rank_of(&plan->cluster, node).attribute);
        put_flag(out, "mayLead", el_may_lead(&plan->cluster, node));
        put_number(out, "rate", plan->rates ? plan->rates[node] : 1000000);
        fputs("\"end\":0},", out);
    }
    end_list(out);
}

static void put_breaks(FILE *out, const struct sim_plan *plan)
{
    fputs("\"breaks\":[", out);
    for (size_t i = 0; i < plan->break_count; i++) {
        const struct sim_break *gap = &plan->breaks[i];
        fputc('{', out);
        put_number(out, "from", gap->from);
        put_number(out, "to", gap->to);
        put_text(out, "text", gap->text);
        fputs("\"sides\":[", out);
        for (el_node node = 1; gap->side && node <= plan->cluster.count; node++)
            fprintf(out, "%u,", gap->side[node]);
        fputs("0]},", out);
    }
    end_list(out);
}

static void put_slows(FILE *out, const struct sim_plan *plan)
{
    fputs("\"slows\":[", out);
    for (size_t i = 0; i < plan->slow_count; i++) {
        const struct sim_slow *slow = &plan->slows[i];
        fputc('{', out);
        put_number(out, "from", slow->from);
        put_number(out, "to", slow->to);
        put_number(out, "extra", slow->extra);
        put_number(out, "begin", slow->begin);
        put_number(out, "finish", slow->end < SIM_TIME_MAX ? slow->end : SIM_TIME_MAX);
        fputs("\"end\":0},", out);
    }
    end_list(out);
}

static void put_violations(FILE *out, const struct page_run *run)
{
    char text[SIM_TEXT];
    fputs("\"violations\":[", out);
    for (uint32_t i = 0; i < run->result->violation_count; i++) {
        const struct sim_violation *violation = &run->result->violations[i];
        fputc('{', out);
        put_number(out, "kind", violation->kind);
        put_number(out, "record", violation->record);
        put_text(out, "text", sim_violation_text(&run->plan, violation, text));
        put_text(out, "meaning", sim_violation_told(violation, text));
        fputs("\"end\":0},", out);
    }
    end_list(out);
}

static void put_expectations(FILE *out, const struct page_run *run)
{
    fputs("\"expectations\":[", out);
    for (size_t i = 0; i < run->plan.expect_count; i++) {
        fputc('{', out);
        put_text(out, "text", run->plan.expects[i].text);
        put_flag(out, "holds", sim_expectation_holds(&run->plan, run->result, &run->plan.expects[i]));
        fputs("\"end\":0},", out);
    }
    end_list(out);
}

void page_write_run(FILE *out, const struct page_run *run)
{
    const struct sim_plan *plan = &run->plan;
    const struct sim_result *result = run->result;
    fputc('{', out);
    put_text(out, "algorithm", plan->algorithm->name);
    put_text(out, "detector", plan->detector ? plan->detector->name : "");
    put_number(out, "unit", plan->unit);
    put_flag(out, "inUnits", plan->in_units);
    put_number(out, "delayMax", plan->delay.max);
    put_number(out, "claims", plan->algorithm->claims | plan->judged);
    put_flag(out, "scripted", plan->script != SIM_UNSCRIPTED);
    put_number(out, "incumbent", plan->incumbent);
    put_exactly(out, "seed", plan->seed);
    put_number(out, "ended", result->ended);
    put_number(out, "events", result->events);
    put_number(out, "messages", result->sent[0]);
    put_number(out, "turnaround", result->turnaround);
    put_flag(out, "rested", result->came_to_rest);
    put_flag(out, "agreed", result->agreed);
    put_number(out, "leader", result->leader);
    put_number(out, "groups", run->grouped ? run->groups.count : 0);
    put_members(out, plan);
    put_breaks(out, plan);
    put_slows(out, plan);
    put_violations(out, run);
    put_expectations(out, run);
    fputs("\"end\":0}", out);
}
