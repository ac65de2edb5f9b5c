/*
 * Puts several recordings on one clock. Recordings of one boot of one host share a clock. Otherwise messages
 * bound the offset: none arrives before it was sent, so messages one way bound it from below, and messages
 * back from above.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/replay/recordings.h"

struct message { /* one end of a payload: sent or received */
    uint64_t digest, at;
    size_t place;
    el_node from, to;
    uint32_t run;
};

static int compare(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    if (x->digest != y->digest) return x->digest < y->digest ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static bool is_same(const struct message *a, const struct message *b)
{
    return a->digest == b->digest && a->from == b->from && a->to == b->to;
}

/* All events of one type, in order; *count of them. The caller frees the list. */
static struct message *collect(struct recordings_story *story, enum recordings_what what, size_t *count)
{
    struct message *list = calloc(story->event_count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < story->event_count; i++) {
        const struct recordings_event *e = &story->events[i];
        const el_node self = story->runs[e->run].self;
        if (e->what != (uint8_t)what) continue;
        const bool sends = what == RECORDINGS_SENDS;
        list[(*count)++] = (struct message){.digest = e->number,
                                            .at = e->at + (uint64_t)story->runs[e->run].offset,
                                            .place = i,
                                            .from = sends ? self : e->peer,
                                            .to = sends ? e->peer : self,
                                            .run = e->run};
    }
    if (list) qsort(list, *count, sizeof *list, compare);
    if (!list) story->is_out_of_memory = true;
    return list;
}

/* ---- Offsets ---- */

static bool share_clock(const struct recordings_run *a, const struct recordings_run *b)
{
    static const uint8_t unknown[RECORDER_BOOT];
    return memcmp(recorder_boot(a->tape), recorder_boot(b->tape), RECORDER_BOOT) == 0 &&
           memcmp(recorder_boot(a->tape), unknown, RECORDER_BOOT) != 0;
}

/* A lower bound on the offset of [to]'s clock, by messages from [from] to [to]; INT64_MIN: there were none. */
struct bounds {
    int64_t least[RECORDINGS_RUNS_MAX][RECORDINGS_RUNS_MAX];
};

static void bound(struct recordings_story *story, struct bounds *b)
{
    size_t sent_count, heard_count, s = 0;
    struct message *sent = collect(story, RECORDINGS_SENDS, &sent_count);
    struct message *heard = collect(story, RECORDINGS_HEARS, &heard_count);
    for (size_t h = 0; sent && heard && h < heard_count; h++) {
        while (s < sent_count && compare(&sent[s], &heard[h]) < 0 && !is_same(&sent[s], &heard[h])) s++;
        if (s == sent_count || !is_same(&sent[s], &heard[h])) continue;
        const bool is_twin = (s + 1 < sent_count && is_same(&sent[s], &sent[s + 1])) ||
                             (h + 1 < heard_count && is_same(&heard[h], &heard[h + 1])) ||
                             (h > 0 && is_same(&heard[h], &heard[h - 1]));
        const int64_t least = (int64_t)(sent[s].at - heard[h].at);
        int64_t *known = &b->least[sent[s].run][heard[h].run];
        if (!is_twin && least > *known) *known = least; /* two equal payloads cannot be told apart */
    }
    free(sent);
    free(heard);
}

static bool place_beside(struct recordings_story *story, const struct bounds *b, uint32_t run, uint32_t by)
{
    struct recordings_run *r = &story->runs[run];
    const struct recordings_run *known = &story->runs[by];
    const int64_t least = b->least[by][run], most = b->least[run][by];
    if (share_clock(r, known)) {
        r->offset = known->offset;
        r->doubt = known->doubt;
        return true;
    }
    if (least == INT64_MIN || most == INT64_MIN) return false;
    const int64_t width = -most - least;
    r->offset = known->offset + least + width / 2;
    r->doubt = known->doubt + (uint64_t)(width < 0 ? -width : width) / 2 + 1;
    return true;
}

static void place_all(struct recordings_story *story, const struct bounds *b)
{
    bool again = true;
    story->runs[0].is_placed = true;
    while (again) {
        again = false;
        for (uint32_t run = 0; run < story->run_count; run++)
            for (uint32_t by = 0; by < story->run_count && !story->runs[run].is_placed; by++)
                if (story->runs[by].is_placed && place_beside(story, b, run, by))
                    story->runs[run].is_placed = again = true;
    }
}

/* ---- Pairing sent and received payloads ---- */

/* Pairs a received payload with the last equal one that was sent before. */
static void pair_up(struct recordings_story *story)
{
    size_t sent_count, heard_count, s = 0;
    struct message *sent = collect(story, RECORDINGS_SENDS, &sent_count);
    struct message *heard = collect(story, RECORDINGS_HEARS, &heard_count);
    for (size_t h = 0; sent && heard && h < heard_count; h++) {
        while (s < sent_count && compare(&sent[s], &heard[h]) < 0 && !is_same(&sent[s], &heard[h])) s++;
        while (s + 1 < sent_count && is_same(&sent[s + 1], &heard[h]) && sent[s + 1].at <= heard[h].at) s++;
        if (s == sent_count || !is_same(&sent[s], &heard[h]) || story->events[sent[s].place].pair) continue;
        story->events[sent[s].place].pair = heard[h].place + 1;
        story->events[heard[h].place].pair = sent[s].place + 1;
    }
    free(sent);
    free(heard);
}

void recordings_merge(struct recordings_story *story)
{
    struct bounds *b = malloc(sizeof *b);
    if (!b) {
        story->is_out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < RECORDINGS_RUNS_MAX; i++)
        for (uint32_t k = 0; k < RECORDINGS_RUNS_MAX; k++) b->least[i][k] = INT64_MIN;
    bound(story, b);
    place_all(story, b);
    pair_up(story);
    free(b);
    for (size_t i = 0; i < story->event_count; i++)
        story->events[i].at += (uint64_t)story->runs[story->events[i].run].offset;
}
