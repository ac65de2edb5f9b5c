/* Starts a guardian by executing a program, so that it shares no memory with the agent. */
#ifndef ELECTOR_AGENT_GUARDIAN_SPAWN_H
#define ELECTOR_AGENT_GUARDIAN_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

enum {
    CLIENT_CHANNEL = 3,
    CLIENT_AGENT = 4
}; /* descriptors of the guardian; it shares 2, and 0 and 1 are /dev/null */

/* Returns 0 or an errno. The caller owns *pid and *channel. */
int guardian_spawn(const char *program, bool json, bool realtime, pid_t *pid, int *channel);

#endif
