/* What agents tell each other beside elections, over a network that loses and copies: settings, tenures, requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/exchange/exchange.h"
#include "base/clock.h"

/* ---- Three agents ---- */

enum { A = 1, B, C, AGENTS = 3, LETTERS = 4096 };

struct letter {
    el_node from, to;
    size_t size;
    uint8_t bytes[SEAL_PAYLOAD_MAX];
};

static struct agent {
    struct config config;
    struct exchange *exchange;
    char told[4096];   /* statements about tenures */
    unsigned compared; /* how often */
    bool differs;      /* as last compared */
    unsigned versions; /* how often `understood` was called */
    bool understands;  /* as last told */
    unsigned asked;    /* requests carried out */
    enum exchange_outcome says, answered;
    uint32_t answered_request;
} agents[AGENTS + 1];
static struct letter letters[LETTERS];
static uint32_t letter_count, sent_count;
static uint64_t now, dice;
static uint32_t loses; /* of a hundred */
static bool doubles, is_deaf[AGENTS + 1];

static void send_letter(void *context, el_node to, const uint8_t *payload, size_t size)
{
    const struct agent *from = context;
    sent_count++;
    assert_true(payload_is_exchange(payload, size));
    for (int i = 0; i < (doubles ? 2 : 1); i++) {
        dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
        if ((dice >> 33) % 100 < loses || letter_count == LETTERS) continue;
        struct letter *letter = &letters[letter_count++];
        *letter = (struct letter){.from = (el_node)(from - agents), .to = to, .size = size};
        memcpy(letter->bytes, payload, size);
    }
}

static void hear_statement(void *context, el_node from, const struct payload_entry *entry)
{
    struct agent *agent = context;
    const size_t used = strlen(agent->told);
    snprintf(agent->told + used, sizeof agent->told - used, "%s%u %s %llu %s", used ? ", " : "", from,
             entry->text, (unsigned long long)entry->term, entry->value);
}

static void compare(void *context, el_node from, bool differs)
{
    struct agent *agent = context;
    agent->compared++;
    agent->differs = differs;
}

static void understand(void *context, el_node from, bool is_understood)
{
    struct agent *agent = context;
    agent->versions++;
    agent->understands = is_understood;
}

static enum exchange_outcome ask(void *context, el_node from, const struct payload_entry *entry)
{
    struct agent *agent = context;
    agent->asked++;
    return agent->says;
}

static void hear_answer(void *context, uint32_t request, enum exchange_outcome outcome)
{
    struct agent *agent = context;
    agent->answered = outcome;
    agent->answered_request = request;
}

static void start(el_node self, uint64_t incarnation)
{
    struct agent *agent = &agents[self];
    const struct exchange_hooks hooks = {.context = agent,
                                         .send = send_letter,
                                         .stated = hear_statement,
                                         .compared = compare,
                                         .understood = understand,
                                         .asked = ask,
                                         .answered = hear_answer};
    exchange_free(agent->exchange);
    /* As the host has it: another list, another digest. */
    const uint64_t members =
        UINT64_C(100) * agent->config.member_count + (uint64_t)agent->config.members[C - 1].role;
    agent->exchange = exchange_new(&agent->config, members, incarnation, hooks);
    agent->told[0] = '\0';
    assert_non_null(agent->exchange);
}

static void write_config(el_node self)
{
    struct config *config = &agents[self].config;
    *config = (struct config){.cluster = "shop",
                              .member_count = AGENTS,
                              .self = self,
                              .drift = 10000,
                              .transmit_max = 10 * NS_PER_MS};
    for (uint32_t i = 0; i < AGENTS; i++) {
        snprintf(config->members[i].name, sizeof config->members[i].name, "%c", 'a' + (int)i);
        config->members[i].id = i + 1;
    }
}

static void set_option(el_node self, const char *group, const char *name, const char *value)
{
    struct config *config = &agents[self].config;
    struct config_group *section = &config->groups[config->group_count++];
    snprintf(section->name, sizeof section->name, "%s", group);
    snprintf(section->options[0][0], sizeof section->options[0][0], "%s", name);
    snprintf(section->options[0][1], sizeof section->options[0][1], "%s", value);
    section->option_count = 1;
}

