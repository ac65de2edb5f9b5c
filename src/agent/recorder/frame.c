/* Encodes and decodes the frames of a recording: see recorder.h. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/recorder/recorder.h"
#include "base/varint.h"
#include "core/bytes.h"

const char recorder_magic[RECORDER_MAGIC] = {'e', 'l', 'f', 'l', 'i', 'g', 'h', 't'};

/* ---- Numbers and bytes ---- */

static bool has_room(struct recorder_bytes *b, size_t size)
{
    if (b->failed || (size_t)(b->end - b->at) < size) b->failed = true;
    return !b->failed;
}

void recorder_put(struct recorder_bytes *b, uint64_t value, unsigned bytes)
{
    if (!has_room(b, bytes)) return;
    el_put(b->at, value, bytes);
    b->at += bytes;
}

uint64_t recorder_get(struct recorder_bytes *b, unsigned bytes)
{
    if (!has_room(b, bytes)) return 0;
    b->at += bytes;
    return el_get(b->at - bytes, bytes);
}

void recorder_put_number(struct recorder_bytes *b, uint64_t value)
{
    uint8_t bytes[VARINT_MAX];
    const unsigned count = varint_put(bytes, value);
    if (!has_room(b, count)) return;
    memcpy(b->at, bytes, count);
    b->at += count;
}

uint64_t recorder_get_number(struct recorder_bytes *b)
{
    uint64_t value;
    const unsigned count = varint_get(b->at, (size_t)(b->end - b->at), &value);
    if (count == 0) b->failed = true;
    b->at += count;
    return b->failed ? 0 : value;
}

uint8_t *recorder_put_room(struct recorder_bytes *b, size_t size)
{
    recorder_put_number(b, size);
    if (!has_room(b, size)) return NULL;
    b->at += size;
    return b->at - size;
}

void recorder_put_bytes(struct recorder_bytes *b, const void *bytes, size_t size)
{
    uint8_t *room = recorder_put_room(b, size);
    if (room && size) memcpy(room, bytes, size);
}

const uint8_t *recorder_get_bytes(struct recorder_bytes *b, size_t *size)
{
    const uint64_t length = recorder_get_number(b);
    if (b->failed || length > (uint64_t)(b->end - b->at)) {
        b->failed = true;
        return NULL;
    }
    *size = (size_t)length;
    b->at += length;
    return b->at - length;
}

/* ---- Calls ---- */

