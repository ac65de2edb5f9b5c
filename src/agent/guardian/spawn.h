/* How a guardian is started: by executing a program anew, so that nothing of the agent's memory is in it. */
#ifndef ELECTOR_AGENT_GUARDIAN_SPAWN_H
#define ELECTOR_AGENT_GUARDIAN_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

enum { CLIENT_CHANNEL = 3, CLIENT_AGENT = 4 }; /* descriptors of the guardian; 2 is ours, 0 and 1 are nothing */

/* 0, or errno. Of *pid and *channel the caller is the owner. */
int guardian_spawn(const char *program, bool json, pid_t *pid, int *channel);

#endif
