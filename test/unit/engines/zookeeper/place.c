/* A group's place in ZooKeeper's queue, between the machine and the requests to the servers: what the machine is told, and when. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engines/zookeeper/internal.h"
#include "lib/engines/fake_engine.h"

static struct zookeeper z;
static bool is_connected;
static struct place *work;

/* ---- Instead of run.c, removal.c, zookeeper.c and the C client ---- */

void run_begin(struct place *p, uint8_t kind)
{
    (void)p;
    fake_say("run %u", kind);
}

void run_unwatch(struct place *p)
{
    (void)p;
    fake_say("unwatch");
}

void run_give_up(struct place *p)
{
    (void)p;
}

void node_path(const struct place *p, const char *name, char path[NODE_PATH])
{
    (void)snprintf(path, NODE_PATH, "%s/%s", p->path, name);
}

struct removal *removal_begin(struct zookeeper *all, const char *path, const char *prefix,
                              void (*done)(struct place *), struct place *place)
{
    (void)all, (void)path, (void)done, (void)place;
    fake_say("remove %.8s", prefix);
    return NULL;
}

zhandle_t *zookeeper_handle(const struct zookeeper *all)
{
    return is_connected ? (zhandle_t *)(uintptr_t)all : NULL;
}

void zookeeper_pump(struct zookeeper *all)
{
    (void)all;
}

void zookeeper_soon(struct zookeeper *all)
{
    (void)all;
}

bool zookeeper_is_broken(int rc)
{
    return rc == ZCONNECTIONLOSS;
}

void zookeeper_refused(struct zookeeper *all, const char *path, const char *what, int rc)
{
    (void)all, (void)path, (void)rc;
    fake_say("refused to %s", what);
}

static stat_completion_t when_written;
static const void *written;

int zoo_aset(zhandle_t *zh, const char *path, const char *buffer, int buflen, int version,
             stat_completion_t completion, const void *data)
{
    (void)zh, (void)version;
    fake_say("set %s %.*s", strrchr(path, '/') + 1, buflen, buffer);
    when_written = completion;
    written = data;
    return ZOK;
}

/* ---- What happens ---- */

static void asks(uint8_t kind, uint64_t session)
{
    const struct el_msg m = {.kind = kind, .epoch = session, .more = 1};
    place_ask(work, &m);
    place_settle(work);
}

static void opens(void)
{
    asks(STORE_OPEN, 0);
    assert_string_equal(fake_said(), "work: tell 2");
    assert_int_equal(work->group->told.epoch, work->session);
}

/* Our node stands there, as the first; its czxid is the token. */
static void has_node(uint64_t token)
{
    char name[NODE_NAME];
    const struct layout *other = NULL;
    snprintf(name, sizeof name, "%s0000000001", work->prefix);
    char *const names[] = {name};
    const struct String_vector children = {1, (char **)(uintptr_t)names};
    assert_int_equal(nodes_take(&work->nodes, z.layout, &children, &other), NODES_FINE);
    node_read(&work->nodes.all[0], z.layout, "me", 2, token);
}

static int set_up(void **state)
{
    z = (struct zookeeper){.layout = layout_named("kazoo"), .knows_tokens = true};
    renewal_init(&z.renewals, 1000);
    is_connected = true;
    work = place_of(&z, fake_group("work"));
    work->group->stands = true;
    return 0;
}

static int tear_down(void **state)
{
    place_free(work);
    fake_end();
    return 0;
}

/* ---- The tests ---- */

static void a_session_is_opened_without_proof(void **state)
{
    opens();
    assert_int_equal(work->group->told.flags, 1); /* a renewal proves it: the machine leads by none before */
}

static void nothing_is_opened_while_nobody_answers(void **state)
{
    is_connected = false;
    asks(STORE_OPEN, 0);
    assert_string_equal(fake_said(), "");
    is_connected = true;
    place_settle(work);
    assert_string_equal(fake_said(), "work: tell 2");
}

static void nobody_stands_before_it_is_known_what_to_add_to_tokens(void **state)
{
    z.knows_tokens = false;
    asks(STORE_OPEN, 0);
    assert_string_equal(fake_said(), "");
}

static void each_session_of_the_machine_has_another_name_for_its_node(void **state)
{
    char before[LAYOUT_PREFIX];
    opens();
    snprintf(before, sizeof before, "%s", work->prefix);
    asks(STORE_OPEN, 0);
    assert_string_equal(fake_said(), "remove 656c6563; work: tell 2");
    assert_string_not_equal(before, work->prefix);
}

static void a_request_of_the_last_session_learns_that_it_is_over(void **state)
{
    opens();
    const uint64_t session = work->session;
    place_lost_session(work);
    assert_int_equal(work->group->told.kind, STORE_EVENT); /* so that the machine asks */
    asks(STORE_LIST, session);
    assert_int_equal(work->group->told.epoch, 0);
    asks(STORE_OPEN, 0);
    assert_int_equal(work->group->told.epoch, work->session);
    asks(STORE_LIST, session);
    assert_int_equal(work->group->told.epoch, 0);
}

static void a_renewal_of_the_last_session_renews_nothing(void **state)
{
    opens();
    const uint64_t session = work->session;
    place_lost_session(work);
    asks(STORE_OPEN, 0);
    asks(STORE_RENEW, session);
    assert_int_equal(work->group->told.kind, STORE_RENEWED);
    assert_int_equal(work->group->told.epoch, 0);
    assert_false(work->has_renewal);
}

static void one_who_withdraws_leaves_no_node(void **state)
{
    opens();
    place_withdraw(work);
    assert_string_equal(fake_said(), "remove 656c6563");
    assert_string_equal(work->prefix, "");
    assert_int_equal(work->session, 0);
}

static void after_a_reconnection_the_server_must_catch_up_first(void **state)
{
    place_reconnected(work);
    assert_true(work->must_sync);
    assert_true(work->must_look);
    assert_false(work->watches_own);
}

static void a_value_is_written_to_the_node_of_its_tenure_alone(void **state)
{
    opens();
    has_node(7);
    place_proclaim(work, 6, "web:80"); /* of an earlier one */
    assert_null(strstr(fake_said(), "set"));
    place_proclaim(work, 7, "web:80");
    assert_non_null(strstr(fake_said(), "me web:80"));
    when_written(ZOK, NULL, written);
}

static void a_value_whose_answer_was_lost_is_written_again(void **state)
{
    opens();
    has_node(7);
    place_proclaim(work, 7, "web:80");
    when_written(ZCONNECTIONLOSS, NULL, written);
    (void)fake_said();
    place_proclaim(work, 0, NULL);
    assert_non_null(strstr(fake_said(), "me web:80"));
    when_written(ZOK, NULL, written);
    place_proclaim(work, 0, NULL);
    assert_string_equal(fake_said(), "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_session_is_opened_without_proof),
        TEST(nothing_is_opened_while_nobody_answers),
        TEST(nobody_stands_before_it_is_known_what_to_add_to_tokens),
        TEST(each_session_of_the_machine_has_another_name_for_its_node),
        TEST(a_request_of_the_last_session_learns_that_it_is_over),
        TEST(a_renewal_of_the_last_session_renews_nothing),
        TEST(one_who_withdraws_leaves_no_node),
        TEST(after_a_reconnection_the_server_must_catch_up_first),
        TEST(a_value_is_written_to_the_node_of_its_tenure_alone),
        TEST(a_value_whose_answer_was_lost_is_written_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
