/* Writes a recording: see recorder.h. */
#define _GNU_SOURCE
#include "agent/recorder/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/recorder/internal.h"
#include "base/kernel/boot_id.h"
#include "base/kernel/memfd.h"
#include "base/log/log.h"
#include "core/bytes.h"

enum { STRIDE = 65536 }; /* a multiple of every page size */

/* ---- Entries ---- */

void recorder_publish(const struct recorder *f, size_t at, uint32_t value)
{
    uint32_t bytes;
    el_put((uint8_t *)&bytes, value, sizeof bytes);
    atomic_store_explicit((_Atomic uint32_t *)(void *)(f->base + at), bytes, memory_order_release);
}

uint8_t *recorder_other_half(const struct recorder *f)
{
    return f->base == f->map ? f->map + f->size : f->map;
}

/* The place of the next entry. */
static uint8_t *end_of(const struct recorder *f)
{
    return (f->more ? f->more : f->base) + f->used;
}

static size_t size_of(const struct recorder *f)
{
    return f->more ? f->more_size : f->size;
}

static void open_entry(struct recorder *f)
{
    f->frame = (struct recorder_bytes){.at = end_of(f), .end = end_of(f) - f->used + size_of(f)};
    recorder_put(&f->frame, 0, 4);
    recorder_put(&f->frame, 0, 4);
}

static void set_flags(struct recorder *f, uint32_t flags)
{
    f->flags |= flags;
    recorder_publish(f, RECORDER_FLAGS_AT, f->flags);
}

static void pause_recording(struct recorder *f)
{
    f->is_paused = true;
    recorder_publish(f, RECORDER_PENDING_AT, 0);
    set_flags(f, RECORDER_FULL);
    if (f->has_warned_of_pause || f->has_warned_of_many || !f->inner.warn) return;
    f->has_warned_of_pause = true;
    f->inner.warn(f->inner.context, NULL,
                  "the flight recorder's file is full: some input is not recorded, and a new recording begins; "
                  "set a larger `recorder`");
}

void recorder_begin_again(struct recorder *f)
{
    if (!f || f->is_paused) return;
    f->is_paused = true; /* the next call begins a half, with the host's state and the present configuration */
    recorder_publish(f, RECORDER_PENDING_AT, 0);
    set_flags(f, RECORDER_FULL);
}

/* Gives pages that are complete back to the kernel, so that they do not count as our memory. The pages of a
 * shared mapping stay in the file. */
static void let_go_behind(const struct recorder *f, const uint8_t *entry)
{
    uint8_t *map = f->more ? f->more : f->map;
    const size_t first = (size_t)(entry - map) / STRIDE, end = (size_t)(end_of(f) - map) / STRIDE;
    if (end > first) (void)madvise(map + first * STRIDE, (end - first) * STRIDE, MADV_DONTNEED);
}

/* Completes the entry: from here on it is part of the recording. */
static void close_entry(struct recorder *f)
{
    uint8_t *entry = end_of(f);
    const size_t size = (size_t)(f->frame.at - entry) - RECORDER_ENTRY_HEAD;
    if (f->frame.failed) {
        pause_recording(f);
        return;
    }
    f->sum = recorder_chain(f->sum, entry + RECORDER_ENTRY_HEAD, size);
    el_put(entry, size, 4);
    el_put(entry + 4, f->sum, 4);
    f->used += RECORDER_ENTRY_HEAD + size;
    recorder_publish(f, RECORDER_PENDING_AT, 0); /* before `used`: nothing is pending after this entry */
    recorder_publish(f, f->more ? RECORDER_MORE_USED_AT : RECORDER_USED_AT, (uint32_t)f->used);
    let_go_behind(f, entry);
}

/* Publishes the unfinished entry: if the process dies, its last call matters most. */
static void show_pending(struct recorder *f)
{
    if (!f->frame.failed) recorder_publish(f, RECORDER_PENDING_AT, (uint32_t)(f->frame.at - end_of(f)));
}

/* ---- Halves ---- */

