/* The recorder recorder of an agent with very many groups: its state is kept by another process, and the file grows to take it. */
#define _GNU_SOURCE
#include "lib/host/recordings.h"

#include <signal.h>
#include <sodium.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "agent/recorder/internal.h"

enum { FOR_EVER_MS = 60000 };
static uint32_t many;

static void settle(struct member *member)
{
    recorder_settle(member->recorder, FOR_EVER_MS);
}

static struct host_group *group_of(el_node node, uint32_t number)
{
    char name[32], text[200];
    snprintf(name, sizeof name, "shard-%u", number);
    return host_find(members[node].host, name, text, sizeof text);
}

static void open_with(uint64_t size)
{
    recorded_size = size;
    open_world();
}

/* The first member leads them all. A busy machine must not fill a half before its state is there. */
static void add_many(uint32_t count)
{
    many = count;
    on_step = settle;
    for (uint32_t i = 0; i < count; i++) {
        host_stand(group_of(1, i), true, 0);
        if (i % 100 == 99) pass(1);
    }
    pass(8000);
    on_step = NULL;
}

static void open_with_many(uint64_t size, uint32_t count)
{
    open_with(size);
    add_many(count);
}

static void change_a_little(unsigned step)
{
    char value[32];
    snprintf(value, sizeof value, "value-%u", step);
    for (uint32_t i = 0; i < 40; i++) {
        struct host_group *group = group_of(step % MEMBERS + 1, (step * 977 + i * 61) % many);
        assert_non_null(group);
        host_proclaim(group, value);
        host_stand(group, true, i % 3);
        if (i % 8 == 0) (void)host_resign(group);
    }
    cut[1][2] = step % 7 == 3;
}

/* Stops the process that keeps a state, before it has done so: one that has ended meanwhile does not count. */
static void stop_a_keeper(struct recorder *recorder)
{
    for (unsigned i = 0;; i++) {
        siginfo_t how = {0};
        assert_true(i < 2000); /* there is a turn now and then */
        if (recorder->keeper) {
            kill(recorder->keeper, SIGSTOP);
            assert_int_equal(waitid(P_PID, (id_t)recorder->keeper, &how, WSTOPPED | WEXITED | WNOWAIT), 0);
            if (how.si_code == CLD_STOPPED) return;
            recorder_settle(recorder, FOR_EVER_MS);
        }
        change_a_little(i);
        pass(10);
    }
}

static void the_last_half_of_many_ends_as_it_did(void **state)
{
    unsigned added = 0;
    open_with_many(MIB / 4, 4000); /* a state that is a page larger needs as many halves */
    const uint64_t begun = now, generation = members[1].recorder->generation;
    on_step = settle;
    for (unsigned step = 0; step < 60; step++) {
        change_a_little(step);
        pass(900);
        added += members[1].recorder->more != NULL;
    }
    assert_true(added > 10 && added < 50); /* the halves were as large as the state, in part */
    assert_true(members[1].recorder->generation > generation + 2);
    for (el_node node = 1; node <= MEMBERS; node++) ends_as_it_did(node, begun, 6);
    close_recorded();
}

/* It may be copied at any time, also while its state is still on its way. */
static void a_half_without_its_state_follows_the_other(void **state)
{
    unsigned without = 0;
    open_with_many(MIB / 4, 1500);
    for (unsigned step = 0; step < 20; step++) {
        struct recorder *recorder = members[1].recorder;
        change_a_little(step);
        on_step = settle;
        pass(900);
        on_step = NULL;
        const uint64_t generation = recorder->generation;
        for (unsigned i = 0; recorder->generation == generation && !recorder->keeper; i++) {
            assert_true(i < 100000); /* a half is full now and then */
            pass(1);
        }
        if (recorder->keeper) kill(recorder->keeper, SIGSTOP);
        without += !recorder_has_state(recorder->base);
        const struct recorder_report report = replay_file(1);
        if (recorder->keeper) kill(recorder->keeper, SIGCONT);
        if (report.verdict != RECORDER_AGREES) fail_msg("step %u: %s", step, report.text);
        assert_true(now - report.ended < UINT64_C(1000) * MILLISECOND);
    }
    assert_true(without > 0);
    close_recorded();
}

/* Nobody can say what is too much at once; it costs what was recorded, not what will be. */
static void what_does_not_fit_costs_the_past(void **state)
{
    open_with_many(CONFIG_RECORDER_MIN, 6000);
    struct recorder *recorder = members[1].recorder;
    stop_a_keeper(recorder);
    const uint64_t begun = now;
    cut[1][2] = cut[2][1] = cut[1][3] = cut[3][1] = true; /* all its leases end at once */
    pass(8000);
    assert_true(recorder->has_warned_of_pause);
    kill(recorder->keeper, SIGCONT);
    on_step = settle;
    cut[1][2] = cut[2][1] = cut[1][3] = cut[3][1] = false;
    pass(20000);
    ends_as_it_did(1, begun, 18); /* in a storm there is more to a state than in the end */
    close_recorded();
}

