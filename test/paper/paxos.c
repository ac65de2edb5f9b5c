/*
 * Paxos as an election. N members; T is one delay.
 *
 * Lamport, The part-time parliament, ACM TOCS 16(2), 1998; Paxos made simple, 2001.
 */
#include "lib/sim/bench.h"

static void one_proposer_needs_five_times_n_minus_1_messages_and_5t(void **state)
{
    for (unsigned n = 2; n <= MANY; n++)
        for (unsigned caller = 1; caller <= n; caller += n < SOME ? 1 : n - 1) {
            play("paxos; nodes %u; initiator %u", n, caller);
            sent("Prepare", n - 1);
            sent("Promise", n - 1);
            sent("Accept", n - 1);
            sent("Accepted", n - 1);
            sent("Decided", n - 1);
            sent_in_all(5 * (n - 1));
            took(5);
            elected(caller);
        }
}

static void a_dead_minority_saves_its_answers_and_nothing_else(void **state)
{
    for (unsigned n = 3; n <= SOME; n++) {
        const unsigned dead = (n - 1) / 2, alive = n - dead;
        char crashes[256] = "";
        for (unsigned i = 0; i < dead; i++)
            snprintf(crashes + strlen(crashes), sizeof crashes - strlen(crashes), "; crash %u@0", n - i);
        play("paxos; nodes %u; initiator 1%s", n, crashes);
        sent("Prepare", n - 1);
        sent("Promise", alive - 1);
        sent("Accept", n - 1);
        sent("Accepted", alive - 1);
        sent("Decided", n - 1);
        elected(1);
    }
}

static void without_a_majority_nobody_is_elected(void **state)
{
    play("paxos; nodes 4; initiator 1; partition 1,2|3,4");
    assert_true(bench.result->came_to_rest);
    sent("Accept", 0);
    noted("gives-up");
    for (unsigned node = 1; node <= 4; node++) follows(node, 0);
}

/* Figure of speech made fact: the one who was chosen could tell nobody, and still it is found. */
static void a_later_ballot_finds_the_earlier_choice(void **state)
{
    play("paxos; nodes 5; initiator 1; partition 1|2,3,4,5@3.5..100");
    noted("finds");
    ended_on(1);
}

static void a_choice_that_died_is_found_and_then_replaced(void **state)
{
    play("paxos; nodes 5; initiator 1; crash 1@3.5; detect 10");
    noted("finds");
    noted("distrusts");
    elected(5);
    play("paxos; nodes 5; initiator 1; crash 1@3.5; detect 100");
    noted("finds");
    noted("notices");
    elected(5);
}

static void when_the_leader_dies_the_best_of_the_others_goes_first(void **state)
{
    for (unsigned n = 3; n <= SOME; n++) {
        play("paxos; nodes %u; leader %u; crash %u@1; detect 1", n, n, n);
        sent("Prepare", n - 1);
        sent("Decided", n - 1);
        elected(n - 1);
        took(5);
    }
}

static void who_comes_back_does_not_resume_its_term(void **state)
{
    play("paxos; nodes 3; initiator 3; crash 3@10; restart 3@11");
    noted("of-the-past");
    elected(3); /* the best goes first, so it wins again: the next term */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_proposer_needs_five_times_n_minus_1_messages_and_5t),
        cmocka_unit_test(a_dead_minority_saves_its_answers_and_nothing_else),
        cmocka_unit_test(without_a_majority_nobody_is_elected),
        cmocka_unit_test(a_later_ballot_finds_the_earlier_choice),
        cmocka_unit_test(a_choice_that_died_is_found_and_then_replaced),
        cmocka_unit_test(when_the_leader_dies_the_best_of_the_others_goes_first),
        cmocka_unit_test(who_comes_back_does_not_resume_its_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
