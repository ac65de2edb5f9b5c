/* A guardian's whole life, in a process of its own. */
#define _GNU_SOURCE
#include "lib/host/guardian.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <time.h>

static void pass(int channel, struct guardian_message m, int fd)
{
    char room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&m, GUARDIAN_HEAD + m.size};
    struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        head.msg_control = room;
        head.msg_controllen = sizeof room;
        struct cmsghdr *c = CMSG_FIRSTHDR(&head);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    assert_true(sendmsg(channel, &head, MSG_NOSIGNAL) >= 0);
}

/* A guardian of the process `agent`; its end of the channel is ours. */
static pid_t live(int agent, int *channel)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        close(STDERR_FILENO);
        _exit(guardian_main(ends[1], agent));
    }
    close(ends[1]);
    *channel = ends[0];
    pass(*channel, message(GUARDIAN_BEGIN, 0), g.socket);
    pass(*channel, obituary("gone"), -1);
    return pid;
}

static void await_that_all_is_heard(int channel)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    for (int unread = 1, i = 0; unread > 0 && i < 60000; i++) {
        nanosleep(&nap, NULL);
        assert_int_equal(ioctl(channel, SIOCOUTQ, &unread), 0);
    }
}

static void the_death_of_its_agent_is_told(void **state)
{
    int agent_fd, channel, status = -1;
    const pid_t agent = sleeper(&agent_fd), pid = live(agent_fd, &channel);
    pass(channel, message(GUARDIAN_PATIENCE, 60000), -1);
    await_that_all_is_heard(channel);
    kill(pid, SIGTERM); /* with its whole group: it stays */
    kill(pid, SIGHUP);
    put_down(agent);
    close(channel);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(count_told(), GUARDIAN_TIMES);
    close(agent_fd);
}

/* An agent that dies while its guardian is being started has told it all that it must know. */
static void a_death_before_its_first_breath_is_told(void **state)
{
    int agent_fd, ends[2];
    const pid_t agent = sleeper(&agent_fd);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pass(ends[0], message(GUARDIAN_BEGIN, 0), g.socket);
    pass(ends[0], obituary("gone"), -1);
    pass(ends[0], message(GUARDIAN_PATIENCE, 60000), -1);
    put_down(agent);
    close(ends[0]);
    const pid_t pid = fork();
    if (pid == 0) {
        close(STDERR_FILENO);
        _exit(guardian_main(ends[1], agent_fd));
    }
    close(ends[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(count_told(), GUARDIAN_TIMES);
    close(agent_fd);
}

/* Whoever closes the channel and lives is no dead agent. */
static void a_closed_channel_is_no_death(void **state)
{
    int agent_fd, channel;
    const pid_t agent = sleeper(&agent_fd), pid = live(agent_fd, &channel);
    pass(channel, message(GUARDIAN_PATIENCE, 20), -1);
    close(channel);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(count_told(), 0);
    put_down(agent);
    close(agent_fd);
}

static void after_a_goodbye_nothing_is_told(void **state)
{
    int agent_fd, channel;
    const pid_t agent = sleeper(&agent_fd), pid = live(agent_fd, &channel);
    pass(channel, message(GUARDIAN_PATIENCE, 60000), -1);
    put_down(agent);
    pass(channel, message(GUARDIAN_GOODBYE, 0), -1);
    close(channel);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(count_told(), 0);
    close(agent_fd);
}

/* What was sent before the end is read before the end. */
static void what_it_was_told_last_counts(void **state)
{
    int agent_fd, channel, work_fd;
    const pid_t agent = sleeper(&agent_fd),
                work = sleeper(&work_fd); /* who is forked later has the channel too */
    const pid_t pid = live(agent_fd, &channel);
    pass(channel, message(GUARDIAN_PATIENCE, 20), -1);
    kill(pid, SIGSTOP);
    pass(channel, message(GUARDIAN_WATCH, 1), work_fd);
    put_down(agent);
    close(channel);
    kill(pid, SIGCONT);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(count_told(), 0);
    put_down(work);
    close(work_fd);
    close(agent_fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BENCH(the_death_of_its_agent_is_told), IN_BENCH(a_death_before_its_first_breath_is_told),
        IN_BENCH(a_closed_channel_is_no_death),   IN_BENCH(after_a_goodbye_nothing_is_told),
        IN_BENCH(what_it_was_told_last_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
