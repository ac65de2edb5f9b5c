/*
 * The flight recorder: all that goes into a host (agent/host/host.h, struct host_call), what the dice and the wall clock answered, and
 * digests of what came out, in a file of bounded size. Whoever runs the same calls through the same code gets the same out
 * (replay.h), or one of the two is wrong.
 *
 * The file is mapped and has its size from the beginning, so that writing is copying: nothing is waited for, what is written does
 * not stay in our memory, and what was
 * recorded survives the death of the process at any instruction, though not the host's. Little-endian:
 *
 *   half      two of them, each a recording of its own: when one is full the other goes on. So there always is at least half of
 *             what the file takes of the last that happened.
 *   head      of a half: magic (zeros: nothing is there), version, flags, `used` (up to where it is whole), `pending` (bytes of a
 *             call that has not returned), which generation it is, the size of a half; where its state is, how long (0: there is
 *             none yet), a checksum of that and the size; where there is more, how much, and how far that is used.
 *             One whose generation is the other's and 1 goes on where that one ends; otherwise something is missing between them.
 *   entries   length, checksum, frames. The checksum goes on from the one before, so that nothing can be left out.
 *             Each is a call from outside, with everything that happened until it returned.
 *   frames    a tag, then what belongs to it: a call (its time as a step from the last entry's), an answer, an output, a return
 *   states    behind the halves, one for each: which boot, when, configuration as text (no secrets), record, and all of the
 *             host's state before the half's first call (host_pack); none: the host begins with that call.
 *   more      behind a state that is larger than a half: room for entries that makes them equal, used when the half is full
 *
 * Where groups are many, the state comes later than the half (snapshot_writer.c), and the file grows to take two of them, and as much
 * more: by no more than six times the largest. Until it has come, the half is read as what follows the other. What does not
 * fit into a half, and what comes while a full one has no state yet, is not recorded: then there is a warning, and it begins anew as soon
 * as it can. The recording of the life before is kept as FILE.1.
 */
#ifndef ELECTOR_AGENT_RECORDER_RECORDER_H
#define ELECTOR_AGENT_RECORDER_RECORDER_H

#include "agent/host/host.h"

enum {
    RECORDER_VERSION = 3,
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

enum { RECORDER_CLOSED = 1, RECORDER_FULL = 2 }; /* flags: it ended in order; what came next is missing */

/* Tags below RECORDER_RANDOM are enum host_called. */
enum recorder_tag {
    RECORDER_RANDOM = 32, /* 8 bytes */
    RECORDER_WALL,        /* a number */
    RECORDER_SENT,        /* to; digest */
    RECORDER_SAVES,       /* digest */
    RECORDER_CHANGED,     /* digest */
    RECORDER_RENEWED,     /* digest */
    RECORDER_RETURNED,
    RECORDER_RETURNED_NOTED, /* digest of the notes that were made */
};

struct recorder;

/* Wraps the hooks: begin the host with what they are then. NULL with the reason: then there is no recording, the hooks are as they
 * were, and nothing else is amiss. The configuration and the record are borrowed. */
struct recorder *recorder_open(const char *path, uint64_t size, const struct config *, struct record *,
                               struct host_hooks *, char *text, size_t room);
/* The same as the configuration wants it, with a line in the log where it does not succeed. */
struct recorder *recorder_begin(const struct config *, struct record *, struct host_hooks *);
/* After the host is freed. May be NULL. */
void recorder_close(struct recorder *);
/* Waits, no longer than that, for a state that is being kept. */
void recorder_settle(struct recorder *, uint32_t wait_ms);

/* ---- What writer and reader share: frame.c ---- */

/* Bytes that are written to or read from; once something did not fit, `failed` stays. */
struct recorder_bytes {
    uint8_t *at, *end;
    bool failed;
};
void recorder_put(struct recorder_bytes *, uint64_t value, unsigned bytes);
void recorder_put_number(struct recorder_bytes *, uint64_t value); /* seven bits a byte */
void recorder_put_bytes(struct recorder_bytes *, const void *, size_t size);
uint64_t recorder_get(struct recorder_bytes *, unsigned bytes);
uint64_t recorder_get_number(struct recorder_bytes *);
const uint8_t *recorder_get_bytes(struct recorder_bytes *, size_t *size); /* in place; NULL: failed */

void recorder_put_call(struct recorder_bytes *, const struct host_call *, uint64_t since);
/* False: what is there is no call. `since` is added to its time. */
bool recorder_get_call(struct recorder_bytes *, uint64_t since, bool is_first, struct host_call *);

/* Digests of what comes out. */
uint32_t recorder_sum(const void *bytes, size_t size);
uint32_t recorder_sum_view(struct host_group *);
uint64_t recorder_sum_note(uint64_t so_far, struct host_group *, const struct host_note *);
/* Of a file that is made: the second half begins there, and the states twice as far. */
size_t recorder_half(size_t file_size);
/* The checksum of an entry. */
uint32_t recorder_chain(uint32_t before, const uint8_t *bytes, size_t size);

/* A configuration as text that config_parse() takes, with all that a host goes by and no secret; the caller frees it. */
char *recorder_config_text(const struct config *);

#endif
