/* What a guardian may say of some work, and what the next guardian is told. */
#define _GNU_SOURCE
#include "lib/give_up.h"
#include "lib/host/guardian_client.h"
#include "lib/lingering.h"

/* ---- What it may say of some ---- */

static void was_told_of(uint32_t work, const json_int_t *terms, size_t count)
{
    char words[1024];
    int size = snprintf(words, sizeof words, "release %u to 2:", work);
    for (size_t i = 0; i < count; i++)
        size += snprintf(words + size, sizeof words - (size_t)size, " %lld", (long long)terms[i]);
    snprintf(words + size, sizeof words - (size_t)size, "; ");
    pass(5);
    was_told(words);
}

static void a_work_is_released_as_it_is_held(void **state)
{
    const int fd = join();
    json_int_t terms[2];
    terms[0] = lead(fd, "g");
    was_told_of(2, terms, 1);
    terms[1] = lead(fd, "h");
    char words[48];
    snprintf(words, sizeof words, "release 2 to 2: %lld; ", (long long)terms[0]);
    nothing_since(words); /* no election waits for it */
    was_told_of(2, terms, 2);
    say(fd, "{\"op\":\"resign\",\"group\":\"g\"}");
    was_told_of(2, terms + 1, 1);
    const json_int_t later = lead(join(), "g"); /* another's: each has its own */
    was_told_of(4, &later, 1);
    assert_true(later > terms[0]);
    say(fd, "{\"op\":\"resign\",\"group\":\"h\"}");
    await(fd);
    pass(5);
    nothing_since("; "); /* what holds nothing needs no other */
    assert_null(strstr(told, ":;"));
}

/* Readers could use up the places of those who lead. */
static void those_who_only_read_take_no_place(void **state)
{
    for (int i = 0; i < 5; i++) expect_part(join(), "{\"op\":\"observe\"}", "true");
    const json_int_t term = lead(join(), "g");
    was_told_of(2, &term, 1);
}

static void another_guardian_has_them_too(void **state)
{
    const int fd = join();
    const json_int_t term = lead(fd, "g");
    was_told_of(2, &term, 1);
    assert_int_equal(kill((pid_t)strtol(told, NULL, 10), SIGKILL), 0);
    for (int i = 0; i < 600 && strchr(told, 'b') == strrchr(told, 'b'); i++) {
        pass(100);
        (void)guardian_client_tick(obituary);
        usleep(1000);
        read_log();
    }
    char words[96];
    snprintf(words, sizeof words, BEGUN "watch 2; connection 2; release 2 to 2: %lld; ", (long long)term);
    was_told(words);
}

/* What is more than fits is not told; what is told is true. */
static void of_many_some_are_released(void **state)
{
    const int fd = join();
    json_int_t terms[CLIENT_GROUPS_MAX];
    char name[16];
    for (uint32_t i = 0; i < CLIENT_GROUPS_MAX; i++) {
        snprintf(name, sizeof name, "g%u", i);
        terms[i] = lead(fd, name);
    }
    was_told_of(2, terms, CLIENT_GROUPS_MAX);
    (void)lead(fd, "more");
    char words[64];
    snprintf(words, sizeof words, " %lld; ", (long long)terms[CLIENT_GROUPS_MAX - 1]);
    pass(5);
    nothing_since(words);
}

static uint32_t count_told(const char *word)
{
    uint32_t count = 0;
    read_log();
    for (const char *at = told; (at = strstr(at, word)); at++) count++;
    return count;
}

static void await_told(const char *word, uint32_t wanted)
{
    for (int i = 0; count_told(word) < wanted && i < give_up_ms(); i++) usleep(1000);
    assert_int_equal(count_told(word), wanted);
}

/* No turn of the loop seals them all. */
static void of_many_clients_they_are_sealed_in_portions(void **state)
{
    enum { CLIENTS = 90, AT_ONCE = 64 };
    char name[16];
    was_told(BEGUN);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        snprintf(name, sizeof name, "g%u", i);
        (void)lead(join(), name);
        /* A guardian that lags has a full channel, and gets no release. */
        if (i % 8 == 7) await_told("connection ", i + 1);
    }
    await_told("connection ", CLIENTS);
    pass(5); /* releases wait for so long */
    (void)guardian_client_tick(obituary);
    await_told("release ", AT_ONCE);
    usleep(20000);
    await_told("release ", AT_ONCE);
    pass(5);
    (void)guardian_client_tick(obituary);
    await_told("release ", CLIENTS);
}

/* ---- Who gets a place ---- */

static uint32_t add_of(uid_t owner)
{
    return guardian_client_add(obituary, owner, GUARDIAN_WATCH, (int)syscall(SYS_pidfd_open, getpid(), 0), -1);
}

