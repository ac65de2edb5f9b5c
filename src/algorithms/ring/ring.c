/* The common part of the ring algorithms: sending clockwise, claims, and elections. */
#include "algorithms/ring/ring.h"

const struct el_note_text ring_notes[RING_NOTES] = {RING_NOTE_LIST(EL_NOTE_TEXT)};

const char *const ring_kinds[RING_KINDS + 1] = {NULL, "Election", "Elected"};

const struct el_weakness ring_breaks[RING_BREAKS] = {
    {EL_UNNOTICED, EL_ENDLESS | EL_NO_LEADER | EL_DEAD_LEADER | EL_DISAGREEMENT,
     "a claim whose owner has died circulates for ever, and a dead leader stays elected"},
    {EL_CRASHES, EL_NO_LEADER | EL_NOT_BEST,
     "a call is lost with its caller, if its first hop finds a dead neighbour"},
    {EL_LOSSES, EL_NO_LEADER | EL_DISAGREEMENT | EL_DEAD_LEADER | EL_NOT_BEST | EL_TWO_LEADERS,
     "one lost message ends the election for everybody"},
    {EL_PARTITIONS | EL_FALSE_SUSPICIONS, EL_ALL_WRONG,
     "a ring closed over live processes elects a second leader beside theirs"},
    {EL_RESTARTS | EL_DUPLICATES | EL_REORDERS, EL_ALL_WRONG,
     "messages carry no run number, so an old one is taken for a new one"},
};

bool ring_send(uint64_t gone, const struct el_config *cfg, el_node after, struct el_msg msg,
               struct el_outbox *out)
{
    const el_node next = el_ring_next(cfg, gone, after);
    if (next == cfg->self) return false;
    el_send(out, cfg, next, msg);
    return true;
}

struct ring_claim ring_own_claim(const struct el_config *cfg)
{
    return (struct ring_claim){.attribute = el_rank_of(cfg->cluster, cfg->self).attribute, .owner = cfg->self};
}

struct ring_claim ring_claim_in(const struct el_msg *m)
{
    return (struct ring_claim){.attribute = m->rank, .owner = m->subject};
}

bool ring_claim_above(const struct el_config *cfg, struct ring_claim a, struct ring_claim b)
{
    const bool a_may = el_may_lead(cfg->cluster, a.owner), b_may = el_may_lead(cfg->cluster, b.owner);
    if (a_may != b_may) return a_may;
    return el_rank_above((struct el_rank){a.attribute, el_id(cfg->cluster, a.owner)},
                         (struct el_rank){b.attribute, el_id(cfg->cluster, b.owner)});
}

struct el_msg ring_message(uint8_t kind, struct ring_claim claim)
{
    return (struct el_msg){.kind = kind, .subject = claim.owner, .rank = claim.attribute};
}

el_node ring_winner(const struct el_config *cfg, el_node owner)
{
    return el_may_lead(cfg->cluster, owner) ? owner : EL_NOBODY;
}

static void follow(struct ring *me, el_node leader)
{
    me->leader = leader;
    me->claim = EL_NOBODY;
}

static void pass(struct ring *me, const struct el_config *cfg, el_node after, struct el_msg msg,
                 struct el_outbox *out)
{
    if (ring_send(me->gone, cfg, after, msg, out)) return;
    el_note(out, RING_ALONE, 0, 0);
    follow(me, cfg->self);
}

static struct el_msg about_self(const struct el_config *cfg, uint8_t kind)
{
    return (struct el_msg){
        .kind = kind, .subject = cfg->self, .rank = el_rank_of(cfg->cluster, cfg->self).attribute};
}

void ring_stand(struct ring *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->leader = EL_NOBODY;
    me->claim = cfg->self;
    pass(me, cfg, cfg->self, about_self(cfg, RING_ELECTION), out);
}

void ring_yield(struct ring *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    el_note(out, RING_FORWARDS, m->subject, 0);
    me->leader = EL_NOBODY;
    me->claim = m->subject;
    pass(me, cfg, cfg->self, *m, out);
}

void ring_win(struct ring *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_note(out, RING_CAME_HOME, 0, 0);
    follow(me, cfg->self);
    pass(me, cfg, cfg->self, about_self(cfg, RING_ELECTED), out);
}

void ring_on_elected(struct ring *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    if (m->subject == cfg->self) return; /* our announcement completed its lap */
    if (el_rank_above(el_rank_of(cfg->cluster, cfg->self), el_claimed_rank(cfg, m))) {
        el_note(out, RING_OBJECTS, m->subject, 0); /* they elected a weaker node while we were away */
        ring_stand(me, cfg, out);
        return;
    }
    el_note(out, RING_LEARNS, m->subject, 0);
    follow(me, m->subject);
    pass(me, cfg, cfg->self, *m, out);
}

bool ring_drops(struct ring *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    if (!el_ring_gone(cfg, me->gone, m->subject)) return false;
    el_note(out, RING_IGNORES_GONE, m->subject, 0);
    if (m->kind == RING_ELECTION && me->claim == EL_NOBODY) ring_stand(me, cfg, out); /* the call is valid */
    return true;
}

void ring_on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                   struct el_outbox *out)
{
    struct ring *me = state;
    follow(me, start->incumbent);
    if (start->how != EL_FRESH) ring_stand(me, cfg, out);
}

void ring_on_unsent(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct ring *me = state;
    el_note(out, RING_SKIPS, m->to, 0);
    if (!ring_drops(me, cfg, m, out)) pass(me, cfg, m->to, *m, out);
}

void ring_on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct ring *me = state;
    me->gone = el_ring_mark(cfg, me->gone, peer, true);
    /* During an election the stronger claim that replaced ours may have been the peer's: claim again. */
    if (peer != me->leader && me->claim == EL_NOBODY) return;
    el_note(out, RING_STARTS_OVER, peer, 0);
    ring_stand(me, cfg, out);
}

/* The returning peer asked for an election, and its successor dropped the message: tell it who leads. */
void ring_on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct ring *me = state;
    me->gone = el_ring_mark(cfg, me->gone, peer, false);
    if (me->leader == EL_NOBODY || el_ring_next(cfg, me->gone, cfg->self) != peer) return;
    const struct el_msg news = {
        .kind = RING_ELECTED, .subject = me->leader, .rank = el_rank_of(cfg->cluster, me->leader).attribute};
    el_send(out, cfg, peer, news);
}

void ring_view(const void *state, const struct el_config *cfg, struct el_view *view)
{
    const struct ring *me = state;
    el_view_of(view, cfg, me->leader, me->claim != EL_NOBODY, 0);
}
