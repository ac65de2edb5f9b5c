/* Reads times, chances and ranges as people type them. If the text does not match, a function returns false and
 * leaves `*at` where it was; only parse_end() moves it past blanks. */
#ifndef ELECTOR_SIM_PLAN_PARSE_H
#define ELECTOR_SIM_PLAN_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/plan/plan.h"

/* "0.25" or "25%", in units of 1/SIM_CERTAIN. */
bool parse_chance(const char **at, sim_chance *chance);
/* "1.05" as parts per million. */
bool parse_millionths(const char **at, uint64_t *millionths);
/* "4" and "2.5T" count in `unit`; "150ms", "20us" and "1s" are real time. *real (may be NULL) says which it
 * was. */
bool parse_time(const char **at, sim_time unit, sim_time *time, bool *real);
/* "2" or "0.5..2" or "5..15ms". */
bool parse_time_range(const char **at, sim_time unit, sim_time *min, sim_time *max, bool *real);
bool parse_char(const char **at, char expected);
bool parse_text(const char **at, const char *expected);
void skip_space(const char **at);
/* Skips blanks. True: the text ends here. */
bool parse_end(const char **at);

#endif
