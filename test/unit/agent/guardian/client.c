/* What an agent tells its guardian of work, and when. */
#define _GNU_SOURCE
#include "lib/host/guardian_client.h"

/* ---- Who is watched ---- */

static void a_client_is_watched_from_when_it_stands(void **state)
{
    was_told(BEGUN);
    const int fd = join(), other = join();
    nothing_since(BEGUN); /* which takes the first place */
    lead(fd, "g");
    say(other, "{\"op\":\"campaign\",\"group\":\"g\"}");
    was_told("watch 3; connection 3; watch 4; connection 4; ");
    assert_true(leads(3) && !leads(4));
    hang_up(fd);
    await(other);
    assert_true(!leads(3) && leads(4));       /* the other is next, */
    nothing_since("watch 4; connection 4; "); /* and waits for no guardian */
    pass(1100);
    was_told("unwatch 3; ");
    lead(join(), "h");
    was_told("unwatch 3; watch 3; connection 3; ");
}

static struct {
    void (*tell)(void *, void *, struct leadership *, const struct leadership_event *);
    bool was_on_the_page;
} asked;

static void ask_when_elected(void *context, void *client, struct leadership *o,
                             const struct leadership_event *event)
{
    if (event->type == LEADERSHIP_ELECTED) asked.was_on_the_page = leads(2);
    asked.tell(context, client, o, event);
}

static void who_leads_is_on_the_page_before_it_hears_of_it(void **state)
{
    asked.tell = t.serve->leaderships.tell;
    asked.was_on_the_page = false;
    t.serve->leaderships.tell = ask_when_elected;
    lead(join(), "g");
    assert_true(asked.was_on_the_page);
}

/* Who has its connection is not known. */
static void who_is_dead_when_it_leads_cannot_be_watched(void **state)
{
    was_told(BEGUN);
    const pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    const uint32_t work = add(pid);
    guardian_client_stand(obituary, work);
    guardian_client_hold(obituary, work, NULL, 0);
    guardian_client_let_go(obituary, work, NULL);
    nothing_since("watch 2; ");
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    guardian_client_hold(obituary, work, NULL, 0);
    was_told("unwatch 2; blind 2; ");
    assert_true(leads(work));
    guardian_client_let_go(obituary, work, NULL);
    guardian_client_hold(obituary, work, NULL, 0);
    nothing_since("blind 2; ");
    guardian_client_let_go(obituary, work, NULL);
}

static void what_leads_and_never_stood_is_told_then(void **state)
{
    was_told(BEGUN);
    const uint32_t work = add(getpid());
    guardian_client_hold(obituary, work, NULL, 0);
    was_told(BEGUN "watch 2; ");
    assert_true(leads(work));
    guardian_client_let_go(obituary, work, NULL);
}

static void it_is_watched_once_however_much_it_leads(void **state)
{
    const int fd = join();
    lead(fd, "g");
    lead(fd, "h");
    was_told(BEGUN "watch 2; connection 2; ");
    say(fd, "{\"op\":\"resign\",\"group\":\"g\"}");
    await(fd);
    assert_true(leads(2));
    say(fd, "{\"op\":\"resign\",\"group\":\"h\"}");
    await(fd);
    assert_false(leads(2));
    nothing_since("watch 2; connection 2; ");
}

/* However many come and go in a second. */
static void there_is_room_for_who_comes_after_many(void **state)
{
    was_told(BEGUN);
    for (uint32_t i = CLIENT_BLIND + 1; i < CLIENT_WORKS_MAX; i++) {
        char words[32];
        const uint32_t work = add(getpid());
        assert_int_equal(work, i);
        guardian_client_stand(obituary, work);
        guardian_client_drop(obituary, work);
        snprintf(words, sizeof words, "watch %u; ", i);
        was_told(words);
    }
    nothing_since("unwatch 249; ");
}

/* One too many is not lost: it counts as work that cannot be watched. */
static void one_more_than_there_is_room_for_is_remembered(void **state)
{
    was_told(BEGUN);
    for (uint32_t i = CLIENT_BLIND + 1; i < CLIENT_WORKS_MAX; i++) assert_int_equal(add(getpid()), i);
    const uint32_t work = add(getpid());
    assert_int_equal(work, CLIENT_BLIND);
    guardian_client_stand(obituary, work);
    guardian_client_hold(obituary, work, NULL, 0);
    was_told("blind 1; ");
    assert_true(leads(CLIENT_BLIND));
    guardian_client_let_go(obituary, work, NULL);
    assert_false(leads(CLIENT_BLIND));
    guardian_client_drop(obituary, CLIENT_BLIND + 7);
    assert_int_equal(add(getpid()), CLIENT_BLIND + 7);
}

