/* The agent's end of a guardian: its process, and the channel to it. */
#ifndef ELECTOR_AGENT_GUARDIAN_CHANNEL_H
#define ELECTOR_AGENT_GUARDIAN_CHANNEL_H

#include <uv.h>

#include "agent/guardian/guardian.h"

struct guardian_channel {
    pid_t pid; /* 0: no guardian runs */
    int fd;
    uv_poll_t *poll;
};

/* Starts a guardian (spawn.h). `on_end` is called when it has died, with poll->data = context; the caller then
 * calls guardian_channel_close(). Returns 0 or an errno. */
int guardian_channel_open(struct guardian_channel *, uv_loop_t *, const char *program, bool json, bool realtime,
                          uv_poll_cb on_end, void *context);
/* Never blocks. False: the channel is full, or the guardian is dead. */
bool guardian_channel_say(const struct guardian_channel *, const struct guardian_message *, int fd);
/* Kills the guardian and waits until it is dead: no work may begin that a living guardian does not know of. */
void guardian_channel_close(struct guardian_channel *);

#endif
