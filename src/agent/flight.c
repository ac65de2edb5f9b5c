/* Recording: see flight.h. */
#define _GNU_SOURCE
#include "agent/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/log.h"
#include "core/bytes.h"

struct flight {
    struct host_hooks inner;
    const struct config *config;
    struct record *record;
    uint8_t *map; /* all of the file */
    size_t map_size;
    uint8_t *base; /* the half that is written to */
    size_t size;   /* of each */
    size_t used;   /* whole entries end there */
    uint64_t generation;
    bool may_turn;             /* into the other half */
    uint32_t sum;              /* of the last of them */
    uint64_t at;               /* its time */
    struct flight_bytes frame; /* the entry that is being written */
    uint32_t depth;            /* of calls that have not returned */
    uint64_t noted;
    uint32_t flags;
    bool is_over;
};

enum { STRIDE = 65536 }; /* whole pages, wherever */
enum { FLAGS_AT = 12, USED_AT = 16, PENDING_AT = 24, GENERATION_AT = 32, SIZE_AT = 40 };

/* ---- The file ---- */

/* A reader that finds us dead must find what was written before in place. */
static void publish(struct flight *f, size_t at, uint64_t value, unsigned bytes)
{
    atomic_signal_fence(memory_order_release);
    el_put(f->base + at, value, bytes);
    atomic_signal_fence(memory_order_release);
}

static void open_entry(struct flight *f)
{
    f->frame = (struct flight_bytes){.at = f->base + f->used, .end = f->base + f->size};
    flight_put(&f->frame, 0, 4);
    flight_put(&f->frame, 0, 4);
}

static void set_flags(struct flight *f, uint32_t flags)
{
    f->flags |= flags;
    publish(f, FLAGS_AT, f->flags, 4);
}

static void stop(struct flight *f)
{
    f->is_over = true;
    publish(f, PENDING_AT, 0, 8);
    set_flags(f, FLIGHT_FULL);
    if (f->inner.warn)
        f->inner.warn(f->inner.whose, NULL,
                      "the flight recorder is full, and records no more; `recorder` says how much it takes");
}

/* What is written is the file's: our memory has only the part that is being written to, and the kernel may have the rest back.
 * Nothing is lost when a shared page is let go of. */
static void let_go_behind(const struct flight *f, size_t before)
{
    const size_t at = (size_t)(f->base - f->map), first = (at + before) / STRIDE, end = (at + f->used) / STRIDE;
    if (end > first) (void)madvise(f->map + first * STRIDE, (end - first) * STRIDE, MADV_DONTNEED);
}

/* It counts from here on. */
static void close_entry(struct flight *f)
{
    uint8_t *entry = f->base + f->used;
    const size_t size = (size_t)(f->frame.at - entry) - FLIGHT_ENTRY_HEAD;
    if (f->frame.failed) {
        stop(f);
        return;
    }
    f->sum = flight_chain(f->sum, entry + FLIGHT_ENTRY_HEAD, size);
    el_put(entry, size, 4);
    el_put(entry + 4, f->sum, 4);
    const size_t before = f->used;
    f->used += FLIGHT_ENTRY_HEAD + size;
    publish(f, USED_AT, f->used, 8);
    publish(f, PENDING_AT, 0, 8);
    let_go_behind(f, before);
}

/* What a dying process leaves of a call is worth the most. */
static void show_pending(struct flight *f)
{
    if (!f->frame.failed) publish(f, PENDING_AT, (uint64_t)(f->frame.at - (f->base + f->used)), 8);
}

/* ---- Halves ---- */

/* Clocks of one boot of one host are the same clock. */
static void put_boot(struct flight_bytes *b)
{
    char text[64] = "";
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    const struct el_hash hash = el_fingerprint(text, got > 0 ? (size_t)got : 0);
    flight_put(b, got > 0 ? hash.low : 0, 8);
    flight_put(b, got > 0 ? hash.high : 0, 8);
}

static bool put_beginning(struct flight *f, const uint8_t *state, size_t size)
{
    char *text = flight_config_text(f->config);
    struct record_image *image = record_copy(f->record);
    open_entry(f);
    put_boot(&f->frame);
    flight_put(&f->frame, f->at, 8);
    if (text) flight_put_bytes(&f->frame, text, strlen(text));
    if (image) flight_put_bytes(&f->frame, image->bytes, image->size);
    flight_put_bytes(&f->frame, state, size);
    const bool is_good = text && image && !f->frame.failed;
    if (is_good) close_entry(f);
    free(text);
    free(image);
    return is_good;
}

