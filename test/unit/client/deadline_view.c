/*
 * elector.h over an agent that publishes its deadlines on a page: leading is read there, without a word from the agent, in
 * every thread; and what is no page does no harm.
 */
#define _GNU_SOURCE /* memfd_create */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "agent/serve/deadline_page.h"
#include "base/clock.h"
#include "client/deadline_view.h"
#include "elector.h"
#include "lib/client/fake_agent.h"
#include "lib/give_up.h"

#if defined(__SANITIZE_THREAD__) /* gcc */
#define HAS_THREAD_SANITIZER
#elif defined(__has_feature) /* clang */
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER
#endif
#endif

#ifdef HAS_THREAD_SANITIZER
/* The sanitizer takes the mapping for a write. src/client/deadline_view.c says why it is none, at map_over(), and
 * a_page_replaced_under_its_readers_tells_nothing_false() tries it. */
// NOLINTNEXTLINE: the sanitizer's name
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:map_over";
}
#endif

enum { SLOT = 17, TENURES = 300 };
#define S UINT64_C(1000000000)

static struct fake_agent agent;
static struct deadline_page *page;
static elector *e;
static char heard[4096];
static bool is_entered; /* the campaign has been answered */

static void hear(void *context, const elector_event *event)
{
    static const char *const names[] = {"", "elected", "stop", "lost", "leader"};
    char text[200];
    is_entered = is_entered || event->call == ELECTOR_CALL_CAMPAIGN;
    if (event->type > ELECTOR_NEW_LEADER) return;
    const bool has_reason = event->type == ELECTOR_STOP || event->type == ELECTOR_LOST_OFFICE;
    snprintf(text, sizeof text, "%s %llu%s%s; ", names[event->type], (unsigned long long)event->token,
             has_reason ? " " : "", has_reason ? event->text : "");
    strncat(heard, text, sizeof heard - strlen(heard) - 1);
}

static int start(void **state)
{
    heard[0] = '\0';
    is_entered = false;
    page = deadline_page_new();
    if (!page || !fake_start(&agent)) return -1;
    fake_promise_page(&agent, deadline_page_fd(page));
    if (elector_open(agent.url, &e) != ELECTOR_OK) return -1;
    elector_on_event(e, hear, NULL);
    return elector_wait(e, give_up_ms()) == ELECTOR_OK ? 0 : -1; /* connected */
}

static int stop(void **state)
{
    elector_close(e);
    e = NULL;
    fake_stop(&agent);
    deadline_page_free(page);
    return 0;
}

static void say(const char *event, uint64_t token, uint64_t deadline_ns, const char *rest)
{
    char line[300];
    snprintf(line, sizeof line, "{\"event\":\"%s\",\"group\":\"jobs\",\"token\":%llu,\"deadline_ns\":%llu%s}",
             event, (unsigned long long)token, (unsigned long long)deadline_ns, rest);
    fake_say(&agent, line);
}

static void hears(const char *expected)
{
    for (int i = 0; i < give_up_ms() / 10 && strcmp(heard, expected) != 0; i++) elector_wait(e, 10);
    assert_string_equal(heard, expected);
    heard[0] = '\0';
}

static void publish(uint64_t token, uint64_t deadline_ns)
{
    char rest[40];
    deadline_page_set_deadline(page, SLOT, deadline_ns);
    deadline_page_occupy(page, SLOT, token, SLOT);
    snprintf(rest, sizeof rest, ",\"slot\":%d", SLOT);
    say("elected", token, deadline_ns, rest);
}

static void become_leader(uint64_t token, uint64_t deadline_ns)
{
    char wanted[40];
    const elector_status status = elector_campaign(e, "jobs", NULL, 0, NULL);
    assert_true(status == ELECTOR_TIMEOUT);
    while (!is_entered) assert_int_equal(elector_wait(e, give_up_ms()), ELECTOR_OK);
    publish(token, deadline_ns);
    snprintf(wanted, sizeof wanted, "elected %d; ", (int)token);
    hears(wanted);
}

/* ---- The ordinary life ---- */

