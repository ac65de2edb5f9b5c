/* Clients that promised signs of life, and give none. The watchdog's timer runs by the loop's own clock. */
#define _GNU_SOURCE
#include "lib/client/serve.h"
#include "lib/give_up.h"

static const char alive[] = "{\"op\":\"alive\"}\n";

/* Passes time by both clocks. */
static void pass_both(uint64_t ms)
{
    for (uint64_t end = t.now + ms * MS; t.now < end; t.now += 5 * MS) {
        usleep(2000);
        go_round();
    }
}

/* The next line of this client that is no lease, after waiting for it. */
static const char *await_event(int fd)
{
    for (int i = 0; i < give_up_ms() / 4; i++) {
        const char *line = try_hear(fd);
        if (line && !strstr(line, "\"event\":\"lease\"")) return line;
        if (!line) pass_both(5);
    }
    fail_msg("no event");
    return NULL;
}

/* Leads, and promises a sign of life every 200 ms. */
static int lead_watched(void)
{
    const int fd = join();
    expect(fd, "{\"op\":\"campaign\",\"group\":\"g\",\"watchdog_ms\":200}", "{\"ok\":true}");
    assert_non_null(strstr(await_event(fd), "\"event\":\"elected\""));
    return fd;
}

static bool is_closed(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

static void elects_another_when_the_deadline_of_one_that_hangs_has_passed(void **state)
{
    const int fd = lead_watched(), other = join();
    expect(other, "{\"op\":\"campaign\",\"group\":\"g\"}", "{\"ok\":true}");
    const char *stop = await_event(fd);
    assert_non_null(strstr(stop, "\"event\":\"stop\""));
    assert_non_null(strstr(stop, "\"reason\":\"watchdog\""));
    const uint64_t deadline = (uint64_t)number_in(stop, "deadline_ns");
    assert_true(deadline > t.now);
    while (t.now + 5 * MS < deadline) {
        pass_both(5);
        assert_null(try_hear(other)); /* it may still work */
        assert_null(try_hear(fd));    /* no lease after stop */
    }
    assert_non_null(strstr(await_event(fd), "\"reason\":\"watchdog\""));
    assert_non_null(strstr(await_event(other), "\"event\":\"elected\""));
    assert_true(is_closed(fd));
}

static void renews_the_lease_of_one_that_says_that_it_is_alive(void **state)
{
    const int fd = lead_watched();
    for (int i = 0; i < 20; i++) {
        pass_both(50);
        send_bytes(fd, alive, sizeof alive - 1);
        for (const char *line = try_hear(fd); line; line = try_hear(fd)) assert_null(strstr(line, "stop"));
    }
}

/* The agent was late: what it has not read yet counts, though it takes several portions to come to it. */
static void believes_a_sign_of_life_that_waits_in_the_socket(void **state)
{
    static const char other[] = "{\"op\":\"hello\"}\n";
    const int fd = lead_watched();
    send_bytes(fd, alive, sizeof alive - 1);
    pass_both(20);
    for (int i = 0; i < 2 * TURN_ALONE; i++)
        assert_int_equal(send(fd, other, sizeof other - 1, 0), sizeof other - 1);
    assert_int_equal(send(fd, alive, sizeof alive - 1, 0), sizeof alive - 1);
    usleep(250000);
    t.now += 250 * MS;
    for (int i = 0; i < 10; i++) go_round();
    for (const char *line = try_hear(fd); line; line = try_hear(fd)) assert_null(strstr(line, "stop"));
}

static void keeps_one_that_answers_after_all(void **state)
{
    const int fd = lead_watched();
    assert_non_null(strstr(await_event(fd), "\"event\":\"stop\""));
    send_bytes(fd, alive, sizeof alive - 1);
    assert_string_equal(await_event(fd), "{\"ok\":true}");
    assert_non_null(strstr(await_event(fd), "\"event\":\"lost\""));
    assert_non_null(strstr(await_event(fd), "\"event\":\"elected\"")); /* it is a candidate still */
}

/* The tenure that was given up still counts, so it never led nothing in between. */
static void watches_one_again_that_hung_and_is_elected_to_another_group(void **state)
{
    const int fd = lead_watched();
    const char *event = await_event(fd);
    assert_non_null(strstr(event, "\"event\":\"stop\""));
    send_bytes(fd, alive, sizeof alive - 1);
    assert_string_equal(await_event(fd), "{\"ok\":true}");
    say(fd, "{\"op\":\"campaign\",\"group\":\"another\",\"watchdog_ms\":200}");
    for (int i = 0; i < 20 && !(strstr(event, "\"event\":\"stop\"") && strstr(event, "another")); i++)
        event = await_event(fd);
    assert_non_null(strstr(event, "another"));
}

static void does_not_watch_one_that_only_stands(void **state)
{
    const int leader = join(), fd = join();
    (void)lead(leader, "g");
    expect(fd, "{\"op\":\"campaign\",\"group\":\"g\",\"watchdog_ms\":100}", "{\"ok\":true}");
    pass_both(1000);
    assert_null(try_hear(fd));
    assert_false(is_closed(fd));
}

/* How many of its tenures no longer move on. */
static uint32_t count_frozen(void)
{
    const struct leaderships *all = &t.serve->leaderships;
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) count += leadership_at(all, i)->tenure->is_frozen;
    return count;
}

/* A client that hangs may lead thousands of groups: they are given up in portions, and the loop goes on between these. A sign of life
 * in between ends that. */
static void one_that_hangs_with_many_groups_is_given_up_in_portions(void **state)
{
    enum { MANY = 700, LOT = 50 };
    char request[100];
    const int fd = join();
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(request, sizeof request, "{\"op\":\"campaign\",\"group\":\"m%u\"}", i);
        say(fd, request);
        if (i % LOT == LOT - 1)
            for (int answers = 0; answers < LOT;) answers += strstr(hear(fd), "\"ok\":true") != NULL;
    }
    pass(200);
    while (try_hear(fd)) {}
    struct connection *c = t.serve->connections[0];
    assert_int_equal(c->leads, MANY);
    serve_watch(c, 200);
    t.now += 250 * MS;
    for (int i = 0; i < give_up_ms() && count_frozen() == 0; i++) {
        usleep(1000);
        uv_run(&t.loop, UV_RUN_NOWAIT);
    }
    const uint32_t first = count_frozen();
    assert_true(first > 0 && first < MANY / 2);
    serve_hear_alive(c);
    go_round();
    assert_int_equal(count_frozen(), first);
    t.now += 250 * MS;
    for (int i = 0; i < give_up_ms() && count_frozen() < MANY; i++) {
        usleep(1000);
        uv_run(&t.loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(count_frozen(), MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(elects_another_when_the_deadline_of_one_that_hangs_has_passed, begin,
                                        finish),
        cmocka_unit_test_setup_teardown(renews_the_lease_of_one_that_says_that_it_is_alive, begin, finish),
        cmocka_unit_test_setup_teardown(believes_a_sign_of_life_that_waits_in_the_socket, begin, finish),
        cmocka_unit_test_setup_teardown(keeps_one_that_answers_after_all, begin, finish),
        cmocka_unit_test_setup_teardown(watches_one_again_that_hung_and_is_elected_to_another_group, begin,
                                        finish),
        cmocka_unit_test_setup_teardown(does_not_watch_one_that_only_stands, begin, finish),
        cmocka_unit_test_setup_teardown(one_that_hangs_with_many_groups_is_given_up_in_portions, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
