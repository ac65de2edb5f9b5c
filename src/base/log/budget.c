/* See budget.h. */
#include "base/log/budget.h"

#include "base/clock.h"

bool log_budget_admits(struct log_budget *budget, uint64_t now_ns)
{
    const bool is_over = now_ns - budget->since_ns >= NS_PER_S;
    if (is_over && budget->left_out == 0) { /* those left out are told before a new second begins */
        budget->since_ns = now_ns;
        budget->lines = 0;
    }
    if (budget->lines < LOG_BUDGET_LINES) {
        budget->lines++;
        return true;
    }
    if (budget->left_out < UINT32_MAX) budget->left_out++;
    return false;
}

uint32_t log_budget_take(struct log_budget *budget, uint64_t now_ns)
{
    const uint32_t left_out = budget->left_out;
    if (left_out == 0 || now_ns - budget->since_ns < NS_PER_S) return 0;
    *budget = (struct log_budget){.since_ns = now_ns};
    return left_out;
}
