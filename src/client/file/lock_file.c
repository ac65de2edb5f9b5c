/* See lock_file.h. The locks belong to the open file (F_OFD_SETLK), so close() of another descriptor does not
 * free them. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "client/file/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "client/engine.h"

#define MARK "elector-lock "
enum { DIGITS = 20, HEAD = sizeof MARK - 1 + DIGITS, FIRST_LINE = HEAD + 1 + 8 + 1, FILE_MAX = 4096 };
static const uint64_t believable = UINT64_C(1) << 52; /* a larger number in a damaged file is damage too */

bool lock_name(struct lock_file *f, const char *path, const char *group)
{
    struct stat status;
    const bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    *f = (struct lock_file){.fd = -1};
    const int size = snprintf(f->path, sizeof f->path, folder ? "%s/%s.lock" : "%s.%s", path, group);
    if (size < 0 || (size_t)size >= sizeof f->path) return false;
    char *name = f->path + strlen(path) + 1;
    for (char *c = name; *c; c++)
        if (*c == '/') *c = '%';
    return true;
}

/* ---- The first line ---- */

static uint32_t checksum(const char *text, size_t size) /* FNV-1a */
{
    uint32_t sum = UINT32_C(2166136261);
    for (size_t i = 0; i < size; i++) sum = (sum ^ (unsigned char)text[i]) * UINT32_C(16777619);
    return sum;
}

static void write_first_line(char *line, uint64_t token)
{
    char text[FIRST_LINE + 32];
    snprintf(text, sizeof text, MARK "%020" PRIu64, token);
    snprintf(line, FIRST_LINE + 1, "%.*s %08" PRIx32 "\n", HEAD, text, checksum(text, HEAD));
}

/* Reads the whole file, or its first FILE_MAX bytes, and terminates them: strtoull() stops at the end. */
static ssize_t read_text(int fd, char text[FILE_MAX + 1])
{
    const ssize_t size = pread(fd, text, FILE_MAX, 0);
    text[size > 0 ? size : 0] = '\0';
    return size;
}

static bool has_mark(const char *text)
{
    return strncmp(text, MARK, sizeof MARK - 1) == 0;
}

/* False: the line is damaged or missing. The text is terminated. */
static bool read_first_line(const char *line, size_t size, uint64_t *token)
{
    char expected[FIRST_LINE + 1];
    if (size < FIRST_LINE || !has_mark(line)) return false;
    *token = strtoull(line + sizeof MARK - 1, NULL, 10);
    if (*token >= ENGINE_TOKEN_END) return false;
    write_first_line(expected, *token);
    return memcmp(line, expected, FIRST_LINE) == 0;
}

/* The greatest believable number in a damaged line. */
static uint64_t salvage(const char *text)
{
    uint64_t most = 0;
    for (const char *c = text; *c;) {
        char *stop;
        if (*c < '0' || *c > '9') {
            c++;
            continue;
        }
        errno = 0;
        const uint64_t number = strtoull(c, &stop, 10);
        if (errno == 0 && number < believable && number > most) most = number;
        c = stop;
    }
    return most;
}

/* Microseconds: files created one after the other get different numbers, which stay below 2^53 until the year
 * 2255. */
static uint64_t wall_us(void)
{
    return clock_wall_ns() / NS_PER_US;
}

/* After a missing or damaged line the earlier token is unknown. Continue from the wall clock, or from the
 * greatest number in the line if that is higher. */
static uint64_t last_token(int fd)
{
    char text[FILE_MAX + 1];
    const ssize_t size = read_text(fd, text);
    uint64_t token;
    if (size > 0 && read_first_line(text, (size_t)size, &token)) return token;
    char *line_end = strchr(text, '\n');
    if (line_end) *line_end = '\0';
    const uint64_t left = salvage(text), wall = wall_us();
    return left > wall ? left : wall;
}

/* ---- The lock ---- */

static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

static void shut(struct lock_file *f)
{
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}

/* A file system may leave zeros where a first line was written shortly before a power failure. */
static bool is_blank(const char *text, ssize_t size)
{
    for (ssize_t i = 0; i < size; i++)
        if (text[i]) return false;
    return size >= 0 && size <= FIRST_LINE;
}

/* 0, or an errno: the file belongs to somebody else, and must be neither written nor truncated. A file that
 * was removed meanwhile has no name: lock_is_intact() finds that out. */
static int find_owner(int fd)
{
    char text[FILE_MAX + 1];
    struct stat status;
    if (fstat(fd, &status) != 0) return errno;
    if (!S_ISREG(status.st_mode)) return EINVAL;
    if (status.st_nlink > 1) return EMLINK;
    const ssize_t size = read_text(fd, text);
    if (size < 0) return errno;
    return has_mark(text) || is_blank(text, size) ? 0 : EEXIST;
}

