/* The flight recorder: what hosts did is done again, and whatever differs is found. */
#include "lib/host/recordings.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/recorder/internal.h"
#include "agent/recorder/reader.h"
#include "core/bytes.h"
#include "lib/give_up.h"

/* Elections, a value, a hand-over, a resignation, a cut link. */
static void live_through_much(void)
{
    char text[200];
    for (el_node node = 1; node <= MEMBERS; node++) stand(node, true);
    pass(3000);
    const el_node first = leader();
    assert_int_not_equal(first, 0);
    host_proclaim(host_find(members[first].host, "billing", text, sizeof text), "10.0.0.1:80");
    pass(100);
    const el_node next = first % MEMBERS + 1;
    (void)host_transfer(host_find(members[first].host, "billing", text, sizeof text), next);
    pass(2000);
    cut[1][2] = cut[2][1] = true;
    pass(2000);
    cut[1][2] = cut[2][1] = false;
    if (leader()) (void)host_resign(host_find(members[leader()].host, "billing", text, sizeof text));
    pass(3000);
}

/* ---- What is the same ---- */

static void what_was_done_is_done_again(void **state)
{
    recorded_size = 4 * MIB;
    open_world();
    live_through_much();
    for (el_node node = 1; node <= MEMBERS; node++) die(node);
    all_agree();
    close_recorded();
}

static void whoever_is_recorded_is_told_as_much(void **state)
{
    recorded_size = 4 * MIB;
    open_world();
    pass(3000);
    assert_true(members[1].answers[2] > 0);
    close_recorded();
}

/* Of the mappings of that name, what is in this process's memory, in bytes. */
static size_t resident(const char *name)
{
    char line[512];
    size_t sum = 0;
    bool is_of_it = false;
    FILE *maps = fopen("/proc/self/smaps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        if (strstr(line, name)) is_of_it = true;
        if (is_of_it && strncmp(line, "Rss:", 4) == 0) sum += strtoul(line + 4, NULL, 10) * 1024;
        if (strncmp(line, "VmFlags", 7) == 0) is_of_it = false;
    }
    fclose(maps);
    return sum;
}

static void what_is_recorded_does_not_stay_in_memory(void **state)
{
    recorded_size = MIB;
    open_world();
    live_through_much();
    uint64_t used = 0;
    for (int i = 0; i < 1000 && used < MIB / 4; i++) {
        pass(1000);
        sync_recording(&members[1]);
        const struct bytes read = read_recording(members[1].recorder_path);
        memcpy(&used, read.at + 16, sizeof used);
        free(read.at);
    }
    assert_true(used >= MIB / 4);
    const size_t stays = resident("memfd:elector-flight");
    assert_true(stays > 0 && stays <= MEMBERS * MIB / 8);
    for (el_node node = 1; node <= MEMBERS; node++) die(node);
    all_agree();
    close_recorded();
}

static void under_every_algorithm(void **state)
{
    uint32_t count;
    const struct el_algorithm *const *all = hosted_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) {
        char text[200];
        open_world();
        recorded_size = 4 * MIB;
        for (el_node node = 1; node <= MEMBERS; node++) {
            struct config *config = &members[node].config;
            die(node);
            config->group_count = 1;
            snprintf(config->groups[0].name, sizeof config->groups[0].name, "other");
            config->groups[0].algorithm = all[i];
        }
        for (el_node node = 1; node <= MEMBERS; node++) start(node);
        for (el_node node = 1; node <= MEMBERS; node++)
            host_stand(host_find(members[node].host, "other", text, sizeof text), true, node);
        pass(4000);
        for (el_node node = 1; node <= MEMBERS; node++) die(node);
        all_agree();
        close_recorded();
    }
}

/* As an leadership does: whoever is elected proclaims at once, and once gives up in the same breath. */
static void proclaim_or_resign(struct member *member, struct host_group *group)
{
    static unsigned times;
    const struct host_view view = host_view_of(group);
    if (view.role != EL_LEADER || view.value[0]) return;
    if (times++ == 1)
        (void)host_resign(group);
    else
        host_proclaim(group, "from within");
}

static void calls_from_within_come_at_the_same_point(void **state)
{
    recorded_size = 4 * MIB;
    open_world();
    on_changed = proclaim_or_resign;
    live_through_much();
    for (el_node node = 1; node <= MEMBERS; node++) die(node);
    all_agree();
    close_recorded();
}

static void a_lost_record_asks_for_the_time_of_day(void **state)
{
    recorded_size = 4 * MIB;
    open_world();
    pass(1000);
    die(2);
    unlink(members[2].path);
    start(2);
    stand(2, true);
    pass(8000);
    die(2);
    const struct recorder_report report = replay_file(2);
    if (report.verdict != RECORDER_AGREES) fail_msg("%s", report.text);
    close_recorded();
}

