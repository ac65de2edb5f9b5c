/* The lock that tells a guardian of its agent's death, and nothing else does: the channel stays open, and the pidfd that the
 * guardian has is that of a process that lives. */
#define _GNU_SOURCE
#include "lib/give_up.h"
#include "lib/host/guardian_process.h"

#include <pthread.h>

#include "agent/guardian/alive_lock.h"

static struct guardian_page *page;
static int page_fd, order; /* `order`: our end of a connection to the agent */
static int living_fd;      /* the pidfd that guardians get */
static pid_t agent, living, guardian;
static int channel;

/* ---- An agent: it holds the lock, and does as it is told ---- */

static void *end_at_once(void *unused)
{
    return unused;
}

static void run_a_thread(void)
{
    pthread_t other;
    if (pthread_create(&other, NULL, end_at_once, NULL) != 0 || pthread_join(other, NULL) != 0) _exit(2);
}

static void run_a_copy(void)
{
    const pid_t copy = fork();
    if (copy == 0) _exit(0);
    if (waitpid(copy, NULL, 0) != copy) _exit(2);
}

static void obey(int fd)
{
    char word = alive_lock_hold(&page->alive) ? 'y' : 'n';
    do {
        if (word == 't') run_a_thread();
        if (word == 'c') run_a_copy();
        if (word == 'r') alive_lock_release(&page->alive);
        (void)!send(fd, &word, 1, MSG_NOSIGNAL);
    } while (recv(fd, &word, 1, 0) == 1);
    _exit(0);
}

static char answer(void)
{
    char word = 0;
    assert_int_equal(recv(order, &word, 1, 0), 1);
    return word;
}

static void tell(char word)
{
    assert_int_equal(send(order, &word, 1, MSG_NOSIGNAL), 1);
    assert_int_equal(answer(), word);
}

static void start_agent(void)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    agent = fork();
    if (agent == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        close(ends[0]);
        obey(ends[1]);
    }
    close(ends[1]);
    order = ends[0];
    assert_int_equal(answer(), 'y');
}

static void kill_agent(void)
{
    if (agent) put_down(agent);
    agent = 0;
}

/* ---- The bench ---- */

static int begin_beside_an_agent(void **state)
{
    if (begin(state) != 0) return -1;
    page = make_page(&page_fd);
    living = sleeper(&living_fd);
    channel = -1;
    start_agent();
    return 0;
}

static int end_beside_an_agent(void **state)
{
    kill_agent();
    if (guardian) put_down(guardian);
    guardian = 0;
    put_down(living);
    munmap(page, sizeof *page);
    close(page_fd), close(living_fd), close(order), close(channel);
    return end(state);
}

static void start_guarding(void)
{
    guardian = live(living_fd, &channel);
    pass(channel, message(GUARDIAN_TIMEOUT, 60000), -1);
    pass(channel, message(GUARDIAN_PAGE, 0), page_fd);
    await_that_all_is_heard(channel);
}

/* True: it ends by itself. */
static bool guardian_ends(void)
{
    struct pollfd polled = {.fd = (int)syscall(SYS_pidfd_open, guardian, 0), .events = POLLIN};
    const int ended = poll(&polled, 1, give_up_ms());
    close(polled.fd);
    return ended == 1;
}

/* ---- What a guardian makes of it ---- */

static void an_agents_death_is_told_before_anything_else_of_it_ends(void **state)
{
    start_guarding();
    kill_agent();
    assert_true(guardian_ends());
    assert_int_equal(count_told(), GUARDIAN_TIMES);
}

/* The first may have waited for the lock when it died. */
static void a_second_guardian_is_told_too(void **state)
{
    start_guarding();
    put_down(guardian);
    close(channel);
    start_guarding();
    kill_agent();
    assert_true(guardian_ends());
    assert_int_equal(count_told(), GUARDIAN_TIMES);
}

/* The guardian knows of the death before it has read of this work. */
static void messages_of_a_dead_agent_count(void **state)
{
    int ends[2], work_fd;
    const pid_t work = sleeper(&work_fd);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    atomic_store(&page->leads[1], 1);
    channel = ends[0];
    pass(channel, message(GUARDIAN_BEGIN, 0), g.socket);
    pass(channel, obituary("gone"), -1);
    pass(channel, message(GUARDIAN_TIMEOUT, 20), -1);
    pass(channel, message(GUARDIAN_PAGE, 0), page_fd);
    pass(channel, message(GUARDIAN_WATCH, 1), work_fd);
    kill_agent();
    guardian = start_guardian(ends, living_fd);
    assert_true(guardian_ends());
    assert_int_equal(count_told(), 0);
    put_down(work);
    close(work_fd);
}

/* In ns; 0: Linux before 6.12, where threads cannot choose. */
static uint64_t slice_of(pid_t thread)
{
    uint64_t attributes[7] = {0}; /* struct sched_attr; its header cannot be included beside <sched.h> */
    assert_int_equal(syscall(SYS_sched_getattr, thread, attributes, sizeof attributes, 0), 0);
    return attributes[3];
}

/* A message comes from the agent of a new leader: the guardian may not run before the client that was elected. */
static void the_thread_that_takes_messages_has_no_shorter_slices(void **state)
{
    start_guarding();
    assert_int_equal(slice_of(guardian), slice_of(0));
}

/* ---- What gives it back, and what does not ---- */

static void only_the_thread_that_holds_it_counts(void **state)
{
    tell('t');
    assert_int_equal(pthread_mutex_trylock(&page->alive), EBUSY);
    tell('c');
    assert_int_equal(pthread_mutex_trylock(&page->alive), EBUSY);
    kill(agent, SIGSTOP);
    assert_int_equal(waitpid(agent, NULL, WUNTRACED), agent);
    assert_int_equal(pthread_mutex_trylock(&page->alive), EBUSY);
    kill_agent();
    assert_int_equal(pthread_mutex_trylock(&page->alive), EOWNERDEAD);
    assert_int_equal(pthread_mutex_unlock(&page->alive), 0);
}

static void a_lock_given_back_is_no_death(void **state)
{
    tell('r');
    assert_false(alive_lock_says_dead(&page->alive, false));
    kill_agent();
    assert_false(alive_lock_says_dead(&page->alive, false));
}

static void a_lock_whose_owner_is_dead_says_so_at_once(void **state)
{
    kill_agent();
    assert_true(alive_lock_says_dead(&page->alive, false));
    assert_int_equal(pthread_mutex_unlock(&page->alive), 0);
}

int main(void)
{
#define BESIDE_AN_AGENT(test) cmocka_unit_test_setup_teardown(test, begin_beside_an_agent, end_beside_an_agent)
    const struct CMUnitTest tests[] = {
        BESIDE_AN_AGENT(an_agents_death_is_told_before_anything_else_of_it_ends),
        BESIDE_AN_AGENT(a_second_guardian_is_told_too),
        BESIDE_AN_AGENT(messages_of_a_dead_agent_count),
        BESIDE_AN_AGENT(the_thread_that_takes_messages_has_no_shorter_slices),
        BESIDE_AN_AGENT(only_the_thread_that_holds_it_counts),
        BESIDE_AN_AGENT(a_lock_given_back_is_no_death),
        BESIDE_AN_AGENT(a_lock_whose_owner_is_dead_says_so_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