static void leads_by_the_page_without_a_word_of_the_agent(void **state)
{
    const uint64_t first = clock_boottime_ns() + 60 * S;
    json_t *request = fake_asked(&agent, "hello");
    assert_true(json_is_true(json_object_get(request, "page")));
    json_decref(request);
    become_leader(7, first);
    assert_true(elector_is_leader(e, "jobs"));
    assert_false(elector_is_leader(e, "other"));
    assert_int_equal(elector_token(e, "jobs"), 7);
    assert_int_equal(elector_deadline(e, "jobs"), first);
    deadline_page_set_deadline(page, SLOT, first + S);
    assert_int_equal(elector_deadline(e, "jobs"), first + S);
    deadline_page_set_deadline(page, SLOT, clock_boottime_ns()); /* nobody has moved it on */
    assert_false(elector_is_leader(e, "jobs"));
    assert_int_equal(elector_token(e, "jobs"), 0);
}

static void the_term_and_the_loop_have_the_newest_deadline(void **state)
{
    become_leader(7, clock_boottime_ns() + 60 * S);
    const uint64_t later = clock_boottime_ns() + 1000 * S;
    deadline_page_set_deadline(page, SLOT, later);
    assert_true(elector_timeout_ms(e) > 900000);
    assert_int_equal(elector_campaign(e, "jobs", NULL, 0, NULL), ELECTOR_OK);
    assert_int_equal(elector_deadline(e, "jobs"), later);
    assert_int_equal(elector_dispatch(e), ELECTOR_OK);
    assert_string_equal(heard, "");
}

static void a_slot_that_is_taken_back_leads_no_more_and_the_reason_follows(void **state)
{
    become_leader(7, clock_boottime_ns() + 60 * S);
    deadline_page_vacate(page, SLOT);
    assert_false(elector_is_leader(e, "jobs"));
    assert_int_equal(elector_dispatch(e), ELECTOR_OK);
    assert_string_equal(heard, "");
    say("lost", 7, 0, ",\"reason\":\"preempted\"");
    hears("lost 7 preempted; ");
    become_leader(8, clock_boottime_ns() + 60 * S);
    assert_int_equal(elector_token(e, "jobs"), 8);
}

static void who_hears_late_of_a_new_tenure_does_not_take_it_for_its_own(void **state)
{
    become_leader(7, clock_boottime_ns() + 60 * S);
    deadline_page_vacate(page, SLOT);
    deadline_page_set_deadline(page, SLOT, clock_boottime_ns() + 60 * S);
    deadline_page_occupy(page, SLOT, 8, SLOT); /* ours or another client's: nobody has said so */
    assert_false(elector_is_leader(e, "jobs"));
}

static void events_come_in_their_order_and_stop_has_the_deadline(void **state)
{
    const uint64_t deadline_ns = clock_boottime_ns() + 60 * S;
    become_leader(7, deadline_ns);
    deadline_page_freeze(page, SLOT, deadline_ns);
    say("stop", 7, deadline_ns, ",\"reason\":\"transferred\"");
    hears("stop 7 transferred; ");
    assert_true(elector_is_leader(e, "jobs"));
    assert_int_equal(elector_stopped(e, "jobs"), ELECTOR_OK);
    assert_false(elector_is_leader(e, "jobs")); /* though the page has it still */
    say("lost", 7, 0, ",\"reason\":\"transferred\"");
    hears("lost 7 transferred; ");
}

/* It asks to stop what has been handed over: it is answered, and nobody else hears of it. */
static void an_agent_that_cannot_hand_over_at_once_is_told_that_the_work_has_stopped(void **state)
{
    const uint64_t deadline_ns = clock_boottime_ns() + 60 * S;
    become_leader(7, deadline_ns);
    assert_int_equal(elector_hand_over(e, "jobs", "b"), ELECTOR_OK);
    say("stop", 7, deadline_ns, ",\"reason\":\"transferred\"");
    say("lost", 7, 0, ",\"reason\":\"transferred\"");
    hears("lost 7 transferred; ");
    json_t *answer = fake_asked(&agent, "stopped");
    assert_non_null(answer);
    assert_int_equal(json_integer_value(json_object_get(answer, "token")), 7);
    json_decref(answer);
}

