/* Reading times, chances and lists as people type them; numbers are read by base/units. Every reader advances `*at` only on success. */
#ifndef ELECTOR_SIM_PLAN_PARSE_H
#define ELECTOR_SIM_PLAN_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/plan/plan.h"

/* "0.25" or "25%", as parts of 2^32. */
bool parse_chance(const char **at, sim_chance *chance);
/* "1.05" as parts per million. */
bool parse_millionths(const char **at, uint64_t *millionths);
/* "4", "2.5T" in units; "150ms", "20us", "1s" as they are. `real` (may be NULL) says which it was. */
bool parse_time(const char **at, sim_time unit, sim_time *time, bool *real);
/* "2" or "0.5..2" or "5..15ms". */
bool parse_time_range(const char **at, sim_time unit, sim_time *min, sim_time *max, bool *real);
bool parse_char(const char **at, char expected);
bool parse_text(const char **at, const char *expected);
void skip_space(const char **at);
/* Nothing but white space is left. */
bool parse_end(const char **at);

#endif
