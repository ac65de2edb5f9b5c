/* The agent's socket: clients that mean no good or do not read, and the file it lies in. */
#define _GNU_SOURCE
#include "lib/client/serve.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Before all others may connect: what anybody could have found until then. */
static mode_t mode_before;

int chmod(const char *file, mode_t mode)
{
    struct stat found;
    if (lstat(file, &found) == 0 && S_ISSOCK(found.st_mode)) mode_before = found.st_mode & 07777;
    return fchmodat(AT_FDCWD, file, mode, 0);
}

/* ---- Hostile clients ---- */

static void hangs_up_on_garbage(void **state)
{
    static const char *const lines[] = {
        "hello?", "{\"op\":\"hello\"", "\xff\xfe", "", "3", "{\"op\":99999999999999999999999999}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const int fd = join();
        say(fd, lines[i]);
        assert_non_null(strstr(hear(fd), "bad-request"));
        assert_true(has_ended(fd));
    }
    assert_int_equal(t.serve->connection_count, 0);
}

static void refuses_a_field_that_occurs_twice(void **state)
{
    const int fd = join();
    expect_part(fd, "{\"op\":\"hello\",\"op\":\"hello\"}",
                "\"bad-request\",\"message\":\"a field occurs twice");
    expect_part(fd, "{\"op\":\"hello\"}", "true");
}

static void hangs_up_on_long_lines_and_deep_ones(void **state)
{
    static char line[2 * SERVE_LINE_MAX];
    memset(line, 'x', sizeof line);
    const int fd = join();
    send_bytes(fd, line, SERVE_LINE_MAX - 1);
    go_round();
    assert_int_equal(t.serve->connection_count, 1); /* half a line */
    send_bytes(fd, line, 1);
    assert_non_null(strstr(hear(fd), "too-long"));
    assert_true(has_ended(fd));
    memset(line, '[', sizeof line);
    const int deep = join();
    line[SERVE_LINE_MAX - 1] = '\n';
    send_bytes(deep, line, SERVE_LINE_MAX);
    assert_non_null(strstr(hear(deep), "bad-request"));
    assert_true(has_ended(deep));
    snprintf(line, sizeof line, "%-*s\n", SERVE_LINE_MAX - 1, "{\"op\":\"hello\"}");
    const int longest = join();
    send_bytes(longest, line, SERVE_LINE_MAX);
    assert_non_null(strstr(hear(longest), "true"));
}

static void hears_lines_in_pieces(void **state)
{
    const int fd = join();
    const char *lines = "{\"op\":\"hello\"}\n{\"op\":\"dance\"}\n{\"op\":\"hello\"}\n";
    for (const char *at = lines; *at; at++) send_bytes(fd, at, 1);
    assert_non_null(strstr(hear(fd), "true"));
    assert_non_null(strstr(hear(fd), "unknown-op"));
    assert_non_null(strstr(hear(fd), "true"));
}

/* ---- Limits of users ---- */

static const uid_t stranger_uid = 4711;

/* As the agent would, if the kernel said that this user connected. */
static bool is_admitted(uid_t uid, char *why, size_t size)
{
    struct user *user = users_meet(&t.serve->users, uid);
    const bool admits = serve_admits(t.serve, user, why, size);
    users_part(&t.serve->users, user);
    return admits;
}

static int others[4096];
static uint32_t other_count;

static void fill(uid_t uid, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        gid_t *gids = calloc(1, sizeof *gids);
        int ends[2];
        assert_non_null(gids);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
        assert_non_null(
            serve_adopt(t.serve, ends[0], (struct serve_who){.uid = uid, .gids = gids, .gid_count = 1}));
        others[other_count++] = ends[1];
    }
}

static int finish_filled(void **state)
{
    while (other_count > 0) close(others[--other_count]);
    return finish(state);
}

/* The answer to a request, without the events before it. */
static void expect_answer(int fd, const char *request, const char *part)
{
    say(fd, request);
    const char *line = await(fd);
    while (strstr(line, "\"event\"")) line = await(fd);
    if (!strstr(line, part)) fail_msg("%s was answered by %s, not %s", request, line, part);
}

