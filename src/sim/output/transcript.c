/*
 * The transcript: one line for each event that matters to a reader. A step's messages to many become one
 * line, and notes follow on the lines they explain.
 */
#include "sim/output/transcript.h"

#include <string.h>

#include "base/clock.h"
#include "sim/output/beliefs.h"
#include "sim/output/text.h"

enum { TIME_WIDTH = 8, LINE_WIDTH = 34, LINES_MAX = 64, ENDLESS_LINES = 100 };

static const char *const dim = "\033[2m", *const bold = "\033[1m", *const red = "\033[31m",
                         *const green = "\033[32m", *const plain = "\033[0m";

struct teller {
    FILE *out;
    const struct sim_plan *plan;
    const struct sim_trace *trace;
    struct sim_style style;
    sim_time shown; /* the last time that was printed */
    bool any;
    uint64_t lines, lines_max; /* printed or left out; how many to print */
};

static const char *ink(const struct sim_style style, const char *code)
{
    return style.colour ? code : "";
}

/* The number of columns of a UTF-8 text: continuation bytes take none. */
static int width(const char *text)
{
    int columns = 0;
    for (; *text; text++) columns += ((unsigned char)*text & 0xC0) != 0x80;
    return columns;
}

static void tell(struct teller *t, sim_time time, const char *line, const char *note, const char *colour)
{
    char when[SIM_TIME_TEXT] = "";
    if (t->lines++ >= t->lines_max) return;
    if (!t->any || time != t->shown) sim_time_text(t->plan, time, when);
    t->any = true;
    t->shown = time;
    fprintf(t->out, "%*s  %s%s%s", TIME_WIDTH, when, ink(t->style, colour), line,
            *colour ? ink(t->style, plain) : "");
    if (note) {
        const int gap = LINE_WIDTH - width(line);
        fprintf(t->out, "%*s%s%s%s", gap > 2 ? gap : 2, "", ink(t->style, dim), note, ink(t->style, plain));
    }
    fputc('\n', t->out);
}

static const char *colour_of(const struct sim_record *r)
{
    switch (r->what) {
    case SIM_CRASHED:
    case SIM_PARTED:
    case SIM_REFUSED:
    case SIM_DROPPED: return red;
    case SIM_VIEWED: return r->peer == r->node ? green : "";
    default: return "";
    }
}

/* Heartbeats and their answers are left out, except in a script, where each move counts. */
static bool is_routine(const struct teller *t, const struct sim_record *r)
{
    const bool message =
        r->what == SIM_SENT || r->what == SIM_DELIVERED || r->what == SIM_DROPPED || r->what == SIM_COPIED;
    return message && !t->plan->script && t->plan->algorithm->routine_kinds >> r->kind & 1u;
}

/* Some records have no line of their own: the note of the node that skips it reports a failed hop, and the note
 * "learns" reports a new follower. */
static bool is_told(const struct teller *t, const struct sim_record *r)
{
    const bool hops_return = t->plan->algorithm->needs & EL_NEEDS_HOP_ACKS;
    if (is_routine(t, r)) return false;
    switch ((enum sim_what)r->what) {
    case SIM_SAVED: return t->plan->disk.max != 0; /* without a write delay it has no line */
    case SIM_DROPPED: return !(hops_return && r->reason != SIM_LOST);
    case SIM_VIEWED: return r->peer == r->node;
    case SIM_NOTED: /* notes follow other lines */
    case SIM_DELIVERED:
    case SIM_RETURNED:
    case SIM_TIMED_OUT:
    case SIM_RESTED:
    case SIM_VIOLATED: return false;
    default: return true;
    }
}

static bool continues_broadcast(const struct sim_record *first, const struct sim_record *r)
{
    return r && r->what == SIM_SENT && r->cause == first->cause && r->kind == first->kind &&
           r->subject == first->subject && r->values[1] == first->values[1];
}

