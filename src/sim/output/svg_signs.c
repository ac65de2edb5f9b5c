/* Drawing messages, their labels, signs on the lanes, and the legend. */
#include "sim/output/svg.h"

enum { LEGEND_ROW = 24, LEGEND_SAMPLE = 30, LEGEND_SPACE = 22 };

/* Distinct for the colour-blind and dark enough for print; red is reserved for violations, gold for leaders. */
const char *svg_colour(uint32_t kind)
{
    static const char *const colours[] = {"#0072B2", "#B34E00", "#00805E", "#8A2F8F",
                                          "#3A8FC4", "#6E6A00", "#555555", "#9A5B73"};
    return colours[(kind - 1) % (sizeof colours / sizeof *colours)];
}

void svg_put_text(FILE *out, const char *text)
{
    while (*text) {
        const size_t length = sim_character(text);
        switch (length ? *text : '\0') {
        case '\0': fputs(SIM_NO_CHARACTER, out); break;
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default: fwrite(text, 1, length, out); break;
        }
        text += length ? length : 1;
    }
}

/* ---- Messages ---- */

static const char *fate_of(const struct svg_arrow *arrow)
{
    switch ((enum svg_end)arrow->end) {
    case SVG_ARRIVES: return arrow->copy ? ", a copy delivered at " : ", delivered at ";
    case SVG_FINDS_DEAD: return ", found it dead at ";
    case SVG_IS_LOST: return ", was lost";
    case SVG_MEETS_CUT: return ", met a cut link";
    case SVG_UNDER_WAY: break;
    }
    return ", still under way";
}

static void put_tooltip(FILE *out, const struct svg_layout *l, const struct svg_arrow *arrow)
{
    char text[SIM_TEXT], time[SIM_TIME_TEXT];
    const struct sim_record *sent = sim_trace_at(l->trace, arrow->sent);
    fputs("<title>", out);
    svg_put_text(out, sim_record_text(l->plan, sent, text));
    fprintf(out, ", sent at %s%s", sim_time_text(l->plan, sent->time, time), fate_of(arrow));
    if (arrow->end == SVG_ARRIVES || arrow->end == SVG_FINDS_DEAD)
        fputs(sim_time_text(l->plan, arrow->ends, time), out);
    fputs("</title>", out);
}

/* Strokes that become shorter and paler, since the end is unknown. */
static void put_fading(FILE *out, const struct svg_arrow *a)
{
    static const char *const shades[] = {"0.8", "0.45", "0.2"};
    for (int i = 0; i < 3; i++) {
        const int x1 = a->x1 + (a->x2 - a->x1) * i / 3, y1 = a->y1 + (a->y2 - a->y1) * i / 3;
        const int x2 = a->x1 + (a->x2 - a->x1) * (i + 1) / 3, y2 = a->y1 + (a->y2 - a->y1) * (i + 1) / 3;
        fprintf(out, "<path d=\"M%d,%d L%d,%d\" opacity=\"%s\"/>", x1, y1, x2, y2, shades[i]);
    }
}

/* A message to its own sender leaves the lane and comes back. */
static void put_line(FILE *out, const struct svg_arrow *a)
{
    const char *dashes = a->copy ? " stroke-dasharray=\"2 3\"" : "";
    if (a->y1 == a->y2) {
        fprintf(out, "<path d=\"M%d,%d C%d,%d %d,%d %d,%d\"%s", a->x1, a->y1, a->x1 + (a->x2 - a->x1) / 4,
                a->y1 - 30, a->x2 - (a->x2 - a->x1) / 4, a->y1 - 30, a->x2, a->y2, dashes);
    } else {
        fprintf(out, "<path d=\"M%d,%d L%d,%d\"%s", a->x1, a->y1, a->x2, a->y2, dashes);
    }
    fprintf(out, " marker-end=\"url(#%s%u)\"/>", svg_fails(a) ? "cross" : "head", a->kind);
}