static int begin(void **state)
{
    now = 100 * NS_PER_S;
    letter_count = sent_count = loses = 0;
    doubles = false;
    dice = 1;
    for (el_node self = 1; self <= AGENTS; self++) {
        struct exchange *old = agents[self].exchange;
        agents[self] = (struct agent){.exchange = old, .says = EXCHANGE_GRANTED};
        is_deaf[self] = false;
        write_config(self);
    }
    return 0;
}

static int finish(void **state)
{
    for (el_node self = 1; self <= AGENTS; self++) {
        exchange_free(agents[self].exchange);
        agents[self].exchange = NULL;
    }
    return 0;
}

static void start_all(void)
{
    for (el_node self = 1; self <= AGENTS; self++) start(self, 1000 + self);
}

/* Lets time pass in steps of 50 ms. All hear each other, except the deaf, which neither hear nor are heard. */
static void pass(uint64_t ms)
{
    for (const uint64_t end = now + ms * NS_PER_MS; now < end; now += 50 * NS_PER_MS) {
        for (el_node self = 1; self <= AGENTS; self++)
            for (el_node from = 1; from <= AGENTS; from++)
                if (self != from && !is_deaf[self] && !is_deaf[from])
                    exchange_hear(agents[self].exchange, now, from, PAYLOAD_VERSION);
        for (el_node self = 1; self <= AGENTS; self++) (void)exchange_tick(agents[self].exchange, now);
        for (uint32_t i = 0; i < letter_count; i++) { /* answers are added meanwhile */
            const struct letter letter = letters[i];
            if (is_deaf[letter.to] || is_deaf[letter.from]) continue;
            exchange_receive(agents[letter.to].exchange, now, letter.from, letter.bytes, letter.size);
        }
        letter_count = 0;
    }
}

static const char *differences(el_node self, el_node peer)
{
    static char text[2048];
    struct exchange_difference list[8];
    const uint32_t count = exchange_differences(agents[self].exchange, peer, list, 8);
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s: %s, %s", i ? "; " : "", list[i].what,
                                 list[i].ours, list[i].theirs);
    return text;
}

static void say_at(el_node self, enum exchange_statement kind, uint64_t term, const char *value, uint64_t at)
{
    struct payload_entry entry = {.flags = (uint8_t)kind, .term = term, .text = "work"};
    snprintf(entry.value, sizeof entry.value, "%s", value);
    exchange_state(agents[self].exchange, &entry, at);
}

static void say(el_node self, enum exchange_statement kind, uint64_t term, const char *value)
{
    say_at(self, kind, term, value, 0);
}

/* ---- Settings ---- */

static void equal_members_differ_in_nothing(void **state)
{
    for (el_node self = 1; self <= AGENTS; self++) set_option(self, "work*", "lease", "3s");
    start_all();
    pass(1000);
    for (el_node peer = B; peer <= C; peer++) {
        assert_true(exchange_knows(agents[A].exchange, peer));
        assert_false(exchange_differs(agents[A].exchange, peer, NULL));
        assert_false(exchange_differs(agents[A].exchange, peer, "work/1"));
        assert_string_equal(differences(A, peer), "");
        assert_true(strlen(exchange_version(agents[A].exchange, peer)) >= 5); /* 0.1.0 */
    }
    assert_int_equal(agents[A].compared, 0);
    const uint32_t sent = sent_count;
    pass(60000);
    assert_int_equal(sent_count, sent); /* at rest they say nothing */
}

static void other_settings_are_named(void **state)
{
    set_option(C, "work", "lease", "2s");
    start_all();
    pass(1000);
    assert_true(exchange_differs(agents[A].exchange, C, NULL));
    assert_true(exchange_differs(agents[A].exchange, C, "work"));
    assert_false(exchange_differs(agents[A].exchange, C, "other")); /* there it counts */
    assert_string_equal(differences(A, C), "lease of [group work]: 1s, 2s");
    assert_string_equal(differences(C, A), "lease of [group work]: 2s, 1s");
    assert_true(agents[A].differs);
    assert_int_equal(agents[A].compared, 1);
    assert_false(exchange_differs(agents[A].exchange, B, NULL));
}

