/* What the agent tells its operator: one line an event, as key=value or as JSON, on standard error. */
#ifndef ELECTOR_BASE_LOG_H
#define ELECTOR_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_DEBUG_LEVEL, LOG_INFO_LEVEL, LOG_WARN_LEVEL, LOG_ERROR_LEVEL };

void log_set(bool json, bool verbose);
bool log_is_verbose(void); /* whether LOG_DEBUG_LEVEL is written at all */
/* `group` may be NULL. The text is formatted as by printf. */
void log_event(enum log_level, const char *group, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
