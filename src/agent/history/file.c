/* See file.h. */
#define _GNU_SOURCE
#include "agent/history/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kernel/boot_id.h"

/* STACK: the thread-local storage of the whole program lies on it too. */
enum { FILE_MOST = 4 << 20, READ_MOST = 16 << 20, PATH_ROOM = 4096 + 32, STACK = 256 * 1024 };
static const uint64_t EVERY = NS_PER_S;

/* The thread's, from start_write() until is_done. */
struct writing {
    uint8_t *bytes;
    size_t size;
    bool is_anew;
    int fd;    /* of the file; -1: none yet */
    int error; /* 0: it was written */
    atomic_bool is_done;
    char path[PATH_ROOM], beside[PATH_ROOM];
};

struct history_file {
    struct writing writing;
    bool is_writing, is_anew, has_warned;
    uint64_t size, written_at;
    struct journal_place place;
};

/* ---- The thread ---- */

static bool put_all(int fd, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t put = write(fd, bytes, size);
        if (put < 0 && errno != EINTR) return false;
        if (put > 0) {
            bytes += put;
            size -= (size_t)put;
        }
    }
    return true;
}

static bool begin_anew(struct writing *w)
{
    if (w->fd >= 0) close(w->fd);
    (void)unlink(w->beside);
    w->fd = open(w->beside, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    return w->fd >= 0;
}

static void *run(void *context)
{
    struct writing *w = context;
    const bool is_good = (!w->is_anew || begin_anew(w)) && put_all(w->fd, w->bytes, w->size) &&
                         (!w->is_anew || rename(w->beside, w->path) == 0);
    w->error = is_good ? 0 : errno ? errno : EIO;
    atomic_store(&w->is_done, true);
    return NULL;
}

/* With all signals blocked: they belong to the loop. */
static bool start_thread(struct writing *w)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0) return false;
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, STACK);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool has_begun = pthread_create(&thread, &attributes, run, w) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return has_begun;
}

/* ---- Reading ---- */

/* NULL: there is none, or it cannot be read; `errno` says why. */
static uint8_t *read_file(const char *path, size_t *size)
{
    struct stat file;
    uint8_t *bytes = NULL;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return NULL;
    errno = EINVAL;
    const bool is_one =
        fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink == 1 && file.st_size <= READ_MOST;
    if (is_one) bytes = malloc((size_t)file.st_size + 1);
    ssize_t got = 1;
    *size = 0;
    while (bytes && got > 0 && *size < (size_t)file.st_size) {
        got = read(fd, bytes + *size, (size_t)file.st_size - *size);
        if (got > 0) *size += (size_t)got;
    }
    if (bytes && got < 0) {
        free(bytes);
        bytes = NULL;
    }
    const int error = errno;
    close(fd);
    errno = error;
    return bytes;
}

static void read_boot(uint8_t boot[JOURNAL_BOOT])
{
    char text[BOOT_ID_TEXT];
    const size_t size = boot_id_read(text);
    const struct el_hash hash = el_fingerprint(text, size);
    memcpy(boot, &hash, JOURNAL_BOOT);
}

static void load(struct history_file *f, struct history *history, char *text, size_t room)
{
    const char *path = f->writing.path;
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    if (!bytes && errno != ENOENT)
        snprintf(text, room, "%s: cannot be read as the history: %s; beginning it anew", path,
                 errno == EINVAL ? "not a file of its own" : strerror(errno));
    const enum journal_outcome outcome = bytes ? journal_read(history, &f->place, bytes, size) : JOURNAL_EMPTY;
    if (outcome == JOURNAL_CUT)
        snprintf(text, room, "%s: the history ends within a record, which is left out; the rest is read", path);
    if (outcome == JOURNAL_OTHER)
        snprintf(text, room,
                 "%s: the history of another list of members, or of another version; beginning it anew", path);
    if (outcome == JOURNAL_DAMAGED) snprintf(text, room, "%s: the history is damaged; beginning it anew", path);
    free(bytes);
}

struct history_file *history_file_open(const char *path, struct history *history, uint64_t members, char *text,
                                       size_t size)
{
    struct history_file *f = calloc(1, sizeof *f);
    text[0] = '\0';
    if (!f) return NULL;
    struct writing *w = &f->writing;
    w->fd = -1;
    f->is_anew = true;
    f->place =
        (struct journal_place){.members = members, .boot_ns = clock_boottime_ns(), .wall_ns = clock_wall_ns()};
    read_boot(f->place.boot);
    const int used = snprintf(w->path, sizeof w->path, "%s", path);
    const int more = snprintf(w->beside, sizeof w->beside, "%s.new", path);
    if (used >= (int)sizeof w->path || more >= (int)sizeof w->beside) {
        snprintf(text, size, "the path of the state file is too long for a history beside it");
        free(f);
        return NULL;
    }
    load(f, history, text, size);
    return f;
}

/* ---- Writing ---- */

/* Head and records in one piece. */
static bool take(struct history_file *f, struct history *history)
{
    struct writing *w = &f->writing;
    w->is_anew = f->is_anew || f->size > FILE_MOST;
    size_t size = 0;
    uint8_t *records = journal_take(history, w->is_anew, &size);
    if (!records) return false;
    const size_t head = w->is_anew ? JOURNAL_HEAD : 0;
    uint8_t *bytes = head ? realloc(records, head + size) : records;
    if (!bytes) {
        free(records);
        f->is_anew = true;
        return false;
    }
    if (head) memmove(bytes + head, bytes, size);
    if (head) journal_head(&f->place, bytes);
    w->bytes = bytes;
    w->size = head + size;
    f->size = w->is_anew ? w->size : f->size + w->size;
    return true;
}

static void start_write(struct history_file *f)
{
    struct writing *w = &f->writing;
    w->error = 0;
    atomic_store(&w->is_done, false);
    f->is_writing = start_thread(w);
    if (f->is_writing) return;
    free(w->bytes);
    w->bytes = NULL;
    f->is_anew = true;
}

/* False: a write is under way. */
static bool end_write(struct history_file *f)
{
    struct writing *w = &f->writing;
    if (!f->is_writing) return true;
    if (!atomic_load(&w->is_done)) return false;
    f->is_writing = false;
    f->is_anew = w->error != 0;
    free(w->bytes);
    w->bytes = NULL;
    return true;
}

bool history_file_write(struct history_file *f, struct history *history, uint64_t now_ns, char *text,
                        size_t size)
{
    const bool was_writing = f && f->is_writing;
    if (!f || !end_write(f)) return false;
    const int error = was_writing ? f->writing.error : 0;
    const bool warns = error && !f->has_warned;
    if (was_writing) f->has_warned = error != 0;
    if (warns)
        snprintf(text, size, "cannot write the history %s: %s; trying again, and it stays in memory",
                 f->writing.path, strerror(error));
    if (now_ns - f->written_at < EVERY) return warns;
    f->written_at = now_ns;
    if (take(f, history)) start_write(f);
    return warns;
}

static bool wait_for_write(struct history_file *f, uint32_t wait_ms)
{
    const struct timespec pause = {.tv_nsec = NS_PER_MS};
    for (; !end_write(f) && wait_ms; wait_ms--) nanosleep(&pause, NULL);
    return end_write(f);
}

void history_file_close(struct history_file *f, struct history *history, uint32_t wait_ms)
{
    if (!f || !wait_for_write(f, wait_ms)) return; /* the thread still reads *f */
    if (take(f, history)) start_write(f);
    if (!wait_for_write(f, wait_ms)) return;
    if (f->writing.fd >= 0) close(f->writing.fd);
    free(f);
}
