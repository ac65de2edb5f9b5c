/*
 * A toy algorithm that notes every event, for tests of the host's rules. Its nodes perform an errand when
 * asked to call an election, and story() compares "TIME:NODE NOTE VALUES", in message delays.
 */
#ifndef ELECTOR_TEST_LIB_SIM_TOY_H
#define ELECTOR_TEST_LIB_SIM_TOY_H

#include "lib/sim/bench.h"

#define T UINT64_C(1000000)

/* ---- The toy ---- */

struct toy {
    el_node leader;
    uint32_t electing;
    uint64_t heard;
};

enum { LETTER = 1, CROWN, BALL };
enum { FIRST, SECOND, WATCH };
enum { GOT, RANG, SUSPECTS, TRUSTS, STARTED, CHOSE, UNSENT };

static void (*errand)(struct toy *me, const struct el_config *cfg, struct el_outbox *out);

static inline struct el_action *act(struct el_outbox *out, enum el_action_type type)
{
    struct el_action *action = &out->actions[out->count++];
    *action = (struct el_action){.type = type, .timer = EL_NO_TIMER};
    return action;
}

static inline void note(struct el_outbox *out, uint32_t what, uint64_t first, uint64_t second)
{
    struct el_action *action = act(out, EL_NOTE);
    action->note = what;
    action->values[0] = first;
    action->values[1] = second;
}

static inline struct el_action *post(struct el_outbox *out, const struct el_config *cfg, el_node to,
                                     uint8_t kind, el_node subject, uint64_t more)
{
    struct el_action *action = act(out, EL_SEND);
    action->msg = (struct el_msg){.from = cfg->self, .to = to, .subject = subject, .kind = kind, .more = more};
    return action;
}

static inline void arm(struct el_outbox *out, uint32_t timer, uint32_t slot, uint64_t tenths)
{
    struct el_action *action = act(out, EL_ARM);
    action->timer = timer;
    action->slot = slot;
    action->min = action->max = tenths * T / 10;
}

static inline void toy_start(void *state, const struct el_config *cfg, const struct el_start *start,
                             struct el_outbox *out)
{
    struct toy *me = state;
    me->leader = start->incumbent;
    if (start->how != EL_FRESH) note(out, STARTED, start->durable.epoch, me->heard);
}

static inline void toy_message(void *state, const struct el_config *cfg, const struct el_msg *m,
                               struct el_outbox *out)
{
    struct toy *me = state;
    me->heard++;
    if (m->kind == CROWN) {
        me->leader = m->subject;
        return;
    }
    note(out, GOT, m->more, m->from);
    if (m->kind == BALL) post(out, cfg, m->from, BALL, cfg->self, m->more);
}

static inline void toy_unsent(void *state, const struct el_config *cfg, const struct el_msg *m,
                              struct el_outbox *out)
{
    note(out, UNSENT, m->more, m->to);
}

static inline void toy_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                             struct el_outbox *out)
{
    note(out, RANG, timer, slot);
}

static inline void toy_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    note(out, SUSPECTS, peer, 0);
}

static inline void toy_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    note(out, TRUSTS, peer, 0);
}

static inline void toy_chosen(void *state, const struct el_config *cfg, uint32_t chosen, struct el_outbox *out)
{
    note(out, CHOSE, chosen, 0);
    if (chosen) act(out, EL_CHOOSE)->n = chosen; /* until it is 0 */
}

static inline void toy_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    if (errand) errand(state, cfg, out);
}

static inline void toy_arrival(void *state, const struct el_config *cfg, const struct el_msg *m,
                               el_duration elapsed, struct el_outbox *out)
{
    note(out, GOT, m->aux / (T / 10), elapsed / (T / 10)); /* both in tenths of a delay */
}

static inline void toy_view(const void *state, const struct el_config *cfg, struct el_view *view)
{
    const struct toy *me = state;
    view->leader = me->leader;
    view->role = me->leader == cfg->self ? EL_LEADER
                 : me->leader            ? EL_FOLLOWER
                 : me->electing          ? EL_ELECTING
                                         : EL_IDLE;
    view->term = 0;
    view->timer = EL_NO_TIMER;
    view->slot = 0;
}

