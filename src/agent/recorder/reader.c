/* Reads a recording file: see replay.h. */
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

/* ---- The head, and the state at the beginning ---- */

static bool refuse(const char *path, const char *why, char *text, size_t room)
{
    snprintf(text, room, "%s: %s", path, why);
    return false;
}

/* Reads where the additional room is. False: it lies outside the file. */
static bool read_more(const struct recorder_reader *reader, struct recorder_part *part, uint64_t *left)
{
    const uint64_t at = el_get(part->bytes + RECORDER_MORE_AT, 8),
                   size = el_get(part->bytes + RECORDER_MORE_SIZE_AT, 8),
                   used = el_get(part->bytes + RECORDER_MORE_USED_AT, 8);
    if (used == 0) return true;
    if (at > reader->size || size > reader->size - at || used < RECORDER_MORE_HEAD || used > size) return false;
    part->more = reader->bytes + at;
    part->more_used = (size_t)used;
    *left = size - used;
    return true;
}

static bool read_head(const struct recorder_reader *reader, struct recorder_part *part, size_t size,
                      const char *path, char *text, size_t room)
{
    const uint64_t version = el_get(part->bytes + RECORDER_MAGIC, 4),
                   used = el_get(part->bytes + RECORDER_USED_AT, 8),
                   pending = el_get(part->bytes + RECORDER_PENDING_AT, 8);
    if (memcmp(part->bytes, recorder_magic, RECORDER_MAGIC) != 0)
        return refuse(path, "not a recording of an agent, or damaged", text, room);
    if (version != RECORDER_VERSION)
        return refuse(path, "was recorded by another version of elector; replay it with that one", text, room);
    uint64_t left = size - used;
    if (el_get(part->bytes + RECORDER_SIZE_AT, 8) != size || used < RECORDER_HEAD || used > size ||
        !read_more(reader, part, &left) || pending > left)
        return refuse(path, "truncated or damaged", text, room);
    part->flags = (uint32_t)el_get(part->bytes + RECORDER_FLAGS_AT, 4);
    part->generation = el_get(part->bytes + RECORDER_GENERATION_AT, 8);
    part->used = (size_t)used;
    part->pending = (size_t)pending;
    return true;
}

static bool read_beginning(const struct recorder_reader *reader, struct recorder_part *part, size_t half,
                           const char *path, char *text, size_t room)
{
    const uint64_t at = el_get(part->bytes + RECORDER_STATE_AT, 8),
                   size = el_get(part->bytes + RECORDER_STATE_SIZE_AT, 8);
    if (size == 0) return true;
    if (at > reader->size || size > reader->size - at || size < RECORDER_BOOT ||
        recorder_chain((uint32_t)half, reader->bytes + at, (size_t)size) !=
            (uint32_t)el_get(part->bytes + RECORDER_STATE_SUM_AT, 4))
        return refuse(path, "its initial state is damaged", text, room);
    struct recorder_bytes b = {.at = reader->bytes + at, .end = reader->bytes + at + size};
    memcpy(part->boot, b.at, RECORDER_BOOT);
    b.at += RECORDER_BOOT;
    part->at = recorder_get(&b, 8);
    part->config = recorder_get_bytes(&b, &part->config_size);
    part->record = part->config ? recorder_get_bytes(&b, &part->record_size) : NULL;
    if (!part->record) return refuse(path, "its initial state is damaged", text, room);
    part->state = b.at;
    part->state_size = (size_t)(b.end - b.at);
    part->has_beginning = true;
    return true;
}

/* Skips a half that is empty. */
static bool read_part(struct recorder_reader *reader, size_t at, size_t size, const char *path, char *text,
                      size_t room)
{
    static const uint8_t nothing[RECORDER_MAGIC];
    struct recorder_part *part = &reader->parts[reader->part_count];
    *part = (struct recorder_part){.bytes = reader->bytes + at};
    if (memcmp(part->bytes, nothing, RECORDER_MAGIC) == 0) return true;
    if (!read_head(reader, part, size, path, text, room) ||
        !read_beginning(reader, part, size, path, text, room))
        return false;
    reader->part_count++;
    return true;
}

/* Keeps the longest recording without a gap that has a beginning and reaches the newest entry: both halves, or
 * one. */
static void choose_parts(struct recorder_reader *reader)
{
    struct recorder_part *parts = reader->parts;
    if (reader->part_count == 2 && parts[0].generation > parts[1].generation) {
        const struct recorder_part newer = parts[0];
        parts[0] = parts[1];
        parts[1] = newer;
    }
    const bool is_whole = reader->part_count == 2 && parts[0].generation + 1 == parts[1].generation;
    if (reader->part_count < 2 || (is_whole && parts[0].has_beginning)) return;
    if (parts[1].has_beginning) parts[0] = parts[1];
    reader->part_count = 1;
}

static bool read_parts(struct recorder_reader *reader, const char *path, char *text, size_t room)
{
    if (reader->size < RECORDER_HEAD)
        return refuse(path, "not a recording of an agent, or damaged", text, room);
    const uint64_t half = el_get(reader->bytes + RECORDER_SIZE_AT, 8);
    if (half < RECORDER_HEAD || half > reader->size / 2)
        return refuse(path, "not a recording of an agent, or truncated or damaged", text, room);
    if (!read_part(reader, 0, (size_t)half, path, text, room) ||
        !read_part(reader, (size_t)half, (size_t)half, path, text, room))
        return false;
    choose_parts(reader);
    const struct recorder_part *first = &reader->parts[0];
    if (reader->part_count == 0 || !first->has_beginning)
        return refuse(path, "the recording is empty", text, room);
    return config_parse(&reader->config, path, (const char *)first->config, first->config_size, true, text,
                        room);
}

struct recorder_reader *recorder_take(const char *path, const uint8_t *bytes, size_t size, char *text,
                                      size_t room)
{
    struct recorder_reader *reader = calloc(1, sizeof *reader);
    if (reader) reader->bytes = malloc(size ? size : 1);
    if (!reader || !reader->bytes) {
        snprintf(text, room, "out of memory");
        recorder_reader_free(reader);
        return NULL;
    }
    if (size) memcpy(reader->bytes, bytes, size);
    reader->size = size;
    if (read_parts(reader, path, text, room)) return reader;
    recorder_reader_free(reader);
    return NULL;
}

void recorder_reader_free(struct recorder_reader *reader)
{
    if (reader) free(reader->bytes);
    free(reader);
}

const struct config *recorder_config(const struct recorder_reader *reader)
{
    return &reader->config;
}

const uint8_t *recorder_boot(const struct recorder_reader *reader)
{
    return reader->parts[0].boot;
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
        if (got == 0) errno = EIO; /* truncated since fstat() */
        free(bytes);
        return NULL;
    }
    return bytes;
}

struct recorder_reader *recorder_load(const char *path, char *text, size_t room)
{
    struct stat status;
    struct recorder_reader *reader = NULL;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        snprintf(text, room, "%s: cannot read it: %s", path, strerror(errno));
    } else if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > 2 * CONFIG_RECORDER_MAX) {
        snprintf(text, room, "%s: not a recording of an agent", path);
    } else {
        uint8_t *bytes = read_all(fd, (size_t)status.st_size);
        if (bytes)
            reader = recorder_take(path, bytes, (size_t)status.st_size, text, room);
        else
            snprintf(text, room, "%s: cannot read it: %s", path, strerror(errno));
        free(bytes);
    }
    if (fd >= 0) close(fd);
    return reader;
}
