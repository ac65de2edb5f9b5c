/* Checks of `elector doctor` that have files of their own. */
#ifndef ELECTOR_CLI_CLUSTER_DOCTOR_H
#define ELECTOR_CLI_CLUSTER_DOCTOR_H

#include <sys/timex.h>

#include "agent/config/config.h"

enum verdict { FINE, WARN, WRONG, CANNOT_TELL };

/* Checks `http`. `runs`: there is an agent that should serve it. `error`: why it does not, as it says; NULL: it
 * does. */
enum verdict doctor_http(const struct config *, bool runs, const char *error, char *text, size_t size);

/* Judges the clock source of that name; "": unknown. */
enum verdict doctor_source(const char *name, char *text, size_t size);
/* Judges the kernel's adjustment of the clock rate: the configured drift, in millionths, must cover it. */
enum verdict doctor_rate(const struct timex *, long ticks_per_s, uint32_t drift, char *text, size_t size);

#endif
