/*
 * Who may say what about whom (speakers.h). Members 1 to 3 may lead, 4 is a witness, 5 an observer. A liar has a member's key and
 * says every kind of message with every combination of some fields; nothing comes of what it may not say.
 */
#include "lib/node/quorum.h"

#include "algorithms/quorum/driver.h"
#include "algorithms/quorum/era.h"
#include "algorithms/quorum/speakers.h"

#ifdef ELECTOR_SANITIZED
enum { EVERY = 41 };
#else
enum {
    EVERY = 7
}; /* of all lies one in so many, and of each choice as many of each: 7 divides no number of choices */
#endif
enum { COUNT = 5, WITNESS = 4, OBSERVER = 5 };

static const uint8_t roles[COUNT] = {EL_CANDIDATE, EL_CANDIDATE, EL_CANDIDATE, EL_ORDINARY, EL_OBSERVER};

/* algorithm.c: the state begins so. */
struct memory {
    struct quorum_member member;
    struct quorum_group group;
    struct quorum_era era;
    struct quorum_peer peers[COUNT];
    struct quorum_ballot ballots[COUNT];
    struct quorum_former formers[COUNT];
};

static struct memory *memory(void)
{
    assert_int_equal(seat.state_size, sizeof(struct memory));
    return (struct memory *)(void *)seat.state;
}

/* ---- Where it is when it is lied to ---- */

static void sit_among_five(void)
{
    sit_in_quorum(COUNT, 1);
    seat.cluster.roles = roles;
}

static void has_promised_to_3(void)
{
    sit_among_five();
    starts();
    gets_linked(1);
    asks(3, TERM(2, 3), 1, 0);
    claims(3, 2, TERM(2, 3), 2, TERM(3, 2));
    sees("follows 3");
}

static void is_a_candidate(void)
{
    sit_among_five();
    starts();
    gets_linked(1);
    times_out("stand");
    sees("elects");
}

static void is_the_leader(void)
{
    is_a_candidate();
    grants(2, TERM(2, 1), 2, 0, 0);
    grants(3, TERM(2, 1), 2, 0, 0);
    sees("leads");
}

static void has_no_record(void)
{
    sit_among_five();
    comes_back_without_its_record();
    is_told(QUORUM_FACT_WALL_CLOCK, 1000);
    times_out("silence");
    peers.ours = 1000;
}

static void (*const places[])(void) = {has_promised_to_3, is_a_candidate, is_the_leader, has_no_record};

/* ---- All that a liar can say ---- */

static const uint8_t flags[] = {0, 1, 2, 4, QUORUM_HELD | QUORUM_FRESH | QUORUM_ACTIVE, 31};

static unsigned below(unsigned count, unsigned *n)
{
    const unsigned which = *n % count;
    *n /= count;
    return which;
}

static uint64_t number(unsigned which)
{
    const uint64_t numbers[] = {
        0, 1, 2, TERM(2, 1), TERM(9, 1), TERM(9, 2), TERM(9, WITNESS), TERM(9, OBSERVER), WHOLE(1u << 30)};
    return numbers[which];
}

/* The n-th lie; false: there are no more. */
static bool lie(unsigned n, el_node from, struct el_msg *m)
{
    *m = (struct el_msg){.from = from, .to = 1};
    m->kind = (uint8_t)(1 + below(QUORUM_KINDS, &n));
    m->flags = flags[below(sizeof flags, &n)];
    m->subject = 1 + below(COUNT, &n);
    m->epoch = number(below(9, &n));
    m->rank = number(below(7, &n));
    m->extra[2] = number(below(3, &n));
    m->extra[3] = number(below(4, &n));
    m->aux = memory()->member.nonce ? memory()->member.nonce : 1;
    m->more = 1 + below(2, &n);
    m->extra[0] = memory()->member.incarnation;
    m->extra[1] = below(2, &n) ? number(8) : 0;
    return n == 0;
}

/* What it must leave alone, before and after the lie. */
typedef void judgement(const struct memory *before, el_node liar, const struct el_msg *m);

static void tell_all_lies(el_node liar, void (*sit_somewhere)(void), judgement *judge)
{
    struct memory before;
    struct el_event event = {.type = EL_MESSAGE};
    sit_somewhere();
    before = *memory();
    for (unsigned n = 0; lie(n, liar, &event.msg); n += EVERY) {
        seat_step(&event);
        judge(&before, liar, &event.msg);
        *memory() = before;
    }
}

/* Its own session may change, and it may be answered. */
static void leaves_all_but_its_own_session(const struct memory *before, el_node liar, const struct el_msg *m)
{
    struct memory after = *memory();
    after.peers[liar - 1] = before->peers[liar - 1];
    if (memcmp(&after, before, sizeof after) != 0)
        seat_fail(__FILE__, __LINE__, "%u was believed: %s", liar, seat.algorithm->kinds[m->kind]);
    for (uint32_t i = 0; i < seat.out.count; i++) {
        const struct el_action *a = &seat.out.actions[i];
        assert_true(a->type != EL_SAVE);
        if (a->type == EL_SEND) assert_int_equal(a->msg.to, liar);
        if (a->type == EL_ARM || a->type == EL_DISARM || a->type == EL_MOVE) assert_int_equal(a->slot, liar);
    }
}