/* Begins a half without a state. It is empty until its head is complete: the magic is cleared first and comes
 * last. */
static void begin_half(struct recorder *f, uint8_t *base, uint64_t generation)
{
    static const uint8_t nothing[RECORDER_MAGIC];
    if (f->more) munmap(f->more, f->more_size);
    f->more = NULL;
    f->base = base;
    memcpy(base, nothing, RECORDER_MAGIC);
    atomic_thread_fence(memory_order_seq_cst);
    f->used = RECORDER_HEAD;
    f->sum = 0;
    f->flags = 0;
    f->generation = generation;
    recorder_publish(f, RECORDER_MAGIC, RECORDER_VERSION);
    recorder_publish(f, RECORDER_FLAGS_AT, 0);
    recorder_publish(f, RECORDER_USED_AT, (uint32_t)f->used);
    recorder_publish(f, RECORDER_PENDING_AT, 0);
    recorder_publish(f, RECORDER_GENERATION_AT, (uint32_t)generation);
    recorder_publish(f, RECORDER_SIZE_AT, (uint32_t)f->size);
    recorder_publish(f, RECORDER_STATE_SIZE_AT, 0);
    recorder_publish(f, RECORDER_MORE_AT, 0);
    recorder_publish(f, RECORDER_MORE_SIZE_AT, 0);
    recorder_publish(f, RECORDER_MORE_USED_AT, 0);
    atomic_thread_fence(memory_order_release);
    memcpy(base, recorder_magic, RECORDER_MAGIC);
}

static bool is_nearly_full(const struct recorder *f)
{
    return f->used > size_of(f) - size_of(f) / 8;
}

/* False: this half has no additional room, or uses it already. */
static bool go_on_in_more(struct recorder *f)
{
    const size_t size = (size_t)el_get(f->base + RECORDER_MORE_SIZE_AT, 8);
    if (f->more || size == 0) return false;
    uint8_t *more = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd,
                         (off_t)el_get(f->base + RECORDER_MORE_AT, 8));
    if (more == MAP_FAILED) return false;
    f->more = more;
    f->more_size = size;
    f->used = RECORDER_MORE_HEAD;
    recorder_publish(f, RECORDER_MORE_USED_AT, (uint32_t)f->used);
    return true;
}

/* Begins the other half. If this one never got its state, begins this one again: it would be unreadable once
 * the other half is overwritten. */
static void turn(struct recorder *f, const struct host_call *call)
{
    if (!recorder_has_kept(f) || (!f->is_paused && go_on_in_more(f)) || !recorder_may_keep(f, call->host))
        return; /* until then, use the rest of the room */
    const bool goes_on = !f->is_paused && recorder_has_state(f->base);
    if (!goes_on) f->at = call->at; /* there is a gap */
    begin_half(f, recorder_has_state(f->base) ? recorder_other_half(f) : f->base,
               f->generation + (goes_on ? 1 : 2));
    f->is_paused = false;
    recorder_check_writer(f);
    recorder_begin_to_keep(f, call->host);
}

/* ---- The hooks ---- */

static bool is_recording(const struct recorder *f)
{
    return f->depth > 0 && !f->is_paused;
}

static void called(void *context, const struct host_call *call)
{
    struct recorder *f = context;
    const bool is_first = f->depth++ == 0;
    if (is_first && f->keeper) (void)recorder_has_kept(f);
    if (is_first && (f->is_paused || is_nearly_full(f))) turn(f, call);
    if (f->is_paused) return;
    if (is_first) open_entry(f);
    recorder_put_call(&f->frame, call, is_first ? f->at : UINT64_MAX);
    if (is_first) f->at = call->at;
    show_pending(f);
}

static void returned(void *context)
{
    struct recorder *f = context;
    const uint64_t noted = f->noted;
    f->noted = 0;
    f->depth--;
    if (f->is_paused) return;
    recorder_put(&f->frame, noted ? RECORDER_RETURNED_NOTED : RECORDER_RETURNED, 1);
    if (noted) recorder_put(&f->frame, noted, 4);
    if (f->depth == 0)
        close_entry(f);
    else
        show_pending(f);
}

