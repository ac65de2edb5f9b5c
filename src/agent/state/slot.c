/* Encodes and decodes a slot. Decoding accepts only a good checksum and the exact layout. */
#include "agent/state/slot.h"

#include <sodium.h>
#include <string.h>

const unsigned char record_magic[RECORD_MAGIC_SIZE] = {'E', 'L', 'E', 'C', 'T', 'O', 'R', '\n'};

enum {
    AT_FORMAT = 8,
    AT_FLAGS = 12,
    AT_CLUSTER = 16,
    AT_MEMBER = 32,
    AT_VERSION = 40,
    AT_COUNT = 48,
    AT_ZERO = 52
};
enum { FLAG_FORGOT = 1 };

static void put32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> 8 * i);
}

static void put64(unsigned char *at, uint64_t value)
{
    for (int i = 0; i < 8; i++) at[i] = (unsigned char)(value >> 8 * i);
}

static uint32_t get32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t get64(const unsigned char *at)
{
    return get32(at) | (uint64_t)get32(at + 4) << 32;
}

size_t record_slot_size(uint32_t count)
{
    return RECORD_HEAD + (size_t)count * RECORD_ENTRY + RECORD_CHECKSUM;
}

static void sum(const unsigned char *bytes, size_t size, unsigned char checksum[RECORD_CHECKSUM])
{
    crypto_generichash(checksum, RECORD_CHECKSUM, bytes, size, NULL, 0);
}

void record_slot_encode(const struct record_contents *contents, unsigned char *bytes)
{
    memcpy(bytes, record_magic, sizeof record_magic);
    put32(bytes + AT_FORMAT, RECORD_FORMAT);
    put32(bytes + AT_FLAGS, contents->forgot ? FLAG_FORGOT : 0);
    memcpy(bytes + AT_CLUSTER, contents->identity.cluster_id, RECORD_CLUSTER_ID);
    put64(bytes + AT_MEMBER, contents->identity.member);
    put64(bytes + AT_VERSION, contents->version);
    put32(bytes + AT_COUNT, contents->count);
    put32(bytes + AT_ZERO, 0);
    unsigned char *at = bytes + RECORD_HEAD;
    for (uint32_t i = 0; i < contents->count; i++, at += RECORD_ENTRY) {
        const struct record_entry *entry = &contents->entries[i];
        put64(at, entry->group_key);
        put64(at + 8, entry->durable.epoch);
        for (size_t k = 0; k < 3; k++) put64(at + 16 + 8 * k, entry->durable.word[k]);
    }
    sum(bytes, (size_t)(at - bytes), at);
}

static bool decode_entries(const unsigned char *at, struct record_contents *contents)
{
    for (uint32_t i = 0; i < contents->count; i++, at += RECORD_ENTRY) {
        struct record_entry *entry = &contents->entries[i];
        entry->group_key = get64(at);
        if (i && entry->group_key <= entry[-1].group_key) return false;
        entry->durable.epoch = get64(at + 8);
        for (size_t k = 0; k < 3; k++) entry->durable.word[k] = get64(at + 16 + 8 * k);
    }
    return true;
}

enum record_slot_state record_slot_decode(const unsigned char *bytes, size_t size,
                                          struct record_contents *contents)
{
    unsigned char checksum[RECORD_CHECKSUM];
    if (size < record_slot_size(0) || memcmp(bytes, record_magic, sizeof record_magic) != 0)
        return RECORD_SLOT_DAMAGED;
    contents->count = get32(bytes + AT_COUNT);
    if (contents->count > RECORD_GROUPS_MAX || size < record_slot_size(contents->count))
        return RECORD_SLOT_DAMAGED;
    const size_t summed = record_slot_size(contents->count) - RECORD_CHECKSUM;
    sum(bytes, summed, checksum);
    if (memcmp(checksum, bytes + summed, sizeof checksum) != 0) return RECORD_SLOT_DAMAGED;
    if (get32(bytes + AT_FORMAT) != RECORD_FORMAT) return RECORD_SLOT_NEWER;

    const uint32_t flags = get32(bytes + AT_FLAGS);
    memcpy(contents->identity.cluster_id, bytes + AT_CLUSTER, RECORD_CLUSTER_ID);
    contents->identity.member = get64(bytes + AT_MEMBER);
    contents->version = get64(bytes + AT_VERSION);
    contents->forgot = (flags & FLAG_FORGOT) != 0;
    if (flags > FLAG_FORGOT || get32(bytes + AT_ZERO) != 0) return RECORD_SLOT_DAMAGED;
    if (contents->version == 0 || contents->version > UINT64_MAX / 2)
        return RECORD_SLOT_DAMAGED; /* leaves room to count on */
    return decode_entries(bytes + RECORD_HEAD, contents) ? RECORD_SLOT_GOOD : RECORD_SLOT_DAMAGED;
}
