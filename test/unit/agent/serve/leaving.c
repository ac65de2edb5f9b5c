/* What clients leave: groups that nobody uses any more, what they no longer observe, and thousands of candidacies. */
#define _GNU_SOURCE
#include "lib/client/serve.h"

static void resign(int fd)
{
    say(fd, "{\"op\":\"resign\",\"group\":\"g\"}");
    pass(10);
    while (try_hear(fd)) {}
}

/* Names made up for each job: places, numbers and slots are those of the jobs at a time, not of all that ever were. */
static void the_place_of_a_forgotten_group_goes_to_another(void **state)
{
    enum { JOBS = 30 };
    char name[16], request[80];
    t.config.forget_after = 1000 * MS;
    const int fd = join(), watch = join(), named = join();
    const struct leaderships *all = &t.serve->leaderships;
    (void)lead(fd, "seen");
    expect_part(named, "{\"op\":\"observe\",\"group\":\"seen\"}", "true");
    say(watch, "{\"op\":\"observe\"}");
    for (unsigned job = 0; job < JOBS; job++) {
        snprintf(name, sizeof name, "job-%u", job);
        (void)lead(fd, name);
        assert_int_equal(leaderships_used(all), 2);
        assert_int_equal(all->count, 2);
        snprintf(request, sizeof request, "{\"op\":\"resign\",\"group\":\"%s\"}", name);
        say(fd, request);
        pass(10);
        while (try_hear(fd)) {}
        pass(1500);
        for (unsigned i = 0; i < 3; i++, pass(1000)) serve_forget_some(t.serve, host_clock(t.host));
        assert_int_equal(leaderships_used(all), 1);
        assert_null(serve_find_leadership(t.serve, name));
        assert_null(host_known(t.host, name));
        while (try_hear(watch)) {}
        while (try_hear(fd)) {}
    }
    say(fd, "{\"op\":\"resign\",\"group\":\"seen\"}");
    pass(5000);
    for (unsigned i = 0; i < 3; i++, pass(1000)) serve_forget_some(t.serve, host_clock(t.host));
    assert_non_null(serve_find_leadership(t.serve, "seen")); /* a client observes it by its name */
}

/* A hundred jobs in an hour of `forget-after`, and places for ten: none is refused. */
static void names_do_not_run_out_within_forget_after(void **state)
{
    enum { PLACES = 10, MANY = PLACES - PLACES / 8, JOBS = 100 };
    char name[16], request[80];
    t.config.forget_after = 3600 * (el_duration)1000 * MS;
    t.config.group_limit = PLACES;
    const int fd = join();
    const struct leaderships *all = &t.serve->leaderships;
    (void)lead(fd, "kept");
    for (unsigned job = 0; job < JOBS; job++) {
        snprintf(name, sizeof name, "job-%u", job);
        (void)lead(fd, name);
        snprintf(request, sizeof request, "{\"op\":\"resign\",\"group\":\"%s\"}", name);
        say(fd, request);
        pass(2000);
        serve_forget_some(t.serve, host_clock(t.host)); /* the agent calls it when it has asked to be called */
        while (try_hear(fd)) {}
        assert_true(leaderships_used(all) <= PLACES);
        assert_true(job + 1 < MANY || leaderships_used(all) >= MANY - 1); /* and none is dropped before */
    }
    assert_non_null(serve_find_leadership(t.serve, "kept")); /* it is led */
}

