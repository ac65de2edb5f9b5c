/*
 * The state room keeps what must survive a crash: the state file, one for all groups of a member. It knows
 * base/ and the core's el_durable, and nothing of elections. Start here; record.c reads and writes the file,
 * slot.h is its format, wait_lock.c waits for a predecessor that is still ending.
 *
 * The file has two slots, written in turn, each with a checksum. A write that fails is never retried: the
 * caller resigns from all groups and exits.
 */
#ifndef ELECTOR_AGENT_STATE_RECORD_H
#define ELECTOR_AGENT_STATE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elector/core.h"

enum { RECORD_CLUSTER_ID = 16, RECORD_GROUPS_MAX = 4096 };

/* The name, which no group can have, under whose key a member keeps the highest values of all its sessions. Before
 * the first start its ceiling is what `elector init` has founded the cluster with. */
#define RECORD_ALL_SESSIONS "sessions of any settings"

struct record_identity {
    uint8_t cluster_id[RECORD_CLUSTER_ID];
    uint64_t member; /* its id */
};

enum record_outcome {
    RECORD_READY,   /* read completely */
    RECORD_LOST,    /* missing, or both slots are damaged: the member has forgotten its promises */
    RECORD_REFUSED, /* of another cluster or member, or not permitted: do not start */
    RECORD_IN_USE,  /* locked by another process, which may be ending: do not start yet */
};

struct record;

/* For `elector init`: creates a file without promises. Refuses to replace an existing file. record_found() puts
 * one entry into it. */
bool record_create(const char *path, const struct record_identity *, char *text, size_t size);
bool record_found(const char *path, const struct record_identity *, uint64_t key, const struct el_durable *,
                  char *text, size_t size);
/* Opens and locks the file. With RECORD_LOST the record is empty, and record_forgot() is true. */
enum record_outcome record_open(struct record **, const char *path, const struct record_identity *, char *text,
                                size_t size);
/* The same, but waits up to `timeout_ms` for a file that is in use, after calling `tell` once with its holder.
 * A process killed during a write keeps the lock until the disk has finished that write. */
enum record_outcome record_await(struct record **, const char *path, const struct record_identity *,
                                 unsigned timeout_ms, void (*tell)(const char *text), char *text, size_t size);
void record_close(struct record *);

/* Whether the file was ever lost: then a group without an entry may have been promised something. */
bool record_forgot(const struct record *);
uint32_t record_count(const struct record *); /* of groups; they are never removed */
bool record_get(const struct record *, uint64_t group_key, struct el_durable *);
/* Whether the group has an entry, or there is room for one more. Entries of earlier incarnations stay. */
bool record_has_room(const struct record *, uint64_t group_key);
/* Changes the record in memory only. False: RECORD_GROUPS_MAX groups have an entry already. */
bool record_put(struct record *, uint64_t group_key, const struct el_durable *);

/* The record as bytes, for another thread to write while this one goes on. The caller frees it. */
struct record_image {
    size_t size;
    uint64_t version;
    unsigned char bytes[];
};
struct record_image *record_image_of(struct record *);
/* A copy for recordings, from which record_restore() makes a record without a file. NULL: damaged, or out of
 * memory. */
struct record_image *record_copy(struct record *);
/* The same, into the caller's memory, which has room for record_copy_size() bytes. */
void record_copy_to(struct record *, unsigned char *bytes);
size_t record_copy_size(const struct record *);
struct record *record_restore(const unsigned char *bytes, size_t size);
/* Writes and syncs. 0, or an errno: then nothing that depends on it may be sent, and nothing may be retried. */
int record_write(const struct record *, const struct record_image *);

#endif
