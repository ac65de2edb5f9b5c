/* What an agent knows, as it says it. */
#ifndef ELECTOR_CLI_CLUSTER_STATUS_H
#define ELECTOR_CLI_CLUSTER_STATUS_H

#include "client/json_lines.h"

/* All lines of the answer in one object, for one group or (NULL) all. Freed by the caller also where it fails; then
 * the wire's reason says why. */
elector_status cli_ask_status(struct json_lines *, const char *group, json_t **all);

#endif
