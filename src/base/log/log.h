/*
 * The log: one line per event on standard error, as key=value or as JSON. A line has at most 4096 bytes; a text that
 * does not fit is cut. No call blocks, and a reader that hangs costs lines (outlet.h).
 */
#ifndef ELECTOR_BASE_LOG_LOG_H
#define ELECTOR_BASE_LOG_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum { LOG_DEFER_MS = 10 };

enum log_level { LOG_DEBUG_LEVEL, LOG_INFO_LEVEL, LOG_WARN_LEVEL, LOG_ERROR_LEVEL };

void log_set(bool json, bool verbose);
void log_only_warnings(void); /* and errors */
/*
 * For a loop on which others wait. To lay out a line and to wake the outlet's thread takes longer than an election: so while
 * the calling thread defers, its lines wait for log_tick(). An error takes those before it along at once. Only one thread of
 * a process may defer, and it stops before it ends: what waits then is written, and would be lost otherwise.
 */
void log_defer(bool);
/* Writes the lines that wait, LOG_DEFER_MS after the first of them. Returns when to call it again, on CLOCK_BOOTTIME;
 * UINT64_MAX: none waits. */
uint64_t log_tick(uint64_t now_ns);
bool log_is_verbose(void); /* whether LOG_DEBUG_LEVEL is written */
/* `group` may be NULL. `format` is printf's. Say the event, its object, the cause, and what happens next. */
void log_event(enum log_level, const char *group, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
