/* An agent's configuration: what it means, and each mistake with the line that is said about it. */
#define _GNU_SOURCE
#include "lib/host/configs.h"

/* ---- What it means ---- */

static void a_small_file_takes_the_defaults(void **state)
{
    accepts(ALL);
    assert_string_equal(config.cluster, "shop");
    assert_int_equal(config.member_count, 3);
    assert_int_equal(config.self, 1);
    assert_false(config.has_keys);
    assert_string_equal(config.socket, "/run/elector/agent.sock");
    assert_string_equal(config.state, "/var/lib/elector/elector.state");
    assert_int_equal(config.socket_mode, 0660);
    assert_int_equal(config.socket_per_user, 1024);
    assert_int_equal(config.candidacies_per_user, 16384);
    assert_int_equal(config.observed_per_user, 16384);
    assert_int_equal(config.value_bytes_per_user, 1 << 20);
    assert_int_equal(config.group_limit, 131072);
    assert_int_equal(config.drift, 10000);
    assert_int_equal(config.transmit_max, 10000000);
    assert_int_equal(config.log, CONFIG_LOG_WORDS);
    assert_false(config.verbose);
    assert_true(config.guardian);
    assert_true(config.seccomp);
}

static void everything_can_be_said(void **state)
{
    accepts(
        "\xEF\xBB\xBF# a comment\n; and one\n"
        "[cluster] # here too\n  name = shop ; and here\r\n\tid = 000102030405060708090a0b0c0d0e0F\ndrift = 0.02\n"
        "transmit = 5ms\n"
        "[member c]\nid=30\naddress = [::1]:7403\nrole = observer\n"
        "[member a]\nid = 10\naddress = 127.0.0.1:7401\nrole = voter\n"
        "[member b]\nid = 20\naddress : 127.0.0.2:7401\nrole = witness\n"
        "[agent]\nself = b\nsocket = run/x.sock\nsocket-mode = 0600\nsocket-group = root\nsocket-per-user = 64\ncandidacies-per-user = 7\nobserved-per-user = 8\nvalue-bytes-per-user = 9\ngroup-limit = 10\nstate = /x/y\n"
        "log = json\nverbose = on\nguardian = off\nseccomp = off\n"
        "[group billing]\nlease = 2s\nbeat = 0.2s\npreempt = on\nallow = user:root, uid:1000,group:root , gid:7\n"
        "[group web/*]\nalgorithm = quorum\nlease = 3s\n[group *]\nlease = 4s\n");
    assert_int_equal(config.drift, 20000);
    assert_int_equal(config.transmit_max, 5000000);
    assert_int_equal(config.cluster_id[15], 15);
    assert_string_equal(config.members[0].name, "a"); /* by id */
    assert_string_equal(config.members[1].name, "b");
    assert_string_equal(config.members[2].name, "c");
    assert_int_equal(config.self, 2);
    assert_int_equal(config_position(&config, "c"), 3);
    assert_int_equal(config_position(&config, "d"), 0);
    assert_int_equal(config.members[1].role, CONFIG_WITNESS);
    assert_int_equal(config.members[2].role, CONFIG_OBSERVER);
    char expected[80], address[80];
    snprintf(expected, sizeof expected, "%s/run/x.sock", folder);
    assert_string_equal(config.socket, expected);
    assert_string_equal(config.state, "/x/y");
    assert_int_equal(config.socket_mode, 0600);
    assert_int_equal(config.socket_per_user, 64);
    assert_int_equal(config.candidacies_per_user, 7);
    assert_int_equal(config.observed_per_user, 8);
    assert_int_equal(config.value_bytes_per_user, 9);
    assert_int_equal(config.group_limit, 10);
    assert_true(config.has_socket_group);
    assert_int_equal(config.socket_group, 0);
    assert_int_equal(config.log, CONFIG_LOG_JSON);
    assert_true(config.verbose);
    assert_false(config.guardian);
    assert_false(config.seccomp);
    config_write_address(&config.members[2].address, address, sizeof address);
    assert_string_equal(address, "[::1]:7403");
    config_write_address(&config.members[1].address, address, sizeof address);
    assert_string_equal(address, "127.0.0.2:7401");
}

/* Where HTTP is served, as it was understood. */
static const char *http_of(const char *line)
{
    static char address[80];
    char content[600];
    snprintf(content, sizeof content, ALL "%s", line);
    accepts(content);
    if (!config.http.ss_family) return "off";
    config_write_address(&config.http, address, sizeof address);
    return address;
}