/* Whatever holds up the process that keeps a state, the host goes on. */
static void what_comes_while_a_state_is_on_its_way_may_be_lost(void **state)
{
    open_with_many(MIB / 4, 1500);
    struct recorder *recorder = members[1].recorder;
    for (unsigned step = 0; step < 12; step++) {
        recorder_settle(recorder, FOR_EVER_MS);
        stop_a_keeper(recorder);
        for (unsigned i = 0; i < 40 && recorder->keeper; i++) {
            change_a_little(step * 3 + i);
            pass(300);
        }
        if (recorder->keeper) kill(recorder->keeper, SIGCONT);
        recorder_settle(recorder, FOR_EVER_MS);
        change_a_little(step);
        pass(300);
        const struct recorder_report report = replay_file(1);
        if (report.verdict != RECORDER_AGREES) fail_msg("step %u: %s", step, report.text);
    }
    assert_true(recorder->has_warned_of_pause);
    close_recorded();
}

/* A real-time agent that copies itself renews leases late. */
static void an_agent_that_may_not_be_copied_records_until_it_is_full(void **state)
{
    open_with(MIB / 4);
    assert_int_equal(members[1].recorder->copies_most, UINT32_MAX);
    add_many(1500);
    struct recorder *recorder = members[1].recorder;
    recorder_settle(recorder, FOR_EVER_MS);
    const uint64_t generation = recorder->generation;
    recorder->copies_most = 1400;
    for (unsigned step = 0; !recorder->is_paused; step++) {
        assert_true(step < 60);
        change_a_little(step);
        pass(900);
        assert_int_equal(recorder->keeper, 0);
    }
    assert_true(recorder->has_warned_of_many && !recorder->has_warned_of_pause);
    assert_int_equal(recorder->generation, generation);
    struct recorder_report report = replay_file(1); /* what there is can be read */
    if (report.verdict != RECORDER_AGREES) fail_msg("%s", report.text);
    recorder->copies_most = UINT32_MAX;
    const uint64_t begun = now - 1; /* it begins with the next call, at once */
    on_step = settle;
    pass(9000);
    ends_as_it_did(1, begun, 18);
    close_recorded();
}

static void limit_files(uint64_t size)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size ? size : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A full disk, say: what there was stays, and when there is room it begins anew. */
static void a_state_that_cannot_be_kept_is_tried_again(void **state)
{
    open_with_many(MIB / 4, 1500);
    on_step = settle;
    limit_files(MIB / 4); /* which is what the file has from the beginning */
    for (unsigned step = 0; !members[1].recorder->has_warned_of_state; step++) {
        change_a_little(step);
        pass(900);
    }
    for (unsigned step = 0; step < 30; step++) {
        change_a_little(step);
        pass(900);
        const struct recorder_report report = replay_file(1);
        if (report.verdict != RECORDER_AGREES) fail_msg("step %u: %s", step, report.text);
    }
    limit_files(0);
    const uint64_t begun = now;
    for (unsigned step = 0; step < 40; step++) {
        change_a_little(step);
        pass(900);
    }
    ends_as_it_did(1, begun, 6);
    close_recorded();
}

/* The memory grows and the file may not: the file keeps a recording that is whole, though not the newest. */
static void what_the_file_does_not_take_stays_in_memory(void **state)
{
    limit_files(MIB / 2);
    open_with(MIB / 2); /* the writers begin with that limit */
    limit_files(0);
    sync_recording(&members[1]);
    add_many(3000);
    on_step = settle;
    for (unsigned step = 0; step < 12; step++) {
        change_a_little(step);
        pass(900);
        if (step % 6 == 5) assert_false(recorder_sync(members[1].recorder, FOR_EVER_MS));
        const struct bytes read = read_recording(members[1].recorder_path);
        const struct recorder_report report = replay_bytes(read, false);
        if (report.verdict != RECORDER_AGREES) fail_msg("step %u: %s", step, report.text);
        free(read.at);
    }
    assert_false(members[1].recorder->has_warned_of_state || members[1].recorder->has_warned_of_pause);
    close_recorded();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_half_of_many_ends_as_it_did),
        cmocka_unit_test(a_half_without_its_state_follows_the_other),
        cmocka_unit_test(what_does_not_fit_costs_the_past),
        cmocka_unit_test(what_comes_while_a_state_is_on_its_way_may_be_lost),
        cmocka_unit_test(an_agent_that_may_not_be_copied_records_until_it_is_full),
        cmocka_unit_test(a_state_that_cannot_be_kept_is_tried_again),
        cmocka_unit_test(what_the_file_does_not_take_stays_in_memory),
    };
    return sodium_init() < 0 || cmocka_run_group_tests(tests, NULL, NULL);
}
