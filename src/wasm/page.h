/*
 * The simulator for the laboratory page: these functions are all that the page calls. A run is built from the text of a
 * scenario, or from the records of a trace, and is finished before page_open() returns; the page then moves through its
 * records. Texts are UTF-8 and end with a zero byte. A text that is returned belongs to the module and is valid until the
 * next call that returns one.
 *
 * src/wasm may know the simulator and the registries, and nothing of a browser. Start with page_open() in page.c.
 */
#ifndef ELECTOR_WASM_PAGE_H
#define ELECTOR_WASM_PAGE_H

#include "sim/plan/groups.h"
#include "sim/world/world.h"

/* A run with more events is refused: a browser has neither the memory nor the time. */
enum { PAGE_EVENTS_MAX = 1000000 };

/* When a leader's claim expires, from this record on. */
struct page_claim {
    sim_time end;
    uint32_t record;
    el_node leader;
};

/* What a node believes, from this record on. Only changes are kept; at first a node believes nothing. */
struct page_view {
    uint64_t term;
    uint32_t record; /* 0: from the beginning */
    el_node node, leader;
    uint32_t role; /* el_role */
};

struct page_run {
    struct sim_error error; /* "": none */
    struct sim_settings settings;
    struct sim_plan plan;
    bool built;
    struct sim_world *world; /* NULL if there is an error */
    const struct sim_result *result;
    struct page_claim *claims;
    size_t claim_count, claim_capacity;
    struct page_view *views;
    size_t view_count, view_capacity;
    struct page_view *last_views; /* [nodes + 1] */
    bool is_out_of_memory;        /* while the run was listened to */
    struct sim_groups groups;     /* if the scenario has groups; the world above is that of the first one */
    bool grouped;
};

/* Memory for the texts and records that the page hands in; it frees them. */
void *page_allocate(size_t size);
void page_release(void *memory);

/* Everything that may be chosen, as JSON: algorithms, detectors, settings, kinds of violations. */
const char *page_catalogue(void);

/* `name` stands for the file in errors. Both texts are read during the call only. NULL if memory ran out. */
struct page_run *page_open(const char *name, char *text, size_t size);
/* Records of a trace, as an array of struct sim_record; the scenario says algorithm, members and unit. */
struct page_run *page_open_records(const char *name, char *text, size_t size, const struct sim_record *records,
                                   size_t count);
void page_close(struct page_run *);

/* What is wrong with the scenario; "" if nothing is. Then none of the calls below may be made. */
const char *page_error(const struct page_run *);
/* The members, the result and what may be shown of the plan, as JSON. */
const char *page_describe(const struct page_run *);

const struct sim_record *page_records(const struct page_run *);
size_t page_record_count(const struct page_run *);
const struct page_claim *page_claims(const struct page_run *);
size_t page_claim_count(const struct page_run *);
/* Empty for a trace, which has only the views in its records. */
const struct page_view *page_views(const struct page_run *);
size_t page_view_count(const struct page_run *);
/* One record in words, as the transcript has it. */
const char *page_record_text(const struct page_run *, size_t index);

/* What `elector sim` prints, and what its options --svg, --trace, --mermaid and --shiviz write. */
const char *page_transcript(const struct page_run *);
const char *page_svg(const struct page_run *);
const char *page_trace(const struct page_run *);
const char *page_mermaid(const struct page_run *);
const char *page_shiviz(const struct page_run *);

/* ---- Within the room ---- */

/* describe.c */
void page_write_catalogue(FILE *out);
void page_write_run(FILE *out, const struct page_run *);

#endif
