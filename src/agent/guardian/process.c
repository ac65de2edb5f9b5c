/* See guardian.h: the guardian's process, from its start until it has nothing more to do. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/confine/confine.h"
#include "agent/guardian/alive_lock.h"
#include "agent/guardian/guardian.h"
#include "base/kernel/time_slice.h"

enum { FDS_MAX = 4 };
enum heard { HEARD_NOTHING, HEARD_A_MESSAGE, HEARD_THE_END };

/* A message has one descriptor at most. */
static int descriptor_of(struct guardian *g, struct msghdr *head)
{
    int fds[FDS_MAX], fd = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(head); c; c = CMSG_NXTHDR(head, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds;
        memcpy(fds, CMSG_DATA(c), count * sizeof *fds);
        for (size_t i = 0; i < count; i++) {
            if (fd >= 0) {
                g->is_mute = true;
                close(fds[i]);
            } else {
                fd = fds[i];
            }
        }
    }
    return fd;
}

/* One message. The end is a goodbye, or a channel that the agent has closed. */
static enum heard hear(struct guardian *g, int channel)
{
    union {
        char room[CMSG_SPACE(FDS_MAX * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct guardian_message m;
    struct iovec part = {&m, sizeof m};
    struct msghdr head = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t size = -1;
    do size = recvmsg(channel, &head, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (size < 0 && errno == EINTR);
    if (size < 0 && errno == EAGAIN) return HEARD_NOTHING;
    if (size <= 0) return HEARD_THE_END;
    const int fd = descriptor_of(g, &head);
    if (head.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) g->is_mute = true;
    guardian_take(g, &m, (size_t)size, fd);
    return g->has_left ? HEARD_THE_END : HEARD_A_MESSAGE;
}

static void drop_privileges(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    (void)syscall(SYS_capset, &head, none);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    confine_memory(); /* nobody may read its datagrams */
    confine_report();
}

/* A signal to a whole session or service is meant for the agent. The guardian ends after it. */
static void ignore_signals(void)
{
    static const int signals[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGPIPE,
                                  SIGTSTP, SIGTTOU, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) (void)signal(signals[i], SIG_IGN);
}

/* ---- Its two threads: one takes messages, the other waits for the agent's lock ---- */

static struct {
    pthread_mutex_t turn; /* whichever learns of the end first keeps it, and ends the process */
    struct guardian guardian;
    int channel;
} life = {.turn = PTHREAD_MUTEX_INITIALIZER, .guardian.socket = -1};

/* All stays open until the process ends: the other thread may use it. */
static _Noreturn void finish(void)
{
    struct guardian *g = &life.guardian;
    if (!g->has_left && g->socket >= 0) guardian_mourn(g);
    exit(0);
}

/* Messages that the agent sent before its death count. The only thread that sends them is dead, so the
 * channel is emptied now. */
static _Noreturn void finish_after_death(void)
{
    guardian_agent_died(&life.guardian);
    while (hear(&life.guardian, life.channel) == HEARD_A_MESSAGE) {}
    finish();
}

static void *await_death(void *unused)
{
    /* On a busy host the lock's owner may die on the CPU on which this thread wakes: it need not wait there until the kernel
     * has freed the owner's memory. The thread that takes messages keeps usual slices: the agent of a new leader sends
     * them, and the guardian would run before the client that was elected. */
    time_slice_shorten();
    if (!alive_lock_says_dead(&life.guardian.page->alive, true)) return unused;
    pthread_mutex_lock(&life.turn);
    finish_after_death();
}

/* Without the second thread the end of the channel and the pidfd tell, later. */
static void watch_lock(struct guardian_page *page)
{
    pthread_t waiter;
    if (alive_lock_says_dead(&page->alive, false)) finish_after_death();
    if (pthread_create(&waiter, NULL, await_death, NULL) == 0) (void)pthread_detach(waiter);
}

static _Noreturn void take_messages(void)
{
    struct guardian *g = &life.guardian;
    struct pollfd polled = {.fd = life.channel, .events = POLLIN};
    for (;;) {
        (void)poll(&polled, 1, -1);
        pthread_mutex_lock(&life.turn);
        const bool had_page = g->page;
        if (hear(g, life.channel) == HEARD_THE_END) finish();
        if (g->page && !had_page) watch_lock(g->page);
        pthread_mutex_unlock(&life.turn);
    }
}

void guardian_main(int channel, int agent)
{
    const struct guardian_message watch_agent = {.kind = GUARDIAN_WATCH};
    (void)setpgid(
        0, 0); /* no new session: the scheduler would share the CPU between the agent's session and ours */
    time_slice_reset(); /* the agent's are short */
    ignore_signals();
    drop_privileges();
    prctl(PR_SET_NAME, "elector-guard", 0, 0, 0);
    life.channel = channel;
    guardian_take(&life.guardian, &watch_agent, GUARDIAN_HEAD, agent); /* a closed channel is no death */
    take_messages();
}
