/* Descriptors that clients pass: whoever closes them may have to wait, and the loop does not. */
#define _GNU_SOURCE
#include "lib/client/serve.h"

#include <fcntl.h>

#include "base/closer.h"

#include "lib/lingering.h"

static const uid_t stranger_uid = 4711;

static int finish_lingering(void **state)
{
    end_lingering();
    return finish(state);
}

/* The loop goes on within a small part of the time that a close takes. */
static void expect_going_on(uint64_t since)
{
    expect_part(join(), "{\"op\":\"hello\"}", "true");
    assert_true(seconds() - since < LINGER_S / 2);
}

static void a_descriptor_that_lingers_does_not_stop_the_loop(void **state)
{
    const uint64_t since = seconds();
    const int fd = join_as(stranger_uid, 1);
    pass_on(fd, "{\"op\":\"work\"}\n", (int[]){make_lingering()}, 1);
    assert_non_null(strstr(hear(fd), "SOCK_SEQPACKET"));
    expect_going_on(since);
    const struct user *user = t.serve->connections[0]->user;
    assert_int_equal(atomic_load(&user->closing), 1);
}

/* The kernel closes what is in the queue of a socket that is closed. */
static void nor_one_that_waits_in_the_queue_of_a_connection(void **state)
{
    const uint64_t since = seconds();
    const int fd = join_as(stranger_uid, 1);
    pass_on(fd, "half a line", (int[]){make_lingering()}, 1);
    connection_close(t.serve->connections[0], LEADERSHIP_EXPELLED);
    expect_going_on(since);
}

static void nor_one_in_the_queue_of_a_line_of_work(void **state)
{
    const uint64_t since = seconds();
    const int fd = join_as(stranger_uid, 1);
    int line[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line), 0);
    pass_on(line[1], "for the agent", (int[]){make_lingering()}, 1);
    pass_on(fd, "{\"op\":\"work\"}\n", (int[]){line[0]}, 1); /* no guardian runs here: it is closed at once */
    assert_non_null(strstr(hear(fd), "true"));
    close(line[1]);
    connection_close(t.serve->connections[0], LEADERSHIP_DIES);
    expect_going_on(since);
}

static void nor_one_of_a_client_that_is_refused(void **state)
{
    const uint64_t since = seconds();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    t.serve->connection_most = 0; /* before the agent accepts it */
    snprintf(address.sun_path, sizeof address.sun_path, "%s", t.config.socket);
    const int fd = t.clients[t.client_count++] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    pass_on(fd, "{\"op\":\"work\"}\n", (int[]){make_lingering()}, 1);
    go_round();
    assert_non_null(strstr(hear(fd), "too-many"));
    t.serve->connection_most = 100;
    expect_going_on(since);
}

/* A user whose descriptors wait to be closed is read no more, and not let in again; others are served. When they are closed, it
 * goes on. */
static void a_user_waits_for_its_own_descriptors(void **state)
{
    char why[300] = "";
    const int fd = join_as(stranger_uid, 1), other = join_as(stranger_uid, 1),
              friend = join_as(stranger_uid + 1, 1);
    pass_on(fd, "{\"op\":\"work\"}\n", (int[]){make_lingering()}, 1);
    assert_non_null(strstr(hear(fd), "SOCK_SEQPACKET"));
    struct user *user = t.serve->connections[0]->user;
    for (int i = 1; i < SERVE_CLOSING_MAX; i++) { /* these wait for the first */
        pass_on(fd, "{\"op\":\"work\"}\n", (int[]){open("/dev/null", O_RDONLY | O_CLOEXEC)}, 1);
        assert_non_null(strstr(hear(fd), "SOCK_SEQPACKET"));
    }
    assert_int_equal(atomic_load(&user->closing), SERVE_CLOSING_MAX);
    say(other, "{\"op\":\"hello\"}");
    assert_null(try_hear(other));
    assert_false(serve_admits(t.serve, user, why, sizeof why));
    assert_non_null(strstr(why, "are still being closed"));
    expect_part(friend, "{\"op\":\"hello\"}", "true");
    close(far_end);
    far_end = -1;
    for (int i = 0; i < 3000 && atomic_load(&user->closing) > 0; i++) usleep(10000);
    assert_int_equal(atomic_load(&user->closing), 0);
    const char *line = NULL;
    for (int i = 0; i < 1000 && !line; i++, usleep(1000)) line = try_hear(other);
    assert_non_null(line);
}

int main(void)
{
#define LINGERS(name) cmocka_unit_test_setup_teardown(name, begin, finish_lingering)
    const struct CMUnitTest tests[] = {
        LINGERS(a_descriptor_that_lingers_does_not_stop_the_loop),
        LINGERS(nor_one_that_waits_in_the_queue_of_a_connection),
        LINGERS(nor_one_in_the_queue_of_a_line_of_work),
        LINGERS(nor_one_of_a_client_that_is_refused),
        LINGERS(a_user_waits_for_its_own_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
