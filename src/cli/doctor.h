/* What `elector doctor` looks at in files of their own. */
#ifndef ELECTOR_CLI_DOCTOR_H
#define ELECTOR_CLI_DOCTOR_H

#include "agent/config.h"

enum verdict { FINE, WARN, WRONG, CANNOT_TELL };

/* What is to be said of `http`. `runs`: there is an agent that should serve it. */
enum verdict doctor_http(const struct config *, bool runs, char *text, size_t size);

#endif
