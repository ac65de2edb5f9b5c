/*
 * Preloaded into the processes of one host: its clocks jump. The file that CLUSTER_CLOCK names has two numbers of 64 bits, how far
 * CLOCK_BOOTTIME and CLOCK_REALTIME are ahead in ns, and all processes see a change at once. CLOCK_MONOTONIC stays, by which
 * cluster-worker says when it worked.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *ahead; /* of CLOCK_BOOTTIME, of CLOCK_REALTIME; NULL: neither */

__attribute__((constructor)) static void find_clock(void)
{
    const char *path = getenv("CLUSTER_CLOCK");
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map = fd < 0 ? MAP_FAILED : mmap(NULL, 2 * sizeof *ahead, PROT_READ, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) ahead = map;
    if (fd >= 0) close(fd);
}

static struct timespec moved(struct timespec time, int64_t by)
{
    const int64_t ns = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec + by;
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static int64_t ahead_of(clockid_t clock)
{
    return !ahead ? 0 : clock == CLOCK_BOOTTIME ? ahead[0] : clock == CLOCK_REALTIME ? ahead[1] : 0;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real) *(void **)(&real) = dlsym(RTLD_NEXT, "clock_gettime");
    const int result = real(clock, now);
    if (result == 0) *now = moved(*now, ahead_of(clock));
    return result;
}

/* All timers of ours are of CLOCK_BOOTTIME. */
__attribute__((visibility("default"))) int timerfd_settime(int fd, int flags, const struct itimerspec *wanted,
                                                           struct itimerspec *before)
{
    struct itimerspec when = *wanted;
    const int is_set = when.it_value.tv_sec || when.it_value.tv_nsec;
    if (flags & TFD_TIMER_ABSTIME && is_set) when.it_value = moved(when.it_value, -ahead_of(CLOCK_BOOTTIME));
    if (is_set && when.it_value.tv_sec <= 0) when.it_value = (struct timespec){.tv_nsec = 1};
    return (int)syscall(SYS_timerfd_settime, fd, flags, &when, before);
}