static void settings_of_the_whole_cluster_too(void **state)
{
    agents[C].config.drift = 20000;
    agents[C].config.transmit_max = 20 * NS_PER_MS;
    start_all();
    pass(1000);
    assert_string_equal(differences(A, C),
                        "drift of [group *]: 0.010000, 0.020000; transmit of [group *]: 10ms, 20ms");
    assert_true(exchange_differs(agents[A].exchange, C, "any"));
}

static void other_members_are_named(void **state)
{
    struct config *config = &agents[C].config;
    config->member_count = 4;
    snprintf(config->members[3].name, sizeof config->members[3].name, "d");
    config->members[3] = (struct config_member){.name = "d", .id = 7, .role = CONFIG_WITNESS};
    start_all();
    pass(1000);
    assert_string_equal(differences(A, C), "member d: none, id=7 role=witness");
    assert_true(exchange_differs(agents[A].exchange, C, "any"));
    agents[C].config.member_count = 3;
    agents[C].config.members[C - 1].role = CONFIG_OBSERVER;
    start(C, 77);
    pass(1000);
    assert_string_equal(differences(A, C), "member c: id=3 role=voter, id=3 role=observer");
}

static void one_that_was_mended_counts_again(void **state)
{
    set_option(C, "work", "lease", "2s");
    start_all();
    pass(1000);
    assert_true(agents[A].differs);
    agents[C].config.group_count = 0;
    start(C, 77);
    pass(1000);
    assert_false(exchange_differs(agents[A].exchange, C, NULL));
    assert_false(agents[A].differs);
    assert_int_equal(agents[A].compared, 2);
}

static void settings_that_were_read_again_are_told(void **state)
{
    start_all();
    pass(1000);
    const uint32_t sent = sent_count;
    exchange_renew(agents[C].exchange, 77);
    pass(1000);
    assert_int_equal(sent_count, sent); /* nothing new */
    set_option(C, "work", "lease", "2s");
    say(C, EXCHANGE_BEGAN, 5, "elected");
    exchange_renew(agents[C].exchange, 78);
    pass(1000);
    assert_true(exchange_differs(agents[A].exchange, C, "work"));
    assert_true(exchange_differs(agents[C].exchange, A, "work"));
    set_option(A, "work", "lease", "2s");
    exchange_renew(agents[A].exchange, 79);
    pass(1000);
    assert_false(exchange_differs(agents[A].exchange, C, "work"));
    assert_false(exchange_differs(agents[C].exchange, A, "work"));
    assert_true(exchange_differs(agents[B].exchange, A, "work"));
    say(C, EXCHANGE_ENDED, 5, "resigned");
    pass(1000);
    assert_non_null(strstr(agents[A].told, "3 work 5 resigned"));
}

/* ---- Silence ---- */

static uint64_t silence(el_node self, el_node peer, bool lost)
{
    bool is_lost;
    const uint64_t ns = exchange_silence(agents[self].exchange, now, peer, &is_lost);
    assert_int_equal(is_lost, lost);
    return ns;
}

/* Also to one that meets it later, or again: it is told what is left. */
static void one_that_has_just_started_says_for_how_long_it_grants_nothing(void **state)
{
    const uint64_t until = now + 3000 * NS_PER_MS;
    start_all();
    exchange_keep_silent(agents[C].exchange, until, false);
    pass(200);
    assert_int_equal(silence(A, C, false), until - now);
    assert_int_equal(silence(A, B, false), 0);
    start(A, 77);
    assert_int_equal(silence(A, C, false), 0);
    pass(500);
    assert_int_equal(silence(A, C, false), until - now);
    const uint32_t sent = sent_count;
    exchange_keep_silent(agents[C].exchange, until, false);
    pass(3000);
    exchange_keep_silent(agents[C].exchange, 0, false);
    pass(1000);
    assert_int_equal(sent_count, sent); /* all know that it is over */
    assert_int_equal(silence(A, C, false), 0);
    exchange_keep_silent(agents[C].exchange, now + 3000 * NS_PER_MS, false);
    pass(200);
    assert_true(silence(A, C, false) > 0);
    start(C, 78); /* another life, which has not said anything */
    pass(200);
    assert_int_equal(silence(A, C, false), 0);
}

