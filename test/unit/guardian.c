/* The guardian without an agent: what it is told by messages, real processes, lines and sockets. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/guardian.h"

static struct guardian g;
static int ear; /* of the one peer */
static struct sockaddr_storage ear_address;

/* ---- The bench ---- */

static int open_socket(struct sockaddr_storage *address)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof *address;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&any, sizeof any), 0);
    memset(address, 0, sizeof *address);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &size), 0);
    return fd;
}

static struct guardian_message message(enum guardian_kind kind, uint32_t number)
{
    return (struct guardian_message){.kind = kind, .number = number};
}

static void hear(enum guardian_kind kind, uint32_t number, int fd)
{
    const struct guardian_message m = message(kind, number);
    guardian_take(&g, &m, GUARDIAN_HEAD, fd);
}

static struct guardian_message obituary(const char *text)
{
    struct guardian_message m = message(GUARDIAN_OBITUARY, 2);
    m.size = (uint32_t)strlen(text);
    m.address = ear_address;
    memcpy(m.datagram, text, m.size);
    return m;
}

static void take_release(uint32_t number, const char *text)
{
    struct guardian_message m = obituary(text);
    m.kind = GUARDIAN_RELEASE;
    m.number = number;
    m.peer = 2;
    guardian_take(&g, &m, GUARDIAN_HEAD + m.size, -1);
}

static int begin(void **state)
{
    struct sockaddr_storage own;
    memset(&g, 0, sizeof g);
    g.socket = -1;
    ear = open_socket(&ear_address);
    hear(GUARDIAN_BEGIN, 0, open_socket(&own));
    hear(GUARDIAN_PATIENCE, 60000, -1);
    const struct guardian_message m = obituary("gone");
    guardian_take(&g, &m, GUARDIAN_HEAD + m.size, -1);
    assert_false(g.is_mute);
    return 0;
}

static int end(void **state)
{
    guardian_close(&g);
    close(ear);
    return 0;
}

/* A process that does nothing until it is killed, and its pidfd. */
static pid_t sleeper(int *pidfd)
{
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        for (;;) pause();
    }
    assert_true(pid > 0);
    *pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    assert_true(*pidfd >= 0);
    return pid;
}

static void put_down(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static bool is_alive(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) == 0;
}

/* Its far end. */
static int lay_line(uint32_t number)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    hear(GUARDIAN_LINE, number, ends[0]);
    return ends[1];
}

static void was_asked(int line)
{
    char word[16] = "";
    assert_int_equal(recv(line, word, sizeof word, MSG_DONTWAIT), strlen(GUARDIAN_LINE_END));
    assert_string_equal(word, GUARDIAN_LINE_END);
}

static void say(int line, const char *word)
{
    assert_int_equal(send(line, word, strlen(word), MSG_NOSIGNAL), strlen(word));
}

static int count_words(const char *word)
{
    char text[16];
    int told = 0;
    while (recv(ear, text, sizeof text, MSG_DONTWAIT) == 4) told += memcmp(text, word, 4) == 0;
    return told;
}

static int count_told(void)
{
    return count_words("gone");
}

/* ---- What it may say, and when ---- */

static void nothing_to_wait_for_is_over(void **state)
{
    assert_true(guardian_end_all(&g));
    guardian_tell(&g);
    assert_int_equal(count_told(), GUARDIAN_TIMES);
}

static void a_process_is_waited_for_and_never_killed(void **state)
{
    int pidfd;
    const pid_t pid = sleeper(&pidfd);
    hear(GUARDIAN_WATCH, 1, pidfd);
    hear(GUARDIAN_PATIENCE, 30, -1);
    assert_false(guardian_end_all(&g));
    assert_true(is_alive(pid));
    put_down(pid);
    assert_true(guardian_end_all(&g));
}

static void a_process_that_ends_meanwhile_is_enough(void **state)
{
    int pidfd;
    const pid_t pid = sleeper(&pidfd);
    hear(GUARDIAN_WATCH, 1, pidfd);
    const pid_t killer = fork();
    if (killer == 0) {
        usleep(20000);
        kill(pid, SIGKILL);
        _exit(0);
    }
    assert_true(guardian_end_all(&g)); /* or the test hangs for a minute */
    assert_int_equal(waitpid(killer, NULL, 0), killer);
    put_down(pid);
}

static void all_must_be_over_not_one(void **state)
{
    int dead_fd, living_fd;
    const pid_t dead = sleeper(&dead_fd), living = sleeper(&living_fd);
    hear(GUARDIAN_WATCH, 1, living_fd);
    hear(GUARDIAN_WATCH, 2, dead_fd);
    hear(GUARDIAN_PATIENCE, 20, -1);
    put_down(dead);
    assert_false(guardian_end_all(&g));
    hear(GUARDIAN_UNWATCH, 1, -1);
    assert_true(guardian_end_all(&g));
    put_down(living);
}

