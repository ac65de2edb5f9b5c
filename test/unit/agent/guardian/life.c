/* A guardian's whole life, in a process of its own. */
#define _GNU_SOURCE
#include "lib/host/guardian_process.h"

static void the_death_of_its_agent_is_told(void **state)
{
    int agent_fd, channel, status = -1;
    const pid_t agent = sleeper(&agent_fd), pid = live(agent_fd, &channel);
    pass(channel, message(GUARDIAN_TIMEOUT, 60000), -1);
    await_that_all_is_heard(channel);
    kill(pid, SIGTERM); /* as with a whole session: it stays */
    kill(pid, SIGHUP);
    put_down(agent);
    close(channel);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(count_told(), GUARDIAN_TIMES);
    close(agent_fd);
}

/* An agent that dies while its guardian starts has told it all that it must know. */
static void a_death_before_it_runs_is_told(void **state)
{
    int agent_fd, ends[2];
    const pid_t agent = sleeper(&agent_fd);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pass(ends[0], message(GUARDIAN_BEGIN, 0), g.socket);
    pass(ends[0], obituary("gone"), -1);
    pass(ends[0], message(GUARDIAN_TIMEOUT, 60000), -1);
    put_down(agent);
    close(ends[0]);
    const pid_t pid = start_guardian(ends, agent_fd);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(count_told(), GUARDIAN_TIMES);
    close(agent_fd);
}

/* An agent that closes the channel and lives is not dead. */
static void a_closed_channel_is_no_death(void **state)
{
    int agent_fd, channel;
    const pid_t agent = sleeper(&agent_fd), pid = live(agent_fd, &channel);
    pass(channel, message(GUARDIAN_TIMEOUT, 20), -1);
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
    pass(channel, message(GUARDIAN_TIMEOUT, 60000), -1);
    put_down(agent);
    pass(channel, message(GUARDIAN_GOODBYE, 0), -1);
    close(channel);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(count_told(), 0);
    close(agent_fd);
}

/* A message that was sent before the end counts. */
static void what_it_was_told_last_counts(void **state)
{
    int agent_fd, channel, work_fd;
    const pid_t agent = sleeper(&agent_fd),
                work = sleeper(&work_fd); /* forked first, or it would hold the channel open */
    const pid_t pid = live(agent_fd, &channel);
    pass(channel, message(GUARDIAN_TIMEOUT, 20), -1);
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
        IN_BENCH(the_death_of_its_agent_is_told), IN_BENCH(a_death_before_it_runs_is_told),
        IN_BENCH(a_closed_channel_is_no_death),   IN_BENCH(after_a_goodbye_nothing_is_told),
        IN_BENCH(what_it_was_told_last_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
