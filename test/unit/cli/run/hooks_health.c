/* elector run beside its command: hooks in order, health checks that count failures, penalties that grow. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/run.h"

#include "lib/give_up.h"
#include "lib/scratch.h"

#define SECOND UINT64_C(1000000000)

static char folder[64], script[96], notes[96];

/* One group, with hooks that write down what they are for, and a health check that does as it is told. */
struct bench {
    struct run_request request;
    struct runner runner;
    struct run run;
};

static struct bench *bench(const char *hook)
{
    struct bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    for (int i = 0; i < RUN_HOOK_KINDS; i++) b->request.hooks[i] = helper_split_words(hook);
    b->request.quiet = true;
    b->request.hook_timeout_ns = b->request.health_timeout_ns = 1000 * SECOND;
    b->request.health_failures = 2;
    b->runner = (struct runner){.request = &b->request, .runs = &b->run, .count = 1, .id = "a"};
    b->run = (struct run){.runner = &b->runner, .request = &b->request, .group = "g", .token = 7};
    unlink(notes);
    return b;
}

/* A tenure that has not ended has a keeper. */
static void free_bench(struct bench *b)
{
    int value;
    supervise_abandon_keeper(&b->run.work);
    while (b->run.work.keeper) (void)supervise_read(&b->run.work, &value);
    supervise_reap_keeper(&b->run.work);
    for (int i = 0; i < RUN_HOOK_KINDS; i++) free(b->request.hooks[i]);
    free(b->request.health);
    free(b);
}

static void run_all(struct bench *b)
{
    for (int ms = 0; b->run.hooks.count > 0; ms++) {
        run_poll_hooks(&b->run);
        run_read_keeper(&b->run);
        poll(NULL, 0, 1);
        if (ms > give_up_ms()) fail_msg("a hook does not end");
    }
}

static const char *noted(void)
{
    static char text[2048];
    FILE *file = fopen(notes, "re");
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[size] = '\0';
    return text;
}

static void hear(struct bench *b, const char *name, uint64_t token, bool is_me)
{
    const elector_leader leader = {
        .size = sizeof leader, .name = name, .value = "", .token = token, .is_me = is_me};
    run_notify_leader(&b->run, &leader);
}

static void elected_lost_leader(void **state)
{
    struct bench *b = bench(script);
    hear(b, "a", 7, true); /* heard of before the run knows that it leads */
    run_notify_elected(&b->run);
    hear(b, "b", 8, false); /* before the work has ended */
    run_poll_hooks(&b->run);
    run_all(b);
    run_notify_lost(&b->run);
    run_notify_lost(&b->run); /* once is enough */
    run_all(b);
    assert_string_equal(noted(), "elected a 7\nleader a 7\nlost  7\nleader b 8\n");
    free_bench(b);
}

static void one_at_a_time(void **state)
{
    struct bench *b = bench(script);
    run_notify_elected(&b->run);
    run_poll_hooks(&b->run);
    assert_true(b->run.hooks.in_keeper);
    hear(b, "a", 7, true);
    run_poll_hooks(&b->run);
    assert_int_equal(b->run.hooks.count, 2);
    assert_int_equal(b->run.hooks.helper.pid, 0);
    run_all(b);
    free_bench(b);
}

/* What was not announced is not taken back; who leads is told once; nobody is not told. */
static void says_nothing_twice(void **state)
{
    struct bench *b = bench(script);
    run_notify_lost(&b->run);
    hear(b, "b", 8, false);
    hear(b, "", 0, false);
    hear(b, "b", 8, false);
    run_all(b);
    assert_string_equal(noted(), "leader b 8\n");
    free_bench(b);
}

/* A tenure that ends before its hook has begun needs neither hook; of leaders that wait the last counts. */
static void a_tenure_that_never_began_has_no_hooks(void **state)
{
    struct bench *b = bench(script);
    for (int i = 0; i < 7; i++) {
        b->run.token = 100 + (uint64_t)i;
        run_notify_elected(&b->run);
        if (i % 2 == 0) hear(b, "a", b->run.token, true);
        run_notify_lost(&b->run);
        hear(b, "b", b->run.token, false);
    }
    int elected = 0, lost = 0;
    for (size_t i = 0; i < b->run.hooks.count; i++) {
        elected += b->run.hooks.list[i].kind == RUN_HOOK_ELECTED;
        lost += b->run.hooks.list[i].kind == RUN_HOOK_LOST;
    }
    assert_int_equal(elected, 0);
    assert_int_equal(lost, 0);
    assert_true(b->run.hooks.count > 0 && b->run.hooks.count <= RUN_HOOKS_WAITING);
    run_all(b);
    free_bench(b);
}

