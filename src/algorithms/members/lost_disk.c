/*
 * A voter whose disk was lost (M5). It may have promised and voted on records that it no longer knows. So it first asks
 * n - q + 1 other voters which record is the last (M14), and takes no part before it has installed a version two above
 * that one: its earlier life can have taken part in the next two at most.
 *
 * Of two voters the other one is in every majority, and waiting would be for ever. So the one copies what the other
 * promised and voted for. A ballot of its earlier life may then still be open, which is why it first keeps silent for
 * longer than any ballot lasts.
 */
#include "algorithms/members/decision.h"

void decision_keep_silent(struct decision *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration silence = el_number(cfg, DECISION_SILENT);
    me->silent = true;
    el_arm(out, DECISION_SILENCE, 0, silence, silence);
}

/* Asked are the voters of its record: n - q + 1 of them must answer, so that every majority has one among them. */
void decision_ask(struct decision *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration wait = el_number(cfg, DECISION_BALLOT);
    if (me->speaks_from == DECISION_LEARNING) me->answers = 0;
    el_arm(out, DECISION_ASK, 0, wait, wait);
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (peer != cfg->self && decision_is_voter(me->record, peer)) decision_want(me, cfg, peer, out);
}

void decision_on_silence(struct decision *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->silent = false;
    decision_ask(me, cfg, out);
}

static bool is_one_of_two(const struct decision *me, const struct el_config *cfg, el_node other)
{
    return decision_voters(me->record) == (el_bit(cfg->self) | el_bit(other));
}

static void copy(struct decision *me, const struct el_msg *m, struct el_outbox *out)
{
    el_note(out, DECISION_COPIES, m->from, 0);
    me->promised = m->extra[0];
    me->accepted = m->extra[1];
    me->value = m->extra[2];
    me->speaks_from = 0;
    el_disarm(out, DECISION_ASK, 0);
    decision_save(me, out);
}

static bool has_learned(const struct decision *me)
{
    const uint64_t voters = decision_voters(me->record);
    const uint32_t needed = decision_size(voters) - decision_majority(me->record) + 1;
    return decision_size(me->answers & voters) >= needed;
}

void decision_on_answer(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    if (me->speaks_from == 0 || me->silent || m->rank != me->life) {
        el_note(out, DECISION_STALE, m->from, 0);
        return;
    }
    const bool was_learning = me->speaks_from == DECISION_LEARNING;
    if (was_learning) {
        me->answers |= el_bit(m->from);
        if (!has_learned(me)) return;
        me->speaks_from = me->version + 2;
        me->answers = 0;
        el_note(out, DECISION_LEARNED, me->version, me->speaks_from);
    }
    const bool may_copy = m->epoch == me->version && !(m->flags & DECISION_IS_MUTE);
    if (may_copy && is_one_of_two(me, cfg, m->from)) {
        copy(me, m, out);
    } else if (was_learning) {
        decision_save(me, out);
        decision_ask(me, cfg, out);
    }
}