static void put_arrow(FILE *out, const struct svg_layout *l, const struct svg_arrow *arrow)
{
    fprintf(out, "<g class=\"%s\" stroke=\"%s\">", arrow->copy ? "copy" : "message", svg_colour(arrow->kind));
    put_tooltip(out, l, arrow);
    if (arrow->end == SVG_UNDER_WAY) {
        put_fading(out, arrow);
    } else {
        put_line(out, arrow);
    }
    if (arrow->back)
        fprintf(
            out,
            "<path d=\"M%d,%d L%d,%d\" stroke=\"#999999\" stroke-width=\"1.2\" stroke-dasharray=\"1.5 3\"/>",
            arrow->x2, arrow->y2, arrow->back, arrow->y1);
    fputs("</g>\n", out);
}

static void put_label(FILE *out, const struct svg_layout *l, const struct svg_arrow *arrow)
{
    char text[SIM_TEXT];
    const char *words = svg_label_text(l, arrow, text);
    const int width = svg_text_width(words, SVG_SIZE) + 2;
    fprintf(
        out,
        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"14\" rx=\"3\" fill=\"#FFFFFF\" fill-opacity=\"0.9\"/>",
        arrow->x - width / 2, arrow->y - 7, width);
    fprintf(out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">", arrow->x, arrow->y + 4, svg_colour(arrow->kind));
    svg_put_text(out, words);
    fputs("</text>\n", out);
}

void svg_draw_arrows(FILE *out, const struct svg_layout *l)
{
    fputs("<g fill=\"none\" stroke-width=\"1.6\">\n", out);
    for (size_t i = 0; i < l->arrow_count; i++) put_arrow(out, l, &l->arrows[i]);
    fprintf(out, "</g>\n<g font-size=\"%d\" text-anchor=\"middle\">\n", SVG_SIZE);
    for (size_t i = 0; i < l->arrow_count; i++)
        if (l->arrows[i].words != SVG_NO_WORDS) put_label(out, l, &l->arrows[i]);
    fputs("</g>\n", out);
}

/* ---- Signs ---- */

static void put_crown(FILE *out, int x, int y)
{
    fprintf(out,
            "<path class=\"crown\" d=\"M%d,%d l-2,-12 l6,5 l5,-9 l5,9 l6,-5 l-2,12 z\" fill=\"" SVG_GOLD
            "\" stroke=\"" SVG_INK "\" stroke-width=\"1.2\" stroke-linejoin=\"round\"/>\n",
            x - 9, y + 7);
}

static void put_cross(FILE *out, int x, int y)
{
    fprintf(out,
            "<path class=\"crash\" d=\"M%d,%d l14,14 m0,-14 l-14,14\" fill=\"none\" stroke=\"" SVG_INK
            "\" stroke-width=\"3.2\" stroke-linecap=\"round\"/>\n",
            x - SVG_SIGN, y - SVG_SIGN);
}

static void put_call(FILE *out, int x, int y)
{
    fprintf(out,
            "<circle cx=\"%d\" cy=\"%d\" r=\"5\" fill=\"#FFFFFF\" stroke=\"" SVG_INK
            "\" stroke-width=\"2\"/>\n",
            x, y);
}

static void put_hourglass(FILE *out, int x, int y)
{
    fprintf(out,
            "<path class=\"timer\" d=\"M%d,%d h10 l-10,14 h10 z\" fill=\"#FFFFFF\" stroke=\"" SVG_INK
            "\" stroke-width=\"1.4\" stroke-linejoin=\"round\"/>\n",
            x - 5, y - 7);
}

static void put_return(FILE *out, int x, int y)
{
    fprintf(out, "<path d=\"M%d,%d l12,7 l-12,7 z\" fill=\"" SVG_INK "\"/>\n", x - 4, y - 7);
}

static void put_doubt(FILE *out, int x, int y)
{
    fprintf(out,
            "<path class=\"suspicion\" d=\"M%d,%d l5,5 l-5,5 l-5,-5 z\" fill=\"#FFFFFF\" stroke=\"" SVG_INK
            "\" stroke-width=\"1.6\"/>\n",
            x, y - 5);
}

