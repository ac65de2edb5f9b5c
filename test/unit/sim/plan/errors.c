/*
 * Settings that make no plan: an error says where, what is wrong and what to do. So do times that do not fit
 * together.
 */
#include "lib/sim/typed.h"

#define A_TIME "expected a time such as 4, 2.5 or 150ms"
#define NO_NODE_9 "no node has the id 9; the ids are 1, 2, 3"

static void what_is_wrong_is_said_with_what_to_do(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"rift; nodes 3",
         "--algorithm rift: there is no algorithm of that name; `elector algorithms` lists them"},
        {"bully", "how many nodes? Give --nodes N or --ids A,B,…, or in a scenario a line nodes N"},
        {"bully; nodes 0", "--nodes 0: an election needs at least one node"},
        {"bully; nodes x", "--nodes x: expected a whole number below 2^53"},
        {"bully; nodes 3x", "--nodes 3x: expected a whole number below 2^53"},
        {"bully; nodes 16777217", "--nodes 16777217: at most 16777216 nodes"},
        {"bully; ids", "--ids : expected ids separated by commas, not ''"},
        {"bully; ids 1,,2", "--ids 1,,2: expected ids separated by commas, not ',2'"},
        {"bully; ids 1,2,1", "--ids 1,2,1: the id 1 occurs twice; ids must differ"},
        {"bully; ids 1 2", "--ids 1 2: did not expect '2' here"},
        {"invitation; nodes 65", "--nodes 65: invitation takes at most 64 members"},
        {"ring-collect; nodes 65", "--nodes 65: ring-collect takes at most 64 members"},
        {"bully; nodes 3; attr 9=1", "--attr 9=1: " NO_NODE_9},
        {"bully; nodes 3; attr 1", "--attr 1: expected ID=VALUE with a whole number below 2^53 as VALUE"},
        {"bully; nodes 3; attr 1=x", "--attr 1=x: expected ID=VALUE with a whole number below 2^53 as VALUE"},
        {"bully; nodes 3; attr 1=2 3", "--attr 1=2 3: did not expect '3' here"},
        {"bully; nodes 3; leader 9", "--leader 9: " NO_NODE_9},
        {"bully; nodes 3; leader x", "--leader x: expected the id of a node, not 'x'"},
        {"bully; nodes 3; leader 1,2", "--leader 1,2: expected one leader"},
        {"bully; nodes 14; leader 99",
         "--leader 99: no node has the id 99; the ids are 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …"},
        {"bully; nodes 3; set speed=1",
         "--set speed=1: bully has the options exclude-suspects, serial, set as KEY=VALUE"},
        {"bully; nodes 3; set serial",
         "--set serial: bully has the options exclude-suspects, serial, set as KEY=VALUE"},
        {"bully; nodes 3; set serial=1", "--set serial=1: 'serial' is one of off|on"},
        {"bully; nodes 3; set serial=", "--set serial=: 'serial' is one of off|on"},
        {"multicast; nodes 3; set mode=al", "--set mode=al: 'mode' is one of timeout|all|disagree"},
        {"ring-max; nodes 3; set a=b", "--set a=b: ring-max has no options of its own"},
        {"candidate-ordinary; nodes 3; set candidates=9", "--set candidates=9: " NO_NODE_9},
        {"candidate-ordinary; nodes 3; set candidates=1 2", "--set candidates=1 2: did not expect '2' here"},
        {"candidate-ordinary; nodes 3; set delta=x", "--set delta=x: " A_TIME},
        {"candidate-ordinary; nodes 3; set delta=1 2",
         "--set delta=1 2: expected a time and nothing behind it"},
        {"next-in-line; nodes 6; set alternatives=1,2,3,4,5",
         "--set alternatives=1,2,3,4,5: 'alternatives' names at most 4 members"},
        {"bully; nodes 3; delay x", "--delay x: a delay is 1, 0.5..2, 10ms, 5..15ms or exp:1..10"},
        {"bully; nodes 3; delay 1 2", "--delay 1 2: a delay is 1, 0.5..2, 10ms, 5..15ms or exp:1..10"},
        {"bully; nodes 3; delay 2..1", "--delay 2..1: the range ends before it begins"},
        {"bully; nodes 3; delay exp:2..1", "--delay exp:2..1: the range ends before it begins"},
        {"bully; nodes 3; delay 0", "--delay 0: a message must take some time"},
        {"bully; nodes 3; delay 1001s", "--delay 1001s: at most 1000 s"},
        {"bully; nodes 3; loss 2",
         "--loss 2: a probability is a number from 0 to 1, or a percentage such as 5%"},
        {"bully; nodes 3; dup x", "--dup x: a probability is a number from 0 to 1, or a percentage such as 5%"},
        {"bully; nodes 3; reorder 1 1",
         "--reorder 1 1: a probability is a number from 0 to 1, or a percentage such as 5%"},
        {"bully; nodes 3; bound 0", "--bound 0: the bound must be above 0"},
        {"bully; nodes 3; bound x", "--bound x: " A_TIME},
        {"bully; nodes 3; detect -1", "--detect -1: a time cannot be before 0"},
        {"bully; nodes 3; detect 1 2", "--detect 1 2: expected a time and nothing behind it"},
        {"bully; nodes 3; until soon", "--until soon: " A_TIME},
        {"bully; nodes 3; horizon soon", "--horizon soon: " A_TIME},
        {"bully; nodes 3; seed x", "--seed x: expected a whole number below 2^53"},
        {"bully; nodes 3; clock 9=1", "--clock 9=1: " NO_NODE_9},
        {"bully; nodes 3; clock 1", "--clock 1: expected ID=RATE with a rate from 0.001 to 1000"},
        {"bully; nodes 3; clock 1=x", "--clock 1=x: expected ID=RATE with a rate from 0.001 to 1000"},
        {"bully; nodes 3; clock 1=0.0009", "--clock 1=0.0009: expected ID=RATE with a rate from 0.001 to 1000"},
        {"bully; nodes 3; clock 1=1001", "--clock 1=1001: expected ID=RATE with a rate from 0.001 to 1000"},
        {"bully; nodes 3; clock 1=1 2", "--clock 1=1 2: did not expect '2' here"},
        {"bully; nodes 3; miss 1", "--miss 1: expected A:B: A's detector never notices B's crash"},
        {"bully; nodes 3; miss 9:1", "--miss 9:1: " NO_NODE_9},
        {"bully; nodes 3; miss 1:9", "--miss 1:9: " NO_NODE_9},
        {"bully; nodes 3; miss 1:2 3", "--miss 1:2 3: did not expect '3' here"},
        {"bully; nodes 3; crash 1",
         "--crash 1: the time is missing: ID@T, with T in message delays or as 150ms"},
        {"bully; nodes 3; crash 9@0", "--crash 9@0: " NO_NODE_9},
        {"bully; nodes 3; crash 1@x", "--crash 1@x: " A_TIME},
        {"bully; nodes 3; crash 1@-1", "--crash 1@-1: a time cannot be before 0"},
        {"bully; nodes 3; crash 1@0 2", "--crash 1@0 2: did not expect '2' here"},
        {"bully; nodes 3; crash 1@0,1@4", "--crash 1@0,1@4: 1 cannot crash at 4: it is dead already then"},
        {"bully; nodes 3; restart 1@2", "--restart 1@2: 1 cannot restart at 2: it is not dead then"},
        {"bully; nodes 3; pause 1@2",
         "--pause 1@2: a pause needs an end: ID@T..T; for a process that does not resume use crash"},
        {"bully; nodes 3; pause 1@2..2", "--pause 1@2..2: a span must end after it begins"},
        {"bully; nodes 3; pause 9@1..2", "--pause 9@1..2: " NO_NODE_9},
        {"bully; nodes 3; pause 1@x..2", "--pause 1@x..2: " A_TIME},
        {"bully; nodes 3; pause 1@1..x", "--pause 1@1..x: " A_TIME},
        {"bully; nodes 3; pause 1@1..2 3", "--pause 1@1..2 3: did not expect '3' here"},
        {"bully; nodes 3; partition 1,2", "--partition 1,2: a partition has sides: A,B|C,D"},
        {"bully; nodes 3; partition 1|9", "--partition 1|9: " NO_NODE_9},
        {"bully; nodes 3; partition 1|1", "--partition 1|1: 1 is on two sides"},
        {"bully; nodes 3; partition 1|2@x", "--partition 1|2@x: " A_TIME},
        {"bully; nodes 3; partition 1|2 3", "--partition 1|2 3: did not expect '3' here"},
        {"bully; nodes 3; cut 1", "--cut 1: expected A>B: messages from A to B are lost"},
        {"bully; nodes 3; cut 1>1", "--cut 1>1: a node has no link to itself"},
        {"bully; nodes 3; cut 9>1", "--cut 9>1: " NO_NODE_9},
        {"bully; nodes 3; cut 1>9", "--cut 1>9: " NO_NODE_9},
        {"bully; nodes 3; cut 1>2 3", "--cut 1>2 3: did not expect '3' here"},
        {"bully; nodes 3; false-suspect 1", "--false-suspect 1: expected A:B@T: A suspects B"},
        {"bully; nodes 3; false-suspect 9:1", "--false-suspect 9:1: " NO_NODE_9},
        {"bully; nodes 3; false-suspect 1:9", "--false-suspect 1:9: " NO_NODE_9},
        {"bully; nodes 3; false-suspect 1:1", "--false-suspect 1:1: a node cannot suspect itself"},
        {"bully; nodes 3; false-suspect 1:2 3", "--false-suspect 1:2 3: did not expect '3' here"},
        {"bully; nodes 3; initiator 9", "--initiator 9: " NO_NODE_9},
        {"bully; nodes 3; initiator 1@x", "--initiator 1@x: " A_TIME},
        {"bully; nodes 3; initiator 1 2", "--initiator 1 2: did not expect '2' here"},
        {"bully; nodes 3; initiator all 2", "--initiator all 2: did not expect '2' here"},
        {"bully; nodes 3; initiator all@x", "--initiator all@x: " A_TIME},
        {"bully; nodes 3; expect leader 9", "--expect leader 9: " NO_NODE_9},
        {"bully; nodes 3; expect messages x",
         "--expect messages x: expected [KIND] N with a kind of message of bully"},
        {"bully; nodes 3; expect messages Vote 3",
         "--expect messages Vote 3: expected [KIND] N with a kind of message of bully"},
        {"bully; nodes 3; expect violation x",
         "--expect violation x: a violation is two-leaders, same-term, two-decisions, disagreement, no-leader, dead-leader, "
         "not-best, demoted, token-fell, out-of-turn or endless"},
        {"bully; nodes 3; expect failed-hops x", "--expect failed-hops x: expected a whole number below 2^53"},
        {"bully; nodes 3; expect turnaround x", "--expect turnaround x: " A_TIME},
        {"bully; nodes 3; expect term x", "--expect term x: expected a whole number below 2^53"},
        {"bully; nodes 3; expect victory",
         "--expect victory: expect one of: leader ID|none, agreement, no agreement, messages [KIND] N, "
         "failed-hops N, turnaround T, term N, refused N, violation KIND, no violation, broken PROPERTY"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refused(cases[i].text, NULL, cases[i].error);
    clear();
    assert_int_equal(sim_plan_build(&plan, &settings, &error), -1);
    assert_string_equal(error.text, "no algorithm is given; name one, for instance chang-roberts");
}

