/* Checks quorum's promises against the recorded events. */
#include <stdlib.h>
#include <string.h>

#include "cli/replay/recordings.h"

static int by_token(const void *a, const void *b)
{
    const struct recordings_claim *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->token != y->token) return x->token < y->token ? -1 : 1;
    if (x->began != y->began) return x->began < y->began ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

static void report(struct recordings_story *story, enum recordings_wrong wrong,
                   const struct recordings_claim *one, const struct recordings_claim *other)
{
    const uint32_t place = story->violation_count++;
    if (place < sizeof story->violations / sizeof *story->violations)
        story->violations[place] = (struct recordings_violation){wrong, *one, *other};
}

/* Times of two recordings can be compared only if their order exceeds the uncertainty of the clocks. */
static bool can_compare(const struct recordings_story *story, const struct recordings_claim *a,
                        const struct recordings_claim *b, uint64_t *doubt)
{
    *doubt = a->run == b->run ? 0 : story->runs[a->run].doubt + story->runs[b->run].doubt;
    return story->runs[a->run].is_placed && story->runs[b->run].is_placed;
}

static void judge_pair(struct recordings_story *story, const struct recordings_claim *lower,
                       const struct recordings_claim *higher)
{
    uint64_t doubt;
    if (lower->token == higher->token) {
        if (lower->run != higher->run) report(story, RECORDINGS_SAME_TOKEN, lower, higher);
        return;
    }
    if (!can_compare(story, lower, higher, &doubt)) return;
    if (higher->began + doubt < lower->began)
        report(story, RECORDINGS_TOKEN_FELL, higher, lower);
    else if (lower->run != higher->run && higher->began + doubt < lower->ended)
        report(story, RECORDINGS_OVERLAP, lower, higher);
}

/* Compares each leadership with the one before it, and with the earlier one that ends last. */
static void judge_claims(struct recordings_story *story)
{
    size_t longest = 0;
    for (size_t i = 1; i < story->claim_count; i++) {
        const struct recordings_claim *claim = &story->claims[i], *before = claim - 1;
        if (claim->group != before->group) {
            longest = i;
            continue;
        }
        judge_pair(story, before, claim);
        if (longest != i - 1) judge_pair(story, &story->claims[longest], claim);
        if (claim->ended > story->claims[longest].ended) longest = i;
    }
}

/* Checks the leader that others named for that term. */
static void judge_name(struct recordings_story *story, const struct recordings_name *name)
{
    size_t low = 0, high = story->claim_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct recordings_claim *claim = &story->claims[middle];
        if (claim->group < name->group || (claim->group == name->group && claim->token < name->token))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == story->claim_count) return;
    const struct recordings_claim *claim = &story->claims[low];
    if (claim->group != name->group || claim->token != name->token) return;
    if (story->runs[claim->run].self == name->leader) return;
    const struct recordings_claim named = {
        .group = name->group, .token = name->token, .began = name->at, .ended = name->at, .run = name->run};
    report(story, RECORDINGS_SAME_TOKEN, claim, &named);
}

static bool is_of(const struct recordings_obituary *o, const struct recordings_run *run,
                  const struct recordings_claim *claim)
{
    const bool is_here = o->group == 0 || (o->group == claim->group && claim->token <= o->term);
    return is_here && o->who == run->self && o->incarnation == run->incarnation;
}

/* An obituary ends a leadership before its deadline. */
static void end_by_obituary(const struct recordings_story *story, struct recordings_claim *claim)
{
    const struct recordings_run *run = &story->runs[claim->run];
    const uint64_t end = run->report.ended + (uint64_t)run->offset;
    for (uint32_t i = 0; i < story->obituary_count; i++)
        if (is_of(&story->obituaries[i], run, claim) && claim->ended > end) claim->ended = end;
}

void recordings_judge(struct recordings_story *story)
{
    for (size_t i = 0; i < story->claim_count; i++) {
        struct recordings_claim *claim = &story->claims[i];
        claim->began += (uint64_t)story->runs[claim->run].offset;
        claim->ended += (uint64_t)story->runs[claim->run].offset;
        end_by_obituary(story, claim);
    }
    for (size_t i = 0; i < story->name_count; i++)
        story->names[i].at += (uint64_t)story->runs[story->names[i].run].offset;
    if (story->claim_count) qsort(story->claims, story->claim_count, sizeof *story->claims, by_token);
    judge_claims(story);
    for (size_t i = 0; i < story->name_count; i++) judge_name(story, &story->names[i]);
}
