/* The agent's end of a guardian: its process, and the channel to it. */
#ifndef ELECTOR_AGENT_GUARDIAN_CHANNEL_H
#define ELECTOR_AGENT_GUARDIAN_CHANNEL_H

#include <uv.h>

#include "agent/guardian/guardian.h"

struct guardian_channel {
    struct guardian_start *start; /* one is being started; NULL: none is */
    pid_t pid;                    /* 0: no guardian runs */
    int fd;
    uv_poll_t *poll;
};

/* Starts a guardian (start.h). `on_end` is called when it has died, with poll->data = context; the caller then
 * calls guardian_channel_close(). Returns 0 or an errno. EINPROGRESS: it is not there after 2 ms; call this again later. */
int guardian_channel_open(struct guardian_channel *, uv_loop_t *, const char *program, bool json, bool realtime,
                          uv_poll_cb on_end, void *context);
/* Never blocks. False: the channel is full, or the guardian is dead. */
bool guardian_channel_say(const struct guardian_channel *, const struct guardian_message *, int fd);
/*
 * Kills the guardian, and waits until it is dead, but for 2 ms at most: no work may begin that a living guardian does not know
 * of. After that time it is in a system call that cannot be interrupted, such as a write to a frozen disk, or waits for a
 * processor. It never comes to an instruction of its own again, so it sends nothing. Who hears SIGCHLD reaps it.
 */
void guardian_channel_close(struct guardian_channel *);
/* The one that is being started is not wanted any more, if there is one. */
void guardian_channel_give_up(struct guardian_channel *);

#endif
