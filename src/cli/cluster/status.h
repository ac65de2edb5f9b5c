/* What the verbs that print the state of an agent share. */
#ifndef ELECTOR_CLI_CLUSTER_STATUS_H
#define ELECTOR_CLI_CLUSTER_STATUS_H

#include "client/json_lines.h"

/* All lines of the answer as one object, for one group or (NULL) all. The caller frees it, even after a
 * failure; then the connection's `reason` says why. */
elector_status cli_ask_status(struct json_lines *, const char *group, json_t **all);
/* What serves the other end, as its answer to `hello` says: "etcd", or "" for an agent. */
elector_status cli_ask_engine(struct json_lines *, char *engine, size_t size);
/* For --watch: waits for a second, then separates what was printed from what follows. False: nobody reads it. */
bool cli_watch_on(bool json);

#endif
