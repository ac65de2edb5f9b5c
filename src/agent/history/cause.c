/* Explains the last change of leaders: the steps that mattered, from the first cause on. */
#include <string.h>

#include "agent/history/internal.h"
#include "algorithms/quorum/quorum.h"
#include "base/clock.h"

static const uint64_t AFTERWARDS_NS = 50 * NS_PER_MS, BEFORE_NS = 5 * NS_PER_S, WITH_IT_NS = NS_PER_MS,
                      WITHOUT_NS = 10 * NS_PER_S; /* told of a group that has no leader since */

/* The change that a story is about, and the tenure before it. */
struct plot {
    const struct history *c;
    uint64_t group;
    const struct history_entry *before; /* the last sight of the leader before; NULL: there was none */
    const struct history_entry *first;  /* the first sight of it in that term */
    const struct history_entry *end;    /* the first sign that it no longer leads */
    const struct history_entry *after;  /* the next tenure begins; NULL: not yet */
    const struct history_entry *changes[HISTORY_COLLECTED_MAX], *steps[HISTORY_COLLECTED_MAX];
    uint32_t change_count, step_count; /* of the group, the oldest first; steps: also those of all groups */
};

/* ---- Which steps matter ---- */

/* Whether this step can end a tenure. */
static bool is_cause(const struct history_entry *e, el_node leader)
{
    switch (e->what) {
    case HISTORY_GONE:
    case HISTORY_RESIGNED:
    case HISTORY_EXPELLED:
    case HISTORY_ASKED_TO_TRANSFER:
    case HISTORY_ASKED_TO_RESIGN:
    case HISTORY_ASKED_TO_LEAVE:
    case HISTORY_ABANDONED:
    case HISTORY_LAST_HEARD:
    case HISTORY_NO_MAJORITY: return true;
    default: break;
    }
    switch (history_quorum_note(e)) {
    case QUORUM_WOULD_HAND_OVER:
    case QUORUM_RESIGNS:
    case QUORUM_HANDS_OVER:
    case QUORUM_LAPSES:
    case QUORUM_IS_DEPOSED: return true;
    case QUORUM_IS_RELEASED:
    case QUORUM_BURIES: return e->token == leader;
    default: return false;
    }
}

/* Routine events are left out, and what a member says to itself. */
static bool is_told(const struct history *c, const struct history_entry *e)
{
    switch (history_quorum_note(e)) {
    case QUORUM_IS_RELEASED: return e->token != c->config->self;
    case QUORUM_MEETS:
    case QUORUM_DROPS_OLD:
    case QUORUM_DROPS_STRAY:
    case QUORUM_DROPS_ECHO:
    case QUORUM_DROPS_EPOCH:
    case QUORUM_GRANTED_AWAY:
    case QUORUM_NAMES_HEIR:
    case QUORUM_ASKS_TO_JOIN:
    case QUORUM_JOINS:
    case QUORUM_ANSWERS_CHECK:
    case QUORUM_RETURNS_VOTE:
    case QUORUM_IS_BUSY:
    case QUORUM_CANNOT_LEAD:
    case QUORUM_HOLDS_BACK: return false;
    default: return true;
    }
}

/* After the election only these steps are told: they complete it. */
static bool is_aftermath(const struct history_entry *e)
{
    return e->what == HISTORY_HEARD || e->what == HISTORY_TOLD_ELECTED;
}

/* ---- Which change ---- */

static bool is_same_tenure(const struct history_entry *a, const struct history_entry *b)
{
    return a && a->who == b->who && a->token == b->token;
}

/* Searches from the newest change back. A leader that was silent and is back in the same term has led all the
 * time. */
static bool find_plot(struct plot *p)
{
    for (uint32_t i = p->change_count; i > 0; i--) {
        const struct history_entry *e = p->changes[i - 1];
        if (e->who && (!p->end || (!p->before && is_same_tenure(p->after, e)))) {
            p->after = p->end = e;
        } else if (e->who && !p->before) {
            p->before = p->first = e;
        } else if (e->who && is_same_tenure(p->before, e)) {
            p->first = e;
        } else if (e->who) {
            break;
        } else if (!p->before) {
            p->end = e;
        }
    }
    return p->end != NULL;
}

/* A vote less than 1 ms before the step belongs to it. */
static bool brings(const struct history_entry *vote, const struct history_entry *e)
{
    return vote && vote->what == HISTORY_HEARD && e->at_ns - vote->at_ns < WITH_IT_NS;
}

/* A vote in the next leader's term: pushed by a voter that was released first, it may come before anything else is heard. */
static bool is_vote_for(const struct history_entry *e, const struct history_entry *after)
{
    return after && e->what == HISTORY_HEARD && e->note == QUORUM_GRANT && e->token == after->token;
}

static uint64_t first_number(const struct plot *p, uint64_t *first_ns)
{
    const struct history_entry *last = NULL;
    const uint64_t since = p->before ? p->before->number : 0;
    for (uint32_t i = 0; i < p->step_count; i++) {
        const struct history_entry *e = p->steps[i];
        if (e->number < since) continue;
        if (e->number > p->end->number) break;
        const bool begins = p->before ? is_cause(e, p->before->who) || is_vote_for(e, p->after)
                                      : e->group && is_told(p->c, e) && p->end->at_ns - e->at_ns < BEFORE_NS;
        if (begins) {
            if (brings(last, e)) e = last;
            *first_ns = e->at_ns;
            return e->number;
        }
        last = e;
    }
    *first_ns = p->end->at_ns;
    return p->end->number;
}

/* ---- Telling ---- */

