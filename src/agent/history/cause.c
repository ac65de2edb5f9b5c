/* The last change of leaders as a story: from its first cause on, a step for each thing that mattered. */
#include <string.h>

#include "agent/history/internal.h"
#include "algorithms/quorum/quorum.h"

static const uint64_t AFTERWARDS_NS = 50000000, BEFORE_NS = 5000000000, WITH_IT_NS = 1000000;

/* What a story is made from: the change, and how it stood before. */
struct plot {
    const struct chronicle *c;
    uint64_t group;
    const struct chronicle_entry *before; /* its leader was seen to lead; NULL: there was none */
    const struct chronicle_entry *first;  /* for the first time */
    const struct chronicle_entry *end;    /* it leads no more, as was seen first */
    const struct chronicle_entry *after;  /* the next began; NULL: not yet */
};

/* ---- What matters ---- */

/* What ends a tenure, if nothing else does. */
static bool is_cause(const struct chronicle_entry *e, el_node leader)
{
    switch (e->what) {
    case CHRONICLE_GONE:
    case CHRONICLE_RESIGNED:
    case CHRONICLE_EXPELLED:
    case CHRONICLE_ASKED_TO_TRANSFER:
    case CHRONICLE_ASKED_TO_RESIGN:
    case CHRONICLE_ASKED_TO_LEAVE: return true;
    default: break;
    }
    switch (chronicle_quorum_note(e)) {
    case QUORUM_WOULD_HAND_OVER:
    case QUORUM_RESIGNS:
    case QUORUM_HANDS_OVER:
    case QUORUM_LAPSES:
    case QUORUM_IS_DEPOSED: return true;
    case QUORUM_IS_RELEASED:
    case QUORUM_IS_PROVED_FREE:
    case QUORUM_BURIES: return e->token == leader;
    default: return false;
    }
}

