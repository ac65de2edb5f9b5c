/*
 * Thousands of groups through one elector: each has its own deadline, costs a few hundred bytes, and neither a dispatch
 * nor a question takes longer for the others.
 */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>

#include "agent/serve/deadline_page.h"
#include "base/clock.h"
#include "client/group_state.h"
#include "elector.h"
#include "lib/client/fake_agent.h"

enum { GROUPS = 10000, LONG_MS = 30000, BYTES_EACH = 512 };

static struct fake_agent agent;
static struct deadline_page *page;
static elector *e;
static size_t elected, lost, done;
static char last_lost[64];

static void hear(void *context, const elector_event *event)
{
    assert_true(event->status == ELECTOR_OK);
    elected += event->type == ELECTOR_ELECTED;
    lost += event->type == ELECTOR_LOST_OFFICE;
    done += event->type == ELECTOR_DONE;
    if (event->type == ELECTOR_LOST_OFFICE) snprintf(last_lost, sizeof last_lost, "%s", event->group);
}

static const char *name_of(int i)
{
    static char name[32];
    snprintf(name, sizeof name, "shard-%d", i);
    return name;
}

/* The deadline of group i is in slot i; that of group 4711 passes. */
static void elect(int i, uint64_t deadline_ns)
{
    char line[200];
    deadline_page_set_deadline(page, (uint32_t)i, deadline_ns);
    deadline_page_occupy(page, (uint32_t)i, (uint64_t)i + 1, (uint32_t)i);
    snprintf(line, sizeof line,
             "{\"event\":\"elected\",\"group\":\"%s\",\"token\":%d,\"deadline_ns\":%llu,\"slot\":%d}",
             name_of(i), i + 1, (unsigned long long)deadline_ns, i);
    fake_say(&agent, line);
}

static void ten_thousand_groups_lead_and_one_is_lost(void **state)
{
    page = deadline_page_new();
    assert_true(page && fake_start(&agent));
    fake_promise_page(&agent, deadline_page_fd(page));
    assert_int_equal(elector_open(agent.url, &e), ELECTOR_OK);
    elector_on_event(e, hear, NULL);
    while (!elector_is_leader(e, "first")) { /* so that buffers are there before we count */
        (void)elector_campaign(e, "first", NULL, 0, NULL);
        (void)elector_wait(e, LONG_MS);
        if (done)
            fake_say(&agent, "{\"event\":\"elected\",\"group\":\"first\",\"token\":1,\"deadline_ns\":null}");
        if (done) (void)elector_wait(e, LONG_MS);
    }
    const struct mallinfo2 before = mallinfo2();
    elected = done = 0;
    for (int i = 0; i < GROUPS; i++)
        assert_int_equal(elector_campaign(e, name_of(i), NULL, 0, NULL),
                         ELECTOR_TIMEOUT); /* none is dispatched */
    while (done < GROUPS) assert_int_equal(elector_wait(e, LONG_MS), ELECTOR_OK);
    const uint64_t far = clock_boottime_ns() + 600 * NS_PER_S;
    for (int i = 0; i < GROUPS; i++) {
        elect(i, far + (uint64_t)i);
        assert_int_equal(elector_dispatch(e), ELECTOR_OK);
    }
    while (elected < GROUPS) assert_int_equal(elector_wait(e, LONG_MS), ELECTOR_OK);
    pthread_mutex_lock(&agent.mutex);
    json_array_clear(agent.asked); /* it is in this process, and not what we count */
    pthread_mutex_unlock(&agent.mutex);
    const struct mallinfo2 after = mallinfo2();
    const size_t each = (after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) / GROUPS;
    print_message("%zu bytes a group\n", each);
#ifndef ELECTOR_SANITIZED
    assert_true(each <= BYTES_EACH);
#endif
    for (int i = 0; i < GROUPS; i++) {
        assert_int_equal(elector_token(e, name_of(i)), i + 1);
        assert_int_equal(elector_deadline(e, name_of(i)), far + (uint64_t)i);
    }
    deadline_page_set_deadline(page, 4711, clock_boottime_ns()); /* not renewed; the others are */
    assert_false(elector_is_leader(e, "shard-4711"));
    while (lost == 0) (void)elector_wait(e, 10);
    assert_string_equal(last_lost, "shard-4711");
    for (int i = 0; i < 500; i++) assert_int_equal(elector_dispatch(e), ELECTOR_OK);
    assert_int_equal(lost, 1);
    elector_close(e);
    fake_stop(&agent);
    deadline_page_free(page);
}

/* ---- The order of deadlines ---- */

static void add_term(elector *owner, struct group_state *o, uint64_t deadline_ns)
{
    assert_true(deadlines_reserve(owner, owner->heap_count + 1));
    o->term_deadline_ns = deadline_ns;
    deadlines_put(owner, o);
}

static void the_first_deadline_is_on_top_whatever_moves(void **state)
{
    enum { TERMS = 200, STEPS = 20000 };
    static elector owner;
    static struct group_state *terms[TERMS];
    uint64_t dice = 12345;
    for (int i = 0; i < TERMS; i++) terms[i] = calloc(1, sizeof **terms + 1);
    for (int step = 0; step < STEPS; step++) {
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        struct group_state *o = terms[(dice >> 33) % TERMS];
        if ((dice >> 60) < 5)
            deadlines_remove(&owner, o);
        else
            add_term(&owner, o, dice >> 40 & 0xffff);
        uint64_t first = UINT64_MAX;
        for (int i = 0; i < TERMS; i++)
            if (terms[i]->heap_place && terms[i]->term_deadline_ns < first) first = terms[i]->term_deadline_ns;
        assert_true(owner.heap_count ? owner.heap[0]->term_deadline_ns == first : first == UINT64_MAX);
    }
    for (int i = 0; i < TERMS; i++) free(terms[i]);
    free(owner.heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_groups_lead_and_one_is_lost),
        cmocka_unit_test(the_first_deadline_is_on_top_whatever_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
