/*
 * The proposer's side of a decision (M3). It takes a ballot above all that it has seen and asks the voters to promise.
 * With a majority of promises it asks for votes: for what was voted for in the highest ballot that it was told of, and
 * only if nothing was, for its own change. A majority of votes decides.
 *
 * A ballot ends after `ballot`, and the proposer opens the next. Nobody refuses: a proposer that hears of a higher ballot
 * promises it, and its own next one is above.
 */
#include "algorithms/members/decision.h"

uint64_t decision_result(uint64_t before, uint64_t voters, el_node author)
{
    const uint64_t change[] = {before, voters, author};
    return (el_fingerprint(change, sizeof change).low & ~UINT64_C(0xFFFF)) | voters;
}

uint32_t decision_majority(uint64_t record)
{
    return decision_size(decision_voters(record)) / 2 + 1;
}

static uint64_t own_proposal(const struct decision *me, const struct el_config *cfg)
{
    return decision_result(me->record, me->wish ? me->wish : decision_voters(me->record), cfg->self);
}

static void send_voters(const struct decision *me, const struct el_config *cfg, struct el_msg msg,
                        struct el_outbox *out)
{
    msg.subject = cfg->self;
    msg.epoch = me->version + 1;
    msg.aux = me->ballot;
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++)
        if (peer != cfg->self && decision_is_voter(me->record, peer)) el_send(out, cfg, peer, msg);
}

static bool has_majority(const struct decision *me)
{
    return decision_size(me->answers & decision_voters(me->record)) >= decision_majority(me->record);
}

static void decide(struct decision *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_note(out, DECISION_DECIDES, me->version + 1, 0);
    decision_install(me, cfg, me->version + 1, me->choice, out);
    decision_tell_all(me, cfg, out);
}

/* Its own vote is the first, and on disk before it asks for others. */
static void ask_for_votes(struct decision *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_note(out, me->best ? DECISION_FINDS : DECISION_OWN, me->best, 0);
    me->best = 0;
    me->phase = DECISION_ACCEPTING;
    me->accepted = me->ballot;
    me->value = me->choice;
    me->answers = el_bit(cfg->self);
    decision_save(me, out);
    send_voters(me, cfg, (struct el_msg){.kind = DECISION_ACCEPT, .more = me->choice}, out);
    if (has_majority(me)) decide(me, cfg, out);
}

static bool has_work(const struct decision *me)
{
    return me->wish || me->owed > me->version;
}

static void open_ballot(struct decision *me, const struct el_config *cfg, struct el_outbox *out)
{
    const uint64_t counter = (me->promised >> DECISION_PROPOSER_BITS) + 1;
    if (counter >> (DECISION_BALLOT_BITS - DECISION_PROPOSER_BITS)) {
        el_note(out, DECISION_OUT_OF_NUMBERS, 0, 0);
        return;
    }
    me->ballot = me->promised = counter << DECISION_PROPOSER_BITS | (cfg->self - 1);
    me->phase = DECISION_PREPARING;
    if (el_number(cfg, DECISION_ATTEMPTS)) me->tries++;
    me->best = me->accepted;
    me->choice = me->accepted ? me->value : own_proposal(me, cfg);
    me->answers = el_bit(cfg->self);
    el_note(out, DECISION_OPENS, me->ballot, me->version + 1);
    decision_save(me, out);
    const el_duration end = el_number(cfg, DECISION_BALLOT);
    el_arm(out, DECISION_TRY, 0, end, end);
    send_voters(me, cfg, (struct el_msg){.kind = DECISION_PREPARE}, out);
    if (has_majority(me)) ask_for_votes(me, cfg, out);
}

void decision_propose(struct decision *me, const struct el_config *cfg, struct el_outbox *out)
{
    const uint64_t attempts = el_number(cfg, DECISION_ATTEMPTS);
    if (me->phase != DECISION_RESTING || !has_work(me)) return;
    if (!decision_takes_part(me, cfg)) {
        el_note(out, DECISION_BARRED, 0, 0);
        me->wish = me->owed = 0;
    } else if (attempts && me->tries >= attempts) {
        el_note(out, DECISION_GIVES_UP, me->tries, 0);
        me->wish = me->owed = 0;
    } else {
        open_ballot(me, cfg, out);
    }
}

/* After a record, those that want another one do not all begin at once. */
void decision_go_on(struct decision *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration turn = (cfg->self - 1) * el_round_trip(cfg);
    if (has_work(me))
        el_arm(out, DECISION_TRY, 0, turn, turn);
    else
        el_disarm(out, DECISION_TRY, 0);
}

void decision_on_try(struct decision *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->phase != DECISION_RESTING) el_note(out, DECISION_ENDS, me->ballot, 0);
    decision_rest(me);
    decision_propose(me, cfg, out);
}

/* ---- Answers ---- */

/* An answer counts once, and in its phase of its ballot only. */
static bool counts(struct decision *me, const struct el_msg *m, uint32_t phase, struct el_outbox *out)
{
    const bool is_current = m->epoch == me->version + 1 && m->aux == me->ballot && me->phase == phase &&
                            !(me->answers & el_bit(m->from));
    if (!is_current) el_note(out, DECISION_STALE, m->from, 0);
    if (is_current) me->answers |= el_bit(m->from);
    return is_current;
}

void decision_on_promise(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                         struct el_outbox *out)
{
    if (!counts(me, m, DECISION_PREPARING, out)) return;
    if (m->more > me->best) {
        me->best = m->more;
        me->choice = m->extra[0];
    }
    if (has_majority(me)) ask_for_votes(me, cfg, out);
}

void decision_on_accepted(struct decision *me, const struct el_config *cfg, const struct el_msg *m,
                          struct el_outbox *out)
{
    if (!counts(me, m, DECISION_ACCEPTING, out)) return;
    if (has_majority(me)) decide(me, cfg, out);
}