static void a_deadline_that_passes_is_a_loss_until_the_agent_says_otherwise(void **state)
{
    become_leader(7, clock_boottime_ns() + 3600 * S); /* much later than this test gives up */
    deadline_page_set_deadline(page, SLOT, clock_boottime_ns());
    hears("lost 7 the deadline has passed; ");
    const uint64_t later = clock_boottime_ns() + 60 * S;
    deadline_page_set_deadline(page, SLOT, later); /* it was slow */
    assert_false(elector_is_leader(e, "jobs"));
    say("lease", 7, later, "");
    hears("elected 7; ");
    assert_int_equal(elector_deadline(e, "jobs"), later);
    deadline_page_set_deadline(page, SLOT, later + S);
    assert_int_equal(elector_deadline(e, "jobs"), later + S);
}

static void an_agent_that_is_gone_moves_nothing_on(void **state)
{
    become_leader(7, clock_boottime_ns() + 60 * S);
    fake_hang_up(&agent);
    assert_true(elector_is_leader(e, "jobs")); /* nobody else can lead before the deadline */
    hears("lost 7 the agent is gone; ");
    assert_false(elector_is_leader(e, "jobs"));
}

static void every_group_is_found_by_its_name(void **state)
{
    char name[64];
    for (int i = 0; i < 256; i++) {
        snprintf(name, sizeof name, "%.*s%d", i % 8 * 8,
                 "a-name-that-is-as-long-as-many-are-and-longer-than-most", i);
        assert_int_equal(elector_campaign(e, name, NULL, 0, NULL), ELECTOR_TIMEOUT);
        deadline_page_set_deadline(page, (uint32_t)i, clock_boottime_ns() + 60 * S);
        deadline_page_occupy(page, (uint32_t)i, (uint64_t)i + 1, (uint32_t)i);
        char line[300];
        snprintf(
            line, sizeof line,
            "{\"event\":\"elected\",\"group\":\"%s\",\"token\":%d,\"deadline_ns\":4000000000000000000,\"slot\":%d}",
            name, i + 1, i);
        fake_say(&agent, line);
        assert_int_equal(elector_dispatch(e), ELECTOR_OK); /* what nobody reads would fill the socket */
    }
    for (int i = 0; i < 256; i++) {
        snprintf(name, sizeof name, "%.*s%d", i % 8 * 8,
                 "a-name-that-is-as-long-as-many-are-and-longer-than-most", i);
        for (int k = 0; k < give_up_ms() / 10 && !elector_is_leader(e, name); k++) elector_wait(e, 10);
        assert_int_equal(elector_token(e, name), i + 1);
    }
    assert_false(elector_is_leader(e, "a-name-that-is-as-long-as-many-are"));
    assert_false(elector_is_leader(e, ""));
}

/* ---- What is no page ---- */

static elector *open_again(int fd)
{
    elector_close(e);
    is_entered = false;
    fake_promise_page(&agent, fd);
    assert_int_equal(elector_open(agent.url, &e), ELECTOR_OK);
    elector_on_event(e, hear, NULL);
    assert_int_equal(elector_wait(e, give_up_ms()), ELECTOR_OK); /* connected */
    return e;
}

/* It gives it back, and leads by what it is told. */
static void is_not_believed(int fd)
{
    open_again(fd);
    json_t *request = fake_asked(&agent, "hello");
    assert_true(json_is_false(json_object_get(request, "page")));
    json_decref(request);
    become_leader(7, clock_boottime_ns() + 200 * S);
    deadline_page_vacate(page, SLOT); /* which is not where it looks */
    assert_true(elector_is_leader(e, "jobs"));
    say("lease", 7, clock_boottime_ns() + 600 * S, "");
    for (int i = 0; i < give_up_ms() / 10 && elector_timeout_ms(e) < 300000; i++) elector_wait(e, 10);
    assert_true(elector_deadline(e, "jobs") > clock_boottime_ns() + 300 * S);
    if (fd >= 0) close(fd);
}

