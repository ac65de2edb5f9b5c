/*
 * The diagram's labels: each sits on its own arrow and covers no other label, no sign and, if possible, no
 * lane or other arrow. If there is no room for "Election 80", the label is "80" in the colour of its kind; if
 * there is no room for that, only the arrow's colour shows the kind.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/output/svg.h"

enum {
    HALF_HEIGHT = 8,
    LETTERS_MAX = 30,
    OVER_ARROW = 8, /* the cost of covering an arrow or a lane; a step away from the middle costs 1 */
    OVER_LANE = 14,
    PLACES = 29, /* along an arrow, 2.5 % apart */
    CROWD = 400, /* with more arrows than this, labels are short and tried in fewer places */
    CROWD_PLACES = 7,
    TOO_MUCH = 40,
    NO_ROOM = 1000,
};

/* ---- Geometry ---- */

static bool overlap(const struct svg_box *a, const struct svg_box *b)
{
    return a->x1 < b->x2 && b->x1 < a->x2 && a->y1 < b->y2 && b->y1 < a->y2;
}

static struct svg_box around(int x, int y, int half_width, int half_height)
{
    return (struct svg_box){x - half_width, y - half_height, x + half_width, y + half_height};
}

/* The side of the arrow's line on which a point lies. */
static int64_t side(const struct svg_arrow *a, int x, int y)
{
    return (int64_t)(a->x2 - a->x1) * (y - a->y1) - (int64_t)(a->y2 - a->y1) * (x - a->x1);
}

static bool crosses(const struct svg_arrow *a, const struct svg_box *box)
{
    const int low = a->y1 < a->y2 ? a->y1 : a->y2, high = a->y1 < a->y2 ? a->y2 : a->y1;
    if (a->x1 > box->x2 || a->x2 < box->x1 || low > box->y2 || high < box->y1) return false;
    const int64_t corners[] = {side(a, box->x1, box->y1), side(a, box->x2, box->y1), side(a, box->x1, box->y2),
                               side(a, box->x2, box->y2)};
    bool above = false, below = false;
    for (int i = 0; i < 4; i++) {
        above |= corners[i] >= 0;
        below |= corners[i] <= 0;
    }
    return above && below;
}

static bool is_taken(const struct svg_layout *l, const struct svg_box *box)
{
    for (size_t i = 0; i < l->box_count; i++)
        if (overlap(box, &l->boxes[i])) return true;
    return false;
}

static int count_lanes(const struct svg_layout *l, const struct svg_box *box)
{
    int count = 0;
    for (el_node node = 1; node <= l->lanes; node++) {
        const int y = svg_y(l, node);
        count += y > box->y1 - 3 && y < box->y2 + 3;
    }
    return count;
}

/* Counts up to a limit; above it the exact number does not matter. */
static int count_arrows(const struct svg_layout *l, const struct svg_box *box, const struct svg_arrow *own,
                        int most)
{
    int count = 0;
    for (size_t i = 0; i < l->arrow_count && count < most; i++)
        count += &l->arrows[i] != own && crosses(&l->arrows[i], box);
    return count;
}

static bool take(struct svg_layout *l, struct svg_box box)
{
    if (l->box_count == l->box_capacity) {
        const size_t capacity = l->box_capacity ? 2 * l->box_capacity : 64;
        void *boxes = realloc(l->boxes, capacity * sizeof *l->boxes);
        if (!boxes) return false;
        l->boxes = boxes;
        l->box_capacity = capacity;
    }
    l->boxes[l->box_count++] = box;
    return true;
}

/* ---- Signs ---- */

const char *svg_suspicion_text(const struct svg_layout *l, const struct sim_record *r, char text[SIM_TEXT])
{
    snprintf(text, SIM_TEXT, "%llu?", sim_id(l->plan, r->peer));
    return text;
}

static bool is_floating(const struct sim_record *r)
{
    return r->what == SIM_SUSPECTED || (r->what == SIM_VIEWED && r->peer == r->node);
}

static bool is_on_lane(const struct sim_record *r)
{
    return r->what == SIM_CRASHED || r->what == SIM_RESTARTED || r->what == SIM_CAMPAIGNED ||
           r->what == SIM_TIMED_OUT;
}

/* Right or left of its time, above or below the lane: the place with the fewest arrows. */
static bool place_sign(struct svg_layout *l, uint64_t index, const struct sim_record *r)
{
    char text[SIM_TEXT];
    const bool crown = r->what == SIM_VIEWED;
    const int half = crown ? 12 : svg_text_width(svg_suspicion_text(l, r, text), SVG_SIZE) / 2 + 5;
    const int x = svg_x(l, r->time), y = svg_y(l, r->node);
    struct svg_box best = {0};
    int least = NO_ROOM;
    for (int place = 0; place < 8; place++) {
        const int away = place < 4 ? half + 3 : 3 * half + 7;
        const int dx = place & 1 ? -away : away, dy = place & 2 ? 17 : -17;
        const struct svg_box box = around(x + dx, y + dy, half, 9);
        if (is_taken(l, &box) || box.x1 < l->left - 6) continue;
        const int cost = count_arrows(l, &box, NULL, 100) * 8 + place;
        if (cost >= least) continue;
        least = cost;
        best = box;
    }
    if (least == NO_ROOM) return true; /* only the mark on the lane is drawn */
    l->signs[l->sign_count++] = (struct svg_sign){index, (best.x1 + best.x2) / 2, (best.y1 + best.y2) / 2};
    return take(l, best);
}

