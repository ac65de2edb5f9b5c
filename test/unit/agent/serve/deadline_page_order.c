/*
 * The order rules of the page, by exhaustion: a process is led through one reading, instruction by instruction, and at
 * each of them the writer goes on by any part of a story; then the writer is led in the same way, and at each of its
 * instructions somebody reads. Whatever is read must have been true at some instant meanwhile.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/serve/deadline_page.h"
#include "client/deadline_view.h"

#ifdef ELECTOR_SANITIZED /* with all that is checked beside, a reading is long */
enum { STRIDE = 7 };
#else
enum { STRIDE = 1 };
#endif

enum { SLOT = 3, SHARED = DEADLINE_SLOTS + 1, INSTRUCTIONS_MAX = 20000, TOKENS = 2 };

static struct deadline_page *page;
static struct deadline_view view;

/* ---- The story ---- */

/* Two tenures: of a shared cell, which is frozen while the others' goes on, and of the slot's own. */
static const struct step {
    enum { DEADLINE, OCCUPY, FREEZE, VACATE } what;
    uint64_t value; /* token or deadline */
    uint32_t cell;
    uint64_t then[TOKENS]; /* until when each token leads after it */
} story[] = {
    {DEADLINE, 11, SHARED, {0}}, {OCCUPY, 1, SHARED, {11}},    {DEADLINE, 12, SHARED, {12}},
    {FREEZE, 12, 0, {12}},       {DEADLINE, 99, SHARED, {12}}, {VACATE, 0, 0, {0}},
    {DEADLINE, 21, SLOT, {0}},   {OCCUPY, 2, SLOT, {0, 21}},   {DEADLINE, 22, SLOT, {0, 22}},
    {VACATE, 0, 0, {0}},
};
enum { STEPS = sizeof story / sizeof *story };

static void go(const struct step *step)
{
    if (step->what == DEADLINE) deadline_page_set_deadline(page, step->cell, step->value);
    if (step->what == OCCUPY) deadline_page_occupy(page, SLOT, step->value, step->cell);
    if (step->what == FREEZE) deadline_page_freeze(page, SLOT, step->value);
    if (step->what == VACATE) deadline_page_vacate(page, SLOT);
}

/* After so many steps. */
static uint64_t truth(size_t steps, uint64_t token)
{
    return steps == 0 ? 0 : story[steps - 1].then[token - 1];
}

static void expect_true(uint64_t read, uint64_t token, size_t from, size_t to, long instruction)
{
    for (size_t at = from; at <= to; at++)
        if (read == truth(at, token)) return;
    fail_msg("token %d led until %d though it had not, from step %zu to %zu, at instruction %ld", (int)token,
             (int)read, from, to, instruction);
}

/* ---- A process that is led ---- */

static struct shared { /* with it */
    volatile uint64_t token, read;
    volatile size_t step;
    volatile int done;
} * shared;

static void halt(void)
{
    syscall(SYS_tgkill, getpid(), getpid(), SIGSTOP);
}

static void read_for_ever(void)
{
    for (;;) {
        halt();
        shared->read = deadline_view_deadline(&view, SLOT, shared->token);
        shared->done = 1;
    }
}

static void tell_the_story(void)
{
    halt();
    for (shared->step = 0; shared->step < STEPS; shared->step++) go(&story[shared->step]);
    shared->done = 1;
    halt();
}

static void await_stop(pid_t led)
{
    int status;
    assert_int_equal(waitpid(led, &status, 0), led);
    assert_true(WIFSTOPPED(status));
}

static pid_t lead(void (*what)(void))
{
    const pid_t led = fork();
    assert_true(led >= 0);
    if (led == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0) what();
        _exit(1);
    }
    await_stop(led);
    return led;
}

static void go_on(pid_t led, enum __ptrace_request how)
{
    assert_int_equal(ptrace(how, led, NULL, NULL), 0);
    await_stop(led);
}

static void end(pid_t led)
{
    kill(led, SIGKILL);
    (void)waitpid(led, NULL, 0);
}

/* Who leads and who is led take turns, so they had better do it on one processor. */
static void stay_here(void)
{
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET((unsigned)sched_getcpu(), &here);
    (void)sched_setaffinity(0, sizeof here, &here);
}

static int start(void **state)
{
    stay_here();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *shared = (struct shared){0};
    page = deadline_page_new();
    view = (struct deadline_view){0};
    if (!page || !deadline_view_map(&view, deadline_page_fd(page))) return -1;
    for (size_t at = 0; at < STEPS; at++) go(&story[at]); /* there are leftovers everywhere */
    return 0;
}

static int stop(void **state)
{
    deadline_view_free(&view);
    deadline_page_free(page);
    munmap(shared, sizeof *shared);
    return 0;
}

/* ---- Readers that are overtaken ---- */

/* False: it had read before it came so far. */
static bool overtake(pid_t reader, uint64_t token, size_t from, size_t to, long instruction)
{
    deadline_page_vacate(page, SLOT);
    for (size_t at = 0; at < from; at++) go(&story[at]);
    shared->token = token;
    shared->done = 0;
    for (long i = 0; i < instruction && !shared->done; i++) go_on(reader, PTRACE_SINGLESTEP);
    const bool had_read = shared->done;
    for (size_t at = from; at < to; at++) go(&story[at]);
    go_on(reader, PTRACE_CONT); /* to where it halts */
    expect_true(shared->read, token, from, to, instruction);
    return !had_read;
}

static void whoever_is_overtaken_reads_what_was_true_meanwhile(void **state)
{
    const pid_t reader = lead(read_for_ever);
    long instructions = 0, times = 0;
    for (size_t from = 0; from <= STEPS; from++)
        for (size_t to = from + 1; to <= STEPS; to++)
            for (uint64_t token = 1; token <= TOKENS; token++)
                for (long i = 0; i < INSTRUCTIONS_MAX && truth(from, token) + truth(to, token) &&
                                 overtake(reader, token, from, to, i);
                     i += STRIDE, times++)
                    if (i > instructions) instructions = i;
    end(reader);
    assert_in_range(instructions, 10, INSTRUCTIONS_MAX - 1);
    printf("overtaken %ld times, at each of %ld instructions\n", times, instructions);
}

/* ---- A writer that is watched ---- */

/* Or after the last that there is: it is the same to a reader whether the writer is slow or dead. */
static void whoever_reads_between_two_instructions_is_not_misled(void **state)
{
    const pid_t writer = lead(tell_the_story);
    long instructions = 0;
    while (!shared->done && instructions++ < INSTRUCTIONS_MAX) {
        go_on(writer, PTRACE_SINGLESTEP);
        for (uint64_t token = 1; token <= TOKENS && !shared->done; token++) {
            const size_t step = shared->step;
            expect_true(deadline_view_deadline(&view, SLOT, token), token, step, step + 1, instructions);
        }
    }
    end(writer);
    assert_in_range(instructions, 50, INSTRUCTIONS_MAX - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whoever_is_overtaken_reads_what_was_true_meanwhile),
        TEST(whoever_reads_between_two_instructions_is_not_misled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
