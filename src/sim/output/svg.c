/*
 * A space-time diagram for slides: lanes from top to bottom in ring order, time to the right. Plain SVG 1.1
 * with attributes only, since slide programs support style sheets, patterns and gradients poorly.
 */
#include "sim/output/svg.h"

#include <string.h>

enum { TICK_WIDTH_MIN = 44, HATCH = 7 };

/* ---- Frame ---- */

static void put_markers(FILE *out, uint32_t kinds)
{
    fputs("<defs>\n", out);
    for (uint32_t kind = 1; kind <= kinds; kind++) {
        fprintf(out,
                "<marker id=\"head%u\" viewBox=\"0 0 10 10\" refX=\"9.5\" refY=\"5\" markerWidth=\"10\" "
                "markerHeight=\"10\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
                "<path d=\"M0,1.2 L10,5 L0,8.8 z\" fill=\"%s\" stroke=\"none\"/></marker>\n",
                kind, svg_colour(kind));
        fprintf(out,
                "<marker id=\"cross%u\" viewBox=\"0 0 10 10\" refX=\"5\" refY=\"5\" markerWidth=\"10\" "
                "markerHeight=\"10\" markerUnits=\"userSpaceOnUse\">"
                "<path d=\"M1,1 L9,9 M9,1 L1,9\" fill=\"none\" stroke=\"%s\" stroke-width=\"2.2\"/></marker>\n",
                kind, svg_colour(kind));
    }
    fputs("</defs>\n", out);
}

static void put_frame(FILE *out, const struct svg_layout *l)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"" SVG_FONTS "\">\n",
            l->width, l->height, l->width, l->height);
    fputs("<title>", out);
    svg_put_text(out, l->plan->algorithm->name);
    fprintf(out, "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#FFFFFF\"/>\n", l->width, l->height);
    put_markers(out, l->plan->algorithm->kind_count);
}

/* ---- Words above ---- */

static void put_line(FILE *out, int y, int size, const char *style, const char *text)
{
    fprintf(out, "<text x=\"%d\" y=\"%d\" font-size=\"%d\" %s>", SVG_MARGIN, y, size, style);
    svg_put_text(out, text);
    fputs("</text>\n", out);
}

static void add_count(char text[SIM_TEXT], uint64_t count, const char *of_what)
{
    const size_t used = strlen(text);
    if (count) snprintf(text + used, SIM_TEXT - used, ", %llu %s", (unsigned long long)count, of_what);
}

static const char *caption(const struct svg_layout *l, char text[SIM_TEXT])
{
    const struct sim_result *result = &l->world->result;
    char time[SIM_TIME_TEXT];
    const char *unit = l->plan->in_units ? " T" : "";
    snprintf(text, SIM_TEXT, "%llu message%s", (unsigned long long)result->sent[0],
             result->sent[0] == 1 ? "" : "s");
    add_count(text, result->lost, "lost");
    add_count(text, result->to_the_dead, "to the dead");
    add_count(text, result->failed_hops, result->failed_hops == 1 ? "failed hop" : "failed hops");
    size_t used = strlen(text);
    if (sim_is_endless(result))
        snprintf(text + used, SIM_TEXT - used, "  ·  cut, and still busy  ·  ");
    else
        snprintf(text + used, SIM_TEXT - used, "  ·  turnaround %s%s  ·  ",
                 sim_time_text(l->plan, result->turnaround, time), unit);
    used = strlen(text);
    if (result->agreed) {
        snprintf(text + used, SIM_TEXT - used, "leader %llu", sim_id(l->plan, result->leader));
    } else {
        snprintf(text + used, SIM_TEXT - used, "no agreement on a leader");
    }
    return text;
}

static const char *omission(const struct svg_layout *l, char text[SIM_TEXT])
{
    char time[SIM_TIME_TEXT];
    const char *unit = l->plan->in_units ? " T" : "";
    text[0] = '\0';
    if (!l->cut && l->lanes == l->plan->cluster.count) return text;
    snprintf(text, SIM_TEXT, "Shown are %u of %u nodes until %s%s; %llu messages are left out.", l->lanes,
             l->plan->cluster.count, sim_time_text(l->plan, l->end, time), unit, (unsigned long long)l->hidden);
    return text;
}

