/* A hash of a group's name, for tables. */
#ifndef ELECTOR_BASE_GROUP_HASH_H
#define ELECTOR_BASE_GROUP_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t group_hash_mix(uint64_t hash, const char *bytes, size_t count)
{
    uint64_t word = 0;
    memcpy(&word, bytes, count); /* `count` is a constant in every caller */
    return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Use its highest bits. elector_is_leader() is called before every write, so this hashes 8 bytes at a time; the
 * last 8 overlap. */
static inline uint64_t group_hash(const char *group, size_t length)
{
    uint64_t hash = length;
    if (length >= 8) {
        for (size_t at = 0; at + 8 < length; at += 8) hash = group_hash_mix(hash, group + at, 8);
        hash = group_hash_mix(hash, group + length - 8, 8);
    } else if (length >= 4) {
        hash = group_hash_mix(group_hash_mix(hash, group, 4), group + length - 4, 4);
    } else {
        for (size_t at = 0; at < length; at++) hash = group_hash_mix(hash, group + at, 1);
    }
    return hash;
}

#endif
