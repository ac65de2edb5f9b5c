/* See outlet.h. */
#define _GNU_SOURCE
#include "base/log/outlet.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kernel/realtime.h"
#include "base/kernel/time_slice.h"

enum { RING = 1 << 20, STACK = 1 << 17, FIRST_OTHER = 3 };

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

static const uint64_t flush_ns = NS_PER_S;

static char ring[RING];
static size_t usual_notice(char *text, size_t size, uint64_t lost);

/*
 * The caller writes bytes and `filled`, the thread only `emptied`: both count all bytes ever. The mutex keeps callers
 * apart from each other.
 */
static struct {
    pthread_mutex_t callers;
    bool has_thread, is_child; /* is_child: the thread is the parent's */
    sem_t waiting;             /* something is to be done */
    _Atomic size_t filled, emptied;
    _Atomic uint64_t dropped; /* since the ring was last empty */
    _Atomic bool is_writing;
    _Atomic(outlet_notice *) notice;
} outlet = {.callers = PTHREAD_MUTEX_INITIALIZER, .notice = usual_notice};

static size_t usual_notice(char *text, size_t size, uint64_t lost)
{
    const int length = snprintf(text, size, "elector: %llu lines lost: standard error was blocked\n",
                                (unsigned long long)lost);
    return length > 0 ? (size_t)length : 0;
}

void outlet_set_notice(outlet_notice *notice)
{
    atomic_store(&outlet.notice, notice);
}

/* ---- The thread ---- */

/* True: all is written. EAGAIN: another process has set O_NONBLOCK. */
static bool write_all(const char *text, size_t size)
{
    while (size > 0) {
        const ssize_t put = write(STDERR_FILENO, text, size);
        if (put < 0 && errno == EAGAIN) {
            struct pollfd polled = {.fd = STDERR_FILENO, .events = POLLOUT};
            (void)poll(&polled, 1, -1);
        } else if (put < 0 && errno != EINTR) {
            return false;
        } else if (put > 0) {
            text += put;
            size -= (size_t)put;
        }
    }
    return true;
}

/* True: the notice is written, or nothing was lost. */
static bool tell_of_lost(uint64_t lost)
{
    char text[512];
    return lost == 0 || write_all(text, atomic_load(&outlet.notice)(text, sizeof text, lost));
}

/* The next line, which ends with a newline. */
static size_t take_line(char *line)
{
    const size_t filled = atomic_load_explicit(&outlet.filled, memory_order_acquire);
    size_t at = atomic_load_explicit(&outlet.emptied, memory_order_relaxed), size = 0;
    while (at != filled && size < OUTLET_LINE_MAX) {
        line[size] = ring[at++ % RING];
        if (line[size++] == '\n') break;
    }
    return size;
}

static void *empty_ring(void *unused)
{
    char line[OUTLET_LINE_MAX];
    uint64_t lost = 0;
    (void)syscall(SYS_close_range, FIRST_OTHER, ~0U,
                  CLOSE_RANGE_UNSHARE); /* Linux 5.9; without it, they are shared */
    time_slice_reset();
    realtime_leave();
    for (;;) {
        while (sem_wait(&outlet.waiting) != 0) {}
        while (sem_trywait(&outlet.waiting) == 0) {}
        atomic_store(&outlet.is_writing, true);
        for (size_t size = take_line(line); size > 0; size = take_line(line)) {
            if (tell_of_lost(lost)) lost = 0;
            if (!write_all(line, size)) lost++;
            atomic_fetch_add_explicit(&outlet.emptied, size, memory_order_release);
        }
        lost += atomic_exchange(&outlet.dropped, 0);
        if (tell_of_lost(lost)) lost = 0;
        atomic_store(&outlet.is_writing, false);
    }
    return unused;
}

/* ---- Its callers ---- */

static bool is_empty(void)
{
    return atomic_load(&outlet.emptied) == atomic_load(&outlet.filled) && atomic_load(&outlet.dropped) == 0 &&
           !atomic_load(&outlet.is_writing);
}

static void flush(void)
{
    const struct timespec pause = {.tv_nsec = NS_PER_MS / 2};
    const uint64_t until_ns = clock_monotonic_ns() + flush_ns;
    if (outlet.is_child) return;
    while (!is_empty() && clock_monotonic_ns() < until_ns) nanosleep(&pause, NULL);
}

/* In the child. Cheaper than to ask for the process's id with every line. */
static void on_fork(void)
{
    outlet.is_child = true;
}

/* All signals stay with the other threads. */
static bool start_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    static bool is_told_of_forks; /* for the handler's registration outlives a fork */
    if (!is_told_of_forks && pthread_atfork(NULL, NULL, on_fork) != 0) return false;
    is_told_of_forks = true;
    if (sem_init(&outlet.waiting, 0, 0) != 0 || pthread_attr_init(&attributes) != 0) return false;
    (void)pthread_attr_setstacksize(&attributes, STACK);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread, &attributes, empty_ring, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error) return false;
    outlet.has_thread = true;
    (void)atexit(flush);
    return true;
}

static void put(const char *line, size_t size)
{
    const size_t filled = atomic_load_explicit(&outlet.filled, memory_order_relaxed);
    const size_t room = RING - (filled - atomic_load_explicit(&outlet.emptied, memory_order_acquire));
    if (room < size || atomic_load(&outlet.dropped) > 0) {
        atomic_fetch_add(&outlet.dropped, 1);
    } else {
        for (size_t i = 0; i + 1 < size; i++) ring[(filled + i) % RING] = line[i];
        ring[(filled + size - 1) % RING] = '\n';
        atomic_store_explicit(&outlet.filled, filled + size, memory_order_release);
    }
    (void)sem_post(&outlet.waiting);
}

void outlet_put(const char *line, size_t size)
{
    if (outlet.is_child) return;
    pthread_mutex_lock(&outlet.callers);
    if (outlet.has_thread || start_thread()) put(line, size < OUTLET_LINE_MAX ? size : OUTLET_LINE_MAX);
    pthread_mutex_unlock(&outlet.callers);
}

/* ---- A child ---- */

void outlet_begin_again(void)
{
    const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
    if (!outlet.is_child) return; /* or no line was ever written */
    outlet.callers = unlocked;    /* another thread of the parent may have held it */
    outlet.has_thread = outlet.is_child = false;
    atomic_store(&outlet.filled, 0);
    atomic_store(&outlet.emptied, 0);
    atomic_store(&outlet.dropped, 0);
    atomic_store(&outlet.is_writing, false);
}

void outlet_last_words(const char *text, int exit_code)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t alarm_only;
    (void)syscall(SYS_close_range, FIRST_OTHER, ~0U, 0);
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    sigaction(SIGALRM, &usual, NULL);
    sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
    (void)alarm(1); /* ends us if nobody reads */
    (void)write_all(text, strlen(text));
    _exit(exit_code);
}