static void http_is_on_loopback_unless_told_otherwise(void **state)
{
    assert_string_equal(http_of(""), "127.0.0.1:7480");
    assert_true(config.http_is_default);
    assert_int_equal(config.http_groups, 1000);
    assert_string_equal(http_of("http = 81\nhttp-groups = 0\n"), "127.0.0.1:81");
    assert_false(config.http_is_default);
    assert_int_equal(config.http_groups, 0);
    assert_string_equal(http_of("http = 0.0.0.0:82\n"), "0.0.0.0:82");
    assert_string_equal(http_of("http = [::]:83\n"), "[::]:83");
    assert_string_equal(http_of("http = [::1]:83\n"), "[::1]:83");
    assert_int_equal(config_port(&config.http), 83);
    assert_string_equal(http_of("http = off\n"), "off");
}

static void a_section_holds_for_its_name_then_the_longest_prefix_then_all(void **state)
{
    accepts(
        ALL
        "[group web/shop]\n[group web/shop/*]\nlease = 5s\n[group web/*]\nlease = 3s\n[group *]\nlease = 4s\n");
    assert_string_equal(config_group_of(&config, "web/shop")->name, "web/shop");
    assert_string_equal(config_group_of(&config, "web/shop/1")->name, "web/shop/*");
    assert_string_equal(config_group_of(&config, "web/1")->name, "web/*");
    assert_string_equal(config_group_of(&config, "web")->name, "*");
    accepts(ALL);
    assert_null(config_group_of(&config, "web"));
}

static void values_are_presets_and_what_was_set(void **state)
{
    accepts(ALL "[group x]\nlease = 2.5s\nblock = 7\npreempt = on\n");
    const struct config_group *group = config_group_of(&config, "x");
    const struct el_algorithm *quorum = el_algorithm_named("quorum");
    struct el_value values[16], presets[16];
    config_values(NULL, group, group->algorithm, values);
    config_values(NULL, NULL, quorum, presets);
    assert_string_equal(quorum->options[0].name, "lease");
    assert_int_equal(values[0].number, UINT64_C(2500000000));
    assert_int_equal(presets[0].number, UINT64_C(1000000000));
    assert_int_equal(values[1].number, presets[1].number);
    assert_int_equal(values[5].number, 7);
    assert_int_equal(values[6].number, 1);
    assert_int_equal(presets[6].number, 0);
}

static uint64_t value_named(const struct config_group *group, const char *name)
{
    const struct el_algorithm *quorum = el_algorithm_named("quorum");
    struct el_value values[16];
    config_values(config.profile, group, quorum, values);
    for (uint32_t i = 0; i < quorum->option_count; i++)
        if (strcmp(quorum->options[i].name, name) == 0) return values[i].number;
    fail_msg("quorum has no option '%s'", name);
    return 0;
}

static void lan_is_what_holds_where_no_profile_is_named(void **state)
{
    static const char *const names[] = {"lease", "beat", "margin", "re-ask", "stagger"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        accepts(ALL);
        const uint64_t preset = value_named(NULL, names[i]), transmit = config.transmit_max;
        accepts(CLUSTER "profile = lan\n" MEMBERS AGENT);
        assert_int_equal(value_named(NULL, names[i]), preset);
        assert_int_equal(config.transmit_max, transmit);
    }
}

/* accepts() has checked that its times fit together. */
static void a_profile_is_a_set_of_times_for_quorum(void **state)
{
    accepts(CLUSTER "profile = fast\n" MEMBERS AGENT "[group x]\nalgorithm = chubby\n");
    assert_true(value_named(NULL, "lease") < UINT64_C(1000000000));
    assert_true(config.transmit_max < 10000000);
    struct el_value chubby[16], presets[16];
    const struct config_group *group = config_group_of(&config, "x");
    assert_true(group->algorithm->option_count <= 16);
    config_values(config.profile, group, group->algorithm, chubby);
    config_values(NULL, NULL, group->algorithm, presets);
    for (uint32_t i = 0; i < group->algorithm->option_count; i++)
        assert_int_equal(chubby[i].number, presets[i].number);
    assert_false(config_is_realtime(&config));
    accepts(CLUSTER "profile = wan\n" MEMBERS AGENT);
    assert_true(value_named(NULL, "lease") > UINT64_C(1000000000));
    assert_true(config.transmit_max >= 100000000);
    accepts(CLUSTER "profile = realtime\n" MEMBERS AGENT);
    assert_true(value_named(NULL, "lease") <= 30000000);
    assert_true(config_is_realtime(&config));
}