static void one_user_cannot_have_all_places(void **state)
{
    char why[300] = "";
    fill(stranger_uid, 48);
    assert_false(is_admitted(stranger_uid, why, sizeof why));
    assert_string_equal(
        why, "user 4711 has 48 connections, and may have 48 (`socket-per-user` in the agent's configuration)");
    assert_true(is_admitted(stranger_uid + 1, why, sizeof why));
    connection_close(t.serve->connections[3], LEADERSHIP_DIES);
    assert_true(is_admitted(stranger_uid, why, sizeof why));
}

static void a_full_agent_says_how_full_and_by_whom(void **state)
{
    char why[300] = "";
    t.serve->connection_most = 200;
    t.config.socket_per_user = 100;
    fill(stranger_uid, 100);
    fill(stranger_uid + 1, 36);
    assert_false(is_admitted(stranger_uid + 2, why, sizeof why));
    assert_string_equal(
        why, "136 clients are connected, of at most 200, with 64 places for root and the agent's user "
             "only; user 4711 has most, 100");
    assert_true(is_admitted(0, why, sizeof why));      /* root, and */
    expect_part(join(), "{\"op\":\"hello\"}", "true"); /* the agent's own */
    fill(0, 63);
    const int fd = join();
    const char *line = hear(fd);
    assert_non_null(strstr(line, "\"error\":\"too-many\""));
    assert_non_null(strstr(line, "200 clients are connected, of at most 200"));
    assert_true(has_ended(fd));
    connection_close(t.serve->connections[3], LEADERSHIP_DIES);
    expect_part(join(), "{\"op\":\"hello\"}", "true");
}

/* Thousands, each with its own place. */
static void serves_thousands(void **state)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    const uint32_t many = (uint32_t)limit.rlim_cur / 2 - 100;
    t.serve->connection_most = SERVE_CONNECTIONS_MAX;
    fill(stranger_uid, many);
    assert_int_equal(t.serve->connection_count, many);
    const int fd = join();
    expect_part(fd, "{\"op\":\"hello\"}", "true");
    (void)lead(fd, "g");
}

/* Of its candidacies, values and observations: the rest is refused, what it has goes on, and what it gives up counts no more. */
static void one_user_cannot_take_all_memory(void **state)
{
    const int fd = join_as(stranger_uid, 1), other = join_as(stranger_uid, 1),
              friend = join_as(stranger_uid + 1, 1);
    t.config.candidacies_per_user = 3;
    t.config.value_bytes_per_user = 10;
    t.config.observed_per_user = 2;
    expect_answer(fd, "{\"op\":\"campaign\",\"group\":\"a\",\"value\":\"123456\"}", "true");
    expect_answer(other, "{\"op\":\"campaign\",\"group\":\"b\",\"value\":\"12345\"}",
                  "user 4711 has 6 bytes of values, and may have 10 (`value-bytes-per-user`");
    expect_answer(other, "{\"op\":\"campaign\",\"group\":\"b\",\"value\":\"1234\"}", "true");
    expect_answer(other, "{\"op\":\"campaign\",\"group\":\"c\"}", "true");
    expect_answer(fd, "{\"op\":\"campaign\",\"group\":\"d\"}",
                  "user 4711 has 3 candidacies, and may have 3 (`candidacies-per-user`");
    expect_answer(friend, "{\"op\":\"campaign\",\"group\":\"d\",\"value\":\"1234567890\"}", "true");
    expect_answer(fd, "{\"op\":\"resign\",\"group\":\"a\"}", "");
    hang_up(other);
    const int again = join_as(stranger_uid, 1);
    for (int i = 0; i < 3; i++) {
        char line[100];
        snprintf(line, sizeof line, "{\"op\":\"campaign\",\"group\":\"e%d\",\"value\":\"%s\"}", i,
                 i ? "" : "1234567890");
        expect_answer(again, line, "\"ok\":true");
    }
    const int reader = join_as(stranger_uid, 1);
    expect_answer(reader, "{\"op\":\"observe\",\"group\":\"a\"}", "true");
    expect_answer(reader, "{\"op\":\"observe\",\"group\":\"a\"}", "true"); /* again costs nothing */
    expect_answer(reader, "{\"op\":\"observe\",\"group\":\"to-come\"}", "true");
    expect_answer(reader, "{\"op\":\"observe\",\"group\":\"b\"}",
                  "user 4711 has 2 observed groups, and may have 2 (`observed-per-user`");
    hang_up(reader);
    const struct user *user = users_meet(&t.serve->users, stranger_uid);
    assert_int_equal(user->taken[USER_OBSERVED], 0);
    assert_int_equal(user->taken[USER_CANDIDACIES], 3);
    assert_int_equal(user->taken[USER_VALUE_BYTES], 10);
    assert_int_equal(user->taken[USER_CONNECTIONS], 2);
}

