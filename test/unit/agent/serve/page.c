/* Who asks for the page of deadlines gets it, once, and is told of no lease any more; the others are told as ever. */
#define _GNU_SOURCE
#include "lib/client/serve.h"

#include "client/deadline_view.h"

static struct deadline_view view;

/* What came with the next byte, or -1. */
static int take_passed(int fd)
{
    char byte;
    int passed = -1;
    _Alignas(struct cmsghdr) char serve[CMSG_SPACE(sizeof passed)];
    struct iovec bytes = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = serve, .msg_controllen = sizeof serve};
    ssize_t got = -1;
    for (int i = 0; i < 20 && got < 0; i++) {
        go_round();
        got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    }
    assert_int_equal(got, 1);
    const struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    if (rights) memcpy(&passed, CMSG_DATA(rights), sizeof passed);
    return passed;
}

/* Asks, and has it mapped. */
static int join_with_page(void)
{
    const int fd = join();
    say(fd, "{\"id\":1,\"op\":\"hello\",\"version\":1,\"page\":true}");
    const int page = take_passed(fd);
    assert_non_null(strstr(hear(fd), "\"page\":true"));
    assert_true(page >= 0);
    view = (struct deadline_view){0};
    assert_true(deadline_view_map(&view, page));
    close(page);
    return fd;
}

static int leave(void **state)
{
    deadline_view_free(&view);
    return finish(state);
}

/* Campaigns, and is elected. Returns the event. */
static const char *lead_with_page(int fd, const char *group)
{
    char request[200];
    snprintf(request, sizeof request, "{\"op\":\"campaign\",\"group\":\"%s\"}", group);
    expect(fd, request, "{\"ok\":true}");
    return await(fd);
}

static void a_slot_sees_no_token_of_a_dropped_group_again(void **state)
{
    const int fd = join_with_page();
    const uint64_t token = (uint64_t)number_in(lead_with_page(fd, "g"), "token");
    say(fd, "{\"op\":\"resign\",\"group\":\"g\"}");
    pass(100000);
    while (try_hear(fd)) {}
    say(fd, "{\"op\":\"forget\",\"group\":\"g\"}");
    while (try_hear(fd)) {}
    assert_int_equal(t.serve->leaderships.dropped_token, token);
    assert_int_equal(number_in(lead_with_page(fd, "h"), "slot"), 0); /* the place of g */
    t.serve->leaderships.dropped_token =
        UINT64_MAX; /* as if g had been of other settings, whose tokens are higher */
    assert_null(strstr(lead_with_page(fd, "i"), "\"slot\":"));
    pass(3000);
    assert_non_null(strstr(hear(fd), "\"lease\"")); /* its deadline comes in events */
}

static void who_has_the_page_finds_its_deadline_there_and_hears_of_no_lease(void **state)
{
    const int fd = join_with_page();
    expect(fd, "{\"op\":\"campaign\",\"group\":\"billing\"}", "{\"ok\":true}");
    const char *event = await(fd);
    assert_non_null(strstr(event, "\"slot\":"));
    const uint32_t slot = (uint32_t)number_in(event, "slot");
    const uint64_t token = (uint64_t)number_in(event, "token"),
                   told = (uint64_t)number_in(event, "deadline_ns");
    assert_int_equal(deadline_view_deadline(&view, slot, token), told);
    pass(3000);
    assert_null(try_hear(fd));
    assert_true(deadline_view_deadline(&view, slot, token) > told);
    assert_true(deadline_view_deadline(&view, slot, token) > t.now);
    const int other = join();
    expect(other, "{\"op\":\"resign\",\"group\":\"billing\",\"force\":true}", "{\"ok\":true}");
    const char *stop = await(fd);
    assert_non_null(strstr(stop, "\"event\":\"stop\""));
    const uint64_t until = (uint64_t)number_in(stop, "deadline_ns");
    for (int i = 0; i < 20 && t.now + 50 * MS < until; i++) { /* it is renewed all the same */
        assert_int_equal(deadline_view_deadline(&view, slot, token), until);
        pass(20);
    }
    char line[100];
    snprintf(line, sizeof line, "{\"op\":\"stopped\",\"group\":\"billing\",\"token\":%llu}",
             (unsigned long long)token);
    say(fd, line);
    assert_non_null(strstr(await(fd), "\"event\":\"lost\""));
    assert_int_equal(deadline_view_deadline(&view, slot, token), 0);
}

