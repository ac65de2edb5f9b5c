/* Every mistake in a configuration is one line: where, what, and what to do. */
#define _GNU_SOURCE
#include "lib/host/configs.h"

/* ---- Mistakes, one each ---- */

static void mistakes_in_lines(void **state)
{
    refuses("name = x\n", ":1: this line stands before any section; put [cluster] or another above it");
    refuses(CLUSTER "what\n", ":3: a line is [section], key = value, or a comment that begins with #");
    refuses(CLUSTER "[grup x]\n",
            ":3: there is no section [grup x]; known sections: cluster, member NAME, agent, group NAME");
    refuses(CLUSTER "[group x\n", ":3: a section is written as [agent] or [group NAME]");
    refuses(CLUSTER "[agent] self = a\n", ":3: a section is written as [agent] or [group NAME]");
    refuses(CLUSTER "\n[cluster]\n", ":4: there is a section [cluster] already; merge them");
    refuses(ALL AGENT, ":14: there is a section [agent] already; merge them");
    refuses(CLUSTER "name = y\n", ":3: 'name' was set in this section already; keep one");
    refuses(
        CLUSTER "nmae = y\n",
        ":3: there is no key 'nmae' in this section; did you mean 'name'? known keys: name, id, drift, transmit, profile");
    refuses(CLUSTER "sponsor = y\n",
            ":3: there is no key 'sponsor' in this section; known keys: name, id, drift, transmit, profile");
    mentions(ALL "[group x]\nalgorithm = qourum\n",
             "no algorithm 'qourum'; did you mean quorum? `elector algorithms`");
    mentions(ALL "[group x]\nlaese = 1s\n",
             "quorum has no option 'laese'; did you mean 'lease'? a group of it has");
    refuses(CLUSTER "x\x01 = y\n", ":3: this is not text; a configuration is a text file");
    char longer[400] = CLUSTER "drift = ";
    memset(longer + strlen(longer), '0', 300);
    refuses(longer, ":3: a line that is no comment has at most 198 characters, and this one has 308");
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
    refuses(CLUSTER "profile = lam\n", ":3: 'profile' is lan, fast, realtime or wan, not 'lam'");
}

