/* Hosts of three members: who is elected, who takes over, who makes way; and every algorithm over the same links. */
#include "agent/peer/payload.h"
#include "algorithms/quorum/quorum.h"
#include "lib/host/hosts.h"

#include "agent/host/internal.h"

/* ---- What is asked of it ---- */

static void who_stands_is_elected_and_nobody_else(void **state)
{
    open_world();
    pass(3000);
    assert_int_equal(leader(), 0);
    stand(2, true);
    pass(3000);
    assert_int_equal(leader(), 2);
    assert_int_equal(elections, 1);
    close_world();
}

static void the_others_know_who_leads_and_what_it_proclaims(void **state)
{
    char text[200];
    open_world();
    stand(2, true);
    pass(3000);
    host_proclaim(host_find(members[2].host, "billing", text, sizeof text), "10.0.0.2:9000");
    pass(100);
    for (el_node node = 1; node <= MEMBERS; node++) {
        const struct host_view view = host_view_of(host_find(members[node].host, "billing", text, sizeof text));
        assert_int_equal(view.leader, 2);
        assert_int_equal(view.token, last_token);
        assert_string_equal(view.value, "10.0.0.2:9000");
    }
    close_world();
}

static void a_dead_leader_is_replaced_after_its_lease(void **state)
{
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    const el_node first = leader();
    assert_int_not_equal(first, 0);
    die(first);
    pass(4000);
    assert_int_not_equal(leader(), 0);
    assert_int_not_equal(leader(), first);
    assert_int_equal(elections, 2);
    close_world();
}

static void all_at_once_come_back_with_a_higher_token(void **state)
{
    open_world();
    for (unsigned round = 0; round < 5; round++) {
        for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
        pass(5000);
        assert_int_not_equal(leader(), 0);
        assert_int_equal(elections, round + 1);
        for (el_node node = 1; node <= MEMBERS; node++) die(node);
        for (el_node node = 1; node <= MEMBERS; node++) start(node);
    }
    close_world();
}

/* As `elector plan` says it (unit/promises): P / (1 - ρ) + n δ + r + 4 o. */
static void the_worst_failover_is_on_the_slowest_clock(void **state)
{
    char text[200];
    open_world();
    const struct config *config = &members[1].config;
    const struct host_group *group = host_find(members[1].host, "billing", text, sizeof text);
    const double rho = config->drift / 1e6, lease = (double)host_option(group, "lease", 0);
    const double slow = lease * (1 + rho) / (1 - rho) / (1 - rho);
    const uint64_t election =
        MEMBERS * host_option(group, "stagger", 0) + host_option(group, "re-ask", 0) + 4 * config->transmit_max;
    assert_true(rho > 0 && lease > 0);
    assert_in_range(host_worst_failover_ns(group), (uint64_t)slow + election, (uint64_t)slow + election + 5);
    close_world();
}

/* A millisecond there and one back, of whoever leads: what others are told may have waited. What is lost makes it longer, never
 * shorter. */
static void round_trips_are_measured_by_who_needs_answers(void **state)
{
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    const el_node first = leader();
    for (el_node node = 1; node <= MEMBERS; node++) {
        for (el_node peer = 1; peer <= MEMBERS; peer++)
            assert_int_equal(members[node].answers[peer] > 10, peer != node && node == first);
        assert_int_equal(members[node].answers[node], 0);
        if (node == first) assert_int_equal(members[node].shortest_trip_ns, 2 * MILLISECOND);
        members[node].longest_trip_ns = 0;
    }
    pass(1000);
    for (el_node node = 1; node <= MEMBERS; node++)
        assert_int_equal(members[node].longest_trip_ns, node == first ? 2 * MILLISECOND : 0);
    lost_percent = 30;
    pass(3000);
    assert_int_equal(members[first].shortest_trip_ns, 2 * MILLISECOND);
    assert_true(members[first].longest_trip_ns > 100 * UINT64_C(1000000));
    close_world();
}

static void a_lost_disk_forgets_no_token(void **state)
{
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    const el_node first = leader();
    const el_node wiped = first == 1 ? 2 : 1;
    die(wiped);
    die(first);
    unlink(members[wiped].path);
    start(wiped);
    start(first);
    stand(wiped, true);
    stand(first, true);
    pass(8000);
    assert_int_not_equal(leader(), 0);
    assert_true(elections >= 2);
    close_world();
}

/* Not even if all are lost at once: no member says that it is new. hook_changed() compares. */
static void all_disks_lost_forget_no_token(void **state)
{
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    assert_int_equal(elections, 1);
    for (el_node node = 1; node <= MEMBERS; node++) die(node);
    for (el_node node = 1; node <= MEMBERS; node++) {
        unlink(members[node].path);
        start(node);
        stand(node, true);
    }
    pass(20000);
    assert_int_not_equal(leader(), 0);
    assert_int_equal(elections, 2);
    close_world();
}

