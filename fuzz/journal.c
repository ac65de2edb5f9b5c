/*
 * Bytes as the journal of the history: as they are, and as the bodies of records behind a head, with lengths and checksums put
 * right, which nobody guesses. The first byte of each piece is its length. What is read is told as `elector history` and
 * `why` tell it, and what was refused has left nothing behind.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/history/internal.h"
#include "agent/history/journal.h"
#include "core/bytes.h"

enum { FRAME = 6, GROUPS = 4 };

static struct config config = {.cluster = "c", .member_count = 3, .self = 2};
static const struct journal_place here = {
    .members = 7, .boot = {1}, .boot_ns = UINT64_C(1) << 40, .wall_ns = UINT64_C(1) << 50};

static void tell(const struct history *c)
{
    static struct history_tenure tenures[64];
    static struct history_story story;
    char sentence[HISTORY_TEXT];
    for (uint64_t i = 0; i < c->changes.count && i < GROUPS; i++) {
        const uint64_t group = c->changes.entries[i].group;
        if (history_tenures(c, group, tenures, 64) > 64) abort();
        if (!history_tell(c, group, &story)) continue;
        for (uint32_t at = 0; at < story.count; at++) history_sentence(&config, &story.steps[at], sentence);
    }
}

static void read_in(const uint8_t *bytes, size_t size)
{
    struct history *c = history_new(&config, here.boot_ns);
    uint8_t *exact = malloc(size ? size : 1); /* no longer, so that the sanitizer sees a step beyond */
    if (!c || !exact) abort();
    if (size) memcpy(exact, bytes, size);
    if (journal_read(c, &here, exact, size) <= JOURNAL_CUT)
        tell(c);
    else if (c->changes.count || c->steps.count || c->stated_count)
        abort();
    free(exact);
    history_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t mended[1 << 16];
    size_t used = JOURNAL_HEAD;
    for (uint32_t i = 0; i < 3; i++) config.members[i].name[0] = (char)('a' + i);
    read_in(data, size);
    journal_head(&here, mended);
    while (size > 1) {
        const size_t length = data[0] < size ? data[0] : size - 1;
        if (length == 0 || used + FRAME + length > sizeof mended) break;
        el_put(mended + used, length, 2);
        el_put(mended + used + 2, el_fingerprint(data + 1, length).low & UINT32_MAX, 4);
        memcpy(mended + used + FRAME, data + 1, length);
        used += FRAME + length;
        data += length + 1, size -= length + 1;
    }
    read_in(mended, used);
    return 0;
}