/* The fields of each kind of call. */
static const struct {
    bool has_group;
    uint8_t numbers;
    bool has_bytes;
} shapes[] = {
    [HOST_BEGINS] = {0},
    [HOST_TICKS] = {0},
    [HOST_RECEIVES] = {.numbers = 1, .has_bytes = true},
    [HOST_SAVED] = {.numbers = 2},
    [HOST_FINDS] = {.has_bytes = true},
    [HOST_STANDS] = {.has_group = true, .numbers = 2},
    [HOST_WAITS] = {.has_group = true, .numbers = 1},
    [HOST_WISHES] = {.has_group = true},
    [HOST_RESIGNS] = {.has_group = true},
    [HOST_TRANSFERS] = {.has_group = true, .numbers = 1},
    [HOST_PROCLAIMS] = {.has_group = true, .has_bytes = true},
    [HOST_CAMPAIGNS] = {.has_group = true},
    [HOST_HOLDS] = {0},
    [HOST_RELEASES] = {0},
    [HOST_FORGETS] = {.has_group = true},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

void recorder_put_call(struct recorder_bytes *b, const struct host_call *call, uint64_t since)
{
    recorder_put(b, (uint64_t)call->what, 1);
    if (since != UINT64_MAX) recorder_put_number(b, call->at - since);
    if (shapes[call->what].has_group) recorder_put(b, call->group, 8);
    for (uint32_t i = 0; i < shapes[call->what].numbers; i++) recorder_put_number(b, call->numbers[i]);
    if (shapes[call->what].has_bytes) recorder_put_bytes(b, call->bytes, call->size);
}

bool recorder_get_call(struct recorder_bytes *b, uint64_t since, bool is_first, struct host_call *call)
{
    const uint64_t what = recorder_get(b, 1);
    if (b->failed || what >= SHAPES) return false;
    *call = (struct host_call){.what = (enum host_called)what, .at = since};
    if (is_first) call->at += recorder_get_number(b);
    if (call->at < since) return false;
    if (shapes[what].has_group) call->group = recorder_get(b, 8);
    for (uint32_t i = 0; i < shapes[what].numbers; i++) call->numbers[i] = recorder_get_number(b);
    if (shapes[what].has_bytes) call->bytes = recorder_get_bytes(b, &call->size);
    return !b->failed;
}

/* ---- Digests ---- */

uint32_t recorder_sum(const void *bytes, size_t size)
{
    return (uint32_t)el_fingerprint(bytes, size).low;
}

uint32_t recorder_sum_view(struct host_group *group)
{
    const struct host_view view = host_view_of(group);
    const uint64_t words[] = {
        host_key(group),  (uint64_t)view.role, view.leader,      view.token,
        view.deadline_ns, view.lease_end_ns,   host_cell(group), recorder_sum(view.value, strlen(view.value))};
    return recorder_sum(words, sizeof words);
}

uint64_t recorder_sum_note(uint64_t so_far, struct host_group *group, const struct host_note *note)
{
    const uint64_t words[] = {so_far, group ? host_key(group) : 0, note->number, note->values[0],
                              note->values[1]};
    return el_fingerprint(words, sizeof words).low | 1; /* 0 means no notes */
}

size_t recorder_half(size_t file_size)
{
    return file_size / 8 * 3 & ~(size_t)7; /* the last quarter is for states */
}

uint32_t recorder_chain(uint32_t before, const uint8_t *bytes, size_t size)
{
    const uint64_t words[] = {before, size, el_fingerprint(bytes, size).low};
    return recorder_sum(words, sizeof words);
}

/* ---- The configuration ---- */

struct text {
    char *at;
    size_t room, size; /* size: also of what had no room */
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list list;
    const bool fits = text->size < text->room;
    va_start(list, format);
    const int size =
        vsnprintf(fits ? text->at + text->size : NULL, fits ? text->room - text->size : 0, format, list);
    va_end(list);
    text->size += (size_t)(size > 0 ? size : 0);
}

static void add_group(struct text *text, const struct config_group *group)
{
    add(text, "[group %s]\nalgorithm = %s\n", group->name,
        group->algorithm ? group->algorithm->name : "quorum");
    for (uint32_t i = 0; i < group->option_count; i++)
        add(text, "%s = %s\n", group->options[i][0], group->options[i][1]);
}

/* The host uses no addresses, but a configuration must have them. */
/* NOLINTNEXTLINE(readability-non-const-parameter): add() writes to `text` */
size_t recorder_config_text(const struct config *config, char *text, size_t room)
{
    struct text all = {.at = text, .room = room};
    add(&all, "[cluster]\nname = %s\nid = ", config->cluster);
    for (uint32_t i = 0; i < sizeof config->cluster_id; i++) add(&all, "%02x", config->cluster_id[i]);
    add(&all, "\ndrift = 0.%06u\ntransmit = %lluns\n", config->drift, (unsigned long long)config->transmit_max);
    if (config->profile) add(&all, "profile = %s\n", config->profile->name);
    for (uint32_t i = 0; i < config->member_count; i++)
        add(&all, "[member %s]\nid = %llu\naddress = 127.0.0.1:%u\nrole = %s\n", config->members[i].name,
            (unsigned long long)config->members[i].id, i + 1, config_role_name(config->members[i].role));
    add(&all, "[agent]\nself = %s\n", config->members[config->self - 1].name);
    for (uint32_t i = 0; i < config->group_count; i++) add_group(&all, &config->groups[i]);
    return all.size;
}
