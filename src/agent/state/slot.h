/*
 * The format of one slot of the state file: little-endian, with a checksum over all of it at the end.
 *
 *     0  8  magic                          32  8  member's id
 *     8  4  format                         40  8  version: the greater is the newer
 *    12  4  flags: 1, it was once lost     48  4  number of entries
 *    16 16  cluster's id                   52  4  always 0
 *    56  …  entries of 40 bytes, by rising key: group key, epoch, three words
 *     …  16 BLAKE2b of everything before
 */
#ifndef ELECTOR_AGENT_STATE_SLOT_H
#define ELECTOR_AGENT_STATE_SLOT_H

#include "agent/state/record.h"

enum {
    RECORD_FORMAT = 1,
    RECORD_MAGIC_SIZE = 8,
    RECORD_HEAD = 56,
    RECORD_ENTRY = 40,
    RECORD_CHECKSUM = 16,
    RECORD_SLOT = RECORD_GROUPS_MAX * RECORD_ENTRY + 4096, /* bytes reserved in the file; sparse */
};

extern const unsigned char record_magic[RECORD_MAGIC_SIZE];

struct record_entry {
    uint64_t group_key;
    struct el_durable durable;
};

struct record_contents {
    struct record_identity identity;
    uint64_t version;
    bool forgot;
    uint32_t count;
    struct record_entry entries[RECORD_GROUPS_MAX]; /* by rising key */
};

enum record_slot_state {
    RECORD_SLOT_GOOD,
    RECORD_SLOT_DAMAGED,
    RECORD_SLOT_NEWER, /* the checksum is good, but the format is unknown */
};

size_t record_slot_size(uint32_t count);
/* `bytes` has room for record_slot_size(contents->count). */
void record_slot_encode(const struct record_contents *, unsigned char *bytes);
/* Accepts exactly what encoding produces; bytes after it are ignored. Unless GOOD, `contents` is undefined. */
enum record_slot_state record_slot_decode(const unsigned char *bytes, size_t size, struct record_contents *);

#endif
