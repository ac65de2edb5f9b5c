/*
 * Installing what was decided (M6): any record with a higher number, whatever lies between. It is on disk before a word
 * is said that bears it, and nobody goes back.
 *
 * The machine asks for a later record when it starts, and when a message names one. It does not beat: its host tells the
 * number with every beat, and asks for it (decision_want) when it hears of a higher one.
 */
#include "algorithms/members/decision.h"

/* M5: what is installed while the member still learns does not end its muteness. */
static void end_muteness(struct decision *me, struct el_outbox *out)
{
    if (me->speaks_from == 0 || me->speaks_from == DECISION_LEARNING || me->version < me->speaks_from) return;
    el_note(out, DECISION_SPEAKS, me->version, 0);
    me->speaks_from = 0;
}

/* Whether its own wish is carried out: it knows that of the very next record only. */
static void judge_wish(struct decision *me, const struct el_config *cfg, uint64_t version, uint64_t record,
                       struct el_outbox *out)
{
    if (!me->wish) return;
    const bool is_next = version == me->version + 1;
    if (is_next && record != decision_result(me->record, me->wish, cfg->self)) return;
    el_note(out, is_next ? DECISION_DONE : DECISION_UNKNOWN, version, 0);
    me->wish = 0;
}

void decision_install(struct decision *me, const struct el_config *cfg, uint64_t version, uint64_t record,
                      struct el_outbox *out)
{
    judge_wish(me, cfg, version, record, out);
    el_note(out, DECISION_INSTALLS, version, decision_size(decision_voters(record)));
    me->version = version;
    me->record = record;
    me->promised = me->accepted = me->value = 0;
    decision_rest(me);
    me->tries = 0;
    if (me->owed <= me->version) me->owed = 0;
    end_muteness(me, out);
    if (me->speaks_from == 0) el_disarm(out, DECISION_ASK, 0);
    decision_save(me, out);
    decision_go_on(me, cfg, out);
}

void decision_tell(const struct decision *me, const struct el_config *cfg, el_node to, struct el_outbox *out)
{
    el_note(out, DECISION_TELLS, to, me->version);
    el_send(out, cfg, to,
            (struct el_msg){
                .kind = DECISION_RECORD, .subject = cfg->self, .epoch = me->version, .more = me->record});
}

void decision_tell_all(const struct decision *me, const struct el_config *cfg, struct el_outbox *out)
{
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (peer != cfg->self)
            el_send(
                out, cfg, peer,
                (struct el_msg){
                    .kind = DECISION_RECORD, .subject = cfg->self, .epoch = me->version, .more = me->record});
}

void decision_want(const struct decision *me, const struct el_config *cfg, el_node from, struct el_outbox *out)
{
    struct el_msg want = {.kind = DECISION_WANT, .subject = cfg->self, .epoch = me->version, .rank = me->life};
    if (me->speaks_from == DECISION_LEARNING) want.flags = DECISION_ASKS;
    if (me->speaks_from && me->speaks_from != DECISION_LEARNING) {
        want.flags = DECISION_ASKS | DECISION_IS_MUTE;
        want.more = me->speaks_from;
    }
    el_send(out, cfg, from, want);
}

/* The answer to a member that lost its disk: what it may rely on, from one that knows what it missed itself. */
static void answer(const struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                   struct el_outbox *out)
{
    if (me->speaks_from == DECISION_LEARNING) return;
    struct el_msg record = {.kind = DECISION_RECORD,
                            .flags = DECISION_ANSWERS | (me->speaks_from ? DECISION_IS_MUTE : 0),
                            .subject = cfg->self,
                            .epoch = me->version,
                            .rank = m->rank,
                            .more = me->record};
    if (decision_voters(me->record) == (el_bit(cfg->self) | el_bit(m->from))) {
        record.extra[0] = me->promised; /* for a copy */
        record.extra[1] = me->accepted;
        record.extra[2] = me->value;
    }
    el_send(out, cfg, m->from, record);
}

/* M5, M20: two more records end the muteness of a voter; who was asked to propose makes them. */
static void owe(struct decision *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    const bool is_voter = decision_is_voter(me->record, m->from);
    if (!(m->flags & DECISION_IS_MUTE) || m->more <= me->version || m->more <= me->owed) return;
    if (!me->steward || !is_voter || !decision_takes_part(me, cfg)) return;
    el_note(out, DECISION_OWES, m->from, m->more);
    const bool was_idle = !me->wish && me->owed <= me->version;
    me->owed = m->more;
    if (was_idle) me->tries = 0;
    if (was_idle) decision_go_on(me, cfg, out);
}

void decision_on_want(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    if (m->epoch > me->version) decision_want(me, cfg, m->from, out);
    if (m->flags & DECISION_ASKS)
        answer(me, cfg, m, out);
    else if (m->epoch < me->version)
        decision_tell(me, cfg, m->from, out);
    owe(me, cfg, m, out);
}

void decision_on_record(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    if (m->epoch > me->version) {
        decision_install(me, cfg, m->epoch, m->more, out);
        /* While it learns, a higher version in an answer is installed first, and the question asked anew. */
        if (me->speaks_from == DECISION_LEARNING && !me->silent) decision_ask(me, cfg, out);
    } else if (m->flags & DECISION_ANSWERS) {
        decision_on_answer(me, cfg, m, out);
    }
}