static void what_is_wrong_with_faults_and_parts_is_said_too(void **state)
{
    static const char say_when[] = "the time is missing: ID@T, with T in message delays or as 150ms";
    static const char a_leap[] = "expected ID@T=+D or ID@T=-D: how far the clock jumps";
    static const char a_bound[] = "a drift bound is a number from 0 to 0.5, such as 0.005";
    static const struct {
        const char *algorithm, *key, *value, *error;
    } cases[] = {
        {"bully", "wipe", "1", say_when},
        {"bully", "wipe", "9@1", NO_NODE_9},
        {"bully", "wipe", "1@2", "1 cannot restart at 2: it is not dead then"},
        {"bully", "wipe", "leader@2", "expected the id of a node, not 'leader@2'"},
        {"bully", "resign", "1", say_when},
        {"bully", "resign", "leader", say_when},
        {"bully", "resign", "boss@1", "expected the id of a node, not 'boss@1'"},
        {"bully", "resign", "1@1 2", "did not expect '2' here"},
        {"bully", "transfer", "1", say_when},
        {"bully", "transfer", "9@1", NO_NODE_9},
        {"bully", "transfer", "leader@1", "expected the id of a node, not 'leader@1'"},
        {"bully", "fact", "1:x=1", "bully takes no facts"},
        {"raft", "fact", "1", "expected ID:NAME=N, a process and what it is told"},
        {"raft", "fact", "9:log-term=1", NO_NODE_9},
        {"raft", "fact", "1:log=1", "raft takes the facts log-term, log-index, as NAME=N"},
        {"raft", "fact", "1:log-term", "raft takes the facts log-term, log-index, as NAME=N"},
        {"raft", "fact", "1:log-term=x", "expected a whole number below 2^53"},
        {"raft", "fact", "1:log-term=9007199254740992", "expected a whole number below 2^53"},
        {"raft", "fact", "1:log-term=1@x", A_TIME},
        {"raft", "fact", "1:log-term=1 2", "did not expect '2' here"},
        {"bully", "jump", "1", say_when},
        {"bully", "jump", "9@1=+1", NO_NODE_9},
        {"bully", "jump", "1@1", a_leap},
        {"bully", "jump", "1@1=5", a_leap},
        {"bully", "jump", "1@1=+x", A_TIME},
        {"bully", "jump", "1@1=+-1", "a time cannot be before 0"},
        {"bully", "jump", "1@1=+1 2", "did not expect '2' here"},
        {"bully", "disk", "x", "a delay is 1, 0.5..2, 10ms, 5..15ms or exp:1..10"},
        {"bully", "disk", "2..1", "the range ends before it begins"},
        {"bully", "disk", "2000s", "at most 1000 s"},
        {"bully", "drift", "x", a_bound},
        {"bully", "drift", "0.500001", a_bound},
        {"bully", "drift", "-0.1", a_bound},
        {"bully", "drift", "0.1 0.2", a_bound},
        {"bully", "settle", "x", A_TIME},
        {"bully", "settle", "-1", "a time cannot be before 0"},
        {"bully", "settle", "1 2", "expected a time and nothing behind it"},
        {"bully", "detector", "rumour",
         "there is no detector of that name; there are heartbeat, phi, swim, path"},
        {"bully", "detector", "", "there is no detector of that name; there are heartbeat, phi, swim, path"},
        {"bully", "detector", "phi:x", "expected a whole number below 2^53"},
        {"bully", "detector", "phi:", "expected a whole number below 2^53"},
        {"bully", "detector", "phi:8,speed=1",
         "phi has the options threshold, interval, window, min-deviation, pause, first-estimate, set as "
         "KEY=VALUE"},
        {"bully", "detector", "heartbeat:interval=0", "'interval' is a time above 0"},
        {"bully", "detector", "heartbeat:interval=1s,threshold=x", "expected a whole number below 2^53"},
        {"bully", "resource", "0", "expected a time above 0"},
        {"bully", "resource", "x", A_TIME},
        {"bully", "quality", "0", "expected a time above 0"},
        {"bully", "quality", "1 2", "expected a time and nothing behind it"},
        {"raft", "ordinary", "9", NO_NODE_9},
        {"raft", "ordinary", "", "expected the id of a node, not ''"},
        {"raft", "ordinary", "1 2", "did not expect '2' here"},
        {"chubby", "set", "lease=0", "'lease' is a time above 0"},
        {"bully", "expect", "refused x", "expected a whole number below 2^53"},
        {"bully", "case", "typical", "a case is best or worst"},
        {"raft", "case", "best", "raft starts elections by itself; the cases are of those that are called"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200], expected[400];
        snprintf(text, sizeof text, "%s; nodes 3; %s %s", cases[i].algorithm, cases[i].key, cases[i].value);
        snprintf(expected, sizeof expected, "--%s %s: %s", cases[i].key, cases[i].value, cases[i].error);
        refused(text, NULL, expected);
    }
    refused("bully; nodes 3; case best; initiator 1", NULL,
            "--case best: the case says itself who leads, dies and calls: leave out initiator");
    refused("bully; nodes 3; case worst; crash 3@0", NULL,
            "--case worst: the case says itself who leads, dies and calls: leave out crash");
    refused("bully; nodes 1; case best", NULL, "--case best: a case needs two members that may lead");
    refused("raft; nodes 3; ordinary 1; leader 1", NULL, "--leader 1: an ordinary member never leads");
    refused("etcd-election; nodes 3; leader 3", NULL,
            "--leader 3: the last member is the store of etcd-election, and never leads");
    refused("etcd-election; nodes 3; ordinary 1", NULL, "--ordinary 1: in etcd-election every member may lead");
    refused("bully; nodes 65; detector path", NULL, "--detector path: path takes at most 64 members");
    refused("bully; nodes 3; detector phi:8,speed=1", "story", "story:3:16: detector: phi has the options");
}

