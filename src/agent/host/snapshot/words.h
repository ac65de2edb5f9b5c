/* Packs or unpacks one field: the same call does either, by pack.reads. Used by pack.c and pack_single.c. */
#ifndef ELECTOR_AGENT_HOST_SNAPSHOT_WORDS_H
#define ELECTOR_AGENT_HOST_SNAPSHOT_WORDS_H

#include <stdlib.h>
#include <string.h>

#include "agent/recorder/recorder.h"

struct pack {
    struct recorder_bytes *b;
    bool reads, trusts; /* trusts: accepts states that cannot be checked */
    uint32_t members;
};

static inline void wrong(const struct pack *p)
{
    p->b->failed = true;
}

static inline void word(const struct pack *p, uint64_t *value)
{
    if (p->reads)
        *value = recorder_get_number(p->b);
    else
        recorder_put_number(p->b, *value);
}

static inline void word32(const struct pack *p, uint32_t *value, uint32_t most)
{
    uint64_t wide = *value;
    word(p, &wide);
    if (wide > most) wrong(p);
    if (p->reads) *value = wide > most ? 0 : (uint32_t)wide;
}

static inline void flag(const struct pack *p, bool *value)
{
    uint32_t wide = *value;
    word32(p, &wide, 1);
    *value = wide != 0;
}

static inline void raw(const struct pack *p, void *bytes, size_t size)
{
    size_t found = size;
    const uint8_t *from = NULL;
    if (!p->reads)
        recorder_put_bytes(p->b, bytes, size);
    else
        from = recorder_get_bytes(p->b, &found);
    if (!p->reads) return;
    if (from && found == size)
        memcpy(bytes, from, size);
    else
        wrong(p);
}

static inline void words(const struct pack *p, uint64_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) word(p, &list[i]);
}

static inline void byte(const struct pack *p, uint8_t *value, uint32_t most)
{
    uint32_t wide = *value;
    word32(p, &wide, most);
    *value = (uint8_t)wide;
}

/* Timers, stored plus 1: most are UINT64_MAX, not armed, and become 0. */
static inline void dues(const struct pack *p, uint64_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t next = list[i] + 1;
        word(p, &next);
        list[i] = next - 1;
    }
}

/* Bytes that are nearly all zero. For every eight words, one byte says which are not zero; those follow. */
static inline void sparse(const struct pack *p, void *bytes, size_t size)
{
    for (size_t first = 0; first < size; first += 64) {
        const size_t here = size - first < 64 ? size - first : 64;
        uint64_t eight[8] = {0};
        uint32_t set = 0;
        if (!p->reads) memcpy(eight, (const uint8_t *)bytes + first, here);
        for (uint32_t i = 0; i < 8; i++) set |= (uint32_t)(eight[i] != 0) << i;
        word32(p, &set, 255);
        for (uint32_t i = 0; i < 8; i++)
            if (set >> i & 1) word(p, &eight[i]);
        if (p->reads) memcpy((uint8_t *)bytes + first, eight, here);
    }
}

/* A string that its field owns; NULL is packed as "". */
static inline void text(const struct pack *p, char **value)
{
    char read[HOST_VALUE_MAX + 1];
    size_t size = *value ? strlen(*value) : 0;
    if (!p->reads) {
        recorder_put_bytes(p->b, *value ? *value : "", size);
        return;
    }
    const uint8_t *from = recorder_get_bytes(p->b, &size);
    if (!from || size > HOST_VALUE_MAX || memchr(from, '\0', size)) {
        wrong(p);
        return;
    }
    memcpy(read, from, size);
    read[size] = '\0';
    *value = size ? strdup(read) : NULL;
    if (size && !*value) wrong(p);
}

/* pack.c: the fields of struct host_group */
struct host_group;
void host_pack_base(const struct pack *, struct host_group *);
/* check.c: whether host_pack() could have written this */
struct session;
struct quorum_group;
bool host_pack_is_session(const struct session *); /* called before its lists are unpacked */
bool host_pack_is_group(const struct quorum_group *, uint32_t members);
/* pack_single.c */
struct host_single;
void host_pack_solo(const struct pack *, struct host_single *);

#endif
