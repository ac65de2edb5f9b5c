/* The flight recorder is a ring whatever a host has: what its last half begins with is all of the host. */
#include "lib/host/recordings.h"

#include <sodium.h>

/* ---- Every algorithm ---- */

static uint32_t algorithm_count;

static struct host_group *group_of(el_node node, uint32_t algorithm)
{
    char text[200];
    const struct el_algorithm *const *all = hosted_algorithms(&algorithm_count);
    return host_find(members[node].host, all[algorithm % algorithm_count]->name, text, sizeof text);
}

static void open_with_every_algorithm(uint64_t size)
{
    const struct el_algorithm *const *all = hosted_algorithms(&algorithm_count);
    open_world();
    recorded_size = size;
    for (el_node node = 1; node <= MEMBERS; node++) {
        struct config *config = &members[node].config;
        die(node);
        config->group_count = algorithm_count;
        for (uint32_t i = 0; i < algorithm_count; i++) {
            snprintf(config->groups[i].name, sizeof config->groups[i].name, "%s", all[i]->name);
            config->groups[i].algorithm = all[i];
        }
    }
    for (el_node node = 1; node <= MEMBERS; node++) start(node);
}

/* What holds something back: links that are cut, a disk that is stuck, datagrams that are lost and overtake each other. */
static void spoil_world(unsigned step)
{
    lost_percent = step % 4 == 1 ? 20 : 0;
    jitter = step % 3 == 0 ? UINT64_C(5) * MILLISECOND : 0;
    cut[1][2] = step % 7 == 3;
    cut[3][1] = cut[3][2] = cut[1][3] = cut[2][3] = step % 9 < 3;
    for (el_node node = 1; node <= MEMBERS; node++) members[node].disk_is_stuck = step % 8 + 1 == 2 * node;
}

static void ask_something(unsigned step)
{
    for (uint32_t i = 0; i < algorithm_count; i++) {
        const el_node who = (step + i) % MEMBERS + 1;
        struct host_group *group = group_of(who, i);
        assert_non_null(group);
        switch ((step * 7 + i) % 6) {
        case 0: host_proclaim(group, "here"); break;
        case 1: (void)host_resign(group); break;
        case 2: (void)host_transfer(group, who % MEMBERS + 1); break;
        case 3: host_be_patient(group, step * 10); break;
        case 4: host_stand(group, step % 11 != 0, step % 4); break;
        default: host_stand(group, true, who); break;
        }
    }
}

/* Its recordings agree at any time, not only at the end. */
static void live(unsigned steps)
{
    for (unsigned step = 0; step < steps; step++) {
        if (steps % 2 && step % 16 == 9) { /* in every other life */
            die(3);
            start(3);
        }
        spoil_world(step);
        ask_something(step);
        pass(700 + step % 13 * 31);
        const struct recorder_report report = replay_file(step % MEMBERS + 1);
        if (report.verdict != RECORDER_AGREES) fail_msg("step %u: %s", step, report.text);
    }
}

static void the_last_half_of_every_algorithm_ends_as_it_did(void **state)
{
    for (unsigned steps = 60; steps < 85; steps += 15) {
        open_with_every_algorithm(MIB / 4);
        const uint64_t begun = now;
        live(steps);
        for (el_node node = 1; node <= MEMBERS; node++) ends_as_it_did(node, begun, 0);
        close_recorded();
    }
}

/* Of what nobody has started the start is not told, and nothing that it would save is written. */
static void what_is_unpacked_is_the_same_and_has_done_nothing(void **state)
{
    open_with_every_algorithm(0);
    for (unsigned step = 0; step < 30; step++) {
        spoil_world(step);
        ask_something(step);
        pass(500);
        struct member *member = &members[step % MEMBERS + 1];
        const size_t was_queued = queued;
        const struct bytes first = packed(member->host);
        struct host_hooks hooks = {.context = member, .now = hook_now, .random = hook_random};
        struct record_image *image = record_copy(member->record);
        struct record *record = record_restore(image->bytes, image->size);
        struct host *host = host_new(&member->config, record, hooks);
        struct recorder_bytes b = {.at = first.at, .end = first.at + first.size};
        assert_true(host_unpack(host, &b, true));
        assert_ptr_equal(b.at, b.end);
        const struct bytes second = packed(host);
        assert_int_equal(first.size, second.size);
        assert_memory_equal(first.at, second.at, first.size);
        assert_int_equal(queued, was_queued);
        struct record_image *after = record_copy(record);
        assert_int_equal(after->size, image->size);
        assert_memory_equal(after->bytes, image->bytes, image->size);
        host_free(host);
        record_close(record);
        free(image);
        free(after);
        free(first.at);
        free(second.at);
    }
    close_recorded();
}

static void a_state_that_nobody_can_check_is_for_those_who_trust_it(void **state)
{
    char text[512];
    struct recorder_report report;
    open_with_every_algorithm(MIB / 4);
    live(60);
    sync_recording(&members[1]);
    const struct bytes read = read_recording(members[1].recorder_path);
    struct recorder_reader *tape = recorder_take("it", read.at, read.size, text, sizeof text);
    assert_non_null(tape);
    assert_true(recorder_replay(tape, NULL, 0, &report));
    assert_int_equal(report.verdict, RECORDER_DAMAGED);
    assert_non_null(strstr(report.text, "--trusted"));
    assert_true(recorder_replay(tape, NULL, RECORDER_TRUSTS, &report));
    assert_int_equal(report.verdict, RECORDER_AGREES);
    recorder_reader_free(tape);
    free(read.at);
    close_recorded();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_half_of_every_algorithm_ends_as_it_did),
        cmocka_unit_test(what_is_unpacked_is_the_same_and_has_done_nothing),
        cmocka_unit_test(a_state_that_nobody_can_check_is_for_those_who_trust_it),
    };
    return sodium_init() < 0 || cmocka_run_group_tests(tests, NULL, NULL);
}
