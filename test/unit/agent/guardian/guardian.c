/* The guardian without an agent: what it is told by messages, and what it says then. */
#define _GNU_SOURCE
#include "lib/host/guardian.h"
#include "lib/lingering.h"

/* ---- What it may say, and when ---- */

static void nothing_to_wait_for_is_over(void **state)
{
    assert_true(guardian_end_all(&g));
    guardian_tell(&g);
    assert_int_equal(count_told(), GUARDIAN_TIMES);
}

static void a_process_is_waited_for_and_never_killed(void **state)
{
    int pidfd;
    const pid_t pid = sleeper(&pidfd);
    hear(GUARDIAN_WATCH, 1, pidfd);
    hear(GUARDIAN_TIMEOUT, 30, -1);
    assert_false(guardian_end_all(&g));
    assert_true(is_alive(pid));
    put_down(pid);
    assert_true(guardian_end_all(&g));
}

static void a_process_that_ends_meanwhile_is_enough(void **state)
{
    int pidfd;
    const pid_t pid = sleeper(&pidfd);
    hear(GUARDIAN_WATCH, 1, pidfd);
    const pid_t killer = fork();
    if (killer == 0) {
        usleep(20000);
        kill(pid, SIGKILL);
        _exit(0);
    }
    assert_true(guardian_end_all(&g)); /* or the test hangs for a minute */
    assert_int_equal(waitpid(killer, NULL, 0), killer);
    put_down(pid);
}

static void all_must_be_over_not_one(void **state)
{
    int dead_fd, living_fd;
    const pid_t dead = sleeper(&dead_fd), living = sleeper(&living_fd);
    hear(GUARDIAN_WATCH, 1, living_fd);
    hear(GUARDIAN_WATCH, 2, dead_fd);
    hear(GUARDIAN_TIMEOUT, 20, -1);
    put_down(dead);
    assert_false(guardian_end_all(&g));
    hear(GUARDIAN_UNWATCH, 1, -1);
    assert_true(guardian_end_all(&g));
    put_down(living);
}

static void work_is_asked_to_end_and_believed_when_it_says_so(void **state)
{
    const int line = lay_line(1);
    hear(GUARDIAN_TIMEOUT, 20, -1);
    assert_false(guardian_end_all(&g));
    was_asked(line);
    say(line, GUARDIAN_LINE_OVER);
    assert_true(guardian_end_all(&g));
    close(line);
}

/* The kernel closes what a client has left in its line together with the last end of it. */
static void what_a_client_left_in_its_line_holds_nothing_up(void **state)
{
    const uint64_t since = seconds();
    const int line = lay_line(1);
    pass_on(line, "for the guardian", (int[]){make_lingering()}, 1);
    close(line);
    hear(GUARDIAN_UNWATCH, 1, -1);
    assert_true(guardian_end_all(&g));
    assert_true(seconds() - since < LINGER_S / 2);
    end_lingering();
}

static void nor_what_it_left_in_its_connection(void **state)
{
    const uint64_t since = seconds();
    int ends[2], pidfd;
    const pid_t pid = sleeper(&pidfd);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    hear(GUARDIAN_WATCH, 1, pidfd);
    hear(GUARDIAN_CONNECTION, 1, ends[0]);
    pass_on(ends[1], "half a line", (int[]){make_lingering()}, 1);
    close(ends[1]);
    hear(GUARDIAN_UNWATCH, 1, -1);
    assert_true(guardian_end_all(&g));
    assert_true(seconds() - since < LINGER_S / 2);
    end_lingering();
    put_down(pid);
}

static void a_line_that_breaks_proves_nothing(void **state)
{
    close(lay_line(1));
    assert_false(guardian_end_all(&g)); /* at once: it has a minute */
}

static void another_word_proves_nothing(void **state)
{
    const int line = lay_line(1);
    say(line, "ove");
    assert_false(guardian_end_all(&g));
    close(line);
}

/* The keeper ends by itself, and elector run lets go: what we asked was never read, which resets the line. Whether it is
 * reset before the word is read is chance; so it is tried often. */
static void a_word_before_the_line_breaks_counts(void **state)
{
    for (uint32_t i = 1; i <= 600; i++) {
        const int line = lay_line(i);
        const pid_t keeper = fork();
        if (keeper == 0) {
            struct pollfd asked = {.fd = line, .events = POLLIN};
            (void)poll(&asked, 1, -1);
            (void)!send(line, GUARDIAN_LINE_OVER, strlen(GUARDIAN_LINE_OVER), MSG_NOSIGNAL);
            _exit(0);
        }
        close(line);
        assert_true(guardian_end_all(&g));
        waitpid(keeper, NULL, 0);
        hear(GUARDIAN_UNWATCH, i, -1);
    }
}