static void put_output(struct recorder *f, enum recorder_tag tag, uint32_t sum)
{
    if (!is_recording(f)) return;
    recorder_put(&f->frame, (uint64_t)tag, 1);
    recorder_put(&f->frame, sum, 4);
    show_pending(f);
}

static uint64_t now(void *context)
{
    const struct recorder *f = context;
    return f->inner.now(f->inner.context);
}

static void sends(void *context, el_node to, const uint8_t *payload, size_t size)
{
    struct recorder *f = context;
    if (is_recording(f)) {
        recorder_put(&f->frame, RECORDER_SENT, 1);
        recorder_put(&f->frame, to, 1);
        recorder_put(&f->frame, recorder_sum(payload, size), 4);
        show_pending(f);
    }
    f->inner.send(f->inner.context, to, payload, size);
}

static void saves(void *context, struct record_image *image)
{
    struct recorder *f = context;
    put_output(f, RECORDER_SAVES, recorder_sum(image->bytes, image->size));
    f->inner.save(f->inner.context, image);
}

static void changed(void *context, struct host_group *group)
{
    struct recorder *f = context;
    if (is_recording(f)) put_output(f, RECORDER_CHANGED, recorder_sum_view(group));
    f->inner.changed(f->inner.context, group);
}

static void renewed(void *context, uint32_t cell)
{
    struct recorder *f = context;
    put_output(f, RECORDER_RENEWED, cell);
    if (f->inner.renewed) f->inner.renewed(f->inner.context, cell);
}

static void notes(void *context, struct host_group *group, const struct host_note *note)
{
    struct recorder *f = context;
    f->noted = recorder_sum_note(f->noted, group, note);
    f->inner.note(f->inner.context, group, note);
}

static void warns(void *context, struct host_group *group, const char *text)
{
    const struct recorder *f = context;
    f->inner.warn(f->inner.context, group, text);
}

static void hears(void *context, struct host_group *group, const struct el_msg *msg)
{
    const struct recorder *f = context;
    if (f->inner.heard) f->inner.heard(f->inner.context, group, msg);
}

static void answered(void *context, el_node peer, uint64_t round_trip_ns)
{
    const struct recorder *f = context;
    if (f->inner.answered) f->inner.answered(f->inner.context, peer, round_trip_ns);
}

static void refused(void *context, el_node peer)
{
    const struct recorder *f = context;
    if (f->inner.refused) f->inner.refused(f->inner.context, peer);
}

static uint64_t draws(void *context)
{
    struct recorder *f = context;
    const uint64_t drawn = f->inner.random(f->inner.context);
    if (is_recording(f)) {
        recorder_put(&f->frame, RECORDER_RANDOM, 1);
        recorder_put(&f->frame, drawn, 8);
    }
    return drawn;
}

static uint64_t wall(void *context)
{
    struct recorder *f = context;
    const uint64_t ms = f->inner.wall_ms(f->inner.context);
    if (is_recording(f)) {
        recorder_put(&f->frame, RECORDER_WALL, 1);
        recorder_put_number(&f->frame, ms);
    }
    return ms;
}

/* ---- Opening and closing ---- */

enum { SETTLES_WITHIN_MS = 1000, ENDS_WITHIN_MS = 5000 };

/* Renames the previous recording to PATH.1. */
static int make_file(const char *path, uint64_t size, char *text, size_t room)
{
    char old[4096 + 8];
    struct stat status;
    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        snprintf(text, room, "%s: not a regular file, left unchanged", path);
        return -1;
    }
    snprintf(old, sizeof old, "%s.1", path);
    (void)rename(path, old);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    /* Allocates all blocks, so that a disk that is full later takes the recording. */
    const int error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)size);
    if (error == 0) return fd;
    snprintf(text, room, "%s: cannot create it: %s", path, strerror(error));
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    return -1;
}