static void put_header(FILE *out, const struct svg_layout *l)
{
    char text[SIM_TEXT];
    put_line(out, 40, 24, "font-weight=\"bold\" fill=\"#111111\"", l->plan->algorithm->name);
    put_line(out, 61, 14, "fill=\"" SVG_GREY "\"", l->plan->algorithm->summary);
    put_line(out, 83, 14, "fill=\"#111111\"", caption(l, text));
    put_line(out, 101, 13, "fill=\"" SVG_RED "\"", omission(l, text));
}

/* ---- Axis ---- */

/* The first of 1, 2, 5, 10 … units (or milliseconds, or parts of one) that leaves room for its number. */
static sim_time choose_tick(const struct svg_layout *l)
{
    static const sim_time factors[] = {1, 2, 5};
    sim_time power = l->plan->in_units ? l->plan->unit : 1;
    for (;; power *= 10) {
        for (int i = 0; i < 3; i++) {
            const sim_time tick = power * factors[i];
            if (tick / l->plan->unit > TICK_WIDTH_MIN) return tick;
            if (tick * (sim_time)l->scale / l->plan->unit >= TICK_WIDTH_MIN) return tick;
        }
    }
}

static const struct svg_gap *gap_at(const struct svg_layout *l, sim_time time)
{
    for (uint32_t i = 0; i < l->gap_count; i++)
        if (time > l->gaps[i].from && time < l->gaps[i].to) return &l->gaps[i];
    return NULL;
}

static void put_tick(FILE *out, const struct svg_layout *l, sim_time time)
{
    const int x = svg_x(l, time), y = l->bottom + 30;
    fprintf(out, "<path d=\"M%d,%d V%d\" stroke=\"#E6E6E6\"/>", x, l->top - 20, y);
    fprintf(out, "<path d=\"M%d,%d v6\" stroke=\"" SVG_GREY "\"/>", x, y);
    fprintf(out, "<text x=\"%d\" y=\"%d\">", x, y + 20);
    sim_put_time(out, l->plan, time);
    fputs("</text>\n", out);
}

static void put_gap(FILE *out, const struct svg_layout *l, const struct svg_gap *gap)
{
    const int x = (svg_x(l, gap->from) + svg_x(l, gap->to)) / 2;
    fprintf(out, "<path d=\"M%d,%d h8\" stroke=\"#FFFFFF\" stroke-width=\"3\"/>", x - 4, l->bottom + 30);
    for (el_node node = 1; node <= l->lanes + 1; node++) /* the last is the axis */
        fprintf(out, "<path d=\"M%d,%d l6,-12 m4,0 l-6,12\" stroke=\"" SVG_GREY "\"/>", x - 5,
                (node <= l->lanes ? svg_y(l, node) : l->bottom + 30) + 6);
    putc('\n', out);
}

static void put_axis(FILE *out, const struct svg_layout *l)
{
    const sim_time tick = choose_tick(l);
    fputs("<g font-size=\"12\" text-anchor=\"middle\" fill=\"" SVG_GREY "\" stroke-width=\"1\">\n", out);
    for (sim_time time = 0; time <= l->end; time += tick) {
        const struct svg_gap *gap = gap_at(l, time);
        if (gap) time = (gap->to + tick - 1) / tick * tick;
        if (time <= l->end) put_tick(out, l, time);
    }
    fprintf(out, "<path d=\"M%d,%d H%d\" stroke=\"" SVG_GREY "\"/>\n", l->left, l->bottom + 30, l->right);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"start\" font-style=\"italic\">time in %s</text>\n",
            l->right + 8, l->bottom + 34, l->plan->in_units ? "T" : "ms");
    fputs("</g>\n", out);
}

/* ---- Bands and lanes ---- */