static bool place_signs(struct svg_layout *l)
{
    l->signs = calloc(SVG_RECORDS_MAX + 1, sizeof *l->signs);
    bool room = l->signs != NULL;
    for (uint64_t i = sim_trace_first(l->trace); room && i <= l->last; i++) {
        const struct sim_record *r = sim_trace_at(l->trace, i);
        if (!svg_has(l, r->node) || !is_on_lane(r) || !svg_shows(l, i)) continue;
        room = take(l, around(svg_x(l, r->time), svg_y(l, r->node), SVG_SIGN, SVG_SIGN));
    }
    for (size_t i = 0; room && i < l->arrow_count; i++)
        if (svg_fails(&l->arrows[i])) room = take(l, around(l->arrows[i].x2, l->arrows[i].y2, 5, 5));
    for (uint64_t i = sim_trace_first(l->trace); room && i <= l->last; i++) {
        const struct sim_record *r = sim_trace_at(l->trace, i);
        if (svg_has(l, r->node) && is_floating(r)) room = place_sign(l, i, r);
    }
    return room;
}

/* ---- Labels ---- */

const char *svg_label_text(const struct svg_layout *l, const struct svg_arrow *arrow, char text[SIM_TEXT])
{
    const struct sim_record *sent = sim_trace_at(l->trace, arrow->sent);
    sim_message_text(l->plan, sent, text);
    const size_t used = strlen(text);
    if (arrow->same > 1) snprintf(text + used, SIM_TEXT - used, " ×%d", arrow->same);
    return arrow->words == SVG_ALL_WORDS ? text : text + strlen(l->plan->algorithm->kinds[sent->kind]) + 1;
}

static int cost_of(const struct svg_layout *l, const struct svg_box *box, const struct svg_arrow *own)
{
    if (is_taken(l, box) || box->x2 > l->width - 2 || box->x1 < 2) return NO_ROOM;
    const int lanes = count_lanes(l, box) * OVER_LANE;
    return lanes >= TOO_MUCH ? lanes : lanes + count_arrows(l, box, own, TOO_MUCH / OVER_ARROW) * OVER_ARROW;
}

/* Tries places along the arrow, from the middle outwards. True if one is good enough. */
static bool find_place(const struct svg_layout *l, struct svg_arrow *a, struct svg_box *best)
{
    char text[SIM_TEXT];
    const char *words = svg_label_text(l, a, text);
    const int half = svg_text_width(words, SVG_SIZE) / 2 + 3;
    int least = TOO_MUCH;
    if (strlen(words) > LETTERS_MAX) return false;
    const int places = l->arrow_count > CROWD ? CROWD_PLACES : PLACES;
    for (int i = 0; i < places && least > i / 2; i++) {
        const int percent = 50 + (i % 2 ? (i + 1) / 2 : -(i / 2)) * 5 / 2;
        const int x = a->x1 + (a->x2 - a->x1) * percent / 100, y = a->y1 + (a->y2 - a->y1) * percent / 100;
        const struct svg_box box = around(x, a->y1 == a->y2 ? y - 26 : y, half, HALF_HEIGHT);
        const int cost = cost_of(l, &box, a) + i / 2;
        if (cost >= least) continue;
        least = cost;
        *best = box;
    }
    return least < TOO_MUCH;
}

/* Leaves the arrow without a label if there is no room. False if memory ran out. */
static bool place_label(struct svg_layout *l, struct svg_arrow *arrow, enum svg_words most)
{
    struct svg_box box;
    for (int words = (int)most; words > SVG_NO_WORDS; words--) {
        arrow->words = (uint8_t)words;
        if (!find_place(l, arrow, &box)) continue;
        arrow->x = (box.x1 + box.x2) / 2;
        arrow->y = (box.y1 + box.y2) / 2;
        return take(l, box);
    }
    arrow->words = SVG_NO_WORDS;
    return true;
}

/* Returns the number of arrows without a full label; all of them if memory ran out. */
static size_t place_all(struct svg_layout *l, enum svg_words most)
{
    size_t short_of = 0;
    for (size_t i = 0; i < l->arrow_count; i++) {
        struct svg_arrow *arrow = &l->arrows[i];
        arrow->words = SVG_NO_WORDS;
        if (arrow->copy || arrow->repeated) continue;
        if (!place_label(l, arrow, most)) return SIZE_MAX;
        short_of += arrow->words != SVG_ALL_WORDS;
    }
    return short_of;
}

bool svg_place_labels(struct svg_layout *l)
{
    if (!place_signs(l)) return false;
    const size_t signs = l->box_count;
    if (l->arrow_count <= CROWD) {
        const size_t short_of = place_all(l, SVG_ALL_WORDS);
        if (short_of <= l->arrow_count / 6 || short_of == SIZE_MAX) return short_of != SIZE_MAX;
        l->box_count = signs; /* short labels everywhere read better than a mixture */
    }
    return place_all(l, SVG_SUBJECT_ONLY) != SIZE_MAX;
}
