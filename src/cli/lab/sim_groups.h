/* elector sim with groups. */
#ifndef ELECTOR_CLI_LAB_SIM_GROUPS_H
#define ELECTOR_CLI_LAB_SIM_GROUPS_H

#include "cli/cli.h"
#include "elector/core.h"
#include "sim/world/world.h"

/* Runs every group of the settings and prints the results. Returns the exit code. */
int cli_run_groups(const struct sim_settings *settings, bool json);

#endif