static void a_detector_s_name_may_not_go_on_for_ever(void **state)
{
    char text[400] = "bully; nodes 3; detector ";
    const size_t used = strlen(text);
    memset(text + used, 'x', sizeof text - used - 1);
    assert_int_equal(build(text, NULL), -1);
    assert_non_null(strstr(error.text, "the detector's text is too long"));
}

/* ---- Times that must fit together ---- */

static void times_that_do_not_fit_together_are_refused(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"raft; nodes 3; bound 100",
         "raft needs round trip < election, but 200 is not below 150 (in message delays): votes would arrive "
         "after the candidate has given up; raise election or lower bound"},
        {"raft; nodes 3; delay 100ms",
         "raft needs round trip < election, but 200 ms is not below 150 ms: votes would arrive after the "
         "candidate has given up; raise election or lower bound"},
        {"raft; nodes 3; set heartbeat=150ms",
         "raft needs heartbeat + transmission < election, but 150 + 1 = 151 is not below 150 (in message "
         "delays): followers would stand between two heartbeats; raise election or lower heartbeat"},
        {"raft; nodes 3; set heartbeat=148ms",
         "raft needs heartbeat + round trip < election, but 148 + 2 = 150 is not below 150 (in message "
         "delays): a leader would miss its majority between two answers; raise election or lower heartbeat"},
        {"chubby; nodes 3; set lease=200ms",
         "chubby needs heartbeat + round trip < lease, but 250 + 2 = 252 is not below 200 (in message delays):"
         " the lease would expire before it can be renewed, and every leader would lose it; raise lease or "
         "lower heartbeat"},
        {"chubby; nodes 3; bound 125",
         "chubby needs round trip < heartbeat, but 250 is not below 250 (in message delays): the next renewal "
         "would begin before the last one is answered, and none would ever count; raise heartbeat or lower "
         "bound"},
        {"chubby; nodes 3; set retry=1",
         "chubby needs round trip < retry, but 2 is not below 1 (in message delays): members that want to lead"
         " would begin at nearly the same time and block each other repeatedly; raise retry or lower bound"},
        {"paxos-lease; nodes 3; set lease=252ms",
         "paxos-lease needs heartbeat + round trip < lease, but 250 + 2 = 252 is not below 252 (in message "
         "delays): the lease would expire before it can be renewed, and every leader would lose it; raise "
         "lease or lower heartbeat"},
        {"paxos-lease; nodes 3; set heartbeat=2",
         "paxos-lease needs round trip < heartbeat, but 2 is not below 2 (in message delays): the next renewal"
         " would begin before the last one is answered, and none would ever count; raise heartbeat or lower "
         "bound"},
        {"paxos-lease; nodes 3; set retry=2",
         "paxos-lease needs round trip < retry, but 2 is not below 2 (in message delays): members that want to"
         " lead would begin at nearly the same time and block each other repeatedly; raise retry or lower "
         "bound"},
        {"multi-paxos; nodes 3; bound 100",
         "multi-paxos needs 2 × round trip < timeout, but 2 × 200 = 400 is not below 150 (in message delays): "
         "a ballot would be abandoned before its promises can be used; raise timeout or lower bound"},
        {"multi-paxos; nodes 3; set heartbeat=149",
         "multi-paxos needs heartbeat + transmission < timeout, but 149 + 1 = 150 is not below 150 (in message"
         " delays): followers would open ballots between two beats; raise timeout or lower heartbeat"},
        {"quorum; nodes 3; set re-ask=500ms",
         "quorum needs 2 × re-ask < lease, but 2 × 500 = 1000 is not below 1000 (in message delays): a voter"
         " forgets a candidate before it asks again, and so does not push its vote to it; raise lease or "
         "lower re-ask"},
        {"stable; nodes 3; set delta=2",
         "stable needs round trip < delta, but 2 is not below 2 (in message delays): a restarted process would"
         " take an old round for its own before it hears of the current one, and a slow OK would count as "
         "missing; raise delta or lower bound"},
        {"zookeeper-fle; nodes 3; set finalize=1",
         "zookeeper-fle needs transmission < finalize, but 1 is not below 1 (in message delays): a better vote"
         " on its way would arrive too late; raise finalize or lower bound"},
        {"zookeeper-fle; nodes 3; set tick=166",
         "zookeeper-fle needs 3 × tick + round trip < sync-limit, but 3 × 166 + 2 = 500 is not below 500 (in "
         "message delays): a lost ping or a slow clock would look like a crash; raise sync-limit or lower tick"},
        {"zookeeper-fle; nodes 3; set init-limit=304",
         "zookeeper-fle needs finalize + tick + 2 × round trip < init-limit, but 200 + 100 + 2 × 2 = 304 is "
         "not below 304 (in message delays): the epoch would be abandoned before a majority can acknowledge "
         "it; raise init-limit or lower finalize"},
        {"bully; nodes 3; detector swim:timeout=2",
         "swim needs round trip < timeout, but 2 is not below 2 (in message delays): others would be asked "
         "before the answer can arrive; raise timeout or lower bound"},
        {"bully; nodes 3; detector swim:period=402",
         "swim needs 2 × timeout + round trip < period, but 2 × 200 + 2 = 402 is not below 402 (in message "
         "delays): the period would end before the others can report; raise period or lower "
         "timeout"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refused(cases[i].text, NULL, cases[i].error);
        assert_string_equal(error.text, cases[i].error); /* to the last word */
    }
    planned("raft; nodes 3; set heartbeat=147ms"); /* a hair's breadth is enough */
    planned("chubby; nodes 3; bound 124.9");
    planned("paxos-lease; nodes 3; set lease=253ms");
    planned("quorum; nodes 3; set re-ask=499ms");
}