static int file_of(off_t size)
{
    const int fd = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(fd, size), 0);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE), 0);
    return fd;
}

static void what_is_no_page_does_no_harm(void **state)
{
    struct deadline_header header = {.magic = DEADLINE_MAGIC,
                                     .version = DEADLINE_VERSION + 1,
                                     .size = sizeof header,
                                     .cell_count = DEADLINE_CELLS,
                                     .slot_count = DEADLINE_SLOTS};
    const int newer = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(pwrite(newer, &header, sizeof header, 0), sizeof header);
    assert_int_equal(ftruncate(newer, sizeof(struct deadline_map)), 0);
    assert_int_equal(fcntl(newer, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE), 0);
    is_not_believed(newer);
    is_not_believed(-1);
    is_not_believed(open("/dev/null", O_RDONLY | O_CLOEXEC));
    is_not_believed(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    is_not_believed(file_of(4096));
    is_not_believed(file_of(sizeof(struct deadline_map)));
}

static void a_slot_without_a_page_means_nothing(void **state)
{
    elector_close(e);
    is_entered = false;
    agent.bounds_page = false; /* as an agent of before */
    assert_int_equal(elector_open(agent.url, &e), ELECTOR_OK);
    elector_on_event(e, hear, NULL);
    assert_int_equal(elector_wait(e, give_up_ms()), ELECTOR_OK); /* connected */
    become_leader(7, clock_boottime_ns() + 60 * S);
    deadline_page_vacate(page, SLOT);
    assert_true(elector_is_leader(e, "jobs"));
}

static void a_slot_that_there_is_not_ends_the_connection(void **state)
{
    static const char *const slots[] = {"1048576", "-1", "\"3\"", "null"};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        char rest[40];
        open_again(deadline_page_fd(page));
        assert_int_equal(elector_campaign(e, "jobs", NULL, 0, NULL), ELECTOR_TIMEOUT);
        snprintf(rest, sizeof rest, ",\"slot\":%s", slots[i]);
        say("elected", 7, clock_boottime_ns() + 60 * S, rest);
        elector_status status = ELECTOR_OK;
        for (int k = 0; k < give_up_ms() / 10 && status != ELECTOR_LOST; k++) status = elector_wait(e, 10);
        assert_int_equal(status, ELECTOR_LOST);
        assert_false(elector_is_leader(e, "jobs"));
    }
}

static int count_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++) count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void what_else_is_passed_is_closed(void **state)
{
    const int before = count_descriptors();
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&agent.mutex);
        fake_write_with(agent.client, "{\"event\":\"gossip\"}\n", deadline_page_fd(page));
        pthread_mutex_unlock(&agent.mutex);
    }
    become_leader(7, clock_boottime_ns() + 60 * S);
    elector_close(e);
    e = NULL;
    assert_true(fake_is_left(&agent));
    assert_true(count_descriptors() < before);
}

/* ---- Threads ---- */

static atomic_bool over;
static _Atomic uint64_t taken_back; /* tokens up to this one lead no more */

struct asker {
    pthread_t thread;
    _Atomic uint64_t seen;
    atomic_int wrong;
};

static void *ask(void *context)
{
    struct asker *me = context;
    while (!atomic_load(&over)) {
        const uint64_t gone = atomic_load(&taken_back), token = elector_token(e, "jobs");
        if (token == 0) continue;
        if (token <= gone || token < atomic_load(&me->seen)) atomic_fetch_add(&me->wrong, 1);
        atomic_store(&me->seen, token);
    }
    return NULL;
}

/* The agent takes it back, elects, and now and then is killed: then it is another page, with other tenures on it. */
/* Until the agent has answered. */
static void enter(void)
{
    is_entered = false;
    assert_int_equal(elector_campaign(e, "jobs", NULL, 0, NULL), ELECTOR_TIMEOUT);
    while (!is_entered) assert_int_equal(elector_wait(e, give_up_ms()), ELECTOR_OK);
}

