/* Hosts in one process, on one clock that only the test moves, with a network and disks that it can spoil. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/host.h"
#include "agent/seal.h"

enum { MEMBERS = 3, MILLISECOND = 1000000, QUEUE_MAX = 4096 };

struct datagram {
    uint64_t at;
    el_node from, to;
    size_t size;
    uint8_t bytes[SEAL_PAYLOAD_MAX];
};

struct member {
    struct host *host;
    struct record *record;
    struct config config;
    struct record_image *writing;
    uint64_t written_at;
    bool alive, disk_is_stuck, disk_fails;
    char path[64];
    uint64_t highest; /* token with which it ever led here */
};

static struct member members[MEMBERS + 1];
static struct datagram queue[QUEUE_MAX];
static size_t queued;
static uint64_t now;
static bool cut[MEMBERS + 1][MEMBERS + 1];
static uint64_t seed;
static uint64_t last_token; /* of whoever led last, in true time */
static el_node last_leader;
static unsigned elections;

/* ---- The world ---- */

static uint64_t hook_now(void *whose)
{
    return now;
}

static uint64_t hook_random(void *whose)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return seed >> 11;
}

static uint64_t hook_wall(void *whose)
{
    return 1700000000000 + now / MILLISECOND;
}

static void hook_send(void *whose, el_node to, const uint8_t *payload, size_t size)
{
    struct member *member = whose;
    assert_true(size <= SEAL_PAYLOAD_MAX);
    if (cut[member->config.self][to] || queued == QUEUE_MAX) return;
    queue[queued] = (struct datagram){now + MILLISECOND, member->config.self, to, size, {0}};
    memcpy(queue[queued++].bytes, payload, size);
}

static void hook_save(void *whose, struct record_image *image)
{
    struct member *member = whose;
    assert_null(member->writing); /* one at a time */
    member->writing = image;
    member->written_at = now + 2 * MILLISECOND;
}

static bool leads(el_node node)
{
    char text[200];
    if (!members[node].alive) return false;
    struct host_group *group = host_find(members[node].host, "billing", text, sizeof text);
    const struct host_view view = host_view_of(group);
    return view.role == EL_LEADER && view.deadline_ns > now;
}

/* After every event: one leader at most, and tokens only rise. */
static void hook_changed(void *whose, struct host_group *group)
{
    struct member *member = whose;
    const struct host_view view = host_view_of(group);
    if (view.role != EL_LEADER || strcmp(host_name(group), "billing") != 0) return;
    if (member->config.self == last_leader && view.token == last_token) return;
    assert_true(view.token > last_token);
    last_token = view.token;
    last_leader = member->config.self;
    elections++;
}

static void hook_note(void *whose, struct host_group *group, const char *text)
{
    if (getenv("ELECTOR_TELL"))
        print_message("%6llu %u %s\n", (unsigned long long)(now / MILLISECOND),
                      ((struct member *)whose)->config.self, text);
}

static void start(el_node node)
{
    struct member *member = &members[node];
    char text[200];
    const struct record_identity identity = {.cluster_id = {7}, .member = node};
    const enum record_outcome outcome =
        record_open(&member->record, member->path, &identity, text, sizeof text);
    assert_true(outcome != RECORD_REFUSED);
    const struct host_hooks hooks = {member,    hook_now,  hook_send,   hook_save, hook_changed,
                                     hook_note, hook_note, hook_random, hook_wall};
    member->host = host_new(&member->config, member->record, hooks);
    assert_non_null(member->host);
    member->alive = true;
    assert_non_null(host_find(member->host, "billing", text, sizeof text));
}

static void die(el_node node)
{
    struct member *member = &members[node];
    if (!member->alive) return;
    host_free(member->host);
    record_close(member->record);
    free(member->writing);
    member->writing = NULL;
    member->host = NULL;
    member->alive = false;
}

