/*
 * The single-decree synod. A proposer opens a ballot (Prepare); acceptors promise to ignore lower ones and
 * report their last vote (Promise). With a majority of promises the proposer asks all to accept a value
 * (Accept): the value of the highest ballot reported, or its own if there was none. A majority of Accepted
 * decides.
 *
 * Reference: L. Lamport, The part-time parliament, ACM TOCS 16(2), 1998, section 2.3; Paxos made simple,
 * 2001. Deviation: acceptors send refusals (Nack), which tell the proposer which ballot to exceed. The
 * proposer is an acceptor too: it saves its own votes before it sends anything, which also keeps its ballots
 * unique for ever.
 */
#include "algorithms/majority/synod.h"

#include "algorithms/majority/ballot.h"

static void save(const struct synod *me, struct el_outbox *out)
{
    el_save(out, (struct el_durable){me->instance, {me->promised, me->accepted, me->value}});
}

static struct el_msg about(const struct synod *me, uint8_t kind, uint64_t ballot, el_node value)
{
    return (struct el_msg){.kind = kind, .subject = value, .epoch = me->instance, .aux = ballot};
}

void synod_enter(struct synod *me, uint64_t instance)
{
    me->instance = instance;
    me->promised = me->accepted = 0;
    me->value = EL_NOBODY;
    me->phase = SYNOD_RESTING;
}

bool synod_makes_sense(const struct el_config *cfg, const struct el_msg *m)
{
    const bool can_lead = el_may_lead(cfg->cluster, m->subject);
    const bool owned = m->aux < EL_EPOCH_MAX && ballot_is_of(cfg, m->aux, m->from);
    switch (m->kind) {
    case SYNOD_PREPARE: return owned;
    case SYNOD_PROMISE: return m->more == 0 || (m->more <= m->aux && can_lead);
    case SYNOD_ACCEPT: return owned && can_lead;
    case SYNOD_ACCEPTED: return true;
    default: return m->more < EL_EPOCH_MAX;
    }
}

/* ---- The proposer ---- */

static bool has_majority(const uint64_t *answers, const struct el_config *cfg)
{
    return el_set_size(answers, cfg->cluster->count) >= el_majority(cfg);
}

/* Our own vote is the first of each phase, and is saved before any message mentions it. */
static void begin(struct synod *me, uint64_t *answers, const struct el_config *cfg, uint32_t phase,
                  struct el_outbox *out)
{
    me->phase = phase;
    el_set_clear(answers, cfg->cluster->count);
    el_set_add(answers, cfg->self);
    save(me, out);
}

static enum synod_result ask_to_accept(struct synod *me, uint64_t *answers, const struct el_config *cfg,
                                       struct el_outbox *out)
{
    el_note(out, me->best ? SYNOD_FINDS : SYNOD_STANDS, me->choice, 0);
    me->accepted = me->ballot;
    me->value = me->choice;
    begin(me, answers, cfg, SYNOD_ACCEPTING, out);
    mesh_send_others(cfg, about(me, SYNOD_ACCEPT, me->ballot, me->choice), EL_NOBODY, out);
    return has_majority(answers, cfg) ? SYNOD_DECIDED : SYNOD_NOTHING;
}

enum synod_result synod_open(struct synod *me, uint64_t *answers, const struct el_config *cfg, uint64_t ballot,
                             struct el_outbox *out)
{
    el_note(out, SYNOD_OPENS, ballot, me->instance);
    me->ballot = me->promised = ballot;
    me->best = me->accepted;
    me->choice = me->accepted ? me->value : cfg->self;
    begin(me, answers, cfg, SYNOD_PREPARING, out);
    mesh_send_others(cfg, about(me, SYNOD_PREPARE, ballot, cfg->self), EL_NOBODY, out);
    return has_majority(answers, cfg) ? ask_to_accept(me, answers, cfg, out) : SYNOD_NOTHING;
}

/* A promise counts in the first phase only, an acceptance in the second only, and each voter counts once. */
static bool counts(const struct synod *me, uint64_t *answers, const struct el_msg *m, uint32_t phase,
                   struct el_outbox *out)
{
    if (me->phase != phase || m->aux != me->ballot) {
        el_note(out, SYNOD_STALE, m->from, 0);
        return false;
    }
    el_set_add(answers, m->from);
    return true;
}