static void what_cannot_be_watched_keeps_it_silent(void **state)
{
    hear(GUARDIAN_BLIND, 1, -1);
    assert_false(guardian_end_all(&g));
    hear(GUARDIAN_UNWATCH, 1, -1);
    hear(GUARDIAN_WATCH, 2, -1); /* its descriptor did not come */
    assert_false(guardian_end_all(&g));
}

static void a_later_obituary_takes_the_place_of_an_earlier(void **state)
{
    const struct guardian_message later = obituary("late"), none = obituary("");
    guardian_take(&g, &later, GUARDIAN_HEAD + later.size, -1);
    guardian_tell(&g);
    assert_int_equal(count_told(), 0); /* the words were others */
    guardian_take(&g, &none, GUARDIAN_HEAD, -1);
    guardian_tell(&g);
    assert_int_equal(recv(ear, &(char[8]){0}, 8, MSG_DONTWAIT), -1);
}

/* Long before the kernel closes it. What it had been told before, it can still read. */
static void a_client_learns_that_its_agent_is_gone(void **state)
{
    int ends[2], pidfd;
    char text[8];
    const pid_t pid = sleeper(&pidfd);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    hear(GUARDIAN_WATCH, 1, pidfd);
    hear(GUARDIAN_CONNECTION, 1, dup(ends[0]));
    hear(GUARDIAN_TIMEOUT, 20, -1);
    say(ends[0], "last");
    assert_false(guardian_end_all(&g));
    assert_int_equal(recv(ends[1], text, sizeof text, MSG_DONTWAIT), 4);
    assert_int_equal(recv(ends[1], text, sizeof text, MSG_DONTWAIT), 0);
    put_down(pid);
    close(ends[0]), close(ends[1]);
}

/* ---- Of some ---- */

/* One whose work is over beside one that works on, or of which nobody knows. */
static void what_is_over_is_told_though_others_go_on(void **state)
{
    int dead_fd, living_fd;
    const pid_t dead = sleeper(&dead_fd), living = sleeper(&living_fd);
    hear(GUARDIAN_WATCH, 1, living_fd);
    hear(GUARDIAN_WATCH, 2, dead_fd);
    hear(GUARDIAN_BLIND, 3, -1);
    take_release(1, "live");
    take_release(2, "dead");
    hear(GUARDIAN_TIMEOUT, 20, -1);
    put_down(dead);
    assert_false(guardian_end_all(&g));
    char text[16];
    for (int i = 0; i < GUARDIAN_TIMES; i++) {
        assert_int_equal(recv(ear, text, sizeof text, MSG_DONTWAIT), 4);
        assert_memory_equal(text, "dead", 4);
    }
    assert_int_equal(recv(ear, text, sizeof text, MSG_DONTWAIT), -1);
    put_down(living);
}

static void beside_what_is_never_known_all_others_are_told(void **state)
{
    const int first = lay_line(1), second = lay_line(2);
    hear(GUARDIAN_BLIND, 3, -1);
    take_release(1, "over");
    take_release(2, "over");
    say(second, GUARDIAN_LINE_OVER);
    say(first, GUARDIAN_LINE_OVER);
    assert_false(guardian_end_all(&g)); /* at once: it has a minute */
    assert_int_equal(count_words("over"), 2 * GUARDIAN_TIMES);
    close(first);
    close(second);
}

/* Its leases may be renewed, and the same client may lead again. */
static void nothing_is_released_while_the_agent_lives(void **state)
{
    int agent_fd, dead_fd;
    const pid_t agent = sleeper(&agent_fd), dead = sleeper(&dead_fd);
    hear(GUARDIAN_WATCH, 0, agent_fd);
    hear(GUARDIAN_WATCH, 1, dead_fd);
    take_release(1, "dead");
    hear(GUARDIAN_TIMEOUT, 20, -1);
    put_down(dead);
    assert_false(guardian_end_all(&g));
    assert_int_equal(count_words("dead"), 0);
    put_down(agent);
}

static void where_all_is_over_the_obituary_says_so(void **state)
{
    const int line = lay_line(1);
    take_release(1, "dead");
    say(line, GUARDIAN_LINE_OVER);
    assert_true(guardian_end_all(&g));
    assert_int_equal(count_words("dead"), 0);
    close(line);
}