static void open_world(void)
{
    char text[200];
    memset(cut, 0, sizeof cut);
    memset(members, 0, sizeof members);
    queued = 0;
    now = 1000000000;
    last_token = last_leader = elections = 0;
    seed = 42;
    for (el_node node = 1; node <= MEMBERS; node++) {
        struct member *member = &members[node];
        member->config = (struct config){.cluster = "test",
                                         .cluster_id = {7},
                                         .member_count = MEMBERS,
                                         .self = node,
                                         .drift = 10000,
                                         .transmit_max = 2 * MILLISECOND};
        for (el_node each = 1; each <= MEMBERS; each++) {
            snprintf(member->config.members[each - 1].name, 16, "m%u", each);
            member->config.members[each - 1].id = each;
        }
        snprintf(member->path, sizeof member->path, "/tmp/elector-host-%d-%u", (int)getpid(), node);
        unlink(member->path);
        const struct record_identity identity = {.cluster_id = {7}, .member = node};
        assert_true(record_create(member->path, &identity, text, sizeof text));
        start(node);
    }
}

static void close_world(void)
{
    for (el_node node = 1; node <= MEMBERS; node++) {
        die(node);
        unlink(members[node].path);
    }
}

static void finish_write(struct member *member)
{
    struct record_image *image = member->writing;
    const int error = member->disk_fails ? 5 : record_write(member->record, image);
    const uint64_t version = image->version;
    member->writing = NULL;
    free(image);
    host_saved(member->host, version, error);
}

static void deliver_first(void)
{
    const struct datagram datagram = queue[0];
    memmove(queue, queue + 1, --queued * sizeof *queue);
    struct member *to = &members[datagram.to];
    if (to->alive && !cut[datagram.from][datagram.to])
        host_receive(to->host, datagram.from, datagram.bytes, datagram.size);
}

/* Time passes, and everything that falls into it happens. */
static void pass(uint64_t ms)
{
    const uint64_t end = now + ms * MILLISECOND;
    for (;;) {
        uint64_t next = end;
        for (el_node node = 1; node <= MEMBERS; node++) {
            struct member *member = &members[node];
            if (!member->alive) continue;
            const uint64_t due = host_tick(member->host);
            if (due < next) next = due;
            if (member->writing && !member->disk_is_stuck && member->written_at < next)
                next = member->written_at;
        }
        if (queued && queue[0].at < next) next = queue[0].at;
        if (next > now) now = next;
        for (el_node node = 1; node <= MEMBERS; node++) {
            struct member *member = &members[node];
            if (member->alive && member->writing && !member->disk_is_stuck && member->written_at <= now)
                finish_write(member);
        }
        while (queued && queue[0].at <= now) deliver_first();
        assert_true(leads(1) + leads(2) + leads(3) <= 1);
        if (now >= end) return;
    }
}

static void stand(el_node node, bool stands)
{
    char text[200];
    host_stand(host_find(members[node].host, "billing", text, sizeof text), stands, 0);
}

static el_node leader(void)
{
    return leads(1) ? 1 : leads(2) ? 2 : leads(3) ? 3 : 0;
}

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

