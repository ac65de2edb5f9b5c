/* A descriptor whose last owner waits when it closes it, and how a client passes descriptors. */
#ifndef ELECTOR_TEST_LIB_LINGERING_H
#define ELECTOR_TEST_LIB_LINGERING_H

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { LINGER_S = 6 };

static int listener = -1, far_end = -1;

/* A TCP socket with data that nobody reads: the last one to close it waits for LINGER_S. */
static inline int make_lingering(void)
{
    static const char bytes[65536];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const struct linger lingers = {.l_onoff = 1, .l_linger = LINGER_S};
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    far_end = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(far_end >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &lingers, sizeof lingers), 0);
    while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {}
    return fd;
}

static inline void end_lingering(void)
{
    close(far_end); /* with unread data: the other end is reset, and whoever closes it goes on */
    close(listener);
}

/* Sends the descriptors, which are the kernel's alone from then on. */
static inline void pass_on(int fd, const char *line, const int *passed, size_t count)
{
    union {
        char room[CMSG_SPACE(8 * sizeof(int))];
        struct cmsghdr aligned;
    } control = {0};
    struct iovec part = {(char *)(uintptr_t)line, strlen(line)};
    struct msghdr head = {.msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = &control,
                          .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *m = CMSG_FIRSTHDR(&head);
    m->cmsg_level = SOL_SOCKET;
    m->cmsg_type = SCM_RIGHTS;
    m->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(m), passed, count * sizeof(int));
    assert_int_equal(sendmsg(fd, &head, MSG_NOSIGNAL), strlen(line));
    for (size_t i = 0; i < count; i++) close(passed[i]);
}

static inline uint64_t seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

#endif
