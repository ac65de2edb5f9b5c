/*
 * The log: one line per event on standard error, as key=value or as JSON. A line has at most 4096 bytes; a text that
 * does not fit is cut. No call blocks, and a reader that hangs costs lines (outlet.h).
 */
#ifndef ELECTOR_BASE_LOG_LOG_H
#define ELECTOR_BASE_LOG_LOG_H

#include <stdbool.h>

enum log_level { LOG_DEBUG_LEVEL, LOG_INFO_LEVEL, LOG_WARN_LEVEL, LOG_ERROR_LEVEL };

void log_set(bool json, bool verbose);
bool log_is_verbose(void); /* whether LOG_DEBUG_LEVEL is written */
/* `group` may be NULL. `format` is printf's. Say the event, its object, the cause, and what happens next. */
void log_event(enum log_level, const char *group, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
