/* What `elector doctor` looks at in files of their own. */
#ifndef ELECTOR_CLI_CLUSTER_DOCTOR_H
#define ELECTOR_CLI_CLUSTER_DOCTOR_H

#include <sys/timex.h>

#include "agent/config/config.h"

enum verdict { FINE, WARN, WRONG, CANNOT_TELL };

/* What is to be said of `http`. `runs`: there is an agent that should serve it. */
enum verdict doctor_http(const struct config *, bool runs, char *text, size_t size);

/* What is to be said of the clock source of that name; "": there is none. */
enum verdict doctor_source(const char *name, char *text, size_t size);
/* What the kernel is told to add to the clock's rate; the drift that leases allow for, in millionths, must cover it. */
enum verdict doctor_rate(const struct timex *, long ticks_per_s, uint32_t drift, char *text, size_t size);

#endif