static void one_that_lost_its_record_says_when_it_has_learned(void **state)
{
    start_all();
    exchange_keep_silent(agents[C].exchange, now + 500 * NS_PER_MS, true);
    pass(200);
    assert_true(silence(A, C, true) > 0);
    exchange_keep_silent(agents[C].exchange, 0, true);
    pass(1000);
    assert_int_equal(silence(A, C, true), 0);
    exchange_keep_silent(agents[C].exchange, 0, false);
    pass(200);
    assert_int_equal(silence(A, C, false), 0);
}

static void no_silence_is_longer_than_an_hour(void **state)
{
    struct payload out;
    const struct payload_entry entry = {.type = PAYLOAD_STATEMENT,
                                        .flags = EXCHANGE_SILENT,
                                        .incarnation = 5,
                                        .version = 1,
                                        .span = UINT64_MAX};
    start(A, 1001);
    payload_begin(&out, 300);
    assert_true(payload_add(&out, &entry));
    exchange_receive(agents[A].exchange, now, C, out.bytes, out.size);
    assert_int_equal(silence(A, C, false), 3600 * NS_PER_S);
}

/* ---- Sections ---- */

static void sections_that_differ_are_listed_once(void **state)
{
    const char *patterns[4];
    set_option(A, "x*", "lease", "2s");
    set_option(C, "x*", "lease", "3s");
    set_option(C, "y", "lease", "3s");
    start_all();
    pass(1000);
    assert_int_equal(exchange_differing_sections(agents[A].exchange, B, patterns, 4), 1);
    assert_int_equal(exchange_differing_sections(agents[A].exchange, C, patterns, 4), 2);
    assert_string_equal(patterns[0], "x*");
    assert_string_equal(patterns[1], "y");
    assert_int_equal(exchange_differing_sections(agents[A].exchange, C, patterns, 1), 1);
    assert_false(exchange_differs_everywhere(agents[A].exchange, C));
    agents[C].config.members[C - 1].role = CONFIG_OBSERVER;
    start(C, 77);
    pass(1000);
    assert_true(exchange_differs_everywhere(agents[A].exchange, C));
}

/* ---- Versions ---- */

static const char *speaks(el_node self, el_node peer)
{
    static char text[EXCHANGE_VERSIONS_TEXT];
    return exchange_understands(agents[self].exchange, peer, text) ? "ours" : text;
}

/* What c sends in another version is not read, and said; once c speaks ours again, that is said too. */
static void another_version_is_told_and_not_silent(void **state)
{
    static const uint8_t others[] = {PAYLOAD_VERSION_LEAST - 1, PAYLOAD_VERSION + 1, 255};
    start_all();
    pass(1000);
    assert_int_equal(agents[A].versions, 0);
    for (unsigned i = 0; i < sizeof others; i++) {
        char number[8];
        snprintf(number, sizeof number, "%u", others[i]);
        for (int times = 0; times < 3; times++) exchange_hear(agents[A].exchange, now, C, others[i]);
        assert_int_equal(agents[A].versions, 2 * i + 1);
        assert_false(agents[A].understands);
        assert_string_equal(speaks(A, C), number);
        exchange_hear(agents[A].exchange, now, C, 0); /* an empty datagram says nothing */
        assert_string_equal(speaks(A, C), number);
        exchange_hear(agents[A].exchange, now, C, PAYLOAD_VERSION);
        assert_int_equal(agents[A].versions, 2 * i + 2);
        assert_true(agents[A].understands);
        assert_string_equal(speaks(A, C), "ours");
    }
    assert_string_equal(speaks(A, B), "ours");
    exchange_hear(agents[A].exchange, now, C, PAYLOAD_VERSION + 1);
    exchange_hear(agents[A].exchange, now, C, PAYLOAD_VERSION + 2);
    assert_int_equal(agents[A].versions, 2 * sizeof others + 2);
}