static void what_is_said_goes_above_the_profile_in_any_order(void **state)
{
    accepts("[cluster]\nname = shop\ntransmit = 20ms\nprofile = wan\n" MEMBERS AGENT "[group x]\nlease = 9s\n");
    assert_int_equal(config.transmit_max, 20000000);
    assert_int_equal(value_named(config_group_of(&config, "x"), "lease"), UINT64_C(9000000000));
    assert_int_equal(value_named(config_group_of(&config, "x"), "beat"), value_named(NULL, "beat"));
    accepts("[cluster]\nname = shop\nprofile = wan\ntransmit = 20ms\n" MEMBERS AGENT);
    assert_int_equal(config.transmit_max, 20000000);
}

static void a_cluster_s_id_comes_from_its_name(void **state)
{
    uint8_t id[SEAL_CLUSTER_ID];
    accepts(ALL);
    memcpy(id, config.cluster_id, sizeof id);
    assert_false(sodium_is_zero(id, sizeof id));
    accepts(ALL);
    assert_memory_equal(id, config.cluster_id, sizeof id);
    accepts("[cluster]\nname = shoq\n" MEMBERS AGENT);
    assert_memory_not_equal(id, config.cluster_id, sizeof id);
}

static void a_summary_says_who_and_how_many(void **state)
{
    char *summary = NULL;
    size_t size = 0;
    accepts(ALL "[group x]\nlease = 2s\nallow = uid:1\n");
    FILE *out = open_memstream(&summary, &size);
    assert_true(config_describe(&config, out));
    fclose(out);
    assert_non_null(strstr(summary, "cluster shop, id "));
    assert_non_null(strstr(summary, "  a            id 1    127.0.0.1:7401         voter, this agent\n"));
    assert_non_null(strstr(summary, "  2 of 3 votes elect, so 1 may fail\n"));
    assert_non_null(
        strstr(summary, "  x            quorum, lease 2s; only 1 users and 0 groups may campaign\n"));
    assert_non_null(strstr(summary, "  all others   quorum\n"));
    free(summary);
}

static void the_example_of_the_reference_is_understood(void **state)
{
    static char document[32768];
    FILE *file = fopen(ELECTOR_SOURCE_DIR "/docs/configuration.md", "r");
    assert_non_null(file);
    const size_t size = fread(document, 1, sizeof document - 1, file);
    fclose(file);
    document[size] = '\0';
    char *from = strstr(document, "```ini\n"), *end = from ? strstr(from + 7, "```") : NULL;
    assert_non_null(end);
    if (!config_parse(&config, "x.conf", from + 7, (size_t)(end - from - 7), true, text, sizeof text))
        fail_msg("%s", text);
    assert_int_equal(config.member_count, 3);
    assert_int_equal(config.group_count, 2);
}

/* ---- Keys ---- */

static char secret[2][64], public_key[2][64];

static void make_keys(void)
{
    for (int i = 0; i < 2; i++) {
        uint8_t bytes[2][SEAL_KEY];
        assert_true(seal_keygen(bytes[0], bytes[1]));
        sodium_bin2base64(secret[i], sizeof secret[i], bytes[0], SEAL_KEY, sodium_base64_VARIANT_ORIGINAL);
        sodium_bin2base64(public_key[i], sizeof public_key[i], bytes[1], SEAL_KEY,
                          sodium_base64_VARIANT_ORIGINAL);
    }
    char content[200];
    snprintf(content, sizeof content, "# of a\n%s\n", secret[0]);
    write_file("a.key", content, 0600);
    snprintf(content, sizeof content, "%s\n%s\n", secret[1], secret[0]);
    write_file("cluster.key", content, 0400);
}

/* Two members, one of them afar; each may lack its key. Lines 3 and 6 begin them, 10 is `self`. */
static const char *sealed(const char *a, const char *b, const char *rest)
{
    static char content[1000];
    snprintf(content, sizeof content,
             CLUSTER
             "[member a]\nid = 1\naddress = 127.0.0.1:7401\n%s%s%s[member b]\nid = 2\naddress = 10.0.0.2:7401\n"
             "%s%s%s" AGENT "%s",
             a ? "key = " : "", a ? a : "", a ? "\n" : "", b ? "key = " : "", b ? b : "", b ? "\n" : "", rest);
    return content;
}

