/* A guardian in a process of its own, and the agent's end of its channel. */
#ifndef ELECTOR_TEST_LIB_HOST_GUARDIAN_PROCESS_H
#define ELECTOR_TEST_LIB_HOST_GUARDIAN_PROCESS_H

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <time.h>

#include "base/pass.h"
#include "lib/host/guardian.h"

static inline void pass(int channel, struct guardian_message m, int fd)
{
    assert_true(pass_send(channel, &m, GUARDIAN_HEAD + m.size, fd, MSG_NOSIGNAL) >= 0);
}

/* A guardian of the process `agent` with one end of a channel; the other stays ours. */
static inline pid_t start_guardian(const int ends[2], int agent)
{
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        close(ends[0]);
        close(STDERR_FILENO);
        guardian_main(ends[1], agent);
    }
    assert_true(pid > 0);
    close(ends[1]);
    return pid;
}

/* One that can send from a socket and has an obituary. Our end of its channel is *channel. */
static inline pid_t live(int agent, int *channel)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    const pid_t pid = start_guardian(ends, agent);
    *channel = ends[0];
    pass(*channel, message(GUARDIAN_BEGIN, 0), g.socket);
    pass(*channel, obituary("gone"), -1);
    return pid;
}

static inline void await_that_all_is_heard(int channel)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    for (int unread = 1, i = 0; unread > 0 && i < 60000; i++) {
        nanosleep(&nap, NULL);
        assert_int_equal(ioctl(channel, SIOCOUTQ, &unread), 0);
    }
}

#endif
