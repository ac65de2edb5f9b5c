/*
 * Draws the trade-off: detection time to the right, mistakes an hour upwards on a logarithmic scale, one
 * curve for each detector. Zero mistakes have no logarithm, so they lie in a band below the scale, which
 * states the time watched. Integer arithmetic only, as in all drawings.
 */
#include "sim/measure/tradeoff.h"

#include <string.h>

#include "base/clock.h"
#include "detectors/fixed.h"
#include "sim/output/svg.h"

enum {
    WIDTH = 960,
    LEFT = 100,
    RIGHT = WIDTH - 40,
    LEGEND_LINE = 22,
    HEADER = 84, /* the first line of the legend */
    PLOT = 380,  /* the height of the logarithmic part */
    LANE = 18,   /* height of each curve in the band, so that none hides another */
    TICKS_MAX = 12,
    MARK = 5,
    LETTERS = 12
};
static const uint64_t hour = UINT64_C(3600000000000);
static const int64_t one = INT64_C(1) << FIXED_BITS; /* a decade */

struct chart {
    const struct sim_tradeoff *t;
    int top, bottom;      /* of the logarithmic part */
    int64_t low, high;    /* decades at these */
    sim_time tick, reach; /* of the time axis */
    uint64_t watched;     /* the longest time watched of all points */
    int band;             /* its height */
    int height;
    struct svg_box taken[2 * SIM_POINTS_MAX];
    size_t taken_count;
};

/* ---- Scales ---- */

/* log10 of mistakes an hour; `mistakes` is above 0. */
static int64_t log_rate(uint64_t mistakes, uint64_t watched)
{
    return (int64_t)fixed_log10(mistakes) + (int64_t)fixed_log10(hour) - (int64_t)fixed_log10(watched);
}

static int64_t decade_below(int64_t log)
{
    return log >= 0 ? log / one : -((-log + one - 1) / one);
}

static int x_of(const struct chart *c, sim_time time)
{
    return LEFT + (int)(time / 1000 * (uint64_t)(RIGHT - LEFT) / (c->reach / 1000));
}

static int y_of_log(const struct chart *c, int64_t log)
{
    return c->bottom - (int)((log - c->low * one) * (c->bottom - c->top) / ((c->high - c->low) * one));
}

static int y_of(const struct chart *c, const struct sim_point *p)
{
    return p->qos->mistakes ? y_of_log(c, log_rate(p->qos->mistakes, p->qos->watched))
                            : c->bottom + LANE * ((int)p->curve + 1);
}

static bool is_drawn(const struct sim_point *point)
{
    return point->qos->noticed > 0;
}

static void choose_decades(struct chart *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->t->point_count; i++) {
        const struct sim_qos *qos = c->t->points[i].qos;
        if (qos->watched > c->watched) c->watched = qos->watched;
        if (!is_drawn(&c->t->points[i]) || qos->mistakes == 0) continue;
        const int64_t below = decade_below(log_rate(qos->mistakes, qos->watched));
        if (!any || below < c->low) c->low = below;
        if (!any || below + 1 > c->high) c->high = below + 1;
        any = true;
    }
    if (any) return;
    c->low = c->watched ? decade_below(log_rate(1, c->watched)) : 0; /* the lowest observable rate */
    c->high = c->low + 1;
}

static void choose_reach(struct chart *c)
{
    sim_time longest = NS_PER_MS;
    for (uint32_t i = 0; i < c->t->point_count; i++)
        if (is_drawn(&c->t->points[i]) && sim_qos_detection(c->t->points[i].qos) > longest)
            longest = sim_qos_detection(c->t->points[i].qos);
    static const sim_time factors[] = {1, 2, 5};
    for (sim_time power = NS_PER_MS;; power *= 10) {
        for (int i = 0; i < 3; i++) {
            c->tick = power * factors[i];
            c->reach = (longest / c->tick + 1) * c->tick;
            if (c->reach / c->tick <= TICKS_MAX) return;
        }
    }
}

/* ---- Axes ---- */

static void put_seconds(FILE *out, sim_time time)
{
    unsigned long long ms = time / NS_PER_MS % 1000;
    int digits = 3;
    fprintf(out, "%llu", (unsigned long long)(time / NS_PER_S));
    if (ms == 0) return;
    for (; ms % 10 == 0; ms /= 10) digits--;
    fprintf(out, ".%0*llu", digits, ms);
}

static void put_time_axis(FILE *out, const struct chart *c)
{
    const int foot = c->bottom + c->band;
    fputs("<g font-size=\"12\" text-anchor=\"middle\" fill=\"" SVG_GREY "\">\n", out);
    for (sim_time time = 0; time <= c->reach; time += c->tick) {
        const int x = x_of(c, time);
        fprintf(out, "<path d=\"M%d,%d V%d\" stroke=\"#E6E6E6\"/><text x=\"%d\" y=\"%d\">", x, c->top, foot, x,
                foot + 18);
        put_seconds(out, time);
        fputs("</text>\n", out);
    }
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" font-size=\"14\" fill=\"" SVG_INK
            "\">a crash is noticed after … seconds, on average (T_D)</text>\n</g>\n",
            (LEFT + RIGHT) / 2, foot + 42);
}