/* Of 16 places the last is kept for the end of a tenure: no leader takes it. */
static void there_is_room_for_the_end(void **state)
{
    struct bench *b = bench(script);
    size_t lost = 0;
    free(b->request.hooks[RUN_HOOK_ELECTED]);
    b->request.hooks[RUN_HOOK_ELECTED] = NULL;
    for (uint64_t i = 0; i < 9; i++) {
        b->run.token = 100 + i;
        run_notify_elected(&b->run);
        run_notify_lost(&b->run);
        hear(b, "b", b->run.token, false);
    }
    for (size_t i = 0; i < b->run.hooks.count; i++) lost += b->run.hooks.list[i].kind == RUN_HOOK_LOST;
    assert_int_equal(lost, 9);
    run_all(b);
    free_bench(b);
}

static void a_hook_has_its_time(void **state)
{
    struct bench *b = bench("sleep 1000");
    b->request.hook_timeout_ns = SECOND / 20;
    run_notify_elected(&b->run);
    run_all(b);
    free_bench(b);
}

static void what_was_to_be_set_up_is_over(void **state)
{
    struct bench *b = bench("sleep 1000");
    free(b->request.hooks[RUN_HOOK_LOST]);
    b->request.hooks[RUN_HOOK_LOST] = helper_split_words(script);
    run_notify_elected(&b->run);
    run_poll_hooks(&b->run);
    run_notify_lost(&b->run);
    run_all(b);
    assert_string_equal(noted(), "lost  7\n");
    free_bench(b);
}

/* ---- Health ---- */

static void check(struct bench *b, const char *command)
{
    free(b->request.health);
    b->request.health = helper_split_words(command);
    b->runner.check_ns = 0;
    run_poll_health(&b->runner);
    for (int ms = 0; b->runner.check.pid; ms++) {
        b->runner.check_ns = UINT64_MAX; /* no other begins */
        run_poll_health(&b->runner);
        poll(NULL, 0, 1);
        if (ms > give_up_ms()) fail_msg("a check does not end");
    }
}

static void health_must_be_shown_and_fails_by_number(void **state)
{
    struct bench *b = bench("true");
    assert_false(b->runner.healthy);
    check(b, "false");
    assert_false(b->runner.healthy);
    check(b, "true");
    assert_true(b->runner.healthy);
    check(b, "false");
    assert_true(b->runner.healthy); /* once is not enough */
    check(b, "true");
    check(b, "false");
    assert_true(b->runner.healthy); /* nor is twice, with a success in between */
    check(b, "false");
    assert_false(b->runner.healthy);
    check(b, "true");
    assert_true(b->runner.healthy);
    b->request.health_failures = 1;
    b->request.health_timeout_ns = SECOND / 20;
    check(b, "sleep 1000");
    assert_false(b->runner.healthy);
    free_bench(b);
}

/* ---- Penalties ---- */

static uint64_t struck(struct bench *b)
{
    const uint64_t before_ns = supervise_now_ns();
    run_penalise(&b->run);
    return b->run.penalised_until_ns ? (b->run.penalised_until_ns - before_ns + SECOND / 2) / SECOND : 0;
}

static void penalties_grow_up_to_a_limit_and_are_forgiven(void **state)
{
    struct bench *b = bench("true");
    b->run.elected_ns = supervise_now_ns();
    assert_int_equal(struck(b), 0);
    b->request.penalty_ns = 10 * SECOND;
    for (uint64_t expected = 10; expected <= 320; expected *= 2) assert_int_equal(struck(b), expected);
    assert_int_equal(struck(b), 320);
    b->run.elected_ns = supervise_now_ns() - 60 * SECOND; /* a long tenure */
    assert_int_equal(struck(b), 10);
    free_bench(b);
}

static int make_script(void **state)
{
    if (!scratch_folder(folder, sizeof folder, "beside")) return -1;
    snprintf(script, sizeof script, "%s/note", folder);
    snprintf(notes, sizeof notes, "%s/notes", folder);
    FILE *file = fopen(script, "we");
    if (!file) return -1;
    fprintf(file, "#!/bin/sh\necho \"$ELECTOR_EVENT $ELECTOR_LEADER $ELECTOR_TOKEN\" >>%s\n", notes);
    fchmod(fileno(file), 0755);
    return fclose(file);
}

static int remove_script(void **state)
{
    unlink(script);
    unlink(notes);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elected_lost_leader),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(says_nothing_twice),
        cmocka_unit_test(a_tenure_that_never_began_has_no_hooks),
        cmocka_unit_test(there_is_room_for_the_end),
        cmocka_unit_test(a_hook_has_its_time),
        cmocka_unit_test(what_was_to_be_set_up_is_over),
        cmocka_unit_test(health_must_be_shown_and_fails_by_number),
        cmocka_unit_test(penalties_grow_up_to_a_limit_and_are_forgiven),
    };
    return cmocka_run_group_tests(tests, make_script, remove_script);
}
