/* Hosts whose disk is stuck, fails or is full, and whose peers have other ideas, or none. */
#include "lib/host/hosts.h"

#include "agent/host/internal.h"

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

/* Groups that need a record of their own. */
static void lead_by(const char *algorithm)
{
    for (el_node node = 1; node <= MEMBERS; node++) {
        struct config *config = &members[node].config;
        struct config_group *section = &config->groups[config->group_count++];
        *section = (struct config_group){.algorithm = el_algorithm_named(algorithm)};
        snprintf(section->name, sizeof section->name, "%s", algorithm);
    }
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
    lead_by("raft");
    assert_null(
        host_find(members[first].host, "raft", text, sizeof text)); /* it would need a record of its own */
    assert_non_null(strstr(text, "4096 groups"));
    assert_non_null(host_find(members[first].host, "one-more", text, sizeof text));
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

/* A beat of the detector beside bully: who is heard of is alive. */
static void bring_beat(el_node from, el_node says)
{
    char text[200];
    struct host_group *group = host_find(members[1].host, "other", text, sizeof text);
    struct payload payload;
    const struct payload_entry entry = {.type = PAYLOAD_MESSAGE,
                                        .group = group->key,
                                        .settings = host_single_of(group)->runner.settings,
                                        .flags = PAYLOAD_DETECTOR,
                                        .msg = {.from = says, .to = 1, .subject = says, .kind = 1}};
    payload_begin(&payload, members[1].host->members);
    assert_true(payload_add(&payload, &entry));
    host_receive(members[1].host, from, payload.bytes, payload.size);
}

static void nobody_speaks_in_anothers_name(void **state)
{
    char text[200];
    open_world();
    members[1].config.group_count = 1;
    members[1].config.groups[0] =
        (struct config_group){.name = "other", .algorithm = el_algorithm_named("bully")};
    struct host_group *group = host_find(members[1].host, "other", text, sizeof text);
    assert_non_null(group);
    pass(10000);
    assert_true(host_single_of(group)->suspected[2]); /* 3 was never heard of in this group */
    bring_beat(2, 3);
    assert_true(host_single_of(group)->suspected[2]);
    bring_beat(3, 3);
    assert_false(host_single_of(group)->suspected[2]);
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
    lead_by("chubby");
    while (record_count(full->record) < RECORD_GROUPS_MAX)
        assert_true(record_put(full->record, key++, &(struct el_durable){.epoch = 1}));
    assert_null(host_find(full->host, "chubby", text, sizeof text));
    assert_non_null(strstr(text, "4096"));
    for (el_node node = 2; node <= MEMBERS; node++)
        host_stand(host_find(members[node].host, "chubby", text, sizeof text), true, 0);
    pass(3000); /* in which the others speak of it */
    assert_null(host_find(full->host, "chubby", text, sizeof text));
    assert_false(host_has_failed(full->host));
    assert_true(leads(1));
    close_world();
}

/* Each set of times has sessions of its own, and there are not that many. */
static void times_that_differ_in_too_many_ways_are_refused(void **state)
{
    char text[200] = "";
    unsigned found = 0;
    open_world();
    struct config *config = &members[1].config;
    for (unsigned i = 0; i < 20; i++) {
        struct config_group *section = &config->groups[config->group_count++];
        *section = (struct config_group){.option_count = 1};
        snprintf(section->name, sizeof section->name, "g%u", i);
        snprintf(section->options[0][0], sizeof section->options[0][0], "lease");
        snprintf(section->options[0][1], sizeof section->options[0][1], "%ums", 2000 + i);
        if (host_find(members[1].host, section->name, text, sizeof text)) found++;
    }
    assert_int_equal(found, 15); /* and those of who asks for nothing */
    assert_non_null(strstr(text, "16 ways"));
    assert_non_null(host_find(members[1].host, "one-more", text, sizeof text));
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_said_before_it_is_saved),
        cmocka_unit_test(a_failed_disk_ends_every_claim),
        cmocka_unit_test(a_group_too_many_is_refused),
        cmocka_unit_test(other_settings_or_members_are_not_listened_to),
        cmocka_unit_test(nobody_speaks_in_anothers_name),
        cmocka_unit_test(garbage_is_dropped),
        cmocka_unit_test(a_full_record_takes_no_new_group_and_ends_nobody),
        cmocka_unit_test(times_that_differ_in_too_many_ways_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
