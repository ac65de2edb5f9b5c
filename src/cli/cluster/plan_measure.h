/* The part of `elector plan` that asks an agent. */
#ifndef ELECTOR_CLI_CLUSTER_PLAN_MEASURE_H
#define ELECTOR_CLI_CLUSTER_PLAN_MEASURE_H

#include "agent/config/config.h"

/* `url`: of the agent; NULL: of the configuration's socket. Changes `config`. Prints, and returns the exit code. */
int plan_measure(struct config *, const char *url, bool json);

#endif
