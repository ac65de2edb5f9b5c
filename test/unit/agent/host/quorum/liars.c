/* Real hosts, and a fourth member, an observer, that has its key and says what it may not: the leader leads on, and is named. */
#include "lib/host/session_groups.h"

#include "algorithms/quorum/speakers.h"

enum { OBSERVER = 4 };

static unsigned begin(void)
{
    prepare_world(4, 0);
    for (el_node node = 1; node <= world.count; node++)
        world.hosts[node].config.members[OBSERVER - 1].role = CONFIG_OBSERVER;
    start_all();
    const unsigned group = watch("a");
    for (el_node node = 1; node < OBSERVER; node++) stand(node, group, true, 0);
    pass(3000);
    assert_true(leader_of(group) != EL_NOBODY);
    return group;
}

/* From `from` to all voters but the one that it is about. */
static void tell(el_node from, unsigned group, struct el_msg m, el_node about)
{
    for (el_node to = 1; to < OBSERVER; to++) {
        struct host *host = world.hosts[to].host;
        struct payload payload;
        if (to == about || to == from) continue;
        m = quorum_addressed(m, host->sessions->peers[from - 1].incarnation, 0, quorum_clock_of(&m));
        m.from = from;
        m.to = to;
        const bool of_group = quorum_is_of_group(m.kind);
        const struct payload_entry entry = {.type = of_group ? PAYLOAD_MESSAGE : PAYLOAD_SESSION,
                                            .group = of_group ? world.watched[group].key : 0,
                                            .settings = host->sessions->runner.settings,
                                            .msg = m};
        payload_begin(&payload, host->members);
        assert_true(payload_add(&payload, &entry));
        host_receive(host, from, payload.bytes, payload.size);
        after_event(to);
    }
}

static void leads_on(unsigned group, el_node leader, unsigned begun)
{
    pass(2000);
    assert_int_equal(leader_of(group), leader);
    assert_int_equal(world.watched[group].begun, begun);
}

static void an_observer_deposes_nobody(void **state)
{
    const unsigned group = begin(), begun = world.watched[group].begun;
    const el_node leader = leader_of(group);
    const uint64_t life = world.hosts[leader].host->sessions->me.incarnation, high = quorum_term(1000, leader);
    const struct quorum_tenant done = {.id = leader, .incarnation = life, .term = high};
    const uint64_t warned = world.warnings;
    tell(OBSERVER, group, quorum_make_obit(leader, life), leader);
    assert_int_equal(world.warnings, warned); /* earlier agents pass obituaries on */
    leads_on(group, leader, begun);
    tell(OBSERVER, group, quorum_make_release(done, EL_NOBODY, 0), leader);
    assert_int_equal(world.warnings, warned + 2); /* by each that was told */
    leads_on(group, leader, begun);
    tell(OBSERVER, group, quorum_make_check(life, high), EL_NOBODY);
    tell(OBSERVER, group, quorum_make_refuse(high, QUORUM_TOO_LOW, high, OBSERVER), EL_NOBODY);
    leads_on(group, leader, begun);
    close_world();
}

static void nor_does_another_voter_by_what_it_says_of_the_leader(void **state)
{
    const unsigned group = begin(), begun = world.watched[group].begun;
    const el_node leader = leader_of(group), liar = leader == 1 ? 2 : 1;
    const uint64_t life = world.hosts[leader].host->sessions->me.incarnation;
    const struct quorum_tenant done = {
        .id = leader, .incarnation = life, .term = world.hosts[liar].host->sessions->me.clock};
    tell(liar, group, quorum_make_obit(leader, life), leader);
    tell(liar, group, quorum_make_release(done, EL_NOBODY, 0), leader);
    leads_on(group, leader, begun);
    close_world();
}

static void a_forged_clock_reaches_no_disk(void **state)
{
    const unsigned group = begin(), begun = world.watched[group].begun;
    const el_node leader = leader_of(group), liar = leader == 1 ? 2 : 1;
    const uint64_t clock = world.hosts[leader].host->sessions->me.clock;
    struct el_msg ack = quorum_make_ack(0, 0, false);
    ack.subject = liar;
    ack.extra[1] = EL_EPOCH_MAX - (1 << 16);
    const uint64_t warned = world.warnings;
    tell(liar, group, ack, EL_NOBODY);
    assert_true(world.warnings > warned);
    leads_on(group, leader, begun);
    assert_true(world.hosts[leader].host->sessions->me.clock < clock + quorum_term(10, 0));
    assert_true(world.hosts[leader].host->past.word[0] < quorum_term(10000, 0));
    die(leader);
    pass(5000);
    assert_true(leader_of(group) != EL_NOBODY);
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_observer_deposes_nobody),
        cmocka_unit_test(nor_does_another_voter_by_what_it_says_of_the_leader),
        cmocka_unit_test(a_forged_clock_reaches_no_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
