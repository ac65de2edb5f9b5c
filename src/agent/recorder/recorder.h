/*
 * The recorder room writes what goes into a host to a file, and replays it. It knows the host and its calls
 * (agent/host/host.h, struct host_call), and nothing of the rest of the agent. Start here for the format;
 * recorder.c records, snapshot_writer.c adds the host's state, file_writer.c copies all to the file, reader.c
 * reads, replay.c runs a recording again (replay.h).
 *
 * A recording contains the calls into the host, every random number and wall clock reading, and digests of the
 * outputs, in a file of bounded size; the gaps are described below. Running the same calls through the same code gives the
 * same outputs; otherwise one of the two is wrong.
 *
 * The agent records into shared memory, so recording is copying, and nothing blocks: a page of a mapped file
 * would block the agent while its file system is frozen. Another process copies the memory to the file, which
 * has the same format. What is lost, and when:
 *
 *   the agent dies               nothing: that process copies the rest, also of a call that did not return
 *   all of its processes die     the last second, and what the file system did not take before
 *   the host dies                what was not written back by then: the file is never synced
 *   the file system hangs        nothing, once it answers
 *
 * Little-endian:
 *
 *   half      There are two, each a recording of its own. When one is full, recording goes on in the other.
 *             So at least half of the room always holds the newest calls.
 *   head      of a half: magic (zeros: empty), version, flags, `used` (end of the whole entries), `pending`
 *             (bytes of a call that has not returned), generation, size of a half; place, length (0: none yet)
 *             and checksum of its state; place, size and use of its additional room. If a half's generation is
 *             that of the other plus 1, it continues the other; else calls are missing between them.
 *   entries   length, checksum, frames. The checksum covers the one before, so no entry can be left out. An
 *             entry is one call into the host, with everything that happened until it returned.
 *   frames    a tag, then its fields: a call (its time as the difference to the last entry's), an answer, an
 *             output, a return
 *   states    after the halves, one for each: boot id, time, configuration as text (no secrets), state file,
 *             and the host's state before the half's first call (host_pack). Without the latter the host
 *             begins with that call.
 *   more      after a state that is larger than a half: additional room for entries, used when the half is full
 *
 * With many groups the state is written some time after the half has begun (snapshot_writer.c), and memory and
 * file grow to hold two states and as much additional room: at most six times the largest state. Until its state is
 * complete, a half is read as the continuation of the other. A call that does not fit into a half is not
 * recorded, nor are calls while a full half has no state yet: the log warns, and a new recording begins as soon
 * as possible. The recording of the previous incarnation is kept as FILE.1.
 */
#ifndef ELECTOR_AGENT_RECORDER_RECORDER_H
#define ELECTOR_AGENT_RECORDER_RECORDER_H

#include <sys/types.h>

#include "agent/host/host.h"

enum {
    RECORDER_VERSION = 4,
    RECORDER_MAGIC = 8,
    RECORDER_FLAGS_AT = 12,
    RECORDER_USED_AT = 16,
    RECORDER_PENDING_AT = 24,
    RECORDER_GENERATION_AT = 32,
    RECORDER_SIZE_AT = 40,
    RECORDER_STATE_AT = 48,
    RECORDER_STATE_SIZE_AT = 56,
    RECORDER_STATE_SUM_AT = 64,
    RECORDER_MORE_AT = 68,
    RECORDER_MORE_SIZE_AT = 76,
    RECORDER_MORE_USED_AT = 84,
    RECORDER_HEAD = 92,
    RECORDER_MORE_HEAD = 8,
    RECORDER_ENTRY_HEAD = 8,
    RECORDER_BOOT = 16,
};
extern const char recorder_magic[RECORDER_MAGIC];

enum { RECORDER_CLOSED = 1, RECORDER_FULL = 2 }; /* flags: the agent ended in order; later input is missing */

/* Tags below RECORDER_RANDOM are enum host_called. */
enum recorder_tag {
    RECORDER_RANDOM = 32, /* 8 bytes */
    RECORDER_WALL,        /* a number */
    RECORDER_SENT,        /* to; digest */
    RECORDER_SAVES,       /* digest */
    RECORDER_CHANGED,     /* digest */
    RECORDER_RENEWED,     /* digest */
    RECORDER_RETURNED,
    RECORDER_RETURNED_NOTED, /* digest of the notes of this call */
};

struct recorder;

/* Wraps the hooks: create the host with the changed ones. The configuration and the record are borrowed. NULL:
 * `text` says why there is no recording; the hooks are unchanged, and the agent can run without. Forks: call it before there are threads. */
struct recorder *recorder_open(const char *path, uint64_t size, const struct config *, struct record *,
                               struct host_hooks *, char *text, size_t room);
/* The same with the configured file and size. A failure is logged. NULL also if the recorder is off. */
struct recorder *recorder_begin(const struct config *, struct record *, struct host_hooks *);
/* After the host is freed. May be NULL. */
void recorder_close(struct recorder *);
/* The configuration has changed in what a host does: what follows is recorded anew, with a gap before it. May be NULL. */
void recorder_begin_again(struct recorder *);
/* Whether the child is one of ours: the writer of the file, or a copy of this process that packs the state. */
bool recorder_is_process(const struct recorder *, pid_t child);
/* Waits up to `wait_ms` until a state that is being written is complete. */
void recorder_settle(struct recorder *, uint32_t wait_ms);
/* Waits up to `wait_ms` until the file has all that was recorded, also of a call that has not returned. False:
 * it has not. Not for the agent's loop. */
bool recorder_sync(struct recorder *, uint32_t wait_ms);

/* ---- frame.c, for writer and reader ---- */

/* A buffer being written or read. `failed` is set when something does not fit, and stays set. */
struct recorder_bytes {
    uint8_t *at, *end;
    bool failed;
};
void recorder_put(struct recorder_bytes *, uint64_t value, unsigned bytes);
void recorder_put_number(struct recorder_bytes *, uint64_t value); /* a varint */
void recorder_put_bytes(struct recorder_bytes *, const void *, size_t size);
uint8_t *recorder_put_room(struct recorder_bytes *, size_t size); /* for bytes to be filled in; NULL: failed */
uint64_t recorder_get(struct recorder_bytes *, unsigned bytes);
uint64_t recorder_get_number(struct recorder_bytes *);
const uint8_t *recorder_get_bytes(struct recorder_bytes *, size_t *size); /* borrowed; NULL: failed */

void recorder_put_call(struct recorder_bytes *, const struct host_call *, uint64_t since);
/* `since` is added to its time. False: not a valid call. */
bool recorder_get_call(struct recorder_bytes *, uint64_t since, bool is_first, struct host_call *);

/* Digests of outputs. */
uint32_t recorder_sum(const void *bytes, size_t size);
uint32_t recorder_sum_view(struct host_group *);
uint64_t recorder_sum_note(uint64_t so_far, struct host_group *, const struct host_note *);
/* The size of a half in a new file. States begin after two halves. */
size_t recorder_half(size_t file_size);
/* The checksum of an entry, which covers the checksum of the entry before. */
uint32_t recorder_chain(uint32_t before, const uint8_t *bytes, size_t size);

/* A configuration as text for config_parse(): all that a host uses, and no secrets. Ends with '\0', and returns its length, like
 * snprintf(). */
size_t recorder_config_text(const struct config *, char *text, size_t room);

#endif