/* A statement of c about its program. */
static void tell_versions(uint64_t incarnation, uint64_t least, uint64_t most)
{
    struct payload out;
    const struct payload_entry entry = {.type = PAYLOAD_STATEMENT,
                                        .flags = EXCHANGE_VERSION,
                                        .incarnation = incarnation,
                                        .version = 1,
                                        .term = least,
                                        .span = most,
                                        .value = "9.0",
                                        .value_length = 3};
    payload_begin(&out, 300);
    assert_true(payload_add(&out, &entry));
    exchange_receive(agents[A].exchange, now, C, out.bytes, out.size);
}

/* c tells which versions it reads, in a form that all versions keep. One in common suffices; an earlier agent tells none. */
static void versions_are_compared_by_what_both_read(void **state)
{
    static const struct {
        uint64_t least, most;
        const char *says;
    } tries[] = {{PAYLOAD_VERSION, PAYLOAD_VERSION, "ours"},
                 {PAYLOAD_VERSION, PAYLOAD_VERSION + 1, "ours"},
                 {1, PAYLOAD_VERSION, "ours"},
                 {1, PAYLOAD_VERSION + 7, "ours"},
                 {0, 0, "ours"},
                 {PAYLOAD_VERSION + 1, PAYLOAD_VERSION + 1, "3"},
                 {PAYLOAD_VERSION + 1, PAYLOAD_VERSION + 2, "3 to 4"},
                 {1, 1, "1"},
                 {UINT64_MAX, UINT64_MAX, "18446744073709551615"},
                 {UINT64_MAX - 1, UINT64_MAX, "18446744073709551614 to 18446744073709551615"},
                 {9, 1, "9 to 1"}};
    start(A, 1001);
    for (unsigned i = 0; i < sizeof tries / sizeof *tries; i++) {
        tell_versions(100 + i, tries[i].least, tries[i].most);
        assert_string_equal(speaks(A, C), tries[i].says);
        assert_string_equal(exchange_version(agents[A].exchange, C), "9.0");
    }
    tell_versions(200, 3, 3);
    assert_false(agents[A].understands);
    tell_versions(201, 2, 3); /* upgraded */
    assert_true(agents[A].understands);
}

static void one_that_restarts_learns_all_again(void **state)
{
    set_option(A, "work", "lease", "2s");
    start_all();
    pass(1000);
    start(C, 77);
    assert_false(exchange_knows(agents[C].exchange, A));
    say(A, EXCHANGE_BEGAN, 9, "elected");
    for (int i = 0; i < 2; i++) { /* it goes out before a knows of the restart: what comes before is missing */
        now += 50 * NS_PER_MS;
        exchange_hear(agents[A].exchange, now, C, PAYLOAD_VERSION);
        (void)exchange_tick(agents[A].exchange, now);
    }
    assert_true(letter_count > 0);
    for (uint32_t i = 0; i < letter_count; i++)
        if (letters[i].to == C) exchange_receive(agents[C].exchange, now, A, letters[i].bytes, letters[i].size);
    letter_count = 0;
    assert_string_equal(agents[C].told, "");
    pass(1000);
    assert_true(exchange_differs(agents[C].exchange, A, "work"));
    assert_string_equal(agents[C].told, "1 work 9 elected");
}

static void losses_and_copies_change_nothing(void **state)
{
    set_option(C, "work", "lease", "2s");
    for (int i = 0; i < 40; i++) { /* several datagrams */
        char name[16];
        snprintf(name, sizeof name, "group-%d", i);
        for (el_node self = 1; self <= AGENTS; self++) set_option(self, name, "lease", "4s");
    }
    loses = 40;
    doubles = true;
    start_all();
    pass(60000);
    for (el_node peer = 1; peer <= AGENTS; peer++)
        for (el_node self = 1; self <= AGENTS; self++)
            if (self != peer) assert_true(exchange_knows(agents[self].exchange, peer));
    assert_string_equal(differences(B, C), "lease of [group work]: 1s, 2s");
    assert_string_equal(differences(A, B), "");
}

