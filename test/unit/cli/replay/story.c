/* Several recordings as one story: whose clock says what, and what was promised. */
#include "lib/host/hosts.h"

#include <sodium.h>

#include "agent/recorder/reader.h"
#include "cli/replay/recordings.h"

static struct recordings_story story;

static void free_story(void)
{
    recordings_story_free(&story);
    memset(&story, 0, sizeof story);
}

/* ---- One clock ---- */

/* All members die, and their recordings are taken. */
static void take_recordings(void)
{
    char text[512], old[96];
    for (el_node node = 1; node <= MEMBERS; node++) die(node);
    for (el_node node = 1; node <= MEMBERS; node++) {
        struct recordings_run *run = &story.runs[story.run_count++];
        run->path = members[node].recorder_path;
        run->tape = recorder_load(run->path, text, sizeof text);
        assert_non_null(run->tape);
        run->self = node;
        unlink(run->path);
        snprintf(old, sizeof old, "%s.1", run->path);
        unlink(old);
    }
    close_world();
    recorded_size = 0;
}

/* Three members elect, and the second is replaced; each recorded. */
static void live(void)
{
    recorded_size = 1048576;
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    const el_node first = leader();
    die(first);
    pass(4000);
    assert_int_not_equal(leader(), 0);
    take_recordings();
}

/* The same for longer than a file takes, with a group of another algorithm beside. */
static void live_long(void)
{
    char text[200];
    open_world();
    recorded_size = CONFIG_RECORDER_MIN;
    for (el_node node = 1; node <= MEMBERS; node++) {
        struct config *config = &members[node].config;
        die(node);
        config->group_count = 1;
        snprintf(config->groups[0].name, sizeof config->groups[0].name, "other");
        config->groups[0].algorithm = el_algorithm_named("raft");
    }
    for (el_node node = 1; node <= MEMBERS; node++) start(node);
    for (unsigned i = 0; i < 60; i++) {
        const el_node who = i % MEMBERS + 1;
        stand(who, i % 5 != 0);
        host_stand(host_find(members[who].host, "other", text, sizeof text), true, i % 3);
        if (i % 4 == 0 && leader())
            (void)host_resign(host_find(members[leader()].host, "billing", text, sizeof text));
        pass(1000);
    }
    take_recordings();
}

static void listen_to_all(void)
{
    for (uint32_t i = 0; i < story.run_count; i++) {
        recordings_replay_run(&story, i, RECORDER_TRUSTS);
        assert_int_equal(story.runs[i].report.verdict, RECORDER_AGREES);
    }
}

static void one_boot_has_one_clock(void **state)
{
    live();
    listen_to_all();
    recordings_merge(&story);
    for (uint32_t i = 0; i < story.run_count; i++) {
        assert_true(story.runs[i].is_placed);
        assert_int_equal(story.runs[i].offset, 0);
        assert_int_equal(story.runs[i].doubt, 0);
    }
    recordings_judge(&story);
    assert_int_equal(story.violation_count, 0);
    assert_int_equal(story.claim_count, 2);
    free_story();
}

static void the_last_halves_are_one_story(void **state)
{
    live_long();
    listen_to_all();
    recordings_merge(&story);
    for (uint32_t i = 0; i < story.run_count; i++) {
        assert_true(story.runs[i].is_placed);
        assert_true(story.runs[i].tape->parts[0].state_size > 0); /* in the middle of a life */
    }
    recordings_judge(&story);
    assert_int_equal(story.violation_count, 0);
    assert_true(story.claim_count > 0);
    free_story();
}

/* As if that host's clock had been set otherwise. */
static void shift(uint32_t run, int64_t by)
{
    memset(story.runs[run].tape->parts[0].boot, (int)run + 1, RECORDER_BOOT);
    for (size_t i = 0; i < story.event_count; i++)
        if (story.events[i].run == run) story.events[i].at += (uint64_t)by;
    for (size_t i = 0; i < story.claim_count; i++) {
        if (story.claims[i].run != run) continue;
        story.claims[i].began += (uint64_t)by;
        story.claims[i].ended += (uint64_t)by;
    }
}

static void messages_tell_how_clocks_differ(void **state)
{
    static const int64_t shifts[MEMBERS] = {0, INT64_C(5000) * MILLISECOND, INT64_C(-700) * MILLISECOND};
    live();
    listen_to_all();
    assert_int_equal(story.run_count, MEMBERS);
    for (uint32_t i = 0; i < MEMBERS; i++) shift(i, shifts[i]);
    recordings_merge(&story);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        assert_true(story.runs[i].is_placed);
        const int64_t off = story.runs[i].offset + shifts[i];
        assert_true((uint64_t)(off < 0 ? -off : off) <= story.runs[i].doubt);
        assert_true(story.runs[i].doubt <= UINT64_C(3) * MILLISECOND); /* a message takes one */
    }
    recordings_judge(&story);
    assert_int_equal(story.violation_count, 0);
    size_t pairs = 0;
    for (size_t i = 0; i < story.event_count; i++)
        pairs += story.events[i].what == RECORDINGS_HEARS && story.events[i].pair;
    assert_true(pairs > 100);
    free_story();
}

static void who_heard_nobody_is_judged_apart(void **state)
{
    live();
    listen_to_all();
    shift(1, 0);
    for (size_t i = 0; i < story.event_count; i++)
        if (story.events[i].what == RECORDINGS_HEARS) story.events[i].number = i; /* nobody sent that */
    recordings_merge(&story);
    assert_true(story.runs[0].is_placed && story.runs[2].is_placed);
    assert_false(story.runs[1].is_placed);
    free_story();
}

