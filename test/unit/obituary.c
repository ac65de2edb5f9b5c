/*
 * What an agent tells its guardian, and when. The guardian is this very program, started by the real thing as `PROGRAM
 * guardian`: it writes down what it hears.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>

#include "agent/seal_inner.h"
#include "control.h"

static struct obituary *obituary;
static struct config wider; /* where there is a peer */
static struct seal *seal;
static char log_path[128], told[4096];

/* ---- The guardian ---- */

/* In plain: of which work, for whom, and up to which terms. */
static void write_release(int log, const struct guardian_message *m)
{
    struct wire_entry entry;
    struct wire_place at = WIRE_FIRST;
    dprintf(log, "release %u to %u:", m->number, m->peer);
    while (m->size > SEAL_PLAIN_HEAD &&
           wire_next(m->datagram + SEAL_PLAIN_HEAD, m->size - SEAL_PLAIN_HEAD, &at, &entry) == WIRE_ENTRY)
        dprintf(log, " %llu", (unsigned long long)entry.number);
    dprintf(log, "; ");
}

static int write_all_down(void)
{
    static const char *const names[] = {
        [GUARDIAN_BEGIN] = "begin", [GUARDIAN_WATCH] = "watch",     [GUARDIAN_LINE] = "line",
        [GUARDIAN_BLIND] = "blind", [GUARDIAN_UNWATCH] = "unwatch", [GUARDIAN_GOODBYE] = "goodbye"};
    struct guardian_message m;
    const char *path = getenv("ELECTOR_TEST_LOG");
    const int log = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (log < 0) return 1;
    dprintf(log, "%d: ", (int)getpid());
    while (recv(3, &m, sizeof m, 0) > 0) {
        if (m.kind == GUARDIAN_PATIENCE || m.kind == GUARDIAN_OBITUARY) continue;
        if (m.kind == GUARDIAN_RELEASE) {
            write_release(log, &m);
            continue;
        }
        if (m.kind > GUARDIAN_GOODBYE) return 1;
        dprintf(log, "%s %u; ", names[m.kind], m.number);
        if (m.kind == GUARDIAN_GOODBYE) break;
    }
    return 0;
}

/* ---- The bench ---- */

static int begin_guarded(void **state)
{
    if (begin(state) != 0) return -1;
    snprintf(log_path, sizeof log_path, "%s/log", t.folder);
    setenv("ELECTOR_TEST_LOG", log_path, 1);
    t.config.guardian = true;
    obituary = obituary_new(&t.loop, &t.config, t.host, NULL, "/proc/self/exe");
    control_watch_by(t.control, obituary);
    return obituary ? 0 : -1;
}

static void seal_nothing(void *whose, uint32_t peer, const uint8_t *bytes, size_t size)
{
}

/* The same with a peer, though the host knows none: it leads as it does alone. */
static int begin_beside_a_peer(void **state)
{
    const struct seal_config plain = {.self = 1, .count = 2, .plain = true};
    const struct seal_hooks hooks = {.send = seal_nothing, .deliver = seal_nothing};
    if (begin_guarded(state) != 0) return -1;
    obituary_free(obituary);
    seal = seal_new(&plain, hooks);
    wider = t.config;
    wider.member_count = 2;
    wider.members[1].address = wider.members[0].address;
    obituary = seal ? obituary_new(&t.loop, &wider, t.host, seal, "/proc/self/exe") : NULL;
    control_watch_by(t.control, obituary);
    return obituary ? 0 : -1;
}

static int finish_guarded(void **state)
{
    control_watch_by(t.control, NULL);
    obituary_free(obituary);
    seal_free(seal);
    seal = NULL;
    unlink(log_path);
    return finish(state);
}

static void read_log(void)
{
    const int fd = open(log_path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = fd < 0 ? 0 : read(fd, told, sizeof told - 1);
    told[size > 0 ? size : 0] = '\0';
    if (fd >= 0) close(fd);
}

/* Until the guardian's words end so. */
static void was_told(const char *words)
{
    for (int i = 0; i < 600; i++) {
        (void)obituary_tick(obituary);
        go_round();
        read_log();
        const size_t length = strlen(told), wanted = strlen(words);
        if (length >= wanted && strcmp(told + length - wanted, words) == 0) return;
        usleep(5000);
    }
    fail_msg("it was told '%s', not '%s'", told, words);
}

/* Something that it is told later than all else, so that what it was not told is known. */
static void nothing_since(const char *words)
{
    obituary_hold(obituary, OBITUARY_BLIND, NULL, 0);
    obituary_let_go(obituary, OBITUARY_BLIND, NULL);
    char all[256];
    snprintf(all, sizeof all, "%sblind 1; unwatch 1; ", words);
    was_told(all);
}

static void send_with(int fd, char *line, int passed)
{
    char room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {line, strlen(line)};
    struct msghdr head = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *c = CMSG_FIRSTHDR(&head);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof passed);
    memcpy(CMSG_DATA(c), &passed, sizeof passed);
    assert_true(sendmsg(fd, &head, MSG_NOSIGNAL) > 0);
    go_round();
}