static bool open_file(struct lock_file *f)
{
    f->pid = getpid();
    f->fd =
        descriptors_above_standard(open(f->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
    if (f->fd < 0) return false;
    const int error = find_owner(f->fd);
    if (error == 0) return true;
    shut(f);
    errno = error;
    return false;
}

bool lock_is_intact(const struct lock_file *f)
{
    struct stat ours, named;
    return f->fd >= 0 && fstat(f->fd, &ours) == 0 && lstat(f->path, &named) == 0 &&
           ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

int lock_try(struct lock_file *f)
{
    for (int tries = 0; tries < 3; tries++) {
        struct flock lock = whole_file();
        if (f->fd < 0 && !open_file(f)) return -1;
        const bool ours = fcntl(f->fd, F_OFD_SETLK, &lock) == 0;
        const int error = errno;
        if (lock_is_intact(f)) {
            if (ours) return 1;
            if (error == EAGAIN || error == EACCES) return 0;
            errno = error;
            return -1;
        }
        shut(f); /* removed or replaced: a lock on the old file excludes nobody */
    }
    return 0;
}

static bool sync_folder(const char *path)
{
    char copy[sizeof((struct lock_file *)0)->path];
    snprintf(copy, sizeof copy, "%s", path);
    const int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno == EACCES; /* we may not read the folder, so cannot sync it */
    const bool ok = fsync(fd) == 0 || errno == EINVAL;
    close(fd);
    return ok;
}

static bool write_token(const struct lock_file *f, uint64_t token)
{
    char line[FIRST_LINE + 1];
    write_first_line(line, token);
    const ssize_t written = pwrite(f->fd, line, FIRST_LINE, 0);
    if (written >= 0 && written != FIRST_LINE) errno = ENOSPC;
    return written == FIRST_LINE && ftruncate(f->fd, FIRST_LINE) == 0 && fsync(f->fd) == 0;
}

bool lock_begin(struct lock_file *f)
{
    struct stat status = {0};
    const uint64_t token = last_token(f->fd) + 1;
    const bool fresh = fstat(f->fd, &status) == 0 && status.st_size == 0;
    bool ok = token < ENGINE_TOKEN_END;
    if (!ok) errno = EOVERFLOW;
    ok = ok && write_token(f, token) && (!fresh || sync_folder(f->path));
    if (ok) f->token = token;
    const int error = errno;
    if (!ok) shut(f);
    errno = error;
    return ok;
}

enum { HOST_MAX = 52 }; /* bytes of a host's name that are written, with the terminating zero */

static void name_host(char host[HOST_MAX])
{
    if (gethostname(host, HOST_MAX) != 0) snprintf(host, HOST_MAX, "%s", "localhost");
    host[HOST_MAX - 1] = '\0';
}

void lock_name_self(char name[ELECTOR_NAME_MAX + 1])
{
    char host[HOST_MAX];
    name_host(host);
    snprintf(name, ELECTOR_NAME_MAX + 1, "%s:%d", host, (int)getpid());
}

bool lock_proclaim(const struct lock_file *f, const char *value)
{
    char host[HOST_MAX], line[FILE_MAX - FIRST_LINE];
    name_host(host);
    json_t *holder = json_pack("{sI si ss ss}", "token", (json_int_t)f->token, "pid", (int)getpid(), "host",
                               host, "value", value);
    const size_t size = holder ? json_dumpb(holder, line, sizeof line - 1, JSON_COMPACT) : 0;
    json_decref(holder);
    if (size == 0 || size >= sizeof line) {
        errno = EINVAL;
        return false;
    }
    line[size] = '\n';
    const off_t length = (off_t)(FIRST_LINE + size + 1);
    return pwrite(f->fd, line, size + 1, FIRST_LINE) == (ssize_t)(size + 1) && ftruncate(f->fd, length) == 0;
}

void lock_release(struct lock_file *f)
{
    struct flock lock = whole_file();
    if (f->fd >= 0 && f->pid == getpid() && f->token != 0) {
        /* Best effort: readers ignore the second line of an unlocked file. */
        if (ftruncate(f->fd, FIRST_LINE) != 0) errno = 0;
        lock.l_type = F_UNLCK; /* closing is not enough: a child may have inherited the open file */
        fcntl(f->fd, F_OFD_SETLK, &lock);
    }
    f->token = 0;
    shut(f);
}

/* ---- Reading the holder ---- */

static bool is_locked(int fd)
{
    struct flock lock = whole_file();
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void read_holder(const char *text, size_t size, uint64_t token, struct lock_holder *leader)
{
    json_int_t claimed = 0;
    int pid = 0;
    const char *host = NULL, *value = NULL;
    json_t *holder = json_loadb(text, size, JSON_DISABLE_EOF_CHECK, NULL);
    if (json_unpack(holder, "{sI si ss ss}", "token", &claimed, "pid", &pid, "host", &host, "value", &value) ==
            0 &&
        (uint64_t)claimed == token && strlen(value) <= ELECTOR_VALUE_MAX && strlen(host) < HOST_MAX) {
        snprintf(leader->name, sizeof leader->name, "%s:%d", host, pid);
        snprintf(leader->value, sizeof leader->value, "%s", value);
        leader->token = token;
    }
    json_decref(holder);
}

bool lock_read(const char *path, struct lock_holder *leader)
{
    char text[FILE_MAX + 1];
    uint64_t token;
    *leader = (struct lock_holder){0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return errno == ENOENT;
    const ssize_t size = read_text(fd, text);
    const bool ok = size >= 0;
    const int error = errno;
    if (size > FIRST_LINE && is_locked(fd) && read_first_line(text, (size_t)size, &token))
        read_holder(text + FIRST_LINE, (size_t)size - FIRST_LINE, token, leader);
    close(fd);
    errno = error;
    return ok;
}
