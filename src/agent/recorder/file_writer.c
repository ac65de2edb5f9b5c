/*
 * Copies a recording from memory to its file: see recorder.h. A file system may block whoever writes to it, for
 * as long as it is frozen or its disk hangs. So a process of its own does this, the writer, which the agent
 * never waits for. It is a copy of the agent by fork(), made at the start, while the agent is small.
 *
 * Once a second the writer appends what is new to the file. When the agent has died, it copies the rest
 * and ends. If the file system does not answer meanwhile, nothing is lost: the memory has the whole recording,
 * and the file follows as soon as it can.
 *
 * The file can be read at any time. What belongs to a head is written before the head. A half of which the
 * agent began a new generation is emptied first. The older half comes first, because the newer one may have to
 * be read as its continuation.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/recorder/internal.h"
#include "base/clock.h"
#include "base/kernel/time_slice.h"
#include "base/log/log.h"
#include "base/log/outlet.h"
#include "core/bytes.h"

enum { EVERY_MS = 1000, BLOCK = 65536, NICE = 5, HALVES = 2 };

/* A half's head, read from memory that the agent may be changing. */
struct head {
    uint8_t bytes[RECORDER_HEAD];
};

/* How much of a half is in the file. */
struct copied {
    struct head head; /* as it is in the file; zeros: the half is empty there */
    uint64_t generation, used, more_used;
    bool has_state;
};

struct writer {
    const uint8_t *map;
    size_t half;   /* its size */
    uint64_t size; /* of the file */
    int memory, file;
    struct copied halves[HALVES];
    const char *path;
    bool has_warned;
    uint8_t block[BLOCK];
};

/* ---- Heads ---- */

static uint64_t field(const struct head *head, size_t at)
{
    return el_get(head->bytes + at, 8);
}

static bool is_begun(const struct head *head)
{
    return memcmp(head->bytes, recorder_magic, RECORDER_MAGIC) == 0;
}

static void read_once(const uint8_t *half, struct head *head)
{
    for (size_t at = 0; at < RECORDER_HEAD; at += 4) {
        const uint32_t word =
            atomic_load_explicit((const _Atomic uint32_t *)(const void *)(half + at), memory_order_acquire);
        memcpy(head->bytes + at, &word, 4);
    }
}

/* A field changes once in a generation or only grows. So two readings in a row that are the same are of one
 * instant. */
static void read_head(const uint8_t *half, struct head *head)
{
    struct head again;
    read_once(half, &again);
    do {
        *head = again;
        read_once(half, &again);
    } while (memcmp(head, &again, sizeof again) != 0);
}

/* ---- Copying ---- */

static bool put(struct writer *w, const uint8_t *bytes, size_t size, uint64_t at)
{
    for (size_t done = 0; done < size;) {
        const ssize_t took = pwrite(w->file, bytes + done, size - done, (off_t)(at + done));
        if (took < 0 && errno != EINTR) return false;
        if (took > 0) done += (size_t)took;
    }
    return true;
}

static bool copy(struct writer *w, uint64_t from, uint64_t to)
{
    while (from < to) {
        const size_t size = to - from < BLOCK ? (size_t)(to - from) : BLOCK;
        const ssize_t got = pread(w->memory, w->block, size, (off_t)from);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = EIO;
        if (got <= 0 || !put(w, w->block, (size_t)got, from)) return false;
        from += (uint64_t)got;
    }
    return true;
}

/* Empties the half in the file, for another generation. */
static bool empty(struct writer *w, uint32_t half, uint64_t generation)
{
    static const uint8_t nothing[RECORDER_MAGIC];
    struct copied *done = &w->halves[half];
    if (done->generation && !put(w, nothing, sizeof nothing, half * w->half)) return false;
    *done = (struct copied){.generation = generation, .used = RECORDER_HEAD};
    return true;
}

