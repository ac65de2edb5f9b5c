/* What a running agent takes over of a file that was read again, and what it says that it does not. */
#define _GNU_SOURCE
#include "lib/host/configs.h"

static struct config running;
static char told[4096];

static void hear(void *context, const struct config_difference *d)
{
    const size_t used = strlen(told);
    snprintf(told + used, sizeof told - used, "%s %s: %s, %s\n", d->section, d->key, d->was, d->is);
}

static bool permits(const char *group, uid_t uid)
{
    return config_permits(&config, group, CONFIG_CAMPAIGN, uid, NULL, 0);
}

static void merges(const char *before, const char *after, const char *words)
{
    accepts(before);
    running = config;
    accepts(after);
    told[0] = '\0';
    const uint32_t count = config_merge(&running, &config, hear, NULL);
    uint32_t lines = 0;
    for (const char *c = told; *c; c++) lines += *c == '\n';
    assert_string_equal(told, words);
    assert_int_equal(count, lines);
}

static void takes_over_rights_and_logging(void **state)
{
    merges(ALL "[group x]\nallow = uid:1\n", ALL "log = json\nverbose = on\n[group x]\nallow = uid:2\n", "");
    assert_true(permits("x", 2) && !permits("x", 1));
    assert_true(config.log == CONFIG_LOG_JSON && config.verbose);
}

static void takes_over_new_sections_behind_the_old(void **state)
{
    merges(ALL "[group x]\nlease = 2s\n",
           ALL "[group a*]\nlease = 3s\nallow = uid:7\n[group x]\nlease = 2s\nallow = uid:8\n", "");
    assert_int_equal(config.group_count, 2);
    assert_string_equal(config.groups[0].name, "x"); /* sessions refer to it by its place */
    assert_string_equal(config.groups[1].name, "a*");
    assert_string_equal(config.groups[1].options[0][1], "3s");
    assert_true(permits("abc", 7) && !permits("abc", 8));
    assert_true(permits("x", 8) && !permits("x", 7));
}

static void keeps_the_settings_of_a_section_and_says_so(void **state)
{
    merges(ALL "[group x]\nlease = 2s\nallow = uid:1\n[group y]\n",
           ALL "[group x]\nlease = 3s\nbeat = 100ms\nallow = uid:2\n",
           "[group x] lease: 2s, 3s\n[group x] beat: not set, 100ms\n[group y] section: there, removed\n");
    assert_string_equal(config.groups[0].options[0][1], "2s");
    assert_int_equal(config.groups[0].option_count, 1);
    assert_true(permits("x", 2)); /* its rights are taken over nevertheless */
    assert_int_equal(config.group_count, 2);
}

static void keeps_what_was_opened_at_the_start(void **state)
{
    merges(
        ALL,
        ALL
        "socket = /other\nstate = /else\nhttp = 99\nguardian = off\nrecorder = 64KiB\ngroup-limit = 7\nsocket-mode = 0600\n",
        "[agent] socket: /run/elector/agent.sock, /other\n"
        "[agent] state: /var/lib/elector/elector.state, /else\n"
        "[agent] http: 127.0.0.1:7480, 127.0.0.1:99\n"
        "[agent] recorder: 4194304, 65536\n"
        "[agent] group-limit: 131072, 7\n"
        "[agent] socket-mode: 0660, 0600\n");
    assert_string_equal(config.socket, "/run/elector/agent.sock");
    assert_false(config.guardian); /* which may be changed at any time */
}

static void keeps_the_members(void **state)
{
    merges(
        ALL,
        "[cluster]\nname = shop\ndrift = 0.02\nprofile = fast\n[member a]\nid = 1\naddress = 127.0.0.1:7401\n"
        "[member b]\nid = 2\nrole = witness\naddress = 127.0.0.1:7499\n[member d]\nid = 4\naddress = 127.0.0.1:7404\n" AGENT,
        "[cluster] drift: 0.010000, 0.020000\n[cluster] transmit: 10ms, 2ms\n[cluster] profile: lan, fast\n"
        "[member b] role: voter, witness\n[member b] address: 127.0.0.1:7402, 127.0.0.1:7499\n"
        "[member] c: a member, none\n[member] d: none, a member\n");
    assert_int_equal(config.member_count, 3);
    assert_string_equal(config.members[2].name, "c");
    assert_int_equal(config_port(&config.members[1].address), 7402);
}

