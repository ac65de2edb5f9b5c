/*
 * Leading by the page of real agents: two of them on loopback, a candidate of the library at each; what it says when the
 * leadership is handed over, when the agent is stopped, and when it is killed.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/state/record.h"
#include "base/clock.h"
#include "client/engine.h"

#include "lib/scratch.h"

enum { AGENTS = 2, LONG_S = 60 };

static struct member {
    pid_t pid;
    struct config config;
    elector *e;
    elector_event_type last; /* that was heard */
    int elected, lost;
} members[AGENTS];

static char folder[64];

/* ---- Two agents ---- */

/* Held until all are chosen, so that they differ. */
static unsigned free_port(int *fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    *fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(bind(*fd, (const struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(*fd, (struct sockaddr *)&address, &size), 0);
    return ntohs(address.sin_port);
}

static void configure(struct member *m, char name, const unsigned ports[AGENTS])
{
    char path[128], text[512], bytes[1024];
    snprintf(path, sizeof path, "%s/%c.conf", folder, name);
    const int size =
        snprintf(bytes, sizeof bytes,
                 "[cluster]\nname = test\n[member a]\nid = 1\naddress = 127.0.0.1:%u\n"
                 "[member b]\nid = 2\naddress = 127.0.0.1:%u\n"
                 "[agent]\nself = %c\nsocket = %s/%c.sock\nstate = %s/%c.state\nrecorder = off\n"
                 "[group calm]\nlease = 5s\n", /* where a busy machine must not cost the leadership */
                 ports[0], ports[1], name, folder, name, folder, name);
    if (!config_parse(&m->config, path, bytes, (size_t)size, false, text, sizeof text)) fail_msg("%s", text);
    struct record_identity identity = {.member = (uint32_t)(name - 'a' + 1)};
    memcpy(identity.cluster_id, m->config.cluster_id, sizeof identity.cluster_id);
    if (!record_create(m->config.state, &identity, text, sizeof text)) fail_msg("%s", text);
}

static void begin_agent(struct member *m)
{
    m->pid = fork();
    assert_true(m->pid >= 0);
    if (m->pid > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(agent_run(&m->config, NULL, NULL));
}

static void end_agent(struct member *m)
{
    if (m->pid <= 0) return;
    kill(m->pid, SIGKILL);
    (void)waitpid(m->pid, NULL, 0);
    m->pid = 0;
}

static void hear(void *context, const elector_event *event)
{
    struct member *m = context;
    if (event->type > ELECTOR_NEW_LEADER) return;
    m->last = event->type;
    m->elected += event->type == ELECTOR_ELECTED;
    m->lost += event->type == ELECTOR_LOST_OFFICE;
}

static void connect_to(struct member *m)
{
    char url[150];
    elector_status status = ELECTOR_UNAVAILABLE;
    snprintf(url, sizeof url, "unix:%s", m->config.socket);
    for (int i = 0; i < LONG_S * 20 && status != ELECTOR_OK; i++) {
        elector_close(m->e);
        status = elector_open(url, &m->e);
        if (status != ELECTOR_OK) usleep(50000);
    }
    if (status != ELECTOR_OK) fail_msg("%s", elector_message(m->e));
    elector_on_event(m->e, hear, m);
}

static int start(void **state)
{
    unsigned ports[AGENTS];
    int held[AGENTS];
    memset(members, 0, sizeof members);
    if (!scratch_folder(folder, sizeof folder, "page")) return -1;
    for (int i = 0; i < AGENTS; i++) ports[i] = free_port(&held[i]);
    for (int i = 0; i < AGENTS; i++) configure(&members[i], (char)('a' + i), ports);
    for (int i = 0; i < AGENTS; i++) close(held[i]);
    for (int i = 0; i < AGENTS; i++) begin_agent(&members[i]);
    for (int i = 0; i < AGENTS; i++) connect_to(&members[i]);
    return 0;
}

static int stop(void **state)
{
    char history[sizeof members[0].config.state + 16];
    for (int i = 0; i < AGENTS; i++) {
        struct member *m = &members[i];
        end_agent(m);
        elector_close(m->e);
        (void)unlink(m->config.socket);
        (void)unlink(m->config.state);
        snprintf(history, sizeof history, "%s.history", m->config.state);
        (void)unlink(history);
    }
    return rmdir(folder);
}

/* ---- Leading ---- */

static void campaign(struct member *m, const char *group)
{
    assert_int_equal(elector_campaign(m->e, group, NULL, LONG_S * 1000, NULL), ELECTOR_OK);
}

/* Both go on hearing until one of them has heard that. */
static void await(const struct member *m, elector_event_type what)
{
    const uint64_t end = clock_boottime_ns() + LONG_S * UINT64_C(1000000000);
    while (m->last != what) {
        for (int i = 0; i < AGENTS; i++)
            if (elector_fd(members[i].e) >= 0) (void)elector_wait(members[i].e, 5);
        if (clock_boottime_ns() > end) fail_msg("nobody said so for long");
    }
}

/* Asks until it is no leader any more, and reads no line meanwhile. The deadline that was last seen. */
static uint64_t lead_to_the_end(const struct member *m)
{
    uint64_t last = 0;
    for (const uint64_t end = clock_boottime_ns() + LONG_S * UINT64_C(1000000000); clock_boottime_ns() < end;
         usleep(1000)) {
        const uint64_t seen = elector_deadline(m->e, "jobs");
        if (!elector_is_leader(m->e, "jobs")) return last;
        if (seen) last = seen;
    }
    fail_msg("it led for ever");
    return 0;
}

static void leads_on_without_hearing_anything(void **state)
{
    struct member *a = &members[0];
    campaign(a, "calm");
    const uint64_t first = elector_deadline(a->e, "calm");
    for (int i = 0; i < LONG_S * 100 && elector_deadline(a->e, "calm") <= first; i++) usleep(10000);
    assert_true(elector_is_leader(a->e, "calm"));
    assert_true(elector_deadline(a->e, "calm") > first);
    (void)elector_dispatch(a->e);
    assert_int_equal(a->elected, 1);
    assert_int_equal(a->lost, 0);
}

static void leads_no_more_once_it_has_handed_over(void **state)
{
    struct member *a = &members[0], *b = &members[1];
    campaign(a, "calm");
    assert_int_equal(elector_campaign(b->e, "calm", NULL, 0, NULL), ELECTOR_TIMEOUT);
    elector_status status = ELECTOR_REFUSED; /* until a has heard that b stands */
    for (int i = 0; i < LONG_S * 20 && status != ELECTOR_OK; i++) {
        status = engine_transfer(a->e, "calm", "b");
        if (status != ELECTOR_OK) (void)elector_wait(a->e, 50);
    }
    assert_int_equal(status, ELECTOR_OK);
    await(a, ELECTOR_STOP);
    assert_false(elector_is_leader(b->e, "calm"));
    assert_int_equal(elector_stopped(a->e, "calm"), ELECTOR_OK);
    assert_false(elector_is_leader(a->e, "calm"));
    await(b, ELECTOR_ELECTED);
    assert_true(elector_is_leader(b->e, "calm"));
    await(a, ELECTOR_LOST_OFFICE);
    assert_false(elector_is_leader(a->e, "calm"));
    assert_int_equal(elector_token(a->e, "calm"), 0);
}

static void leads_no_longer_than_the_deadline_when_its_agent_is_stopped(void **state)
{
    struct member *a = &members[0];
    campaign(a, "jobs");
    assert_int_equal(kill(a->pid, SIGSTOP), 0);
    const uint64_t last = lead_to_the_end(a);
    assert_true(last > 0 && clock_boottime_ns() >= last);
    await(a, ELECTOR_LOST_OFFICE);
    assert_int_equal(a->lost, 1);
    assert_int_equal(kill(a->pid, SIGCONT), 0);
    await(a, ELECTOR_ELECTED);
    assert_true(elector_is_leader(a->e, "jobs"));
    assert_int_equal(a->elected, 2);
}

static void leads_no_longer_than_the_deadline_when_its_agent_is_killed(void **state)
{
    struct member *a = &members[0];
    campaign(a, "jobs");
    end_agent(a);
    const uint64_t last = lead_to_the_end(a);
    assert_true(last > 0 && clock_boottime_ns() >= last);
    await(a, ELECTOR_LOST_OFFICE);
    assert_false(elector_is_leader(a->e, "jobs"));
    begin_agent(a); /* another life, another page */
    connect_to(a);
    campaign(a, "jobs");
    assert_true(elector_is_leader(a->e, "jobs"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(leads_on_without_hearing_anything),
        TEST(leads_no_more_once_it_has_handed_over),
        TEST(leads_no_longer_than_the_deadline_when_its_agent_is_stopped),
        TEST(leads_no_longer_than_the_deadline_when_its_agent_is_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
