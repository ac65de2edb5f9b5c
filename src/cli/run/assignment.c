/* See assignment.h. */
#define _GNU_SOURCE
#include "cli/run/assignment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "elector/core.h"

static const uint64_t settle_ns = 3 * NS_PER_S, forgiven_ns = 3600 * NS_PER_S;
enum { DOUBLINGS_MAX = 7 };

uint64_t spread_weight(const char *member, const char *group)
{
    char both[ELECTOR_NAME_MAX + ELECTOR_GROUP_MAX + 2] =
        ""; /* a zero between them: "ab", "c" is not "a", "bc" */
    const size_t first = strnlen(member, ELECTOR_NAME_MAX), second = strnlen(group, ELECTOR_GROUP_MAX);
    memcpy(both, member, first);
    memcpy(both + first + 1, group, second);
    return el_fingerprint(both, first + 1 + second).high >> (64 - SPREAD_BITS);
}

uint64_t spread_priority(uint64_t priority, const char *member, const char *group)
{
    return priority << SPREAD_BITS | spread_weight(member, group);
}

/* ---- Candidates ---- */

bool spread_init(struct spread *s, size_t group_count)
{
    *s = (struct spread){.groups = calloc(group_count, sizeof *s->groups),
                         .order = calloc(group_count, sizeof *s->order)};
    return s->groups && s->order;
}

void spread_free(struct spread *s)
{
    free(s->groups);
    free(s->order);
    *s = (struct spread){0};
}

static bool comes_before(const struct spread_group *a, const struct spread_group *b)
{
    return a->hash != b->hash ? a->hash < b->hash : strcmp(a->name, b->name) < 0;
}

void spread_set_name(struct spread *s, size_t group, const char *name)
{
    struct spread_group *g = &s->groups[group];
    size_t at = s->group_count++;
    *g = (struct spread_group){
        .name = name, .hash = el_fingerprint(name, strlen(name)).low, .owner = SPREAD_MEMBERS_MAX};
    for (; at > 0 && comes_before(g, &s->groups[s->order[at - 1]]); at--) s->order[at] = s->order[at - 1];
    s->order[at] = group;
}

void spread_clear_candidates(struct spread *s, size_t group)
{
    s->groups[group].standing = 0;
    s->groups[group].owner = SPREAD_MEMBERS_MAX;
}

/* If there is no room, some members have left: forget all, and learn them again. */
static size_t place_of(struct spread *s, const char *member)
{
    size_t at = 0;
    while (at < s->member_count && strcmp(s->members[at], member) != 0) at++;
    if (at < s->member_count) return at;
    if (at == SPREAD_MEMBERS_MAX) {
        for (size_t i = 0; i < s->group_count; i++) spread_clear_candidates(s, i);
        s->member_count = at = 0;
    }
    snprintf(s->members[at], sizeof s->members[at], "%s", member);
    s->member_count++;
    return at;
}

void spread_add_candidate(struct spread *s, size_t group, const char *member, uint64_t priority)
{
    const size_t at = place_of(s, member);
    s->groups[group].standing |= UINT64_C(1) << at;
    s->groups[group].priority[at] = priority;
}

/* ---- Assignment ---- */

/* The groups that are assigned together, since they have the same candidates. */
struct round {
    size_t least, more; /* groups for each member, and how many members may still get one more */
    size_t load[SPREAD_MEMBERS_MAX];
};

static bool has(uint64_t members, size_t member)
{
    return members >> member & 1;
}

/* The candidates of the highest configured priority. A penalised one has 0, so it counts only if all have. */
static uint64_t eligible(const struct spread_group *g)
{
    uint64_t most = 0, members = 0;
    for (size_t i = 0; i < SPREAD_MEMBERS_MAX; i++) {
        if (!has(g->standing, i)) continue;
        const uint64_t asked = g->priority[i] >> SPREAD_BITS;
        if (asked > most) members = 0, most = asked;
        if (asked == most) members |= UINT64_C(1) << i;
    }
    return members;
}

static bool is_full(const struct round *round, size_t member)
{
    return round->load[member] >= round->least + (round->more > 0);
}

/* Among equal weights the greater name: positions in the list differ from host to host. */
static bool is_better(const struct spread *s, const struct round *round, const struct spread_group *g, size_t a,
                      size_t b)
{
    const bool is_a_full = is_full(round, a), is_b_full = is_full(round, b);
    if (is_a_full != is_b_full) return is_b_full;
    if (is_a_full && round->load[a] != round->load[b]) return round->load[a] < round->load[b];
    if (g->priority[a] != g->priority[b]) return g->priority[a] > g->priority[b];
    return strcmp(s->members[a], s->members[b]) > 0;
}

static void assign_one(const struct spread *s, struct round *round, struct spread_group *g)
{
    const uint64_t members = eligible(g);
    for (size_t i = 0; i < s->member_count; i++)
        if (has(members, i) && (g->owner == SPREAD_MEMBERS_MAX || is_better(s, round, g, i, g->owner)))
            g->owner = i;
    if (round->load[g->owner]++ == round->least && round->more > 0) round->more--;
}

static void assign_round(struct spread *s, uint64_t standing)
{
    struct round round = {0};
    uint64_t members = 0;
    size_t groups = 0;
    for (size_t i = 0; i < s->group_count; i++) {
        if (s->groups[i].standing != standing) continue;
        members |= eligible(&s->groups[i]);
        groups++;
    }
    const size_t count = (size_t)__builtin_popcountll(members);
    round.least = groups / count;
    round.more = groups % count;
    for (size_t i = 0; i < s->group_count; i++) {
        struct spread_group *g = &s->groups[s->order[i]];
        if (g->standing == standing) assign_one(s, &round, g);
    }
}

void spread_assign(struct spread *s)
{
    for (size_t i = 0; i < s->group_count; i++) s->groups[i].owner = SPREAD_MEMBERS_MAX;
    for (size_t i = 0; i < s->group_count; i++)
        if (s->groups[i].standing && s->groups[i].owner == SPREAD_MEMBERS_MAX)
            assign_round(s, s->groups[i].standing);
}

const char *spread_owner(const struct spread *s, size_t group)
{
    const size_t owner = s->groups[group].owner;
    return owner < SPREAD_MEMBERS_MAX ? s->members[owner] : NULL;
}

/* ---- When to hand over ---- */

bool spread_should_move(struct spread_watch *watch, const char *owner, uint64_t now_ns)
{
    if (!owner) {
        watch->better[0] = '\0';
        return false;
    }
    if (strcmp(watch->better, owner) != 0) {
        snprintf(watch->better, sizeof watch->better, "%s", owner);
        watch->since_ns = now_ns;
    }
    if (watch->moves > 0 && now_ns - watch->moved_ns >= forgiven_ns) watch->moves = 0;
    return now_ns - watch->since_ns >= settle_ns << watch->moves;
}

void spread_note_move(struct spread_watch *watch, uint64_t now_ns)
{
    if (watch->moves < DOUBLINGS_MAX) watch->moves++;
    watch->moved_ns = now_ns;
    watch->better[0] = '\0';
}
