/* Asking an agent for its status. */
#ifndef ELECTOR_CLI_CLUSTER_STATUS_H
#define ELECTOR_CLI_CLUSTER_STATUS_H

#include "client/json_lines.h"

/* All lines of the answer as one object, for one group or (NULL) all. The caller frees it, even after a
 * failure; then the connection's `reason` says why. */
elector_status cli_ask_status(struct json_lines *, const char *group, json_t **all);
/* The members as a table. CLI_NO if fewer than a majority of the votes are heard. */
int cli_write_members(const json_t *status);

#endif