static void an_earlier_version_is_asked_ever_more_seldom(void **state)
{
    start_all();
    is_deaf[C] = true;
    for (int i = 0; i < 3600 * 20; i++, now += 50 * NS_PER_MS) { /* it is heard, but says nothing of this */
        exchange_hear(agents[A].exchange, now, C, PAYLOAD_VERSION);
        (void)exchange_tick(agents[A].exchange, now);
        letter_count = 0;
    }
    assert_in_range(sent_count, 30, 150); /* in an hour */
    assert_false(exchange_knows(agents[A].exchange, C));
    assert_null(exchange_version(agents[A].exchange, C));
    assert_false(exchange_differs(agents[A].exchange, C, NULL));
}

/* ---- Tenures ---- */

static void statements_arrive_once_and_in_order(void **state)
{
    start_all();
    loses = 40;
    doubles = true;
    say(A, EXCHANGE_BEGAN, 5, "elected");
    pass(100);
    say(A, EXCHANGE_ENDED, 5, "resigned");
    say(A, EXCHANGE_GAP, 8, "");
    pass(60000);
    assert_string_equal(agents[B].told, "1 work 5 elected, 1 work 5 resigned, 1 work 8 ");
    assert_string_equal(agents[C].told, agents[B].told);
    assert_string_equal(agents[A].told, "");
}

static void the_election_comes_first(void **state)
{
    const uint64_t after = EXCHANGE_AFTER_MS * NS_PER_MS;
    start_all();
    pass(1000);
    const uint32_t sent = sent_count;
    say(A, EXCHANGE_ENDED, 5, "resigned");
    assert_int_equal(exchange_tick(agents[A].exchange, now), now + after);
    say(A, EXCHANGE_GAP, 5, "");
    assert_int_equal(exchange_tick(agents[A].exchange, now + after - 1),
                     now + after); /* it does not wait longer */
    assert_int_equal(sent_count, sent);
    (void)exchange_tick(agents[A].exchange, now + after);
    assert_int_equal(sent_count, sent + 2); /* both statements in one datagram for each peer */
}

/* Also if that arrives late: a tenure has its age, and not that of the message. */
static void a_beginning_is_told_with_its_age(void **state)
{
    start_all();
    pass(1000);
    is_deaf[C] = true;
    pass(10000);
    const uint64_t began = now;
    say_at(A, EXCHANGE_BEGAN, 5, "elected", began);
    pass(10000);
    is_deaf[C] = false;
    pass(500);
    static const char before[] = "1 work 5 elected; for ";
    assert_memory_equal(agents[C].told, before, sizeof before - 1);
    const unsigned long long age = strtoull(agents[C].told + sizeof before - 1, NULL, 10);
    assert_in_range(age, 10000000, (now - began) / NS_PER_US);
}

static void one_that_was_cut_off_is_told_afterwards(void **state)
{
    start_all();
    pass(1000);
    is_deaf[C] = true;
    pass(10000);
    say(A, EXCHANGE_ENDED, 5, "no-quorum");
    pass(10000);
    assert_string_equal(agents[C].told, "");
    is_deaf[C] = false;
    pass(500);
    assert_string_equal(agents[C].told, "1 work 5 no-quorum");
}

static void the_oldest_are_left_out(void **state)
{
    start_all();
    pass(1000);
    is_deaf[C] = true;
    pass(3000);
    for (uint64_t i = 1; i <= UINT64_C(3) * EXCHANGE_LATEST; i++) say(A, EXCHANGE_GAP, i, "");
    is_deaf[C] = false;
    for (int i = 0; i < 200; i++) {
        agents[C].told[0] = agents[B].told[0] = '\0';
        pass(50);
        if (strstr(agents[C].told, "1 work 3072 ")) break;
    }
    assert_non_null(strstr(agents[C].told, "1 work 3072 ")); /* the newest; and nothing waits for ever */
}

/* ---- Who hears whom ---- */

static uint64_t hears(el_node self, el_node peer)
{
    uint64_t members = 0;
    assert_true(exchange_hears(agents[self].exchange, peer, &members));
    return members;
}

