/* What an agent remembers of its groups, and what it makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/history/history.h"
#include "algorithms/quorum/quorum.h"
#include "base/clock.h"

/* ---- A member b of a, b, c, and its clock in microseconds ---- */

enum { A = 1, B, C };

static struct config config;
static struct history *history;
static const struct el_algorithm *quorum;
static uint64_t us, group, other;
static struct history_story story;
static struct history_tenure tenures[8];
static char told[8192];
static struct history_statement stated[HISTORY_STATEMENTS_MAX];
static uint32_t stated_count;
static uint64_t lost_ns; /* since when nobody leads; 0: not known */
static uint64_t over_ms; /* how long ago the lease of b was over; 0: it was not */

static int begin(void **state)
{
    config = (struct config){.cluster = "shop", .member_count = 3, .self = B};
    for (uint32_t i = 0; i < 3; i++)
        snprintf(config.members[i].name, sizeof config.members[i].name, "%c", 'a' + (int)i);
    quorum = el_algorithm_named("quorum");
    us = 10000000;
    lost_ns = over_ms = 0;
    group = history_group("billing");
    other = history_group("other");
    history = history_new(&config, us * 1000);
    return history ? 0 : -1;
}

static int finish(void **state)
{
    history_free(history);
    return 0;
}

static void note_of(uint64_t of, uint32_t number, uint64_t first, uint64_t second)
{
    history_note(history, us++ * 1000, of, &(struct host_note){quorum, number, {first, second}});
}

static void note(uint32_t number, uint64_t first, uint64_t second)
{
    note_of(group, number, first, second);
}

static void leadership(enum history_what what)
{
    history_leadership(history, us++ * 1000, group, what, EL_NOBODY, NULL);
}

static void hear(uint8_t kind, el_node from, uint8_t flags, uint64_t term, el_node subject)
{
    const struct el_msg msg = {.kind = kind, .from = from, .flags = flags, .epoch = term, .subject = subject};
    history_hear(history, us++ * 1000, group, quorum, &msg);
}

static struct history_entry last_change;

/* As agent/serve measures it. */
static void lead_of(uint64_t of, el_node before, el_node leader, uint64_t token, uint64_t heard_ms)
{
    const uint64_t now = us++ * 1000, silence = (before == B ? over_ms : heard_ms) * 1000000;
    if (before) lost_ns = now - silence;
    const struct history_change change = {.group = of,
                                          .before = before,
                                          .leader = leader,
                                          .token = token,
                                          .heard_ns = before == B && over_ms == 0 ? UINT64_MAX : silence,
                                          .nobody_ns = leader && lost_ns ? now - lost_ns : UINT64_MAX,
                                          .is_failover = true};
    if (leader) lost_ns = 0;
    last_change = *history_lead(history, now, &change, stated, &stated_count);
}

static void lead(el_node before, el_node leader, uint64_t token, uint64_t heard_ms)
{
    lead_of(group, before, leader, token, heard_ms);
}