#define FILES "key-file = a.key\ncluster-key-file = cluster.key\n"

static void keys_are_read_from_their_files(void **state)
{
    make_keys();
    accepts(sealed(public_key[0], public_key[1], FILES));
    assert_true(config.has_keys);
    assert_int_equal(config.cluster_key_count, 2);
    char base64[64];
    sodium_bin2base64(base64, sizeof base64, config.secret_key, SEAL_KEY, sodium_base64_VARIANT_ORIGINAL);
    assert_string_equal(base64, secret[0]);
    sodium_bin2base64(base64, sizeof base64, config.cluster_keys[0], SEAL_KEY, sodium_base64_VARIANT_ORIGINAL);
    assert_string_equal(base64, secret[1]);
}

static void keys_that_are_missing(void **state)
{
    make_keys();
    refuses(sealed(NULL, NULL, ""),
            ":6: without keys all members are on this host, and 'b' is not; `elector init` makes keys");
    refuses(sealed(public_key[0], NULL, FILES),
            ":7: member 'b' has no key, and others or this agent have one; write `key = `");
    mentions(sealed(NULL, NULL, FILES), ":3: member 'a' has no key, and others or this agent have one");
    refuses(sealed(public_key[0], public_key[1], "cluster-key-file = cluster.key\n"),
            ":12: members have keys; name this one's with `key-file = `");
    refuses(sealed(public_key[0], public_key[1], "key-file = a.key\n"),
            ":12: members have keys; name the cluster's with `cluster-key-file = `");
    refuses(sealed(public_key[0], public_key[0], FILES),
            ":7: members 'a' and 'b' have the same key; each has its own");
}

static void keys_that_are_wrong(void **state)
{
    make_keys();
    mentions(sealed("abc", NULL, FILES), ":6: 'key' is the base64 of a public key, 44 characters");
    mentions(sealed("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", NULL, FILES), ":6: 'key' is the base64");
    mentions(sealed(public_key[1], public_key[0], FILES), "does not belong to the key of member 'a'");
    mentions(sealed(public_key[0], public_key[1], "key-file = b.key\ncluster-key-file = cluster.key\n"),
             "/b.key: cannot read this key file: No such file");
    mentions(sealed(public_key[0], public_key[1], "key-file = .\ncluster-key-file = cluster.key\n"),
             "not a regular file; a key file must be one");
    mentions(sealed(public_key[0], public_key[1], "key-file = cluster.key\ncluster-key-file = cluster.key\n"),
             "/cluster.key:2: too many keys; at most 1 may be here");
    write_file("b.key", "", 0600);
    mentions(sealed(public_key[0], public_key[1], "key-file = b.key\ncluster-key-file = cluster.key\n"),
             "/b.key: there is no key in it");
    write_file("b.key", "\nsecret\n", 0600);
    mentions(sealed(public_key[0], public_key[1], "key-file = b.key\ncluster-key-file = cluster.key\n"),
             "/b.key:2: this is not a key; a key is 44 characters of base64");
    assert_null(strstr(text, "secret"));
}

static void key_files_that_others_may_read_are_refused(void **state)
{
    static const mode_t modes[] = {0640, 0604, 0660, 0601};
    make_keys();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char file[80], words[80];
        snprintf(words, sizeof words, "others may read this key file (mode %04o); chmod it to 0600 or 0400",
                 (unsigned)modes[i]);
        snprintf(file, sizeof file, "%s/a.key", folder);
        chmod(file, modes[i]);
        mentions(sealed(public_key[0], public_key[1], FILES), words);
        chmod(file, 0600);
        snprintf(file, sizeof file, "%s/cluster.key", folder);
        chmod(file, modes[i]);
        mentions(sealed(public_key[0], public_key[1], FILES), words);
        chmod(file, 0400);
    }
    accepts(sealed(public_key[0], public_key[1], FILES));
}

/* ---- Members with several addresses ---- */

