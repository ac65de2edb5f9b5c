/*
 * Any thread may ask who leads while another dispatches. Meant for a build with -fsanitize=thread; without one it still
 * sees a token that goes back, or one without a tenure.
 */
#define _GNU_SOURCE /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>

#include "elector.h"
#include "lib/client/fake_agent.h"

enum { TERMS = 200, GROUPS = 20 };

static struct fake_agent agent;
static elector *e;
static atomic_bool over;

struct asker {
    pthread_t thread;
    _Atomic uint64_t seen; /* the last token */
    atomic_int wrong;
};

static void *ask(void *context)
{
    struct asker *me = context;
    while (!atomic_load(&over)) {
        const uint64_t token = elector_token(e, "jobs");
        if (token != 0 && token < atomic_load(&me->seen)) atomic_fetch_add(&me->wrong, 1);
        if (token != 0) atomic_store(&me->seen, token);
        if (elector_is_leader(e, "g7") || elector_deadline(e, "g8") != 0) atomic_fetch_add(&me->wrong, 1);
    }
    return NULL;
}

static bool all_have_seen(struct asker *askers, uint64_t token)
{
    for (int i = 0; i < 3000; i++) {
        if (atomic_load(&askers[0].seen) == token && atomic_load(&askers[1].seen) == token) return true;
        poll(NULL, 0, i > 100 ? 10 : 0);
    }
    return false;
}

static void count(void *context, const elector_event *event)
{
    *(int *)context += event->type == ELECTOR_LOST_OFFICE;
}

static void any_thread_may_ask_while_another_dispatches(void **state)
{
    static struct asker askers[2];
    int lost = 0;
    char line[300];
    assert_true(fake_start(&agent));
    assert_int_equal(elector_open(agent.url, &e), ELECTOR_OK);
    elector_on_event(e, count, &lost);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
    assert_int_equal(elector_campaign(e, "jobs", NULL, 0, NULL), ELECTOR_TIMEOUT);
    json_decref(fake_asked(&agent, "campaign"));
    for (int term = 1; term <= TERMS; term++) {
        if (term % (TERMS / GROUPS) == 0) { /* the list of groups grows meanwhile */
            snprintf(line, sizeof line, "g%d", term / (TERMS / GROUPS));
            assert_int_equal(elector_campaign(e, line, NULL, 0, NULL), ELECTOR_TIMEOUT);
        }
        snprintf(line, sizeof line,
                 "{\"event\":\"elected\",\"group\":\"jobs\",\"token\":%d,\"deadline_ns\":4000000000000000000}\n"
                 "{\"event\":\"lease\",\"group\":\"jobs\",\"token\":%d,\"deadline_ns\":4100000000000000000}",
                 term, term);
        fake_say(&agent, line);
        for (int i = 0; i < 3000 && elector_token(e, "jobs") != (uint64_t)term; i++) elector_wait(e, 10);
        assert_true(all_have_seen(askers, (uint64_t)term));
        snprintf(line, sizeof line, "{\"event\":\"lost\",\"group\":\"jobs\",\"token\":%d,\"reason\":\"x\"}",
                 term);
        fake_say(&agent, line);
        for (int i = 0; i < 3000 && lost < term; i++) elector_wait(e, 10);
        assert_int_equal(lost, term);
    }
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(askers[i].thread, NULL);
        assert_int_equal(askers[i].wrong, 0);
    }
    elector_close(e);
    fake_stop(&agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_thread_may_ask_while_another_dispatches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
