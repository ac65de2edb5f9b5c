/*
 * Shared by the files of elector detect: options and measuring (detect.c), the detectors (detect_rows.c), and
 * output (detect_report.c).
 */
#ifndef ELECTOR_CLI_LAB_DETECT_H
#define ELECTOR_CLI_LAB_DETECT_H

#include "cli/cli.h"
#include "sim/measure/qos.h"

enum { DETECT_ROWS_MAX = 200, DETECT_USUAL_MAX = 8 };

/* One detector with one set of options. */
struct detect_row {
    char text[200]; /* as --detector takes it */
    char value[24]; /* of the swept option */
    uint32_t curve;
    char reason[512]; /* why it is left out; "": it is not */
    struct sim_qos qos;
};

struct detect_curve {
    char name[200];
    const char *option; /* the one in which its points differ; NULL: none in particular */
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
/* Adds all detectors that can be compared, with default options. */
int detect_add_usual(struct detect_request *request);
/* Finds the value of the option in which the points of its curve differ. */
void detect_find_value(struct detect_row *row, const struct sim_plan *plan);

void detect_write_text(const struct detect_request *request);
/* 0, or -1 if memory ran out. */
int detect_write_json(const struct detect_request *request);
int detect_write_svg(FILE *out, const struct detect_request *request);

#endif