static void the_recording_before_is_kept_once(void **state)
{
    char old[96];
    recorded_size = 4 * MIB;
    open_world();
    pass(3000);
    die(1);
    const uint64_t inputs = replay_file(1).inputs;
    start(1);
    snprintf(old, sizeof old, "%s.1", members[1].recorder_path);
    const struct bytes read = read_recording(old);
    assert_int_equal(replay_bytes(read, false).inputs, inputs);
    free(read.at);
    close_recorded();
}

/* ---- What is not ---- */

static void other_settings_do_other_things(void **state)
{
    char text[512];
    struct recorder_report report;
    recorded_size = 4 * MIB;
    open_world();
    live_through_much();
    die(1);
    struct recorder_reader *tape = recorder_load(members[1].recorder_path, text, sizeof text);
    assert_non_null(tape);
    tape->config.drift++;
    assert_true(recorder_replay(tape, NULL, RECORDER_TRUSTS, &report));
    assert_int_equal(report.verdict, RECORDER_DIVERGES);
    assert_non_null(strstr(report.text, "it writes its state, but not as recorded"));
    recorder_reader_free(tape);
    close_recorded();
}

static size_t number_at(struct bytes bytes, size_t at)
{
    size_t number = 0;
    for (unsigned i = 0; i < 8; i++) number |= (size_t)bytes.at[at + i] << 8 * i;
    return number;
}

static void every_flipped_byte_is_found(void **state)
{
    recorded_size = MIB / 4;
    open_world();
    stand(1, true);
    pass(1500);
    die(1);
    struct bytes read = read_recording(members[1].recorder_path);
    const struct recorder_report whole = replay_bytes(read, false);
    assert_int_equal(whole.verdict, RECORDER_AGREES);
    const size_t used = number_at(read, RECORDER_USED_AT), state_at = number_at(read, RECORDER_STATE_AT),
                 end = state_at + number_at(read, RECORDER_STATE_SIZE_AT);
    for (size_t at = 0; at < end; at += at < 100 ? 1 : 37) {
        if ((at >= 12 && at < 16) || (at >= 24 && at < 40))
            continue; /* flags, what is pending, and which generation it is */
        if (at >= RECORDER_MORE_AT && at < RECORDER_MORE_USED_AT) continue; /* nothing was added */
        if (at >= used && at < state_at) at = state_at;                     /* nothing is there */
        read.at[at] ^= 0x10;
        const struct recorder_report report = replay_bytes(read, false);
        if (report.verdict == RECORDER_AGREES) fail_msg("byte %zu", at);
        read.at[at] ^= 0x10;
    }
    free(read.at);
    close_recorded();
}

static void what_is_cut_off_is_refused(void **state)
{
    recorded_size = MIB / 4;
    open_world();
    pass(500);
    die(1);
    const struct bytes read = read_recording(members[1].recorder_path);
    const size_t used = number_at(read, RECORDER_USED_AT);
    for (size_t size = 0; size < used; size += size < 64 ? 1 : 101)
        assert_int_equal(replay_bytes((struct bytes){read.at, size}, false).verdict, RECORDER_DAMAGED);
    /* At each byte of the state that it begins with. It is at the end, so without all of it nothing can be replayed. */
    const size_t state_at = number_at(read, RECORDER_STATE_AT),
                 state_end = state_at + number_at(read, RECORDER_STATE_SIZE_AT);
    for (size_t size = state_at; size < state_end; size++) {
        char why[512] = "";
        assert_null(recorder_take("cut", read.at, size, why, sizeof why));
        assert_non_null(strstr(why, "cut: its initial state is damaged"));
    }
    free(read.at);
    close_recorded();
}

/* ---- Ends ---- */

/* Older halves are overwritten, and what is left begins in the middle of a life, with a state that must be
 * whole. */
static void a_full_recorder_goes_on_in_its_other_half(void **state)
{
    for (unsigned seconds = 60; seconds < 100; seconds += 7) {
        recorded_size = CONFIG_RECORDER_MIN;
        open_world();
        const uint64_t begun = now;
        on_changed = proclaim_or_resign;
        for (unsigned i = 0; i < seconds; i++) {
            char text[200];
            const el_node who = i % MEMBERS + 1;
            stand(who, i % 5 != 0);
            host_be_patient(host_find(members[who].host, "billing", text, sizeof text), i * 100);
            cut[1][2] = i % 7 == 3;
            snprintf(text, sizeof text, "group-%u", i % 11);
            host_stand(host_find(members[who].host, text, text + 100, 100), true, i);
            pass(1000);
        }
        for (el_node node = 1; node <= MEMBERS; node++) die(node);
        for (el_node node = 1; node <= MEMBERS; node++) {
            const struct recorder_report report = replay_file(node);
            if (report.verdict != RECORDER_AGREES) fail_msg("member %u, %u s: %s", node, seconds, report.text);
            assert_int_equal(report.flags, RECORDER_CLOSED);
            assert_true(report.began > begun);
            assert_true(now - report.ended < UINT64_C(1000) * MILLISECOND);
        }
        close_recorded();
    }
}

static struct bytes seen_inside;