static void a_release_goes_with_its_work_and_makes_way_for_a_later_one(void **state)
{
    const int first = lay_line(1);
    take_release(1, "old1");
    hear(GUARDIAN_UNWATCH, 1, -1);
    const int again = lay_line(1), other = lay_line(2), third = lay_line(3);
    hear(GUARDIAN_BLIND, 4, -1);
    take_release(2, "old2");
    take_release(2, "new2");
    take_release(3, "old3");
    take_release(3, "");
    say(again, GUARDIAN_LINE_OVER);
    say(other, GUARDIAN_LINE_OVER);
    say(third, GUARDIAN_LINE_OVER);
    assert_false(g.is_mute);
    assert_false(guardian_end_all(&g));
    char text[16];
    for (int i = 0; i < GUARDIAN_TIMES; i++) {
        assert_int_equal(recv(ear, text, sizeof text, MSG_DONTWAIT), 4);
        assert_memory_equal(text, "new2", 4);
    }
    assert_int_equal(recv(ear, text, sizeof text, MSG_DONTWAIT), -1);
    close(first), close(again), close(other), close(third);
}

/* ---- What is not understood ---- */

static void is_mute_after(const struct guardian_message *m, size_t size)
{
    g.is_mute = false;
    guardian_take(&g, m, size, -1);
    assert_true(g.is_mute);
    assert_false(guardian_end_all(&g));
}

static void nonsense_makes_it_mute(void **state)
{
    struct guardian_message m = obituary("gone");
    is_mute_after(&m, GUARDIAN_HEAD - 1);
    is_mute_after(&m, GUARDIAN_HEAD + m.size - 1);
    m.size = GUARDIAN_DATAGRAM_MAX + 1;
    is_mute_after(&m, sizeof m);
    m = obituary("gone");
    m.number = 0;
    is_mute_after(&m, GUARDIAN_HEAD + m.size);
    m.number = GUARDIAN_PEERS_MAX + 1;
    is_mute_after(&m, GUARDIAN_HEAD + m.size);
    hear(GUARDIAN_BLIND, 1, -1);
    m = obituary("gone");
    m.kind = GUARDIAN_RELEASE;
    m.number = 1;
    m.peer = 0;
    is_mute_after(&m, GUARDIAN_HEAD + m.size);
    m.peer = GUARDIAN_PEERS_MAX + 1;
    is_mute_after(&m, GUARDIAN_HEAD + m.size);
    m.peer = 2;
    is_mute_after(&m, GUARDIAN_HEAD + m.size - 1);
    m.number = 2; /* nobody's */
    is_mute_after(&m, GUARDIAN_HEAD + m.size);
    m = message(GUARDIAN_UNWATCH, 77);
    is_mute_after(&m, GUARDIAN_HEAD);
    m = message(GUARDIAN_CONNECTION, 77);
    is_mute_after(&m, GUARDIAN_HEAD);
    m = message(GUARDIAN_BEGIN, 0); /* a second time */
    is_mute_after(&m, GUARDIAN_HEAD);
    m = message((enum guardian_kind)1000, 0);
    is_mute_after(&m, GUARDIAN_HEAD);
}

static void more_than_there_is_room_for_makes_it_mute(void **state)
{
    for (uint32_t i = 0; i < GUARDIAN_WATCHED_MAX; i++) hear(GUARDIAN_BLIND, i + 1, -1);
    assert_false(g.is_mute);
    hear(GUARDIAN_BLIND, GUARDIAN_WATCHED_MAX + 1, -1);
    assert_true(g.is_mute);
    for (uint32_t i = 0; i < GUARDIAN_WATCHED_MAX; i++) hear(GUARDIAN_UNWATCH, i + 1, -1);
    assert_false(guardian_end_all(&g));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_BENCH(nothing_to_wait_for_is_over),
        IN_BENCH(a_process_is_waited_for_and_never_killed),
        IN_BENCH(a_process_that_ends_meanwhile_is_enough),
        IN_BENCH(all_must_be_over_not_one),
        IN_BENCH(work_is_asked_to_end_and_believed_when_it_says_so),
        IN_BENCH(what_a_client_left_in_its_line_holds_nothing_up),
        IN_BENCH(nor_what_it_left_in_its_connection),
        IN_BENCH(a_line_that_breaks_proves_nothing),
        IN_BENCH(another_word_proves_nothing),
        IN_BENCH(a_word_before_the_line_breaks_counts),
        IN_BENCH(what_cannot_be_watched_keeps_it_silent),
        IN_BENCH(a_later_obituary_takes_the_place_of_an_earlier),
        IN_BENCH(a_client_learns_that_its_agent_is_gone),
        IN_BENCH(what_is_over_is_told_though_others_go_on),
        IN_BENCH(beside_what_is_never_known_all_others_are_told),
        IN_BENCH(nothing_is_released_while_the_agent_lives),
        IN_BENCH(where_all_is_over_the_obituary_says_so),
        IN_BENCH(a_release_goes_with_its_work_and_makes_way_for_a_later_one),
        IN_BENCH(nonsense_makes_it_mute),
        IN_BENCH(more_than_there_is_room_for_makes_it_mute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