/* Writes copies of one message to many as one line. Returns the index of the last one. */
static uint64_t tell_broadcast(const struct teller *t, uint64_t index, uint64_t last, char line[SIM_TEXT])
{
    const struct sim_record first = *sim_trace_at(t->trace, index);
    char message[SIM_TEXT];
    size_t used =
        (size_t)snprintf(line, SIM_TEXT, "%llu → ", (unsigned long long)el_id(&t->plan->cluster, first.node));
    uint32_t copies = 0;
    while (index <= last && continues_broadcast(&first, sim_trace_at(t->trace, index))) {
        const struct sim_record *r = sim_trace_at(t->trace, index);
        if (copies < 8) {
            used += (size_t)snprintf(line + used, SIM_TEXT - used, "%s%llu", copies ? "," : "",
                                     (unsigned long long)el_id(&t->plan->cluster, r->peer));
        } else if (copies == 8) {
            used += (size_t)snprintf(line + used, SIM_TEXT - used, ",…");
        }
        copies++;
        index++;
    }
    snprintf(line + used, SIM_TEXT - used, "  %.100s", sim_message_text(t->plan, &first, message));
    return index - 1;
}

struct line {
    char text[SIM_TEXT], note[SIM_TEXT];
    const char *colour;
    bool lost; /* the line is about the network, not about the node */
};

struct page {
    struct line lines[LINES_MAX];
    uint32_t count;
    char pending[SIM_TEXT]; /* notes that wait for a line to follow */
};

static void add_note(char note[SIM_TEXT], const char *text)
{
    const size_t used = strlen(note);
    snprintf(note + used, SIM_TEXT - used, "%s%s", used ? "; " : "", text);
}

static void add_line(struct page *page, const char *text, const struct sim_record *r)
{
    if (page->count == LINES_MAX) return;
    struct line *line = &page->lines[page->count++];
    memcpy(line->text, text, SIM_TEXT);
    memcpy(line->note, page->pending, SIM_TEXT);
    line->colour = colour_of(r);
    line->lost = r->what == SIM_DROPPED;
    page->pending[0] = '\0';
}

/* The plan's heading already reports a leader that all members start with. */
static bool is_given(const struct teller *t, const struct sim_record *r)
{
    return r->cause == 0 && t->plan->incumbent != EL_NOBODY;
}

/* Collects the lines of one step: records first..last. A note follows the line that it explains. */
static void gather(const struct teller *t, uint64_t first, uint64_t last, struct page *page)
{
    char text[SIM_TEXT];
    for (uint64_t i = first; i <= last; i++) {
        const struct sim_record *r = sim_trace_at(t->trace, i);
        if (r->what == SIM_NOTED && !is_given(t, r)) add_note(page->pending, sim_note_text(t->plan, r, text));
        if (!is_told(t, r)) continue;
        if (r->what == SIM_SENT) {
            i = tell_broadcast(t, i, last, text);
        } else {
            sim_record_text(t->plan, r, text);
        }
        add_line(page, text, r);
    }
}

/* Printed even if it had no effect. */
static bool is_reaction(const struct teller *t, const struct sim_record *r)
{
    if (is_routine(t, r)) return false;
    if (r->what == SIM_TIMED_OUT) return t->plan->script;
    return r->what == SIM_DELIVERED || r->what == SIM_RETURNED;
}

static void tell_step(struct teller *t, const struct sim_record *trigger, uint64_t first, uint64_t last)
{
    struct page page = {.count = 0};
    char text[SIM_TEXT] = "";
    gather(t, first, last, &page);
    struct line *bottom = page.count ? &page.lines[page.count - 1] : NULL;
    while (bottom > page.lines && bottom->lost) bottom--;
    if (page.pending[0] && bottom) { /* a note about the last message */
        add_note(bottom->note, page.pending);
    } else if (page.pending[0]) {
        snprintf(text, sizeof text, "%llu %.200s", (unsigned long long)el_id(&t->plan->cluster, trigger->node),
                 page.pending);
    } else if (page.count == 0 && is_reaction(t, trigger)) {
        sim_record_text(t->plan, trigger, text);
    }
    for (uint32_t i = 0; i < page.count; i++) {
        const struct line *line = &page.lines[i];
        tell(t, trigger->time, line->text, line->note[0] ? line->note : NULL, line->colour);
    }
    if (text[0]) tell(t, trigger->time, text, NULL, "");
}

