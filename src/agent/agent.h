/* The agent: one process a host, which runs the machines and serves local clients. */
#ifndef ELECTOR_AGENT_AGENT_H
#define ELECTOR_AGENT_AGENT_H

#include "agent/config/config.h"

/* Exit codes beside 0: a configuration that cannot be used; a socket, file or lock that cannot be had; the disk. */
enum { AGENT_BAD_CONFIG = 78, AGENT_CANNOT_START = 69, AGENT_DISK_FAILED = 74 };

/* Runs until it is told to stop. Returns the exit code. `program` is what agent/guardian/guardian_client.h executes as a guardian; NULL: none is
 * to be had. A program that does not know that mode would start agents without end. */
int agent_run(struct config *, const char *program);

#endif
