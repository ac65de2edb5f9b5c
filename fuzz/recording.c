/*
 * Bytes as a recording: first as they are, then as the frames of one whose head, beginning and checksums are put right, which
 * nobody guesses. The first byte says what it begins with: nothing, bytes that are said to be a host's state, a real one's
 * with a few bytes changed, or a real one as it is, which also has a group whose state nobody can check and is trusted.
 */
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/recorder/replay.h"
#include "agent/state/slot.h"
#include "lib/host/quiet_hooks.h"

enum { SIZE = 1 << 17 };

static void judge(const uint8_t *bytes, size_t size, uint32_t how)
{
    char text[512];
    struct recorder_report report;
    struct recorder_reader *tape = recorder_take("it", bytes, size, text, sizeof text);
    if (!tape) return;
    (void)recorder_replay(tape, NULL, RECORDER_UNFINISHED | how, &report);
    recorder_reader_free(tape);
}

static const char config[] = "[cluster]\nname = it\nid = 07000000000000000000000000000000\n"
                             "[member a]\nid = 1\naddress = 127.0.0.1:1\n"
                             "[member b]\nid = 2\naddress = 127.0.0.1:2\n"
                             "[member c]\nid = 3\naddress = 127.0.0.1:3\n"
                             "[agent]\nself = a\n[group other]\nalgorithm = raft\n";

/* One entry more, in place; its frames are written between the two calls. */
static struct recorder_bytes begin_entry(uint8_t *file, size_t used)
{
    return (struct recorder_bytes){.at = file + used + RECORDER_ENTRY_HEAD, .end = file + recorder_half(SIZE)};
}

static size_t end_entry(uint8_t *file, size_t used, const struct recorder_bytes *frames, uint32_t *sum)
{
    const size_t size = (size_t)(frames->at - (file + used + RECORDER_ENTRY_HEAD));
    struct recorder_bytes head = {.at = file + used, .end = file + used + RECORDER_ENTRY_HEAD};
    *sum = recorder_chain(*sum, file + used + RECORDER_ENTRY_HEAD, size);
    recorder_put(&head, size, 4);
    recorder_put(&head, *sum, 4);
    return used + RECORDER_ENTRY_HEAD + size;
}

/* Behind the halves. Returns how long it is. */
static size_t put_beginning(uint8_t *file, const uint8_t *state, size_t size)
{
    struct recorder_bytes b = {.at = file + 2 * recorder_half(SIZE), .end = file + SIZE}, *frames = &b;
    static struct record_contents contents = {.version = 1};
    static unsigned char slot[RECORD_SLOT];
    record_slot_encode(&contents, slot);
    for (int i = 0; i < 3; i++) recorder_put(frames, 1000000000, 8); /* which boot, and when */
    recorder_put_bytes(frames, config, sizeof config - 1);
    recorder_put_bytes(frames, slot, record_slot_size(0));
    if ((size_t)(b.end - b.at) < size) abort();
    if (size) memcpy(b.at, state, size);
    return (size_t)(b.at + size - (file + 2 * recorder_half(SIZE)));
}

/* ---- A host in the middle of its life ---- */

static uint64_t ten_seconds(void *context)
{
    return UINT64_C(10000000000);
}

static size_t pack_one(uint8_t *state, size_t room, bool with_other)
{
    static struct config parsed;
    static struct record_contents contents = {.version = 1};
    static unsigned char slot[RECORD_SLOT];
    char text[512];
    struct recorder_bytes bytes = {.at = state, .end = state + room};
    record_slot_encode(&contents, slot);
    if (!config_parse(&parsed, "it", config, sizeof config - 1, true, text, sizeof text)) abort();
    struct record *record = record_restore(slot, record_slot_size(0));
    struct host *host = host_new(&parsed, record, quiet_hooks(NULL, ten_seconds));
    (void)host_tick(host);
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "group-%d", i);
        host_stand(host_find(host, text, text + 64, 256), true, 7);
    }
    if (with_other) host_stand(host_find(host, "other", text, sizeof text), true, 7);
    host_saved(host, 2, 0);
    if (!host_pack(host, &bytes)) abort();
    host_free(host);
    record_close(record);
    return (size_t)(bytes.at - state);
}

static size_t keep_whole(uint8_t *state)
{
    static uint8_t whole[SIZE / 8];
    static size_t length;
    if (length == 0) length = pack_one(whole, sizeof whole, true);
    memcpy(state, whole, length);
    return length;
}

/* Three bytes each: where, and what is there instead. */
static size_t spoil(uint8_t *state, const uint8_t *data, size_t size)
{
    static uint8_t whole[SIZE / 8];
    static size_t length;
    if (length == 0) length = pack_one(whole, sizeof whole, false);
    memcpy(state, whole, length);
    for (size_t at = 0; at + 3 <= size; at += 3)
        state[((size_t)data[at] | (size_t)data[at + 1] << 8) % length] = data[at + 2];
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t file[SIZE];
    uint32_t sum = 0;
    if (sodium_init() < 0) abort();
    judge(data, size, 0);
    if (size < 4 || size > SIZE / 8) return 0;
    enum { NOTHING, ANYTHING, SPOILT, WHOLE, BEGINNINGS };
    static uint8_t real[SIZE / 8];
    const unsigned begins_with = data[0] % BEGINNINGS;
    const size_t most = size - 3, wanted = (size_t)data[1] | (size_t)data[2] << 8;
    const bool has_bytes = begins_with == ANYTHING || begins_with == SPOILT;
    const size_t taken = !has_bytes ? 0 : wanted < most ? wanted : most;
    const size_t state = begins_with == SPOILT  ? spoil(real, data + 3, taken)
                         : begins_with == WHOLE ? keep_whole(real)
                                                : taken;
    memset(file, 0, sizeof file);
    memcpy(file, recorder_magic, RECORDER_MAGIC);
    const size_t begins = put_beginning(file, begins_with == ANYTHING ? data + 3 : real, state);
    struct recorder_bytes frames;
    size_t used = RECORDER_HEAD;
    for (size_t at = 3 + taken; at < size;) { /* a length, and as many bytes */
        const size_t length = data[at] < size - at - 1 ? data[at] : size - at - 1;
        frames = begin_entry(file, used);
        if ((size_t)(frames.end - frames.at) < length) break;
        memcpy(frames.at, data + at + 1, length);
        frames.at += length;
        used = end_entry(file, used, &frames, &sum);
        at += 1 + length;
    }
    struct recorder_bytes head = {.at = file + RECORDER_MAGIC, .end = file + RECORDER_HEAD};
    recorder_put(&head, RECORDER_VERSION, 4);
    recorder_put(&head, 0, 4);
    recorder_put(&head, used, 8);
    for (int i = 0; i < 2; i++) recorder_put(&head, 0, 8); /* nothing is pending, of no generation */
    recorder_put(&head, recorder_half(sizeof file), 8);
    recorder_put(&head, 2 * recorder_half(sizeof file), 8);
    recorder_put(&head, begins, 8);
    recorder_put(&head, recorder_chain((uint32_t)recorder_half(SIZE), file + 2 * recorder_half(SIZE), begins),
                 4);
    judge(file, sizeof file, begins_with == WHOLE ? RECORDER_TRUSTS : 0);
    return 0;
}