static void a_member_may_have_several_addresses(void **state)
{
    char place[CONFIG_PLACE_TEXT];
    accepts(CLUSTER "[member a]\nid = 1\naddress = 127.0.0.1:7401, [::1]:7401 ,127.0.0.2:7401\n"
                    "[member b]\nid = 2\naddress = localhost:7402,127.0.0.2:7402\n" AGENT);
    assert_int_equal(config_address_count(&config.members[0]), 3);
    config_write_place(&config, 1, place, sizeof place);
    assert_string_equal(place, "127.0.0.1:7401,[::1]:7401,127.0.0.2:7401");
    config_write_place(&config, 2, place, sizeof place);
    assert_string_equal(place, "127.0.0.1:7402,127.0.0.2:7402");
    assert_string_equal(config.members[1].host_name, "localhost:7402");
    char small[8];
    config_write_place(&config, 1, small, sizeof small);
    assert_string_equal(small, "127.0.0");
}

/* ---- Members without an address of their own ---- */

/* Voters a and b, and a candidate c that is dynamic. */
static void read_dynamic(const char *voter, const char *self)
{
    char content[1200], key[3][48];
    for (int i = 0; i < 3; i++) {
        uint8_t bytes[SEAL_KEY] = {(uint8_t)(i + 1)};
        sodium_bin2base64(key[i], sizeof key[i], bytes, sizeof bytes, sodium_base64_VARIANT_ORIGINAL);
    }
    const int size = snprintf(content, sizeof content,
                              CLUSTER "[member c]\nid = 3\naddress = dynamic\nrole = candidate\nkey = %s\n"
                                      "[member a]\nid = 1\naddress = %s:7401\nkey = %s\n"
                                      "[member b]\nid = 2\naddress = %s:7402\nkey = %s\n"
                                      "[agent]\nself = %s\nkey-file = k\ncluster-key-file = c\n",
                              key[2], voter, key[0], voter, key[1], self);
    if (!config_parse(&config, "x.conf", content, (size_t)size, true, text, sizeof text)) fail_msg("%s", text);
}

static void a_candidate_may_be_anywhere(void **state)
{
    char place[80];
    read_dynamic("10.0.0.1", "a");
    assert_true(config.members[2].is_dynamic &&
                config.members[2].is_unresolved); /* nothing is sent there yet */
    config_write_place(&config, 3, place, sizeof place);
    assert_string_equal(place, "dynamic");
    config_write_place(&config, 1, place, sizeof place);
    assert_string_equal(place, "10.0.0.1:7401");
    config.members[2].is_unresolved = false; /* it was heard */
    config.members[2].address = config.members[0].address;
    config_write_place(&config, 3, place, sizeof place);
    assert_string_equal(place, "10.0.0.1:7401");
}

/* Its own agent binds to any address of the kind that voters have, and to any port. */
static void a_dynamic_agent_binds_to_a_wildcard(void **state)
{
    static const char *const voters[] = {"10.0.0.1", "[2001:db8::1]"}, *const wildcards[] = {"0.0.0.0:0",
                                                                                             "[::]:0"};
    char address[80];
    for (int i = 0; i < 2; i++) {
        read_dynamic(voters[i], "c");
        assert_false(config.members[2].is_unresolved);
        config_write_address(&config.members[2].address, address, sizeof address);
        assert_string_equal(address, wildcards[i]);
        config_write_place(&config, 3, address, sizeof address);
        assert_string_equal(address, "dynamic");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_file_takes_the_defaults),
        cmocka_unit_test(everything_can_be_said),
        cmocka_unit_test(http_is_on_loopback_unless_told_otherwise),
        cmocka_unit_test(a_section_holds_for_its_name_then_the_longest_prefix_then_all),
        cmocka_unit_test(values_are_presets_and_what_was_set),
        cmocka_unit_test(lan_is_what_holds_where_no_profile_is_named),
        cmocka_unit_test(a_profile_is_a_set_of_times_for_quorum),
        cmocka_unit_test(what_is_said_goes_above_the_profile_in_any_order),
        cmocka_unit_test(a_cluster_s_id_comes_from_its_name),
        cmocka_unit_test(a_summary_says_who_and_how_many),
        cmocka_unit_test(the_example_of_the_reference_is_understood),
        cmocka_unit_test(a_member_may_have_several_addresses),
        cmocka_unit_test(a_candidate_may_be_anywhere),
        cmocka_unit_test(a_dynamic_agent_binds_to_a_wildcard),
        cmocka_unit_test(keys_are_read_from_their_files),
        cmocka_unit_test(keys_that_are_missing),
        cmocka_unit_test(keys_that_are_wrong),
        cmocka_unit_test(key_files_that_others_may_read_are_refused),
    };
    return cmocka_run_group_tests_name("config", tests, make_folder, remove_folder);
}