static void mistakes_about_members(void **state)
{
    refuses(ALL "[member x/y]\n", ":14: a member's name is 1 to 63 letters, digits and ._-, not 'x/y'");
    refuses(ALL "[member a]\n", ":14: member 'a' has a section in line 3 already; give this one another name");
    refuses(ALL "[member d]\naddress = 127.0.0.1:9\n", ":14: member 'd' has no id; write `id = ` and a number");
    refuses(ALL "[member d]\nid = 4\n", ":14: member 'd' has no address; write `address = HOST:PORT`");
    refuses(ALL "[member d]\nid = 4\naddress = dynamic\n",
            ":14: the address of member 'd' is dynamic, which only a candidate's may be; write HOST:PORT");
    refuses(ALL "[member d]\nid = 4\naddress = dynamic\nrole = observer\n",
            ":14: the address of member 'd' is dynamic, which only a candidate's may be; write HOST:PORT");
    refuses(ALL "[member d]\nid = 4\naddress = dynamic\nrole = candidate\n",
            ":14: without keys all members are on this host, and 'd' is not; `elector init` makes keys");
    refuses(ALL "[member d]\nid = 4\naddress = 127.0.0.1:1,127.0.0.1:2,127.0.0.1:3,127.0.0.1:4\n",
            ":16: a member has at most 3 addresses");
    refuses(ALL "[member d]\nid = 4\naddress = 127.0.0.1:1,localhost:2\n",
            ":16: only the first address of a member may be a name, not 'localhost:2'; write a number");
    mentions(ALL "[member d]\nid = 4\naddress = 127.0.0.1:1,\n",
             ":16: an address is HOST:PORT or [IPV6]:PORT; in ''");
    mentions(ALL "[member d]\nid = 4\naddress = 127.0.0.1:1,0.0.0.0:2\n", ":16: an address is HOST:PORT");
    refuses(ALL "[member d]\nid = 4\naddress = dynamic,127.0.0.1:1\nrole = candidate\n",
            ":16: a dynamic member has no other addresses; write dynamic alone");
    refuses(ALL "[member d]\nid = 4\naddress = 127.0.0.1:1,127.0.0.1:1\n",
            ":14: member 'd' has an address twice; write it once");
    refuses(ALL "[member d]\nid = 4\naddress = 127.0.0.1:1,127.0.0.1:7402\n",
            ":14: members 'b' and 'd' have the same address; each has its own");
    mentions(ALL "[member d]\nid = 4\naddress = 127.0.0.1:1,10.0.0.1:2\n", "on this host, and 'd' is not");
    refuses(ALL "[member d]\nid = 0\n", ":15: a member's id is a whole number from 1 to 1000, not '0'");
    refuses(ALL "[member d]\nid = 1001\n", ":15: a member's id is a whole number from 1 to 1000, not '1001'");
    refuses(ALL "[member d]\nid = 1x\n", ":15: a member's id is a whole number from 1 to 1000, not '1x'");
    refuses(ALL "[member d]\nrole = king\n",
            ":15: 'role' is voter, witness, observer or candidate, not 'king'");
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
        {"127.0.0.1:", "the port is not a number from 1 to 65535"},
        {"127.0.0.1:0", "the port is not a number from 1 to 65535"},
        {"127.0.0.1:65536", "the port is not a number from 1 to 65535"},
        {"127.0.0.1:+1", "the port is not a number from 1 to 65535"},
        {"::1:7400", "there is more than one colon; put an IPv6 host in brackets"},
        {"[::1]", "the port is missing"},
        {"[::1:7400", "the port is missing"},
        {"[::1]7400", "the port is missing"},
        {"0.0.0.0:7400", "the host is a wildcard, broadcast or multicast address"},
        {"[::]:7400", "the host is a wildcard, broadcast or multicast address"},
        {"224.0.0.1:7400", "the host is a wildcard, broadcast or multicast address"},
        {"bad..name:7400", "cannot find the host 'bad..name': "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char content[100];
        snprintf(content, sizeof content, "[member a]\naddress = %s\n", rows[i][0]);
        mentions(content, rows[i][1]);
        mentions(content, ":2: ");
    }
    struct sockaddr_storage address;
    if (access("/etc/hosts", R_OK) == 0) {
        assert_true(config_address("localhost:7400", &address, text, sizeof text));
        assert_true(config_is_loopback(&address));
    } else {
        print_message("skip  %s: there is no /etc/hosts here\n", __func__);
    }
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
    refuses(ALL "http = 0\n",
            ":14: 'http' is a port, an address or off: a port is a number from 1 to 65535, not 0");
    refuses(ALL "http = 99999\n",
            ":14: 'http' is a port, an address or off: a port is a number from 1 to 65535, not 99999");
    mentions(ALL "http = 65536\n", ":14: 'http' is a port, an address or off: ");
    mentions(ALL "http = on\n", ":14: 'http' is a port, an address or off: ");
    mentions(ALL "http = 127.0.0.1\n", "the port is missing");
    mentions(ALL "http = 127.0.0.1:0\n", "the port is not a number from 1 to 65535");
    mentions(ALL "http = ::1:80\n", "put an IPv6 host in brackets");
    refuses(ALL "seccomp = strict\n", ":14: 'seccomp' is on or off, not 'strict'");
    refuses(ALL "socket-per-user = 0\n", ":14: 'socket-per-user' is a whole number from 1 to 4096, not '0'");
    mentions(ALL "stop-timeout = 30\n", ":14: 'stop-timeout' is a time up to 1h with its unit");
    mentions(ALL "stop-timeout = 3601s\n", ":14: 'stop-timeout' is a time up to 1h");
    mentions(ALL "socket-per-user = 4097\n", ":14: 'socket-per-user' is a whole number");
    mentions(ALL "candidacies-per-user = none\n",
             ":14: 'candidacies-per-user' is a whole number from 1 to 1048576");
    mentions(ALL "observed-per-user = 0\n", ":14: 'observed-per-user' is a whole number from 1 to 1048576");
    mentions(ALL "value-bytes-per-user = 1073741825\n",
             ":14: 'value-bytes-per-user' is a whole number from 1 to");
    refuses(ALL "group-limit = 1048577\n",
            ":14: 'group-limit' is a whole number from 1 to 1048576, not '1048577'");
    mentions(ALL "forget-after = soon\n",
             ":14: 'forget-after' is off, or a time of at least 1s, such as 3600s, not 'soon'");
    mentions(ALL "forget-after = 0s\n", "at least 1s");
    refuses(ALL "http-groups = many\n", ":14: 'http-groups' is a whole number up to 1000000, not 'many'");
    mentions(ALL "http-groups = 1000001\n", ":14: 'http-groups' is a whole number");
    refuses(ALL "verbose = yes\n", ":14: 'verbose' is on or off, not 'yes'");
    refuses(ALL "state =\n", ":14: the name of a file is missing");
    char longer[300] = ALL "socket = /";
    memset(longer + strlen(longer), 's', 110);
    refuses(longer, ":14: that path is longer than 107 characters; choose a shorter one");
}

