/*
 * Writes the state that a half of a recording begins with: see recorder.h. Packing a host of many groups takes
 * longer than the agent's loop may block. So fork() makes a copy of the process, which packs the host as it was
 * at that instant. The copy writes the state to a free place of the memory, which may grow, publishes that place
 * in the half's head, and exits. The parent goes on, and checks at each call into the host whether the copy has
 * ended. A half that is smaller than its state gets additional room, so that bursts among many groups do not
 * cause one fork after another.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/recorder/internal.h"
#include "base/clock.h"
#include "base/kernel/time_slice.h"
#include "core/bytes.h"

enum {
    AT_ONCE_MAX = 1024, /* up to this many groups the loop packs itself: faster than fork() */
    ROOM_EACH = 128,    /* bytes per group, enough for nearly all hosts */
    ROOM_MOST = 1 << 30,
    PAGE = 4096,
    NICE = 5
};

bool recorder_has_state(const uint8_t *half)
{
    return el_get(half + RECORDER_STATE_SIZE_AT, 8) != 0;
}

/* ---- Packing ---- */

/* If it does not fit, b->failed is set. Neither allocates nor waits. */
static void put_all(const struct recorder *f, struct host *host, struct recorder_bytes *b)
{
    const size_t text_size = recorder_config_text(f->config, NULL, 0);
    recorder_put(b, el_get(f->boot, 8), 8);
    recorder_put(b, el_get(f->boot + 8, 8), 8);
    recorder_put(b, f->at, 8);
    uint8_t *text = recorder_put_room(b, text_size);
    if (text && b->at < b->end) /* its '\0' goes where the next byte will be */
        (void)recorder_config_text(f->config, (char *)text, text_size + 1);
    uint8_t *record = recorder_put_room(b, record_copy_size(f->record));
    if (record) record_copy_to(f->record, record);
    if (host && !b->failed) (void)host_pack(host, b);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): put_all() writes to `bytes` */
static bool pack_into(const struct recorder *f, struct host *host, uint8_t *bytes, size_t room, size_t *size)
{
    struct recorder_bytes b = {.at = bytes, .end = bytes + room};
    put_all(f, host, &b);
    *size = (size_t)(b.at - bytes);
    return !b.failed;
}

/* Uses the memory that is kept for it. Retries with more room only in the forked process, which may take its time. */
static uint8_t *pack_all(const struct recorder *f, struct host *host, bool may_grow, size_t *size)
{
    if (pack_into(f, host, f->room, RECORDER_ROOM, size)) return f->room;
    const size_t first = RECORDER_ROOM + (host ? (size_t)host_weight(host) * ROOM_EACH : 0);
    for (size_t room = first; may_grow && room <= ROOM_MOST; room *= 4) {
        uint8_t *bytes = malloc(room);
        if (!bytes) break;
        if (pack_into(f, host, bytes, room, size)) return bytes;
        free(bytes);
    }
    errno = ENOMEM;
    return NULL;
}

/* ---- In the recording's memory ---- */

/* The end of a half's state and of its additional room. */
static size_t end_of(const uint8_t *half)
{
    const size_t state =
                     (size_t)(el_get(half + RECORDER_STATE_AT, 8) + el_get(half + RECORDER_STATE_SIZE_AT, 8)),
                 more = (size_t)(el_get(half + RECORDER_MORE_AT, 8) + el_get(half + RECORDER_MORE_SIZE_AT, 8));
    return more > state ? more : state;
}

/* Chooses the place: after the halves, before the other half's state if it fits there, else after it. */
static size_t place(const struct recorder *f, size_t size)
{
    const uint8_t *other = recorder_other_half(f);
    const size_t first = 2 * f->size;
    if (!recorder_has_state(other) || (size_t)el_get(other + RECORDER_STATE_AT, 8) - first >= size)
        return first;
    return end_of(other);
}

static bool write_all(int fd, const uint8_t *bytes, size_t size, size_t at)
{
    for (size_t done = 0; done < size;) {
        const ssize_t put = pwrite(fd, bytes + done, size - done, (off_t)(at + done));
        if (put < 0 && errno != EINTR) return false;
        if (put > 0) done += (size_t)put;
    }
    return true;
}