static void an_observer_changes_nothing_but_its_own_session(void **state)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        tell_all_lies(OBSERVER, places[i], leaves_all_but_its_own_session);
}

static void frees_nobody_from_3(const struct memory *before, el_node liar, const struct el_msg *m)
{
    const struct memory *after = memory();
    const struct quorum_peer *was = &before->peers[2], *is = &after->peers[2];
    const bool holds = memcmp(&after->group.holder, &before->group.holder, sizeof after->group.holder) == 0 &&
                       is->promised && is->incarnation == was->incarnation && is->dead == was->dead &&
                       is->epoch == was->epoch;
    if (!holds) seat_fail(__FILE__, __LINE__, "%u speaks for 3: %s", liar, seat.algorithm->kinds[m->kind]);
    for (uint32_t i = 0; i < seat.out.count; i++) {
        const struct el_action *a = &seat.out.actions[i];
        assert_true(a->type != EL_SEND || a->msg.kind != QUORUM_GRANT);
        assert_true(a->type != EL_DISARM || a->timer != QUORUM_PROMISED || a->slot != 3);
    }
}

static void no_word_of_another_voter_frees_what_a_leader_holds(void **state)
{
    tell_all_lies(2, has_promised_to_3, frees_nobody_from_3);
    tell_all_lies(WITNESS, has_promised_to_3, frees_nobody_from_3);
}

static void neither_stands_nor_leads(const struct memory *before, el_node liar, const struct el_msg *m)
{
    const struct quorum_group *g = &memory()->group;
    if (g->holder.id == liar || g->next.id == liar || g->claim.id == liar || memory()->peers[liar - 1].promised)
        seat_fail(__FILE__, __LINE__, "a witness is taken for a candidate: %s", seat.algorithm->kinds[m->kind]);
    (void)before;
}

static void a_witness_is_no_candidate_whatever_it_says(void **state)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        tell_all_lies(WITNESS, places[i], neither_stands_nor_leads);
}

/* ---- One by one ---- */

static void a_term_belongs_to_the_member_in_its_name(void **state)
{
    sit_among_five();
    starts();
    asks(2, TERM(2, 3), 1, 0);
    noted("drops-unentitled");
    said("");
    asks(2, TERM(2, 2), 1, 0);
    said("Grant>2 2.2 echo 1 epoch 0");
    claims(2, 2, TERM(3, 3), 0, 0);
    noted("drops-unentitled");
    sees("idle");
    grants(2, TERM(9, 3), 0, 0, 0);
    noted("drops-unentitled");
    checks(2, 1, TERM(9, 3));
    noted("drops-unentitled");
    said("");
}

static void only_a_voter_promises(void **state)
{
    is_a_candidate();
    acks(OBSERVER, 0, 0, 0);
    not_noted("drops-unentitled");
    acks(OBSERVER, 0, 0, QUORUM_PROMISE);
    noted("drops-unentitled");
}

static void an_heir_is_a_voter_and_its_term_is_its_own(void **state)
{
    has_promised_to_3();
    releases(3, 1, TERM(2, 3), OBSERVER, TERM(9, OBSERVER));
    noted("drops-unentitled");
    releases(3, 1, TERM(2, 3), 2, TERM(9, 3));
    noted("drops-unentitled");
    claims(3, 3, TERM(2, 3), 2, TERM(9, 3));
    noted("drops-unentitled");
    releases(3, 1, TERM(2, 3), 2, TERM(9, 2));
    said("save; Grant>2 9.2 echo 0 epoch 0");
}

static void a_member_tells_the_end_of_its_own_earlier_life_and_of_no_later_one(void **state)
{
    has_promised_to_3();
    obituary(2, 3, 1);
    noted("drops-unentitled");
    obituary(3, 3, 1); /* who speaks is not dead */
    noted("drops-unentitled");
    peers.life[3] = 2;
    obituary(3, 3, 1);
    noted("buries");
    releases(3, 3, TERM(9, 3), 0, 0);
    noted("drops-unentitled");
}

static void a_claim_that_is_posted_is_judged_like_one_in_a_beat(void **state)
{
    sit_among_five();
    starts();
    const struct memory before = *memory();
    uint32_t changes = 0;
    struct memory *me = memory();
    const struct quorum q = {.cfg = &seat.cfg,
                             .out = &seat.out,
                             .me = &me->member,
                             .peers = me->peers,
                             .group = &me->group,
                             .ballots = me->ballots,
                             .changes = &changes,
                             .posts_claims = true};
    const struct quorum_claim lies[] = {
        {.term = TERM(9, 3)},
        {.term = TERM(9, 2), .heir = 3, .heir_term = TERM(9, 2)},
        {.term = TERM(9, 2), .heir = OBSERVER, .heir_term = TERM(9, OBSERVER)},
        {.term = TERM(9, 2), .heir = COUNT + 1, .heir_term = TERM(9, COUNT + 1)},
        {.term = TERM(QUORUM_COUNTER_MOST + QUORUM_CLIMB + 1, 2)},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        seat.out.count = 0;
        quorum_read_claim(&q, 2, 1, lies[i]);
        assert_memory_equal(&before, me, sizeof before);
    }
    for (el_node liar = WITNESS; liar <= OBSERVER; liar++) {
        seat.out.count = 0;
        quorum_read_claim(&q, liar, 1, (struct quorum_claim){.term = TERM(9, liar)});
        assert_memory_equal(&before, me, sizeof before);
    }
}

