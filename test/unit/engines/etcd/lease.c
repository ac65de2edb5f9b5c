/*
 * The lease of an engine on etcd: an answer to a grant or keep-alive speaks of the lease that it was sent for. By the time it comes, that
 * one may be lost and the next one asked for.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "lib/engines/fake_calls.h"

static struct etcd etcd;
static uint64_t now;

/* ---- What the other files of the adapter would do ---- */

static struct etcd_group work = {.etcd = &etcd};

struct etcd_group *etcd_next(const struct etcd *all, const struct etcd_group *after)
{
    (void)all;
    return after ? NULL : &work;
}

void etcd_answer(struct etcd_group *g, bool is_alive, uint8_t flags)
{
    (void)flags;
    fake_say("%s %s", g->request.kind == STORE_OPEN ? "open" : "request", is_alive ? "done" : "in vain");
    g->request.kind = 0;
}

void etcd_answer_renewal(struct etcd_group *g, bool is_alive)
{
    fake_say("%s", is_alive ? "renewed" : "not renewed");
    g->renewal.kind = 0;
}

void etcd_tell(struct etcd_group *g, uint64_t gone)
{
    (void)g, (void)gone;
    fake_say("told");
}

/* ---- What happens ---- */

static void asks_to_open(void)
{
    work.request = (struct el_msg){.kind = STORE_OPEN};
    work.request_joined = false;
    etcd_pump_lease(&etcd, ++now);
}

static void asks_to_renew(void)
{
    work.renewal = (struct el_msg){.kind = STORE_RENEW};
    work.renewal_joined = false;
    etcd_pump_lease(&etcd, now += 10 * NS_PER_S);
}

static const char granted[] = "{\"TTL\":\"5\"}", renewed[] = "{\"result\":{\"TTL\":\"5\"}}",
                  has_ended[] = "{\"result\":{}}";

static void has_lease(void)
{
    asks_to_open();
    fake_done(&etcd, fake_called - 1, granted);
    assert_string_equal(fake_said(), "open done");
    assert_int_equal(etcd.lease_state, LEASE_ALIVE);
}

/* The lease is lost by another call's answer, and the next one is asked for. */
static void loses_it_and_opens(void)
{
    etcd_lease_is_lost(&etcd);
    (void)fake_said();
    asks_to_open();
    assert_string_equal(fake_calls[fake_called - 1].path, "/v3/lease/grant");
}

static int set_up(void **state)
{
    etcd = (struct etcd){.prefix = "shop/"};
    work = (struct etcd_group){.etcd = &etcd, .group = fake_group("work")};
    work.group->stands = true;
    now = NS_PER_S;
    return 0;
}

static int tear_down(void **state)
{
    fake_calls_end();
    fake_end();
    return 0;
}

/* ---- The tests ---- */

static void a_grant_opens_and_a_keepalive_renews(void **state)
{
    has_lease();
    asks_to_renew();
    fake_done(&etcd, fake_called - 1, renewed);
    assert_string_equal(fake_said(), "renewed");
}

static void what_came_after_the_sending_waits_for_the_next_keepalive(void **state)
{
    has_lease();
    asks_to_renew();
    work.renewal_joined = false; /* asked again, after the keep-alive was sent */
    fake_done(&etcd, fake_called - 1, renewed);
    assert_string_equal(fake_said(), "");
}

static void a_keepalive_without_a_ttl_says_that_the_lease_has_ended(void **state)
{
    has_lease();
    asks_to_renew();
    fake_done(&etcd, fake_called - 1, has_ended);
    assert_string_equal(fake_said(), "not renewed; told");
    assert_int_equal(etcd.lease_state, LEASE_NONE);
}

static void the_end_of_an_earlier_lease_is_not_the_end_of_the_next(void **state)
{
    has_lease();
    asks_to_renew();
    const unsigned late = fake_called - 1;
    loses_it_and_opens();
    fake_done(&etcd, late, has_ended);
    assert_int_equal(etcd.lease_state, LEASE_GRANTING);
    fake_done(&etcd, fake_called - 1, granted);
    assert_string_equal(fake_said(), "open done");
    assert_int_equal(etcd.lease_state, LEASE_ALIVE);
}

static void a_keepalive_of_an_earlier_lease_renews_nothing(void **state)
{
    has_lease();
    asks_to_renew();
    const unsigned late = fake_called - 1;
    loses_it_and_opens();
    fake_done(&etcd, late, renewed);
    assert_string_equal(fake_said(), "");
    fake_done(&etcd, fake_called - 1, granted);
    assert_string_equal(fake_said(), "open done");
}

static void a_refusal_about_an_earlier_lease_counts_for_nothing(void **state)
{
    has_lease();
    asks_to_renew();
    const unsigned late = fake_called - 1;
    loses_it_and_opens();
    fake_done(&etcd, fake_called - 1, granted);
    (void)fake_said();
    fake_refused(&etcd, late, ETCD_NOT_FOUND, "requested lease not found");
    assert_int_equal(etcd.lease_state, LEASE_ALIVE);
    assert_string_equal(fake_said(), "");
}

static void the_next_lease_does_not_wait_for_the_keepalive_of_the_last(void **state)
{
    has_lease();
    asks_to_renew();
    loses_it_and_opens();
    fake_done(&etcd, fake_called - 1, granted);
    (void)fake_said();
    asks_to_renew();
    assert_string_equal(fake_calls[fake_called - 1].path, "/v3/lease/keepalive");
    fake_done(&etcd, fake_called - 1, renewed);
    assert_string_equal(fake_said(), "renewed");
}

static void a_shorter_lease_than_asked_for_is_not_taken(void **state)
{
    asks_to_open();
    fake_done(&etcd, fake_called - 1, "{\"TTL\":\"4\"}");
    assert_string_equal(fake_said(), "trouble etcd granted a lease of 4 s instead of 5 s: give ttl=");
    assert_int_equal(etcd.lease_state, LEASE_NONE);
}

static void it_leaves_when_the_lease_is_revoked(void **state)
{
    has_lease();
    etcd_revoke(&etcd);
    assert_string_equal(fake_calls[fake_called - 1].path, "/v3/lease/revoke");
    assert_string_equal(fake_said(), "");
    fake_done(&etcd, fake_called - 1, "{}");
    assert_string_equal(fake_said(), "left");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_grant_opens_and_a_keepalive_renews),
        TEST(what_came_after_the_sending_waits_for_the_next_keepalive),
        TEST(a_keepalive_without_a_ttl_says_that_the_lease_has_ended),
        TEST(the_end_of_an_earlier_lease_is_not_the_end_of_the_next),
        TEST(a_keepalive_of_an_earlier_lease_renews_nothing),
        TEST(a_refusal_about_an_earlier_lease_counts_for_nothing),
        TEST(the_next_lease_does_not_wait_for_the_keepalive_of_the_last),
        TEST(a_shorter_lease_than_asked_for_is_not_taken),
        TEST(it_leaves_when_the_lease_is_revoked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