/* A user that is neither root nor the agent's takes half of the places at most. */
static void one_user_takes_half_of_the_places(void **state)
{
    enum { HALF = (CLIENT_WORKS_MAX - CLIENT_BLIND - 1) / 2 };
    const uid_t one = 1001, other = 1002;
    uint32_t last = CLIENT_BLIND;
    for (int i = 0; i < HALF; i++) {
        last = add_of(one);
        assert_int_not_equal(last, CLIENT_BLIND);
    }
    assert_int_equal(add_of(one), CLIENT_BLIND);
    assert_int_not_equal(add_of(other), CLIENT_BLIND);
    for (int i = HALF + 1; i < CLIENT_WORKS_MAX - CLIENT_BLIND - 1; i++)
        assert_int_not_equal(add_of(geteuid()), CLIENT_BLIND);
    assert_int_equal(add_of(geteuid()), CLIENT_BLIND);
    guardian_client_drop(obituary, last);
    assert_int_equal(add_of(one), last);
    assert_int_equal(add_of(one), CLIENT_BLIND);
}

/* A line whose queue has a descriptor that takes long to close. */
static uint32_t add_lingering_line(uid_t owner, int *end)
{
    int line[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line), 0);
    *end = make_lingering();
    pass_on(line[1], "x", end, 1);
    *end = far_end;
    close(listener);
    close(line[1]);
    return guardian_client_add(obituary, owner, GUARDIAN_LINE, line[0], -1);
}

static void lines_of_one_user_that_take_long_to_close_make_no_other_blind(void **state)
{
    enum { LINES = 8 };
    const uid_t one = 1001, other = 1002;
    int ends[LINES];
    for (int i = 0; i < LINES; i++) guardian_client_drop(obituary, add_lingering_line(one, &ends[i]));
    assert_int_equal(add_of(one), CLIENT_BLIND);
    assert_int_not_equal(add_of(other), CLIENT_BLIND);
    for (int i = 0; i < LINES; i++) close(ends[i]);
    uint32_t place = CLIENT_BLIND;
    for (int i = 0; place == CLIENT_BLIND && i < give_up_ms(); i++, usleep(1000)) place = add_of(one);
    assert_int_not_equal(place, CLIENT_BLIND);
}

/* ---- The guardian's own life ---- */

static pid_t guardian_pid(void)
{
    read_log();
    return (pid_t)strtol(told, NULL, 10);
}

/* Also of those that lead nothing now. */
static void another_is_told_of_all(void **state)
{
    const int fd = join(), line = lay_line(fd);
    lead(fd, "g");
    say(join(), "{\"op\":\"campaign\",\"group\":\"g\"}");
    was_told(BEGUN "line 2; watch 3; connection 3; ");
    assert_int_equal(kill(guardian_pid(), SIGKILL), 0);
    for (int i = 0; i < 600 && strchr(told, ':') == strrchr(told, ':'); i++) {
        pass(100); /* it is waited a little, lest one that cannot live be started for ever */
        (void)guardian_client_tick(obituary);
        usleep(1000);
        read_log();
    }
    assert_ptr_not_equal(strchr(told, ':'), strrchr(told, ':'));
    was_told(BEGUN "line 2; watch 3; connection 3; ");
    assert_true(leads(2) && !leads(3));
    assert_true(holds_the_lock());
    close(line);
}

static void it_goes_when_it_is_not_wanted_any_more(void **state)
{
    was_told(BEGUN);
    const pid_t pid = guardian_pid();
    t.config.guardian = false; /* read anew */
    assert_int_equal(guardian_client_tick(obituary),
                     UINT64_MAX); /* it is told goodbye, and killed if that takes it long */
    for (int i = 0; i < give_up_ms() && waitpid(pid, NULL, WNOHANG) == 0; i++) usleep(1000);
    assert_int_equal(kill(pid, 0), -1);
    assert_true(holds_the_lock()); /* one may be wanted again */
}

int main(int argc, char **argv)
{
    if (argc > 1) return strcmp(argv[1], "guardian") == 0 ? write_all_down() : 2;
    const struct CMUnitTest tests[] = {
        BESIDE_A_PEER(a_work_is_released_as_it_is_held),
        BESIDE_A_PEER(another_guardian_has_them_too),
        BESIDE_A_PEER(those_who_only_read_take_no_place),
        BESIDE_A_PEER(another_guardian_has_them_too),
        BESIDE_A_PEER(of_many_clients_they_are_sealed_in_portions),
        BESIDE_A_PEER(another_guardian_has_them_too),
        BESIDE_A_PEER(of_many_some_are_released),
        GUARDED(one_user_takes_half_of_the_places),
        GUARDED(lines_of_one_user_that_take_long_to_close_make_no_other_blind),
        GUARDED(another_is_told_of_all),
        GUARDED(it_goes_when_it_is_not_wanted_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