static enum synod_result on_promise(struct synod *me, uint64_t *answers, const struct el_config *cfg,
                                    const struct el_msg *m, struct el_outbox *out)
{
    if (!counts(me, answers, m, SYNOD_PREPARING, out)) return SYNOD_NOTHING;
    if (m->more > me->best) {
        me->best = m->more;
        me->choice = m->subject;
    }
    return has_majority(answers, cfg) ? ask_to_accept(me, answers, cfg, out) : SYNOD_NOTHING;
}

static enum synod_result on_accepted(struct synod *me, uint64_t *answers, const struct el_config *cfg,
                                     const struct el_msg *m, struct el_outbox *out)
{
    if (!counts(me, answers, m, SYNOD_ACCEPTING, out)) return SYNOD_NOTHING;
    return has_majority(answers, cfg) ? SYNOD_DECIDED : SYNOD_NOTHING;
}

/* While our ballot is open, it is what we promised. So this raises the promise. */
static enum synod_result on_nack(struct synod *me, const struct el_msg *m, struct el_outbox *out)
{
    if (me->phase == SYNOD_RESTING || m->aux != me->ballot || m->more <= me->ballot) {
        el_note(out, SYNOD_STALE, m->from, 0);
        return SYNOD_NOTHING;
    }
    el_note(out, SYNOD_REFUSED, m->from, m->more);
    me->phase = SYNOD_RESTING;
    me->promised = m->more;
    return SYNOD_NOTHING;
}

/* ---- The acceptor ---- */

void synod_refuse(const struct synod *me, const struct el_config *cfg, const struct el_msg *m,
                  struct el_outbox *out)
{
    struct el_msg nack = about(me, SYNOD_NACK, m->aux, cfg->self);
    nack.more = me->promised;
    el_send(out, cfg, m->from, nack);
}

/* True if it may vote in this ballot; from then on it ignores lower ones, its own included. */
static bool promise(struct synod *me, const struct el_config *cfg, const struct el_msg *m,
                    struct el_outbox *out)
{
    if (me->forgot) {
        el_note(out, SYNOD_FORGOT, 0, 0);
        return false;
    }
    if (m->aux < me->promised) {
        el_note(out, SYNOD_REFUSES, m->from, me->promised);
        synod_refuse(me, cfg, m, out);
        return false;
    }
    if (me->phase != SYNOD_RESTING) el_note(out, SYNOD_GIVES_WAY, m->from, 0);
    me->phase = SYNOD_RESTING;
    me->promised = m->aux;
    return true;
}

static enum synod_result on_prepare(struct synod *me, const struct el_config *cfg, const struct el_msg *m,
                                    struct el_outbox *out)
{
    if (!promise(me, cfg, m, out)) return SYNOD_NOTHING;
    el_note(out, SYNOD_PROMISES, m->from, m->aux);
    save(me, out);
    struct el_msg given = about(me, SYNOD_PROMISE, m->aux, me->accepted ? me->value : cfg->self);
    given.more = me->accepted;
    el_send(out, cfg, m->from, given);
    return SYNOD_VOTED;
}

static enum synod_result on_accept(struct synod *me, const struct el_config *cfg, const struct el_msg *m,
                                   struct el_outbox *out)
{
    if (!promise(me, cfg, m, out)) return SYNOD_NOTHING;
    el_note(out, SYNOD_ACCEPTS, m->subject, m->aux);
    me->accepted = m->aux;
    me->value = m->subject;
    save(me, out);
    el_send(out, cfg, m->from, about(me, SYNOD_ACCEPTED, m->aux, m->subject));
    return SYNOD_VOTED;
}

enum synod_result synod_hear(struct synod *me, uint64_t *answers, const struct el_config *cfg,
                             const struct el_msg *m, struct el_outbox *out)
{
    switch (m->kind) {
    case SYNOD_PREPARE: return on_prepare(me, cfg, m, out);
    case SYNOD_PROMISE: return on_promise(me, answers, cfg, m, out);
    case SYNOD_ACCEPT: return on_accept(me, cfg, m, out);
    case SYNOD_ACCEPTED: return on_accepted(me, answers, cfg, m, out);
    default: return on_nack(me, m, out);
    }
}
