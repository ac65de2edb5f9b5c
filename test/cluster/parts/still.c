/*
 * Preloaded into an agent: counts what its first thread, the loop's, asks for that may wait or fault. The file CLUSTER_STILL.PID has
 * a number of 64 bits for each of `counted`. A page fault needs no call: /proc/PID/task/PID/stat counts those.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum counted {
    MEMORY,
    DISK,
    WAITS,
    LOCKS,
    COUNTED
}; /* WAITS: for a lock that another thread has; LOCKS: all */

static uint64_t *counts; /* NULL: not yet, or not here */
static _Thread_local int is_loop __attribute__((tls_model("initial-exec")));

static void count(enum counted what)
{
    if (is_loop && counts) counts[what]++;
}

static void forget(void)
{
    is_loop = 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("CLUSTER_STILL");
    char name[4096];
    if (!path) return;
    snprintf(name, sizeof name, "%s.%d", path, (int)getpid());
    const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, COUNTED * sizeof *counts) != 0) abort();
    void *map = mmap(NULL, COUNTED * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED || pthread_atfork(NULL, NULL, forget) != 0) abort();
    is_loop = 1;
    counts = map;
}

#define VISIBLE __attribute__((visibility("default")))
/* The function that ours stands before. */
#define REAL(type, name, ...)         \
    static type (*real)(__VA_ARGS__); \
    if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, name)

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t),
    *__libc_realloc(void *, size_t); /* dlsym() allocates */

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier): the library's names are reserved */
VISIBLE void *malloc(size_t size)
{
    count(MEMORY);
    return __libc_malloc(size);
}

VISIBLE void *calloc(size_t number, size_t size)
{
    count(MEMORY);
    return __libc_calloc(number, size);
}

VISIBLE void *realloc(void *at, size_t size)
{
    count(MEMORY);
    return __libc_realloc(at, size);
}

VISIBLE int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    REAL(int, "pthread_mutex_lock", pthread_mutex_t *);
    count(LOCKS);
    if (pthread_mutex_trylock(mutex) == 0) return 0;
    count(WAITS);
    return real(mutex);
}

VISIBLE int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    REAL(int, "pthread_cond_wait", pthread_cond_t *, pthread_mutex_t *);
    count(WAITS);
    return real(condition, mutex);
}

VISIBLE int fsync(int fd)
{
    REAL(int, "fsync", int);
    count(DISK);
    return real(fd);
}

VISIBLE ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    count(DISK);
    return real(fd, bytes, size, at);
}

VISIBLE int open(const char *path, int flags, ...)
{
    REAL(int, "open", const char *, int, mode_t);
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    count(DISK);
    return real(path, flags, mode);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name,bugprone-reserved-identifier) */
