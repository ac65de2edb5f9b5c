/*
 * The agent: one process per host, which runs the elections and serves local clients. This room puts the other
 * rooms of src/agent together, and is the only one that knows them all. Start with agent.c, the loop; wiring.c
 * connects host and seal to socket, disk, clock and clients, and reload.c reads the configuration again. A
 * datagram goes from on_readable() through seal_receive() to host_receive().
 */
#ifndef ELECTOR_AGENT_AGENT_H
#define ELECTOR_AGENT_AGENT_H

#include "agent/config/config.h"

/* Exit codes other than 0: the configuration is unusable; a socket, file or lock is not available; the disk
 * failed. */
enum { AGENT_BAD_CONFIG = 78, AGENT_CANNOT_START = 69, AGENT_DISK_FAILED = 74 };

/*
 * Runs until it is told to stop, and returns the exit code. `program` is executed as the guardian
 * (agent/guardian/guardian_client.h); NULL: no guardian. It must know the guardian's mode: a program that ran
 * an agent instead would start agents without end. `stall_ns` is for http_setup (agent/serve/http/http.h).
 */
int agent_run(struct config *, const char *program, uint64_t (*stall_ns)(const struct config *));

#endif