/* Nothing is there until all of its beginning is. */
static bool begin_half(struct flight *f, uint8_t *base, const uint8_t *state, size_t size)
{
    static const uint8_t nothing[FLIGHT_MAGIC];
    f->base = base;
    memcpy(base, nothing, FLIGHT_MAGIC);
    f->used = FLIGHT_HEAD;
    f->sum = 0;
    publish(f, FLIGHT_MAGIC, FLIGHT_VERSION, 4);
    publish(f, FLAGS_AT, f->flags, 4);
    publish(f, GENERATION_AT, ++f->generation, 8);
    publish(f, SIZE_AT, f->size, 8);
    if (!put_beginning(f, state, size)) return false;
    atomic_signal_fence(memory_order_release);
    memcpy(base, flight_magic, FLIGHT_MAGIC);
    return true;
}

/* What is in the other half is forgotten only when the state is at hand. */
static void turn(struct flight *f, struct host *host)
{
    uint8_t *state = malloc(f->size);
    struct flight_bytes bytes = {.at = state, .end = state + f->size};
    f->may_turn = state && host_pack(host, &bytes) && (size_t)(bytes.at - state) < f->size / 2;
    uint8_t *other = f->base == f->map ? f->map + f->size : f->map;
    if (f->may_turn && !begin_half(f, other, state, (size_t)(bytes.at - state))) stop(f);
    free(state);
}

/* ---- The hooks ---- */

static bool is_recording(const struct flight *f)
{
    return f->depth > 0 && !f->is_over;
}

static void called(void *whose, const struct host_call *call)
{
    struct flight *f = whose;
    const bool is_first = f->depth++ == 0;
    if (f->is_over) return;
    if (is_first && f->used > f->size - f->size / 8 && f->may_turn) turn(f, call->host);
    if (is_first) open_entry(f);
    flight_put_call(&f->frame, call, is_first ? f->at : UINT64_MAX);
    if (is_first) f->at = call->at;
    show_pending(f);
}

static void returned(void *whose)
{
    struct flight *f = whose;
    f->depth--;
    if (f->is_over) return;
    flight_put(&f->frame, f->noted ? FLIGHT_RETURNED_NOTED : FLIGHT_RETURNED, 1);
    if (f->noted) flight_put(&f->frame, f->noted, 4);
    f->noted = 0;
    if (f->depth == 0)
        close_entry(f);
    else
        show_pending(f);
}

static void put_output(struct flight *f, enum flight_tag tag, uint32_t sum)
{
    if (!is_recording(f)) return;
    flight_put(&f->frame, (uint64_t)tag, 1);
    flight_put(&f->frame, sum, 4);
    show_pending(f);
}

static uint64_t now(void *whose)
{
    const struct flight *f = whose;
    return f->inner.now(f->inner.whose);
}

static void sends(void *whose, el_node to, const uint8_t *payload, size_t size)
{
    struct flight *f = whose;
    if (is_recording(f)) {
        flight_put(&f->frame, FLIGHT_SENT, 1);
        flight_put(&f->frame, to, 1);
        flight_put(&f->frame, flight_sum(payload, size), 4);
        show_pending(f);
    }
    f->inner.send(f->inner.whose, to, payload, size);
}

static void saves(void *whose, struct record_image *image)
{
    struct flight *f = whose;
    put_output(f, FLIGHT_SAVES, flight_sum(image->bytes, image->size));
    f->inner.save(f->inner.whose, image);
}

static void changed(void *whose, struct host_group *group)
{
    struct flight *f = whose;
    if (is_recording(f)) put_output(f, FLIGHT_CHANGED, flight_sum_view(group));
    f->inner.changed(f->inner.whose, group);
}

static void renewed(void *whose, uint32_t cell)
{
    struct flight *f = whose;
    put_output(f, FLIGHT_RENEWED, cell);
    if (f->inner.renewed) f->inner.renewed(f->inner.whose, cell);
}

static void notes(void *whose, struct host_group *group, const struct host_note *note)
{
    struct flight *f = whose;
    f->noted = flight_sum_note(f->noted, group, note);
    f->inner.note(f->inner.whose, group, note);
}

