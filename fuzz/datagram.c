/*
 * Payloads of a peer that has the keys and means ill, into a host with one group: entries of every kind, spoilt in every
 * way. The first byte says who speaks and whether the head is put right first. The fourth member is an observer: whatever
 * it says changes nothing. And no voter frees this one of its promise to another. Twenty-one bytes are a message of quorum
 * that the fuzzer need not guess bit by bit. What agents say beside elections goes to an exchange; there the observer asks
 * for nothing that would be done.
 */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/exchange/exchange.h"
#include "agent/host/quorum/sessions.h"

#include "lib/scratch.h"

enum { MEMBERS = 4, OBSERVER = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct config config;
static struct record *record;
static struct host *host;
static struct exchange *exchange;
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

static void hear_statement(void *context, el_node from, const struct payload_entry *entry)
{
    (void)context;
    if (from < 2 || from > MEMBERS || strlen(entry->value) > PAYLOAD_VALUE_MAX) abort();
}

static void compare(void *context, el_node from, bool differs)
{
    struct exchange_difference list[8];
    (void)context, (void)differs;
    (void)exchange_differences(exchange, from, list, 8);
}

static enum exchange_outcome do_request(void *context, el_node from, const struct payload_entry *entry)
{
    (void)context;
    if (from == OBSERVER || from < 2 || strlen(entry->text) > PAYLOAD_NAME_MAX) abort();
    return EXCHANGE_NOT_LEADING;
}

static void hear_answer(void *context, uint32_t request, enum exchange_outcome outcome)
{
    (void)context;
    if (request == 0 || outcome >= EXCHANGE_OUTCOMES) abort();
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
        if (i + 1 == OBSERVER) config.members[i].role = CONFIG_OBSERVER;
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
    const struct exchange_hooks talk = {.send = take,
                                        .stated = hear_statement,
                                        .compared = compare,
                                        .understood = compare,
                                        .asked = do_request,
                                        .answered = hear_answer};
    const struct payload_entry asked = {.flags = EXCHANGE_RESIGN, .text = "billing", .length = 7};
    uint32_t request;
    exchange_free(exchange);
    exchange = exchange_new(&config, host_members(host), 1, talk);
    if (!exchange || !exchange_ask(exchange, now, 2, &asked, &request)) abort();
}

/* What nobody may change who has no vote, and the promise that only its holder may end. */
struct judged {
    struct quorum_member me;
    struct quorum_group quorum;
    bool is_promised;
};

static struct judged judge(void)
{
    const struct session *s = host->sessions;
    struct judged now_so = {.me = s->me, .quorum = session_expand((struct session_group *)group)->quorum};
    const struct quorum_tenant *holder = &now_so.quorum.holder;
    const struct quorum q = {.peers = host->sessions->peers};
    now_so.is_promised = holder->id && quorum_promise_lives(&q, holder->id, holder->incarnation);
    return now_so;
}

static void receive(el_node from, const uint8_t *payload, size_t size)
{
    (void)host_tick(host); /* so that nothing is overdue */
    const struct judged before = judge();
    const el_node holder = before.quorum.holder.id;
    host_receive(host, from, payload, size);
    const struct judged after = judge();
    if (from == OBSERVER && (memcmp(&before.me, &after.me, sizeof before.me) != 0 ||
                             memcmp(&before.quorum, &after.quorum, sizeof before.quorum) != 0))
        abort();
    if (before.is_promised && holder != from && holder != config.self && after.quorum.holder.id != holder)
        abort();
}

static void put_word(uint8_t *at, uint64_t word, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) at[i] = (uint8_t)(word >> 8 * i);
}

/* A term of some member, or a small number, or any number. */
static uint64_t number_from(const uint8_t bytes[2])
{
    if (bytes[0] < 128) return bytes[0] % 8;
    if (bytes[0] < 254) return quorum_term(1 + bytes[0] % 64, bytes[1] % 8);
    return (uint64_t)bytes[1] << 46;
}

enum { LIE = 20 };

/* A message of quorum, well-formed and addressed to us, that says whatever the bytes say. */
static size_t write_lie(el_node from, const uint8_t bytes[LIE], uint8_t payload[SEAL_PAYLOAD_MAX])
{
    struct payload begun;
    struct payload_entry entry = {.settings = group->runner->settings, .group = group->key};
    entry.msg =
        (struct el_msg){.from = from,
                        .to = config.self,
                        .kind = (uint8_t)(1 + bytes[0] % QUORUM_KINDS),
                        .flags = bytes[1],
                        .subject = 1 + bytes[2] % MEMBERS,
                        .epoch = number_from(bytes + 4),
                        .rank = number_from(bytes + 6),
                        .aux = number_from(bytes + 8),
                        .more = 1 + bytes[10] % 4,
                        .extra = {bytes[11] % 2 ? host->sessions->me.incarnation : 0, number_from(bytes + 12),
                                  number_from(bytes + 14), number_from(bytes + 16)}};
    entry.type = quorum_is_of_group(entry.msg.kind) ? PAYLOAD_MESSAGE : PAYLOAD_SESSION;
    payload_begin(&begun, host->members);
    if (!payload_add(&begun, &entry)) abort();
    memcpy(payload, begun.bytes, begun.size);
    return begun.size;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static unsigned count;
    static uint8_t payload[SEAL_PAYLOAD_MAX];
    if (size < 1 || size > SEAL_PAYLOAD_MAX) return 0;
    if (count++ % 256 == 0) begin_again();
    size_t length = size - 1;
    const el_node from = bytes[0] % (MEMBERS + 1);
    if (length == LIE && from > 1) {
        length = write_lie(from, bytes + 1, payload);
        receive(from, payload, length);
        now += (uint64_t)bytes[LIE] * 1000000;
        (void)host_tick(host);
        return 0;
    }
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
    if (payload_is_exchange(payload, length)) {
        struct payload head;
        payload_begin(&head, host->members);
        if (bytes[0] & 4) memcpy(payload, head.bytes, PAYLOAD_HEAD);
        if (from) exchange_hear(exchange, now, from, payload_version(payload, length));
        exchange_receive(exchange, now, from, payload, length);
        (void)exchange_tick(exchange, now);
    }
    /* As it comes alive, or sealed in advance: never by both ways. */
    if (payload_may_pass(payload, length, true) && payload_may_pass(payload, length, false)) abort();
    receive(from, payload, length);
    now += (uint64_t)(bytes[0] >> 3) * 10000000;
    (void)host_tick(host);
    return 0;
}
