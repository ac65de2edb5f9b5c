/* Much that is to be said at once: no more of it is under way than the others keep up with, and nobody is waited for for ever. */
#include "lib/host/plain_groups.h"

enum { MANY = 4000 };

static unsigned letters, grants;

static bool loses_echoes(const struct payload_entry *entry)
{
    return entry->type != PAYLOAD_ECHO;
}

/* Host 2 gets what it is sent, and is not heard of it. */
static bool nobody_hears_echoes(struct letter *letter)
{
    letters += letter->from == 1 && letter->to == 2;
    if (letter->from == 2) strip(letter, loses_echoes);
    return true;
}

static void open_two_of_three(void)
{
    prepare_world(3, 0);
    start(1);
    start(2);
    pass(3000);
    letters = 0;
}

static void who_does_not_echo_is_sent_no_more_for_a_while(void **state)
{
    open_two_of_three();
    world.takes = nobody_hears_echoes;
    stand_for_plain(1, 0, MANY);
    pass(20);
    const unsigned at_first = letters;
    assert_in_range(at_first, 20, 120); /* four marks, and what is said besides */
    pass(20);
    assert_true(letters < at_first + 8);
    pass(3000); /* but not for ever */
    assert_int_equal(plain_led(1, 0, MANY), MANY);
    close_world();
}

static void echoes_of_nothing_open_no_gate(void **state)
{
    open_two_of_three();
    struct host *host = world.hosts[1].host;
    struct host_flow *flow = &host->flow[1];
    world.takes = nobody_hears_echoes;
    stand_for_plain(1, 0, MANY);
    pass(20);
    assert_false(host_keeps_up(host, 2));
    const uint32_t marked = flow->marked, echoed = flow->echoed;
    const uint32_t numbers[] = {marked + 1, echoed - 1, marked + 1000, 0x80000000u + marked};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct payload payload;
        payload_begin(&payload, host->members);
        assert_true(
            payload_add(&payload, &(struct payload_entry){.type = PAYLOAD_ECHO, .sequence = numbers[i]}));
        host_receive(host, 2, payload.bytes, payload.size);
        assert_int_equal(flow->echoed, echoed);
    }
    close_world();
}

static void at_rest_nothing_is_marked(void **state)
{
    open_world(3);
    stand_for_plain(1, 0, 10);
    pass(3000);
    const uint32_t marked = world.hosts[1].host->flow[1].marked;
    pass(10000);
    assert_int_equal(world.hosts[1].host->flow[1].marked, marked);
    close_world();
}

static bool counts_grants(const struct payload_entry *entry)
{
    grants += entry->type == PAYLOAD_MESSAGE && entry->msg.kind == QUORUM_GRANT;
    return true;
}

static bool counts(struct letter *letter)
{
    if (letter->from == 2 && letter->to == 3) strip(letter, counts_grants);
    return letter->from != 3; /* the heir hears, and is not heard */
}

/* It has been given them, but its claims do not come. */
static void an_heir_is_given_no_more_than_it_claims(void **state)
{
    open_world(3);
    stand_for_plain(1, 0, MANY);
    pass(3000);
    stand_for_plain(3, 0, MANY);
    pass(2000);
    const uint64_t incarnation = world.hosts[1].host->sessions->me.incarnation;
    const unsigned life = world.hosts[1].life;
    die(1);
    world.takes = counts;
    grants = 0;
    bury(2, world.hosts[2].host->sessions, 1, life, incarnation);
    pass(15);
    assert_in_range(grants, 500, SESSION_STANDING_MAX + SESSION_LOT);
    world.takes = NULL;
    pass(3000);
    assert_int_equal(plain_led(3, 0, MANY), MANY);
    close_world();
}

/* Whoever was given them is gone when the rest are to be told. */
static void those_who_never_claim_are_not_waited_for(void **state)
{
    open_world(3);
    stand_for_plain(1, 0, MANY);
    pass(3000);
    struct session *s = world.hosts[2].host->sessions;
    s->given = SESSION_STANDING_MAX; /* as if by many groups that nobody ever claims */
    const uint64_t incarnation = world.hosts[1].host->sessions->me.incarnation;
    const unsigned life = world.hosts[1].life;
    die(1);
    bury(2, s, 1, life, incarnation);
    pass(5000);
    assert_int_equal(s->left, 0);
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_does_not_echo_is_sent_no_more_for_a_while),
        cmocka_unit_test(echoes_of_nothing_open_no_gate),
        cmocka_unit_test(at_rest_nothing_is_marked),
        cmocka_unit_test(an_heir_is_given_no_more_than_it_claims),
        cmocka_unit_test(those_who_never_claim_are_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
