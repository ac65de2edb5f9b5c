/*
 * The diagram's files share this. svg_layout.c and svg_arrows.c compute positions, svg_labels.c places
 * labels, svg.c and svg_signs.c draw. All lengths are whole pixels and all arithmetic is integer, so that
 * every machine draws the same.
 */
#ifndef ELECTOR_SIM_OUTPUT_SVG_H
#define ELECTOR_SIM_OUTPUT_SVG_H

#include "sim/internal.h"
#include "sim/output/export.h"
#include "sim/output/text.h"

enum {
    SVG_LANES_MAX = 64,
    SVG_MESSAGES_MAX = 2000,
    SVG_ARROWS_MAX = 2 * SVG_MESSAGES_MAX, /* the network makes one copy of a message at most */
    SVG_RECORDS_MAX = 12000,
    SVG_GAPS_MAX = 64,
    SVG_HEADLINES_MAX = 64,
    SVG_SIZE = 12, /* of letters on arrows */
    SVG_LINE = 18, /* from one line of text to the next */
    SVG_MARGIN = 24,
    SVG_APART = 5, /* distance between arrows that would hide each other */
    SVG_SIGN = 7,  /* half the size of a sign on a lane */
};

#define SVG_FONTS "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
#define SVG_INK "#222222"
#define SVG_GREY "#666666"
#define SVG_GOLD "#E8AC0C"
#define SVG_RED "#C8102E"

struct svg_box {
    int x1, y1, x2, y2;
};

enum svg_end { SVG_UNDER_WAY, SVG_ARRIVES, SVG_IS_LOST, SVG_MEETS_CUT, SVG_FINDS_DEAD };

/* How much of "Election 80" is written on an arrow. */
enum svg_words { SVG_NO_WORDS, SVG_SUBJECT_ONLY, SVG_ALL_WORDS };

struct svg_arrow {
    uint64_t sent; /* the record */
    sim_time ends;
    int x1, y1, x2, y2;
    int x, y;      /* the middle of its label */
    int back;      /* where its sender learns that the hop failed; 0: never */
    int same;      /* how many arrows look like this one */
    bool repeated; /* it is not the first of those */
    uint8_t kind;
    uint8_t end;   /* svg_end */
    uint8_t words; /* svg_words */
    bool copy;     /* the second arrival of one message */
};

/* A crown or a suspicion, placed where it covers least. */
struct svg_sign {
    uint64_t record;
    int x, y;
};

/* A time without events, which is drawn shorter. */
struct svg_gap {
    sim_time from, to;
};

/* The text of a partition or a violation, above the lanes. */
struct svg_headline {
    uint64_t record;
    int x, row;
    int width;
    bool before; /* its text ends at its time, for lack of room to the right */
};

struct svg_layout {
    const struct sim_world *world;
    const struct sim_plan *plan;
    const struct sim_trace *trace;
    uint64_t last; /* the last record that is drawn */
    sim_time end;  /* the end of the axis */
    bool cut;      /* the run is longer than the drawing */
    uint32_t lanes;
    uint64_t hidden;              /* messages that are not drawn */
    int scale;                    /* pixels a unit */
    int left, right, top, bottom; /* of the lanes: first and last moment, first and last lane */
    int step;                     /* from lane to lane */
    int width, height;
    int header; /* where the headlines begin */
    struct svg_gap gaps[SVG_GAPS_MAX];
    uint32_t gap_count;
    struct svg_headline headlines[SVG_HEADLINES_MAX];
    uint32_t headline_count;
    bool leads_first[SVG_LANES_MAX + 1]; /* leads before the first event */
    struct svg_arrow *arrows;
    size_t arrow_count;
    struct svg_sign *signs;
    size_t sign_count;
    struct svg_box *boxes; /* where no label may go */
    size_t box_count, box_capacity;
};

/* False if memory ran out; free the layout in any case. */
bool svg_lay_out(struct svg_layout *layout, const struct sim_world *world);
void svg_free(struct svg_layout *layout);
int svg_x(const struct svg_layout *layout, sim_time time);
int svg_y(const struct svg_layout *layout, el_node node);
/* True if the node has a lane. */
bool svg_has(const struct svg_layout *layout, el_node node);
/* True if the record is drawn. A timer is drawn only if it had an effect. */
bool svg_shows(const struct svg_layout *layout, uint64_t record);
/* The node's final view, drawn to the right of its lane; "" if the drawing ends before the run. */
const char *svg_verdict_text(const struct svg_layout *layout, el_node node, char text[SIM_TEXT]);
/* An upper estimate of the text's width in common fonts. */
int svg_text_width(const char *text, int size);
/* The text above the lanes for this record; "" for none. */
const char *svg_headline_text(const struct svg_layout *layout, const struct sim_record *record,
                              char text[SIM_TEXT]);

/* False if memory ran out. */
bool svg_make_arrows(struct svg_layout *layout);
/* True if the message is not known to reach its addressee. */
bool svg_fails(const struct svg_arrow *arrow);

/* Places signs first, then labels. False if memory ran out. */
bool svg_place_labels(struct svg_layout *layout);
const char *svg_label_text(const struct svg_layout *layout, const struct svg_arrow *arrow, char text[SIM_TEXT]);
const char *svg_suspicion_text(const struct svg_layout *layout, const struct sim_record *record,
                               char text[SIM_TEXT]);

/* Drawing. */
const char *svg_colour(uint32_t kind);
void svg_put_text(FILE *out, const char *text);
void svg_put_hatching(FILE *out, int x1, int x2, int y);
void svg_draw_arrows(FILE *out, const struct svg_layout *layout);
void svg_draw_signs(FILE *out, const struct svg_layout *layout);
int svg_legend_height(const struct svg_layout *layout);
void svg_draw_legend(FILE *out, const struct svg_layout *layout, int y);

#endif
