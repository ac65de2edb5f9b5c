/* What a guardian makes of the page on which its agent says who leads. */
#define _GNU_SOURCE
#include "lib/host/guardian.h"

static struct guardian_page *page;

static int begin_with_a_page(void **state)
{
    if (begin(state) != 0) return -1;
    page = share_page();
    hear(GUARDIAN_TIMEOUT, 1000, -1);
    return 0;
}

static int end_with_a_page(void **state)
{
    munmap(page, sizeof *page);
    return end(state);
}

static void lead(uint32_t work, bool leads)
{
    atomic_store(&page->leads[work], leads);
}

static void who_leads_nothing_is_not_waited_for(void **state)
{
    int idle_fd, leader_fd;
    const pid_t idle = sleeper(&idle_fd), leader = sleeper(&leader_fd);
    hear(GUARDIAN_WATCH, 1, idle_fd);
    hear(GUARDIAN_WATCH, 2, leader_fd);
    hear(GUARDIAN_TIMEOUT, 20, -1);
    lead(2, true);
    assert_false(guardian_end_all(&g));
    put_down(leader);
    assert_true(guardian_end_all(&g));
    lead(2, false);
    lead(1, true);
    assert_false(guardian_end_all(&g));
    put_down(idle);
}

static void who_leads_nothing_is_not_ended(void **state)
{
    const int idle = lay_line(1), leader = lay_line(2);
    lead(2, true);
    say(leader, GUARDIAN_LINE_OVER);
    assert_true(guardian_end_all(&g));
    was_asked(leader);
    assert_int_equal(recv(idle, &(char[8]){0}, 8, MSG_DONTWAIT), -1);
    close(idle), close(leader);
}

static void what_cannot_be_watched_and_leads_nothing_is_nothing(void **state)
{
    hear(GUARDIAN_BLIND, 1, -1);
    close(lay_line(2));
    assert_true(guardian_end_all(&g));
    lead(1, true);
    assert_false(guardian_end_all(&g));
}

/* What it would release it had let go of before, and somebody else may lead by now. */
static void who_leads_nothing_releases_nothing(void **state)
{
    const int idle = lay_line(1), leader = lay_line(2);
    hear(GUARDIAN_BLIND, 3, -1);
    take_release(1, "idle");
    take_release(2, "over");
    lead(2, true);
    lead(3, true);
    say(idle, GUARDIAN_LINE_OVER);
    say(leader, GUARDIAN_LINE_OVER);
    assert_false(guardian_end_all(&g));
    char text[16];
    for (int i = 0; i < GUARDIAN_TIMES; i++) {
        assert_int_equal(recv(ear, text, sizeof text, MSG_DONTWAIT), 4);
        assert_memory_equal(text, "over", 4);
    }
    assert_int_equal(recv(ear, text, sizeof text, MSG_DONTWAIT), -1);
    close(idle), close(leader);
}

/* The agent's own end is waited for, whatever is written; and what it wrote last counts. */
static void it_is_read_when_the_agent_is_dead(void **state)
{
    int agent_fd, work_fd;
    const pid_t agent = sleeper(&agent_fd), work = sleeper(&work_fd);
    hear(GUARDIAN_WATCH, 0, agent_fd);
    hear(GUARDIAN_WATCH, 1, work_fd);
    hear(GUARDIAN_TIMEOUT, 200, -1);
    const pid_t writer = fork();
    if (writer == 0) {
        usleep(20000);
        lead(1, true);
        kill(agent, SIGKILL);
        _exit(0);
    }
    assert_false(guardian_end_all(&g));
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    lead(1, false);
    assert_true(guardian_end_all(&g));
    put_down(agent);
    put_down(work);
}

static void beyond_the_page_everything_counts(void **state)
{
    hear(GUARDIAN_BLIND, GUARDIAN_WATCHED_MAX, -1);
    assert_false(guardian_end_all(&g));
}

static void another_page_makes_it_mute(void **state)
{
    const int fd = memfd_new("test");
    assert_int_equal(ftruncate(fd, sizeof *page), 0);
    hear(GUARDIAN_PAGE, 0, fd);
    assert_true(g.is_mute);
    assert_false(guardian_end_all(&g));
}

static void one_that_is_not_whole_or_not_there_makes_it_mute(void **state)
{
    const int fd = memfd_new("test");
    assert_int_equal(ftruncate(fd, sizeof *page - 1), 0);
    hear(GUARDIAN_PAGE, 0, fd);
    assert_true(g.is_mute);
    g.is_mute = false;
    hear(GUARDIAN_PAGE, 0, -1);
    assert_true(g.is_mute);
    g.is_mute = false;
    hear(GUARDIAN_PAGE, 0, dup(ear)); /* which cannot be mapped */
    assert_true(g.is_mute);
    assert_false(guardian_end_all(&g));
}

int main(void)
{
#define WITH_A_PAGE(test) cmocka_unit_test_setup_teardown(test, begin_with_a_page, end_with_a_page)
    const struct CMUnitTest tests[] = {
        WITH_A_PAGE(who_leads_nothing_is_not_waited_for),
        WITH_A_PAGE(who_leads_nothing_is_not_ended),
        WITH_A_PAGE(what_cannot_be_watched_and_leads_nothing_is_nothing),
        WITH_A_PAGE(who_leads_nothing_releases_nothing),
        WITH_A_PAGE(it_is_read_when_the_agent_is_dead),
        WITH_A_PAGE(beyond_the_page_everything_counts),
        WITH_A_PAGE(another_page_makes_it_mute),
        IN_BENCH(one_that_is_not_whole_or_not_there_makes_it_mute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
