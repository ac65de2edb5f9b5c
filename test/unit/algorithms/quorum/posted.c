/*
 * The checker exhausts quorum as the agent composes it: beats carry no claims, which are posted in messages of their own;
 * messages and timers of sessions are handled without a group; the group is told of them later, after up to a beat. All of it is
 * the driver's doing: this file only decides when the group is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/quorum/driver.h"
#include "check/check.h"

enum { POSTED = QUORUM_KINDS + 1 };
enum { TELL = QUORUM_TIMERS };
#define MS UINT64_C(1000000)
#ifdef ELECTOR_SANITIZED
enum { FEWER = 2 }; /* ticks: a world takes ten times as long */
#else
enum { FEWER = 0 };
#endif

struct state {
    struct quorum_member member;
    struct quorum_group group;
    uint64_t posted[3]; /* the claim */
    uint32_t changes;   /* that the group has not been told of */
    uint32_t is_telling;
};

struct call {
    struct state *s;
    struct quorum_backing *backing;
    struct quorum q;
    uint32_t changes;
};

static struct quorum *call(struct call *c, void *state, const struct el_config *cfg, struct el_outbox *out,
                           bool with_group)
{
    struct state *s = state;
    if (!s) __builtin_trap(); /* the analyzer cannot know that it is never NULL */
    struct quorum_peer *peers = (struct quorum_peer *)(s + 1);
    struct quorum_ballot *ballots = (struct quorum_ballot *)(peers + cfg->cluster->count);
    *c = (struct call){.s = s, .backing = (struct quorum_backing *)(ballots + cfg->cluster->count)};
    c->q = (struct quorum){.cfg = cfg,
                           .out = out,
                           .me = &s->member,
                           .peers = peers,
                           .group = with_group ? &s->group : NULL,
                           .ballots = ballots,
                           .posts_claims = true};
    c->q.changes = &c->changes;
    return &c->q;
}

static void post(struct call *c, bool again)
{
    const struct quorum_claim now = quorum_claim_of(&c->s->group);
    const uint64_t claim[3] = {now.term, now.heir_term, now.heir};
    if (!again && memcmp(claim, c->s->posted, sizeof claim) == 0) return;
    memcpy(c->s->posted, claim, sizeof claim);
    for (el_node to = 1; to <= c->q.cfg->cluster->count; to++)
        if (to != c->q.cfg->self)
            quorum_send(&c->q, to,
                        (struct el_msg){
                            .kind = POSTED, .epoch = claim[0], .rank = claim[1], .subject = (el_node)claim[2]});
}

/* As session_close() of the agent. */
static void end_call(struct call *c)
{
    uint32_t changes = 0;
    if (!c->q.group) c->s->changes |= c->changes;
    for (uint32_t i = 0; i < c->q.cfg->cluster->count; i++)
        changes |= quorum_see_changes(&c->q.peers[i], &c->backing[i]);
    c->s->changes |= changes & ~(uint32_t)QUORUM_LAPSED;
    if (changes & QUORUM_LAPSED && c->s->group.role == QUORUM_LEADER) {
        c->q.group = &c->s->group;
        c->changes = 0;
        quorum_tell(&c->q, QUORUM_LAPSED, NULL, 0);
        end_call(c);
        return;
    }
    post(c, false);
    if (c->s->changes == 0 || c->s->is_telling) return;
    c->s->is_telling = 1;
    el_arm(c->q.out, TELL, 0, 0, el_number(c->q.cfg, QUORUM_OPTION_BEAT));
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct call c;
    quorum_start(call(&c, state, cfg, out, true), start);
    end_call(&c);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct call c;
    struct quorum *q = call(&c, state, cfg, out, m->kind == POSTED || quorum_is_of_group(m->kind));
    const struct quorum_peer *p = quorum_peer(q, m->from);
    if (m->kind != POSTED)
        (void)quorum_deliver(q, m);
    else if (quorum_from_incarnation(m) == p->incarnation && p->incarnation > p->dead)
        quorum_read_claim(q, m->from, p->incarnation, quorum_claim_in(m));
    end_call(&c);
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    struct call c;
    struct quorum *q = call(&c, state, cfg, out, timer >= QUORUM_ASKED);
    if (timer == TELL) {
        const uint32_t changes = c.s->changes;
        c.s->changes = c.s->is_telling = 0;
        quorum_tell(q, changes, NULL, 0);
    } else {
        quorum_fire(q, timer, slot);
    }
    if (timer == QUORUM_PULSE) post(&c, true); /* what was lost comes again */
    end_call(&c);
}

static enum el_answer on_request(void *state, const struct el_config *cfg, enum el_request_what what,
                                 el_node to, struct el_outbox *out)
{
    struct call c;
    const enum el_answer answer = quorum_request(call(&c, state, cfg, out, true), what, to);
    end_call(&c);
    return answer;
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    struct call c;
    struct el_outbox none = {0};
    quorum_view(call(&c, (void *)(uintptr_t)state, cfg, &none, true), v);
}

/* ---- What is asked ---- */

