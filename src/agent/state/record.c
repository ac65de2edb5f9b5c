/*
 * The state file has two slots at fixed offsets. A write goes to the slot that does not hold the newest good
 * record, and is synced before anything relies on it. So after a crash one slot is whole: an interrupted write
 * damages only data that nobody was told of.
 *
 * The file has its full size from its creation on. A file of another size was truncated, perhaps before the
 * newer slot, and counts as lost.
 */
#define _GNU_SOURCE
#include "agent/state/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/state/slot.h"

enum { FILE_SIZE = 2 * RECORD_SLOT };

/* For the writing thread. The rest of a record belongs to the thread that owns it. */
struct writer {
    pthread_mutex_t one_at_a_time;
    int fd;
    int slot;         /* for the next write */
    uint64_t written; /* the newest version on disk */
    int error;        /* of the first write that failed; no more writes follow */
};

struct record {
    struct writer *writer;
    struct record_contents contents;
};

static void explain(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void explain(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, size, format, arguments);
    va_end(arguments);
}

/* ---- Writing ---- */

static int write_all(int fd, const unsigned char *bytes, size_t size, off_t at)
{
    while (size > 0) {
        const ssize_t written = pwrite(fd, bytes, size, at);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        if (written == 0) return EIO;
        bytes += written;
        at += written;
        size -= (size_t)written;
    }
    return 0;
}

static int write_slot(int fd, int slot, const unsigned char *bytes, size_t size)
{
    const int error = write_all(fd, bytes, size, (off_t)slot * RECORD_SLOT);
    if (error) return error;
    return fsync(fd) == 0 ? 0 : errno;
}

/* A new file's name is durable only after its folder was synced. */
static int sync_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder) return ENAMETOOLONG;
    if (length > 0) memcpy(folder, path, length);
    folder[length] = '\0';
    const int fd = open(length ? folder : slash ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    const int error = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return error;
}

/* Gives the file its full size, empty: until a slot is written, it counts as lost. */
static int lay_out(int fd, const char *path)
{
    if (ftruncate(fd, 0) != 0 || ftruncate(fd, FILE_SIZE) != 0 || fsync(fd) != 0) return errno;
    return sync_folder(path);
}

static int write_image(struct writer *writer, const struct record_image *image)
{
    if (writer->error) return writer->error;
    if (image->version <= writer->written) return 0; /* a newer version, which contains this one, is on disk */
    writer->error = write_slot(writer->fd, writer->slot, image->bytes, image->size);
    if (writer->error) return writer->error;
    writer->written = image->version;
    writer->slot = 1 - writer->slot;
    return 0;
}

int record_write(const struct record *record, const struct record_image *image)
{
    struct writer *writer = record->writer;
    pthread_mutex_lock(&writer->one_at_a_time);
    const int error = write_image(writer, image);
    pthread_mutex_unlock(&writer->one_at_a_time);
    return error;
}

static struct record_image *image_of(const struct record_contents *contents)
{
    const size_t size = record_slot_size(contents->count);
    struct record_image *image = malloc(sizeof *image + size);
    if (!image) return NULL;
    image->size = size;
    image->version = contents->version;
    record_slot_encode(contents, image->bytes);
    return image;
}

struct record_image *record_image_of(struct record *record)
{
    record->contents.version++;
    return image_of(&record->contents);
}

/* With the version of the next write, because a slot's version must be above 0 and nothing may be written
 * yet. */
struct record_image *record_copy(struct record *record)
{
    record->contents.version++;
    struct record_image *image = image_of(&record->contents);
    record->contents.version--;
    return image;
}

size_t record_copy_size(const struct record *record)
{
    return record_slot_size(record->contents.count);
}

void record_copy_to(struct record *record, unsigned char *bytes)
{
    record->contents.version++;
    record_slot_encode(&record->contents, bytes);
    record->contents.version--;
}

/* ---- In memory ---- */