/* As a runner does that rejoins: it must not overtake the heir. */
static void who_has_handed_over_lets_the_heir_go_first(void **state)
{
    for (uint64_t delay = 0; delay < 20; delay++) {
        char text[200];
        open_world();
        seed += delay;
        for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
        pass(3000);
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

static void nothing_is_said_before_it_is_saved(void **state)
{
    open_world();
    pass(1000);
    for (el_node node = 1; node <= MEMBERS; node++) members[node].disk_is_stuck = true;
    for (el_node node = 1; node <= MEMBERS; node++) die(node);
    for (el_node node = 1; node <= MEMBERS; node++) start(node); /* each start saves a new incarnation */
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(5000);
    assert_int_equal(leader(), 0);
    for (el_node node = 1; node <= MEMBERS; node++) members[node].disk_is_stuck = false;
    pass(5000);
    assert_int_not_equal(leader(), 0);
    close_world();
}

static void a_failed_disk_ends_every_claim(void **state)
{
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    const el_node first = leader();
    members[first].writing = record_image_of(members[first].record);
    members[first].disk_fails = true;
    finish_write(&members[first]);
    assert_int_equal(leader(), 0);
    pass(4000);
    assert_int_not_equal(leader(), 0);
    assert_int_not_equal(leader(), first);
    close_world();
}

/* Groups of earlier lives stay on record; one more must not cost all others their leader. */
static void a_group_too_many_is_refused(void **state)
{
    char text[200];
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    const el_node first = leader();
    for (uint64_t key = 1; record_has_room(members[first].record, key + 1); key++)
        assert_true(record_put(members[first].record, key, &(struct el_durable){.epoch = 1}));
    assert_null(host_find(members[first].host, "one-more", text, sizeof text));
    assert_non_null(strstr(text, "4096 groups"));
    assert_false(host_has_failed(members[first].host));
    pass(1000);
    assert_int_equal(leader(), first);
    close_world();
}

static void other_settings_or_members_are_not_listened_to(void **state)
{
    open_world();
    die(3);
    die(2);
    members[3].config.members[0].role = CONFIG_WITNESS; /* it has another idea of who is what */
    start(3);
    stand(1, true);
    stand(3, true);
    pass(4000);
    assert_int_equal(leader(), 0); /* 1 and 3 are no majority together */
    start(2);
    pass(4000);
    assert_int_equal(leader(), 1);
    close_world();
}

static void garbage_is_dropped(void **state)
{
    uint8_t bytes[SEAL_PAYLOAD_MAX];
    open_world();
    stand(1, true);
    pass(3000);
    for (unsigned i = 0; i < 20000; i++) {
        const size_t size = hook_random(NULL) % sizeof bytes;
        for (size_t j = 0; j < size; j++) bytes[j] = (uint8_t)hook_random(NULL);
        if (queued && i % 2) { /* a real one, spoilt */
            memcpy(bytes, queue[0].bytes, queue[0].size);
            bytes[hook_random(NULL) % queue[0].size] ^= (uint8_t)(1u << hook_random(NULL) % 8);
            host_receive(members[2].host, 1 + (el_node)(hook_random(NULL) % 4), bytes, queue[0].size);
        } else {
            host_receive(members[2].host, 1 + (el_node)(hook_random(NULL) % 4), bytes, size);
        }
        if (i % 50 == 0) pass(20);
    }
    close_world();
}

/* Groups of earlier starts stay in the record. One more than fit there is refused; the member goes on with the others. */
static void a_full_record_takes_no_new_group_and_ends_nobody(void **state)
{
    char text[200] = "";
    uint64_t key = 1;
    open_world();
    stand(1, true);
    pass(3000);
    assert_true(leads(1));
    struct member *full = &members[1];
    while (record_count(full->record) < RECORD_GROUPS_MAX - 1)
        assert_true(record_put(full->record, key++, &(struct el_durable){.epoch = 1}));
    assert_non_null(host_find(full->host, "last", text, sizeof text));
    assert_null(host_find(full->host, "other", text, sizeof text));
    assert_non_null(strstr(text, "4096"));
    for (el_node node = 2; node <= MEMBERS; node++)
        host_stand(host_find(members[node].host, "other", text, sizeof text), true, 0);
    pass(3000); /* in which the others speak of it */
    assert_null(host_find(full->host, "other", text, sizeof text));
    assert_false(host_has_failed(full->host));
    assert_true(leads(1));
    close_world();
}

/* ---- Making way ---- */

/* When 1 leads and 3, of higher priority, begins to stand: for how many ms it leads on content; 0: 6 s and more. */
static uint64_t makes_way_after(uint32_t patience)
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
    host_be_patient(third, patience);
    host_stand(third, true, 9);
    struct host_group *first = host_find(members[1].host, "billing", text, sizeof text);
    while (waited < 6000 && !host_wish(first)) {
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
    const struct el_algorithm *const *all = el_algorithms(&count);
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
        cmocka_unit_test(a_lost_disk_forgets_no_token),
        cmocka_unit_test(a_cut_off_leader_stops_before_another_begins),
        cmocka_unit_test(resigning_and_handing_over_take_no_lease),
        cmocka_unit_test(who_has_handed_over_lets_the_heir_go_first),
        cmocka_unit_test(nothing_is_said_before_it_is_saved),
        cmocka_unit_test(a_failed_disk_ends_every_claim),
        cmocka_unit_test(a_group_too_many_is_refused),
        cmocka_unit_test(other_settings_or_members_are_not_listened_to),
        cmocka_unit_test(garbage_is_dropped),
        cmocka_unit_test(a_full_record_takes_no_new_group_and_ends_nobody),
        cmocka_unit_test(makes_way_when_the_better_one_has_stood_long_enough),
        cmocka_unit_test(every_algorithm_elects_over_datagrams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