/* What goes on in the best of times is left out, and what a member says to itself. */
static bool is_told(const struct chronicle *c, const struct chronicle_entry *e)
{
    switch (chronicle_quorum_note(e)) {
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

/* After the election only what completes it. */
static bool is_aftermath(const struct chronicle_entry *e)
{
    return e->what == CHRONICLE_HEARD || e->what == CHRONICLE_TOLD_ELECTED;
}

/* ---- Which change ---- */

static bool is_same_tenure(const struct chronicle_entry *a, const struct chronicle_entry *b)
{
    return a && a->who == b->who && a->token == b->token;
}

/* From the newest back. Who was out of sight for a while, and is back in the same term, has led on. */
static bool find_plot(struct plot *p)
{
    const struct chronicle_ring *changes = &p->c->changes;
    for (uint32_t i = chronicle_held(changes); i > 0; i--) {
        const struct chronicle_entry *e = chronicle_at(changes, i - 1);
        if (e->group != p->group) continue;
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

/* A vote that came with the news belongs to it. */
static bool brings(const struct chronicle_entry *vote, const struct chronicle_entry *e)
{
    return vote && vote->what == CHRONICLE_HEARD && e->at_ns - vote->at_ns < WITH_IT_NS;
}

static uint64_t first_number(const struct plot *p, uint64_t *first_ns)
{
    const struct chronicle_ring *steps = &p->c->steps;
    const struct chronicle_entry *last = NULL;
    const uint64_t since = p->before ? p->before->number : 0;
    for (uint32_t i = 0; i < chronicle_held(steps); i++) {
        const struct chronicle_entry *e = chronicle_at(steps, i);
        if (e->number < since || !chronicle_is_of(e, p->group)) continue;
        if (e->number > p->end->number) break;
        const bool begins = p->before ? is_cause(e, p->before->who)
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

static bool is_again(const struct chronicle_entry *a, const struct chronicle_entry *b)
{
    return a->what == b->what && a->what != CHRONICLE_LEADER && a->what != CHRONICLE_WRITTEN &&
           a->note == b->note && a->who == b->who && a->whom == b->whom && a->token == b->token &&
           a->more == b->more && a->by == b->by && a->flags == b->flags;
}

/* What the step before has said already, or the same step earlier on. */
static bool is_said(struct chronicle_entry *said, const struct chronicle_entry *e)
{
    const int before = chronicle_quorum_note(said), now = chronicle_quorum_note(e);
    if (is_again(said, e)) {
        if (said->times < UINT16_MAX) said->times++;
        return true;
    }
    if (before == QUORUM_PUSHES && now == QUORUM_GRANTS)
        return said->token == e->token && said->more == e->more;
    return before == QUORUM_WINS && e->what == CHRONICLE_LEADER && said->token == e->token;
}

/* One line for what comes again and again. The beginning and the end matter more than the middle. */
static void tell(struct chronicle_story *story, const struct chronicle_entry *e)
{
    for (uint32_t i = 0; i < story->count; i++)
        if (is_said(&story->steps[i], e)) return;
    if (story->count == CHRONICLE_STORY_MAX) {
        struct chronicle_entry *middle = &story->steps[CHRONICLE_STORY_MAX / 2];
        memmove(middle, middle + 1, (CHRONICLE_STORY_MAX / 2 - 1) * sizeof *middle);
        story->count--;
        story->left_out++;
    }
    story->steps[story->count++] = *e;
}

static bool is_in(const struct plot *p, const struct chronicle_entry *e, uint64_t first, uint64_t first_ns)
{
    if (!chronicle_is_of(e, p->group) || !is_told(p->c, e)) return false;
    if (e->number < first && !(p->before && e->number > p->before->number && e->at_ns > first_ns)) return false;
    if (!p->after || e->number < p->after->number) return true;
    return is_aftermath(e) && e->at_ns - p->after->at_ns < AFTERWARDS_NS;
}

/* Both rings in the order of what happened. */
static void tell_all(const struct plot *p, struct chronicle_story *story, uint64_t first)
{
    const struct chronicle_ring *steps = &p->c->steps, *changes = &p->c->changes;
    uint32_t next = 0;
    for (uint32_t i = 0; i <= chronicle_held(steps); i++) {
        const struct chronicle_entry *e = i < chronicle_held(steps) ? chronicle_at(steps, i) : NULL;
        for (; next < chronicle_held(changes); next++) {
            const struct chronicle_entry *change = chronicle_at(changes, next);
            if (e && change->number > e->number) break;
            const bool is_later = p->after && change->number > p->after->number;
            if (change->group == p->group && change->number >= p->end->number && !is_later) tell(story, change);
        }
        if (e && is_in(p, e, first, story->first_ns)) tell(story, e);
    }
}

static void describe(const struct plot *p, struct chronicle_story *story)
{
    const struct chronicle_entry *before = p->before, *after = p->after;
    if (before) {
        story->before = (struct chronicle_tenure){.leader = before->who,
                                                  .token = before->token,
                                                  .began_ns = p->first->at_ns,
                                                  .ended_ns = p->end->at_ns,
                                                  .began = p->first->began,
                                                  .ended = p->end->ended};
        if (after && after->ended > p->end->ended) story->before.ended = after->ended;
    }
    if (after)
        story->after =
            (struct chronicle_tenure){.leader = after->who,
                                      .token = after->token,
                                      .began_ns = after->at_ns,
                                      .nobody_ns = before ? after->at_ns - p->end->at_ns : UINT64_MAX,
                                      .began = after->began};
}

bool chronicle_tell(const struct chronicle *c, uint64_t group, struct chronicle_story *story)
{
    struct plot p = {.c = c, .group = group};
    *story = (struct chronicle_story){0};
    if (!find_plot(&p)) return false;
    const uint64_t first = first_number(&p, &story->first_ns);
    describe(&p, story);
    if (p.before && p.end->ended == CHRONICLE_LOST_SIGHT && p.end->more < p.end->at_ns) {
        const uint64_t heard_at = p.end->at_ns - p.end->more;
        if (heard_at < story->first_ns) story->first_ns = heard_at;
        tell(story, &(struct chronicle_entry){
                        .what = CHRONICLE_LAST_HEARD, .at_ns = heard_at, .who = p.before->who, .times = 1});
    }
    tell_all(&p, story, first);
    return true;
}
