/*
 * What survives a crash: one small file for all groups of a member, in two slots that are written in turn, each with a
 * checksum. A write that fails is never tried again: the caller steps down and exits.
 */
#ifndef ELECTOR_AGENT_STATE_RECORD_H
#define ELECTOR_AGENT_STATE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elector/core.h"

enum { RECORD_CLUSTER_ID = 16, RECORD_GROUPS_MAX = 4096 };

struct record_identity {
    uint8_t cluster_id[RECORD_CLUSTER_ID];
    uint64_t member; /* its id */
};

enum record_outcome {
    RECORD_READY,   /* read */
    RECORD_LOST,    /* missing, or both slots are damaged: the member may have forgotten what it promised */
    RECORD_REFUSED, /* of another cluster or member, or not ours to read or write: do not start */
    RECORD_IN_USE,  /* by another process, which may be about to end: do not start yet */
};

struct record;

/* For `elector init`: a file that says that nothing was ever promised. Refuses to replace one. */
bool record_create(const char *path, const struct record_identity *, char *text, size_t size);
/* Locks it for this process. With RECORD_LOST there is a record to fill, and record_forgot() holds for it. */
enum record_outcome record_open(struct record **, const char *path, const struct record_identity *, char *text,
                                size_t size);
/* The same, but one that is in use is waited for, that long; then `tell` is called first, once, with who has it. Who was killed
 * in the middle of a write has it until that has ended, however slow the disk is. */
enum record_outcome record_await(struct record **, const char *path, const struct record_identity *,
                                 unsigned preempt_after_ms, void (*tell)(const char *text), char *text,
                                 size_t size);
void record_close(struct record *);

/* Whether it was once lost: then a group of which nothing is known may have been promised something. */
bool record_forgot(const struct record *);
uint32_t record_count(const struct record *); /* of groups, which are never taken out */
bool record_get(const struct record *, uint64_t group_key, struct el_durable *);
/* Whether it knows that group, or can take one more: groups of earlier lives stay in it. */
bool record_has_room(const struct record *, uint64_t group_key);
/* In memory. False: too many groups. */
bool record_put(struct record *, uint64_t group_key, const struct el_durable *);

/* All of it as bytes, to be written by another thread while this one goes on; the caller frees it. */
struct record_image {
    size_t size;
    uint64_t version;
    unsigned char bytes[];
};
struct record_image *record_image_of(struct record *);
/* As it is, for whoever wants to begin again from here: record_restore(), which has no file. NULL: damaged, or no memory. */
struct record_image *record_copy(struct record *);
struct record *record_restore(const unsigned char *bytes, size_t size);
/* Writes and syncs. 0, or an errno: then nothing may be sent that depended on it, and no second try made. */
int record_write(const struct record *, const struct record_image *);

#endif