static void warns(void *whose, struct host_group *group, const char *text)
{
    const struct flight *f = whose;
    f->inner.warn(f->inner.whose, group, text);
}

static void hears(void *whose, struct host_group *group, const struct el_msg *msg)
{
    const struct flight *f = whose;
    if (f->inner.heard) f->inner.heard(f->inner.whose, group, msg);
}

static void answered(void *whose, el_node peer, uint64_t round_trip_ns)
{
    const struct flight *f = whose;
    if (f->inner.answered) f->inner.answered(f->inner.whose, peer, round_trip_ns);
}

static uint64_t draws(void *whose)
{
    struct flight *f = whose;
    const uint64_t drawn = f->inner.random(f->inner.whose);
    if (is_recording(f)) {
        flight_put(&f->frame, FLIGHT_RANDOM, 1);
        flight_put(&f->frame, drawn, 8);
    }
    return drawn;
}

static uint64_t wall(void *whose)
{
    struct flight *f = whose;
    const uint64_t ms = f->inner.wall_ms(f->inner.whose);
    if (is_recording(f)) {
        flight_put(&f->frame, FLIGHT_WALL, 1);
        flight_put_number(&f->frame, ms);
    }
    return ms;
}

/* ---- Beginning and end ---- */

/* Whoever was recorded before is kept once. */
static int make_file(const char *path, uint64_t size, char *text, size_t room)
{
    char old[4096 + 8];
    struct stat status;
    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        snprintf(text, room, "%s: is no regular file, and is left alone", path);
        return -1;
    }
    snprintf(old, sizeof old, "%s.1", path);
    (void)rename(path, old);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    /* With all its blocks: a full disk must not be met in the middle of a copy. */
    const int error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)size);
    if (error == 0) return fd;
    snprintf(text, room, "%s: cannot make it: %s", path, strerror(error));
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    return -1;
}

static bool map_file(struct flight *f, const char *path, uint64_t size, char *text, size_t room)
{
    const int fd = make_file(path, size, text, room);
    if (fd < 0) return false;
    f->map = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    f->map_size = (size_t)size;
    f->size = flight_half((size_t)size);
    if (f->map == MAP_FAILED) f->map = NULL;
    if (!f->map) snprintf(text, room, "%s: cannot map it: %s", path, strerror(errno));
    close(fd);
    return f->map != NULL;
}

struct flight *flight_open(const char *path, uint64_t size, const struct config *config, struct record *record,
                           struct host_hooks *hooks, char *text, size_t room)
{
    struct flight *f = calloc(1, sizeof *f);
    if (!f) {
        snprintf(text, room, "out of memory");
        return NULL;
    }
    f->inner = *hooks;
    if (!map_file(f, path, size, text, room)) {
        free(f);
        return NULL;
    }
    f->config = config;
    f->record = record;
    f->may_turn = true;
    if (!begin_half(f, f->map, NULL, 0)) {
        snprintf(text, room, "%s: too small for what a recording begins with", path);
        flight_close(f);
        return NULL;
    }
    _Static_assert(sizeof *hooks == 14 * sizeof(void *), "a new hook is passed on");
    *hooks = (struct host_hooks){.whose = f,
                                 .now = now,
                                 .send = sends,
                                 .save = saves,
                                 .changed = changed,
                                 .note = notes,
                                 .warn = warns,
                                 .random = draws,
                                 .wall_ms = wall,
                                 .renewed = renewed,
                                 .heard = hears,
                                 .answered = answered,
                                 .called = called,
                                 .returned = returned};
    return f;
}

struct flight *flight_begin(const struct config *config, struct record *record, struct host_hooks *hooks)
{
    char path[sizeof config->state + 8], text[512];
    if (config->recorder == 0) return NULL;
    snprintf(path, sizeof path, "%s%s", config->recorder_file[0] ? config->recorder_file : config->state,
             config->recorder_file[0] ? "" : ".flight");
    struct flight *f = flight_open(path, config->recorder, config, record, hooks, text, sizeof text);
    if (!f) log_event(LOG_WARN_LEVEL, NULL, "no flight recorder: %s", text);
    return f;
}

void flight_close(struct flight *f)
{
    if (!f) return;
    set_flags(f, FLIGHT_CLOSED);
    munmap(f->map, f->map_size);
    free(f);
}