static void few_observe_all(void **state)
{
    for (int i = 0; i < SERVE_OBSERVE_ALL_EACH; i++)
        expect_part(join_as(stranger_uid, 1), "{\"op\":\"observe\"}", "true");
    const int fd = join_as(stranger_uid, 1);
    expect_part(fd, "{\"op\":\"observe\"}", "64 connections observe all groups, 64 of them of user 4711");
    expect_part(t.clients[0], "{\"op\":\"observe\"}", "true");
    expect_part(join_as(stranger_uid + 1, 1), "{\"op\":\"observe\"}", "true");
    hang_up(t.clients[5]);
    expect_part(fd, "{\"op\":\"observe\"}", "true");
}

/* ---- Turns ---- */

/* Each turn of the loop handles a bounded number of requests, and those of a candidate first. */
static void many_requests_wait_for_the_next_turn(void **state)
{
    enum { CLIENTS = 40, EACH = 200 };
    static const char line[] = "{\"op\":\"hello\"}\n";
    static char lines[EACH * sizeof line];
    const size_t size = sizeof line - 1;
    const int leader = join();
    (void)lead(leader, "g");
    for (size_t i = 0; i < EACH; i++) memcpy(lines + i * size, line, sizeof line);
    int fds[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) fds[i] = join_as(stranger_uid, 1);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(send(fds[i], lines, EACH * size, MSG_DONTWAIT), EACH * size);
    uint32_t heard[CLIENTS] = {0}, all = 0, turns = 0;
    for (; all < CLIENTS * EACH && turns < 100000; turns++) {
        if (turns == 3) assert_true(send(leader, "{\"op\":\"hello\"}\n", 15, 0) == 15);
        uv_run(&t.loop, UV_RUN_NOWAIT);
        if (turns == 3) assert_non_null(try_hear_now(leader)); /* in the same turn */
        const uint32_t before = all;
        uint32_t behind = UINT32_MAX, ahead = 0;
        for (int i = 0; i < CLIENTS; i++) {
            for (; try_hear_now(fds[i]); all++) heard[i]++;
            if (heard[i] < behind) behind = heard[i];
            if (heard[i] > ahead) ahead = heard[i];
        }
        assert_true(all - before <= TURN_REQUESTS);
        assert_true(ahead <= TURN_PORTION * (behind + 2)); /* each visit is one to four requests */
    }
    assert_int_equal(all, CLIENTS * EACH);
}

/* A status of many groups is written over many turns, and others are answered in between. */
static void a_long_status_takes_many_turns(void **state)
{
    enum { GROUPS = 2000 };
    char line[100];
    const int fd = join(), reader = join(), other = join();
    for (int i = 0; i < GROUPS; i++) {
        snprintf(line, sizeof line, "{\"op\":\"campaign\",\"group\":\"g%d\"}", i);
        say(fd, line);
        while (try_hear_now(fd)) {}
    }
    while (try_hear(fd)) {}
    assert_int_equal(send(reader, "{\"op\":\"status\"}\n", 16, 0), 16);
    uint32_t lines = 0, turns = 0, missed = 0;
    for (; lines < GROUPS / 32 && turns < 10000; turns++) {
        if (missed == 0) assert_int_equal(send(other, "{\"op\":\"hello\"}\n", 15, 0), 15);
        uv_run(&t.loop, UV_RUN_NOWAIT);
        missed = try_hear_now(other) ? 0 : missed + 1;
        assert_true(missed <= 1); /* its turn came next */
        while (try_hear_now(reader)) lines++;
    }
    assert_true(turns >= 6); /* of at most 64 KiB */
}