static char work_request[] = "{\"op\":\"work\"}\n", hello_request[] = "{\"op\":\"hello\"}\n";

/* Says what its work is; the far end of its line. */
static int lay_line(int fd)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    send_with(fd, work_request, ends[1]);
    close(ends[1]);
    assert_string_equal(await(fd), "{\"ok\":true}");
    return ends[0];
}

/* ---- Who is watched ---- */

static void a_client_is_watched_while_it_leads(void **state)
{
    was_told("begin 0; ");
    const int fd = join(), other = join();
    nothing_since("begin 0; ");
    lead(fd, "g");
    say(other, "{\"op\":\"campaign\",\"group\":\"g\"}");
    nothing_since("watch 2; ");
    hang_up(fd);
    was_told("watch 3; unwatch 2; "); /* the other is next, which nobody waits for the guardian to forget */
}

/* What it stands for may be another's by now. */
static void what_is_held_again_is_told_anew(void **state)
{
    was_told("begin 0; ");
    obituary_hold(obituary, OBITUARY_BLIND, NULL, 0);
    obituary_let_go(obituary, OBITUARY_BLIND, NULL);
    obituary_hold(obituary, OBITUARY_BLIND, NULL, 0);
    was_told("begin 0; blind 1; unwatch 1; blind 1; ");
    obituary_let_go(obituary, OBITUARY_BLIND, NULL);
}

static void it_is_watched_once_however_much_it_leads(void **state)
{
    const int fd = join();
    lead(fd, "g");
    lead(fd, "h");
    was_told("begin 0; watch 2; ");
    say(fd, "{\"op\":\"resign\",\"group\":\"g\"}");
    nothing_since("watch 2; ");
    say(fd, "{\"op\":\"resign\",\"group\":\"h\"}");
    was_told("unwatch 2; ");
}

static void a_line_takes_the_place_of_the_process(void **state)
{
    const int fd = join();
    lead(fd, "g");
    was_told("begin 0; watch 2; ");
    const int line = lay_line(fd);
    was_told("line 3; unwatch 2; ");
    hang_up(fd);
    was_told("unwatch 3; ");
    close(line);
}

static void a_line_may_come_before_the_office(void **state)
{
    const int fd = join(), line = lay_line(fd);
    was_told("begin 0; ");
    lead(fd, "g");
    was_told("begin 0; line 3; ");
    close(line);
}

static void nothing_but_a_line_is_taken(void **state)
{
    const int fd = join(), nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    const char *refused = "\"error\":\"bad-request\"";
    expect_part(fd, "{\"op\":\"work\"}", refused);
    send_with(fd, work_request, nothing);
    assert_non_null(strstr(await(fd), refused));
    send_with(fd, work_request, t.clients[0]); /* a stream */
    assert_non_null(strstr(await(fd), refused));
    send_with(fd, hello_request, nothing); /* kept until it closes */
    assert_non_null(strstr(await(fd), "\"ok\":true"));
    lead(fd, "g");
    was_told("begin 0; watch 2; ");
    close(nothing);
}

static void whom_the_kernel_does_not_know_is_not_watched_but_remembered(void **state)
{
    const int fd = join_as(0, 0);
    lead(fd, "g");
    was_told("begin 0; blind 1; ");
    hang_up(fd);
    was_told("unwatch 1; ");
}

/* We hung up on it, so it may work on until the deadline that it knows. */
static void one_that_is_expelled_is_watched_until_its_time_is_over(void **state)
{
    const int fd = join();
    lead(fd, "g");
    was_told("begin 0; watch 2; ");
    say(fd, "no JSON");
    assert_true(has_ended(fd));
    nothing_since("watch 2; ");
    for (int i = 0; i < 100; i++) pass(100);
    was_told("unwatch 2; ");
}

/* ---- What it may say of some ---- */

static void was_told_of(uint32_t work, const json_int_t *terms, size_t count)
{
    char words[1024];
    int size = snprintf(words, sizeof words, "release %u to 2:", work);
    for (size_t i = 0; i < count; i++)
        size += snprintf(words + size, sizeof words - (size_t)size, " %lld", (long long)terms[i]);
    snprintf(words + size, sizeof words - (size_t)size, "; ");
    was_told(words);
}