static void mistakes_about_groups(void **state)
{
    refuses(ALL "[group .x]\n",
            ":14: a group's name is 1 to 63 letters, digits and ._-:/, and may end in *, not '.x'");
    mentions(ALL "[group ]\n", ":14: a group's name is");
    mentions(ALL "[group a*b]\n", ":14: a group's name is");
    mentions(ALL "[group **]\n", ":14: a group's name is");
    refuses(ALL "[group x]\n[group x]\n", ":15: group 'x' has a section in line 14 already; merge them");
    refuses(ALL "[group x]\nalgorithm = queen\n",
            ":15: there is no algorithm 'queen'; `elector algorithms` lists them");
    refuses(
        ALL "[group x]\nlaese = 2s\n",
        ":15: quorum has no option 'laese'; did you mean 'lease'? a group of it has algorithm, allow, allow-read, allow-control, lease, beat, "
        "margin, re-ask, stagger, block, preempt, observers, candidates");
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
            ":15: 'allow' lists user:NAME, group:NAME, uid:N and gid:N, or is everybody, not 'alice'");
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
    mentions(CLUSTER "profile = realtime\n" MEMBERS AGENT "[group *]\nmargin = 2ms\n",
             "quorum needs kill < margin + (lease - margin) / 10, but 5ms is not below 2ms + 2.8ms = 4.8ms");
    accepts(CLUSTER "profile = realtime\n" MEMBERS AGENT "[group *]\nmargin = 3ms\n");
}

static void roles_that_an_algorithm_does_not_know(void **state)
{
    accepts(ALL "[group x]\nalgorithm = raft\n");
    refuses(CLUSTER MEMBERS "role = observer\n" AGENT "[group x]\nalgorithm = raft\n",
            ":15: raft supports no observers, and 'c' is one; choose quorum, or make it a voter");
    accepts(CLUSTER MEMBERS "role = candidate\n" AGENT "[group x]\nlease = 2s\n");
    mentions(CLUSTER MEMBERS "role = candidate\n" AGENT "[group x]\nalgorithm = raft\n",
             "raft supports no candidates without a vote, and 'c' is one; choose quorum, or make it a voter");
    refuses(CLUSTER "[member a]\nid = 1\naddress = 127.0.0.1:7401\nrole = candidate\n" AGENT,
            ": no member votes: candidates lead by the votes of others; make some members voters");
    mentions(ALL "[group x]\nalgorithm = etcd-election\n",
             "etcd-election elects on a store, and agents have none; choose quorum here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_in_lines),
        cmocka_unit_test(mistakes_about_the_cluster),
        cmocka_unit_test(mistakes_about_members),
        cmocka_unit_test(mistakes_in_addresses),
        cmocka_unit_test(mistakes_about_the_agent),
        cmocka_unit_test(mistakes_about_groups),
        cmocka_unit_test(times_that_do_not_fit_together),
        cmocka_unit_test(roles_that_an_algorithm_does_not_know),
    };
    return cmocka_run_group_tests_name("config", tests, make_folder, remove_folder);
}
