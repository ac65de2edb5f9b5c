/* See page.h. */
#include "wasm/page.h"

#include <stdlib.h>
#include <string.h>

#include "sim/output/export.h"
#include "sim/output/groups_table.h"
#include "sim/output/import.h"
#include "sim/output/text.h"
#include "sim/output/transcript.h"

#define EXPORTED(name) __attribute__((export_name(#name)))

/* ---- Texts that are returned ---- */

static char *told; /* the last one */

/* Collects what `write` writes. "" if memory ran out. */
typedef void teller(FILE *out, const struct page_run *run);

static const char *tell(teller *write, const struct page_run *run)
{
    size_t size = 0;
    free(told);
    told = NULL;
    FILE *out = open_memstream(&told, &size);
    if (!out) return "";
    write(out, run);
    return fclose(out) == 0 && told ? told : "";
}

/* ---- Opening ---- */

static void keep_claim(void *context, uint64_t record, el_node leader, sim_time end)
{
    struct page_run *run = context;
    if (run->claim_count == run->claim_capacity) {
        const size_t capacity = run->claim_capacity ? 2 * run->claim_capacity : 256;
        void *claims = realloc(run->claims, capacity * sizeof *run->claims);
        if (!claims) return; /* a ring is drawn shorter than it is */
        run->claims = claims;
        run->claim_capacity = capacity;
    }
    run->claims[run->claim_count++] = (struct page_claim){end, (uint32_t)record, leader};
}

static bool is_same_view(const struct page_view *a, const struct page_view *b)
{
    return a->leader == b->leader && a->role == b->role && a->term == b->term;
}

static void keep_view(void *context, uint64_t record, el_node node, const struct el_view *view)
{
    struct page_run *run = context;
    const struct page_view told = {view->term, (uint32_t)record, node, view->leader, (uint32_t)view->role};
    if (is_same_view(&told, &run->last_views[node])) return;
    run->last_views[node] = told;
    if (run->view_count == run->view_capacity) {
        const size_t capacity = run->view_capacity ? 2 * run->view_capacity : 256;
        void *views = realloc(run->views, capacity * sizeof *run->views);
        if (!views) {
            run->is_out_of_memory = true;
            return;
        }
        run->views = views;
        run->view_capacity = capacity;
    }
    run->views[run->view_count++] = told;
}

static void fail(struct page_run *run, const char *text)
{
    snprintf(run->error.text, sizeof run->error.text, "%s", text);
}

static void run_world(struct page_run *run)
{
    struct sim_world *world = sim_world_new(&run->plan, SIM_KEEP_ALL);
    if (!world) {
        fail(run, "out of memory");
        return;
    }
    run->last_views = calloc(run->plan.cluster.count + 1, sizeof *run->last_views);
    if (!run->last_views) {
        sim_world_free(world);
        fail(run, "out of memory");
        return;
    }
    sim_world_listen_to_claims(world, keep_claim, run);
    sim_world_listen_to_views(world, keep_view, run);
    run->result = sim_world_run(world);
    if (run->result->out_of_memory || run->is_out_of_memory) {
        fail(run, "out of memory");
    } else if (run->result->error.text[0]) {
        run->error = run->result->error;
    } else if (run->result->events >= PAGE_EVENTS_MAX) {
        snprintf(
            run->error.text, sizeof run->error.text,
            "the run has more than %d events, too many for a page; end it sooner with `until T`, or use `elector sim`",
            PAGE_EVENTS_MAX);
    }
    if (run->error.text[0]) {
        sim_world_free(world);
    } else {
        run->world = world;
    }
}

/* Each group is a run of its own. The page shows the first, and the table of all. */
static void run_groups(struct page_run *run)
{
    run->grouped = true;
    if (sim_groups_build(&run->groups, &run->settings, &run->error) != 0) return;
    if (!sim_groups_run(&run->groups)) {
        fail(run, "out of memory");
        return;
    }
    const struct sim_group *first = &run->groups.list[0];
    if (sim_plan_build(&run->plan, &first->settings, &run->error) != 0) return;
    run->built = true;
    run_world(run);
}

static struct page_run *read_settings(const char *name, char *text, size_t size)
{
    struct page_run *run = calloc(1, sizeof *run);
    if (!run) return NULL;
    if (sim_settings_parse(&run->settings, name, text, size, &run->error) == 0 && run->settings.count == 0)
        fail(run, "an empty scenario: it needs at least a line `algorithm NAME`");
    return run;
}

EXPORTED(page_open) struct page_run *page_open(const char *name, char *text, size_t size)
{
    struct page_run *run = read_settings(name, text, size);
    if (!run || run->error.text[0]) return run;
    if (sim_groups_wanted(&run->settings)) {
        run_groups(run);
    } else if (sim_plan_build(&run->plan, &run->settings, &run->error) == 0) {
        run->built = true;
        run->plan.event_max = PAGE_EVENTS_MAX;
        run_world(run);
    }
    run->settings.file = NULL; /* the name is gone after this call */
    return run;
}

