/* Reading a recording: see replay.h. */
#define _GNU_SOURCE
#include "agent/recorder/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"

bool recorder_entry(uint8_t *bytes, size_t used, size_t *at, uint32_t *sum, struct recorder_bytes *frames)
{
    if (used - *at < RECORDER_ENTRY_HEAD) return false;
    uint8_t *entry = bytes + *at;
    const uint64_t size = el_get(entry, 4);
    if (size > used - *at - RECORDER_ENTRY_HEAD) return false;
    *sum = recorder_chain(*sum, entry + RECORDER_ENTRY_HEAD, (size_t)size);
    if (*sum != (uint32_t)el_get(entry + 4, 4)) return false;
    *frames =
        (struct recorder_bytes){.at = entry + RECORDER_ENTRY_HEAD, .end = entry + RECORDER_ENTRY_HEAD + size};
    *at += RECORDER_ENTRY_HEAD + (size_t)size;
    return true;
}

/* ---- The head, and what it begins with ---- */

static bool refuse(const char *path, const char *why, char *text, size_t room)
{
    snprintf(text, room, "%s: %s", path, why);
    return false;
}

/* False: what was added to the half is not there. */
static bool read_more(const struct recorder_reader *tape, struct recorder_part *part, uint64_t *left)
{
    const uint64_t at = el_get(part->bytes + RECORDER_MORE_AT, 8),
                   size = el_get(part->bytes + RECORDER_MORE_SIZE_AT, 8),
                   used = el_get(part->bytes + RECORDER_MORE_USED_AT, 8);
    if (used == 0) return true;
    if (at > tape->size || size > tape->size - at || used < RECORDER_MORE_HEAD || used > size) return false;
    part->more = tape->bytes + at;
    part->more_used = (size_t)used;
    *left = size - used;
    return true;
}

static bool read_head(const struct recorder_reader *tape, struct recorder_part *part, size_t size,
                      const char *path, char *text, size_t room)
{
    const uint64_t version = el_get(part->bytes + RECORDER_MAGIC, 4),
                   used = el_get(part->bytes + RECORDER_USED_AT, 8),
                   pending = el_get(part->bytes + RECORDER_PENDING_AT, 8);
    if (memcmp(part->bytes, recorder_magic, RECORDER_MAGIC) != 0)
        return refuse(path, "is no recording of an agent, or is damaged", text, room);
    if (version != RECORDER_VERSION)
        return refuse(path, "was recorded by another version of elector; replay it with that one", text, room);
    uint64_t left = size - used;
    if (el_get(part->bytes + RECORDER_SIZE_AT, 8) != size || used < RECORDER_HEAD || used > size ||
        !read_more(tape, part, &left) || pending > left)
        return refuse(path, "is cut off, or damaged", text, room);
    part->flags = (uint32_t)el_get(part->bytes + RECORDER_FLAGS_AT, 4);
    part->generation = el_get(part->bytes + RECORDER_GENERATION_AT, 8);
    part->used = (size_t)used;
    part->pending = (size_t)pending;
    return true;
}

static bool read_beginning(const struct recorder_reader *tape, struct recorder_part *part, size_t half,
                           const char *path, char *text, size_t room)
{
    const uint64_t at = el_get(part->bytes + RECORDER_STATE_AT, 8),
                   size = el_get(part->bytes + RECORDER_STATE_SIZE_AT, 8);
    if (size == 0) return true;
    if (at > tape->size || size > tape->size - at || size < RECORDER_BOOT ||
        recorder_chain((uint32_t)half, tape->bytes + at, (size_t)size) !=
            (uint32_t)el_get(part->bytes + RECORDER_STATE_SUM_AT, 4))
        return refuse(path, "its beginning is damaged", text, room);
    struct recorder_bytes b = {.at = tape->bytes + at, .end = tape->bytes + at + size};
    memcpy(part->boot, b.at, RECORDER_BOOT);
    b.at += RECORDER_BOOT;
    part->at = recorder_get(&b, 8);
    part->config = recorder_get_bytes(&b, &part->config_size);
    part->record = part->config ? recorder_get_bytes(&b, &part->record_size) : NULL;
    if (!part->record) return refuse(path, "its beginning is damaged", text, room);
    part->state = b.at;
    part->state_size = (size_t)(b.end - b.at);
    part->has_beginning = true;
    return true;
}

