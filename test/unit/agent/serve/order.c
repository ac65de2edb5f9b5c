/* A successor waits for what leaves the host: that goes first, and the lines and descriptors of who let go after it. */
#define _GNU_SOURCE
#include <fcntl.h>

#include "lib/client/serve.h"

static int begin_observed(void **state)
{
    return begin_with(2);
}

static int watched = -1; /* a descriptor */
static bool was_silent, was_open;

/* As it is when the first word leaves. */
static void look(void)
{
    char byte;
    was_silent = recv(watched, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
    t.on_post = NULL;
}

static void look_whether_open(void)
{
    was_open = fcntl(watched, F_GETFD) >= 0;
    t.on_post = NULL;
}

static void peers_hear_of_it_before_who_resigned(void **state)
{
    const int fd = join();
    lead(fd, "g");
    pass(1000);
    while (try_hear(fd)) {}
    watched = fd;
    was_silent = false;
    t.on_post = look;
    say(fd, "{\"op\":\"resign\",\"group\":\"g\"}");
    assert_non_null(strstr(hear(fd), "\"event\":\"lost\""));
    assert_true(was_silent);
}

static bool was_noted;

/* Whether history and clients know by then that nobody leads here any more. */
static void look_whether_noted(void)
{
    was_noted = serve_find_leadership(t.serve, "g")->seen_leader != t.config.self;
    t.on_post = NULL;
}

static void peers_hear_of_it_before_it_is_noted(void **state)
{
    int fd = join();
    lead(fd, "g");
    pass(1000);
    was_noted = true;
    t.on_post = look_whether_noted;
    say(fd, "{\"op\":\"resign\",\"group\":\"g\"}");
    assert_false(was_noted);
    fd = join();
    lead(fd, "g");
    pass(1000);
    was_noted = true;
    t.on_post = look_whether_noted;
    shutdown(fd, SHUT_RDWR);
    uv_run(&t.loop, UV_RUN_NOWAIT);
    assert_false(was_noted);
}

static unsigned told;

static void count(void *context, enum serve_step what, const char *group, const struct history_entry *entry)
{
    assert_int_equal(what, told == 0 ? SERVE_LEADER_CHANGED : SERVE_LEADER_SETTLED);
    assert_string_equal(group, "g");
    assert_int_equal(entry->who, t.config.self);
    told++;
}

static void the_log_is_told_later(void **state)
{
    struct history *history = history_new(&t.config, t.now);
    serve_set_history(t.serve, history);
    serve_set_listener(t.serve, count, NULL);
    told = 0;
    lead(join(), "g");
    assert_int_equal(told, 0);
    const uint64_t next = serve_tell(t.serve, t.now);
    assert_int_equal(told, 0);
    assert_in_range(next, t.now, t.now + 5 * MS);
    const uint64_t settled = serve_tell(t.serve, next);
    assert_int_equal(told, 1);
    assert_in_range(settled, t.now, t.now + 3000 * MS);
    assert_true(serve_tell(t.serve, settled - 1) == settled);
    assert_int_equal(told, 1);
    assert_true(serve_tell(t.serve, settled) == UINT64_MAX); /* and once more, when it is complete */
    assert_int_equal(told, 2);
    assert_true(serve_tell(t.serve, settled + MS) == UINT64_MAX);
    assert_int_equal(told, 2);
    serve_set_listener(t.serve, NULL, NULL);
    serve_set_history(t.serve, NULL);
    history_free(history);
}

/* What is asked in one breath leaves in one datagram. */
static void many_requests_are_one_word_to_peers(void **state)
{
    const int fd = join();
    lead(fd, "g");
    lead(fd, "h");
    pass(1000);
    const char both[] = "{\"op\":\"resign\",\"group\":\"g\"}\n{\"op\":\"resign\",\"group\":\"h\"}\n";
    t.posted = 0;
    assert_int_equal(send(fd, both, sizeof both - 1, MSG_NOSIGNAL), sizeof both - 1);
    uv_run(&t.loop, UV_RUN_NOWAIT);
    assert_int_equal(t.posted, 1);
}

static void who_dies_is_released_before_its_connection_is_closed(void **state)
{
    const int fd = join();
    lead(fd, "g");
    pass(1000);
    for (size_t i = 0; i < SERVE_CONNECTIONS_MAX; i++)
        if (t.serve->connections[i]) watched = t.serve->connections[i]->fd;
    was_open = false;
    shutdown(fd, SHUT_RDWR);
    t.on_post = look_whether_open;
    go_round();
    assert_int_equal(t.serve->connection_count, 0);
    assert_null(t.on_post);
    assert_true(was_open);
}

int main(void)
{
#define OBSERVED(name) cmocka_unit_test_setup_teardown(name, begin_observed, finish)
    const struct CMUnitTest tests[] = {
        OBSERVED(peers_hear_of_it_before_who_resigned),
        OBSERVED(peers_hear_of_it_before_it_is_noted),
        OBSERVED(the_log_is_told_later),
        OBSERVED(many_requests_are_one_word_to_peers),
        OBSERVED(who_dies_is_released_before_its_connection_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