static bool is_again(const struct history_entry *a, const struct history_entry *b)
{
    return a->what == b->what && a->what != HISTORY_LEADER && a->what != HISTORY_WRITTEN &&
           a->note == b->note && a->who == b->who && a->whom == b->whom && a->token == b->token &&
           a->more == b->more && a->by == b->by && a->flags == b->flags;
}

/* Whether a step repeats an earlier one, or says what it implies. */
static bool is_said(struct history_entry *said, const struct history_entry *e)
{
    const int before = history_quorum_note(said), now = history_quorum_note(e);
    if (is_again(said, e)) {
        if (said->times < UINT16_MAX) said->times++;
        return true;
    }
    if (before == QUORUM_PUSHES && now == QUORUM_GRANTS)
        return said->token == e->token && said->more == e->more;
    return before == QUORUM_WINS && e->what == HISTORY_LEADER && said->token == e->token;
}

/* Adds a step, or counts a repetition. If there are too many, drops one from the middle: beginning and end
 * matter more. */
static void tell(struct history_story *story, const struct history_entry *e)
{
    for (uint32_t i = 0; i < story->count; i++)
        if (is_said(&story->steps[i], e)) return;
    if (story->count == HISTORY_STORY_MAX) {
        struct history_entry *middle = &story->steps[HISTORY_STORY_MAX / 2];
        memmove(middle, middle + 1, (HISTORY_STORY_MAX / 2 - 1) * sizeof *middle);
        story->count--;
        story->left_out++;
    }
    story->steps[story->count++] = *e;
}

/* Without a next leader: what happens long after the last one was lost has another cause. */
static bool is_over(const struct plot *p, const struct history_entry *e)
{
    return !p->after && e->at_ns > p->end->at_ns && e->at_ns - p->end->at_ns > WITHOUT_NS;
}

static bool is_in(const struct plot *p, const struct history_entry *e, uint64_t first, uint64_t first_ns)
{
    if (!is_told(p->c, e) || is_over(p, e)) return false;
    if (e->number < first && !(p->before && e->number > p->before->number && e->at_ns > first_ns)) return false;
    if (!p->after || e->number < p->after->number) return true;
    return is_aftermath(e) && e->at_ns - p->after->at_ns < AFTERWARDS_NS;
}

/* Merges both rings by the order of events. */
static void tell_all(const struct plot *p, struct history_story *story, uint64_t first)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i <= p->step_count; i++) {
        const struct history_entry *e = i < p->step_count ? p->steps[i] : NULL;
        for (; next < p->change_count; next++) {
            const struct history_entry *change = p->changes[next];
            if (e && change->number > e->number) break;
            const bool is_later = p->after && change->number > p->after->number;
            if (change->number >= p->end->number && !is_later && !is_over(p, change)) tell(story, change);
        }
        if (e && is_in(p, e, first, story->first_ns)) tell(story, e);
    }
}

/* Silence is noted when it is noticed, with the time at which it began. Of one time, the order stays. */
static void sort_by_time(struct history_story *story)
{
    for (uint32_t i = 1; i < story->count; i++) {
        const struct history_entry moved = story->steps[i];
        uint32_t to = i;
        for (; to > 0 && story->steps[to - 1].at_ns > moved.at_ns; to--)
            story->steps[to] = story->steps[to - 1];
        story->steps[to] = moved;
    }
    if (story->count) story->first_ns = story->steps[0].at_ns;
}

static void describe(const struct plot *p, struct history_story *story)
{
    const struct history_entry *before = p->before, *after = p->after;
    if (before) {
        const uint64_t lost_at = history_lost_at(p->end);
        story->before =
            (struct history_tenure){.leader = before->who,
                                    .token = before->token,
                                    .began_ns = p->first->at_ns,
                                    .ended_ns = lost_at > p->first->at_ns ? lost_at : p->first->at_ns,
                                    .nobody_ns = UINT64_MAX,
                                    .began = p->first->began,
                                    .ended = p->end->ended,
                                    .is_led_at_most = history_is_by_start(p->end)};
        if (after && after->ended > p->end->ended) story->before.ended = after->ended;
        history_correct(p->c, p->group, &story->before, EL_NOBODY);
    }
    if (after) {
        story->after = (struct history_tenure){.leader = after->who,
                                               .token = after->token,
                                               .began_ns = after->at_ns,
                                               .nobody_ns = after->nobody_ns,
                                               .began = after->began};
        history_correct(p->c, p->group, &story->after, before ? before->who : EL_NOBODY);
        if (before) history_clip(&story->before, &story->after);
    }
}

bool history_tell(const struct history *c, uint64_t group, struct history_story *story)
{
    struct plot p;
    *story = (struct history_story){0};
    p.c = c;
    p.group = group;
    p.before = p.first = p.end = p.after = NULL;
    p.change_count = history_collect(&c->changes, group, false, p.changes);
    p.step_count = history_collect(&c->steps, group, true, p.steps);
    if (!find_plot(&p)) return false;
    const uint64_t first = first_number(&p, &story->first_ns);
    describe(&p, story);
    if (p.before && p.end->ended == HISTORY_LOST_SIGHT && p.end->more < p.end->at_ns) {
        const uint64_t heard_at = p.end->at_ns - p.end->more;
        if (heard_at < story->first_ns) story->first_ns = heard_at;
        tell(story, &(struct history_entry){
                        .what = HISTORY_LAST_HEARD, .at_ns = heard_at, .who = p.before->who, .times = 1});
    }
    tell_all(&p, story, first);
    sort_by_time(story);
    story->first_ns -= c->shift;
    for (uint32_t i = 0; i < story->count; i++) story->steps[i].at_ns -= c->shift;
    history_unshift(c, &story->before);
    history_unshift(c, &story->after);
    return true;
}
