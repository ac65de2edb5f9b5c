/* See closer.h. */
#define _GNU_SOURCE
#include "base/closer.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The thread-local storage of the whole program lies on it too; that of the checker alone takes 80 KB. */
enum { STACK = 256 * 1024, READS_MAX = 8 };

struct job {
    struct job *next;
    int fd;
    atomic_uint *pending;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *first, **end = &first;
static struct {
    bool runs;
    const atomic_uint *serves; /* NULL: none now */
} threads[CLOSER_THREADS];

static bool is_served(const atomic_uint *pending)
{
    for (size_t i = 0; i < CLOSER_THREADS; i++)
        if (threads[i].runs && threads[i].serves == pending) return true;
    return false;
}

/* The first whose owner has no thread; NULL: none. */
static struct job *take(void)
{
    struct job **at = &first;
    while (*at && is_served((*at)->pending)) at = &(*at)->next;
    struct job *job = *at;
    if (!job) return NULL;
    *at = job->next;
    if (!*at) end = at;
    return job;
}

static void *run(void *context)
{
    const size_t self = (size_t)(uintptr_t)context;
    pthread_mutex_lock(&lock);
    for (struct job *job = take(); job; job = take()) {
        threads[self].serves = job->pending;
        pthread_mutex_unlock(&lock);
        (void)close(job->fd);
        pthread_mutex_lock(&lock);
        threads[self].serves = NULL;
        atomic_fetch_sub(job->pending, 1);
        free(job);
    }
    threads[self].runs = false;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* With all signals blocked: they belong to the loop. */
static void start_thread(size_t number)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0) return;
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, STACK);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    threads[number].runs = pthread_create(&thread, &attributes, run, (void *)(uintptr_t)number) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
}

void closer_close(int fd, atomic_uint *pending)
{
    struct job *job = malloc(sizeof *job);
    atomic_fetch_add(pending, 1);
    if (!job) return;
    *job = (struct job){.fd = fd, .pending = pending};
    pthread_mutex_lock(&lock);
    *end = job;
    end = &job->next;
    size_t free_one = 0;
    while (free_one < CLOSER_THREADS && threads[free_one].runs) free_one++;
    if (free_one < CLOSER_THREADS && !is_served(pending)) start_thread(free_one);
    pthread_mutex_unlock(&lock);
}

/* True: nothing is left, and no descriptor came. */
static bool drain(int fd, atomic_uint *pending)
{
    char bytes[4096];
    union {
        char room[CMSG_SPACE(CLOSER_PASSED_MAX * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    for (int i = 0; i < READS_MAX; i++) {
        struct iovec part = {bytes, sizeof bytes};
        struct msghdr head = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        const ssize_t size = recvmsg(fd, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        bool came = false;
        for (struct cmsghdr *m = size >= 0 ? CMSG_FIRSTHDR(&head) : NULL; m; m = CMSG_NXTHDR(&head, m)) {
            if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_RIGHTS) continue;
            for (size_t at = 0; at + sizeof(int) <= m->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
                int passed;
                memcpy(&passed, CMSG_DATA(m) + at, sizeof passed);
                closer_close(passed, pending);
                came = true;
            }
        }
        if (came) return false;
        if (size <= 0) return true;
    }
    return false;
}

void closer_close_socket(int fd, atomic_uint *pending)
{
    (void)shutdown(fd, SHUT_RDWR);
    if (drain(fd, pending))
        (void)close(fd);
    else
        closer_close(fd, pending);
}