static void tells_no_more_what_is_no_longer_observed(void **state)
{
    const int fd = join(), all = join(), one = join(), later = join();
    const struct user *user = t.serve->connections[0]->user;
    const uint64_t before = user->taken[USER_OBSERVED];
    (void)lead(fd, "g");
    say(all, "{\"op\":\"observe\"}");
    say(all, "{\"op\":\"observe\",\"group\":\"h\"}");
    say(one, "{\"op\":\"observe\",\"group\":\"g\"}");
    say(later, "{\"op\":\"observe\",\"group\":\"later\"}");
    pass(10);
    while (try_hear(all) || try_hear(one) || try_hear(later)) {}
    assert_int_equal(user->taken[USER_OBSERVED], before + 3);
    expect_part(one, "{\"op\":\"unobserve\",\"group\":\"g\"}", "true");
    expect_part(one, "{\"op\":\"unobserve\",\"group\":\"g\"}", "true"); /* there is nothing to end */
    expect_part(later, "{\"op\":\"unobserve\",\"group\":\"later\"}", "true");
    expect_part(all, "{\"op\":\"unobserve\"}", "true");
    assert_int_equal(user->taken[USER_OBSERVED], before + 1);
    assert_int_equal(t.serve->observers_of_all_count, 0);
    resign(fd);
    (void)lead(fd, "later");
    pass(100);
    assert_null(try_hear(one));
    assert_null(try_hear(later));
    assert_null(try_hear(all));
    (void)lead(fd, "h"); /* by its name it is still observed */
    pass(100);
    assert_non_null(strstr(hear(all), "\"group\":\"h\""));
}

/* A client with thousands of candidacies is gone: the loop goes on between two portions of them. */
static void a_client_of_many_candidacies_parts_in_portions(void **state)
{
    enum { MANY = 700, LOT = 50 };
    char request[80];
    const int fd = join(), other = join();
    const struct leaderships *all = &t.serve->leaderships;
    for (int i = 0; i < MANY; i++) {
        snprintf(request, sizeof request, "{\"op\":\"campaign\",\"group\":\"g%d\"}", i);
        say(fd, request);
        if (i % LOT == LOT - 1)
            for (int answers = 0; answers < LOT;) answers += strstr(hear(fd), "\"ok\":true") != NULL;
    }
    pass(200);
    while (try_hear(fd)) {}
    const struct connection *c =
        t.serve->connections[0]->campaigns ? t.serve->connections[0] : t.serve->connections[1];
    assert_int_equal(c->campaigns, MANY);
    connection_close((struct connection *)(uintptr_t)c, LEADERSHIP_DIES);
    uint32_t left = 0;
    for (uint32_t i = 0; i < all->count; i++) left += leadership_at(all, i)->candidate_count;
    assert_true(left > 0 && left < MANY); /* the first portion */
    close(fd);
    (void)lead(other, "h"); /* served meanwhile */
    pass(200);
    for (uint32_t i = left = 0; i < all->count; i++) left += leadership_at(all, i)->candidate_count;
    assert_int_equal(left, 1);
    assert_int_equal(t.serve->connection_count, 1);
    const int again = join();
    (void)lead(again, "g0"); /* and its user has paid back what it had taken */
}

static uint32_t count_candidacies(void)
{
    const struct leaderships *all = &t.serve->leaderships;
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) count += leadership_at(all, i)->candidate_count;
    return count;
}

/* A process dies and leaves many connections, which were only watched for their end: no turn of the loop parts with all of them. */
static void many_clients_that_go_at_once_part_in_portions(void **state)
{
    enum { CLIENTS = 40, EACH = 100 };
    char request[80];
    int fds[CLIENTS];
    for (int c = 0; c < CLIENTS; c++) {
        fds[c] = join();
        for (int i = 0; i < EACH; i++) {
            snprintf(request, sizeof request, "{\"op\":\"campaign\",\"group\":\"g%d\"}", c * EACH + i);
            say(fds[c], request);
        }
        for (int answers = 0; answers < EACH;) answers += strstr(hear(fds[c]), "\"ok\":true") != NULL;
    }
    pass(200);
    for (int c = 0; c < CLIENTS; c++)
        while (try_hear(fds[c])) {}
    assert_int_equal(count_candidacies(), CLIENTS * EACH);
    struct user *user = t.serve->connections[0]->user;
    atomic_store(&user->closing, SERVE_CLOSING_MAX); /* as if it had passed descriptors that linger */
    for (int c = 0; c < CLIENTS; c++) say(fds[c], "{}");
    pass(50);
    for (int c = 0; c < CLIENTS; c++) (void)shutdown(fds[c], SHUT_RDWR);
    uv_run(&t.loop, UV_RUN_NOWAIT);
    const uint32_t left = count_candidacies();
    assert_true(left < CLIENTS * EACH); /* the first in the same turn */
    assert_true(left > CLIENTS * EACH / 4);
    atomic_store(&user->closing, 0);
    const int other = join();
    (void)lead(other, "h");
    pass(200);
    assert_int_equal(count_candidacies(), 1);
    assert_int_equal(t.serve->connection_count, 1);
}

