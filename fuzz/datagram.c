/*
 * Payloads of a peer that has the keys and means ill, into a host with one group: entries of every kind, spoilt in every
 * way. The first byte says who speaks and whether the head is put right first.
 */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/host/quorum/sessions.h"

#include "lib/scratch.h"

enum { MEMBERS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct config config;
static struct record *record;
static struct host *host;
static struct host_group *group;
static uint64_t now = 1000000000;

static uint64_t tell_now(void *context)
{
    (void)context;
    return now;
}

static uint64_t draw(void *context)
{
    static uint64_t seed = 1;
    (void)context;
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return seed >> 11;
}

static void take(void *context, el_node to, const uint8_t *payload, size_t size)
{
    (void)context, (void)to, (void)payload;
    if (size > SEAL_PAYLOAD_MAX) abort();
}

static void save(void *context, struct record_image *image)
{
    const uint64_t version = image->version;
    (void)context;
    free(image);
    host_saved(host, version, 0);
}

static void change(void *context, struct host_group *which)
{
    (void)context;
    (void)host_view_of(which);
}

static void warn(void *context, struct host_group *which, const char *text)
{
    (void)context, (void)which;
    if (strlen(text) > 4096) abort();
}

static void note(void *context, struct host_group *which, const struct host_note *what)
{
    char text[256];
    host_note_text(&config, what, text, sizeof text);
    warn(context, which, text);
}

static void begin(void)
{
    char path[96], text[200];
    snprintf(path, sizeof path, "%s/elector-fuzz-%ld", scratch_root(), (long)getpid());
    unlink(path);
    config = (struct config){
        .cluster = "fuzz", .member_count = MEMBERS, .self = 1, .drift = 10000, .transmit_max = 2000000};
    for (uint32_t i = 0; i < MEMBERS; i++) {
        snprintf(config.members[i].name, sizeof config.members[i].name, "m%u", i + 1);
        config.members[i].id = i + 1;
    }
    const struct record_identity identity = {.member = 1};
    if (!record_create(path, &identity, text, sizeof text) ||
        record_open(&record, path, &identity, text, sizeof text) != RECORD_READY)
        abort();
    unlink(path);
}

/* From the beginning now and then, so that what was found can be found again. */
static void begin_again(void)
{
    char text[200];
    const struct host_hooks hooks = {.now = tell_now,
                                     .send = take,
                                     .save = save,
                                     .changed = change,
                                     .note = note,
                                     .warn = warn,
                                     .random = draw,
                                     .wall_ms = tell_now};
    if (!record) begin();
    host_free(host);
    host = host_new(&config, record, hooks);
    group = host ? host_find(host, "billing", text, sizeof text) : NULL;
    if (!group) abort();
    host_stand(group, true, 1);
}

static void put_word(uint8_t *at, uint64_t word, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) at[i] = (uint8_t)(word >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static unsigned count;
    static uint8_t payload[SEAL_PAYLOAD_MAX];
    if (size < 1 || size > SEAL_PAYLOAD_MAX) return 0;
    if (count++ % 256 == 0) begin_again();
    const size_t length = size - 1;
    memcpy(payload, bytes + 1, length);
    struct payload begun;
    payload_begin(&begun, host->members);
    const struct payload_entry first = {.type = PAYLOAD_POSTINGS, .settings = group->runner->settings};
    if (!payload_add(&begun, &first)) abort();
    if ((bytes[0] & 4) && length >= begun.size + 9) { /* past the digests, which nobody guesses */
        memcpy(payload, begun.bytes, begun.size);
        const uint8_t type = payload[begun.size];
        const bool has_group = type != PAYLOAD_SESSION && type != PAYLOAD_POSTINGS && type < PAYLOAD_OBITUARY;
        if (has_group) put_word(payload + begun.size + 1, group->key, 8);
    }
    /* As it comes alive, or sealed in advance: never by both ways. */
    if (payload_may_pass(payload, length, true) && payload_may_pass(payload, length, false)) abort();
    host_receive(host, bytes[0] % 4, payload, length);
    now += (uint64_t)(bytes[0] >> 3) * 10000000;
    (void)host_tick(host);
    return 0;
}
