/* The diagram's messages: start and end of each arrow, and arrows that hide each other. */
#include <stdlib.h>

#include "sim/output/svg.h"

/* Ends the arrow after a percentage of its way, since its end is unknown or not reached. */
static void stop_short(const struct svg_layout *l, struct svg_arrow *arrow, const struct sim_record *sent,
                       int share)
{
    const sim_time usual =
        l->plan->delay.shape == SIM_DELAY_EXPONENTIAL ? l->plan->delay.mean : l->plan->delay.max;
    const sim_time part = usual / 100 * (sim_time)share;
    arrow->ends = sent->time;
    arrow->x2 = arrow->x1 + (int)(part / l->plan->unit * (sim_time)l->scale +
                                  part % l->plan->unit * (sim_time)l->scale / l->plan->unit);
    arrow->y2 = arrow->y1 + (svg_y(l, sent->peer) - arrow->y1) * share / 100;
    if (arrow->x2 <= l->right) return;
    arrow->y2 = arrow->y1 + (arrow->y2 - arrow->y1) * (l->right - arrow->x1) / (arrow->x2 - arrow->x1);
    arrow->x2 = l->right;
}

bool svg_fails(const struct svg_arrow *arrow)
{
    return arrow->end == SVG_IS_LOST || arrow->end == SVG_MEETS_CUT || arrow->end == SVG_FINDS_DEAD;
}

static void add_arrow(struct svg_layout *l, uint64_t index, const struct sim_record *sent)
{
    struct svg_arrow *arrow = &l->arrows[l->arrow_count++];
    *arrow = (struct svg_arrow){.sent = index, .kind = sent->kind};
    arrow->x1 = svg_x(l, sent->time);
    arrow->y1 = svg_y(l, sent->node);
    stop_short(l, arrow, sent, 55);
}

static void end_arrow(struct svg_layout *l, struct svg_arrow *arrow, const struct sim_record *r)
{
    if (r->what == SIM_DROPPED && r->reason != SIM_DEAD) {
        arrow->end = r->reason == SIM_CUT ? SVG_MEETS_CUT : SVG_IS_LOST;
        return;
    }
    arrow->end = r->what == SIM_DELIVERED ? SVG_ARRIVES : SVG_FINDS_DEAD;
    arrow->ends = r->time;
    arrow->x2 = svg_x(l, r->time);
    arrow->y2 = svg_y(l, r->node);
}

static void add_end(struct svg_layout *l, const uint32_t *arrow_of, const struct sim_record *r)
{
    if (r->number > l->last || !arrow_of[r->number]) return;
    struct svg_arrow *arrow = &l->arrows[arrow_of[r->number] - 1];
    if (r->what == SIM_RETURNED) {
        arrow->back = svg_x(l, r->time);
        return;
    }
    if (arrow->end != SVG_UNDER_WAY && l->arrow_count == SVG_ARROWS_MAX) return;
    if (arrow->end != SVG_UNDER_WAY) { /* a copy: the first one has ended already */
        struct svg_arrow *copy = &l->arrows[l->arrow_count++];
        *copy = *arrow;
        copy->copy = true;
        arrow = copy;
    }
    end_arrow(l, arrow, r);
}

static bool join(struct svg_layout *l)
{
    l->arrows = calloc(SVG_ARROWS_MAX, sizeof *l->arrows);
    uint32_t *arrow_of = calloc(l->last + 1, sizeof *arrow_of);
    for (uint64_t i = sim_trace_first(l->trace); l->arrows && arrow_of && i <= l->last; i++) {
        const struct sim_record *r = sim_trace_at(l->trace, i);
        if (r->what == SIM_SENT && svg_has(l, r->node) && svg_has(l, r->peer) &&
            l->arrow_count < SVG_ARROWS_MAX) {
            add_arrow(l, i, r);
            arrow_of[i] = (uint32_t)l->arrow_count;
        } else if (r->what == SIM_DELIVERED || r->what == SIM_DROPPED || r->what == SIM_RETURNED) {
            add_end(l, arrow_of, r);
        }
    }
    free(arrow_of);
    return l->arrows && arrow_of;
}

static bool lie_alike(const struct svg_arrow *a, const struct svg_arrow *b)
{
    return a->x1 == b->x1 && a->y1 == b->y1 && a->x2 == b->x2 && a->y2 == b->y2 && a->end == b->end;
}

static bool say_the_same(const struct svg_layout *l, const struct svg_arrow *a, const struct svg_arrow *b)
{
    const struct sim_record *x = sim_trace_at(l->trace, a->sent), *y = sim_trace_at(l->trace, b->sent);
    const bool set = l->plan->algorithm->set_kinds >> x->kind & 1u;
    return x->kind == y->kind && x->subject == y->subject && (!set || x->values[1] == y->values[1]);
}

/* Equal messages become one arrow with a count; different ones in the same place are moved apart. */
static void untangle(struct svg_layout *l, struct svg_arrow *arrow)
{
    arrow->same = 1;
    for (struct svg_arrow *other = arrow; other-- > l->arrows;) {
        if (other->repeated || !lie_alike(arrow, other)) continue;
        if (!arrow->copy && !other->copy && say_the_same(l, arrow, other)) {
            other->same++;
            arrow->repeated = true;
            return;
        }
        arrow->x1 += SVG_APART;
        arrow->x2 += SVG_APART;
        other = arrow; /* the new place may be taken as well */
    }
}

static uint64_t count_hidden(const struct svg_layout *l)
{
    uint64_t sent = 0, drawn = 0;
    for (uint64_t i = sim_trace_first(l->trace); i <= l->trace->count; i++)
        sent += sim_trace_at(l->trace, i)->what == SIM_SENT;
    for (size_t i = 0; i < l->arrow_count; i++) drawn += !l->arrows[i].copy;
    return sent - drawn;
}

bool svg_make_arrows(struct svg_layout *l)
{
    if (!join(l)) return false;
    for (size_t i = 0; i < l->arrow_count; i++) untangle(l, &l->arrows[i]);
    l->hidden = count_hidden(l);
    return true;
}