static uint32_t count_tenures(void)
{
    const struct leaderships *all = &t.serve->leaderships;
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) count += leadership_at(all, i)->tenure->is_held;
    return count;
}

/* One round of the loop in which some tenures end. */
static void await_an_ending(uint32_t held)
{
    for (int i = 0; i < 20000 && count_tenures() == held; i++) {
        t.now += 10 * MS;
        usleep(1000);
        go_round();
    }
}

static void lead_many(int fd, unsigned count)
{
    enum { LOT = 50 };
    char request[80];
    for (unsigned i = 0; i < count; i++) {
        snprintf(request, sizeof request, "{\"op\":\"campaign\",\"group\":\"m%u\"}", i);
        say(fd, request);
        if (i % LOT == LOT - 1)
            for (int answers = 0; answers < LOT;) answers += strstr(hear(fd), "\"ok\":true") != NULL;
    }
    pass(200);
    while (try_hear(fd)) {}
    assert_int_equal(count_tenures(), count);
}

/* A client of thousands of tenures is disconnected for a line that is no request: they all end at the same deadline, but not in
 * one turn of the loop. */
static void tenures_that_end_together_end_in_portions(void **state)
{
    enum { MANY = 700 };
    const int fd = join(), other = join();
    lead_many(fd, MANY);
    say(fd, "garbage");
    assert_true(has_ended(fd));
    assert_int_equal(count_tenures(), MANY); /* its work may go on until then */
    uint32_t most = 0;
    for (uint32_t held = MANY; held > 0;) {
        await_an_ending(held);
        const uint32_t left = count_tenures();
        assert_true(left < held);
        if (held - left > most) most = held - left;
        if (held == MANY)
            expect_part(other, "{\"op\":\"why\",\"group\":\"m1\"}", "\"ok\":true"); /* served meanwhile */
        held = count_tenures();
    }
    assert_true(most < MANY / 2);
    (void)lead(other, "m0");
}

/* This member leaves: it asks the holders in portions, too. */
static void a_member_that_leaves_asks_its_holders_in_portions(void **state)
{
    enum { MANY = 700 };
    const int fd = join();
    const struct leaderships *all = &t.serve->leaderships;
    lead_many(fd, MANY);
    assert_false(serve_leave(t.serve));
    assert_true(all->left > 0 && all->left < all->count / 2);
    for (int i = 0; i < 100000 && all->left < all->count; i++) assert_false(serve_leave(t.serve));
    for (int i = 0; i < 20000 && !serve_leave(t.serve); i++) {
        t.now += 10 * MS;
        usleep(1000);
        go_round();
    }
    assert_int_equal(count_tenures(), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
    const struct CMUnitTest tests[] = {
        TEST(the_place_of_a_forgotten_group_goes_to_another),
        TEST(names_do_not_run_out_within_forget_after),
        TEST(tells_no_more_what_is_no_longer_observed),
        TEST(a_client_of_many_candidacies_parts_in_portions),
        TEST(many_clients_that_go_at_once_part_in_portions),
        TEST(tenures_that_end_together_end_in_portions),
        TEST(a_member_that_leaves_asks_its_holders_in_portions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
