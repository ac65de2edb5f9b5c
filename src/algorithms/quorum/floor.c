/*
 * Start, silence and floor (Q3, Q4, Q5). A member saves its incarnation before it sends anything, and a block
 * of terms before it grants the first of them. So a later incarnation knows which terms were not granted. It
 * does not know what was promised, so it grants nothing until every old promise has ended. A member that lost
 * its record asks others which terms were granted.
 */
#include "algorithms/quorum/floor.h"

#include "algorithms/quorum/era.h"

/* The last word: bit 0 is `unlearned`, the record of the members is above it. */
void quorum_save(const struct quorum *q)
{
    const struct quorum_member *me = q->me;
    const uint64_t word = quorum_era_word(q) << 1 | me->unlearned;
    el_save(q->out, (struct el_durable){me->incarnation, {me->ceiling, me->longest, word}});
}

static uint64_t block_above(const struct quorum *q, uint64_t term)
{
    const uint64_t block = el_number(q->cfg, QUORUM_OPTION_BLOCK), most = quorum_counter(EL_EPOCH_MAX);
    const uint64_t whole = quorum_whole(quorum_counter(term) + (block < most ? block : most));
    return whole < EL_EPOCH_MAX ? whole : EL_EPOCH_MAX - 1;
}

void quorum_reserve(const struct quorum *q, uint64_t term)
{
    if (term <= q->me->ceiling) return;
    q->me->ceiling = block_above(q, term);
    quorum_save(q);
}

/* ---- After the silence ---- */

static void settle(const struct quorum *q)
{
    q->me->ceiling = block_above(q, quorum_highest(q->me->ceiling, q->me->floor));
    quorum_save(q);
    *q->changes |= QUORUM_REVIEW | QUORUM_FREED;
    quorum_look_for_sole(q);
}

/* Q5, M14: every majority that an earlier incarnation of ours voted in has a member among the answers, of each set in
 * force. If there are records, that all others have answered is not enough: their list may be one of long ago. */
static bool has_asked_enough(const struct quorum *q)
{
    const struct el_cluster *cluster = q->cfg->cluster;
    const struct quorum_electorate e = quorum_electorate(q);
    struct quorum_tally voters = {0, 0}, answers = {0, 0}, learned = {0, 0};
    for (el_node node = 1; node <= cluster->count; node++) {
        quorum_count(&e, &voters, node);
        if (quorum_peer(q, node)->floor_known) quorum_count(&e, &answers, node);
        if (quorum_peer(q, node)->floor_known == 1 + QUORUM_LEARNED) quorum_count(&e, &learned, node);
    }
    const bool enough = learned.now >= voters.now - e.majority + 1 &&
                        (e.from_majority == 0 || learned.from >= voters.from - e.from_majority + 1);
    return enough || (cluster->record_count == 0 && answers.now + 1 >= voters.now);
}

static void learn_if_enough(const struct quorum *q)
{
    if (!has_asked_enough(q)) return;
    q->me->unlearned = 0;
    el_note(q->out, QUORUM_LEARNS_FLOOR, q->me->floor, 0);
    settle(q);
}

void quorum_floor_ask(const struct quorum *q)
{
    const bool waits = q->me->unlearned && !q->me->silent && quorum_votes(q, q->cfg->self);
    for (el_node to = 1; waits && to <= q->cfg->cluster->count; to++)
        if (to != q->cfg->self && quorum_votes(q, to) && !quorum_peer(q, to)->floor_known)
            quorum_send(q, to, quorum_make_ask_floor(q->me->nonce));
}

/* Answers to questions from before the end of the silence may be too old. */
void quorum_floor_ask_afresh(const struct quorum *q)
{
    q->me->nonce = ++q->me->seq;
    quorum_floor_ask(q);
    learn_if_enough(q);
}

void quorum_floor_speak(const struct quorum *q)
{
    el_note(q->out, QUORUM_SPEAKS, 0, 0);
    q->me->silent = 0;
    if (q->me->incarnation == 0) return;
    if (!q->me->unlearned) {
        settle(q);
        return;
    }
    quorum_floor_ask_afresh(q);
}