static void a_line_takes_the_place_of_the_process(void **state)
{
    const int fd = join();
    lead(fd, "g");
    was_told(BEGUN "watch 2; connection 2; ");
    const int line = lay_line(fd);
    was_told("watch 2; connection 2; line 3; ");
    assert_true(!leads(2) && leads(3));
    pass(1100);
    was_told("unwatch 2; ");
    hang_up(fd);
    assert_false(leads(3));
    pass(1100);
    was_told("unwatch 3; ");
    close(line);
}

static void a_line_may_come_before_the_leadership(void **state)
{
    const int fd = join(), line = lay_line(fd);
    was_told(BEGUN);
    lead(fd, "g");
    was_told(BEGUN "line 2; ");
    close(line);
}

static void nothing_but_a_line_is_taken(void **state)
{
    char hello_request[] = "{\"op\":\"hello\"}\n";
    const int fd = join(), nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    const char *refused = "\"error\":\"bad-request\"";
    expect_part(fd, "{\"op\":\"work\"}", refused);
    send_with(fd, work_request, nothing);
    assert_non_null(strstr(await(fd), refused));
    send_with(fd, work_request, t.clients[0]); /* a stream */
    assert_non_null(strstr(await(fd), refused));
    send_with(fd, hello_request, nothing); /* kept until it closes */
    assert_non_null(strstr(await(fd), "\"ok\":true"));
    lead(fd, "g");
    was_told(BEGUN "watch 2; connection 2; ");
    close(nothing);
}

/* Its process is in another space of process numbers. */
static int join_unknown(void)
{
    const int fd = join_as(0, 0);
    for (uint32_t i = 0; i < SERVE_CONNECTIONS_MAX; i++)
        if (t.serve->connections[i]) t.serve->connections[i]->who.pid = 0;
    return fd;
}

static void whom_the_kernel_does_not_know_is_not_watched_but_remembered(void **state)
{
    const int fd = join_unknown();
    lead(fd, "g");
    was_told(BEGUN "blind 1; ");
    assert_true(leads(CLIENT_BLIND));
    hang_up(fd);
    assert_false(leads(CLIENT_BLIND));
    lead(join_unknown(), "h");
    assert_true(leads(CLIENT_BLIND));
    nothing_since("blind 1; ");
}

/* We hung up on it, so it may work on until the deadline that it knows. */
static void one_that_is_expelled_is_watched_until_its_time_is_over(void **state)
{
    const int fd = join();
    lead(fd, "g");
    was_told(BEGUN "watch 2; connection 2; ");
    say(fd, "no JSON");
    assert_true(has_ended(fd));
    assert_true(leads(2));
    for (int i = 0; i < 600 && leads(2); i++) {
        pass(100);
        usleep(1000);
    }
    assert_false(leads(2));
    pass(1100);
    was_told("unwatch 2; ");
}

/* It has a copy of the connection, which would keep it open. */
static void who_is_expelled_knows_at_once_whatever_the_guardian_holds(void **state)
{
    const int fd = join(), held = dup(t.serve->connections[0]->fd);
    assert_true(held >= 0);
    say(fd, "no JSON");
    assert_true(has_ended(fd));
    close(held);
}

int main(int argc, char **argv)
{
    if (argc > 1) return strcmp(argv[1], "guardian") == 0 ? write_all_down() : 2;
    const struct CMUnitTest tests[] = {
        GUARDED(a_client_is_watched_from_when_it_stands),
        GUARDED(who_leads_is_on_the_page_before_it_hears_of_it),
        GUARDED(who_is_dead_when_it_leads_cannot_be_watched),
        GUARDED(what_leads_and_never_stood_is_told_then),
        GUARDED(there_is_room_for_who_comes_after_many),
        GUARDED(one_more_than_there_is_room_for_is_remembered),
        GUARDED(it_is_watched_once_however_much_it_leads),
        GUARDED(a_line_takes_the_place_of_the_process),
        GUARDED(a_line_may_come_before_the_leadership),
        GUARDED(nothing_but_a_line_is_taken),
        GUARDED(whom_the_kernel_does_not_know_is_not_watched_but_remembered),
        GUARDED(one_that_is_expelled_is_watched_until_its_time_is_over),
        GUARDED(who_is_expelled_knows_at_once_whatever_the_guardian_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
