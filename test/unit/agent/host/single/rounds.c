/* Elections without terms, whose candidates begin while one is under way: it is held again until all name one leader. */
#include "lib/host/hosts.h"

#include "agent/host/internal.h"

#ifdef ELECTOR_SANITIZED
enum { SEEDS = 8 };
#else
enum { SEEDS = 40 };
#endif

static struct host_group *group_at(el_node node)
{
    char text[200];
    struct host_group *group = host_find(members[node].host, "other", text, sizeof text);
    if (!group) fail_msg("%s", text);
    return group;
}

static struct host_single *solo_at(el_node node)
{
    return host_single_of(group_at(node));
}

/* A world in which the group "other" is led by this algorithm. */
static void open_led_by(const struct el_algorithm *algorithm, uint64_t number)
{
    open_world();
    seed = number;
    for (el_node node = 1; node <= MEMBERS; node++) {
        struct config *config = &members[node].config;
        config->group_count = 1;
        snprintf(config->groups[0].name, sizeof config->groups[0].name, "other");
        config->groups[0].algorithm = algorithm;
    }
}

/* Whom all that live name, who leads itself; nobody, if they do not agree. */
static el_node named_by_all(void)
{
    el_node named = 0;
    for (el_node node = 1; node <= MEMBERS; node++) {
        if (!members[node].alive) continue;
        const struct host_view view = host_view_of(group_at(node));
        if (!view.leader || (named && view.leader != named)) return 0;
        if ((view.role == EL_LEADER) != (view.leader == node)) return 0;
        named = view.leader;
    }
    return named;
}

/* For how long it stays so does not count: some meet again. */
static void await_agreement(const struct el_algorithm *algorithm, const char *what)
{
    for (uint64_t waited = 0; waited < 60000; waited += 100) {
        if (named_by_all()) return;
        pass(100);
    }
    for (el_node node = 1; node <= MEMBERS; node++)
        if (members[node].alive)
            print_message("%u names %u in round %u\n", node, host_view_of(group_at(node)).leader,
                          solo_at(node)->round);
    fail_msg("%s: %s, and they do not agree on a leader", algorithm->name, what);
}

/* Of all that count no terms of their own; they are those that the host holds again. */
static const struct el_algorithm *next_algorithm(uint32_t *place)
{
    uint32_t count;
    const struct el_algorithm *const *all = el_algorithms(&count);
    while (*place < count && all[*place]->beats) ++*place;
    return *place < count ? all[(*place)++] : NULL;
}

static void all_begin_to_stand(uint64_t number)
{
    for (el_node node = 1; node <= MEMBERS; node++) {
        host_stand(group_at(node), true, number % 3 == 0 ? node % 2 : 0);
        pass(hook_random(NULL) % 4);
    }
}

static void who_begin_at_once_come_to_name_one_leader(void **state)
{
    const struct el_algorithm *algorithm;
    for (uint32_t place = 0; (algorithm = next_algorithm(&place));)
        for (uint64_t number = 1; number <= SEEDS; number++) {
            open_led_by(algorithm, number);
            jitter = number % 4 * 5 * MILLISECOND;
            all_begin_to_stand(number);
            await_agreement(algorithm, "all began at once");
            close_world();
        }
}

/* Nobody is elected who does not want to be, whatever its id. */
static void who_stands_alone_is_elected(void **state)
{
    const struct el_algorithm *algorithm;
    for (uint32_t place = 0; (algorithm = next_algorithm(&place));)
        for (el_node alone = 1; alone <= MEMBERS; alone++) {
            open_led_by(algorithm, place);
            for (el_node node = 1; node <= MEMBERS; node++) (void)group_at(node);
            pass(1000);
            host_stand(group_at(alone), true, 0);
            await_agreement(algorithm, "one stands");
            if (named_by_all() != alone)
                fail_msg("%s: %u stands, and %u leads", algorithm->name, alone, named_by_all());
            close_world();
        }
}

/* Rounds end: what all agree on is not touched again, also where datagrams are lost. */
static void a_leader_whom_all_name_is_left_alone(void **state)
{
    const struct el_algorithm *algorithm;
    for (uint32_t place = 0; (algorithm = next_algorithm(&place));) {
        open_led_by(algorithm, place);
        lost_percent = algorithm->on_suspect ? 0 : 10; /* where words are lost a detector may be right to err */
        all_begin_to_stand(place);
        pass(60000);
        const uint32_t round = solo_at(1)->round;
        const el_node leader = named_by_all();
        pass(60000);
        if (!leader || named_by_all() != leader || solo_at(1)->round != round)
            fail_msg("%s: first %u leads in round %u, then %u in round %u", algorithm->name, leader, round,
                     named_by_all(), solo_at(1)->round);
        close_world();
    }
}

/* These know no resigning: the machine leads on, but for nobody. */
static void who_stands_takes_over_from_who_no_longer_does(void **state)
{
    const struct el_algorithm *algorithm;
    for (uint32_t place = 0; (algorithm = next_algorithm(&place));) {
        open_led_by(algorithm, place);
        all_begin_to_stand(place);
        await_agreement(algorithm, "all began at once");
        const el_node first = named_by_all();
        if (algorithm->needs) {
            host_stand(group_at(first), false, 0);
            pass(10000);
            await_agreement(algorithm, "the leader's candidate left");
            if (named_by_all() == first) fail_msg("%s: %u leads for nobody", algorithm->name, first);
        }
        close_world();
    }
}

