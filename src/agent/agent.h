/* The agent: one process a host, which runs the machines and serves local clients. */
#ifndef ELECTOR_AGENT_AGENT_H
#define ELECTOR_AGENT_AGENT_H

#include "agent/config.h"

/* Exit codes beside 0: a configuration that cannot be used; a socket, file or lock that cannot be had; the disk. */
enum { AGENT_BAD_CONFIG = 78, AGENT_CANNOT_START = 69, AGENT_DISK_FAILED = 74 };

/* Runs until it is told to stop. Returns the exit code. */
int agent_run(struct config *);

#endif