/* Entries, the state, and entries in additional room. `pending`: how much of an unfinished call follows. */
static bool copy_contents(struct writer *w, uint32_t half, const struct head *head, uint64_t pending)
{
    struct copied *done = &w->halves[half];
    const uint64_t base = half * w->half, used = field(head, RECORDER_USED_AT),
                   more_at = field(head, RECORDER_MORE_AT), more_used = field(head, RECORDER_MORE_USED_AT),
                   state_at = field(head, RECORDER_STATE_AT), state_size = field(head, RECORDER_STATE_SIZE_AT);
    if (!copy(w, base + done->used, base + used + (more_used ? 0 : pending))) return false;
    done->used = used;
    if (!done->has_state && !copy(w, state_at, state_at + state_size)) return false;
    done->has_state = state_size > 0;
    if (more_used && !copy(w, more_at + done->more_used, more_at + more_used + pending)) return false;
    done->more_used = more_used;
    return true;
}

/* Whether the half is still of that generation: then what was read belongs to this head. */
static bool is_same(const struct writer *w, uint32_t half, const struct head *head)
{
    struct head now;
    atomic_thread_fence(memory_order_seq_cst);
    read_head(w->map + half * w->half, &now);
    return is_begun(&now) && field(&now, RECORDER_GENERATION_AT) == field(head, RECORDER_GENERATION_AT);
}

/* A half that the agent begins anew meanwhile is left for the next time. False: the file does not take it. */
static bool copy_half(struct writer *w, uint32_t half, struct head *head, bool is_still)
{
    struct copied *done = &w->halves[half];
    const uint64_t generation = field(head, RECORDER_GENERATION_AT),
                   pending = is_still ? field(head, RECORDER_PENDING_AT) : 0;
    if (!is_begun(head)) return true;
    if (!is_still) memset(head->bytes + RECORDER_PENDING_AT, 0, 8);
    if (memcmp(head, &done->head, sizeof *head) == 0) return true;
    if (done->generation != generation && !empty(w, half, generation)) return false;
    if (!copy_contents(w, half, head, pending)) return false;
    if (!is_same(w, half, head)) return true;
    if (!put(w, head->bytes, sizeof head->bytes, half * w->half)) return false;
    done->head = *head;
    return true;
}

static bool is_new(const struct writer *w, uint32_t half, const struct head *head)
{
    return is_begun(head) && w->halves[half].generation != field(head, RECORDER_GENERATION_AT);
}

/* Allocates room in the file for all that the heads name, before anything in it is given up: a full disk keeps
 * what is there. */
static bool reserve(struct writer *w, const struct head *head)
{
    const uint64_t state = field(head, RECORDER_STATE_AT) + field(head, RECORDER_STATE_SIZE_AT),
                   more = field(head, RECORDER_MORE_AT) + field(head, RECORDER_MORE_SIZE_AT),
                   end = more > state ? more : state;
    if (!is_begun(head) || field(head, RECORDER_STATE_SIZE_AT) == 0 || end <= w->size) return true;
    errno = posix_fallocate(w->file, (off_t)w->size, (off_t)(end - w->size));
    if (errno) return false;
    w->size = end;
    return true;
}

static bool try_to_copy(struct writer *w, bool is_still)
{
    struct head heads[HALVES];
    for (uint32_t half = 0; half < HALVES; half++) read_head(w->map + half * w->half, &heads[half]);
    const uint32_t older = is_begun(&heads[1]) &&
                           field(&heads[1], RECORDER_GENERATION_AT) < field(&heads[0], RECORDER_GENERATION_AT);
    if (!reserve(w, &heads[0]) || !reserve(w, &heads[1])) return false;
    /* If both are new, what the file has of one may lie where the other must go. */
    if (is_new(w, 0, &heads[0]) && is_new(w, 1, &heads[1]) && !(empty(w, 0, 0) && empty(w, 1, 0))) return false;
    return copy_half(w, older, &heads[older], is_still) && copy_half(w, 1 - older, &heads[1 - older], is_still);
}

/* `is_still`: the agent waits for us or is dead, so an unfinished call can be copied, too. False: the file does
 * not take all of it. */
static bool copy_all(struct writer *w, bool is_still)
{
    const bool is_good = try_to_copy(w, is_still);
    if (!is_good && !w->has_warned)
        log_event(LOG_WARN_LEVEL, NULL,
                  "flight recorder: cannot write %s: %s; retrying, and the recording stays in memory", w->path,
                  strerror(errno));
    w->has_warned = !is_good;
    return is_good;
}