static size_t whole_pages(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static bool put_in_memory(const struct recorder *f, const uint8_t *bytes, size_t size, bool may_grow)
{
    const size_t lacks = size > f->size ? size - f->size : 0, least = f->size / 8; /* at least an eighth */
    const size_t added = may_grow && lacks ? whole_pages(lacks > least ? lacks : least) : 0;
    const size_t at = place(f, size + (added ? added + PAGE : 0)), more_at = whole_pages(at + size),
                 end = added ? more_at + added : at + size;
    if (end <= f->map_size) {
        memcpy(f->map + at, bytes, size);
    } else {
        errno = !may_grow          ? ENOSPC /* outside the mapping */
                : end > UINT32_MAX ? EFBIG
                                   : posix_fallocate(f->fd, (off_t)at, (off_t)(end - at));
        if (errno || !write_all(f->fd, bytes, size, at)) return false;
    }
    if (added) recorder_publish(f, RECORDER_MORE_AT, (uint32_t)more_at);
    recorder_publish(f, RECORDER_MORE_SIZE_AT, (uint32_t)added);
    recorder_publish(f, RECORDER_STATE_AT, (uint32_t)at);
    recorder_publish(f, RECORDER_STATE_SUM_AT, recorder_chain((uint32_t)f->size, bytes, size));
    recorder_publish(f, RECORDER_STATE_SIZE_AT, (uint32_t)size); /* last: it makes the state valid */
    return true;
}

bool recorder_keep_state(struct recorder *f, struct host *host, bool may_grow)
{
    size_t size = 0;
    uint8_t *bytes = pack_all(f, host, may_grow, &size);
    const bool is_good = bytes && put_in_memory(f, bytes, size, may_grow);
    if (bytes != f->room) free(bytes);
    return is_good;
}

/* ---- In a forked process ---- */

/* Closes all other descriptors first: sockets and locks of the parent must not stay open if it dies. */
static void keep_and_end(struct recorder *f, struct host *host, pid_t parent)
{
    if (f->fd > 3) close_range(3, (unsigned)f->fd - 1, 0);
    close_range((unsigned)f->fd + 1, ~0u, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent) _exit(ECHILD);
    prctl(PR_SET_NAME, "elector-flight", 0, 0, 0);
    time_slice_reset();
    (void)setpriority(PRIO_PROCESS, 0, NICE); /* elections come first */
    if (recorder_keep_state(f, host, true)) _exit(0);
    _exit(errno ? errno : EIO);
}

static void warn_of_state(struct recorder *f, int error)
{
    char text[256];
    if (f->has_warned_of_state || !f->inner.warn) return;
    f->has_warned_of_state = true;
    snprintf(
        text, sizeof text,
        "the flight recorder cannot write this agent's state: %s; it retries with the next half of its file",
        strerror(error));
    f->inner.warn(f->inner.context, NULL, text);
}

bool recorder_may_keep(struct recorder *f, struct host *host)
{
    char text[240];
    if (host_weight(host) <= f->copies_most) return true;
    if (f->has_warned_of_many || !f->inner.warn) return false;
    f->has_warned_of_many = true;
    snprintf(
        text, sizeof text,
        "the flight recorder stops when its file is full: with profile realtime an agent of more than %u groups is "
        "not copied, because it would renew leases late; `recorder = off` saves the memory",
        f->copies_most);
    f->inner.warn(f->inner.context, NULL, text);
    return false;
}

void recorder_begin_to_keep(struct recorder *f, struct host *host)
{
    sigset_t all, before;
    const pid_t parent = getpid();
    if (host_weight(host) <= AT_ONCE_MAX && recorder_keep_state(f, host, false)) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the copy must not run the parent's handlers */
    const pid_t child = fork();
    if (child == 0) keep_and_end(f, host, parent);
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (child > 0)
        f->keeper = child;
    else
        warn_of_state(f, error);
}

static void end_keeping(struct recorder *f, int status)
{
    f->keeper = 0;
    if (!recorder_has_state(f->base)) warn_of_state(f, WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD);
}

bool recorder_has_kept(struct recorder *f)
{
    int status = -1;
    if (!f->keeper) return true;
    const pid_t ended = waitpid(f->keeper, &status, WNOHANG);
    if (ended == f->keeper || (ended < 0 && errno == ECHILD)) end_keeping(f, status);
    return !f->keeper;
}

void recorder_settle(struct recorder *f, uint32_t wait_ms)
{
    const struct timespec pause = {.tv_nsec = NS_PER_MS};
    for (; !recorder_has_kept(f) && wait_ms; wait_ms--) nanosleep(&pause, NULL);
}
