/* Parses numbers, times, sizes and switches as people type them, and an algorithm's options. */
#ifndef ELECTOR_BASE_UNITS_H
#define ELECTOR_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "elector/core.h"

enum { UNITS_TIME_TEXT = 32 };
#define UNITS_TIME_MAX (86400 * NS_PER_S) /* a day */

/* Each reads as far as it can and moves `*at` past that; on failure nothing changes. */
bool units_read_number(const char **at, uint64_t *number);
/* "2.5", ".5": times `scale`, rounded down. `exact` (may be NULL) says that nothing was lost. */
bool units_read_decimal(const char **at, uint64_t scale, uint64_t *scaled, bool *exact);
bool units_read_unit(const char **at, uint64_t *ns); /* "ns", "us", "ms", "s" */

/* Each reads the whole text or fails. */
bool units_number(const char *text, uint64_t most, uint64_t *number);
bool units_octal(const char *text, uint64_t most, uint64_t *number);
bool units_time(const char *text, el_duration *time); /* "150ms", "1.5s"; above 0, at most a day */
bool units_millionths(const char *text, uint32_t most, uint32_t *millionths);      /* "0.01" */
bool units_size(const char *text, uint64_t least, uint64_t most, uint64_t *bytes); /* "4MiB", "512KiB" */
bool units_switch(const char *text, bool *on);
/* Reads a flag, choice, number or time. False: `reason` says what was expected. */
bool units_option(const struct el_option *, const char *value, uint64_t *number, char *reason, size_t size);

const char *units_write_time(el_duration time, char text[UNITS_TIME_TEXT]); /* "1.5s" */

#endif