/* The index of the group's entry, or where it would be inserted. */
static uint32_t place_of(const struct record_contents *contents, uint64_t group_key)
{
    uint32_t low = 0, high = contents->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (contents->entries[middle].group_key < group_key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct record_contents *contents, uint32_t place, uint64_t group_key)
{
    return place < contents->count && contents->entries[place].group_key == group_key;
}

bool record_get(const struct record *record, uint64_t group_key, struct el_durable *durable)
{
    const uint32_t place = place_of(&record->contents, group_key);
    if (!is_at(&record->contents, place, group_key)) return false;
    *durable = record->contents.entries[place].durable;
    return true;
}

bool record_has_room(const struct record *record, uint64_t group_key)
{
    const struct record_contents *contents = &record->contents;
    return contents->count < RECORD_GROUPS_MAX || is_at(contents, place_of(contents, group_key), group_key);
}

bool record_put(struct record *record, uint64_t group_key, const struct el_durable *durable)
{
    struct record_contents *contents = &record->contents;
    const uint32_t place = place_of(contents, group_key);
    struct record_entry *entry = &contents->entries[place];
    if (!is_at(contents, place, group_key)) {
        if (contents->count == RECORD_GROUPS_MAX) return false;
        memmove(entry + 1, entry, (contents->count - place) * sizeof *entry);
        contents->count++;
    }
    *entry = (struct record_entry){group_key, *durable};
    return true;
}

uint32_t record_count(const struct record *record)
{
    return record->contents.count;
}

bool record_forgot(const struct record *record)
{
    return record->contents.forgot;
}

/* ---- Creating ---- */

static int fill_new(int fd, const char *path, const struct record_identity *identity,
                    const struct record_entry *first)
{
    struct record_contents *contents = calloc(1, sizeof *contents);
    if (!contents) return ENOMEM;
    contents->identity = *identity;
    contents->version = 1;
    if (first) contents->entries[contents->count++] = *first;
    struct record_image *image = image_of(contents);
    int error = image ? lay_out(fd, path) : ENOMEM;
    if (!error) error = write_slot(fd, 0, image->bytes, image->size);
    free(image);
    free(contents);
    return error;
}

static bool create(const char *path, const struct record_identity *identity, const struct record_entry *first,
                   char *text, size_t size)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST) {
        explain(
            text, size,
            "%s: there is a state file already, and its promises must not be forgotten; choose another path",
            path);
        return false;
    }
    if (fd < 0) {
        explain(text, size, "%s: cannot create the state file: %s", path, strerror(errno));
        return false;
    }
    const int error = fill_new(fd, path, identity, first);
    close(fd);
    if (!error) return true;
    explain(text, size, "%s: cannot write the state file: %s", path, strerror(error));
    unlink(path);
    return false;
}

bool record_create(const char *path, const struct record_identity *identity, char *text, size_t size)
{
    return create(path, identity, NULL, text, size);
}

bool record_found(const char *path, const struct record_identity *identity, uint64_t key,
                  const struct el_durable *durable, char *text, size_t size)
{
    const struct record_entry first = {.group_key = key, .durable = *durable};
    return create(path, identity, &first, text, size);
}

/* ---- Opening ---- */

/* Checks type, owner and mode of the file. */
static bool may_use(int fd, const char *path, char *text, size_t size)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        explain(text, size, "%s: cannot look at the state file: %s", path, strerror(errno));
        return false;
    }
    if (!S_ISREG(status.st_mode)) {
        explain(text, size, "%s: not a regular file; let `state` name one", path);
        return false;
    }
    if (status.st_uid != geteuid()) {
        explain(text, size,
                "%s: the state file belongs to uid %u and this is uid %u; run as that user, or chown it", path,
                (unsigned)status.st_uid, (unsigned)geteuid());
        return false;
    }
    if (status.st_mode & (S_IWGRP | S_IWOTH)) {
        explain(text, size, "%s: others may write to the state file (mode %04o); chmod it to 0600", path,
                (unsigned)(status.st_mode & 07777));
        return false;
    }
    return true;
}