/* The first actions of a process at its start have no event before them. */
static bool opens_the_story(const struct sim_record *r)
{
    const bool done =
        r->what == SIM_SENT || r->what == SIM_NOTED || r->what == SIM_VIEWED || r->what == SIM_SAVED;
    return done && r->cause == 0;
}

static bool is_part_of_step(const struct teller *t, const struct sim_record *r, uint64_t trigger,
                            uint64_t index)
{
    const struct sim_record *first = sim_trace_at(t->trace, trigger);
    const bool waited = first->what == SIM_SAVED && r->cause == first->cause; /* waited for the disk */
    const bool starts = opens_the_story(first) && opens_the_story(r) && r->node == first->node;
    if (r->time != first->time) return false;
    switch (r->what) {
    case SIM_SENT: return r->cause == trigger || waited || starts;
    case SIM_NOTED:
    case SIM_VIEWED:
    case SIM_SAVED: return r->cause == trigger || starts;
    case SIM_DROPPED: /* lost at once, not on arrival */
        return r->reason != SIM_DEAD && r->cause >= trigger && r->cause < index;
    case SIM_COPIED: return r->cause >= trigger && r->cause < index;
    case SIM_VIOLATED: return true;
    default: return false;
    }
}

static uint64_t end_of_step(const struct teller *t, uint64_t trigger)
{
    uint64_t last = trigger;
    while (last < t->trace->count && is_part_of_step(t, sim_trace_at(t->trace, last + 1), trigger, last + 1))
        last++;
    return last;
}

void sim_write_transcript(FILE *out, const struct sim_world *world, struct sim_style style)
{
    struct teller t = {.out = out,
                       .plan = sim_world_plan(world),
                       .trace = sim_world_trace(world),
                       .style = style,
                       .lines_max = sim_is_endless(sim_world_result(world)) ? ENDLESS_LINES : UINT64_MAX};
    char line[SIM_TEXT];
    for (uint64_t i = sim_trace_first(t.trace); i <= t.trace->count; i++) {
        const struct sim_record trigger = *sim_trace_at(t.trace, i);
        const uint64_t last = end_of_step(&t, i);
        const bool opening = opens_the_story(&trigger);
        if (!opening && is_told(&t, &trigger))
            tell(&t, trigger.time, sim_record_text(t.plan, &trigger, line), NULL, colour_of(&trigger));
        if (opening || last > i || is_reaction(&t, &trigger)) tell_step(&t, &trigger, i + !opening, last);
        i = last;
    }
    if (t.lines > t.lines_max)
        fprintf(out, "%*s  … and %llu lines more: it does not come to rest (--trace FILE has every event)\n",
                TIME_WIDTH, "", (unsigned long long)(t.lines - t.lines_max));
}

/* ---- The summary ---- */

/* "4 T   (T = 1 ms)", or "40 ms"; an endless run has none, and says where it was cut. */
static void write_turnaround(FILE *out, const struct sim_plan *plan, const struct sim_result *result)
{
    char time[SIM_TIME_TEXT];
    const char *unit = plan->in_units ? " T" : "";
    if (sim_is_endless(result)) {
        fprintf(out, "  turnaround  none: cut at %s%s, and still busy\n",
                sim_time_text(plan, result->ended, time), unit);
        return;
    }
    fprintf(out, "  turnaround  %s%s", sim_time_text(plan, result->turnaround, time), unit);
    if (plan->in_units) fprintf(out, "   (T = %g ms)", (double)plan->unit / (double)NS_PER_MS);
    fputc('\n', out);
}

static void write_messages(FILE *out, const struct sim_plan *plan, const struct sim_result *result)
{
    fprintf(out, "  messages    %llu", (unsigned long long)result->sent[0]);
    const char *separator = "   (";
    for (uint32_t kind = 1; kind <= plan->algorithm->kind_count; kind++) {
        if (!result->sent[kind]) continue;
        fprintf(out, "%s%s %llu", separator, plan->algorithm->kinds[kind],
                (unsigned long long)result->sent[kind]);
        separator = ", ";
    }
    fprintf(out, "%s\n", result->sent[0] ? ")" : "");
}

