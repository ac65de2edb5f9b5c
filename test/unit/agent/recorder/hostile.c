/* States and calls that no agent ever had, in a recording of somebody who wants to harm whoever replays it. */
#include "lib/host/recordings.h"

#include <sodium.h>

#include "agent/host/quorum/sessions.h"
#include "algorithms/registry.h"

/* ---- States ---- */

static struct session *s;
static struct session_group *group;
static struct quorum_group *q; /* the group's */

static void no_harm(void)
{
}

static void group_term(void)
{
    q->term = EL_EPOCH_MAX;
}
static void holder_term(void)
{
    q->holder.term = EL_EPOCH_MAX;
}
static void next_term(void)
{
    q->next.term = EL_EPOCH_MAX;
}
static void claim_term(void)
{
    q->claim.term = EL_EPOCH_MAX;
}
static void claim_heir_term(void)
{
    q->claim_heir_term = EL_EPOCH_MAX;
}
static void standing(void)
{
    q->standing = EL_EPOCH_MAX;
}
static void done(void)
{
    q->done = UINT64_MAX;
}
static void heir_term(void)
{
    q->heir_term = EL_EPOCH_MAX;
}
static void next_is_nobody(void)
{
    q->next_fresh = 1, q->next.id = EL_NOBODY;
}
static void next_is_no_member(void)
{
    q->next.id = MEMBERS + 1;
}
static void stands_in_no_term(void)
{
    q->role = QUORUM_CANDIDATE, q->standing = 0;
}

static void clock_of_me(void)
{
    s->me.clock = UINT64_MAX;
}
static void floor_of_me(void)
{
    s->me.floor = UINT64_MAX;
}
static void ceiling_of_me(void)
{
    s->me.ceiling = EL_EPOCH_MAX;
}
static void two_lives(void)
{
    s->me.incarnation++;
}
static void anybodys_majority(void)
{
    s->me.majority = 0;
}
static void peers_life(void)
{
    s->peers[1].incarnation = EL_EPOCH_MAX;
}

static void due_at_no_time(void)
{
    s->next_due--;
}
static void nobodys_lease(void)
{
    s->timers[QUORUM_LEASE][0] = UINT64_MAX - 1;
}
static void a_members_pulse(void)
{
    s->timers[QUORUM_PULSE][1] = UINT64_MAX - 1;
}
static void last_version(void)
{
    s->version = UINT64_MAX;
}
static void posted_later(void)
{
    group->posted = s->version + 1;
}
static void own_obituary(void)
{
    s->obituary_count = 1, s->obituaries[0] = (struct quorum_obituary){s->cfg.self, 1};
}
static void in_turn_without_waiting(void)
{
    s->first_in_turn = s->last_in_turn = group;
}

static const struct {
    const char *name;
    void (*spoil)(void);
} harms[] = {
#define HARM(what)  \
    {               \
#what, what \
    }
    HARM(group_term),
    HARM(holder_term),
    HARM(next_term),
    HARM(claim_term),
    HARM(claim_heir_term),
    HARM(standing),
    HARM(done),
    HARM(heir_term),
    HARM(next_is_nobody),
    HARM(next_is_no_member),
    HARM(stands_in_no_term),
    HARM(clock_of_me),
    HARM(floor_of_me),
    HARM(ceiling_of_me),
    HARM(two_lives),
    HARM(anybodys_majority),
    HARM(peers_life),
    HARM(due_at_no_time),
    HARM(nobodys_lease),
    HARM(a_members_pulse),
    HARM(last_version),
    HARM(posted_later),
    HARM(own_obituary),
    HARM(in_turn_without_waiting),
};

/* Of a member that is led by another. Whether what is packed then can be read again. */
static bool is_read_when(void (*spoil)(void))
{
    char text[200];
    open_world();
    stand(2, true);
    pass(3000);
    struct member *member = &members[1];
    group = (struct session_group *)host_find(member->host, "billing", text, sizeof text);
    s = session_of(group);
    q = &session_expand(group)->quorum;
    spoil();
    session_compact(group);
    const struct bytes bytes = packed(member->host);
    const struct host_hooks hooks = hooks_of(member);
    struct host *another = host_new(&member->config, member->record, hooks);
    struct recorder_bytes b = {.at = bytes.at, .end = bytes.at + bytes.size};
    const bool is_read = host_unpack(another, &b, false);
    host_free(another);
    free(bytes.at);
    close_world();
    return is_read;
}

static void what_would_harm_is_not_read(void **state)
{
    assert_true(is_read_when(no_harm));
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++)
        if (is_read_when(harms[i].spoil)) fail_msg("%s", harms[i].name);
}

/* ---- Calls from within calls ---- */

static unsigned calls, calls_max;

