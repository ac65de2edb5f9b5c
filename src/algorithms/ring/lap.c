/* Two laps around the ring: the first gathers, the second announces. */
#include "algorithms/ring/lap.h"

const char *const lap_kinds[LAP_KINDS + 1] = {NULL, "Elect", "Elected"};

const struct el_note_text lap_notes[LAP_NOTES] = {LAP_NOTE_LIST(EL_NOTE_TEXT)};

const struct el_weakness lap_breaks[LAP_BREAKS] = {
    {EL_UNNOTICED, EL_DEAD_LEADER | EL_DISAGREEMENT | EL_NO_LEADER,
     "a leader that dies unnoticed stays elected, and a lap is lost with the process that carries it"},
    {EL_CRASHES, EL_NO_LEADER | EL_NOT_BEST,
     "a call is lost with its caller, if its first hop finds a dead neighbour"},
    {EL_LOSSES | EL_DUPLICATES | EL_REORDERS,
     EL_NO_LEADER | EL_DISAGREEMENT | EL_NOT_BEST | EL_DEAD_LEADER | EL_TWO_LEADERS,
     "a lost message ends its lap, and the processes behind it never learn the result"},
    {EL_PARTITIONS | EL_FALSE_SUSPICIONS | EL_RESTARTS, EL_ALL_WRONG,
     "each part of a cut ring skips the other part and elects its own leader"},
};

static void settle(struct lap *me, uint64_t number, el_node closer, el_node leader)
{
    me->number = number;
    me->closer = closer;
    me->leader = leader;
    me->electing = false;
}

static void pass(struct lap *me, const struct el_config *cfg, el_node after, struct el_msg msg,
                 struct el_outbox *out)
{
    if (ring_send(me->gone, cfg, after, msg, out)) return;
    el_note(out, LAP_ALONE, 0, 0);
    settle(me, msg.epoch, cfg->self, cfg->self);
}

void lap_join(struct lap *me, const struct el_config *cfg, struct el_msg msg, struct el_outbox *out)
{
    if (msg.epoch <= me->number) msg.epoch = me->number + 1;
    me->leader = EL_NOBODY;
    me->electing = true;
    pass(me, cfg, cfg->self, msg, out);
}

static void call_election(struct lap *me, const struct el_config *cfg, struct el_outbox *out)
{
    const struct el_msg first = {.kind = LAP_ELECT,
                                 .subject = cfg->self,
                                 .rank = el_rank_of(cfg->cluster, cfg->self).attribute,
                                 .aux = me->collects ? el_bit(cfg->self) : 0,
                                 .more = cfg->self};
    lap_join(me, cfg, first, out);
}

void lap_close(struct lap *me, const struct el_config *cfg, uint64_t number, el_node leader,
               struct el_outbox *out)
{
    if (el_ring_gone(cfg, me->gone, leader)) {
        el_note(out, LAP_LEADER_GONE, leader, 0);
        call_election(me, cfg, out);
        return;
    }
    el_note(out, LAP_CLOSES, leader, 0);
    settle(me, number, cfg->self, leader);
    const struct el_msg news = {.kind = LAP_ELECTED,
                                .subject = leader,
                                .rank = el_rank_of(cfg->cluster, leader).attribute,
                                .epoch = number,
                                .more = cfg->self};
    pass(me, cfg, cfg->self, news, out);
}

bool lap_well_formed(const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    if (m->more >= 1 && m->more <= cfg->cluster->count) return true;
    el_note(out, LAP_MALFORMED, 0, 0);
    return false;
}

static bool older(const struct lap *me, const struct el_config *cfg, const struct el_msg *m)
{
    if (m->epoch != me->number) return m->epoch < me->number;
    return me->closer != EL_NOBODY && el_id(cfg->cluster, (el_node)m->more) < el_id(cfg->cluster, me->closer);
}

void lap_on_elected(struct lap *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    if (m->epoch == me->number && m->more == me->closer) {
        el_note(out, LAP_STOPS, 0, 0); /* we sent it, or its sender is gone and we have seen it before */
    } else if (older(me, cfg, m)) {
        el_note(out, LAP_OUTDATED, m->subject, 0);
    } else if (el_ring_gone(cfg, me->gone, m->subject)) {
        el_note(out, LAP_LEADER_GONE, m->subject, 0);
        me->number = m->epoch;
        call_election(me, cfg, out);
    } else if (el_rank_above(el_rank_of(cfg->cluster, cfg->self), el_claimed_rank(cfg, m))) {
        el_note(out, LAP_OBJECTS, m->subject, 0);
        me->number = m->epoch;
        call_election(me, cfg, out);
    } else {
        el_note(out, LAP_LEARNS, m->subject, 0);
        settle(me, m->epoch, (el_node)m->more, m->subject);
        pass(me, cfg, cfg->self, *m, out);
    }
}

void lap_on_unsent(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    el_note(out, LAP_SKIPS, m->to, 0);
    pass(state, cfg, m->to, *m, out);
}

void lap_on_start(void *state, const struct el_config *cfg, const struct el_start *start, struct el_outbox *out)
{
    struct lap *me = state;
    me->leader = start->incumbent;
    if (start->how != EL_FRESH) call_election(me, cfg, out);
}

void lap_on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct lap *me = state;
    me->gone = el_ring_mark(cfg, me->gone, peer, true);
    if (peer != me->leader && !me->electing) return; /* else the lap may be lost with the peer */
    el_note(out, LAP_STARTS_OVER, peer, 0);
    call_election(me, cfg, out);
}

/* The returning peer asked for an election while we suspected it, and got no answer: tell it who leads. */
void lap_on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct lap *me = state;
    me->gone = el_ring_mark(cfg, me->gone, peer, false);
    if (me->leader == EL_NOBODY || el_ring_next(cfg, me->gone, cfg->self) != peer) return;
    const struct el_msg news = {.kind = LAP_ELECTED,
                                .subject = me->leader,
                                .rank = el_rank_of(cfg->cluster, me->leader).attribute,
                                .epoch = me->number,
                                .more = me->closer != EL_NOBODY ? me->closer : cfg->self};
    el_send(out, cfg, peer, news);
}

void lap_on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    call_election(state, cfg, out);
}

void lap_view(const void *state, const struct el_config *cfg, struct el_view *view)
{
    const struct lap *me = state;
    el_view_of(view, cfg, me->leader, me->electing, me->number);
}
