/* A bench for the guardian: messages, real processes, lines, and a socket that receives as one peer. */
#ifndef ELECTOR_TEST_LIB_HOST_GUARDIAN_H
#define ELECTOR_TEST_LIB_HOST_GUARDIAN_H

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/guardian/guardian.h"
#include "base/kernel/memfd.h"

static struct guardian g;
static int ear; /* of the one peer */
static struct sockaddr_storage ear_address;

/* ---- The bench ---- */

static inline int open_socket(struct sockaddr_storage *address)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof *address;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&any, sizeof any), 0);
    memset(address, 0, sizeof *address);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &size), 0);
    return fd;
}

static inline struct guardian_message message(enum guardian_kind kind, uint32_t number)
{
    return (struct guardian_message){.kind = kind, .number = number};
}

static inline void hear(enum guardian_kind kind, uint32_t number, int fd)
{
    const struct guardian_message m = message(kind, number);
    guardian_take(&g, &m, GUARDIAN_HEAD, fd);
}

static inline struct guardian_message obituary(const char *text)
{
    struct guardian_message m = message(GUARDIAN_OBITUARY, 2);
    m.size = (uint32_t)strlen(text);
    m.address = ear_address;
    memcpy(m.datagram, text, m.size);
    return m;
}

static inline void take_release(uint32_t number, const char *text)
{
    struct guardian_message m = obituary(text);
    m.kind = GUARDIAN_RELEASE;
    m.number = number;
    m.peer = 2;
    guardian_take(&g, &m, GUARDIAN_HEAD + m.size, -1);
}

static inline int begin(void **state)
{
    struct sockaddr_storage own;
    memset(&g, 0, sizeof g);
    g.socket = -1;
    ear = open_socket(&ear_address);
    hear(GUARDIAN_BEGIN, 0, open_socket(&own));
    hear(GUARDIAN_TIMEOUT, 60000, -1);
    const struct guardian_message m = obituary("gone");
    guardian_take(&g, &m, GUARDIAN_HEAD + m.size, -1);
    assert_false(g.is_mute);
    return 0;
}

static inline int end(void **state)
{
    guardian_close(&g);
    close(ear);
    return 0;
}

/* A process that does nothing until it is killed, and its pidfd. */
static inline pid_t sleeper(int *pidfd)
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

static inline void put_down(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static inline bool is_alive(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) == 0;
}

/* Its far end. */
static inline int lay_line(uint32_t number)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    hear(GUARDIAN_LINE, number, ends[0]);
    return ends[1];
}

static inline void was_asked(int line)
{
    char word[16] = "";
    assert_int_equal(recv(line, word, sizeof word, MSG_DONTWAIT), strlen(GUARDIAN_LINE_END));
    assert_string_equal(word, GUARDIAN_LINE_END);
}

static inline void say(int line, const char *word)
{
    assert_int_equal(send(line, word, strlen(word), MSG_NOSIGNAL), strlen(word));
}

/* As an agent makes it, but that nobody holds its lock. */
static inline struct guardian_page *make_page(int *fd)
{
    *fd = memfd_new("test");
    assert_int_equal(ftruncate(*fd, sizeof(struct guardian_page)), 0);
    struct guardian_page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    return page;
}

static inline struct guardian_page *share_page(void)
{
    int fd;
    struct guardian_page *page = make_page(&fd);
    hear(GUARDIAN_PAGE, 0, fd);
    assert_false(g.is_mute);
    return page;
}

static inline int count_words(const char *word)
{
    char text[16];
    int told = 0;
    while (recv(ear, text, sizeof text, MSG_DONTWAIT) == 4) told += memcmp(text, word, 4) == 0;
    return told;
}

static inline int count_told(void)
{
    return count_words("gone");
}

#define IN_BENCH(test) cmocka_unit_test_setup_teardown(test, begin, end)

#endif
