/* The parts of `elector check`: the question, the answer as text and JSON, a counterexample as a scenario. */
#ifndef ELECTOR_CLI_LAB_CHECK_H
#define ELECTOR_CLI_LAB_CHECK_H

#include "check/check.h"
#include "cli/cli.h"
#include "elector/core.h"
#include "sim/world/world.h"

struct check_request {
    struct sim_settings settings; /* who takes part, as for `elector sim` */
    struct sim_plan plan;
    struct check_config config;
    bool json, quiet, tick_given, time_given, detect_given;
    uint8_t rate[CHECK_NODES_MAX]; /* if --rates names one for each member */
    uint32_t rate_count;
    const char *scenario; /* where to write a counterexample; NULL: nowhere */
    const char *svg;
};

/* The question in words: members, budgets, bounds. */
void check_write_bounds(FILE *out, const struct check_request *request, const struct check_result *result);
/* The properties that hold only because nothing happens that they speak of: no world at rest, no leader. */
uint32_t check_vacuous(const struct check_request *request, const struct check_result *result);
/* No: the limits, or a signal, stopped the search too early to tell, or all that was asked is vacuous. */
bool check_is_answered(const struct check_request *request, const struct check_result *result);
void check_write_text(FILE *out, const struct check_request *request, const struct check_result *result);
int check_write_json(FILE *out, const struct check_request *request, const struct check_result *result);
/* check_script.c: the counterexample as steps, and as a scenario of `elector sim`. */
void check_write_moves(FILE *out, const struct check_request *request, const struct check_result *result);
void check_write_scenario(FILE *out, const struct check_request *request, const struct check_result *result);

#endif