static sim_time healed_at(const struct svg_layout *l, uint64_t parted)
{
    const uint64_t number = sim_trace_at(l->trace, parted)->number;
    for (uint64_t i = parted + 1; i <= l->last; i++) {
        const struct sim_record *r = sim_trace_at(l->trace, i);
        if (r->what == SIM_HEALED && r->number == number) return r->time;
    }
    return l->end;
}

static void put_bands(FILE *out, const struct svg_layout *l)
{
    for (uint64_t i = sim_trace_first(l->trace); i <= l->last; i++) {
        const struct sim_record *r = sim_trace_at(l->trace, i);
        if (r->what != SIM_PARTED && r->what != SIM_LOOPED) continue;
        const sim_time until = r->what == SIM_PARTED ? healed_at(l, i) : l->end;
        const int x = svg_x(l, r->time), right = until == l->end ? l->right : svg_x(l, until);
        fprintf(out,
                "<rect class=\"band\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#6A51A3\" "
                "fill-opacity=\"0.1\"/>\n",
                x, l->header, right - x, l->bottom + 20 - l->header);
    }
}

/* A stretch of time in which a lane has one look. */
struct stretch {
    bool down, leads, paused;
};

static struct stretch after(struct stretch now, const struct sim_record *r)
{
    switch ((enum sim_what)r->what) {
    case SIM_VIEWED: now.leads = r->peer == r->node; break;
    case SIM_CRASHED: now = (struct stretch){.down = true}; break;
    case SIM_RESTARTED: now.down = false; break;
    case SIM_PAUSED: now.paused = true; break;
    case SIM_RESUMED: now.paused = false; break;
    default: break;
    }
    return now;
}

void svg_put_hatching(FILE *out, int x1, int x2, int y)
{
    fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"14\" fill=\"#EFEFEF\" fill-opacity=\"0.85\"/>",
            x1, y - 7, x2 - x1);
    fputs("<path class=\"pause\" d=\"", out);
    for (int x = x1; x + 6 <= x2; x += HATCH) fprintf(out, "M%d,%d l6,-14 ", x, y + 7);
    fputs("\" stroke=\"#888888\" stroke-width=\"1\"/>\n", out);
}

static void put_stretch(FILE *out, struct stretch stretch, int x1, int x2, int y)
{
    if (x2 <= x1) return;
    if (stretch.leads)
        fprintf(out, "<path class=\"leads\" d=\"M%d,%d H%d\" stroke=\"" SVG_GOLD "\" stroke-width=\"8\"/>", x1,
                y, x2);
    fprintf(out, "<path d=\"M%d,%d H%d\" %s/>\n", x1, y, x2,
            stretch.down ? "stroke=\"#BBBBBB\" stroke-width=\"1.4\" stroke-dasharray=\"3 5\""
                         : "stroke=\"#777777\" stroke-width=\"1.4\"");
    if (stretch.paused) svg_put_hatching(out, x1, x2, y);
}

static void put_name(FILE *out, const struct svg_layout *l, el_node node, int y)
{
    const bool ordinary = !el_may_lead(&l->plan->cluster, node);
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" font-size=\"18\" font-weight=\"bold\" text-anchor=\"end\" "
            "fill=\"%s\">%llu</text>\n",
            l->left - 14, y + 6, ordinary ? "#888888" : "#111111", sim_id(l->plan, node));
    fprintf(out, "<g font-size=\"11\" text-anchor=\"end\" fill=\"" SVG_GREY "\">");
    if (l->plan->attributes)
        fprintf(out, "<text x=\"%d\" y=\"%d\">attr %llu</text>", l->left - 14, y + 20,
                (unsigned long long)l->plan->attributes[node - 1]);
    if (ordinary) fprintf(out, "<text x=\"%d\" y=\"%d\">ordinary</text>", l->left - 14, y - 12);
    fputs("</g>\n", out);
}

