/*
 * A budget of log lines for one kind of event: LOG_BUDGET_LINES in a second, the rest is counted. An outage of 100,000
 * groups must not fill a disk with lines, nor hide that there were more. It has no clock: callers pass in the time.
 */
#ifndef ELECTOR_BASE_LOG_BUDGET_H
#define ELECTOR_BASE_LOG_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum { LOG_BUDGET_LINES = 10 };

struct log_budget {
    uint64_t since_ns; /* when the present second began */
    uint32_t lines, left_out;
};

/* Whether a line may be written now. If not, it is counted. */
bool log_budget_admits(struct log_budget *, uint64_t now_ns);
/* The lines that were left out, once their second is over; then the count starts at 0 again. 0: none were. */
uint32_t log_budget_take(struct log_budget *, uint64_t now_ns);

#endif