/* The page has checked what it read, but not that every number is one of a record. */
static void import(struct sim_world *world, const struct sim_record *record, uint32_t count)
{
    struct sim_record r = *record;
    if (r.node > count) r.node = EL_NOBODY;
    if (r.peer > count) r.peer = EL_NOBODY;
    if (r.subject > count) r.subject = EL_NOBODY;
    if (r.what == SIM_VIOLATED) {
        sim_import_violation(world, (enum el_violation)r.values[0], r.time, r.node, r.peer ? r.peer : r.node);
    } else {
        sim_import_record(world, &r);
    }
}

EXPORTED(page_open_records)
struct page_run *page_open_records(const char *name, char *text, size_t size, const struct sim_record *records,
                                   size_t count)
{
    struct page_run *run = read_settings(name, text, size);
    if (!run || run->error.text[0] || sim_plan_build(&run->plan, &run->settings, &run->error) != 0) return run;
    run->built = true;
    run->settings.file = NULL;
    struct sim_world *world = sim_import_new(&run->plan);
    if (!world) {
        fail(run, "out of memory");
        return run;
    }
    for (size_t i = 0; i < count; i++) import(world, &records[i], run->plan.cluster.count);
    run->world = world;
    run->result = sim_world_result(world);
    return run;
}

EXPORTED(page_close) void page_close(struct page_run *run)
{
    if (!run) return;
    sim_world_free(run->world);
    if (run->built) sim_plan_free(&run->plan);
    if (run->grouped) sim_groups_free(&run->groups);
    sim_settings_free(&run->settings);
    free(run->claims);
    free(run->views);
    free(run->last_views);
    free(run);
}

EXPORTED(page_allocate) void *page_allocate(size_t size)
{
    return malloc(size);
}

EXPORTED(page_release) void page_release(void *memory)
{
    free(memory);
}

/* ---- Reading ---- */

EXPORTED(page_error) const char *page_error(const struct page_run *run)
{
    return run->error.text;
}

static void write_catalogue(FILE *out, const struct page_run *run)
{
    (void)run;
    page_write_catalogue(out);
}

EXPORTED(page_catalogue) const char *page_catalogue(void)
{
    return tell(write_catalogue, NULL);
}

EXPORTED(page_describe) const char *page_describe(const struct page_run *run)
{
    return tell(page_write_run, run);
}

EXPORTED(page_records) const struct sim_record *page_records(const struct page_run *run)
{
    return sim_world_trace(run->world)->records;
}

EXPORTED(page_record_count) size_t page_record_count(const struct page_run *run)
{
    return (size_t)sim_world_trace(run->world)->count;
}

EXPORTED(page_claims) const struct page_claim *page_claims(const struct page_run *run)
{
    return run->claims;
}

EXPORTED(page_claim_count) size_t page_claim_count(const struct page_run *run)
{
    return run->claim_count;
}

EXPORTED(page_views) const struct page_view *page_views(const struct page_run *run)
{
    return run->views;
}

EXPORTED(page_view_count) size_t page_view_count(const struct page_run *run)
{
    return run->view_count;
}

EXPORTED(page_record_text) const char *page_record_text(const struct page_run *run, size_t index)
{
    static char text[SIM_TEXT];
    const struct sim_record *record = sim_trace_at(sim_world_trace(run->world), index);
    if (!record) return "";
    if (record->what == SIM_VIOLATED && record->number < run->result->violation_count)
        return sim_violation_text(&run->plan, &run->result->violations[record->number], text);
    return sim_record_text(&run->plan, record, text);
}

/* ---- Writing ---- */

static void write_transcript(FILE *out, const struct page_run *run)
{
    const struct sim_style plain = {0};
    if (run->grouped) {
        struct sim_group_totals totals;
        if (sim_groups_sum_up(&run->groups, &totals)) sim_write_groups(out, &run->groups, &totals);
        free(totals.led);
        return;
    }
    sim_write_transcript(out, run->world, plain);
    fputc('\n', out);
    sim_write_report(out, run->world, run->result, plain);
}

static void write_svg(FILE *out, const struct page_run *run)
{
    sim_write_svg(out, run->world);
}

static void write_trace(FILE *out, const struct page_run *run)
{
    sim_write_jsonl(out, run->world);
}

static void write_mermaid(FILE *out, const struct page_run *run)
{
    sim_write_mermaid(out, run->world);
}

static void write_shiviz(FILE *out, const struct page_run *run)
{
    sim_write_shiviz(out, run->world);
}

EXPORTED(page_transcript) const char *page_transcript(const struct page_run *run)
{
    return tell(write_transcript, run);
}

EXPORTED(page_svg) const char *page_svg(const struct page_run *run)
{
    return tell(write_svg, run);
}

EXPORTED(page_trace) const char *page_trace(const struct page_run *run)
{
    return tell(write_trace, run);
}

EXPORTED(page_mermaid) const char *page_mermaid(const struct page_run *run)
{
    return tell(write_mermaid, run);
}

EXPORTED(page_shiviz) const char *page_shiviz(const struct page_run *run)
{
    return tell(write_shiviz, run);
}
