/* An SVG chart that compares detectors: detection time against mistakes an hour. */
#ifndef ELECTOR_SIM_MEASURE_TRADEOFF_H
#define ELECTOR_SIM_MEASURE_TRADEOFF_H

#include <stdio.h>

#include "sim/measure/qos.h"

enum { SIM_POINTS_MAX = 256 };

struct sim_point {
    const struct sim_qos *qos;
    const char *label;  /* the option that distinguishes it */
    const char *detail; /* the whole detector, for a tooltip */
    uint32_t curve;     /* the curve through its points, in this order */
};

/* All borrowed. */
struct sim_tradeoff {
    const char *caption;
    const char *const *curves; /* their names */
    uint32_t curve_count;
    const struct sim_point *points;
    uint32_t point_count; /* at most SIM_POINTS_MAX; those that never report a crash are listed, not drawn */
};

/* SVG 1.1, the same byte for byte on every machine. 0, or -1 if writing failed. */
int sim_write_tradeoff(FILE *out, const struct sim_tradeoff *tradeoff);

#endif