/* A half in which nothing is, or not yet, is left out. */
static bool read_part(struct recorder_reader *tape, size_t at, size_t size, const char *path, char *text,
                      size_t room)
{
    static const uint8_t nothing[RECORDER_MAGIC];
    struct recorder_part *part = &tape->parts[tape->part_count];
    *part = (struct recorder_part){.bytes = tape->bytes + at};
    if (memcmp(part->bytes, nothing, RECORDER_MAGIC) == 0) return true;
    if (!read_head(tape, part, size, path, text, room) || !read_beginning(tape, part, size, path, text, room))
        return false;
    tape->part_count++;
    return true;
}

/* What begins somewhere and goes on without a gap, up to the last that is there: both, or one of them. */
static void choose_parts(struct recorder_reader *tape)
{
    struct recorder_part *parts = tape->parts;
    if (tape->part_count == 2 && parts[0].generation > parts[1].generation) {
        const struct recorder_part newer = parts[0];
        parts[0] = parts[1];
        parts[1] = newer;
    }
    const bool is_whole = tape->part_count == 2 && parts[0].generation + 1 == parts[1].generation;
    if (tape->part_count < 2 || (is_whole && parts[0].has_beginning)) return;
    if (parts[1].has_beginning) parts[0] = parts[1];
    tape->part_count = 1;
}

static bool read_parts(struct recorder_reader *tape, const char *path, char *text, size_t room)
{
    if (tape->size < RECORDER_HEAD)
        return refuse(path, "is no recording of an agent, or is damaged", text, room);
    const uint64_t half = el_get(tape->bytes + RECORDER_SIZE_AT, 8);
    if (half < RECORDER_HEAD || half > tape->size / 2)
        return refuse(path, "is no recording of an agent, or is cut off, or damaged", text, room);
    if (!read_part(tape, 0, (size_t)half, path, text, room) ||
        !read_part(tape, (size_t)half, (size_t)half, path, text, room))
        return false;
    choose_parts(tape);
    const struct recorder_part *first = &tape->parts[0];
    if (tape->part_count == 0 || !first->has_beginning)
        return refuse(path, "nothing is recorded there", text, room);
    return config_parse(&tape->config, path, (const char *)first->config, first->config_size, true, text, room);
}

struct recorder_reader *recorder_take(const char *path, const uint8_t *bytes, size_t size, char *text,
                                      size_t room)
{
    struct recorder_reader *tape = calloc(1, sizeof *tape);
    if (tape) tape->bytes = malloc(size ? size : 1);
    if (!tape || !tape->bytes) {
        snprintf(text, room, "out of memory");
        recorder_reader_free(tape);
        return NULL;
    }
    if (size) memcpy(tape->bytes, bytes, size);
    tape->size = size;
    if (read_parts(tape, path, text, room)) return tape;
    recorder_reader_free(tape);
    return NULL;
}

void recorder_reader_free(struct recorder_reader *tape)
{
    if (tape) free(tape->bytes);
    free(tape);
}

const struct config *recorder_config(const struct recorder_reader *tape)
{
    return &tape->config;
}

const uint8_t *recorder_boot(const struct recorder_reader *tape)
{
    return tape->parts[0].boot;
}

/* ---- The file ---- */

static uint8_t *read_all(int fd, size_t size)
{
    uint8_t *bytes = malloc(size ? size : 1);
    for (size_t done = 0; bytes && done < size;) {
        const ssize_t got = read(fd, bytes + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got > 0) {
            done += (size_t)got;
            continue;
        }
        if (got == 0) errno = EIO; /* it is shorter than it was */
        free(bytes);
        return NULL;
    }
    return bytes;
}

struct recorder_reader *recorder_load(const char *path, char *text, size_t room)
{
    struct stat status;
    struct recorder_reader *tape = NULL;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        snprintf(text, room, "%s: cannot read it: %s", path, strerror(errno));
    } else if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > 2 * CONFIG_RECORDER_MAX) {
        snprintf(text, room, "%s: is no recording of an agent", path);
    } else {
        uint8_t *bytes = read_all(fd, (size_t)status.st_size);
        if (bytes)
            tape = recorder_take(path, bytes, (size_t)status.st_size, text, room);
        else
            snprintf(text, room, "%s: cannot read it: %s", path, strerror(errno));
        free(bytes);
    }
    if (fd >= 0) close(fd);
    return tape;
}