void quorum_floor_tell(const struct quorum *q, const struct el_msg *question)
{
    if (!quorum_votes(q, q->cfg->self)) return;
    quorum_send(q, question->from, /* the header carries our clock */
                quorum_make_tell_floor(quorum_number(question), !q->me->unlearned));
}

void quorum_floor_hear(const struct quorum *q, const struct el_msg *answer)
{
    if (!q->me->unlearned || q->me->silent || quorum_number(answer) != q->me->nonce) return;
    if (quorum_is_of_later_record(q, answer)) return; /* M14: that one first, then we ask anew */
    quorum_peer(q, answer->from)->floor_known = (uint8_t)(1 + (answer->flags & QUORUM_LEARNED));
    q->me->floor = quorum_highest(q->me->floor, quorum_clock_of(answer));
    learn_if_enough(q);
}

/* ---- Starting ---- */

/* Voters do. So do all where records may follow, by which they come to vote. */
static bool keeps_floor(const struct quorum *q)
{
    return quorum_is_voter(q->cfg, q->cfg->self) || q->cfg->cluster->record_count > 0;
}

static void begin(const struct quorum *q, uint64_t incarnation, uint64_t floor)
{
    struct quorum_member *me = q->me;
    me->incarnation = incarnation;
    me->floor = me->clock = me->ceiling = quorum_highest(floor, quorum_whole(QUORUM_FIRST));
    quorum_peer(q, q->cfg->self)->incarnation = incarnation;
    /* The first incarnation saves a block of terms now, a later one after its silence. So a member that keeps
     * restarting does not use up terms faster than the wall clock counts. */
    if (!me->silent && !me->unlearned && keeps_floor(q)) me->ceiling = block_above(q, me->floor);
    quorum_save(q);
}

/*
 * The first incarnation (EL_FRESH) has number 1 and needs no silence: it has promised nothing, as the record
 * says that was made with the cluster. That record may have a ceiling, so that tokens begin above it. If a later incarnation finds a record without a number, the first may
 * still have sent messages. So a later one takes 2 or more.
 */
void quorum_session_start(const struct quorum *q, const struct el_start *start)
{
    struct quorum_member *me = q->me;
    const struct el_durable *record = &start->durable;
    me->majority = quorum_majority(q->cfg);
    me->longest = quorum_promise(q->cfg);
    if (start->how == EL_FRESH) {
        begin(q, 1, record->word[0]);
        return;
    }
    if (!keeps_floor(q)) { /* M22: it never granted anything */
        if (start->how == EL_RESTORED) begin(q, quorum_highest(record->epoch, 1) + 1, record->word[0]);
        return;
    }
    me->silent = 1;
    if (start->how == EL_RESTORED) {
        me->longest = quorum_highest(me->longest, record->word[1]);
        me->unlearned = record->word[2] & 1;
        quorum_era_restore(q, record->word[2] >> 1);
    } else {
        me->unlearned = 1;
    }
    el_note(q->out, me->unlearned ? QUORUM_LOST_ITS_RECORD : QUORUM_KEEPS_SILENT, 0, 0);
    el_arm(q->out, QUORUM_SILENCE, 0, me->longest, me->longest);
    if (start->how != EL_RESTORED) return;
    begin(q, quorum_highest(record->epoch, 1) + 1, record->word[0]);
    if (quorum_installed(q)) q->era->floor = me->floor; /* era.c: raise_floor() */
}

/* Milliseconds exceed every earlier incarnation: the first ones are small, and each lasts longer than 1 ms. */
void quorum_session_wall_clock(const struct quorum *q, uint64_t ms)
{
    if (q->me->incarnation || ms < 2 || ms > QUORUM_COUNTER_MOST) return;
    begin(q, ms, keeps_floor(q) ? quorum_whole(ms) : 0);
    if (!q->me->silent && q->me->unlearned) quorum_floor_ask_afresh(q);
}