static void a_cut_off_leader_stops_before_another_begins(void **state)
{
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    const el_node first = leader();
    for (el_node peer = 1; peer <= MEMBERS; peer++) cut[first][peer] = cut[peer][first] = true;
    pass(4000); /* pass() looks for two at once all the time */
    assert_int_not_equal(leader(), first);
    assert_int_not_equal(leader(), 0);
    memset(cut, 0, sizeof cut);
    pass(3000);
    assert_int_equal(elections, 2);
    close_world();
}

static void resigning_and_handing_over_take_no_lease(void **state)
{
    char text[200];
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    const el_node first = leader(), second = first == 3 ? 1 : first + 1;
    assert_int_equal(host_transfer(host_find(members[first].host, "billing", text, sizeof text), second),
                     EL_PERFORMED);
    pass(200);
    assert_int_equal(leader(), second);
    assert_int_equal(host_transfer(host_find(members[first].host, "billing", text, sizeof text), second),
                     EL_NOT_LEADING);
    stand(second, false);
    assert_int_equal(host_resign(host_find(members[second].host, "billing", text, sizeof text)), EL_PERFORMED);
    pass(200);
    assert_int_not_equal(leader(), 0);
    assert_int_not_equal(leader(), second);
    close_world();
}

static bool has_posting(const struct datagram *datagram)
{
    struct payload_entry entry;
    struct payload_place at = PAYLOAD_FIRST;
    while (payload_next(datagram->bytes, datagram->size, &at, &entry) == PAYLOAD_ENTRY)
        if (entry.type == PAYLOAD_POSTING) return true;
    return false;
}

static void the_heir_hears_first(void **state)
{
    for (el_node hop = 1; hop < MEMBERS; hop++) {
        char text[200];
        open_world();
        for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
        pass(3000);
        const el_node first = leader(), heir = (first + hop - 1) % MEMBERS + 1;
        const size_t before = queued;
        assert_int_equal(host_transfer(host_find(members[first].host, "billing", text, sizeof text), heir),
                         EL_PERFORMED);
        assert_int_equal(queued, before + 2);
        assert_int_equal(queue[before].to, heir);
        assert_true(has_posting(&queue[before])); /* and nothing is left to be said */
        close_world();
    }
}

/* A voter grants no term that its record does not reserve: that is done before somebody waits for it. */
static void no_election_waits_for_the_disk(void **state)
{
    char text[200];
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    const uint64_t begun = quorum_counter(last_token);
    while (quorum_counter(last_token) < begun + 200) { /* three blocks and more */
        const el_node first = leader(), heir = first == 3 ? 1 : first + 1;
        assert_int_equal(host_transfer(host_find(members[first].host, "billing", text, sizeof text), heir),
                         EL_PERFORMED);
        pass(1); /* which a message takes */
        assert_int_equal(leader(), heir);
        pass(1537);
    }
    close_world();
}

static unsigned losses;

static void count_losses(struct member *member, struct host_group *group)
{
    losses += host_view_of(group).role != EL_LEADER;
}

/* Nobody need ask for it: the word may be the first thing after a pause, and carry what renews a lease. */
static void what_is_overdue_comes_before_what_is_heard(void **state)
{
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    const el_node first = leader(), other = first == 3 ? 1 : first + 1;
    uint8_t head[PAYLOAD_HEAD]; /* a word that says nothing */
    now += UINT64_C(200) * MILLISECOND;
    (void)host_tick(members[other].host);
    assert_true(queued > 0);
    memcpy(head, queue[0].bytes, sizeof head);
    now += UINT64_C(5000) * MILLISECOND;
    losses = 0;
    on_changed = count_losses;
    host_receive(members[first].host, other, head, sizeof head);
    on_changed = NULL;
    assert_int_not_equal(losses, 0);
    close_world();
}

/* As a runner does that rejoins: it must not overtake the heir. */
static void who_has_handed_over_lets_the_heir_go_first(void **state)
{
    for (uint64_t delay = 0; delay < 20; delay++) {
        char text[200];
        open_world();
        seed += delay;
        for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
        pass(3000);
        jitter = delay * 2 * MILLISECOND;
        const el_node first = leader(), second = first == 3 ? 1 : first + 1;
        assert_int_equal(host_transfer(host_find(members[first].host, "billing", text, sizeof text), second),
                         EL_PERFORMED);
        for (uint64_t i = 0; i < delay; i++) now += MILLISECOND / 10;
        stand(first, false);
        stand(first, true);
        pass(500);
        assert_int_equal(leader(), second);
        close_world();
    }
}