enum { BIT_A = 1, BIT_B = 2, BIT_C = 4 };

static void each_tells_whom_it_hears(void **state)
{
    uint64_t members;
    start_all();
    assert_false(exchange_hears(agents[A].exchange, B, &members));
    pass(3000);
    assert_int_equal(hears(A, B), BIT_A | BIT_C);
    assert_int_equal(hears(C, A), BIT_B | BIT_C);
    is_deaf[C] = true;
    pass(6000);
    assert_int_equal(hears(A, B), BIT_A);
    assert_int_equal(hears(A, C), BIT_A | BIT_B); /* as it said last */
    is_deaf[C] = false;
    pass(10000);
    assert_int_equal(hears(A, B), BIT_A | BIT_C);
    const uint32_t sent = sent_count;
    pass(600000);
    assert_int_equal(sent_count, sent); /* at rest they say nothing */
}

static void one_that_restarts_learns_it_again_also_after_many_tenures(void **state)
{
    start_all();
    pass(3000);
    for (uint64_t i = 1; i <= UINT64_C(3) * EXCHANGE_LATEST; i++) {
        say(A, EXCHANGE_GAP, i, "");
        if (i % 100 == 0) pass(50);
        agents[B].told[0] = agents[C].told[0] = '\0';
    }
    start(C, 77);
    pass(3000);
    assert_int_equal(hears(C, A), BIT_B | BIT_C);
}

static void positions_of_another_list_say_nothing(void **state)
{
    uint64_t members;
    agents[C].config.members[C - 1].role = CONFIG_OBSERVER;
    start_all();
    pass(3000);
    assert_false(exchange_hears(agents[A].exchange, C, &members));
    assert_int_equal(hears(A, B), BIT_A | BIT_C);
}

static void links_that_flap_push_nothing_out(void **state)
{
    start_all();
    pass(3000);
    say(A, EXCHANGE_BEGAN, 5, "elected");
    for (int i = 0; i < 3600; i++) {
        is_deaf[C] = i & 1;
        pass(2050);
    }
    start(B, 77);
    pass(3000);
    assert_non_null(strstr(agents[B].told, "1 work 5 elected"));
}

/* ---- Requests ---- */

static uint32_t request_of(el_node self, el_node to)
{
    const struct payload_entry entry = {.flags = EXCHANGE_RESIGN, .term = 5, .text = "work", .length = 4};
    uint32_t request = 0;
    assert_true(exchange_ask(agents[self].exchange, now, to, &entry, &request));
    return request;
}

static void a_request_is_answered(void **state)
{
    start_all();
    const uint32_t request = request_of(A, B);
    pass(100);
    assert_int_equal(agents[B].asked, 1);
    assert_int_equal(agents[A].answered, EXCHANGE_GRANTED);
    assert_int_equal(agents[A].answered_request, request);
    agents[B].says = EXCHANGE_NOT_STANDING;
    (void)request_of(A, B);
    pass(100);
    assert_int_equal(agents[A].answered, EXCHANGE_NOT_STANDING);
}

static void it_is_carried_out_once_whatever_the_network_does(void **state)
{
    start_all();
    loses = 50;
    doubles = true;
    for (unsigned i = 1; i <= 100; i++) {
        (void)request_of(A, B);
        pass(2500);
        assert_true(agents[B].asked <= i);
    }
    assert_in_range(agents[B].asked, 95, 100);
}

static void no_answer_is_told_too(void **state)
{
    start_all();
    pass(1000);
    is_deaf[B] = true;
    agents[A].answered = EXCHANGE_GRANTED;
    const uint32_t request = request_of(A, B);
    pass(1900);
    assert_int_equal(agents[A].answered_request, 0);
    pass(200);
    assert_int_equal(agents[A].answered_request, request);
    assert_int_equal(agents[A].answered, EXCHANGE_NO_ANSWER);
    is_deaf[B] = false;
    pass(5000);
    assert_int_equal(agents[B].asked, 0); /* it is not sent any more */
}