/* The pid that holds the lock; 0: unknown. A line of /proc/locks is `1: FLOCK ADVISORY WRITE pid device:inode 0
 * EOF`. */
static long holder_of(int fd)
{
    static const char mode[] = " WRITE ";
    struct stat status;
    char file[64], line[256];
    long holder = 0;
    FILE *locks = fstat(fd, &status) == 0 ? fopen("/proc/locks", "re") : NULL;
    if (!locks) return 0;
    snprintf(file, sizeof file, " %02x:%02x:%llu ", major(status.st_dev), minor(status.st_dev),
             (unsigned long long)status.st_ino);
    while (!holder && fgets(line, sizeof line, locks)) {
        const char *pid = strstr(line, mode);
        if (pid && strstr(line, ": FLOCK ") && strstr(pid, file))
            holder = strtol(pid + sizeof mode - 1, NULL, 10);
    }
    fclose(locks);
    return holder;
}

static enum record_outcome lock(int fd, const char *path, char *text, size_t size)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return RECORD_READY;
    if (errno != EWOULDBLOCK) {
        explain(text, size, "%s: cannot lock the state file: %s", path, strerror(errno));
        return RECORD_REFUSED;
    }
    const long holder = holder_of(fd);
    char who[32] = "another process";
    if (holder > 0) snprintf(who, sizeof who, "process %ld", holder);
    explain(text, size, "%s: the state file is in use by %s", path, who);
    return RECORD_IN_USE;
}