/* ---- The process ---- */

/* The agent's signals are not ours: we end after it. */
static void ignore_signals(void)
{
    static const int signals[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGPIPE,
                                  SIGTSTP, SIGTTOU, SIGUSR1, SIGUSR2, SIGXFSZ};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) (void)signal(signals[i], SIG_IGN);
}

static void close_between(unsigned after, unsigned before)
{
    if (after + 1 < before) (void)close_range(after + 1, before - 1, 0);
}

/* Sockets and locks of the agent must not stay open after its death. */
static void close_others(int a, int b, int c)
{
    const unsigned low = (unsigned)(a < b ? (a < c ? a : c) : (b < c ? b : c)),
                   high = (unsigned)(a > b ? (a > c ? a : c) : (b > c ? b : c)),
                   middle = (unsigned)a + (unsigned)b + (unsigned)c - low - high;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) (void)dup2(null, STDIN_FILENO);
    if (null >= 0) (void)dup2(null, STDOUT_FILENO);
    close_between(STDERR_FILENO, low);
    close_between(low, middle);
    close_between(middle, high);
    (void)close_range(high + 1, ~0U, 0);
}

static _Noreturn void run(struct writer *w, int line)
{
    struct pollfd polled = {.fd = line, .events = POLLIN};
    (void)copy_all(w, false);
    for (;;) {
        char asks = 0;
        (void)poll(&polled, 1, EVERY_MS);
        const ssize_t got = recv(line, &asks, sizeof asks, MSG_DONTWAIT);
        const bool is_over = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
        const bool is_good = copy_all(w, got > 0 || is_over);
        if (is_over) _exit(is_good ? 0 : 1);
        if (got > 0) (void)send(line, is_good ? "y" : "n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

bool recorder_start_writer(struct recorder *f, int file, const char *path)
{
    static struct writer writer; /* the copy's own */
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
    const pid_t child = fork();
    if (child == 0) {
        outlet_begin_again();
        ignore_signals();
        close_others(f->fd, file, ends[1]);
        prctl(PR_SET_NAME, "elector-writer", 0, 0, 0);
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        time_slice_reset();
        (void)setpriority(PRIO_PROCESS, 0, NICE);           /* elections come first */
        config_wipe((struct config *)(uintptr_t)f->config); /* this copy of it: no key stays in our memory */
        writer.map = f->map;
        writer.half = f->size;
        writer.size = f->map_size;
        writer.memory = f->fd;
        writer.file = file;
        writer.path = path;
        run(&writer, ends[1]);
    }
    close(ends[1]);
    if (child < 0) close(ends[0]);
    if (child < 0) return false;
    close(file);
    f->writer = child;
    f->line = ends[0];
    return true;
}

/* ---- In the agent ---- */

void recorder_check_writer(struct recorder *f)
{
    if (f->writer == 0 || waitpid(f->writer, NULL, WNOHANG) == 0) return;
    f->writer = 0;
    if (f->inner.warn)
        f->inner.warn(f->inner.context, NULL,
                      "the process that writes the flight recorder's file has died: the file ends there; "
                      "restart this agent to record again");
}

bool recorder_sync(struct recorder *f, uint32_t wait_ms)
{
    struct pollfd polled = {.fd = f->line, .events = POLLIN};
    char answer = '?';
    if (send(f->line, &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return false;
    while (poll(&polled, 1, (int)wait_ms) < 0 && errno == EINTR) {}
    return recv(f->line, &answer, sizeof answer, MSG_DONTWAIT) == sizeof answer && answer == 'y';
}

bool recorder_end_writer(struct recorder *f, uint32_t wait_ms)
{
    close(f->line);
    if (f->writer == 0) return true;
    const struct timespec pause = {.tv_nsec = NS_PER_MS};
    bool has_ended = waitpid(f->writer, NULL, WNOHANG) != 0;
    for (; !has_ended && wait_ms; wait_ms--) {
        nanosleep(&pause, NULL);
        has_ended = waitpid(f->writer, NULL, WNOHANG) != 0;
    }
    return has_ended;
}
