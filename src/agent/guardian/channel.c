/* See channel.h. */
#define _GNU_SOURCE
#include "agent/guardian/channel.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/guardian/start.h"
#include "base/pass.h"

enum { STARTS_WITHIN_MS = 2, DIES_WITHIN_MS = 2 };

/* A guardian writes nothing: if we died with something unread, the kernel would reset the channel, and the
 * guardian would lose what it had not read. So a readable channel is its end. */
static bool listen_to(struct guardian_channel *c, uv_loop_t *loop, uv_poll_cb on_end, void *context)
{
    c->poll = calloc(1, sizeof *c->poll);
    if (c->poll && uv_poll_init(loop, c->poll, c->fd) != 0) {
        free(c->poll);
        c->poll = NULL;
    }
    if (!c->poll) return false;
    c->poll->data = context;
    return uv_poll_start(c->poll, UV_READABLE, on_end) == 0;
}

int guardian_channel_open(struct guardian_channel *c, uv_loop_t *loop, const char *program, bool json,
                          bool realtime, uv_poll_cb on_end, void *context)
{
    const bool is_new = !c->start;
    if (is_new) c->start = guardian_start_begin(program, json, realtime);
    if (!c->start) return errno;
    if (!guardian_start_is_over(c->start, is_new ? STARTS_WITHIN_MS : 0)) return EINPROGRESS;
    const int error = guardian_start_take(c->start, &c->pid, &c->fd);
    c->start = NULL;
    if (error) {
        c->pid = 0;
        return error;
    }
    if (listen_to(c, loop, on_end, context)) return 0;
    guardian_channel_close(c);
    return ENOMEM;
}

bool guardian_channel_say(const struct guardian_channel *c, const struct guardian_message *m, int fd)
{
    return pass_send(c->fd, m, GUARDIAN_HEAD + m->size, fd, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

void guardian_channel_close(struct guardian_channel *c)
{
    struct pollfd dead = {.fd = (int)syscall(SYS_pidfd_open, c->pid, 0), .events = POLLIN};
    kill(c->pid, SIGKILL); /* our child, not waited for yet: nobody else has its pid */
    if (dead.fd >= 0) (void)poll(&dead, 1, DIES_WITHIN_MS);
    if (dead.fd >= 0) close(dead.fd);
    (void)waitpid(c->pid, NULL, WNOHANG);
    c->pid = 0;
    if (c->poll) uv_close((uv_handle_t *)c->poll, on_closed);
    c->poll = NULL;
    close(c->fd);
    c->fd = -1;
}

void guardian_channel_give_up(struct guardian_channel *c)
{
    guardian_start_abandon(c->start);
    c->start = NULL;
}