/* "0.001", "1", "10 000" */
static void put_power(FILE *out, int64_t decade)
{
    if (decade < 0) {
        fprintf(out, "0.%0*d", (int)-decade, 1);
    } else {
        fprintf(out, "1%0*d", (int)decade, 0);
    }
}

static void put_rate_axis(FILE *out, const struct chart *c)
{
    fputs("<g font-size=\"12\" text-anchor=\"end\" fill=\"" SVG_GREY "\">\n", out);
    for (int64_t decade = c->low; decade <= c->high; decade++) {
        const int y = y_of_log(c, decade * one);
        fprintf(out, "<path d=\"M%d,%d H%d\" stroke=\"#E6E6E6\"/><text x=\"%d\" y=\"%d\">", LEFT, y, RIGHT,
                LEFT - 8, y + 4);
        if (decade == 0) {
            putc('1', out);
        } else {
            put_power(out, decade);
        }
        fputs("</text>\n", out);
    }
    fprintf(out,
            "</g>\n<text transform=\"translate(26,%d) rotate(-90)\" font-size=\"14\" text-anchor=\"middle\" "
            "fill=\"" SVG_INK "\">mistakes about a live peer, an hour</text>\n",
            (c->top + c->bottom) / 2);
}

static void put_band(FILE *out, const struct chart *c)
{
    const unsigned long long tenths = c->watched / (hour / 10);
    fprintf(out, "<rect class=\"none\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#EFEFEF\"/>\n", LEFT,
            c->bottom, RIGHT - LEFT, c->band);
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" font-size=\"12\" fill=\"" SVG_GREY
            "\" text-anchor=\"end\">none in %llu.%llu hours of watching</text>\n",
            RIGHT - 8, c->bottom + c->band - 8, tenths / 10, tenths % 10);
}

/* ---- Curves ---- */

/* A different shape for each curve, for readers who cannot tell the colours apart. */
static void put_mark(FILE *out, uint32_t curve, int x, int y, bool hollow)
{
    static const char *const shapes[] = {"m-5,0 a5,5 0 1,0 10,0 a5,5 0 1,0 -10,0 z", "m-5,-5 h10 v10 h-10 z",
                                         "m0,-6 l6,11 h-12 z", "m0,-7 l7,7 l-7,7 l-7,-7 z"};
    fprintf(out, "<path d=\"M%d,%d %s\" fill=\"%s\" stroke=\"%s\" stroke-width=\"1.6\"/>", x, y,
            shapes[curve % 4], hollow ? "#FFFFFF" : svg_colour(curve + 1), svg_colour(curve + 1));
}

static void put_curve(FILE *out, const struct chart *c, uint32_t curve)
{
    bool begun = false;
    fputs("<path class=\"curve\" fill=\"none\" stroke-width=\"1.8\" d=\"", out);
    for (uint32_t i = 0; i < c->t->point_count; i++) {
        const struct sim_point *p = &c->t->points[i];
        if (p->curve != curve || !is_drawn(p)) continue;
        fprintf(out, "%s%d,%d", begun ? " L" : "M", x_of(c, sim_qos_detection(p->qos)), y_of(c, p));
        begun = true;
    }
    fprintf(out, "%s\" stroke=\"%s\"/>\n", begun ? "" : "M0,0", svg_colour(curve + 1));
}

static bool is_free(const struct chart *c, const struct svg_box *box)
{
    if (box->x1 < LEFT || box->x2 > RIGHT) return false;
    for (size_t i = 0; i < c->taken_count; i++) {
        const struct svg_box *t = &c->taken[i];
        if (box->x1 < t->x2 && t->x1 < box->x2 && box->y1 < t->y2 && t->y1 < box->y2) return false;
    }
    return true;
}

/* The first place around a mark that covers nothing; the last one if all cover something. */
static struct svg_box place_label(struct chart *c, const char *label, int x, int y)
{
    const int width = svg_text_width(label, LETTERS), half = LETTERS / 2;
    const struct {
        int x, y; /* left and middle */
    } places[] = {{x + MARK + 3, y - 9},
                  {x + MARK + 3, y + 9},
                  {x - MARK - 3 - width, y + 9},
                  {x - MARK - 3 - width, y - 9},
                  {x - width / 2, y - 15},
                  {x - width / 2, y + 16},
                  {x + MARK + 6, y},
                  {x - MARK - 6 - width, y},
                  {x + MARK + 3, y - 22}};
    struct svg_box box = {0};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        box = (struct svg_box){places[i].x, places[i].y - half, places[i].x + width, places[i].y + half};
        if (is_free(c, &box)) break;
    }
    c->taken[c->taken_count++] = box;
    return box;
}