static void read_inside(struct member *member, struct host_group *group)
{
    if (host_view_of(group).role != EL_LEADER || seen_inside.at) return;
    sync_recording(member);
    seen_inside = read_recording(member->recorder_path);
}

/* As whoever dies there would leave it. */
static void a_call_that_did_not_return_is_told_of(void **state)
{
    recorded_size = 4 * MIB;
    open_world();
    on_changed = read_inside;
    stand(1, true);
    pass(3000);
    assert_non_null(seen_inside.at);
    const struct recorder_report before = replay_bytes(seen_inside, false),
                                 with = replay_bytes(seen_inside, true);
    assert_int_equal(before.verdict, RECORDER_AGREES);
    assert_non_null(before.unfinished);
    assert_int_equal(with.verdict, RECORDER_AGREES);
    assert_int_equal(with.inputs, before.inputs + 1);
    free(seen_inside.at);
    close_recorded();
}

/* The field of the half being written, as the file has it; 0: the file has no such bytes yet. */
static uint64_t field_in_file(const struct recorder *f, struct bytes read, size_t at)
{
    const size_t half = f->base == f->map ? 0 : f->size;
    return read.size < half + at + 8 ? 0 : el_get(read.at + half + at, 8);
}

/* Waits until the writer has copied, unasked, what was recorded before this call. */
static void read_while_it_lives(struct member *member, struct host_group *group)
{
    const struct recorder *f = member->recorder;
    if (host_view_of(group).role != EL_LEADER || seen_inside.at) return;
    const uint64_t used = el_get(f->base + RECORDER_USED_AT, 8);
    assert_true(el_get(f->base + RECORDER_PENDING_AT, 8) > 0); /* we are inside of a call */
    for (int waited = 0; waited < give_up_ms(); waited++) {
        seen_inside = read_recording(member->recorder_path);
        if (field_in_file(f, seen_inside, RECORDER_USED_AT) == used) return;
        free(seen_inside.at);
        seen_inside.at = NULL;
        (void)poll(NULL, 0, 1);
    }
    fail_msg("the writer copies nothing");
}

static void of_an_agent_that_lives_no_call_is_said_not_to_return(void **state)
{
    seen_inside = (struct bytes){0};
    recorded_size = 4 * MIB;
    open_world();
    on_changed = read_while_it_lives;
    stand(1, true);
    pass(3000);
    assert_non_null(seen_inside.at);
    const struct recorder_report report = replay_bytes(seen_inside, false);
    assert_int_equal(report.verdict, RECORDER_AGREES);
    assert_null(report.unfinished);
    free(seen_inside.at);
    seen_inside.at = NULL;
    close_recorded();
}

/* ---- Deaths ---- */

static void die_inside(struct member *member, struct host_group *group)
{
    if (host_view_of(group).role == EL_LEADER) raise(SIGKILL);
}

/* In a process whose children are this death's alone: the writers, which end by themselves. */
static _Noreturn void have_one_killed(void)
{
    int how = 0;
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const pid_t child = fork();
    if (child == 0) {
        for (el_node node = 1; node <= MEMBERS; node++) start(node);
        on_changed = die_inside;
        stand(1, true);
        pass(3000);
        _exit(1);
    }
    (void)waitpid(child, &how, 0);
    while (wait(NULL) > 0) {}
    _exit(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL ? 0 : 1);
}

/* The process that writes the file outlives the one that records, and copies what that did last. */
static void what_was_recorded_survives_whoever_recorded_it(void **state)
{
    int how = 0;
    recorded_size = 4 * MIB;
    open_world(); /* for the names of files */
    for (el_node node = 1; node <= MEMBERS; node++) die(node);
    const pid_t child = fork();
    if (child == 0) have_one_killed();
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    const struct recorder_report report = replay_file(1);
    if (report.verdict != RECORDER_AGREES) fail_msg("%s", report.text);
    assert_non_null(report.unfinished);
    assert_true(report.inputs > 0);
    close_recorded();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_done_is_done_again),
        cmocka_unit_test(whoever_is_recorded_is_told_as_much),
        cmocka_unit_test(what_is_recorded_does_not_stay_in_memory),
        cmocka_unit_test(under_every_algorithm),
        cmocka_unit_test(calls_from_within_come_at_the_same_point),
        cmocka_unit_test(a_lost_record_asks_for_the_time_of_day),
        cmocka_unit_test(the_recording_before_is_kept_once),
        cmocka_unit_test(other_settings_do_other_things),
        cmocka_unit_test(every_flipped_byte_is_found),
        cmocka_unit_test(what_is_cut_off_is_refused),
        cmocka_unit_test(a_full_recorder_goes_on_in_its_other_half),
        cmocka_unit_test(a_call_that_did_not_return_is_told_of),
        cmocka_unit_test(of_an_agent_that_lives_no_call_is_said_not_to_return),
        cmocka_unit_test(what_was_recorded_survives_whoever_recorded_it),
    };
    return sodium_init() < 0 || cmocka_run_group_tests(tests, NULL, NULL);
}
