/* The diagram's layout: how much of the run is shown, the time scale, lanes and headlines. */
#include <stdlib.h>
#include <string.h>

#include "sim/output/svg.h"

enum {
    SCALE_MIN = 26, /* pixels a unit */
    SCALE_MAX = 150,
    WIDTH_WANTED = 980, /* of the lanes; fits a slide */
    WIDTH_MAX = 16000,
    WIDTH_MIN = 700,
    GAP_UNITS = 16, /* a gap longer than this ... */
    GAP_SHOWN = 2,  /* ... is drawn as this */
    HEIGHT_WANTED = 400,
    STEP_MIN = 28,
    STEP_MAX = 84,
    ROWS_MAX = 8,
};

/* ---- Time ---- */

static sim_time shown_of(const struct svg_layout *l, const struct svg_gap *gap, sim_time time)
{
    const sim_time length = gap->to - gap->from, kept = GAP_SHOWN * l->plan->unit;
    if (time >= gap->to) return kept;
    return (time - gap->from) / (length / 1000 + 1) * (kept / 1000); /* approximate, to avoid overflow */
}

/* Time without the gaps. */
static sim_time condense(const struct svg_layout *l, sim_time time)
{
    sim_time shown = 0, from = 0;
    for (uint32_t i = 0; i < l->gap_count && l->gaps[i].from < time; i++) {
        shown += l->gaps[i].from - from + shown_of(l, &l->gaps[i], time);
        from = l->gaps[i].to;
    }
    return time > from ? shown + (time - from) : shown;
}

int svg_x(const struct svg_layout *l, sim_time time)
{
    const sim_time unit = l->plan->unit, shown = condense(l, time < l->end ? time : l->end);
    const sim_time scale = (sim_time)l->scale;
    return l->left + (int)(shown / unit * scale + shown % unit * scale / unit);
}

bool svg_has(const struct svg_layout *l, el_node node)
{
    return node >= 1 && node <= l->lanes;
}

/* ---- How much is shown ---- */

static bool has_effect(const struct svg_layout *l, uint64_t index)
{
    for (uint64_t i = index + 1; i <= l->trace->count; i++) {
        const struct sim_record *r = sim_trace_at(l->trace, i);
        if (r->cause != index) return false;
        if (r->what == SIM_SENT || r->what == SIM_VIEWED) return true;
    }
    return false;
}

bool svg_shows(const struct svg_layout *l, uint64_t index)
{
    switch ((enum sim_what)sim_trace_at(l->trace, index)->what) {
    case SIM_DID_NOTHING:
    case SIM_COPIED:
    case SIM_TRUSTED:
    case SIM_NOTED:
    case SIM_SAVED:
    case SIM_RESTED: return false;
    case SIM_TIMED_OUT: return has_effect(l, index);
    default: return true;
    }
}

static bool is_full(const struct svg_layout *l, sim_time time, uint64_t messages, uint64_t records)
{
    return messages > SVG_MESSAGES_MAX || records > SVG_RECORDS_MAX || l->gap_count == SVG_GAPS_MAX ||
           condense(l, time) / l->plan->unit > WIDTH_MAX / SCALE_MIN;
}

static void skip_silence(struct svg_layout *l, sim_time from, sim_time to)
{
    if (to - from <= GAP_UNITS * l->plan->unit || l->gap_count == SVG_GAPS_MAX) return;
    l->gaps[l->gap_count++] = (struct svg_gap){from + l->plan->unit / 2, to - l->plan->unit / 2};
}

static void measure(struct svg_layout *l)
{
    uint64_t messages = 0;
    const uint64_t first = sim_trace_first(l->trace);
    l->last = first - 1;
    for (uint64_t i = first; i <= l->trace->count; i++) {
        const struct sim_record *r = sim_trace_at(l->trace, i);
        const uint32_t gaps = l->gap_count;
        if (!svg_shows(l, i)) continue;
        skip_silence(l, l->end, r->time);
        messages += r->what == SIM_SENT && svg_has(l, r->node) && svg_has(l, r->peer);
        l->cut = is_full(l, r->time, messages, i - first);
        if (l->cut) {
            l->gap_count = gaps;
            return;
        }
        l->last = i;
        l->end = r->time;
    }
    if (l->world->result.came_to_rest) return; /* only timers without effect are left */
    skip_silence(l, l->end, l->world->result.ended);
    if (l->world->result.ended > l->end) l->end = l->world->result.ended;
}

static void choose_scale(struct svg_layout *l)
{
    const sim_time shown = condense(l, l->end) + 1, unit = l->plan->unit;
    const sim_time wanted = WIDTH_WANTED * unit / shown;
    l->scale = wanted > SCALE_MAX ? SCALE_MAX : wanted < SCALE_MIN ? SCALE_MIN : (int)wanted;
}

/* ---- Lanes ---- */

int svg_y(const struct svg_layout *l, el_node node)
{
    return l->top + ((int)node - 1) * l->step;
}

int svg_text_width(const char *text, int size)
{
    int letters = 0;
    for (; *text; text++) letters += ((unsigned char)*text & 0xC0) != 0x80;
    return letters * size * 6 / 10;
}

static int widest_id(const struct svg_layout *l)
{
    int width = 0;
    char text[SIM_TEXT];
    for (el_node node = 1; node <= l->lanes; node++) {
        snprintf(text, sizeof text, "%llu", sim_id(l->plan, node));
        const int own = svg_text_width(text, 18);
        if (own > width) width = own;
    }
    return width;
}