/* Makes the memory. All of it is allocated: without, a store into the mapping might raise SIGBUS. */
static bool map_memory(struct recorder *f, uint64_t size)
{
    f->map_size = (size_t)size;
    f->size = recorder_half((size_t)size);
    f->fd = memfd_new("elector-flight");
    if (f->fd < 0) return false;
    errno = posix_fallocate(f->fd, 0, (off_t)size);
    f->room = errno ? NULL : malloc(RECORDER_ROOM);
    f->map = !f->room ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
    if (f->map != MAP_FAILED) return true;
    free(f->room);
    close(f->fd);
    return false;
}

static void unmap_memory(struct recorder *f)
{
    if (f->more) munmap(f->more, f->more_size);
    munmap(f->map, f->map_size);
    free(f->room);
    close(f->fd);
}

/* Begins the recording in memory, and a process that copies it to the file. */
static bool begin(struct recorder *f, int file, const char *path, uint64_t size)
{
    if (!map_memory(f, size)) {
        close(file);
        return false;
    }
    begin_half(f, f->map, 1);
    if (recorder_keep_state(f, NULL, true) && recorder_start_writer(f, file, path)) return true;
    const int error = errno;
    unmap_memory(f);
    close(file);
    errno = error;
    return false;
}

/* A hash of the kernel's boot id: recordings with the same one share a clock. */
static void read_boot(uint8_t boot[RECORDER_BOOT])
{
    char text[BOOT_ID_TEXT];
    const size_t size = boot_id_read(text);
    if (size == 0) return;
    const struct el_hash hash = el_fingerprint(text, size);
    el_put(boot, hash.low, 8);
    el_put(boot + 8, hash.high, 8);
}

struct recorder *recorder_open(const char *path, uint64_t size, const struct config *config,
                               struct record *record, struct host_hooks *hooks, char *text, size_t room)
{
    struct recorder *f = calloc(1, sizeof *f);
    if (!f) {
        snprintf(text, room, "out of memory");
        return NULL;
    }
    f->inner = *hooks;
    f->config = config;
    f->record = record;
    f->copies_most = config->profile && config->profile->is_realtime ? RECORDER_COPIES_REALTIME : UINT32_MAX;
    read_boot(f->boot);
    const int file = make_file(path, size, text, room);
    if (file < 0 || !begin(f, file, path, size)) {
        if (file >= 0) snprintf(text, room, "%s: cannot begin the recording: %s", path, strerror(errno));
        free(f);
        return NULL;
    }
    _Static_assert(sizeof *hooks == 15 * sizeof(void *), "the recorder must pass on a new hook");
    *hooks = (struct host_hooks){.context = f,
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
                                 .refused = refused,
                                 .called = called,
                                 .returned = returned};
    return f;
}

struct recorder *recorder_begin(const struct config *config, struct record *record, struct host_hooks *hooks)
{
    char path[sizeof config->state + 8], text[512];
    if (config->recorder == 0) return NULL;
    snprintf(path, sizeof path, "%s%s", config->recorder_file[0] ? config->recorder_file : config->state,
             config->recorder_file[0] ? "" : ".flight");
    struct recorder *f = recorder_open(path, config->recorder, config, record, hooks, text, sizeof text);
    if (!f) log_event(LOG_WARN_LEVEL, NULL, "flight recorder off: %s", text);
    return f;
}

bool recorder_is_process(const struct recorder *f, pid_t child)
{
    return f && (child == f->keeper || child == f->writer);
}

void recorder_close(struct recorder *f)
{
    if (!f) return;
    recorder_settle(f, SETTLES_WITHIN_MS);
    if (f->keeper) kill(f->keeper, SIGKILL);
    if (f->keeper) waitpid(f->keeper, NULL, 0);
    set_flags(f, RECORDER_CLOSED);
    if (!recorder_end_writer(f, ENDS_WITHIN_MS))
        log_event(
            LOG_WARN_LEVEL, NULL,
            "flight recorder: its file system does not answer; process %d completes the file when it does",
            (int)f->writer);
    unmap_memory(f);
    free(f);
}