static const struct el_value times[QUORUM_OPTIONS] = {
    [QUORUM_OPTION_LEASE] = {.number = 1000 * MS}, [QUORUM_OPTION_BEAT] = {.number = 150 * MS},
    [QUORUM_OPTION_MARGIN] = {.number = 50 * MS},  [QUORUM_OPTION_REASK] = {.number = 200 * MS},
    [QUORUM_OPTION_STAGGER] = {.number = 25 * MS}, [QUORUM_OPTION_BLOCK] = {.number = 64}};
static const uint64_t ids[] = {1, 2, 3};
static uint8_t roles[3];
static struct el_algorithm posted;
static struct el_cluster cluster;
static struct check_config question;

static int set_up(void **state)
{
    static const char *kinds[QUORUM_KINDS + 2], *timers[QUORUM_TIMERS + 1];
    memcpy(kinds, el_quorum.kinds, (QUORUM_KINDS + 1) * sizeof *kinds);
    memcpy(timers, el_quorum.timers, QUORUM_TIMERS * sizeof *timers);
    kinds[POSTED] = "Claim";
    timers[TELL] = "tell";
    posted = el_quorum;
    posted.kinds = kinds;
    posted.kind_count = POSTED;
    posted.timers = timers;
    posted.timer_count = TELL + 1;
    posted.state_bytes = sizeof(struct state);
    posted.state_per_member += sizeof(struct quorum_backing);
    posted.on_start = on_start;
    posted.on_message = on_message;
    posted.on_timer = on_timer;
    posted.on_request = on_request;
    posted.on_fact = NULL;
    posted.membership = NULL; /* there is no era here */
    posted.on_campaign = NULL;
    posted.view = view;
    cluster = (struct el_cluster){
        .count = 3, .ids = ids, .roles = roles, .transmit_max = MS, .drift = 5000, .options = times};
    memset(roles, EL_CANDIDATE, sizeof roles);
    question = (struct check_config){.algorithm = &posted,
                                     .cluster = &cluster,
                                     .incumbent = 1,
                                     .time = CHECK_TICKS,
                                     .rounds = true,
                                     .reduce = true,
                                     .properties = 1u << CHECK_ONE_LEADER | 1u << CHECK_ONE_PER_TERM |
                                                   1u << CHECK_TOKENS_RISE,
                                     .memory = UINT64_C(2) << 30,
                                     .threads = 1};
    return 0;
}

static void holds(uint64_t worlds_min)
{
    struct check_result result = {0};
    check_run(&question, &result);
    print_message("%llu worlds, %llu moves, %.2f s\n", (unsigned long long)result.states,
                  (unsigned long long)result.moves, result.seconds);
    assert_string_equal(result.text, "");
    assert_int_equal(result.verdict, CHECK_HOLDS);
    assert_true(result.states >= worlds_min);
    check_result_free(&result);
}

static void a_member_is_cut_off(void **state)
{
    question.tick = 250 * MS;
    question.horizon = 9 - FEWER;
    question.budget[CHECK_PART] = 1;
    holds(200);
}

static void a_member_is_cut_off_and_a_message_late(void **state)
{
    roles[1] = EL_ORDINARY;
    question.tick = 100 * MS;
    question.horizon = 10 - FEWER;
    question.budget[CHECK_PART] = question.budget[CHECK_DELAY] = 1;
    holds(200);
}

static void a_member_restarts(void **state)
{
    question.tick = 350 * MS;
    question.horizon = 8 - FEWER;
    question.budget[CHECK_CRASH] = question.budget[CHECK_RESTART] = 1;
    holds(200);
}

static void a_member_stands_still(void **state)
{
    question.tick = 350 * MS;
    question.horizon = 8 - FEWER;
    question.budget[CHECK_PAUSE] = 1;
    holds(200);
}

static void a_leader_hands_over_and_resigns(void **state)
{
    question.tick = 350 * MS;
    question.horizon = 6 - FEWER;
    question.budget[CHECK_TRANSFER] = question.budget[CHECK_RESIGN] = question.budget[CHECK_LOSE] = 1;
    holds(200);
}

/* Q2: a new term is above all that was seen. A posting brings a claim without the header of a message. */
static void a_posted_term_counts_as_seen(void **state)
{
    const uint64_t term = quorum_term(9, 2);
    const struct el_config cfg = {.cluster = &cluster, .self = 1};
    struct call c;
    struct el_action actions[16];
    struct el_outbox out = {.actions = actions, .capacity = 16};
    static struct {
        struct state state;
        struct quorum_peer peers[3];
        struct quorum_ballot ballots[3];
        struct quorum_backing backing[3];
    } one;
    quorum_read_claim(call(&c, &one, &cfg, &out, true), 2, 1, (struct quorum_claim){.term = term});
    assert_true(quorum_new_term(&c.q, 1, 0) > term);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_posted_term_counts_as_seen, set_up),
        cmocka_unit_test_setup(a_member_is_cut_off, set_up),
        cmocka_unit_test_setup(a_member_is_cut_off_and_a_message_late, set_up),
        cmocka_unit_test_setup(a_member_restarts, set_up),
        cmocka_unit_test_setup(a_member_stands_still, set_up),
        cmocka_unit_test_setup(a_leader_hands_over_and_resigns, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