static void set_lanes(struct svg_layout *l)
{
    const uint32_t count = l->plan->cluster.count;
    l->lanes = count < SVG_LANES_MAX ? count : SVG_LANES_MAX;
    const int wanted = l->lanes > 1 ? HEIGHT_WANTED / (int)(l->lanes - 1) : STEP_MAX;
    l->step = wanted > STEP_MAX ? STEP_MAX : wanted < STEP_MIN ? STEP_MIN : wanted;
    l->left = SVG_MARGIN + widest_id(l) + (l->plan->attributes || l->plan->roles ? 56 : 24);
}

/* The trace does not contain the initial leader. A machine is a pure function, so run its start again. */
static bool find_first_leaders(struct svg_layout *l)
{
    const struct el_algorithm *algorithm = l->plan->algorithm;
    const uint64_t bound = el_outbox_bound(algorithm, l->plan->cluster.count);
    struct el_outbox box = {calloc(bound, sizeof *box.actions), (uint32_t)bound, 0};
    void *state = malloc(el_state_size(algorithm, l->plan->cluster.count));
    for (el_node node = 1; state && box.actions && node <= l->lanes; node++) {
        const struct el_config cfg = {&l->plan->cluster, node};
        struct el_event start = {.type = EL_START};
        struct el_view view;
        start.start.incumbent = l->plan->incumbent;
        memset(state, 0, el_state_size(algorithm, l->plan->cluster.count));
        el_step(algorithm, &cfg, state, &start, &box);
        algorithm->view(state, &cfg, &view);
        l->leads_first[node] = view.leader == node;
    }
    const bool done = state && box.actions;
    free(state);
    free(box.actions);
    return done;
}

/* ---- Above the lanes ---- */

const char *svg_headline_text(const struct svg_layout *l, const struct sim_record *r, char text[SIM_TEXT])
{
    text[0] = '\0';
    if (r->what == SIM_PARTED) {
        const struct sim_break *b = &l->plan->breaks[r->number];
        snprintf(text, SIM_TEXT, "%s %s", b->side ? "partition" : "cut", b->text);
    } else if (r->what == SIM_LOOPED) {
        sim_record_text(l->plan, r, text);
    } else if (r->what == SIM_VIOLATED) {
        sim_violation_text(l->plan, &l->world->result.violations[r->number], text);
    }
    return text;
}

/* The first row with enough free space. */
static int free_row(const struct svg_layout *l, int x, int width)
{
    for (int row = 0;; row++) {
        bool taken = false;
        for (uint32_t i = 0; i < l->headline_count && !taken; i++) {
            const struct svg_headline *h = &l->headlines[i];
            taken = h->row == row && x < h->x + h->width && h->x < x + width;
        }
        if (!taken) return row;
    }
}

/* Returns the number of rows. */
static int place_headlines(struct svg_layout *l)
{
    int rows = 0;
    char text[SIM_TEXT];
    for (uint64_t i = sim_trace_first(l->trace); i <= l->last; i++) {
        const struct sim_record *r = sim_trace_at(l->trace, i);
        if (!*svg_headline_text(l, r, text) || l->headline_count == SVG_HEADLINES_MAX) continue;
        const int width = svg_text_width(text, 13) + 18;
        int x = svg_x(l, r->time);
        const bool before = x + width > l->width;
        if (before) x = x > width ? x - width : 0;
        const int row = free_row(l, x, width);
        if (row == ROWS_MAX) continue;
        if (row >= rows) rows = row + 1;
        l->headlines[l->headline_count++] = (struct svg_headline){i, x, row, width, before};
    }
    return rows;
}

const char *svg_verdict_text(const struct svg_layout *l, el_node node, char text[SIM_TEXT])
{
    const el_node leader = sim_world_leader_of(l->world, node);
    text[0] = '\0';
    if (l->cut) return text;
    if (!sim_world_alive(l->world, node)) return "down";
    if (leader == EL_NOBODY) return "no leader";
    if (leader == node) return "leads";
    snprintf(text, SIM_TEXT, "follows %llu", sim_id(l->plan, leader));
    return text;
}

static int widest_verdict(const struct svg_layout *l)
{
    int width = 0;
    char text[SIM_TEXT];
    for (el_node node = 1; node <= l->lanes; node++) {
        const int own = svg_text_width(svg_verdict_text(l, node, text), 13);
        if (own > width) width = own;
    }
    return width;
}

static void set_size(struct svg_layout *l)
{
    const int words = svg_text_width(l->plan->algorithm->summary, 14);
    const bool goes_on = l->cut || !l->world->result.came_to_rest;
    l->right = svg_x(l, l->end) + (goes_on && l->scale > 2 * SVG_MARGIN ? l->scale / 2 : SVG_MARGIN);
    l->width = l->right + widest_verdict(l) + 8 + SVG_MARGIN;
    if (l->width < WIDTH_MIN) l->width = WIDTH_MIN;
    if (l->width < words + 2 * SVG_MARGIN) l->width = words + 2 * SVG_MARGIN;
    l->header = l->cut || l->lanes < l->plan->cluster.count ? 112 : 94;
    const int rows = place_headlines(l);
    l->top = l->header + rows * SVG_LINE + 28;
    l->bottom = svg_y(l, l->lanes);
}

/* ---- All of it ---- */

bool svg_lay_out(struct svg_layout *l, const struct sim_world *world)
{
    *l = (struct svg_layout){.world = world, .plan = world->plan, .trace = &world->trace};
    set_lanes(l);
    measure(l);
    choose_scale(l);
    set_size(l);
    if (!find_first_leaders(l) || !svg_make_arrows(l)) return false;
    l->height = l->bottom + 74 + svg_legend_height(l) + SVG_MARGIN;
    return svg_place_labels(l);
}

void svg_free(struct svg_layout *l)
{
    free(l->arrows);
    free(l->signs);
    free(l->boxes);
}