/* ---- Names ---- */

#define NAMED                                                      \
    CLUSTER "[member a]\nid = 1\naddress = 127.0.0.1:7401\n" AGENT \
            "[member b]\nid = 2\naddress = b.name.invalid:7402\n"

static void a_name_that_is_not_found_is_no_mistake_for_an_agent(void **state)
{
    write_file("elector.conf", NAMED, 0644);
    assert_false(config_read(&config, path, text, sizeof text));
    assert_non_null(strstr(text, "cannot find the host 'b.name.invalid'"));
    mentions(CLUSTER "[member a]\nid = 1\naddress = 127.0.0.1\n" AGENT, "the port is missing");
    write_file("elector.conf", NAMED, 0644);
    /* Its stand-in is not on this host, so keys are asked for: the names themselves are no problem. */
    assert_false(config_read_patiently(&config, path, text, sizeof text));
    assert_non_null(strstr(text, "without keys all members are on this host"));
}

static void an_address_that_a_name_has_now_is_taken_over(void **state)
{
    struct config_member ours = {.host_name = "b:7402", .is_unresolved = true}, found = ours;
    char reason[200];
    assert_false(config_adopt_address(&ours, &found)); /* still not found */
    assert_true(config_address("127.0.0.9:7402", &found.address, reason, sizeof reason));
    found.is_unresolved = false;
    assert_true(config_adopt_address(&ours, &found));
    assert_false(ours.is_unresolved);
    assert_false(config_adopt_address(&ours, &found)); /* the same again */
    assert_true(config_address("127.0.0.8:7402", &found.address, reason, sizeof reason));
    found.is_unresolved = true; /* a name server that fails later takes nothing away */
    assert_false(config_adopt_address(&ours, &found));
    found.is_unresolved = false;
    assert_true(config_adopt_address(&ours, &found));
    snprintf(found.host_name, sizeof found.host_name, "c:7402");
    ours.address.ss_family = 0;
    assert_false(config_adopt_address(&ours, &found));
}

static void other_addresses_need_a_restart(void **state)
{
    accepts(ALL);
    running = config;
    assert_true(config_address("127.0.0.9:1", &config.members[2].others[0], text, sizeof text));
    config.members[2].other_count = 1;
    told[0] = '\0';
    assert_int_equal(config_merge(&running, &config, hear, NULL), 1);
    assert_string_equal(told, "[member c] address: none besides the first, 127.0.0.9:1\n");
    assert_int_equal(config.members[2].other_count, 0);
}

/* Where a dynamic member is now is no difference, and is kept; that it has an address of its own from now on is one. */
static void a_dynamic_member_stays_where_it_was_heard(void **state)
{
    char place[80];
    accepts(ALL);
    running = config;
    running.members[2].is_dynamic = config.members[2].is_dynamic = true;
    config.members[2].is_unresolved = true;
    config.members[2].address.ss_family = AF_INET6;
    told[0] = '\0';
    assert_int_equal(config_merge(&running, &config, hear, NULL), 0);
    config_write_place(&config, 3, place, sizeof place);
    assert_string_equal(place, "127.0.0.1:7403");
    config.members[2].is_dynamic = false;
    assert_int_equal(config_merge(&running, &config, hear, NULL), 1);
    assert_string_equal(told, "[member c] address: dynamic, 127.0.0.1:7403\n");
    assert_true(config.members[2].is_dynamic);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_over_rights_and_logging),
        cmocka_unit_test(takes_over_new_sections_behind_the_old),
        cmocka_unit_test(keeps_the_settings_of_a_section_and_says_so),
        cmocka_unit_test(keeps_what_was_opened_at_the_start),
        cmocka_unit_test(keeps_the_members),
        cmocka_unit_test(a_name_that_is_not_found_is_no_mistake_for_an_agent),
        cmocka_unit_test(an_address_that_a_name_has_now_is_taken_over),
        cmocka_unit_test(a_dynamic_member_stays_where_it_was_heard),
        cmocka_unit_test(other_addresses_need_a_restart),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
