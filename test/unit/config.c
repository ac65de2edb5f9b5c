/* An agent's configuration: what it means, and each mistake with the line that is said about it. */
#define _GNU_SOURCE
#include "agent/config.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/units.h"

static char folder[] = "/tmp/elector-config-XXXXXX";
static char path[64], text[700];
static struct config config;

/* ---- A small bench ---- */

static int make_folder(void **state)
{
    if (sodium_init() < 0 || !mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/elector.conf", folder);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"elector.conf", "a.key", "b.key", "cluster.key"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        unlink(name);
    }
    return rmdir(folder);
}

static void write_file(const char *name, const char *content, mode_t mode)
{
    char file_path[80];
    snprintf(file_path, sizeof file_path, "%s/%s", folder, name);
    unlink(file_path);
    FILE *file = fopen(file_path, "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(file_path, mode), 0);
}

/* Three on this host, and lines that go behind or instead. */
#define CLUSTER "[cluster]\nname = shop\n"
#define MEMBERS                                                                                    \
    "[member a]\nid = 1\naddress = 127.0.0.1:7401\n[member b]\nid = 2\naddress = 127.0.0.1:7402\n" \
    "[member c]\nid = 3\naddress = 127.0.0.1:7403\n"
#define AGENT "[agent]\nself = a\n"
#define ALL CLUSTER MEMBERS AGENT /* 13 lines */

static bool read_text(const char *content)
{
    write_file("elector.conf", content, 0644);
    return config_read(&config, path, text, sizeof text);
}

static void accepts(const char *content)
{
    if (!read_text(content)) fail_msg("%s", text);
    assert_string_equal(text, "");
}

/* `words` come after the path, from the colon on. */
static void refuses(const char *content, const char *words)
{
    static const struct config nothing;
    if (read_text(content)) fail_msg("accepted, and should have said %s", words);
    if (strncmp(text, path, strlen(path)) != 0 || strcmp(text + strlen(path), words) != 0)
        fail_msg("said   %s\nshould %s%s", text, path, words);
    assert_memory_equal(&config, &nothing, sizeof config);
}

/* The same where the rest of the line does not matter. */
static void mentions(const char *content, const char *words)
{
    if (read_text(content)) fail_msg("accepted, and should have said %s", words);
    if (!strstr(text, words)) fail_msg("'%s' is not in: %s", words, text);
    assert_null(strchr(text, '\n'));
}

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
    assert_int_equal(config.drift, 10000);
    assert_int_equal(config.transmit_max, 10000000);
    assert_int_equal(config.log, CONFIG_LOG_WORDS);
    assert_false(config.verbose);
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
        "[agent]\nself = b\nsocket = run/x.sock\nsocket-mode = 0600\nsocket-group = root\nstate = /x/y\n"
        "log = json\nverbose = on\n"
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
    assert_true(config.has_socket_group);
    assert_int_equal(config.socket_group, 0);
    assert_int_equal(config.log, CONFIG_LOG_JSON);
    assert_true(config.verbose);
    config_write_address(&config.members[2].address, address, sizeof address);
    assert_string_equal(address, "[::1]:7403");
    config_write_address(&config.members[1].address, address, sizeof address);
    assert_string_equal(address, "127.0.0.2:7401");
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
    config_values(group, group->algorithm, values);
    config_values(NULL, quorum, presets);
    assert_string_equal(quorum->options[0].name, "lease");
    assert_int_equal(values[0].number, UINT64_C(2500000000));
    assert_int_equal(presets[0].number, UINT64_C(1000000000));
    assert_int_equal(values[1].number, presets[1].number);
    assert_int_equal(values[5].number, 7);
    assert_int_equal(values[6].number, 1);
    assert_int_equal(presets[6].number, 0);
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

static void only_who_is_allowed_may_campaign(void **state)
{
    const gid_t groups[] = {50, 77};
    accepts(ALL "[group x]\nallow = uid:1000, gid:77\n[group y]\n");
    assert_true(config_permits(&config, "x", 0, NULL, 0));
    assert_true(config_permits(&config, "x", geteuid(), NULL, 0));
    assert_true(config_permits(&config, "x", 1000, NULL, 0));
    assert_false(config_permits(&config, "x", 1001, NULL, 0));
    assert_false(config_permits(&config, "x", 1001, groups, 1));
    assert_true(config_permits(&config, "x", 1001, groups, 2));
    assert_true(config_permits(&config, "y", 1001, NULL, 0));
    assert_true(config_permits(&config, "z", 1001, NULL, 0));
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
    assert_non_null(
        strstr(summary, "  a            id 1    127.0.0.1:7401         voter, which is this one\n"));
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

/* ---- Mistakes, one each ---- */

static void mistakes_in_lines(void **state)
{
    refuses("name = x\n", ":1: 'name' stands before any section; put [cluster] or another above it");
    refuses(CLUSTER "what\n", ":3: a line is [section], key = value, or a comment that begins with #");
    refuses(CLUSTER "[grup x]\n",
            ":3: there is no section [grup x]; there are cluster, member NAME, agent and group NAME");
    refuses(CLUSTER "[group x\n", ":3: a section is written as [agent] or [group NAME]");
    refuses(CLUSTER "[agent] self = a\n", ":3: a section is written as [agent] or [group NAME]");
    refuses(CLUSTER "\n[cluster]\n", ":4: there is a section [cluster] already; join them");
    refuses(ALL AGENT, ":14: there is a section [agent] already; join them");
    refuses(CLUSTER "name = y\n", ":3: 'name' was set in this section already; keep one");
    refuses(CLUSTER "nmae = y\n",
            ":3: there is no key 'nmae' in this section; there are name, id, drift, transmit");
    refuses(CLUSTER "x\x01 = y\n", ":3: this is not text; a configuration is a text file");
    char longer[400] = CLUSTER "drift = ";
    memset(longer + strlen(longer), '0', 300);
    refuses(longer, ":3: a line has at most 198 characters");
    longer[strlen(CLUSTER)] = '#';
    mentions(longer, "which member is this?");
    assert_false(config_read(&config, "/nowhere/x.conf", text, sizeof text));
    assert_string_equal(text, "/nowhere/x.conf: cannot read it: No such file or directory");
    assert_false(config_read(&config, folder, text, sizeof text));
    assert_non_null(strstr(text, "cannot read it: Is a directory"));
    assert_false(config_parse(&config, "x.conf", "[agent]\nself\0 = a", 17, true, text, sizeof text));
    assert_string_equal(text, "x.conf:2: this is not text; a configuration is a text file");
}

static void mistakes_about_the_cluster(void **state)
{
    refuses(MEMBERS AGENT, ": the cluster has no name; write `name = ` into [cluster]");
    refuses("[cluster]\nname = -x\n", ":2: a cluster's name is 1 to 63 letters, digits and ._-:/, not '-x'");
    mentions("[cluster]\nid = 0011\n", ":2: a cluster's id is 32 hexadecimal digits, not all 0;");
    mentions("[cluster]\nid = 00000000000000000000000000000000\n", ":2: a cluster's id is 32 hex");
    mentions("[cluster]\nid = 000102030405060708090a0b0c0d0e0f00\n", ":2: a cluster's id is 32 hex");
    static const char *const drifts[] = {"0.6", "-1", "1e-3", "", ".", "0.0000001", "99999999999999999999"};
    for (size_t i = 0; i < sizeof drifts / sizeof *drifts; i++) {
        char content[80];
        snprintf(content, sizeof content, "[cluster]\ndrift = %s\n", drifts[i]);
        mentions(content, ":2: 'drift' is a number from 0 to 0.5, such as 0.01, not '");
    }
    static const char *const times[] = {
        "20", "0ms", "20 ms", "-1s", "ms", "1.s", "2d", "100000s", "99999999999999999999s"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char content[80];
        snprintf(content, sizeof content, "[cluster]\ntransmit = %s\n", times[i]);
        mentions(content, ":2: 'transmit' is a time with its unit, such as 20ms, not '");
    }
}

static void mistakes_about_members(void **state)
{
    refuses(ALL "[member x/y]\n", ":14: a member's name is 1 to 63 letters, digits and ._-, not 'x/y'");
    refuses(ALL "[member a]\n", ":14: member 'a' has a section in line 3 already; give this one another name");
    refuses(ALL "[member d]\naddress = 127.0.0.1:9\n", ":14: member 'd' has no id; write `id = ` and a number");
    refuses(ALL "[member d]\nid = 4\n", ":14: member 'd' has no address; write `address = HOST:PORT`");
    refuses(ALL "[member d]\nid = 0\n", ":15: a member's id is a whole number from 1 to 1000, not '0'");
    refuses(ALL "[member d]\nid = 1001\n", ":15: a member's id is a whole number from 1 to 1000, not '1001'");
    refuses(ALL "[member d]\nid = 1x\n", ":15: a member's id is a whole number from 1 to 1000, not '1x'");
    refuses(ALL "[member d]\nrole = king\n", ":15: 'role' is voter, witness or observer, not 'king'");
    refuses(ALL "[member d]\nid = 2\naddress = 127.0.0.1:9\n",
            ":14: members 'b' and 'd' have the same id; each has its own");
    refuses(ALL "[member d]\nid = 4\naddress = 127.0.0.1:7402\n",
            ":14: members 'b' and 'd' have the same address; each has its own");
    refuses(CLUSTER MEMBERS "[agent]\nlog = json\n",
            ": which member is this? Write `self = NAME` into [agent]");
    refuses(CLUSTER MEMBERS "[agent]\nself = d\n", ":13: 'self' names 'd', and there is no such member");
    refuses(CLUSTER AGENT, ": no member may lead; write [member NAME] for each, and some as voters");
    mentions(CLUSTER "[member a]\nid = 1\naddress = 127.0.0.1:1\nrole = witness\n" AGENT,
             ": no member may lead;");
    char many[8192] = CLUSTER;
    for (int i = 1; i <= 65; i++) {
        const size_t used = strlen(many);
        snprintf(many + used, sizeof many - used, "[member m%d]\nid = %d\naddress = 127.0.0.1:%d\n", i, i,
                 7000 + i);
    }
    refuses(many, ":195: a cluster has at most 64 members");
}

static void mistakes_in_addresses(void **state)
{
    static const char *const rows[][2] = {
        {"", "in '' the port is missing"},
        {"127.0.0.1", "in '127.0.0.1' the port is missing"},
        {":7400", "in ':7400' the host is missing"},
        {"127.0.0.1:", "the port is no number from 1 to 65535"},
        {"127.0.0.1:0", "the port is no number from 1 to 65535"},
        {"127.0.0.1:65536", "the port is no number from 1 to 65535"},
        {"127.0.0.1:+1", "the port is no number from 1 to 65535"},
        {"::1:7400", "there is more than one colon; put an IPv6 host in brackets"},
        {"[::1]", "the port is missing"},
        {"[::1:7400", "the port is missing"},
        {"[::1]7400", "the port is missing"},
        {"0.0.0.0:7400", "the host is not one host"},
        {"[::]:7400", "the host is not one host"},
        {"224.0.0.1:7400", "the host is not one host"},
        {"bad..name:7400", "cannot find the host 'bad..name': "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char content[100];
        snprintf(content, sizeof content, "[member a]\naddress = %s\n", rows[i][0]);
        mentions(content, rows[i][1]);
        mentions(content, ":2: ");
    }
    struct sockaddr_storage address;
    assert_true(config_address("localhost:7400", &address, text, sizeof text));
    assert_true(config_is_loopback(&address));
    static const char *const afar[] = {"126.0.0.1:1", "128.0.0.1:1", "[::2]:1"};
    for (size_t i = 0; i < sizeof afar / sizeof *afar; i++) {
        assert_true(config_address(afar[i], &address, text, sizeof text));
        assert_false(config_is_loopback(&address));
    }
}

static void mistakes_about_the_agent(void **state)
{
    refuses(ALL "self = b\n", ":14: 'self' was set in this section already; keep one");
    refuses(ALL "socket-mode = 0999\n",
            ":14: 'socket-mode' is an octal mode from 0600 to 0777, such as 0660, not '0999'");
    mentions(ALL "socket-mode = 1777\n", ":14: 'socket-mode' is an octal mode");
    mentions(ALL "socket-mode = 0060\n", ":14: 'socket-mode' is an octal mode");
    refuses(ALL "socket-group = no-such-group\n",
            ":14: there is no group 'no-such-group' on this host; create it, or name another");
    refuses(ALL "log = xml\n", ":14: 'log' is words or json, not 'xml'");
    refuses(ALL "verbose = yes\n", ":14: 'verbose' is on or off, not 'yes'");
    refuses(ALL "state =\n", ":14: the name of a file is missing");
    char longer[300] = ALL "socket = /";
    memset(longer + strlen(longer), 's', 110);
    refuses(longer, ":14: that path is longer than 107 characters, and so too long");
}

static void mistakes_about_groups(void **state)
{
    refuses(ALL "[group .x]\n",
            ":14: a group's name is 1 to 63 letters, digits and ._-:/, and may end in *, not '.x'");
    mentions(ALL "[group ]\n", ":14: a group's name is");
    mentions(ALL "[group a*b]\n", ":14: a group's name is");
    mentions(ALL "[group **]\n", ":14: a group's name is");
    refuses(ALL "[group x]\n[group x]\n", ":15: group 'x' has a section in line 14 already; join them");
    refuses(ALL "[group x]\nalgorithm = queen\n",
            ":15: there is no algorithm 'queen'; `elector algorithms` lists them");
    refuses(
        ALL "[group x]\nlaese = 2s\n",
        ":15: quorum has no option 'laese'; a group of it has algorithm, allow, lease, beat, margin, re-ask, stagger, "
        "block, preempt, observers");
    mentions(ALL "[group x]\nlease = 2s\nalgorithm = bully\n",
             ":15: bully has no option 'lease'; a group of it has ");
    refuses(ALL "[group x]\nlease = 2\n", ":15: 'lease' is a time with its unit, such as 150ms or 2s, not '2'");
    refuses(ALL "[group x]\nblock = many\n", ":15: 'block' is a whole number below 2^53, not 'many'");
    refuses(ALL "[group x]\npreempt = yes\n", ":15: 'preempt' is one of off|on, not 'yes'");
    refuses(ALL "[group x]\nobservers = a\n",
            ":15: 'observers' follows from the members; write `role = ` in their sections");
    refuses(ALL "[group x]\nlease = 2s\nlease = 3s\n",
            ":16: 'lease' was set in line 15 already; keep one of them");
    refuses(ALL "[group x]\nallow = alice\n",
            ":15: 'allow' lists user:NAME, group:NAME, uid:N and gid:N, not 'alice'");
    mentions(ALL "[group x]\nallow =\n", ":15: 'allow' lists user:NAME");
    mentions(ALL "[group x]\nallow = uid:1,\n", ":15: 'allow' lists user:NAME");
    mentions(ALL "[group x]\nallow = uid:4294967295\n", ":15: 'allow' lists user:NAME");
    refuses(ALL "[group x]\nallow = user:no-such-user\n", ":15: there is no user 'no-such-user' on this host");
    refuses(ALL "[group x]\nallow = group:no-such-group\n",
            ":15: there is no group 'no-such-group' on this host");
    char many[4096] = ALL "[group x]\nallow = uid:1";
    for (int i = 0; i < 16; i++) snprintf(many + strlen(many), 8, ",uid:1");
    mentions(many, ":15: 'allow' lists at most 16 users and as many groups");
}

static void times_that_do_not_fit_together(void **state)
{
    refuses(
        ALL "[group x]\nlease = 300ms\n",
        ":14: quorum needs 2 × beat + round trip + margin < lease, but 2 × 150ms + 21ms + 50ms = 371ms is not below "
        "300ms: one lost beat ends every lease; raise lease or lower beat");
    refuses(
        CLUSTER "transmit = 20ms\n" MEMBERS AGENT,
        ":3: quorum needs round trip < stagger, but 41ms is not below 25ms: the next in line stands before it can "
        "hear of the one ahead; raise stagger or lower transmit");
    accepts(CLUSTER "transmit = 20ms\n" MEMBERS AGENT "[group *]\nstagger = 45ms\n");
    mentions(CLUSTER "transmit = 12ms\n" MEMBERS AGENT, "25ms is not below 25ms");
    accepts(CLUSTER "transmit = 11.999ms\n" MEMBERS AGENT);
}

static void roles_that_an_algorithm_does_not_know(void **state)
{
    accepts(ALL "[group x]\nalgorithm = raft\n");
    refuses(CLUSTER MEMBERS "role = observer\n" AGENT "[group x]\nalgorithm = raft\n",
            ":15: raft knows no observers, and 'c' is one; choose quorum, or make it a voter");
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
             "is no regular file; a key file is one");
    mentions(sealed(public_key[0], public_key[1], "key-file = cluster.key\ncluster-key-file = cluster.key\n"),
             "/cluster.key:2: a key too many; at most 1 may be here");
    write_file("b.key", "", 0600);
    mentions(sealed(public_key[0], public_key[1], "key-file = b.key\ncluster-key-file = cluster.key\n"),
             "/b.key: there is no key in it");
    write_file("b.key", "\nsecret\n", 0600);
    mentions(sealed(public_key[0], public_key[1], "key-file = b.key\ncluster-key-file = cluster.key\n"),
             "/b.key:2: this is no key; a key is 44 characters of base64");
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

/* ---- Units ---- */

static void times_are_written_as_they_are_read(void **state)
{
    static const char *const times[] = {"1ns",      "999ns", "1us",          "1.5us", "20ms",
                                        "150.25ms", "1s",    "1.000000001s", "86400s"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char written[UNITS_TIME_TEXT];
        el_duration time = 0;
        assert_true(units_time(times[i], &time));
        assert_string_equal(units_write_time(time, written), times[i]);
    }
    uint64_t number = 0;
    assert_true(units_number("18446744073709551615", UINT64_MAX, &number));
    assert_false(units_number("18446744073709551616", UINT64_MAX, &number));
    assert_false(units_number("6", 5, &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_file_takes_the_defaults),
        cmocka_unit_test(everything_can_be_said),
        cmocka_unit_test(a_section_holds_for_its_name_then_the_longest_prefix_then_all),
        cmocka_unit_test(values_are_presets_and_what_was_set),
        cmocka_unit_test(a_cluster_s_id_comes_from_its_name),
        cmocka_unit_test(only_who_is_allowed_may_campaign),
        cmocka_unit_test(a_summary_says_who_and_how_many),
        cmocka_unit_test(the_example_of_the_reference_is_understood),
        cmocka_unit_test(mistakes_in_lines),
        cmocka_unit_test(mistakes_about_the_cluster),
        cmocka_unit_test(mistakes_about_members),
        cmocka_unit_test(mistakes_in_addresses),
        cmocka_unit_test(mistakes_about_the_agent),
        cmocka_unit_test(mistakes_about_groups),
        cmocka_unit_test(times_that_do_not_fit_together),
        cmocka_unit_test(roles_that_an_algorithm_does_not_know),
        cmocka_unit_test(keys_are_read_from_their_files),
        cmocka_unit_test(keys_that_are_missing),
        cmocka_unit_test(keys_that_are_wrong),
        cmocka_unit_test(key_files_that_others_may_read_are_refused),
        cmocka_unit_test(times_are_written_as_they_are_read),
    };
    return cmocka_run_group_tests_name("config", tests, make_folder, remove_folder);
}