/* What a rule asks of a plan can be had, and its message says how, for every rule there is. */
static void every_rule_between_times_has_a_lever_and_fits_the_page(void **state)
{
    uint32_t count = 0, rules = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < all[i]->inequality_count; k++, rules++) {
            const struct el_inequality *rule = &all[i]->inequalities[k];
            assert_true(rule->more[0].of < all[i]->option_count);
            char text[200];
            snprintf(text, sizeof text, "%s; nodes 3; set %s=0.000123ms", all[i]->name,
                     all[i]->options[rule->more[0].of].name);
            assert_int_equal(build(text, NULL), -1);
            assert_non_null(strstr(error.text, " needs "));
            assert_non_null(strstr(error.text, "; raise "));
            assert_in_range(strlen(error.text), 1, 330); /* nothing was cut off */
        }
    }
    assert_true(rules > 10);
}

/* ---- Errors in files ---- */

static void an_error_in_a_file_names_line_and_column(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"rift; nodes 3",
         "story:1:1: algorithm: there is no algorithm of that name; `elector algorithms` lists them"},
        {"bully; nodes 3; crash 1@0,9@2", "story:3:11: crash: " NO_NODE_9},
        {"bully; nodes 3; crash 1@0, x@2", "story:3:12: crash: expected the id of a node, not 'x@2'"},
        {"bully; nodes 3; crash 1@0,2@y", "story:3:13: crash: " A_TIME},
        {"bully; nodes 3; leader 1 2", "story:3:10: leader: expected one leader"},
        {"bully; nodes 3; partition 1|2,1", "story:3:15: partition: 1 is on two sides"},
        {"bully; nodes 3; loss 1; loss 2",
         "story:4:6: loss: a probability is a number from 0 to 1, or a percentage such as 5%"},
        {"bully; nodes 3; crash 1@1; crash 1@2",
         "story:4:7: crash: 1 cannot crash at 2: it is dead already then"},
        {"bully; leader 3",
         "story: how many nodes? Give --nodes N or --ids A,B,…, or in a scenario a line nodes N"},
        {"bully; nodes 3; set serial=maybe", "story:3:12: set: 'serial' is one of off|on"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refused(cases[i].text, "story", cases[i].error);
}