static void proclaim_again(struct member *member, struct host_group *of)
{
    char value[32];
    if (host_view_of(of).role != EL_LEADER || calls == calls_max) return;
    snprintf(value, sizeof value, "value-%u", ++calls);
    host_proclaim(of, value);
}

static void tick_again(struct member *member, struct host_group *of)
{
    if (calls < calls_max) calls++, (void)host_tick(member->host);
}

static enum recorder_verdict verdict_of(void (*call)(struct member *, struct host_group *), unsigned most)
{
    recorded_size = 4 * MIB;
    open_world();
    calls = 0;
    calls_max = most;
    on_changed = call;
    stand(1, true);
    pass(3000);
    assert_int_equal(calls, most);
    die(1);
    const enum recorder_verdict verdict = replay_file(1).verdict;
    close_recorded();
    return verdict;
}

static void calls_go_only_so_deep(void **state)
{
    assert_int_equal(verdict_of(proclaim_again, 60), RECORDER_AGREES);
    assert_int_equal(verdict_of(proclaim_again, 70), RECORDER_DAMAGED);
}

static void time_does_not_pass_within_a_call(void **state)
{
    assert_int_equal(verdict_of(tick_again, 0), RECORDER_AGREES);
    assert_int_equal(verdict_of(tick_again, 1), RECORDER_DAMAGED);
}

static void count_calls(struct recorder_listener *listener, const struct host_call *call)
{
    calls += call->what == HOST_RECEIVES || call->what == HOST_TRANSFERS;
}

/* Whoever listens counts upon it. */
static bool is_told_of(enum host_called what, el_node who)
{
    char text[512];
    struct recorder_report report;
    struct recorder_listener listener = {.called = count_calls};
    recorded_size = 4 * MIB;
    open_world();
    struct host *host = members[1].host;
    if (what == HOST_RECEIVES)
        host_receive(host, who, (const uint8_t *)"?", 1);
    else
        (void)host_transfer(host_find(host, "billing", text, sizeof text), who);
    die(1);
    struct recorder_reader *tape = recorder_load(members[1].recorder_path, text, sizeof text);
    assert_non_null(tape);
    calls = 0;
    assert_true(recorder_replay(tape, &listener, 0, &report));
    recorder_reader_free(tape);
    close_recorded();
    assert_int_equal(report.verdict, calls ? RECORDER_AGREES : RECORDER_DAMAGED);
    return calls > 0;
}

static void calls_are_of_members(void **state)
{
    for (el_node who = 0; who <= MEMBERS + 1; who++) {
        const bool is_member = who >= 1 && who <= MEMBERS;
        assert_int_equal(is_told_of(HOST_RECEIVES, who), is_member && who != 1); /* nobody hears itself */
        assert_int_equal(is_told_of(HOST_TRANSFERS, who), is_member);
    }
}

/* ---- Records ---- */

/* One that is alone, whose record says this of a group that is led so. */
static void live_with(const struct el_algorithm *algorithm, const char *name, struct el_durable durable)
{
    char text[200];
    const struct record_identity identity = {.cluster_id = {7}, .member = 1};
    struct member *member = &members[1];
    open_world();
    for (el_node node = 1; node <= MEMBERS; node++) die(node);
    member->config.member_count = 1;
    member->config.group_count = 1;
    snprintf(member->config.groups[0].name, sizeof member->config.groups[0].name, "other");
    member->config.groups[0].algorithm = algorithm;
    assert_int_equal(record_open(&member->record, member->path, &identity, text, sizeof text), RECORD_READY);
    assert_true(record_put(member->record, seal_group_key(member->config.cluster_id, name), &durable));
    struct record_image *image = record_image_of(member->record);
    assert_int_equal(record_write(member->record, image), 0);
    free(image);
    record_close(member->record);
    start(1);
    struct host_group *of = host_find(member->host, "other", text, sizeof text);
    host_stand(of, true, 0);
    pass(20000);
    assert_int_not_equal(host_view_of(of).role, EL_LEADER);
    close_world();
}

/* As high as a number can be: who begins there has no term left, and does not go round. */
static void a_record_may_leave_no_terms(void **state)
{
    live_with(&el_quorum, "sessions of any settings", (struct el_durable){1, {UINT64_MAX}});
}

static void a_record_may_name_nobody(void **state)
{
    live_with(&el_paxos, "other", (struct el_durable){2, {1, 1, UINT32_MAX}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_would_harm_is_not_read),      cmocka_unit_test(calls_go_only_so_deep),
        cmocka_unit_test(time_does_not_pass_within_a_call), cmocka_unit_test(calls_are_of_members),
        cmocka_unit_test(a_record_may_leave_no_terms),      cmocka_unit_test(a_record_may_name_nobody),
    };
    return sodium_init() < 0 || cmocka_run_group_tests(tests, NULL, NULL);
}