static void work_is_asked_to_end_and_believed_when_it_says_so(void **state)
{
    const int line = lay_line(1);
    hear(GUARDIAN_PATIENCE, 20, -1);
    assert_false(guardian_end_all(&g));
    was_asked(line);
    say(line, GUARDIAN_LINE_OVER);
    assert_true(guardian_end_all(&g));
    close(line);
}

static void a_line_that_breaks_proves_nothing(void **state)
{
    close(lay_line(1));
    assert_false(guardian_end_all(&g)); /* at once: it has a minute */
}

static void another_word_proves_nothing(void **state)
{
    const int line = lay_line(1);
    say(line, "ove");
    assert_false(guardian_end_all(&g));
    close(line);
}

/* The keeper ends by itself, and elector run lets go: what we asked was never read, which resets the line. Whether it is
 * reset before the word is read is chance; so it is tried often. */
static void a_word_before_the_line_breaks_counts(void **state)
{
    for (uint32_t i = 1; i <= 600; i++) {
        const int line = lay_line(i);
        const pid_t keeper = fork();
        if (keeper == 0) {
            struct pollfd asked = {.fd = line, .events = POLLIN};
            (void)poll(&asked, 1, -1);
            (void)!send(line, GUARDIAN_LINE_OVER, strlen(GUARDIAN_LINE_OVER), MSG_NOSIGNAL);
            _exit(0);
        }
        close(line);
        assert_true(guardian_end_all(&g));
        waitpid(keeper, NULL, 0);
        hear(GUARDIAN_UNWATCH, i, -1);
    }
}

static void what_cannot_be_watched_keeps_it_silent(void **state)
{
    hear(GUARDIAN_BLIND, 1, -1);
    assert_false(guardian_end_all(&g));
    hear(GUARDIAN_UNWATCH, 1, -1);
    hear(GUARDIAN_WATCH, 2, -1); /* its descriptor did not come */
    assert_false(guardian_end_all(&g));
}

static void a_later_obituary_takes_the_place_of_an_earlier(void **state)
{
    const struct guardian_message later = obituary("late"), none = obituary("");
    guardian_take(&g, &later, GUARDIAN_HEAD + later.size, -1);
    guardian_tell(&g);
    assert_int_equal(count_told(), 0); /* the words were others */
    guardian_take(&g, &none, GUARDIAN_HEAD, -1);
    guardian_tell(&g);
    assert_int_equal(recv(ear, &(char[8]){0}, 8, MSG_DONTWAIT), -1);
}

/* ---- Of some ---- */

/* One whose work is over beside one that works on, or of which nobody knows. */
static void what_is_over_is_told_though_others_go_on(void **state)
{
    int dead_fd, living_fd;
    const pid_t dead = sleeper(&dead_fd), living = sleeper(&living_fd);
    hear(GUARDIAN_WATCH, 1, living_fd);
    hear(GUARDIAN_WATCH, 2, dead_fd);
    hear(GUARDIAN_BLIND, 3, -1);
    take_release(1, "live");
    take_release(2, "dead");
    hear(GUARDIAN_PATIENCE, 20, -1);
    put_down(dead);
    assert_false(guardian_end_all(&g));
    char text[16];
    for (int i = 0; i < GUARDIAN_TIMES; i++) {
        assert_int_equal(recv(ear, text, sizeof text, MSG_DONTWAIT), 4);
        assert_memory_equal(text, "dead", 4);
    }
    assert_int_equal(recv(ear, text, sizeof text, MSG_DONTWAIT), -1);
    put_down(living);
}

static void beside_what_is_never_known_all_others_are_told(void **state)
{
    const int first = lay_line(1), second = lay_line(2);
    hear(GUARDIAN_BLIND, 3, -1);
    take_release(1, "over");
    take_release(2, "over");
    say(second, GUARDIAN_LINE_OVER);
    say(first, GUARDIAN_LINE_OVER);
    assert_false(guardian_end_all(&g)); /* at once: it has a minute */
    assert_int_equal(count_words("over"), 2 * GUARDIAN_TIMES);
    close(first);
    close(second);
}

/* Its leases may be renewed, and the same client may lead again. */
static void nothing_is_released_while_the_agent_lives(void **state)
{
    int agent_fd, dead_fd;
    const pid_t agent = sleeper(&agent_fd), dead = sleeper(&dead_fd);
    hear(GUARDIAN_WATCH, 0, agent_fd);
    hear(GUARDIAN_WATCH, 1, dead_fd);
    take_release(1, "dead");
    hear(GUARDIAN_PATIENCE, 20, -1);
    put_down(dead);
    assert_false(guardian_end_all(&g));
    assert_int_equal(count_words("dead"), 0);
    put_down(agent);
}

static void where_all_is_over_the_obituary_says_so(void **state)
{
    const int line = lay_line(1);
    take_release(1, "dead");
    say(line, GUARDIAN_LINE_OVER);
    assert_true(guardian_end_all(&g));
    assert_int_equal(count_words("dead"), 0);
    close(line);
}