/* Nobody has to find out first that the last one leads for nobody. */
static void who_begins_after_the_last_has_left_is_elected_at_once(void **state)
{
    open_led_by(el_algorithm_named("lelann"), 1);
    host_stand(group_at(3), true, 0);
    pass(1000);
    assert_int_equal(named_by_all(), 3);
    host_stand(group_at(3), false, 0);
    pass(1000);
    host_stand(group_at(1), true, 0);
    pass(500);
    assert_int_equal(named_by_all(), 1);
    close_world();
}

/* A token of member 2, as it comes to 1 over their link. */
static void bring_token(uint32_t round, uint64_t incarnation)
{
    struct host_group *group = group_at(1);
    struct payload payload;
    const struct payload_entry entry = {.type = PAYLOAD_LINKED,
                                        .group = group->key,
                                        .settings = solo_at(1)->runner.settings,
                                        .round = round,
                                        .incarnation = incarnation,
                                        .sequence = 1,
                                        .msg = {.from = 2, .to = 1, .subject = 2, .kind = 1}};
    payload_begin(&payload, members[1].host->members);
    assert_true(payload_add(&payload, &entry));
    host_receive(members[1].host, 2, payload.bytes, payload.size);
}

static void what_is_said_in_an_earlier_round_counts_for_nothing(void **state)
{
    open_led_by(el_algorithm_named("lelann"), 1);
    host_stand(group_at(3), true, 0);
    pass(1000);
    for (el_node node = 1; node <= MEMBERS; node++) solo_at(node)->round = 7;
    bring_token(6, 1001);
    assert_int_equal(host_view_of(group_at(1)).leader, 3);
    bring_token(7, 1003);
    assert_int_equal(host_view_of(group_at(1)).leader, 0); /* woken by it */
    close_world();
}

/* Where words take a second, rounds must grow until an election fits into one. */
static void a_slow_network_is_given_longer_rounds(void **state)
{
    const struct el_algorithm *algorithm;
    for (uint32_t place = 0; (algorithm = next_algorithm(&place));) {
        if (algorithm->on_suspect) continue;
        open_led_by(algorithm, place);
        jitter = UINT64_C(3000) * MILLISECOND;
        all_begin_to_stand(place);
        await_agreement(algorithm, "words take seconds");
        close_world();
    }
}

/* The detector speaks of a death but once. */
static void a_new_round_does_not_wait_for_the_dead(void **state)
{
    open_led_by(el_algorithm_named("chang-roberts"), 1);
    all_begin_to_stand(1);
    await_agreement(el_algorithm_named("chang-roberts"), "all began at once");
    die(3);
    pass(20000);
    const el_node first = named_by_all(), other = 3 - first;
    const uint32_t round = solo_at(other)->round;
    host_stand(group_at(first), false, 0);
    for (unsigned ms = 0; ms < 10000 && solo_at(other)->round == round; ms++) pass(1);
    assert_int_equal(solo_at(other)->round, round + 1);
    assert_int_equal(solo_at(other)->links[2].count, 0);
    await_agreement(el_algorithm_named("chang-roberts"), "one of two left");
    assert_int_equal(named_by_all(), other);
    close_world();
}

/* It knows of no round; the others do. */
static void who_comes_back_joins_the_round(void **state)
{
    const struct el_algorithm *algorithm;
    for (uint32_t place = 0; (algorithm = next_algorithm(&place));)
        for (el_node back = 1; algorithm->needs && back <= MEMBERS; back++) {
            open_led_by(algorithm, place);
            all_begin_to_stand(place);
            await_agreement(algorithm, "all began at once");
            for (el_node node = 1; node <= MEMBERS; node++) solo_at(node)->round = 7;
            die(back);
            start(back);
            pass(2000);
            host_stand(group_at(back), true, 0);
            await_agreement(algorithm, "one came back");
            assert_true(solo_at(back)->round >= 7);
            close_world();
        }
}

/* And who only looks on learns who leads, without an election. */
static void who_missed_it_is_told_who_leads(void **state)
{
    open_led_by(el_algorithm_named("lelann"), 1);
    host_stand(group_at(3), true, 0);
    pass(1000);
    die(2);
    start(2);
    (void)group_at(2);
    pass(10000);
    assert_int_equal(named_by_all(), 3);
    assert_int_equal(solo_at(3)->round, 0);
    close_world();
}

/* On both sides of a cut some elect; healed, they hear that there are two. */
static void two_leaders_become_one(void **state)
{
    const struct el_algorithm *algorithm;
    for (uint32_t place = 0; (algorithm = next_algorithm(&place));) {
        open_led_by(algorithm, place);
        for (el_node peer = 1; peer < MEMBERS; peer++) cut[MEMBERS][peer] = cut[peer][MEMBERS] = true;
        all_begin_to_stand(place);
        pass(10000);
        memset(cut, 0, sizeof cut);
        pass(10000);
        await_agreement(algorithm, "the cut was healed");
        close_world();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_begin_at_once_come_to_name_one_leader),
        cmocka_unit_test(who_stands_alone_is_elected),
        cmocka_unit_test(a_leader_whom_all_name_is_left_alone),
        cmocka_unit_test(who_stands_takes_over_from_who_no_longer_does),
        cmocka_unit_test(who_begins_after_the_last_has_left_is_elected_at_once),
        cmocka_unit_test(what_is_said_in_an_earlier_round_counts_for_nothing),
        cmocka_unit_test(a_slow_network_is_given_longer_rounds),
        cmocka_unit_test(a_new_round_does_not_wait_for_the_dead),
        cmocka_unit_test(who_comes_back_joins_the_round),
        cmocka_unit_test(who_missed_it_is_told_who_leads),
        cmocka_unit_test(two_leaders_become_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