static void write_count(FILE *out, const char *what, uint64_t count)
{
    if (count) fprintf(out, "  %-12s%llu\n", what, (unsigned long long)count);
}

static void write_resource(FILE *out, const struct sim_result *result)
{
    fprintf(out, "  resource    %llu times admitted, %llu refused", (unsigned long long)result->admitted,
            (unsigned long long)result->refused);
    if (result->tokenless)
        fprintf(out, ", %llu without a token to check", (unsigned long long)result->tokenless);
    fputc('\n', out);
}

static void write_outcome(FILE *out, const struct sim_world *world, const struct sim_result *result)
{
    const struct sim_plan *plan = sim_world_plan(world);
    uint32_t alive = 0, naming = 0;
    for (el_node node = 1; node <= plan->cluster.count; node++) {
        alive += sim_world_alive(world, node);
        naming += sim_world_leader_of(world, node) != EL_NOBODY;
    }
    fprintf(out, "%s: ", plan->algorithm->name);
    if (alive == 0) {
        fprintf(out, "nobody is left\n");
    } else if (result->agreed && alive == 1) {
        fprintf(out, "%llu is the only one, and leads itself\n",
                (unsigned long long)el_id(&plan->cluster, result->leader));
    } else if (result->agreed) {
        fprintf(out, "all %u name %llu%s\n", alive, (unsigned long long)el_id(&plan->cluster, result->leader),
                sim_world_alive(world, result->leader) ? "" : ", which is dead");
    } else if (naming == 0) {
        fprintf(out, "none of the %u alive names a leader\n", alive);
    } else {
        fprintf(out, "the %u alive do not agree\n", alive);
        sim_write_beliefs(out, world);
    }
}

static void write_phases(FILE *out, const struct sim_plan *plan, const struct sim_result *result)
{
    char began[SIM_TIME_TEXT], took[SIM_TIME_TEXT];
    if (result->phase_count < 2) return;
    for (size_t i = 0; i < result->phase_count; i++) {
        const struct sim_phase *phase = &result->phases[i];
        fprintf(out, "  election %zu  from %s: %llu messages", i + 1, sim_time_text(plan, phase->began, began),
                (unsigned long long)phase->messages);
        if (phase->is_open)
            fputs(", without an end", out);
        else
            fprintf(out, ", turnaround %s", sim_time_text(plan, phase->ended - phase->began, took));
        if (phase->leader)
            fprintf(out, ", leader %llu", (unsigned long long)el_id(&plan->cluster, phase->leader));
        fputc('\n', out);
    }
}

static void write_expectations(FILE *out, const struct sim_plan *plan, const struct sim_result *result,
                               struct sim_style style)
{
    for (size_t i = 0; i < plan->expect_count; i++) {
        const bool holds = sim_expectation_holds(plan, result, &plan->expects[i]);
        fprintf(out, "  expected    %s: %s%s%s\n", plan->expects[i].text, ink(style, holds ? green : red),
                holds ? "yes" : "NO", ink(style, plain));
    }
}

void sim_write_summary(FILE *out, const struct sim_world *world, const struct sim_result *result,
                       struct sim_style style)
{
    const struct sim_plan *plan = sim_world_plan(world);
    fputs(ink(style, bold), out);
    write_outcome(out, world, result);
    fputs(ink(style, plain), out);
    write_messages(out, plan, result);
    write_turnaround(out, plan, result);
    write_phases(out, plan, result);
    write_count(out, "failed hops", result->failed_hops);
    write_count(out, "lost", result->lost);
    write_count(out, "copies", result->copies);
    if (plan->work) write_resource(out, result);
    if (plan->detector)
        fprintf(out, "  detector    %s, %llu messages\n", plan->detector->name,
                (unsigned long long)result->detector_sent);
    write_expectations(out, plan, result, style);
}

void sim_write_report(FILE *out, const struct sim_world *world, const struct sim_result *result,
                      struct sim_style style)
{
    const uint64_t seed = sim_world_plan(world)->seed;
    sim_write_summary(out, world, result, style);
    sim_write_violations(out, world, result, style);
    if (seed != 1) fprintf(out, "  seed        %llu\n", (unsigned long long)seed);
}