static void a_release_goes_with_its_work_and_makes_way_for_a_later_one(void **state)
{
    const int first = lay_line(1);
    take_release(1, "old1");
    hear(GUARDIAN_UNWATCH, 1, -1);
    const int again = lay_line(1), other = lay_line(2), third = lay_line(3);
    hear(GUARDIAN_BLIND, 4, -1);
    take_release(2, "old2");
    take_release(2, "new2");
    take_release(3, "old3");
    take_release(3, "");
    say(again, GUARDIAN_LINE_OVER);
    say(other, GUARDIAN_LINE_OVER);
    say(third, GUARDIAN_LINE_OVER);
    assert_false(g.is_mute);
    assert_false(guardian_end_all(&g));
    char text[16];
    for (int i = 0; i < GUARDIAN_TIMES; i++) {
        assert_int_equal(recv(ear, text, sizeof text, MSG_DONTWAIT), 4);
        assert_memory_equal(text, "new2", 4);
    }
    assert_int_equal(recv(ear, text, sizeof text, MSG_DONTWAIT), -1);
    close(first), close(again), close(other), close(third);
}

/* ---- What is not understood ---- */

static void is_mute_after(const struct guardian_message *m, size_t size)
{
    g.is_mute = false;
    guardian_take(&g, m, size, -1);
    assert_true(g.is_mute);
    assert_false(guardian_end_all(&g));
}

static void nonsense_makes_it_mute(void **state)
{
    struct guardian_message m = obituary("gone");
    is_mute_after(&m, GUARDIAN_HEAD - 1);
    is_mute_after(&m, GUARDIAN_HEAD + m.size - 1);
    m.size = GUARDIAN_DATAGRAM_MAX + 1;
    is_mute_after(&m, sizeof m);
    m = obituary("gone");
    m.number = 0;
    is_mute_after(&m, GUARDIAN_HEAD + m.size);
    m.number = GUARDIAN_PEERS_MAX + 1;
    is_mute_after(&m, GUARDIAN_HEAD + m.size);
    hear(GUARDIAN_BLIND, 1, -1);
    m = obituary("gone");
    m.kind = GUARDIAN_RELEASE;
    m.number = 1;
    m.peer = 0;
    is_mute_after(&m, GUARDIAN_HEAD + m.size);
    m.peer = GUARDIAN_PEERS_MAX + 1;
    is_mute_after(&m, GUARDIAN_HEAD + m.size);
    m.peer = 2;
    is_mute_after(&m, GUARDIAN_HEAD + m.size - 1);
    m.number = 2; /* nobody's */
    is_mute_after(&m, GUARDIAN_HEAD + m.size);
    m = message(GUARDIAN_UNWATCH, 77);
    is_mute_after(&m, GUARDIAN_HEAD);
    m = message(GUARDIAN_BEGIN, 0); /* a second time */
    is_mute_after(&m, GUARDIAN_HEAD);
    m = message((enum guardian_kind)1000, 0);
    is_mute_after(&m, GUARDIAN_HEAD);
}

static void more_than_there_is_room_for_makes_it_mute(void **state)
{
    for (uint32_t i = 0; i < GUARDIAN_WATCHED_MAX; i++) hear(GUARDIAN_BLIND, i + 1, -1);
    assert_false(g.is_mute);
    hear(GUARDIAN_BLIND, GUARDIAN_WATCHED_MAX + 1, -1);
    assert_true(g.is_mute);
    for (uint32_t i = 0; i < GUARDIAN_WATCHED_MAX; i++) hear(GUARDIAN_UNWATCH, i + 1, -1);
    assert_false(guardian_end_all(&g));
}

/* ---- Its whole life, in a process ---- */

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

#define IN_BENCH(test) cmocka_unit_test_setup_teardown(test, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BENCH(nothing_to_wait_for_is_over),
        IN_BENCH(a_process_is_waited_for_and_never_killed),
        IN_BENCH(a_process_that_ends_meanwhile_is_enough),
        IN_BENCH(all_must_be_over_not_one),
        IN_BENCH(work_is_asked_to_end_and_believed_when_it_says_so),
        IN_BENCH(a_line_that_breaks_proves_nothing),
        IN_BENCH(another_word_proves_nothing),
        IN_BENCH(a_word_before_the_line_breaks_counts),
        IN_BENCH(what_cannot_be_watched_keeps_it_silent),
        IN_BENCH(a_later_obituary_takes_the_place_of_an_earlier),
        IN_BENCH(what_is_over_is_told_though_others_go_on),
        IN_BENCH(beside_what_is_never_known_all_others_are_told),
        IN_BENCH(nothing_is_released_while_the_agent_lives),
        IN_BENCH(where_all_is_over_the_obituary_says_so),
        IN_BENCH(a_release_goes_with_its_work_and_makes_way_for_a_later_one),
        IN_BENCH(nonsense_makes_it_mute),
        IN_BENCH(more_than_there_is_room_for_makes_it_mute),
        IN_BENCH(the_death_of_its_agent_is_told),
        IN_BENCH(a_death_before_its_first_breath_is_told),
        IN_BENCH(a_closed_channel_is_no_death),
        IN_BENCH(after_a_goodbye_nothing_is_told),
        IN_BENCH(what_it_was_told_last_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