/* Work is over a margin before the lease is. */
static void clients_are_told_when_work_must_be_over(void **state)
{
    char text[200];
    open_world();
    stand(2, true);
    pass(3000);
    struct host_group *group = host_find(members[2].host, "billing", text, sizeof text);
    const struct host_view view = host_view_of(group);
    assert_int_equal(view.role, EL_LEADER);
    assert_true(host_option(group, "margin", 0) > 0);
    assert_int_equal(view.deadline_ns, view.lease_end_ns - host_option(group, "margin", 0));
    close_world();
}

/* ---- Making way ---- */

/* When 1 leads and 3, of higher priority, begins to stand: for how many ms it leads on content; 0: 6 s and more. */
static uint64_t makes_way_after(uint32_t preempt_after_ms)
{
    char text[200];
    uint64_t waited = 0;
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) {
        struct config *config = &members[node].config;
        die(node);
        config->group_count = 1;
        config->groups[0] =
            (struct config_group){.name = "billing", .options = {{"preempt", "on"}}, .option_count = 1};
        unlink(members[node].path);
        const struct record_identity identity = {.cluster_id = {7}, .member = node};
        assert_true(record_create(members[node].path, &identity, text, sizeof text));
        start(node);
    }
    stand(1, true);
    pass(3000);
    assert_int_equal(leader(), 1);
    struct host_group *third = host_find(members[3].host, "billing", text, sizeof text);
    host_be_patient(third, preempt_after_ms);
    host_stand(third, true, 9);
    struct host_group *first = host_find(members[1].host, "billing", text, sizeof text);
    while (waited < 6000 && !host_handover_target(first)) {
        pass(100);
        waited += 100;
    }
    close_world();
    return waited < 6000 ? waited : 0;
}

static void makes_way_when_the_better_one_has_stood_long_enough(void **state)
{
    const uint64_t at_once = makes_way_after(0), later = makes_way_after(3000);
    assert_true(at_once > 0 && at_once <= 1500);
    assert_true(later >= 3000 && later <= 4500);
    assert_int_equal(makes_way_after(UINT32_MAX), 0);
}

/* ---- Every algorithm over the same links ---- */

static void every_algorithm_elects_over_datagrams(void **state)
{
    uint32_t count;
    const struct el_algorithm *const *all = hosted_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        char text[200];
        open_world();
        for (el_node node = 1; node <= MEMBERS; node++) {
            struct config *config = &members[node].config;
            config->group_count = 1;
            snprintf(config->groups[0].name, sizeof config->groups[0].name, "other");
            config->groups[0].algorithm = all[i];
        }
        for (el_node node = 1; node <= MEMBERS; node++)
            if (!host_find(members[node].host, "other", text, sizeof text))
                fail_msg("%s: %s", all[i]->name, text);
        for (el_node node = 1; node <= MEMBERS; node++)
            host_stand(host_find(members[node].host, "other", text, sizeof text), true, node);
        el_node named = 0;
        for (unsigned tries = 0; tries < 100 && !named; tries++) {
            pass(200);
            named = host_view_of(host_find(members[1].host, "other", text, sizeof text)).leader;
            for (el_node node = 2; node <= MEMBERS; node++)
                if (host_view_of(host_find(members[node].host, "other", text, sizeof text)).leader != named)
                    named = 0;
        }
        if (!named) fail_msg("%s elects nobody", all[i]->name);
        close_world();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_stands_is_elected_and_nobody_else),
        cmocka_unit_test(the_others_know_who_leads_and_what_it_proclaims),
        cmocka_unit_test(a_dead_leader_is_replaced_after_its_lease),
        cmocka_unit_test(all_at_once_come_back_with_a_higher_token),
        cmocka_unit_test(the_worst_failover_is_on_the_slowest_clock),
        cmocka_unit_test(round_trips_are_measured_by_who_needs_answers),
        cmocka_unit_test(a_lost_disk_forgets_no_token),
        cmocka_unit_test(all_disks_lost_forget_no_token),
        cmocka_unit_test(a_cut_off_leader_stops_before_another_begins),
        cmocka_unit_test(resigning_and_handing_over_take_no_lease),
        cmocka_unit_test(the_heir_hears_first),
        cmocka_unit_test(no_election_waits_for_the_disk),
        cmocka_unit_test(what_is_overdue_comes_before_what_is_heard),
        cmocka_unit_test(who_has_handed_over_lets_the_heir_go_first),
        cmocka_unit_test(clients_are_told_when_work_must_be_over),
        cmocka_unit_test(makes_way_when_the_better_one_has_stood_long_enough),
        cmocka_unit_test(every_algorithm_elects_over_datagrams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
