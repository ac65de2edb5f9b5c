/*
 * The voter's side of a decision (M3): promise a ballot above every one it has promised, and vote unless it has promised
 * a higher one. Ballot and vote are on disk before the answer leaves.
 *
 * Reference: L. Lamport, Paxos made simple, 2001.
 */
#include "algorithms/members/decision.h"

bool decision_takes_part(const struct decision *me, const struct el_config *cfg)
{
    return decision_is_voter(me->record, cfg->self) && me->speaks_from == 0;
}

/* M2: a voter of record v decides on v + 1 once it has installed v. A proposer that is behind is told. */
static bool may_answer(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    if (m->epoch <= me->version) {
        if (m->kind == DECISION_PREPARE) decision_tell(me, cfg, m->from, out);
        return false;
    }
    if (m->epoch > me->version + 1) {
        el_note(out, DECISION_BEHIND, m->from, m->epoch - 1);
        decision_want(me, cfg, m->from, out);
        return false;
    }
    const bool takes_part = decision_takes_part(me, cfg);
    if (!takes_part) el_note(out, DECISION_KEEPS_OUT, m->from, 0);
    return takes_part;
}

/* It gives way to another's ballot; its own is over. */
static void follow(struct decision *me, uint64_t ballot)
{
    decision_rest(me);
    me->promised = ballot;
}

void decision_on_prepare(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                         struct el_outbox *out)
{
    if (!may_answer(me, cfg, m, out)) return;
    if (m->aux <= me->promised) {
        el_note(out, DECISION_REFUSES, m->from, me->promised);
        return;
    }
    el_note(out, DECISION_PROMISES, m->from, m->aux);
    follow(me, m->aux);
    decision_save(me, out);
    struct el_msg promise = {
        .kind = DECISION_PROMISE, .subject = cfg->self, .epoch = m->epoch, .aux = m->aux, .more = me->accepted};
    promise.extra[0] = me->value;
    el_send(out, cfg, m->from, promise);
}

/* A vote is given once: if it is lost on its way, the proposer's next ballot finds it. */
void decision_on_accept(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    if (!may_answer(me, cfg, m, out)) return;
    if (m->aux < me->promised || m->aux == me->accepted) {
        el_note(out, DECISION_REFUSES, m->from, me->promised);
        return;
    }
    el_note(out, DECISION_VOTES, m->from, m->aux);
    follow(me, m->aux);
    me->accepted = m->aux;
    me->value = m->more;
    decision_save(me, out);
    el_send(out, cfg, m->from,
            (struct el_msg){.kind = DECISION_ACCEPTED, .subject = cfg->self, .epoch = m->epoch, .aux = m->aux});
}