static void sides_are_counted(void **state)
{
    char text[4096] = "chang-roberts; nodes 300; partition 1";
    for (int i = 2; i <= 256; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "|%d", i);
    }
    const char *value = strstr(text, "partition ") + strlen("partition ");
    clear();
    assert_true(sim_settings_add(&settings, "algorithm", "chang-roberts", 0, 0));
    assert_true(sim_settings_add(&settings, "nodes", "300", 0, 0));
    assert_true(sim_settings_add(&settings, "partition", value, 0, 0));
    assert_int_equal(sim_plan_build(&plan, &settings, &error), -1);
    assert_non_null(strstr(error.text, "at most 255 sides"));
}

static void words_that_are_too_long_are_cut_short_in_errors(void **state)
{
    char text[480] = "bully; nodes 3; leader ";
    const size_t used = strlen(text);
    memset(text + used, 'x', sizeof text - used - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(build(text, NULL), -1);
    assert_in_range(strlen(error.text), 1, sizeof error.text - 1);
    assert_non_null(strstr(error.text, "expected the id of a node, not 'xxxxxxxxxxxxxxxxxxxx'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_said_with_what_to_do),
        cmocka_unit_test(what_is_wrong_with_faults_and_parts_is_said_too),
        cmocka_unit_test(a_detector_s_name_may_not_go_on_for_ever),
        cmocka_unit_test(times_that_do_not_fit_together_are_refused),
        cmocka_unit_test(every_rule_between_times_has_a_lever_and_fits_the_page),
        cmocka_unit_test(an_error_in_a_file_names_line_and_column),
        cmocka_unit_test(sides_are_counted),
        cmocka_unit_test(words_that_are_too_long_are_cut_short_in_errors),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