static void any_thread_may_ask_while_pages_come_and_go(void **state)
{
    static struct asker askers[2];
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
    enter();
    for (uint64_t token = 1; token <= TENURES; token++) {
        publish(token, clock_boottime_ns() + 600 * S);
        for (int i = 0; i < give_up_ms() / 10 && elector_token(e, "jobs") != token; i++) elector_wait(e, 10);
        assert_int_equal(elector_token(e, "jobs"), token);
        deadline_page_vacate(page, SLOT);
        atomic_store(&taken_back, token);
        if (token % 10) {
            say("lost", token, 0, ",\"reason\":\"x\"");
            continue;
        }
        struct deadline_page *other = deadline_page_new(); /* where others lead, with tokens that were ours */
        for (uint32_t slot = 0; slot < 2 * SLOT; slot++) {
            deadline_page_set_deadline(other, slot, clock_boottime_ns() + 600 * S);
            deadline_page_occupy(other, slot, token, slot);
        }
        fake_hang_up(&agent);
        while (elector_wait(e, give_up_ms()) != ELECTOR_LOST) {}
        assert_true(fake_is_left(&agent));
        fake_promise_page(&agent, deadline_page_fd(other));
        enter();
        deadline_page_free(page);
        page = other;
    }
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(askers[i].thread, NULL);
        assert_int_equal(askers[i].wrong, 0);
    }
}

enum { SWAPS = 20000, RIGHT = 4711, WRONG = 815 };
static struct deadline_view swapped;
static atomic_uint answers, lies;

static void *read_on(void *context)
{
    while (!atomic_load(&over)) {
        const uint64_t deadline = deadline_view_deadline(&swapped, SLOT, 7);
        atomic_fetch_add(deadline == RIGHT ? &answers : &lies, deadline != 0);
    }
    return context;
}

/* The page of one agent, then zeros, then that of another, whose cell of the same number is that of another term. */
static void a_page_replaced_under_its_readers_tells_nothing_false(void **state)
{
    struct deadline_page *other = deadline_page_new();
    pthread_t readers[2];
    assert_non_null(other);
    deadline_page_set_deadline(page, SLOT, RIGHT);
    deadline_page_occupy(page, SLOT, 7, SLOT);
    deadline_page_set_deadline(other, SLOT, WRONG);
    deadline_page_occupy(other, SLOT, 9, SLOT);
    deadline_page_occupy(other, SLOT + 1, 7, SLOT);
    assert_true(deadline_view_map(&swapped, deadline_page_fd(page)));
    atomic_store(&over, false);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&readers[i], NULL, read_on, NULL), 0);
    while (atomic_load(&answers) == 0) {}
    for (int i = 0; i < SWAPS; i++) {
        deadline_view_clear(&swapped);
        assert_true(deadline_view_map(&swapped, deadline_page_fd(page)));
    }
    assert_true(deadline_view_map(&swapped, deadline_page_fd(other)));
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++) pthread_join(readers[i], NULL);
    assert_int_equal(deadline_view_deadline(&swapped, SLOT, 7), 0);
    assert_int_equal(atomic_load(&lies), 0);
    deadline_view_free(&swapped);
    deadline_page_free(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(leads_by_the_page_without_a_word_of_the_agent),
        TEST(the_term_and_the_loop_have_the_newest_deadline),
        TEST(a_slot_that_is_taken_back_leads_no_more_and_the_reason_follows),
        TEST(who_hears_late_of_a_new_tenure_does_not_take_it_for_its_own),
        TEST(events_come_in_their_order_and_stop_has_the_deadline),
        TEST(an_agent_that_cannot_hand_over_at_once_is_told_that_the_work_has_stopped),
        TEST(a_deadline_that_passes_is_a_loss_until_the_agent_says_otherwise),
        TEST(an_agent_that_is_gone_moves_nothing_on),
        TEST(every_group_is_found_by_its_name),
        TEST(what_is_no_page_does_no_harm),
        TEST(a_slot_without_a_page_means_nothing),
        TEST(a_slot_that_there_is_not_ends_the_connection),
        TEST(what_else_is_passed_is_closed),
        TEST(any_thread_may_ask_while_pages_come_and_go),
        TEST(a_page_replaced_under_its_readers_tells_nothing_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
