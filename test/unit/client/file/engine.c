/*
 * file:PATH, leadership on one host: processes contend for a lock, tokens rise with every tenure whatever
 * becomes of the file, and a holder that dies has let go.
 */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "elector.h"

#include "lib/scratch.h"

enum { LONG_MS = 30000, CHILDREN = 4, TENURES = 15 };

static char folder[64], url[80];

static int make_folder(void **state)
{
    if (!scratch_folder(folder, sizeof folder, "file")) return -1;
    snprintf(url, sizeof url, "file:%s", folder);
    return 0;
}

static int drop(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    return remove(path);
}

static int remove_folder(void **state)
{
    return nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static elector *opened(void)
{
    elector *e;
    assert_int_equal(elector_open(url, &e), ELECTOR_OK);
    return e;
}

static uint64_t elected(elector *e, const char *group)
{
    uint64_t token = 0;
    const elector_status status = elector_campaign(e, group, NULL, LONG_MS, &token);
    if (status != ELECTOR_OK) print_error("%s\n", elector_message(e));
    assert_int_equal(status, ELECTOR_OK);
    return token;
}

static const char *file_of(const char *group)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s.lock", folder, group);
    return path;
}

static void overwrite(const char *group, const char *text)
{
    FILE *file = fopen(file_of(group), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void read_file(const char *group, char *text, size_t size)
{
    FILE *file = fopen(file_of(group), "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

/* ---- One after another ---- */

static void the_token_rises_with_every_tenure(void **state)
{
    uint64_t last = 0;
    for (int i = 0; i < 5; i++) {
        elector *e = opened();
        const uint64_t token = elected(e, "jobs");
        assert_true(token > last);
        assert_true(token < UINT64_C(1) << 53);
        assert_true(elector_is_leader(e, "jobs"));
        assert_int_equal(elector_token(e, "jobs"), token);
        assert_int_equal(elector_deadline(e, "jobs"), UINT64_MAX);
        last = token;
        elector_close(e);
    }
}

static void the_token_is_in_the_file_before_anybody_is_elected(void **state)
{
    char text[4096], token[32];
    elector *e = opened();
    snprintf(token, sizeof token, "%020llu", (unsigned long long)elected(e, "jobs"));
    read_file("jobs", text, sizeof text);
    assert_non_null(strstr(text, token));
    elector_close(e);
    read_file("jobs", text, sizeof text);
    assert_non_null(strstr(text, token)); /* and stays */
    assert_null(strstr(text, "pid"));
}

static void one_leads_and_the_other_waits(void **state)
{
    elector *a = opened(), *b = opened();
    uint64_t token = 0;
    const uint64_t first = elected(a, "jobs");
    assert_int_equal(elector_campaign(b, "jobs", NULL, 0, &token), ELECTOR_TIMEOUT);
    assert_int_equal(elector_campaign(b, "jobs", NULL, 150, &token), ELECTOR_TIMEOUT);
    assert_false(elector_is_leader(b, "jobs"));
    assert_int_equal(elector_resign(a, "jobs"), ELECTOR_OK);
    assert_false(elector_is_leader(a, "jobs"));
    assert_true(elected(b, "jobs") > first);
    assert_int_equal(elector_resign(a, "jobs"), ELECTOR_NOT_LEADING);
    elector_close(a);
    elector_close(b);
}

static void groups_are_apart(void **state)
{
    elector *a = opened(), *b = opened();
    elected(a, "jobs");
    elected(b, "jobs/night:1");
    assert_int_equal(access(file_of("jobs%night:1"), F_OK), 0);
    assert_true(elector_is_leader(a, "jobs") && elector_is_leader(b, "jobs/night:1"));
    assert_false(elector_is_leader(a, "jobs/night:1"));
    elector_close(a);
    elector_close(b);
}

static void a_path_that_is_no_folder_is_a_beginning_of_names(void **state)
{
    char path[200];
    elector *e;
    snprintf(path, sizeof path, "file:%s/lock", folder);
    assert_int_equal(elector_open(path, &e), ELECTOR_OK);
    elected(e, "jobs");
    snprintf(path, sizeof path, "%s/lock.jobs", folder);
    assert_int_equal(access(path, F_OK), 0);
    elector_close(e);
}

/* ---- Damage ---- */

static uint64_t wall_us(void)
{
    return clock_wall_ns() / NS_PER_US;
}

static uint64_t token_after(const char *text)
{
    overwrite("jobs", text);
    elector *e = opened();
    const uint64_t token = elected(e, "jobs");
    elector_close(e);
    return token;
}

static void a_damaged_file_is_outgrown_by_the_clock_or_by_what_is_left(void **state)
{
    static const char *const damage[] = {
        "",
        "elector-lock 00000000000000000007 00000000\n", /* the sum is wrong */
        "elector-lock 000000000",
        "elector-lock 99999999999999999999 00000000\n",
        "elector-lock -1\n",
        "elector-lock \xff\xfe 4503599627370496 \n", /* 2^52 is no more than damage */
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        const uint64_t before = wall_us(), token = token_after(damage[i]);
        assert_true(token > before);
        assert_true(token <= wall_us() + 1);
    }
    assert_int_equal(token_after("elector-lock 4503599627370000 torn"), UINT64_C(4503599627370001));
}

static void overwrite_with(const char *group, const char *bytes, size_t size)
{
    FILE *file = fopen(file_of(group), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void zeros_left_by_a_power_failure_are_damage(void **state)
{
    const char zeros[43] = {0};
    const uint64_t before = wall_us();
    overwrite_with("jobs", zeros, sizeof zeros);
    elector *e = opened();
    assert_true(elected(e, "jobs") > before);
    elector_close(e);
}

/* 4096 digits fill the buffer that a file is read into. */
static void a_number_without_an_end_is_read_to_the_end_of_the_file(void **state)
{
    char text[5000] = "elector-lock ";
    const elector_leader *leader;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    memset(text + strlen(text), '0', 4096 - strlen(text));
    overwrite("jobs", text);
    const int fd = open(file_of("jobs"), O_RDWR);
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0); /* only a locked file is read by observers */
    elector *e = opened();
    assert_int_equal(elector_leader_of(e, "jobs", LONG_MS, &leader), ELECTOR_OK);
    assert_string_equal(leader->name, "");
    close(fd);
    const uint64_t before = wall_us();
    assert_true(elected(e, "jobs") > before);
    elector_close(e);
}

static void refuses_to_touch(const char *text, const char *why)
{
    char after[8192];
    uint64_t token = 0;
    elector *e = opened();
    overwrite("jobs", text);
    assert_int_equal(elector_campaign(e, "jobs", NULL, LONG_MS, &token), ELECTOR_INVALID);
    assert_non_null(strstr(elector_message(e), why));
    assert_non_null(strstr(elector_message(e), "jobs.lock"));
    elector_close(e);
    read_file("jobs", after, sizeof after);
    assert_string_equal(after, text);
}

static void a_file_of_somebody_else_is_left_as_it_is(void **state)
{
    const char zeros[44] = {0};
    uint64_t token = 0;
    refuses_to_touch("garbage\n", "is not a lock file");
    refuses_to_touch("e", "is not a lock file");
    refuses_to_touch("root:x:0:0:root:/root:/bin/sh\n", "is not a lock file");
    refuses_to_touch(" elector-lock 00000000000000000007 00000000\n", "is not a lock file");
    overwrite_with("jobs", zeros, sizeof zeros); /* longer than a first line */
    elector *e = opened();
    assert_int_equal(elector_campaign(e, "jobs", NULL, LONG_MS, &token), ELECTOR_INVALID);
    elector_close(e);
}

static void a_file_with_a_second_name_is_left_as_it_is(void **state)
{
    char other[200];
    snprintf(other, sizeof other, "%s", file_of("other"));
    overwrite("other", "");
    assert_int_equal(link(other, file_of("jobs")), 0);
    refuses_to_touch("", "second name");
    assert_int_equal(unlink(other), 0);
    elector *e = opened();
    elected(e, "jobs");
    elector_close(e);
}

static void tokens_that_are_used_up_elect_nobody(void **state)
{
    elector *e = opened();
    overwrite("jobs", "elector-lock 00009007199254740991 6bd94c3f\n");
    uint64_t token = 0;
    const elector_status status = elector_campaign(e, "jobs", NULL, LONG_MS, &token);
    assert_int_equal(status, ELECTOR_REFUSED);
    assert_non_null(strstr(elector_message(e), "2^53"));
    assert_false(elector_is_leader(e, "jobs"));
    elector_close(e);
}

static const char *reason_seen;
static char reason_text[128];

static void keep_reason(void *context, const elector_event *event)
{
    if (event->type != ELECTOR_LOST_OFFICE) return;
    snprintf(reason_text, sizeof reason_text, "%s", event->text);
    reason_seen = reason_text;
}

static void a_leader_whose_file_is_removed_leads_no_more(void **state)
{
    elector *a = opened(), *b = opened();
    const uint64_t first = elected(a, "jobs");
    reason_seen = NULL;
    elector_on_event(a, keep_reason, NULL);
    elector_dispatch(a);
    assert_int_equal(unlink(file_of("jobs")), 0);
    const uint64_t second = elected(b, "jobs"); /* another file: tokens rise nevertheless */
    assert_true(second > first);
    for (int i = 0; i < 100 && !reason_seen; i++) elector_wait(a, LONG_MS / 100);
    assert_non_null(reason_seen);
    assert_string_equal(reason_seen, "the lock file was removed");
    assert_false(elector_is_leader(a, "jobs"));
    assert_true(elector_is_leader(b, "jobs"));
    elector_close(a);
    elector_close(b);
}

static void who_waited_for_a_file_that_is_removed_waits_for_its_successor(void **state)
{
    elector *a = opened(), *b = opened(), *c = opened();
    uint64_t token = 0;
    elected(a, "jobs");
    assert_int_equal(elector_campaign(b, "jobs", NULL, 0, &token),
                     ELECTOR_TIMEOUT); /* it has the old file open */
    assert_int_equal(unlink(file_of("jobs")), 0);
    const uint64_t later = elected(c, "jobs");
    elector_close(a);
    assert_int_equal(elector_campaign(b, "jobs", NULL, 300, &token),
                     ELECTOR_TIMEOUT); /* a lock on it is worth nothing */
    assert_true(elector_is_leader(c, "jobs"));
    elector_close(c);
    assert_true(elected(b, "jobs") > later);
    elector_close(b);
}

/* Neither mends itself: a candidate that waits for it would wait without end. */
static void what_cannot_become_a_lock_is_refused_at_once(void **state)
{
    static const char *const files[] = {"file:/proc/nowhere/x", "file:/dev/null/x", "file:nowhere/x"};
    uint64_t token = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        elector *e = NULL;
        assert_int_equal(elector_open(files[i], &e), ELECTOR_OK);
        assert_int_equal(elector_campaign(e, "jobs", NULL, LONG_MS, &token), ELECTOR_INVALID);
        assert_non_null(strstr(elector_message(e), "folder does not exist"));
        elector_close(e);
    }
    elector *e = opened();
    assert_int_equal(mkdir(file_of("folder"), 0700), 0);
    assert_int_equal(elector_campaign(e, "folder", NULL, LONG_MS, &token), ELECTOR_INVALID);
    assert_non_null(strstr(elector_message(e), "not a plain file"));
    elector_close(e);
}

static void what_is_no_file_is_refused_with_its_name(void **state)
{
    elector *e = opened();
    uint64_t token = 0;
    assert_int_equal(mkfifo(file_of("pipe"), 0600), 0);
    assert_int_equal(elector_campaign(e, "pipe", NULL, LONG_MS, &token), ELECTOR_INVALID);
    assert_non_null(strstr(elector_message(e), "pipe.lock"));
    assert_int_equal(symlink("/etc/passwd", file_of("link")), 0);
    assert_int_equal(elector_campaign(e, "link", NULL, LONG_MS, &token), ELECTOR_INVALID);
    elector_close(e);
}

/* ---- Processes ---- */

/* Begins to lead, says so through the pipe, and waits to be killed. */
static pid_t start_holder(int *said)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        elector *e;
        uint64_t token = 0;
        if (elector_open(url, &e) == ELECTOR_OK &&
            elector_campaign(e, "jobs", NULL, LONG_MS, &token) == ELECTOR_OK &&
            write(ends[1], &token, sizeof token) > 0)
            for (;;) pause();
        _exit(1);
    }
    assert_true(child > 0);
    close(ends[1]);
    *said = ends[0];
    return child;
}

static void who_is_killed_has_let_go(void **state)
{
    int said, status;
    uint64_t first;
    uint64_t token = 0;
    const pid_t child = start_holder(&said);
    assert_int_equal(read(said, &first, sizeof first), sizeof first);
    elector *e = opened();
    assert_int_equal(elector_campaign(e, "jobs", NULL, 0, &token), ELECTOR_TIMEOUT);
    kill(child, SIGKILL);
    assert_true(elected(e, "jobs") > first);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(said);
    elector_close(e);
}

/* Each tenure appends "b TOKEN" and "e TOKEN" to one file: they must alternate, and the tokens rise. */
static void contend(int log)
{
    char line[64];
    for (int i = 0; i < TENURES; i++) {
        elector *e;
        uint64_t token = 0;
        if (elector_open(url, &e) != ELECTOR_OK ||
            elector_campaign(e, "jobs", NULL, 2 * LONG_MS, &token) != ELECTOR_OK)
            _exit(1);
        int size = snprintf(line, sizeof line, "b %llu\n", (unsigned long long)token);
        if (write(log, line, (size_t)size) != size) _exit(2);
        poll(NULL, 0, i % 3);
        line[0] = 'e';
        if (!elector_is_leader(e, "jobs") || write(log, line, (size_t)size) != size) _exit(3);
        if (i % 2 == 0) elector_resign(e, "jobs");
        elector_close(e);
    }
    _exit(0);
}

static void many_contend_and_one_leads_at_a_time(void **state)
{
    char path[200], kind;
    unsigned long long token, last = 0;
    pid_t children[CHILDREN];
    snprintf(path, sizeof path, "%s/log", folder);
    const int log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) contend(log);
    }
    for (int i = 0; i < CHILDREN; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    close(log);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int lines = 0;
    for (; fscanf(file, "%c %llu\n", &kind, &token) == 2; lines++) { /* NOLINT(cert-err34-c): our own numbers */
        assert_int_equal(kind, lines % 2 == 0 ? 'b' : 'e');
        if (kind == 'b')
            assert_true(token > last);
        else
            assert_int_equal(token, last);
        last = token;
    }
    fclose(file);
    assert_int_equal(lines, 2 * CHILDREN * TENURES);
}

/* ---- Observing ---- */

static struct {
    char name[ELECTOR_NAME_MAX + 1], value[ELECTOR_VALUE_MAX + 1];
    uint64_t token;
    bool is_me;
} seen;
static int sights;

static void see(void *context, const elector_event *event)
{
    if (event->type != ELECTOR_NEW_LEADER) return;
    snprintf(seen.name, sizeof seen.name, "%s", event->leader->name);
    snprintf(seen.value, sizeof seen.value, "%s", event->leader->value);
    seen.token = event->leader->token;
    seen.is_me = event->leader->is_me;
    sights++;
}

static void see_until(elector *watcher, elector *leader, const char *value, bool anybody)
{
    for (int i = 0; i < 3000; i++) {
        elector_wait(watcher, 10);
        if (leader) elector_dispatch(leader);
        if (sights && (seen.name[0] != '\0') == anybody && strcmp(seen.value, value) == 0) return;
    }
    fail_msg("nobody saw '%s'", value);
}

static void observers_see_who_leads_and_what_it_proclaims(void **state)
{
    elector *watcher = opened(), *leader = opened();
    const elector_leader *now;
    elector_options options;
    uint64_t token = 0;
    sights = 0;
    elector_on_event(watcher, see, NULL);
    assert_int_equal(elector_observe(watcher, "jobs"), ELECTOR_OK);
    see_until(watcher, NULL, "", false); /* the present state, at once */
    elector_options_init(&options, sizeof options);
    options.value = "here:9000";
    assert_int_equal(elector_campaign(leader, "jobs", &options, LONG_MS, &token), ELECTOR_OK);
    see_until(watcher, leader, "here:9000", true);
    assert_int_equal(seen.token, token);
    assert_false(seen.is_me);
    assert_int_equal(elector_proclaim(leader, "jobs", "there:\"9001\""), ELECTOR_OK);
    see_until(watcher, leader, "there:\"9001\"", true);
    assert_int_equal(elector_leader_of(leader, "jobs", LONG_MS, &now), ELECTOR_OK);
    assert_true(now->is_me);
    assert_string_equal(now->name, seen.name);
    assert_int_equal(elector_resign(leader, "jobs"), ELECTOR_OK);
    see_until(watcher, leader, "", false);
    assert_int_equal(elector_proclaim(leader, "jobs", "x"), ELECTOR_NOT_LEADING);
    assert_int_equal(elector_leader_of(leader, "jobs", LONG_MS, &now), ELECTOR_OK);
    assert_string_equal(now->name, "");
    assert_int_equal(elector_observe(watcher, NULL), ELECTOR_INVALID);
    elector_close(watcher);
    elector_close(leader);
}

static void there_is_nobody_to_hand_over_to(void **state)
{
    elector *e = opened();
    elected(e, "jobs");
    assert_int_equal(elector_transfer(e, "jobs", "b"), ELECTOR_REFUSED);
    assert_string_equal(elector_message(e),
                        "a file: lock is on one host: there is no other member to hand over to");
    elector_close(e);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(the_token_rises_with_every_tenure),
        TEST(the_token_is_in_the_file_before_anybody_is_elected),
        TEST(one_leads_and_the_other_waits),
        TEST(groups_are_apart),
        TEST(a_path_that_is_no_folder_is_a_beginning_of_names),
        TEST(a_damaged_file_is_outgrown_by_the_clock_or_by_what_is_left),
        TEST(zeros_left_by_a_power_failure_are_damage),
        TEST(a_number_without_an_end_is_read_to_the_end_of_the_file),
        TEST(a_file_of_somebody_else_is_left_as_it_is),
        TEST(a_file_with_a_second_name_is_left_as_it_is),
        TEST(tokens_that_are_used_up_elect_nobody),
        TEST(a_leader_whose_file_is_removed_leads_no_more),
        TEST(who_waited_for_a_file_that_is_removed_waits_for_its_successor),
        TEST(what_cannot_become_a_lock_is_refused_at_once),
        TEST(what_is_no_file_is_refused_with_its_name),
        TEST(who_is_killed_has_let_go),
        TEST(many_contend_and_one_leads_at_a_time),
        TEST(observers_see_who_leads_and_what_it_proclaims),
        TEST(there_is_nobody_to_hand_over_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