static const char *const toy_kinds[] = {NULL, "Letter", "Crown", "Ball"};
static const char *const toy_timers[] = {"first", "second", "watch"};
static const struct el_note_text toy_notes[] = {
    [GOT] = {"got", "got #1 from @2"},          [RANG] = {"rang", "rang #1"},
    [SUSPECTS] = {"suspects", "suspects @1"},   [TRUSTS] = {"trusts", "trusts @1"},
    [STARTED] = {"started", "started with #1"}, [CHOSE] = {"chose", "chose #1"},
    [UNSENT] = {"unsent", "did not reach @2"},
};

static const struct el_algorithm toy_made = {.name = "toy",
                                             EL_KINDS(toy_kinds),
                                             EL_TIMERS(toy_timers),
                                             EL_NOTES(toy_notes),
                                             .claims =
                                                 EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST,
                                             .state_bytes = sizeof(struct toy),
                                             .outbox_fixed = 300,
                                             .on_start = toy_start,
                                             .on_message = toy_message,
                                             .on_unsent = toy_unsent,
                                             .on_timer = toy_timer,
                                             .on_suspect = toy_suspect,
                                             .on_trust = toy_trust,
                                             .on_chosen = toy_chosen,
                                             .on_campaign = toy_campaign,
                                             .view = toy_view,
                                             .stopwatch = WATCH};
static struct el_algorithm toy; /* a test may change it before it plays */
static uint64_t event_max;
static const char *guise; /* in whose words the plan is read; one without lists of members among its options */

static inline int bring_a_new_toy(void **state)
{
    toy = toy_made;
    errand = NULL;
    guise = "bully";
    event_max = 0;
    return 0;
}

static inline int put_it_away(void **state)
{
    bench_clear();
    return 0;
}

static inline void toys(const char *settings)
{
    struct sim_error error;
    bench_clear();
    snprintf(bench.text, sizeof bench.text, "%s; %s", guise, settings);
    bench_settle(__FILE__, __LINE__);
    if (sim_plan_build(&bench.plan, &bench.settings, &error) != 0)
        bench_fail(__FILE__, __LINE__, "%s", error.text);
    bench.plan.algorithm = &toy;
    if (event_max) bench.plan.event_max = event_max;
    bench.world = sim_world_new(&bench.plan, SIM_KEEP_ALL);
    assert_non_null(bench.world);
    bench.result = sim_world_run(bench.world);
    assert_false(bench.result->out_of_memory);
}

static inline const char *toy_note_name(uint32_t what)
{
    return what < toy.note_count ? toy_notes[what].name : what == EL_NOTE_DECLINED ? "declined" : "malformed";
}

/* What the toys noted, in order. */
static inline void story_is(const char *file, int line, const char *expected)
{
    char text[4096] = "", when[SIM_TIME_TEXT];
    const struct sim_trace *trace = sim_world_trace(bench.world);
    for (uint64_t i = 1; i <= trace->count; i++) {
        const struct sim_record *r = sim_trace_at(trace, i);
        if (r->what != SIM_NOTED) continue;
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s:%u %s %llu", used ? "; " : "",
                 sim_time_text(&bench.plan, r->time, when), r->node, toy_note_name(r->note),
                 (unsigned long long)r->values[0]);
        const size_t end = strlen(text);
        if (r->values[1]) snprintf(text + end, sizeof text - end, " %llu", (unsigned long long)r->values[1]);
    }
    if (strcmp(text, expected) != 0) bench_fail(file, line, "expected\n    %s\n  but\n    %s", expected, text);
}
#define story(expected) story_is(__FILE__, __LINE__, expected)

static inline bool happened(uint32_t faults)
{
    return (bench.result->faults & faults) == faults;
}

/* ---- Errands ---- */

static inline void write_to_two(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    post(out, cfg, 2, LETTER, cfg->self, 7);
}

static inline void write_to_all(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    for (el_node to = 1; to <= cfg->cluster->count; to++)
        if (to != cfg->self) post(out, cfg, to, LETTER, cfg->self, 7);
}

static inline void throw_a_ball(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    post(out, cfg, 2, BALL, cfg->self, 1);
}

static inline void set_an_alarm(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    arm(out, FIRST, 0, 40);
}

static inline void crown_itself_for_all(struct toy *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->leader = cfg->self;
    for (el_node to = 1; to <= cfg->cluster->count; to++)
        if (to != cfg->self) post(out, cfg, to, CROWN, cfg->self, 0);
}

/* ---- The table of a test ---- */

#define check(test) cmocka_unit_test_setup_teardown(test, bring_a_new_toy, put_it_away)

#endif