/* "a 5 elected released, ..." */
static const char *past_leaders(uint32_t most)
{
    const uint32_t count = history_tenures(history, group, tenures, most);
    size_t used = 0;
    told[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(told + used, sizeof told - used, "%s%s %llu %s %s", i ? ", " : "",
                                 config.members[tenures[i].leader - 1].name,
                                 (unsigned long long)tenures[i].token, history_beginning_word(tenures[i].began),
                                 tenures[i].ended_ns ? history_end_word(tenures[i].ended) : "leads");
    return told;
}

/* "0 sentence; 12 sentence (3)" */
static const char *tell(void)
{
    char text[HISTORY_TEXT];
    size_t used = 0;
    told[0] = '\0';
    if (!history_tell(history, group, &story)) return "nothing";
    for (uint32_t i = 0; i < story.count && used + 300 < sizeof told; i++) {
        history_sentence(&config, &story.steps[i], text);
        used += (size_t)snprintf(told + used, sizeof told - used, "%s%llu %s", i ? "; " : "",
                                 (unsigned long long)(story.steps[i].at_ns - story.first_ns) / 1000, text);
        if (story.steps[i].times > 1)
            used += (size_t)snprintf(told + used, sizeof told - used, " (%u)", story.steps[i].times);
    }
    return told;
}

/* ---- Tenures ---- */

static void tenures_come_in_their_order(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    us += 1000;
    note(QUORUM_IS_RELEASED, A, 5);
    lead(A, EL_NOBODY, 0, 0);
    us += 99;
    lead(EL_NOBODY, C, 8, 0);
    lead(C, B, 9, 0);
    assert_string_equal(past_leaders(8), "a 5 seen released, c 8 seen followed, b 9 seen leads");
    assert_int_equal(tenures[0].ended_ns - tenures[0].began_ns, 1002 * 1000);
    assert_true(tenures[0].nobody_ns == UINT64_MAX);
    assert_int_equal(tenures[1].nobody_ns, 100 * 1000);
    assert_int_equal(tenures[2].nobody_ns, 0);
    assert_string_equal(past_leaders(2), "c 8 seen followed, b 9 seen leads");
    assert_int_equal(tenures[0].nobody_ns, 100 * 1000); /* though the one before is not told */
}

static void who_was_out_of_sight_has_led_on(void **state)
{
    lead(EL_NOBODY, C, 3, 0);
    note(QUORUM_IS_RELEASED, C, 3);
    lead(C, A, 5, 0);
    us += 1000000;
    lead(A, EL_NOBODY, 0, 450);
    lead(EL_NOBODY, A, 5, 0);
    assert_string_equal(past_leaders(8), "c 3 seen released, a 5 seen leads");
    assert_string_equal(tell(),
                        "0 b is released from its promise to c, in terms up to 3; 1 a leads, with token 5");
    us += 1000000;
    note(QUORUM_IS_RELEASED, A, 5);
    lead(A, B, 9, 0);
    assert_string_equal(past_leaders(8), "c 3 seen released, a 5 seen released, b 9 seen leads");
    assert_string_equal(tell(),
                        "0 b is released from its promise to a, in terms up to 5; 1 b leads, with token 9");
    assert_int_equal(story.before.ended_ns - story.before.began_ns, 2000004 * UINT64_C(1000));
}

static void groups_are_kept_apart(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    note_of(other, QUORUM_IS_RELEASED, A, 5);
    lead_of(other, EL_NOBODY, C, 77, 0);
    lead(A, EL_NOBODY, 0, 450);
    assert_string_equal(past_leaders(8), "a 5 seen lost sight");
    assert_null(strstr(tell(), "released"));
}

static void much_noise_takes_no_tenure_away(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    for (uint32_t i = 0; i < HISTORY_STEPS + 100; i++) note_of(other, QUORUM_REFUSES_HELD, A, C);
    lead(A, C, 9, 0);
    assert_string_equal(past_leaders(8), "a 5 seen followed, c 9 seen leads");
    assert_string_equal(tell(), "0 c leads, with token 9");
}

static void the_oldest_changes_go_first(void **state)
{
    for (uint32_t i = 0; i < HISTORY_CHANGES + 3; i++) lead_of(i < 3 ? group : other, EL_NOBODY, A, i + 1, 0);
    assert_string_equal(past_leaders(8), "");
    assert_string_equal(tell(), "nothing");
    assert_int_equal(history_tenures(history, other, tenures, 8), 8);
    assert_int_equal(tenures[7].token, HISTORY_CHANGES + 3);
    assert_int_equal(tenures[0].token, HISTORY_CHANGES + 3 - 7);
}

/* ---- How they began and ended ---- */

/* The release reached c first, and c's vote reached us before it. */
static void a_vote_that_was_pushed_before_the_release_came_is_told(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    us += 1000000;
    hear(QUORUM_GRANT, C, 0, 9, EL_NOBODY);
    note(QUORUM_IS_PUSHED, C, 9);
    us += 5000;
    note(QUORUM_IS_RELEASED, A, 5);
    lead(A, B, 9, 0);
    assert_non_null(strstr(tell(), "0 c votes for b, in term 9; 1 b is given the vote of c unasked"));
}

static void a_release_that_is_pushed_is_a_hand_over(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    note(QUORUM_IS_RELEASED, A, 5);
    note(QUORUM_PUSHES, C, 8);
    note(QUORUM_GRANTS, C, 8);
    lead(A, EL_NOBODY, 0, 0);
    lead(EL_NOBODY, C, 8, 0);
    assert_string_equal(past_leaders(8), "a 5 seen released, c 8 handed over leads");
}

static void who_asked_first_was_elected(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    lead(A, EL_NOBODY, 0, 450);
    note(QUORUM_REFUSES_HELD, C, A);
    note(QUORUM_PUSHES, C, 8);
    note(QUORUM_GRANTS, C, 8);
    lead(EL_NOBODY, C, 8, 0);
    assert_string_equal(past_leaders(8), "a 5 seen lost sight, c 8 elected leads");
}

static void who_asked_in_vain_is_an_heir_all_the_same(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    note(QUORUM_REFUSES_HELD, C, A); /* it had asked for another term, long ago */
    note(QUORUM_IS_RELEASED, A, 5);
    note(QUORUM_PUSHES, C, 8);
    lead(A, EL_NOBODY, 0, 0);
    lead(EL_NOBODY, C, 8, 0);
    assert_string_equal(past_leaders(8), "a 5 seen released, c 8 handed over leads");
}

static void an_heir_of_the_dead_is_pushed(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    lead(A, EL_NOBODY, 0, 450);
    note(QUORUM_BURIES, A, 1); /* it becomes clear while nobody leads */
    note(QUORUM_IS_PUSHED, C, 8);
    lead(EL_NOBODY, B, 8, 0);
    assert_string_equal(past_leaders(8), "a 5 seen obituary, b 8 pushed leads");
}

static void another_term_explains_nothing(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    note(QUORUM_GRANTS, C, 7);
    note(QUORUM_STANDS, 6, 0);
    lead(A, C, 8, 0);
    assert_string_equal(past_leaders(8), "a 5 seen followed, c 8 seen leads");
}

static void another_ones_release_ends_nothing(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    note(QUORUM_IS_RELEASED, C, 4);
    note(QUORUM_BURIES, C, 2);
    lead(A, EL_NOBODY, 0, 450);
    assert_string_equal(past_leaders(8), "a 5 seen lost sight");
}

static void what_was_before_a_tenure_does_not_end_it(void **state)
{
    lead(EL_NOBODY, B, 5, 0);
    note(QUORUM_HANDS_OVER, A, 6);
    lead(B, EL_NOBODY, 0, 0);
    lead(EL_NOBODY, A, 6, 0);
    lead(A, B, 9, 0);
    us += 1000;
    lead(B, EL_NOBODY, 0, 0);
    assert_string_equal(past_leaders(8),
                        "b 5 seen handed over, a 6 handed over followed, b 9 seen lease ran out");
}

static void the_worker_counts_more_than_what_follows_from_it(void **state)
{
    lead(EL_NOBODY, B, 5, 0);
    leadership(HISTORY_GONE);
    note(QUORUM_RESIGNS, 5, 0);
    lead(B, EL_NOBODY, 0, 0);
    assert_string_equal(past_leaders(8), "b 5 seen worker gone");
}

static void who_says_so_lets_go(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    lead(A, EL_NOBODY, 0, 0);
    assert_string_equal(past_leaders(8), "a 5 seen let go");
}

/* ---- Stories ---- */

static void nothing_to_tell_before_anything_changes(void **state)
{
    note(QUORUM_STANDS, 5, 0);
    assert_string_equal(tell(), "nothing");
    assert_string_equal(past_leaders(8), "");
}

static void a_story_begins_with_its_cause(void **state)
{
    lead(EL_NOBODY, B, 5, 0);
    note(QUORUM_ASKS_TO_JOIN, C, 0);
    us += 3600000000;
    note(QUORUM_REFUSES_HELD, C, B); /* long before, and without consequence */
    us += 3600000000;
    leadership(HISTORY_GONE);
    us += 6;
    note(QUORUM_RESIGNS, 5, 0);
    note(QUORUM_IS_RELEASED, B, 5);
    note(QUORUM_PUSHES, C, 8);
    note(QUORUM_GRANTS, C, 8);
    lead(B, EL_NOBODY, 0, 0);
    us += 400;
    lead(EL_NOBODY, C, 8, 0);
    assert_string_equal(tell(), "0 the worker at b is gone: its connection ended; "
                                "7 b ends term 5 as it was asked to; "
                                "9 b is free, and gives its vote to c in term 8; "
                                "11 b no longer leads: no leader; "
                                "412 c leads, with token 8");
    assert_int_equal(story.before.leader, B);
    assert_int_equal(story.before.ended, HISTORY_WORKER_GONE);
    assert_int_equal(story.after.leader, C);
    assert_int_equal(story.after.nobody_ns, 401 * 1000);
}

static void silence_begins_when_it_was_last_broken(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    us += 2000000;
    note(QUORUM_WAITS, 0, 0);
    lead(A, EL_NOBODY, 0, 450);
    note(QUORUM_STANDS, 8, 0);
    for (int i = 0; i < 3; i++) hear(QUORUM_REFUSE, C, QUORUM_HELD | QUORUM_ACTIVE, 8, A);
    hear(QUORUM_GRANT, C, 0, 8, EL_NOBODY);
    note(QUORUM_WINS, 8, 0);
    lead(EL_NOBODY, B, 8, 0);
    leadership(HISTORY_TOLD_ELECTED);
    assert_string_equal(tell(), "0 a is heard for the last time; "
                                "449999 b sees no leader, and waits for its turn behind 0; "
                                "450000 a has been silent for 450 ms: nobody is known to lead; "
                                "450001 b asks for votes in term 8; "
                                "450002 c refuses b: it has promised the group to a, who leads (3); "
                                "450005 c votes for b, in term 8; "
                                "450006 b is granted the group by a majority, and leads in term 8; "
                                "450008 the worker at b is told that it leads");
}

static void a_vote_that_brings_the_news_comes_first(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    us += 1000000;
    hear(QUORUM_GRANT, C, 0, 8, EL_NOBODY);
    note(QUORUM_IS_RELEASED, A, 5);
    note(QUORUM_IS_PUSHED, C, 8);
    lead(A, B, 8, 0);
    assert_string_equal(tell(), "0 c votes for b, in term 8; "
                                "1 b is released from its promise to a, in terms up to 5; "
                                "2 b is given the vote of c unasked, and stands in term 8; "
                                "3 b leads, with token 8");
    assert_string_equal(past_leaders(8), "a 5 seen released, b 8 handed over leads");
}

static void what_comes_long_after_is_another_story(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    note(QUORUM_IS_RELEASED, A, 5);
    lead(A, B, 8, 0);
    hear(QUORUM_GRANT, C, 0, 8, EL_NOBODY);
    note(QUORUM_REFUSES_HELD, C, B);
    us += 1000000;
    hear(QUORUM_GRANT, A, 0, 8, EL_NOBODY);
    assert_string_equal(tell(), "0 b is released from its promise to a, in terms up to 5; "
                                "1 b leads, with token 8; "
                                "2 c votes for b, in term 8");
}

static void a_story_without_an_end_is_told_as_far_as_it_goes(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    us += 1000000;
    lead(A, EL_NOBODY, 0, 450);
    us += 1000000;
    note(QUORUM_STANDS, 8, 0);
    history_write(history, us * 1000, 1234567);
    assert_string_equal(tell(), "0 a is heard for the last time; "
                                "450000 a has been silent for 450 ms: nobody is known to lead; "
                                "1450001 b asks for votes in term 8; "
                                "1450002 b has written its state file, in 1.234 ms");
    assert_int_equal(story.after.leader, EL_NOBODY);
}

static void a_long_story_keeps_its_beginning_and_its_end(void **state)
{
    lead(EL_NOBODY, B, 5, 0);
    note(QUORUM_LAPSES, 5, 0);
    lead(B, EL_NOBODY, 0, 0);
    for (uint64_t term = 100; term < 200; term++) note(QUORUM_STANDS, term, 0);
    lead(EL_NOBODY, B, 199, 0);
    (void)tell();
    assert_int_equal(story.count, HISTORY_STORY_MAX);
    assert_int_equal(story.left_out, 103 - HISTORY_STORY_MAX);
    assert_int_equal(story.steps[0].note, QUORUM_LAPSES);
    assert_int_equal(story.steps[HISTORY_STORY_MAX - 1].what, HISTORY_LEADER);
    for (uint32_t i = 1; i < story.count; i++) assert_true(story.steps[i].number > story.steps[i - 1].number);
}

static void members_that_do_not_exist_are_not_believed(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    hear(QUORUM_REFUSE, C, QUORUM_HELD, 8, 200);
    hear(QUORUM_GRANT, 200, 0, 8, EL_NOBODY);
    hear(QUORUM_BEAT, C, 0, 8, EL_NOBODY);
    lead(A, EL_NOBODY, 0, 450);
    assert_string_equal(tell(), "0 a is heard for the last time; "
                                "450000 a has been silent for 450 ms: nobody is known to lead");
}

static void every_leadership_step_has_a_sentence(void **state)
{
    char text[HISTORY_TEXT];
    for (int what = HISTORY_LEADER; what <= HISTORY_TOLD_LOST; what++) {
        struct history_entry e = {
            .what = (uint8_t)what, .note = QUORUM_RESIGNS, .who = C, .whom = A, .times = 1};
        if (what == HISTORY_NOTE) e.by = quorum;
        history_sentence(&config, &e, text);
        if (strlen(text) < 12 || strstr(text, "null")) fail_msg("%d: %s", what, text);
        assert_non_null(history_kind_word((enum history_what)what));
    }
}

static void the_number_of_a_note_is_a_byte(void **state)
{
    uint32_t count;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) assert_in_range(all[i]->note_count, 1, UINT8_MAX);
    all = el_detectors(&count);
    for (uint32_t i = 0; i < count; i++) assert_in_range(all[i]->note_count, 1, UINT8_MAX);
}