/* ---- Terms that nobody can have reached ---- */

static void one_forged_term_leaves_a_quarter_of_all(void **state)
{
    sit_among_five();
    starts();
    peers.clock = EL_EPOCH_MAX - (1 << 16);
    beats(2, 1, QUORUM_LIVE);
    noted("drops-clock");
    said("");
    assert_true(memory()->member.clock < TERM(9, 0));
    peers.clock = WHOLE(QUORUM_COUNTER_MOST + QUORUM_CLIMB);
    beats(2, 2, QUORUM_LIVE);
    not_noted("drops-clock");
    peers.clock = 0;
    gets_linked(1);
    times_out("stand");
    noted("stands");
}

static void every_term_in_a_message_counts(void **state)
{
    const uint64_t high = QUORUM_COUNTER_MOST + QUORUM_CLIMB + 1;
    is_a_candidate();
    const struct memory before = *memory();
    claims(2, 2, TERM(high, 2), 0, 0);
    noted("drops-clock");
    claims(2, 2, TERM(9, 2), 3, TERM(high, 3));
    noted("drops-clock");
    asks(2, TERM(high, 2), 2, 0);
    noted("drops-clock");
    grants(2, TERM(high, 1), 1, 0, 0);
    noted("drops-clock");
    refuses(2, TERM(2, 1), QUORUM_TOO_LOW, 0, TERM(high, 2));
    noted("drops-clock");
    releases(2, 1, TERM(high, 2), 0, 0);
    noted("drops-clock");
    releases(2, 1, TERM(9, 2), 3, TERM(high, 3));
    noted("drops-clock");
    checks(2, 1, TERM(high, 1));
    noted("drops-clock");
    assert_memory_equal(&before, memory(), sizeof before);
}

/* The liar needs as many beats of ours as there are climbs to the end of all terms. Those who are honest are believed meanwhile. */
static void above_that_terms_rise_by_one_climb_a_beat(void **state)
{
    sit_among_five();
    starts();
    uint64_t at = QUORUM_COUNTER_MOST;
    for (uint64_t beat = 1; beat < 10; beat++) {
        peers.clock = WHOLE(at + QUORUM_CLIMB / 2);
        beats(2, 3 * beat, QUORUM_LIVE);
        not_noted("drops-clock");
        peers.clock = WHOLE(at + QUORUM_CLIMB);
        beats(2, 3 * beat + 1, QUORUM_LIVE);
        not_noted("drops-clock");
        peers.clock = WHOLE(at + QUORUM_CLIMB + 1);
        beats(2, 3 * beat + 2, QUORUM_LIVE);
        noted("drops-clock");
        at += QUORUM_CLIMB;
        times_out("pulse");
    }
}

static void an_observer_believes_every_term_since_it_passes_none_on(void **state)
{
    sit_in_quorum(COUNT, OBSERVER);
    seat.cluster.roles = roles;
    starts();
    peers.clock = EL_EPOCH_MAX - 1;
    claims(2, 1, TERM(2, 2), 0, 0);
    sees("follows 2");
}

static void a_wall_clock_beyond_all_honest_terms_is_none(void **state)
{
    sit_among_five();
    comes_back_without_its_record();
    is_told(QUORUM_FACT_WALL_CLOCK, QUORUM_COUNTER_MOST + 1);
    said_with_beats("");
    is_told(QUORUM_FACT_WALL_CLOCK, QUORUM_COUNTER_MOST);
    saved(QUORUM_COUNTER_MOST, WHOLE(QUORUM_COUNTER_MOST), PROMISE, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_observer_changes_nothing_but_its_own_session),
        cmocka_unit_test(no_word_of_another_voter_frees_what_a_leader_holds),
        cmocka_unit_test(a_witness_is_no_candidate_whatever_it_says),
        cmocka_unit_test(a_term_belongs_to_the_member_in_its_name),
        cmocka_unit_test(only_a_voter_promises),
        cmocka_unit_test(an_heir_is_a_voter_and_its_term_is_its_own),
        cmocka_unit_test(a_member_tells_the_end_of_its_own_earlier_life_and_of_no_later_one),
        cmocka_unit_test(a_claim_that_is_posted_is_judged_like_one_in_a_beat),
        cmocka_unit_test(one_forged_term_leaves_a_quarter_of_all),
        cmocka_unit_test(every_term_in_a_message_counts),
        cmocka_unit_test(above_that_terms_rise_by_one_climb_a_beat),
        cmocka_unit_test(an_observer_believes_every_term_since_it_passes_none_on),
        cmocka_unit_test(a_wall_clock_beyond_all_honest_terms_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