static void put_sign_on_lane(FILE *out, enum sim_what what, int x, int y)
{
    switch (what) {
    case SIM_CAMPAIGNED: put_call(out, x, y); return;
    case SIM_TIMED_OUT: put_hourglass(out, x, y); return;
    case SIM_SUSPECTED: put_doubt(out, x, y); return;
    case SIM_CRASHED: put_cross(out, x, y); return;
    case SIM_RESTARTED: put_return(out, x, y); return;
    default: return;
    }
}

static void put_floating(FILE *out, const struct svg_layout *l, const struct svg_sign *sign)
{
    char text[SIM_TEXT];
    const struct sim_record *r = sim_trace_at(l->trace, sign->record);
    if (r->what == SIM_VIEWED) {
        put_crown(out, sign->x, sign->y);
        return;
    }
    fprintf(
        out,
        "<text x=\"%d\" y=\"%d\" font-size=\"%d\" font-style=\"italic\" text-anchor=\"middle\" fill=\"" SVG_INK
        "\">",
        sign->x, sign->y + 4, SVG_SIZE);
    svg_put_text(out, svg_suspicion_text(l, r, text));
    fputs("</text>\n", out);
}

void svg_draw_signs(FILE *out, const struct svg_layout *l)
{
    fputs("<g>\n", out);
    for (uint64_t i = sim_trace_first(l->trace); i <= l->last; i++) {
        const struct sim_record *r = sim_trace_at(l->trace, i);
        if (svg_has(l, r->node) && svg_shows(l, i))
            put_sign_on_lane(out, (enum sim_what)r->what, svg_x(l, r->time), svg_y(l, r->node));
    }
    for (size_t i = 0; i < l->sign_count; i++) put_floating(out, l, &l->signs[i]);
    fputs("</g>\n", out);
}

/* ---- Legend ---- */

static bool happens(const struct svg_layout *l, enum sim_what what)
{
    for (uint64_t i = sim_trace_first(l->trace); i <= l->last; i++) {
        const struct sim_record *r = sim_trace_at(l->trace, i);
        if (r->what != what || !svg_has(l, r->node) || !svg_shows(l, i)) continue;
        if (what != SIM_VIEWED || r->peer == r->node) return true;
    }
    return false;
}

static bool travels(const struct svg_layout *l, uint32_t kind)
{
    for (size_t i = 0; i < l->arrow_count; i++)
        if (l->arrows[i].kind == kind) return true;
    return false;
}

struct pen {
    FILE *out; /* NULL: only measure */
    int x, y, width;
};

/* Reserves room for one entry. True if it is to be drawn, with its sample at x. */
static bool advance(struct pen *pen, const char *text, int *x)
{
    const int width = LEGEND_SAMPLE + svg_text_width(text, 12) + LEGEND_SPACE;
    if (pen->x > SVG_MARGIN && pen->x + width > pen->width) {
        pen->x = SVG_MARGIN;
        pen->y += LEGEND_ROW;
    }
    *x = pen->x;
    pen->x += width;
    if (!pen->out) return false;
    fprintf(pen->out, "<text x=\"%d\" y=\"%d\">", *x + LEGEND_SAMPLE, pen->y + 4);
    svg_put_text(pen->out, text);
    fputs("</text>", pen->out);
    return true;
}

static void explain_kind(struct pen *pen, const struct svg_layout *l, uint32_t kind)
{
    int x = 0;
    if (!advance(pen, l->plan->algorithm->kinds[kind], &x)) return;
    fprintf(pen->out,
            "<path d=\"M%d,%d h24\" stroke=\"%s\" stroke-width=\"1.6\" marker-end=\"url(#head%u)\"/>\n", x,
            pen->y, svg_colour(kind), kind);
}