static void put_lane(FILE *out, const struct svg_layout *l, el_node node)
{
    char text[SIM_TEXT];
    const int y = svg_y(l, node);
    struct stretch now = {.leads = l->leads_first[node]};
    int from = l->left;
    put_name(out, l, node, y);
    for (uint64_t i = sim_trace_first(l->trace); i <= l->last; i++) {
        const struct sim_record *r = sim_trace_at(l->trace, i);
        if (r->node != node) continue;
        const struct stretch next = after(now, r);
        const int x = svg_x(l, r->time);
        if (next.down == now.down && next.leads == now.leads && next.paused == now.paused) continue;
        put_stretch(out, now, from, x, y);
        now = next;
        from = x;
    }
    put_stretch(out, now, from, l->right, y);
    fprintf(out, "<text x=\"%d\" y=\"%d\" font-size=\"12\" fill=\"" SVG_GREY "\">", l->right + 8, y + 4);
    svg_put_text(out, svg_verdict_text(l, node, text));
    fputs("</text>\n", out);
}

/* ---- Headlines ---- */

static void put_violation(FILE *out, const struct svg_layout *l, const struct sim_record *r, int top)
{
    const struct sim_violation *violation = &l->world->result.violations[r->number];
    const int x = svg_x(l, r->time);
    fprintf(out,
            "<path d=\"M%d,%d V%d\" stroke=\"" SVG_RED "\" stroke-width=\"1.6\" stroke-dasharray=\"5 4\"/>\n",
            x, top, l->bottom + 30);
    for (uint32_t i = 0; i < violation->node_count; i++)
        if (svg_has(l, violation->nodes[i]))
            fprintf(out,
                    "<circle cx=\"%d\" cy=\"%d\" r=\"10\" fill=\"none\" stroke=\"" SVG_RED
                    "\" stroke-width=\"2\"/>\n",
                    x, svg_y(l, violation->nodes[i]));
}

static void put_violations(FILE *out, const struct svg_layout *l)
{
    for (uint32_t i = 0; i < l->headline_count; i++) {
        const struct svg_headline *headline = &l->headlines[i];
        const struct sim_record *r = sim_trace_at(l->trace, headline->record);
        if (r->what == SIM_VIOLATED) put_violation(out, l, r, l->header + headline->row * SVG_LINE + 4);
    }
}

static void put_headline(FILE *out, const struct svg_layout *l, const struct svg_headline *headline)
{
    char text[SIM_TEXT];
    const struct sim_record *r = sim_trace_at(l->trace, headline->record);
    const int y = l->header + headline->row * SVG_LINE + 14;
    const bool violated = r->what == SIM_VIOLATED;
    if (violated) /* other violations' lines pass behind */
        fprintf(out,
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#FFFFFF\" fill-opacity=\"0.85\"/>",
                headline->x + 3, y - 12, headline->width - 6, SVG_LINE - 2);
    fprintf(out, "<text%s x=\"%d\" y=\"%d\" font-size=\"13\" %s %s>", violated ? " class=\"violation\"" : "",
            headline->before ? headline->x + headline->width - 6 : headline->x + 6, y,
            headline->before ? "text-anchor=\"end\"" : "",
            violated ? "font-weight=\"bold\" fill=\"" SVG_RED "\"" : "fill=\"#4A3A78\"");
    svg_put_text(out, svg_headline_text(l, r, text));
    fputs("</text>\n", out);
}

static void draw(FILE *out, const struct svg_layout *l)
{
    put_frame(out, l);
    put_header(out, l);
    put_bands(out, l);
    put_axis(out, l);
    for (el_node node = 1; node <= l->lanes; node++) put_lane(out, l, node);
    for (uint32_t i = 0; i < l->gap_count; i++) put_gap(out, l, &l->gaps[i]);
    svg_draw_arrows(out, l);
    svg_draw_signs(out, l);
    put_violations(out, l);
    for (uint32_t i = 0; i < l->headline_count; i++) put_headline(out, l, &l->headlines[i]);
    svg_draw_legend(out, l, l->bottom + 82);
    fputs("</svg>\n", out);
}

int sim_write_svg(FILE *out, const struct sim_world *world)
{
    struct svg_layout layout;
    const bool laid_out = svg_lay_out(&layout, world);
    if (laid_out) draw(out, &layout);
    svg_free(&layout);
    return laid_out ? sim_written(out) : -1;
}