/* Reads up to `size` bytes, one more than a good file has, to detect a longer one. < 0: errno says why. */
static ssize_t read_file(int fd, unsigned char *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t got = pread(fd, bytes + done, size - done, (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    while (size > 0 && bytes[size - 1] == 0) size--;
    return size == 0;
}

/* A damaged state file may be overwritten; a file of another kind may not. */
static bool was_a_record(const unsigned char *bytes, size_t size)
{
    const size_t known = size < RECORD_MAGIC_SIZE ? size : RECORD_MAGIC_SIZE;
    return size == FILE_SIZE || memcmp(bytes, record_magic, known) == 0 || is_zero(bytes, size);
}

static enum record_outcome refuse_other(const char *path, const struct record_contents *found,
                                        const struct record_identity *wanted, char *text, size_t size)
{
    if (memcmp(found->identity.cluster_id, wanted->cluster_id, RECORD_CLUSTER_ID) != 0)
        explain(text, size,
                "%s: the state file is of another cluster; check `state` and the cluster's name and id", path);
    else
        explain(text, size,
                "%s: the state file is of the member with id %llu, and this is %llu; check `state` and `self`",
                path, (unsigned long long)found->identity.member, (unsigned long long)wanted->member);
    return RECORD_REFUSED;
}

static bool is_same(const struct record_identity *a, const struct record_identity *b)
{
    return a->member == b->member && memcmp(a->cluster_id, b->cluster_id, RECORD_CLUSTER_ID) == 0;
}

/* Takes the newer of the good slots; the next write goes to the other one. `other` is scratch memory. */
static enum record_outcome judge(struct record *record, struct record_contents *other,
                                 const unsigned char *bytes, const char *path, char *text, size_t size)
{
    const struct record_identity wanted = record->contents.identity;
    bool found = false, twice = false;
    for (int slot = 0; slot < 2; slot++) {
        const enum record_slot_state state =
            record_slot_decode(bytes + (size_t)slot * RECORD_SLOT, RECORD_SLOT, other);
        if (state == RECORD_SLOT_NEWER) {
            explain(text, size, "%s: the state file was written by another version of elector; run that one",
                    path);
            return RECORD_REFUSED;
        }
        if (state != RECORD_SLOT_GOOD) continue;
        if (!is_same(&other->identity, &wanted)) return refuse_other(path, other, &wanted, text, size);
        twice = found && other->version == record->contents.version; /* an agent never writes that */
        if (found && other->version <= record->contents.version) continue;
        record->contents = *other;
        record->writer->slot = 1 - slot;
        found = true;
    }
    record->writer->written = record->contents.version;
    return found && !twice ? RECORD_READY : RECORD_LOST;
}

static enum record_outcome read_record(struct record *record, const char *path, char *text, size_t size)
{
    enum record_outcome outcome = RECORD_REFUSED;
    unsigned char *bytes = malloc(FILE_SIZE + 1);
    struct record_contents *other = malloc(sizeof *other);
    const ssize_t length = bytes && other ? read_file(record->writer->fd, bytes, FILE_SIZE + 1) : -1;
    if (!bytes || !other)
        explain(text, size, "out of memory");
    else if (length < 0)
        explain(text, size, "%s: cannot read the state file: %s", path, strerror(errno));
    else if (!was_a_record(bytes, (size_t)length))
        explain(text, size, "%s: not a state file, left unchanged; let `state` name another path", path);
    else if (length == FILE_SIZE)
        outcome = judge(record, other, bytes, path, text, size);
    else
        outcome = RECORD_LOST;
    free(other);
    free(bytes);
    return outcome;
}

/* Begins an empty record. Both slots are emptied, so that the next write is the newest version. */
static enum record_outcome begin_anew(struct record *record, const struct record_identity *identity,
                                      const char *path, char *text, size_t size)
{
    memset(&record->contents, 0, sizeof record->contents);
    record->contents.identity = *identity;
    record->contents.forgot = true;
    record->writer->slot = 0;
    record->writer->written = 0;
    const int error = lay_out(record->writer->fd, path);
    if (error) {
        explain(text, size, "%s: cannot write the state file: %s", path, strerror(error));
        return RECORD_REFUSED;
    }
    explain(text, size, "%s: the state file is missing or damaged: this member has forgotten its promises",
            path);
    return RECORD_LOST;
}

static struct record *make(const struct record_identity *identity, int fd)
{
    struct record *record = calloc(1, sizeof *record);
    struct writer *writer = calloc(1, sizeof *writer);
    if (!record || !writer || pthread_mutex_init(&writer->one_at_a_time, NULL) != 0) {
        free(record);
        free(writer);
        return NULL;
    }
    writer->fd = fd;
    record->writer = writer;
    record->contents.identity = *identity;
    return record;
}

enum record_outcome record_open(struct record **made, const char *path, const struct record_identity *identity,
                                char *text, size_t size)
{
    *made = NULL;
    if (size > 0) text[0] = '\0';
    const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    if (fd < 0) {
        if (errno == ELOOP)
            explain(text, size, "%s: a symbolic link; let `state` name the file itself", path);
        else
            explain(text, size,
                    "%s: cannot open the state file: %s; this user must be able to read and write it", path,
                    strerror(errno));
        return RECORD_REFUSED;
    }
    enum record_outcome outcome = may_use(fd, path, text, size) ? lock(fd, path, text, size) : RECORD_REFUSED;
    struct record *record = outcome == RECORD_READY ? make(identity, fd) : NULL;
    if (!record) {
        if (outcome == RECORD_READY) explain(text, size, "out of memory");
        close(fd);
        return outcome == RECORD_IN_USE ? outcome : RECORD_REFUSED;
    }
    outcome = read_record(record, path, text, size);
    if (outcome == RECORD_LOST) outcome = begin_anew(record, identity, path, text, size);
    if (outcome == RECORD_REFUSED)
        record_close(record);
    else
        *made = record;
    return outcome;
}

struct record *record_restore(const unsigned char *bytes, size_t size)
{
    struct record *record = make(&(struct record_identity){0}, -1);
    if (record && record_slot_decode(bytes, size, &record->contents) != RECORD_SLOT_GOOD) {
        record_close(record);
        return NULL;
    }
    if (record) record->contents.version--;
    return record;
}

void record_close(struct record *record)
{
    if (!record) return;
    if (record->writer->fd >= 0) close(record->writer->fd); /* also unlocks the file */
    pthread_mutex_destroy(&record->writer->one_at_a_time);
    free(record->writer);
    free(record);
}