static void a_malformed_message_is_part_of_no_story(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    for (int i = 0; i < HISTORY_STEPS; i++) {
        note(EL_NOTE_MALFORMED + QUORUM_RESIGNS, A, 5); /* which makes no other note of it */
        if (i == 0) note(QUORUM_IS_RELEASED, A, 5);
    }
    lead(A, EL_NOBODY, 0, 0);
    assert_string_equal(past_leaders(8), "a 5 seen released");
    assert_null(strstr(tell(), "resigns"));
}

static void without_one_nothing_is_kept(void **state)
{
    history_note(NULL, 1, group, &(struct host_note){quorum, 0, {0, 0}});
    assert_null(history_lead(NULL, 1, &(struct history_change){.group = group, .leader = A, .token = 1}, stated,
                             &stated_count));
    assert_int_equal(stated_count, 0);
    history_leadership(NULL, 1, group, HISTORY_GONE, EL_NOBODY, NULL);
    history_write(NULL, 1, 1);
    history_hear(NULL, 1, group, quorum, &(struct el_msg){.kind = QUORUM_GRANT});
    assert_string_equal(tell(), "nothing");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

/* ---- One story at all agents ---- */

static void a_leader_without_a_majority_has_not_resigned(void **state)
{
    const uint64_t heard_ns[] = {630 * NS_PER_MS, 0, 612 * NS_PER_MS};
    lead(EL_NOBODY, B, 5, 0);
    us += 3000000;
    history_lose_majority(history, us * 1000, group, 618 * NS_PER_MS, heard_ns, 450 * NS_PER_MS, 0, 0);
    us++;
    leadership(HISTORY_RESIGNED);
    note(QUORUM_RESIGNS, 5, 0);
    lead(B, EL_NOBODY, 0, 0);
    assert_string_equal(past_leaders(8), "b 5 seen no-quorum");
    assert_string_equal(tell(), "0 a is heard for the last time; "
                                "18000 c is heard for the last time; "
                                "630000 no majority has renewed the lease of b for 618 ms: a, c silent; "
                                "630001 the worker at b resigns: its work has ended; "
                                "630002 b ends term 5 as it was asked to; "
                                "630003 b no longer leads: no leader");
    assert_string_equal(story.before.detail, "a silent for 630 ms, c silent for 612 ms");
    char text[HISTORY_TEXT];
    history_write_silence(history, group, text);
    assert_string_equal(
        text, "no majority has renewed the lease for 618 ms: a silent for 630 ms, c silent for 612 ms");
    history_write_silence(history, other, text);
    assert_string_equal(text, "");
}

static void a_worker_that_resigns_with_a_majority_has_resigned(void **state)
{
    lead(EL_NOBODY, B, 5, 0);
    leadership(HISTORY_RESIGNED);
    note(QUORUM_RESIGNS, 5, 0);
    lead(B, EL_NOBODY, 0, 0);
    assert_string_equal(past_leaders(8), "b 5 seen resigned");
    assert_null(tenures[0].detail);
}

static void voters_that_are_heard_but_do_not_answer_are_not_silent(void **state)
{
    const uint64_t heard_ns[] = {1000000, 0, 2000000};
    lead(EL_NOBODY, B, 5, 0);
    us += 3000000;
    history_lose_majority(history, us++ * 1000, group, 950 * NS_PER_MS, heard_ns, 450 * NS_PER_MS, 0, 0);
    lead(B, EL_NOBODY, 0, 0);
    assert_string_equal(tell(), "0 no majority has renewed the lease of b for 950 ms, though voters are heard; "
                                "1 b no longer leads: no leader");
    assert_string_equal(story.before.detail, "voters are heard, but do not answer");
}

static void a_renewal_that_came_too_late_is_no_silence(void **state)
{
    const uint64_t heard_ns[] = {1000000, 0, 2000000};
    char text[HISTORY_TEXT];
    lead(EL_NOBODY, B, 5, 0);
    us += 3000000;
    history_lose_majority(history, us++ * 1000, group, 0, heard_ns, UINT64_MAX, 0, 1);
    leadership(HISTORY_RESIGNED);
    note(QUORUM_RESIGNS, 5, 0);
    lead(B, EL_NOBODY, 0, 0);
    assert_string_equal(past_leaders(8), "b 5 seen no-quorum");
    assert_string_equal(tell(), "0 the lease of b was renewed too late for its worker; "
                                "1 the worker at b resigns: its work has ended; "
                                "2 b ends term 5 as it was asked to; "
                                "3 b no longer leads: no leader");
    assert_string_equal(story.before.detail, "renewed too late for its worker");
    history_write_silence(history, group, text);
    assert_string_equal(text, "the lease was renewed too late for its worker");
}

/* a is silent, and c has other settings: each is named. */
static void a_voter_that_does_not_count_is_named(void **state)
{
    const uint64_t heard_ns[] = {630 * NS_PER_MS, 0, 2000000};
    char text[HISTORY_TEXT];
    lead(EL_NOBODY, B, 5, 0);
    us += 3000000;
    history_lose_majority(history, us++ * 1000, group, 618 * NS_PER_MS, heard_ns, 450 * NS_PER_MS, 0, 5);
    lead(B, EL_NOBODY, 0, 0);
    assert_string_equal(tell(), "0 a is heard for the last time; "
                                "630000 c is heard, but does not count: its settings differ; "
                                "630000 no majority has renewed the lease of b for 618 ms: a silent; "
                                "630001 b no longer leads: no leader");
    assert_string_equal(story.before.detail, "a silent for 630 ms, c does not count");
    history_write_silence(history, group, text);
    assert_string_equal(text,
                        "no majority has renewed the lease for 618 ms: a silent for 630 ms, c does not count");
}

static void hear_stated(el_node from, enum history_states what, uint64_t token, uint64_t span_ns,
                        const char *text)
{
    struct history_statement heard = {.what = what, .token = token, .span_ns = span_ns};
    snprintf(heard.text, sizeof heard.text, "%s", text);
    history_hear_statement(history, from, group, &heard);
}

static void a_leaders_own_agent_is_believed_about_its_tenure(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    us += 1000000;
    lead(A, EL_NOBODY, 0, 450);
    us += 500000;
    lead(EL_NOBODY, C, 8, 0);
    assert_string_equal(past_leaders(8), "a 5 seen lost sight, c 8 seen leads");
    assert_int_equal(tenures[1].nobody_ns, 950001 * UINT64_C(1000)); /* since it was last heard */
    hear_stated(A, HISTORY_STATES_BEGINNING, 5, 0, "elected");
    hear_stated(A, HISTORY_STATES_END, 5, 700 * NS_PER_MS, "no-quorum; b silent for 620 ms");
    hear_stated(C, HISTORY_STATES_BEGINNING, 8, 7000001, "handed over");
    assert_string_equal(past_leaders(8), "a 5 elected no-quorum, c 8 handed over leads");
    assert_string_equal(tenures[0].detail, "b silent for 620 ms");
    assert_int_equal(tenures[0].ended_ns - tenures[0].began_ns, 700 * NS_PER_MS);
    assert_int_equal(tenures[1].nobody_ns, 7000000);
    hear_stated(A, HISTORY_STATES_GAP, 8, 9000000, ""); /* it knows best when it ended */
    past_leaders(8);
    assert_int_equal(tenures[1].nobody_ns, 9000000);
    past_leaders(1);
    assert_int_equal(tenures[0].nobody_ns, 9000000);
    assert_true(history_tell(history, group, &story));
    assert_int_equal(story.before.ended, HISTORY_NO_QUORUM);
    assert_int_equal(story.after.began, HISTORY_HANDED_OVER);
    assert_int_equal(story.after.nobody_ns, 9000000);
}

/* b's agent stands still for 3 s, and finds its lease over for 2.2 s, and c leading. */
static void stand_still(void)
{
    const uint64_t heard_ns[] = {3121 * NS_PER_MS, 0, 3121 * NS_PER_MS};
    lead(EL_NOBODY, B, 5, 0);
    us += 5000000 - 1;
    over_ms = 2200;
    history_lose_majority(history, us * 1000, group, 3121 * NS_PER_MS, heard_ns, 450 * NS_PER_MS,
                          3000 * NS_PER_MS, 5); /* nobody that is not heard counts */
    lead(B, EL_NOBODY, 0, 0);
}

static void a_tenure_ends_with_its_lease_however_late_that_is_noticed(void **state)
{
    stand_still();
    assert_int_equal(stated_count, 1);
    assert_int_equal(stated[0].span_ns, 2800 * NS_PER_MS);
    assert_string_equal(past_leaders(8), "b 5 seen no-quorum");
    assert_int_equal(tenures[0].ended_ns - tenures[0].began_ns, 2800 * NS_PER_MS);
    lead(EL_NOBODY, C, 8, 0);
    assert_int_equal(stated_count, 0); /* when c began is for its agent to say */
    past_leaders(8);
    assert_true(tenures[0].ended_ns < tenures[1].began_ns);
    assert_int_equal(tenures[1].nobody_ns, (2200 * 1000 + 1) * UINT64_C(1000));
}

static void an_end_that_is_noticed_at_once_tells_the_gap(void **state)
{
    lead(EL_NOBODY, B, 5, 0);
    us += 5000000;
    over_ms = 3;
    lead(B, EL_NOBODY, 0, 0);
    lead(EL_NOBODY, C, 8, 0);
    assert_int_equal(stated_count, 1);
    assert_int_equal(stated[0].what, HISTORY_STATES_GAP);
    assert_int_equal(stated[0].span_ns, 3001 * 1000);
}

static void an_agent_that_stood_still_blames_nobody_else(void **state)
{
    stand_still();
    char text[HISTORY_TEXT];
    assert_string_equal(tell(),
                        "0 the agent of b stands still, for 3000 ms; "
                        "3000000 no majority has renewed the lease of b for 3121 ms: its agent stood still; "
                        "3000000 b no longer leads: no leader");
    assert_string_equal(story.before.detail, "the agent of b stood still for 3000 ms");
    history_write_silence(history, group, text);
    assert_string_equal(
        text, "no majority has renewed the lease for 3121 ms: the agent of b stood still for 3000 ms");
}

static void a_voter_that_was_silent_for_longer_is_named_too(void **state)
{
    const uint64_t heard_ns[] = {3700 * NS_PER_MS, 0, 3121 * NS_PER_MS};
    lead(EL_NOBODY, B, 5, 0);
    us += 5000000;
    history_lose_majority(history, us * 1000, group, 3121 * NS_PER_MS, heard_ns, 450 * NS_PER_MS,
                          3000 * NS_PER_MS, 0);
    lead(B, EL_NOBODY, 0, 0);
    (void)tell();
    assert_non_null(strstr(told, "for 3121 ms: its agent stood still; a silent; "));
    assert_string_equal(story.before.detail, "the agent of b stood still for 3000 ms, a silent for 3700 ms");
}

static void a_short_stop_is_no_cause(void **state)
{
    const uint64_t heard_ns[] = {630 * NS_PER_MS, 0, 612 * NS_PER_MS};
    lead(EL_NOBODY, B, 5, 0);
    us += 3000000;
    history_lose_majority(history, us * 1000, group, 618 * NS_PER_MS, heard_ns, 450 * NS_PER_MS,
                          400 * NS_PER_MS, 0);
    lead(B, EL_NOBODY, 0, 0);
    (void)tell();
    assert_string_equal(story.before.detail, "a silent for 630 ms, c silent for 612 ms");
}

/* An agent of another version says that its tenure lasted until it noticed the end. */
static void no_tenure_ends_after_the_next_one_begins(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    us += 1000000;
    lead(A, EL_NOBODY, 0, 450);
    us += 500000;
    lead(EL_NOBODY, C, 8, 0);
    hear_stated(A, HISTORY_STATES_END, 5, 4710 * NS_PER_MS, "no-quorum");
    past_leaders(8);
    assert_int_equal(tenures[0].ended_ns, tenures[1].began_ns);
    assert_true(history_tell(history, group, &story));
    assert_int_equal(story.before.ended_ns, story.after.began_ns);
}

/* A leader that was cut off for 5 s has seen the next one late. */
static void a_gap_that_reaches_into_the_next_tenure_is_not_believed(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    us += 1000000;
    lead(A, EL_NOBODY, 0, 450);
    us += 500000;
    lead(EL_NOBODY, C, 8, 0);
    hear_stated(A, HISTORY_STATES_END, 5, 700 * NS_PER_MS, "no-quorum");
    hear_stated(C, HISTORY_STATES_BEGINNING, 8, 940 * NS_PER_MS + 1, "elected");
    hear_stated(A, HISTORY_STATES_GAP, 8, 5800 * NS_PER_MS, "");
    past_leaders(8);
    assert_int_equal(tenures[1].nobody_ns, 940 * NS_PER_MS);
    hear_stated(A, HISTORY_STATES_GAP, 8, 800 * NS_PER_MS, "");
    past_leaders(8);
    assert_int_equal(tenures[1].nobody_ns, 800 * NS_PER_MS);
}

static void steps_are_told_in_the_order_of_their_times(void **state)
{
    const uint64_t heard_ns[] = {630 * NS_PER_MS, 0, 900 * NS_PER_MS};
    lead(EL_NOBODY, B, 5, 0);
    us += 3000000;
    note(QUORUM_WOULD_HAND_OVER, A, 0); /* the first cause by its number, and not by its time */
    us += 100000;
    history_lose_majority(history, us * 1000, group, 618 * NS_PER_MS, heard_ns, 450 * NS_PER_MS, 0, 0);
    lead(B, EL_NOBODY, 0, 0);
    (void)tell();
    assert_true(story.count > 4);
    assert_int_equal(story.first_ns, story.steps[0].at_ns);
    assert_int_equal(story.steps[0].who, C);
    for (uint32_t i = 1; i < story.count; i++) assert_true(story.steps[i].at_ns >= story.steps[i - 1].at_ns);
}

static void without_a_next_leader_a_story_ends(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    us += 1000000;
    lead(A, EL_NOBODY, 0, 450);
    us += 9000000;
    note(QUORUM_STANDS, 7, 0);
    us += 2000000;
    note(QUORUM_STANDS, 9, 0);
    lead(EL_NOBODY, EL_NOBODY, 9, 0);
    (void)tell();
    assert_non_null(strstr(told, "term 7"));
    assert_null(strstr(told, "term 9"));
    assert_int_equal(story.count, 3);
    note(QUORUM_STANDS, 11, 0);
    lead(EL_NOBODY, C, 11, 0); /* it explains how a leader came about, however long that took */
    assert_non_null(strstr(tell(), "term 9"));
}

/* "a elected, c no-quorum, 9 ms": by whom, how the one before ended, and the gap. */
static const char *complete(struct history_entry change)
{
    history_complete(history, &change);
    snprintf(told, sizeof told, "%s %s, %s %s, %llu us", config.members[change.who - 1].name,
             history_beginning_word(change.began),
             change.whom ? config.members[change.whom - 1].name : "nobody", history_end_word(change.ended),
             (unsigned long long)change.nobody_ns / 1000);
    return told;
}

/* The log writes it a while after the change: then it is what the history tells. */
static void a_change_is_completed_by_what_the_leaders_say(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    us += 1000000;
    lead(A, EL_NOBODY, 0, 450);
    us += 500000;
    lead(EL_NOBODY, C, 8, 0);
    const struct history_entry change = last_change;
    lead_of(other, EL_NOBODY, B, 9, 0);
    lead(C, EL_NOBODY, 0, 0); /* a later change has nothing to do with it */
    assert_string_equal(complete(change), "c seen, a lost sight, 950001 us");
    hear_stated(C, HISTORY_STATES_BEGINNING, 8, 7000001, "elected");
    assert_string_equal(complete(change), "c elected, a lost sight, 7000 us");
    hear_stated(A, HISTORY_STATES_END, 5, 700 * NS_PER_MS, "no-quorum; b silent for 620 ms");
    hear_stated(A, HISTORY_STATES_GAP, 8, 9000000, "");
    assert_string_equal(complete(change), "c elected, a no-quorum, 9000 us");
}

static void the_first_leader_has_none_before(void **state)
{
    note(QUORUM_STANDS, 5, 0);
    lead(EL_NOBODY, B, 5, 0);
    history_complete(history, &last_change);
    assert_int_equal(last_change.whom, EL_NOBODY);
    assert_int_equal(last_change.began, HISTORY_ELECTED);
    assert_true(last_change.nobody_ns == UINT64_MAX);
}

/* This agent was away when it began, and its leader's agent knows when that was. */
static void a_beginning_that_was_not_seen_is_told_by_the_leaders_agent(void **state)
{
    us += 9000000;
    const uint64_t seen = us;
    lead(EL_NOBODY, A, 5, 0);
    us += 1000000;
    struct history_statement began = {
        .what = HISTORY_STATES_BEGINNING, .token = 5, .at_ns = (seen - 2500000) * 1000, .text = "elected"};
    history_hear_statement(history, A, group, &began);
    past_leaders(1);
    assert_int_equal(tenures[0].began_ns, (seen - 2500000) * 1000);
    began.token = 6;
    lead(A, A, 6, 0);
    began.at_ns = us * 1000 - 20 * NS_PER_MS; /* as long as a statement takes: our own sight is as good */
    history_hear_statement(history, A, group, &began);
    past_leaders(1);
    assert_int_equal(tenures[0].began_ns, (us - 1) * 1000);
}

static void a_statement_that_is_told_again_takes_no_room(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    lead(A, EL_NOBODY, 0, 450);
    hear_stated(A, HISTORY_STATES_END, 5, 700 * NS_PER_MS, "resigned");
    for (int i = 0; i < 2 * HISTORY_STATEMENTS; i++) hear_stated(C, HISTORY_STATES_END, 9, 1, "deposed");
    assert_string_equal(past_leaders(8), "a 5 seen resigned");
}

static void one_that_returns_has_not_begun_again(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    us += 2000000;
    lead(A, EL_NOBODY, 0, 900);
    note(QUORUM_IS_PUSHED, A, 8); /* then an older message of a is read */
    lead(EL_NOBODY, A, 5, 0);
    lead(A, EL_NOBODY, 0, 0);
    lead(EL_NOBODY, B, 8, 0);
    assert_string_equal(past_leaders(8), "a 5 seen let go, b 8 pushed leads");
    hear_stated(A, HISTORY_STATES_BEGINNING, 5, 0, "elected");
    hear_stated(A, HISTORY_STATES_BEGINNING, 5, 0, "seen"); /* it knows no better */
    hear_stated(A, HISTORY_STATES_BEGINNING, 8, 0, "elected");
    assert_string_equal(past_leaders(8), "a 5 seen let go, b 8 pushed leads");
}

static void nobody_is_believed_about_anothers_tenure(void **state)
{
    lead(EL_NOBODY, A, 5, 0);
    us += 1000000;
    lead(A, EL_NOBODY, 0, 450);
    lead(EL_NOBODY, C, 8, 0);
    hear_stated(C, HISTORY_STATES_END, 5, 1, "deposed");
    hear_stated(C, HISTORY_STATES_BEGINNING, 5, 1, "pushed");
    hear_stated(C, HISTORY_STATES_GAP, 8, 1, "");
    hear_stated(A, HISTORY_STATES_END, 5, 1, "abducted"); /* no word of ours */
    assert_string_equal(past_leaders(8), "a 5 seen lost sight, c 8 seen leads");
    assert_int_equal(tenures[1].nobody_ns, 450001 * UINT64_C(1000));
}

static void this_member_states_what_it_alone_knows(void **state)
{
    note(QUORUM_STANDS, 5, 0);
    lead(EL_NOBODY, B, 5, 0);
    assert_int_equal(stated_count, 1);
    assert_int_equal(stated[0].what, HISTORY_STATES_BEGINNING);
    assert_string_equal(stated[0].text, "elected");
    us += 999;
    leadership(HISTORY_GONE);
    lead(B, EL_NOBODY, 0, 0);
    assert_int_equal(stated_count, 1);
    assert_int_equal(stated[0].what, HISTORY_STATES_END);
    assert_string_equal(stated[0].text, "worker gone");
    assert_int_equal(stated[0].span_ns, 1001 * 1000);
    us += 99;
    lead(EL_NOBODY, C, 8, 0);
    assert_int_equal(stated_count, 1);
    assert_int_equal(stated[0].what, HISTORY_STATES_GAP);
    assert_int_equal(stated[0].token, 8);
    assert_int_equal(stated[0].span_ns, 100 * 1000);
    lead(C, A, 9, 0); /* others' changes are theirs to tell */
    assert_int_equal(stated_count, 0);
}

static uint64_t settled[8];
static uint32_t settled_count;

static void settle(void *context, uint64_t nobody_ns)
{
    settled[settled_count++] = nobody_ns;
}

static void metrics_and_history_have_one_source(void **state)
{
    settled_count = 0;
    lead(EL_NOBODY, A, 5, 0);
    us += 1000000;
    lead(A, EL_NOBODY, 0, 450);
    lead(EL_NOBODY, A, 5, 0); /* it was silent, and is back: no failover */
    lead(A, EL_NOBODY, 0, 450);
    us += 500000;
    lead(EL_NOBODY, C, 8, 0);
    us += 2000000;
    history_settle(history, us * 1000, settle, NULL);
    assert_int_equal(settled_count, 0); /* a's agent may still say more */
    hear_stated(A, HISTORY_STATES_GAP, 8, 9000000, "");
    us += 2000000;
    history_settle(history, us * 1000, settle, NULL);
    history_settle(history, us * 1000, settle, NULL);
    assert_int_equal(settled_count, 1);
    past_leaders(8);
    assert_int_equal(settled[0], tenures[1].nobody_ns);
    assert_int_equal(settled[0], 9000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tenures_come_in_their_order),
        TEST(who_was_out_of_sight_has_led_on),
        TEST(groups_are_kept_apart),
        TEST(much_noise_takes_no_tenure_away),
        TEST(the_oldest_changes_go_first),
        TEST(a_vote_that_was_pushed_before_the_release_came_is_told),
        TEST(a_release_that_is_pushed_is_a_hand_over),
        TEST(who_asked_first_was_elected),
        TEST(who_asked_in_vain_is_an_heir_all_the_same),
        TEST(an_heir_of_the_dead_is_pushed),
        TEST(another_term_explains_nothing),
        TEST(another_ones_release_ends_nothing),
        TEST(what_was_before_a_tenure_does_not_end_it),
        TEST(the_worker_counts_more_than_what_follows_from_it),
        TEST(who_says_so_lets_go),
        TEST(nothing_to_tell_before_anything_changes),
        TEST(a_story_begins_with_its_cause),
        TEST(silence_begins_when_it_was_last_broken),
        TEST(a_vote_that_brings_the_news_comes_first),
        TEST(what_comes_long_after_is_another_story),
        TEST(a_story_without_an_end_is_told_as_far_as_it_goes),
        TEST(a_long_story_keeps_its_beginning_and_its_end),
        TEST(members_that_do_not_exist_are_not_believed),
        TEST(every_leadership_step_has_a_sentence),
        TEST(the_number_of_a_note_is_a_byte),
        TEST(a_malformed_message_is_part_of_no_story),
        TEST(without_one_nothing_is_kept),
        TEST(a_leader_without_a_majority_has_not_resigned),
        TEST(a_worker_that_resigns_with_a_majority_has_resigned),
        TEST(voters_that_are_heard_but_do_not_answer_are_not_silent),
        TEST(a_renewal_that_came_too_late_is_no_silence),
        TEST(a_voter_that_does_not_count_is_named),
        TEST(a_tenure_ends_with_its_lease_however_late_that_is_noticed),
        TEST(an_end_that_is_noticed_at_once_tells_the_gap),
        TEST(an_agent_that_stood_still_blames_nobody_else),
        TEST(a_voter_that_was_silent_for_longer_is_named_too),
        TEST(a_short_stop_is_no_cause),
        TEST(no_tenure_ends_after_the_next_one_begins),
        TEST(a_gap_that_reaches_into_the_next_tenure_is_not_believed),
        TEST(steps_are_told_in_the_order_of_their_times),
        TEST(without_a_next_leader_a_story_ends),
        TEST(a_leaders_own_agent_is_believed_about_its_tenure),
        TEST(a_change_is_completed_by_what_the_leaders_say),
        TEST(the_first_leader_has_none_before),
        TEST(a_beginning_that_was_not_seen_is_told_by_the_leaders_agent),
        TEST(a_statement_that_is_told_again_takes_no_room),
        TEST(one_that_returns_has_not_begun_again),
        TEST(nobody_is_believed_about_anothers_tenure),
        TEST(this_member_states_what_it_alone_knows),
        TEST(metrics_and_history_have_one_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