static void take_marks(struct chart *c)
{
    for (uint32_t i = 0; i < c->t->point_count; i++) {
        const struct sim_point *p = &c->t->points[i];
        if (!is_drawn(p)) continue;
        const int x = x_of(c, sim_qos_detection(p->qos)), y = y_of(c, p);
        c->taken[c->taken_count++] = (struct svg_box){x - MARK, y - MARK, x + MARK, y + MARK};
    }
}

static void put_point(FILE *out, struct chart *c, const struct sim_point *p)
{
    const int x = x_of(c, sim_qos_detection(p->qos)), y = y_of(c, p);
    fputs("<g class=\"point\"><title>", out);
    svg_put_text(out, p->detail);
    fputs("</title>", out);
    put_mark(out, p->curve, x, y, p->qos->unnoticed > 0);
    const struct svg_box box = place_label(c, p->label, x, y);
    fprintf(out, "<text x=\"%d\" y=\"%d\" font-size=\"%d\" fill=\"%s\">", box.x1, box.y2 - 2, LETTERS,
            svg_colour(p->curve + 1));
    svg_put_text(out, p->label);
    fputs("</text></g>\n", out);
}

/* ---- Text ---- */

static void put_legend(FILE *out, const struct chart *c)
{
    int x = SVG_MARGIN, y = HEADER;
    for (uint32_t i = 0; i < c->t->curve_count; i++) {
        const int width = svg_text_width(c->t->curves[i], 13) + 50;
        if (x > SVG_MARGIN && x + width > RIGHT) x = SVG_MARGIN, y += LEGEND_LINE;
        fprintf(out, "<path d=\"M%d,%d h28\" stroke=\"%s\" stroke-width=\"1.8\"/>", x, y, svg_colour(i + 1));
        put_mark(out, i, x + 14, y, false);
        fprintf(out, "<text x=\"%d\" y=\"%d\" font-size=\"13\" fill=\"" SVG_INK "\">", x + 34, y + 4);
        svg_put_text(out, c->t->curves[i]);
        fputs("</text>\n", out);
        x += width;
    }
}

static int legend_height(const struct sim_tradeoff *t)
{
    int x = SVG_MARGIN, lines = 1;
    for (uint32_t i = 0; i < t->curve_count; i++) {
        const int width = svg_text_width(t->curves[i], 13) + 50;
        if (x > SVG_MARGIN && x + width > RIGHT) x = SVG_MARGIN, lines++;
        x += width;
    }
    return lines * LEGEND_LINE;
}

static const char *remark(const struct sim_point *p)
{
    return p->qos->noticed == 0 ? "not drawn, since it notices no crash: "
           : p->qos->unnoticed  ? "hollow, since it does not notice every crash: "
                                : NULL;
}

static void put_remarks(FILE *out, const struct chart *c)
{
    int y = c->bottom + c->band + 64;
    for (uint32_t i = 0; i < c->t->point_count; i++) {
        const struct sim_point *p = &c->t->points[i];
        if (!remark(p)) continue;
        fprintf(out, "<text x=\"%d\" y=\"%d\" font-size=\"12\" fill=\"" SVG_RED "\">%s", SVG_MARGIN, y,
                remark(p));
        svg_put_text(out, p->detail);
        fputs("</text>\n", out);
        y += SVG_LINE;
    }
}

static void lay_out(struct chart *c, const struct sim_tradeoff *t)
{
    *c = (struct chart){.t = t, .top = HEADER + legend_height(t)};
    c->bottom = c->top + PLOT;
    c->band = LANE * ((int)t->curve_count + 2);
    c->height = c->bottom + c->band + 64;
    for (uint32_t i = 0; i < t->point_count; i++) c->height += remark(&t->points[i]) ? SVG_LINE : 0;
    choose_decades(c);
    choose_reach(c);
    take_marks(c);
}

int sim_write_tradeoff(FILE *out, const struct sim_tradeoff *t)
{
    struct chart c;
    lay_out(&c, t);
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"" SVG_FONTS "\">\n<title>failure detectors</title>\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#FFFFFF\"/>\n",
            WIDTH, c.height, WIDTH, c.height, WIDTH, c.height);
    fprintf(
        out,
        "<text x=\"%d\" y=\"36\" font-size=\"22\" font-weight=\"bold\" fill=\"#111111\">What a failure "
        "detector trades: speed for accuracy</text>\n<text x=\"%d\" y=\"58\" font-size=\"14\" fill=\"" SVG_GREY
        "\">",
        SVG_MARGIN, SVG_MARGIN);
    svg_put_text(out, t->caption);
    fputs("</text>\n", out);
    put_legend(out, &c);
    put_band(out, &c);
    put_time_axis(out, &c);
    put_rate_axis(out, &c);
    for (uint32_t i = 0; i < t->curve_count; i++) put_curve(out, &c, i);
    for (uint32_t i = 0; i < t->point_count; i++)
        if (is_drawn(&t->points[i])) put_point(out, &c, &t->points[i]);
    put_remarks(out, &c);
    fputs("</svg>\n", out);
    return sim_written(out);
}