/* ---- What was promised ---- */

static struct recordings_claim claim(uint32_t run, uint64_t token, uint64_t began, uint64_t ended)
{
    return (struct recordings_claim){
        .group = 7, .token = token, .began = began, .ended = ended, .run = run, .name = "billing"};
}

/* How many promises are broken by these, of members 1 and 2 (run 0, 1), the first broken in *wrong. */
static uint32_t judge(struct recordings_claim one, struct recordings_claim other, enum recordings_wrong *wrong)
{
    story.run_count = 2;
    story.runs[0].self = 1;
    story.runs[1].self = 2;
    story.runs[0].is_placed = story.runs[1].is_placed = true;
    story.claims = calloc(2, sizeof *story.claims);
    story.claims[story.claim_count++] = one;
    story.claims[story.claim_count++] = other;
    recordings_judge(&story);
    *wrong = story.violations[0].wrong;
    return story.violation_count;
}

static void who_comes_after_breaks_nothing(void **state)
{
    enum recordings_wrong wrong;
    assert_int_equal(judge(claim(0, 5, 100, 200), claim(1, 6, 200, 300), &wrong), 0);
    free_story();
}

static void two_at_once_are_found(void **state)
{
    enum recordings_wrong wrong;
    assert_int_equal(judge(claim(0, 5, 100, 201), claim(1, 6, 200, 300), &wrong), 1);
    assert_int_equal(wrong, RECORDINGS_OVERLAP);
    free_story();
}

static void what_the_clock_does_not_know_is_no_offence(void **state)
{
    enum recordings_wrong wrong;
    story.runs[1].doubt = 1;
    assert_int_equal(judge(claim(0, 5, 100, 201), claim(1, 6, 200, 300), &wrong), 0);
    free_story();
    assert_int_equal(judge(claim(0, 5, 100, 203), claim(1, 6, 200, 300), &wrong), 1);
    free_story();
}

static void one_token_for_two_is_found(void **state)
{
    enum recordings_wrong wrong;
    assert_int_equal(judge(claim(0, 5, 100, 200), claim(1, 5, 300, 400), &wrong), 1);
    assert_int_equal(wrong, RECORDINGS_SAME_TOKEN);
    free_story();
}

static void a_token_that_falls_is_found(void **state)
{
    enum recordings_wrong wrong;
    assert_int_equal(judge(claim(0, 6, 100, 200), claim(1, 5, 300, 400), &wrong), 1);
    assert_int_equal(wrong, RECORDINGS_TOKEN_FELL);
    free_story();
}

static void another_leader_by_others_words_is_found(void **state)
{
    enum recordings_wrong wrong;
    story.names = calloc(1, sizeof *story.names);
    story.names[story.name_count++] = (struct recordings_name){7, 5, 150, 1, 2};
    assert_int_equal(judge(claim(0, 5, 100, 200), claim(1, 6, 200, 300), &wrong), 1);
    assert_int_equal(wrong, RECORDINGS_SAME_TOKEN);
    free_story();
}

/* A death that was told of ends the leadership of that life, and of no other. */
static void an_obituary_ends_an_leadership(void **state)
{
    enum recordings_wrong wrong;
    for (uint64_t incarnation = 3; incarnation <= 4; incarnation++) {
        story.runs[0].incarnation = 3;
        story.runs[0].report.ended = 150;
        story.obituaries[0].who = 1;
        story.obituaries[0].incarnation = incarnation;
        story.obituary_count = 1;
        assert_int_equal(judge(claim(0, 5, 100, 900), claim(1, 6, 200, 300), &wrong), incarnation == 3 ? 0 : 1);
        free_story();
    }
}

/* So does a release, in that group, up to that term. */
static void a_release_ends_an_leadership(void **state)
{
    enum recordings_wrong wrong;
    for (uint32_t which = 0; which < 4; which++) {
        const struct recordings_claim first = claim(0, 5, 100, 900);
        story.runs[0].incarnation = 3;
        story.runs[0].report.ended = 150;
        story.obituaries[0] =
            (struct recordings_obituary){.who = 1, .incarnation = 3, .group = first.group, .term = 5};
        story.obituaries[0].incarnation += which == 1;
        story.obituaries[0].group += which == 2;
        story.obituaries[0].term -= which == 3;
        story.obituary_count = 1;
        assert_int_equal(judge(first, claim(1, 6, 200, 300), &wrong), which == 0 ? 0 : 1);
        free_story();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_boot_has_one_clock),
        cmocka_unit_test(the_last_halves_are_one_story),
        cmocka_unit_test(messages_tell_how_clocks_differ),
        cmocka_unit_test(who_heard_nobody_is_judged_apart),
        cmocka_unit_test(who_comes_after_breaks_nothing),
        cmocka_unit_test(two_at_once_are_found),
        cmocka_unit_test(what_the_clock_does_not_know_is_no_offence),
        cmocka_unit_test(one_token_for_two_is_found),
        cmocka_unit_test(a_token_that_falls_is_found),
        cmocka_unit_test(another_leader_by_others_words_is_found),
        cmocka_unit_test(an_obituary_ends_an_leadership),
        cmocka_unit_test(a_release_ends_an_leadership),
    };
    return sodium_init() < 0 || cmocka_run_group_tests(tests, NULL, NULL);
}