static void coalesces_for_who_does_not_read(void **state)
{
    const int fd = join();
    const json_int_t token = lead(fd, "g");
    expect_part(fd, "{\"op\":\"observe\"}", "true");
    const struct connection *c = t.serve->connections[0];
    uint64_t moves = 0, last = 0, most = 0;
    while (moves < 10000) {
        pass(50);
        const uint64_t deadline = host_view_of(leadership_at(&t.serve->leaderships, 0)->group).deadline_ns;
        moves += deadline != last;
        last = deadline;
        if (c->out_size > most) most = c->out_size;
        assert_ptr_equal(t.serve->connections[0], c);
        assert_false(c->is_doomed);
    }
    assert_true(most > 0 && most <= SERVE_OUT_BUSY); /* it did fill up, and stayed so */
    json_int_t deadline = 0;
    for (const char *line = try_hear(fd); line; line = try_hear(fd)) {
        if (!strstr(line, "\"lease\"")) continue;
        assert_int_equal(number_in(line, "token"), token);
        assert_true(number_in(line, "deadline_ns") > deadline);
        deadline = number_in(line, "deadline_ns");
    }
    assert_int_equal((uint64_t)deadline, last); /* the newest came */
}

static void lets_requests_wait_for_who_does_not_read(void **state)
{
    const int fd = join();
    const char line[] = "{\"op\":\"hello\"}\n";
    size_t sent = 0;
    for (int silent = 0; silent < 50;) {
        const ssize_t size = send(fd, line + sent % (sizeof line - 1), 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (size > 0) sent += (size_t)size;
        silent = size > 0 ? 0 : silent + 1;
        go_round();
        const struct connection *c = t.serve->connections[0];
        assert_non_null(c);
        assert_true(c->out_size <= SERVE_OUT_MAX);
    }
    size_t answers = 0;
    while (answers < sent / (sizeof line - 1) && try_hear(fd)) answers++;
    assert_int_equal(answers, sent / (sizeof line - 1)); /* all were answered in the end */
}

static void never_answers_more_at_once_than_there_is_room_for(void **state)
{
    t.config.member_count = CONFIG_MEMBERS_MAX; /* with names that make hello as long as it can be */
    for (int i = 0; i < CONFIG_MEMBERS_MAX; i++)
        snprintf(t.config.members[i].name, sizeof t.config.members[i].name, "%063d", i);
    static char lines[SERVE_LINE_MAX];
    const size_t count = 250, length = strlen("{\"op\":\"hello\"}\n");
    for (size_t i = 0; i < count; i++) snprintf(lines + i * length, length + 1, "{\"op\":\"hello\"}\n");
    const int fd = join();
    send_bytes(fd, lines, count * length);
    for (size_t i = 0; i < count; i++) assert_non_null(strstr(hear(fd), "true"));
    t.config.member_count = 1;
}

/* Elections that it does not want to hear of fill its buffer; its leadership stays closed until its deadline. */
static void hangs_up_on_who_would_not_hear_of_elections(void **state)
{
    const int fd = join(), next = join();
    char line[200];
    (void)lead(fd, "kept");
    expect(next, "{\"op\":\"campaign\",\"group\":\"kept\"}", "{\"ok\":true}");
    const struct connection *c = t.serve->connections[0];
    const struct leadership *kept = leadership_at(&t.serve->leaderships, 0);
    for (int i = 0; t.serve->connections[0] == c && i < 4000; i++) {
        snprintf(line, sizeof line, "{\"event\":\"lost\",\"group\":\"%060d\"}", i);
        for (int k = 0; k < 100; k++) connection_say(t.serve->connections[0], json_loads(line, 0, NULL));
        connection_wake(t.serve->connections[0]);
        if (c->is_doomed) break;
        go_round();
    }
    assert_true(c->is_doomed);
    const uint64_t deadline = kept->tenure->deadline_ns;
    go_round();
    assert_null(t.serve->connections[0]);
    assert_true(kept->tenure->is_held);
    assert_null(kept->tenure->holder);
    while (t.now + 10 * MS < deadline) {
        pass(5);
        assert_null(kept->tenure->holder);
    }
    for (int i = 0; i < 1000 && !kept->tenure->holder; i++) {
        usleep(1000);
        pass(5);
    }
    assert_non_null(kept->tenure->holder);
}

/* ---- The socket's file ---- */

static void opens_its_file_as_configured(void **state)
{
    struct stat file;
    assert_int_equal(stat(t.config.socket, &file), 0);
    assert_int_equal(file.st_mode & 07777, 0660);
    assert_int_equal(mode_before, 0600);
    assert_true(S_ISSOCK(file.st_mode));
    const mode_t mask = umask(022);
    (void)umask(mask);
    assert_int_not_equal(mask, 0177); /* and puts the mask back */
}

/* As a user who is not in it, which root is of none. The file goes again: the next start would find it dead. */
static void says_whose_group_it_cannot_have(void **state)
{
    char text[300] = "";
    struct config other = t.config;
    int status = 0;
    snprintf(other.socket, sizeof other.socket, "%s/grouped", t.folder);
    other.has_socket_group = true;
    assert_int_equal(chmod(t.folder, 0777), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)) _exit(1);
        if (serve_new(&t.loop, &other, t.host, text, sizeof text)) _exit(2);
        if (!strstr(text, "socket-group") || !strstr(text, other.socket)) _exit(3);
        _exit(access(other.socket, F_OK) == 0 ? 4 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    (void)unlink(other.socket);
    assert_int_equal(status, 0);
}

static void takes_the_place_of_the_dead_only(void **state)
{
    char text[300];
    struct config other = t.config;
    assert_null(serve_new(&t.loop, &other, t.host, text, sizeof text));
    assert_non_null(strstr(text, "in use"));
    assert_non_null(strstr(text, other.socket));
    expect_part(join(), "{\"op\":\"hello\"}", "true"); /* the first serves on */

    snprintf(other.socket, sizeof other.socket, "%s/file", t.folder);
    const int fd = open(other.socket, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_null(serve_new(&t.loop, &other, t.host, text, sizeof text));
    assert_non_null(strstr(text, "is not a socket"));
    unlink(other.socket);

    snprintf(other.socket, sizeof other.socket, "%s/no/such", t.folder);
    assert_null(serve_new(&t.loop, &other, t.host, text, sizeof text));
    assert_non_null(strstr(text, "cannot listen"));
    other.socket[0] = '\0';
    assert_null(serve_new(&t.loop, &other, t.host, text, sizeof text));

    snprintf(other.socket, sizeof other.socket, "%s/stale", t.folder);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", other.socket);
    const int stale = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(stale, (struct sockaddr *)&address, sizeof address), 0);
    close(stale);
    struct serve *second = serve_new(&t.loop, &other, t.host, text, sizeof text);
    assert_non_null(second);
    serve_free(second);
    assert_int_not_equal(access(other.socket, F_OK), 0);
}

static void takes_who_is_too_busy_to_answer_for_alive(void **state)
{
    char text[300];
    struct config other = t.config;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(other.socket, sizeof other.socket, "%s/busy", t.folder);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", other.socket);
    const int busy = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(busy, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(busy, 0), 0);
    t.clients[t.client_count++] = busy;
    for (int i = 0, error = 0; i < 100 && error == 0; i++) { /* until its line is full */
        const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        error = connect(fd, (struct sockaddr *)&address, sizeof address);
        t.clients[t.client_count++] = fd;
    }
    assert_null(serve_new(&t.loop, &other, t.host, text, sizeof text));
    assert_non_null(strstr(text, "in use"));
    assert_int_equal(unlink(other.socket), 0);
}

static void leaves_the_file_of_another_alone(void **state)
{
    char text[300];
    unlink(t.config.socket);
    struct config other = t.config;
    struct serve *second = serve_new(&t.loop, &other, t.host, text, sizeof text);
    assert_non_null(second);
    serve_free(t.serve);
    assert_int_equal(access(other.socket, F_OK), 0);
    t.serve = second;
    t.config = other;
    second->config = &t.config;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(hangs_up_on_garbage),
        TEST(refuses_a_field_that_occurs_twice),
        TEST(hangs_up_on_long_lines_and_deep_ones),
        TEST(hears_lines_in_pieces),
        cmocka_unit_test_setup_teardown(one_user_cannot_have_all_places, begin, finish_filled),
        cmocka_unit_test_setup_teardown(a_full_agent_says_how_full_and_by_whom, begin, finish_filled),
        cmocka_unit_test_setup_teardown(serves_thousands, begin, finish_filled),
        TEST(one_user_cannot_take_all_memory),
        TEST(few_observe_all),
        TEST(many_requests_wait_for_the_next_turn),
        TEST(a_long_status_takes_many_turns),
        TEST(coalesces_for_who_does_not_read),
        TEST(lets_requests_wait_for_who_does_not_read),
        TEST(never_answers_more_at_once_than_there_is_room_for),
        TEST(hangs_up_on_who_would_not_hear_of_elections),
        TEST(opens_its_file_as_configured),
        TEST(takes_the_place_of_the_dead_only),
        TEST(says_whose_group_it_cannot_have),
        TEST(takes_who_is_too_busy_to_answer_for_alive),
        TEST(leaves_the_file_of_another_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
