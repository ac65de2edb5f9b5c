/* What quorum promises, held against what happened. */
#include <stdlib.h>
#include <string.h>

#include "cli/replay/recordings.h"

static int by_token(const void *a, const void *b)
{
    const struct flight_claim *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->token != y->token) return x->token < y->token ? -1 : 1;
    if (x->began != y->began) return x->began < y->began ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

static void report(struct flight_story *story, enum flight_wrong wrong, const struct flight_claim *one,
                   const struct flight_claim *other)
{
    const uint32_t place = story->violation_count++;
    if (place < sizeof story->violations / sizeof *story->violations)
        story->violations[place] = (struct flight_violation){wrong, *one, *other};
}

/* The other's time is known by its clock only, give or take. */
static bool can_compare(const struct flight_story *story, const struct flight_claim *a,
                        const struct flight_claim *b, uint64_t *doubt)
{
    *doubt = a->run == b->run ? 0 : story->runs[a->run].doubt + story->runs[b->run].doubt;
    return story->runs[a->run].is_placed && story->runs[b->run].is_placed;
}

static void judge_pair(struct flight_story *story, const struct flight_claim *lower,
                       const struct flight_claim *higher)
{
    uint64_t doubt;
    if (lower->token == higher->token) {
        if (lower->run != higher->run) report(story, FLIGHT_SAME_TOKEN, lower, higher);
        return;
    }
    if (!can_compare(story, lower, higher, &doubt)) return;
    if (higher->began + doubt < lower->began)
        report(story, FLIGHT_TOKEN_FELL, higher, lower);
    else if (lower->run != higher->run && higher->began + doubt < lower->ended)
        report(story, FLIGHT_OVERLAP, lower, higher);
}

/* Each with the one before it, and with whoever of those before is in office the longest. */
static void judge_claims(struct flight_story *story)
{
    size_t longest = 0;
    for (size_t i = 1; i < story->claim_count; i++) {
        const struct flight_claim *claim = &story->claims[i], *before = claim - 1;
        if (claim->group != before->group) {
            longest = i;
            continue;
        }
        judge_pair(story, before, claim);
        if (longest != i - 1) judge_pair(story, &story->claims[longest], claim);
        if (claim->ended > story->claims[longest].ended) longest = i;
    }
}

/* Whom the others took for the leader of that term. */
static void judge_name(struct flight_story *story, const struct flight_name *name)
{
    size_t low = 0, high = story->claim_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct flight_claim *claim = &story->claims[middle];
        if (claim->group < name->group || (claim->group == name->group && claim->token < name->token))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == story->claim_count) return;
    const struct flight_claim *claim = &story->claims[low];
    if (claim->group != name->group || claim->token != name->token) return;
    if (story->runs[claim->run].self == name->leader) return;
    const struct flight_claim named = {
        .group = name->group, .token = name->token, .began = name->at, .ended = name->at, .run = name->run};
    report(story, FLIGHT_SAME_TOKEN, claim, &named);
}

static bool is_of(const struct flight_obituary *o, const struct flight_run *run,
                  const struct flight_claim *claim)
{
    const bool is_here = o->group == 0 || (o->group == claim->group && claim->token <= o->term);
    return is_here && o->who == run->self && o->life == run->life;
}

/* A death that was told of ends an office before its deadline. */
static void end_by_obituary(const struct flight_story *story, struct flight_claim *claim)
{
    const struct flight_run *run = &story->runs[claim->run];
    const uint64_t end = run->report.ended + (uint64_t)run->offset;
    for (uint32_t i = 0; i < story->obituary_count; i++)
        if (is_of(&story->obituaries[i], run, claim) && claim->ended > end) claim->ended = end;
}

void flight_judge(struct flight_story *story)
{
    for (size_t i = 0; i < story->claim_count; i++) {
        struct flight_claim *claim = &story->claims[i];
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