static void an_observer_deposes_nobody(void **state)
{
    for (el_node self = 1; self <= AGENTS; self++) agents[self].config.members[C - 1].role = CONFIG_OBSERVER;
    start_all();
    (void)request_of(C, A);
    pass(500);
    assert_int_equal(agents[A].asked, 0);
    assert_int_equal(agents[C].answered, EXCHANGE_NOT_ENTITLED);
}

static void a_witness_may_pass_requests_on(void **state)
{
    for (el_node self = 1; self <= AGENTS; self++) agents[self].config.members[C - 1].role = CONFIG_WITNESS;
    start_all();
    (void)request_of(C, A);
    pass(500);
    assert_int_equal(agents[A].asked, 1);
}

static void one_with_another_list_of_members_is_not_asked(void **state)
{
    agents[C].config.members[C - 1].role = CONFIG_WITNESS; /* it thinks so alone */
    start_all();
    (void)request_of(C, A);
    pass(3000);
    assert_int_equal(agents[A].asked, 0);
    assert_int_equal(agents[C].answered, EXCHANGE_NO_ANSWER);
}

static void each_peer_has_a_budget(void **state)
{
    start_all();
    for (int round = 0; round < 4; round++) {
        for (unsigned i = 0; i < EXCHANGE_PENDING_MAX / 2; i++) (void)request_of(C, A);
        pass(50);
    }
    assert_int_equal(agents[A].asked, EXCHANGE_REQUESTS_A_S);
    assert_int_equal(agents[C].answered, EXCHANGE_TOO_MANY);
    (void)request_of(B, A); /* others have their own */
    pass(50);
    assert_int_equal(agents[B].answered, EXCHANGE_GRANTED);
    pass(1000);
    (void)request_of(C, A);
    pass(50);
    assert_int_equal(agents[C].answered, EXCHANGE_GRANTED);
}

static void few_wait_for_answers(void **state)
{
    const struct payload_entry entry = {.flags = EXCHANGE_RESIGN, .term = 5, .text = "work", .length = 4};
    uint32_t request;
    start_all();
    is_deaf[B] = true;
    for (unsigned i = 0; i < EXCHANGE_PENDING_MAX; i++) (void)request_of(A, B);
    assert_false(exchange_ask(agents[A].exchange, now, B, &entry, &request));
    (void)request_of(A, C);
    pass(3000);
    request = request_of(A, B);
    exchange_forget(agents[A].exchange, request);
    agents[A].answered_request = 0;
    pass(3000);
    assert_int_equal(agents[A].answered_request, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_members_differ_in_nothing),
        TEST(other_settings_are_named),
        TEST(settings_of_the_whole_cluster_too),
        TEST(other_members_are_named),
        TEST(one_that_was_mended_counts_again),
        TEST(settings_that_were_read_again_are_told),
        TEST(one_that_has_just_started_says_for_how_long_it_grants_nothing),
        TEST(one_that_lost_its_record_says_when_it_has_learned),
        TEST(no_silence_is_longer_than_an_hour),
        TEST(sections_that_differ_are_listed_once),
        TEST(another_version_is_told_and_not_silent),
        TEST(versions_are_compared_by_what_both_read),
        TEST(one_that_restarts_learns_all_again),
        TEST(losses_and_copies_change_nothing),
        TEST(an_earlier_version_is_asked_ever_more_seldom),
        TEST(statements_arrive_once_and_in_order),
        TEST(the_election_comes_first),
        TEST(a_beginning_is_told_with_its_age),
        TEST(one_that_was_cut_off_is_told_afterwards),
        TEST(the_oldest_are_left_out),
        TEST(each_tells_whom_it_hears),
        TEST(one_that_restarts_learns_it_again_also_after_many_tenures),
        TEST(positions_of_another_list_say_nothing),
        TEST(links_that_flap_push_nothing_out),
        TEST(a_request_is_answered),
        TEST(it_is_carried_out_once_whatever_the_network_does),
        TEST(no_answer_is_told_too),
        TEST(an_observer_deposes_nobody),
        TEST(a_witness_may_pass_requests_on),
        TEST(one_with_another_list_of_members_is_not_asked),
        TEST(each_peer_has_a_budget),
        TEST(few_wait_for_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