static void a_work_is_released_as_it_is_held(void **state)
{
    const int fd = join();
    json_int_t terms[2];
    terms[0] = lead(fd, "g");
    was_told_of(2, terms, 1);
    terms[1] = lead(fd, "h");
    was_told_of(2, terms, 2);
    say(fd, "{\"op\":\"resign\",\"group\":\"g\"}");
    was_told_of(2, terms + 1, 1);
    const json_int_t later = lead(join(), "g"); /* another's: each has its own */
    was_told_of(3, &later, 1);
    assert_true(later > terms[0]);
}

static void another_guardian_has_them_too(void **state)
{
    const int fd = join();
    const json_int_t term = lead(fd, "g");
    was_told_of(2, &term, 1);
    assert_int_equal(kill((pid_t)strtol(told, NULL, 10), SIGKILL), 0);
    for (int i = 0; i < 600 && strchr(told, 'b') == strrchr(told, 'b'); i++) {
        pass(100);
        (void)obituary_tick(obituary);
        usleep(1000);
        read_log();
    }
    char words[64];
    snprintf(words, sizeof words, "begin 0; watch 2; release 2 to 2: %lld; ", (long long)term);
    was_told(words);
}

/* What is more than fits is not told; what is told is true. */
static void of_many_some_are_released(void **state)
{
    const int fd = join();
    json_int_t terms[OBITUARY_GROUPS_MAX];
    char name[16];
    for (uint32_t i = 0; i < OBITUARY_GROUPS_MAX; i++) {
        snprintf(name, sizeof name, "g%u", i);
        terms[i] = lead(fd, name);
    }
    was_told_of(2, terms, OBITUARY_GROUPS_MAX);
    (void)lead(fd, "more");
    char words[64];
    snprintf(words, sizeof words, " %lld; ", (long long)terms[OBITUARY_GROUPS_MAX - 1]);
    nothing_since(words);
}

/* ---- The guardian's own life ---- */

static pid_t guardian_pid(void)
{
    read_log();
    return (pid_t)strtol(told, NULL, 10);
}

static void another_is_told_all_that_is_held(void **state)
{
    const int fd = join();
    lead(fd, "g");
    const int line = lay_line(fd);
    was_told(": begin 0; line 3; ");
    assert_int_equal(kill(guardian_pid(), SIGKILL), 0);
    for (int i = 0; i < 600 && strchr(told, ':') == strrchr(told, ':'); i++) {
        pass(100); /* it is waited a little, lest one that cannot live be started for ever */
        (void)obituary_tick(obituary);
        usleep(1000);
        read_log();
    }
    assert_ptr_not_equal(strchr(told, ':'), strrchr(told, ':'));
    was_told(": begin 0; line 3; ");
    close(line);
}

static void it_goes_when_it_is_not_wanted_any_more(void **state)
{
    was_told("begin 0; ");
    const pid_t pid = guardian_pid();
    t.config.guardian = false; /* read anew */
    assert_int_equal(obituary_tick(obituary), UINT64_MAX);
    was_told("goodbye 0; ");
    assert_int_equal(kill(pid, 0), -1);
}

int main(int argc, char **argv)
{
    if (argc > 1) return strcmp(argv[1], "guardian") == 0 ? write_all_down() : 2;
#define BESIDE_A_PEER(name) cmocka_unit_test_setup_teardown(name, begin_beside_a_peer, finish_guarded)
#define GUARDED(name) cmocka_unit_test_setup_teardown(name, begin_guarded, finish_guarded)
    const struct CMUnitTest tests[] = {
        GUARDED(a_client_is_watched_while_it_leads),
        GUARDED(what_is_held_again_is_told_anew),
        GUARDED(it_is_watched_once_however_much_it_leads),
        GUARDED(a_line_takes_the_place_of_the_process),
        GUARDED(a_line_may_come_before_the_office),
        GUARDED(nothing_but_a_line_is_taken),
        GUARDED(whom_the_kernel_does_not_know_is_not_watched_but_remembered),
        GUARDED(one_that_is_expelled_is_watched_until_its_time_is_over),
        BESIDE_A_PEER(a_work_is_released_as_it_is_held),
        BESIDE_A_PEER(another_guardian_has_them_too),
        BESIDE_A_PEER(of_many_some_are_released),
        GUARDED(another_is_told_all_that_is_held),
        GUARDED(it_goes_when_it_is_not_wanted_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