static void explain_sign(struct pen *pen, const struct svg_layout *l, enum sim_what what, const char *text)
{
    int x = 0;
    if (!happens(l, what) || !advance(pen, text, &x)) return;
    if (what == SIM_VIEWED) {
        put_crown(pen->out, x + 14, pen->y);
    } else {
        put_sign_on_lane(pen->out, what, x + 14, pen->y);
    }
}

static void explain_losses(struct pen *pen, const struct svg_layout *l)
{
    int x = 0;
    const struct svg_arrow *lost = NULL;
    for (size_t i = 0; i < l->arrow_count && !lost; i++)
        if (svg_fails(&l->arrows[i])) lost = &l->arrows[i];
    if (!lost || !advance(pen, "does not arrive", &x)) return;
    fprintf(pen->out,
            "<path d=\"M%d,%d h18\" stroke=\"%s\" stroke-width=\"1.6\" marker-end=\"url(#cross%u)\"/>\n", x,
            pen->y, svg_colour(lost->kind), lost->kind);
}

/* The two dotted lines: a second copy, and the return of a failed hop. */
static void explain_dots(struct pen *pen, const struct svg_layout *l)
{
    int x = 0;
    const struct svg_arrow *copy = NULL;
    bool back = false;
    for (size_t i = 0; i < l->arrow_count; i++) {
        if (l->arrows[i].copy) copy = &l->arrows[i];
        back |= l->arrows[i].back != 0;
    }
    if (copy && advance(pen, "arrives again", &x))
        fprintf(pen->out,
                "<path d=\"M%d,%d h24\" stroke=\"%s\" stroke-width=\"1.6\" stroke-dasharray=\"2 3\"/>\n", x,
                pen->y, svg_colour(copy->kind));
    if (back && advance(pen, "is told of it", &x))
        fprintf(pen->out,
                "<path d=\"M%d,%d h24\" stroke=\"#999999\" stroke-width=\"1.2\" stroke-dasharray=\"1.5 3\"/>\n",
                x, pen->y);
}

static void explain_pause(struct pen *pen, const struct svg_layout *l)
{
    int x = 0;
    if (happens(l, SIM_PAUSED) && advance(pen, "stands still", &x))
        svg_put_hatching(pen->out, x, x + 24, pen->y);
}

static void explain_lead(struct pen *pen, const struct svg_layout *l)
{
    int x = 0;
    bool leads = happens(l, SIM_VIEWED);
    for (el_node node = 1; node <= l->lanes; node++) leads |= l->leads_first[node];
    if (!leads || !advance(pen, "leads", &x)) return;
    fprintf(pen->out, "<path d=\"M%d,%d h24\" stroke=\"" SVG_GOLD "\" stroke-width=\"8\"/>\n", x, pen->y);
}

static void explain(struct pen *pen, const struct svg_layout *l)
{
    for (uint32_t kind = 1; kind <= l->plan->algorithm->kind_count; kind++)
        if (travels(l, kind)) explain_kind(pen, l, kind);
    explain_losses(pen, l);
    explain_dots(pen, l);
    explain_sign(pen, l, SIM_CAMPAIGNED, "calls an election");
    explain_sign(pen, l, SIM_TIMED_OUT, "timer runs out");
    explain_sign(pen, l, SIM_SUSPECTED, "suspects");
    explain_sign(pen, l, SIM_CRASHED, "crashes");
    explain_sign(pen, l, SIM_RESTARTED, "comes back");
    explain_pause(pen, l);
    explain_sign(pen, l, SIM_VIEWED, "is elected");
    explain_lead(pen, l);
}

int svg_legend_height(const struct svg_layout *l)
{
    struct pen pen = {NULL, SVG_MARGIN, 0, l->width};
    explain(&pen, l);
    return pen.y + LEGEND_ROW;
}

void svg_draw_legend(FILE *out, const struct svg_layout *l, int y)
{
    struct pen pen = {out, SVG_MARGIN, y, l->width};
    fputs("<g font-size=\"13\" fill=\"" SVG_INK "\">\n", out);
    explain(&pen, l);
    fputs("</g>\n", out);
}
