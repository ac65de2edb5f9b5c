/*
 * elector detect between its files: what was asked for and measured (detect.c), the detectors
 * (detect_rows.c), and how it is told (detect_report.c).
 */
#ifndef ELECTOR_CLI_LAB_DETECT_H
#define ELECTOR_CLI_LAB_DETECT_H

#include "cli/cli.h"
#include "sim/measure/qos.h"

enum { DETECT_ROWS_MAX = 200, DETECT_USUAL_MAX = 8 };

/* One detector with one set of options. */
struct detect_row {
    char text[200]; /* as --detector takes it */
    char value[24]; /* of the option that is swept */
    uint32_t curve;
    char reason[512]; /* why it is left out; "": it is not */
    struct sim_qos qos;
};

struct detect_curve {
    char name[200];
    const char *option; /* that makes the difference between its points; NULL: none in particular */
};

struct detect_request {
    struct sim_settings settings; /* of the network */
    const char *arrivals, *svg;   /* file names; NULL: none */
    bool json, sweep;
    sim_time watch;
    uint64_t runs, seed, nodes;
    struct detect_curve *curves;
    size_t curve_count;
    struct detect_row *rows;
    size_t row_count;
    struct sim_arrivals recorded;
};

/* A row for this detector, or, in a sweep, for each of several settings. An exit code. */
int detect_add(struct detect_request *request, const char *detector);
/* All that can be compared, as they are usually set. */
int detect_add_usual(struct detect_request *request);
/* What the option that makes the difference is set to. */
void detect_find_value(struct detect_row *row, const struct sim_plan *plan);

void detect_write_text(const struct detect_request *request);
/* 0, or -1 if memory ran out. */
int detect_write_json(const struct detect_request *request);
int detect_write_svg(FILE *out, const struct detect_request *request);

#endif
