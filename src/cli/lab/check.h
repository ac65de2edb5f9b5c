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
    struct check_further {
        uint64_t bound,
            states;    /* the last bound that was exhausted, and its worlds; 0: none, or nobody leads there */
        uint64_t next; /* the bound that was not exhausted; 0: none */
        char why[200]; /* ... and why not */
        bool in_rounds, was_tried;
    } further;
};

/* The properties that are judged in every world. */
static const uint32_t check_always = 1u << CHECK_ONE_LEADER | 1u << CHECK_ONE_PER_TERM |
                                     1u << CHECK_TOKENS_RISE | 1u << CHECK_ONE_DECISION | 1u << CHECK_IN_ORDER;

/* check_deepen.c: runs the question; if it does not close, goes further along a bound that does. */
void check_deepen(struct check_request *request, struct check_result *result);

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