/* It may have seen the old deadline pass, and taken that for a loss. */
static void a_lease_that_is_renewed_too_late_is_told(void **state)
{
    const int fd = join_with_page();
    expect(fd, "{\"op\":\"campaign\",\"group\":\"billing\"}", "{\"ok\":true}");
    const char *event = await(fd);
    const uint32_t slot = (uint32_t)number_in(event, "slot");
    const uint64_t token = (uint64_t)number_in(event, "token");
    pass(1000);
    assert_null(try_hear(fd));
    const uint64_t before = deadline_view_deadline(&view, slot, token);
    t.now = before - MS / 2;
    const char *lease = hear(fd);
    assert_non_null(strstr(lease, "\"event\":\"lease\""));
    assert_true((uint64_t)number_in(lease, "deadline_ns") > before);
    assert_int_equal(deadline_view_deadline(&view, slot, token), number_in(lease, "deadline_ns"));
}

static void who_is_hung_up_on_loses_its_slot_at_once(void **state)
{
    const int fd = join_with_page();
    expect(fd, "{\"op\":\"campaign\",\"group\":\"billing\"}", "{\"ok\":true}");
    const char *event = await(fd);
    const uint32_t slot = (uint32_t)number_in(event, "slot");
    const uint64_t token = (uint64_t)number_in(event, "token");
    assert_true(deadline_view_deadline(&view, slot, token) > t.now);
    say(fd, "no request");
    assert_true(has_ended(fd));
    assert_int_equal(deadline_view_deadline(&view, slot, token), 0);
}

static void the_page_is_given_once_and_only_to_who_is_no_candidate_yet(void **state)
{
    const int fd = join_with_page(), plain = join();
    say(fd, "{\"op\":\"hello\",\"page\":true}");
    assert_int_equal(take_passed(fd), -1);
    (void)hear(fd);
    lead(plain, "billing");
    say(plain, "{\"id\":\"late\",\"op\":\"hello\",\"page\":true}");
    for (const char *line = hear(plain);; line = await(plain)) {
        if (!strstr(line, "\"late\"")) continue;
        assert_non_null(strstr(line, "\"page\":false"));
        break;
    }
    for (int i = 0; i < 400; i++) { /* so it is told */
        const char *line = try_hear(plain);
        if (line && strstr(line, "\"event\":\"lease\"")) return;
        pass(5);
    }
    fail_msg("no lease was told");
}

static void who_gives_the_page_back_is_told_of_leases(void **state)
{
    const int fd = join_with_page();
    expect(fd, "{\"op\":\"campaign\",\"group\":\"billing\"}", "{\"ok\":true}");
    (void)await(fd);
    pass(1000);
    assert_null(try_hear(fd));
    say(fd, "{\"op\":\"hello\",\"page\":false}");
    assert_non_null(strstr(hear(fd), "\"page\":false"));
    assert_non_null(strstr(hear(fd), "\"event\":\"lease\""));
    say(fd, "{\"op\":\"hello\",\"page\":true}");
    assert_non_null(strstr(await(fd), "\"page\":false")); /* once was enough */
}

static void who_does_not_ask_hears_nothing_of_pages(void **state)
{
    const int fd = join();
    say(fd, "{\"op\":\"hello\",\"version\":1}");
    assert_int_equal(take_passed(fd), -1);
    assert_null(strstr(hear(fd), "page"));
    expect(fd, "{\"op\":\"campaign\",\"group\":\"billing\"}", "{\"ok\":true}");
    assert_null(strstr(await(fd), "slot"));
    expect_part(fd, "{\"op\":\"hello\",\"page\":1}", "\"bad-request\"");
}

#define PAGED(name) cmocka_unit_test_setup_teardown(name, begin, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAGED(a_slot_sees_no_token_of_a_dropped_group_again),
        PAGED(who_has_the_page_finds_its_deadline_there_and_hears_of_no_lease),
        PAGED(a_lease_that_is_renewed_too_late_is_told),
        PAGED(who_is_hung_up_on_loses_its_slot_at_once),
        PAGED(the_page_is_given_once_and_only_to_who_is_no_candidate_yet),
        PAGED(who_gives_the_page_back_is_told_of_leases),
        TEST(who_does_not_ask_hears_nothing_of_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
