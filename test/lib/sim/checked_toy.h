/*
 * A toy for the checker: a machine with handlers that the test writes, and a question about it. It is so
 * small that all its worlds are known, so a test can count what a reduction leaves out.
 */
#ifndef ELECTOR_TEST_LIB_SIM_CHECKED_TOY_H
#define ELECTOR_TEST_LIB_SIM_CHECKED_TOY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"

struct toy {
    uint32_t leads;
    el_node leader;
    uint64_t term;
    uint64_t count;
};

enum { LETTER = 1, ANSWER };
enum { ALARM };

static inline struct el_action *act(struct el_outbox *out, enum el_action_type type)
{
    struct el_action *action = &out->actions[out->count++];
    *action = (struct el_action){.type = type, .timer = EL_NO_TIMER};
    return action;
}

static inline void post(struct el_outbox *out, const struct el_config *cfg, el_node to, uint8_t kind,
                        uint64_t epoch)
{
    act(out, EL_SEND)->msg =
        (struct el_msg){.from = cfg->self, .to = to, .subject = cfg->self, .kind = kind, .epoch = epoch};
}

static inline void arm(struct el_outbox *out, el_duration after)
{
    struct el_action *action = act(out, EL_ARM);
    action->timer = ALARM;
    action->slot = 0;
    action->min = action->max = after;
}

static inline void toy_start(void *state, const struct el_config *cfg, const struct el_start *start,
                             struct el_outbox *out)
{
    ((struct toy *)state)->leader = start->incumbent;
}

static inline void toy_view(const void *state, const struct el_config *cfg, struct el_view *view)
{
    const struct toy *me = state;
    *view = (struct el_view){.role = me->leads ? EL_LEADER : EL_IDLE,
                             .leader = me->leads ? cfg->self : me->leader,
                             .term = me->term,
                             .timer = EL_NO_TIMER};
}

/* ---- What is asked ---- */

static struct el_algorithm toy;
static struct el_cluster cluster;
static struct check_config question;
static struct check_result result;

static inline int bring_a_new_toy(void **state)
{
    static const char *const kinds[] = {NULL, "Letter", "Answer"}, *const timers[] = {"alarm"};
    toy = (struct el_algorithm){.name = "toy",
                                EL_KINDS(kinds),
                                EL_TIMERS(timers),
                                .state_bytes = sizeof(struct toy),
                                .outbox_fixed = 64,
                                .outbox_per_member = 4,
                                .on_start = toy_start,
                                .view = toy_view};
    cluster = (struct el_cluster){.count = 2, .transmit_max = 1000000};
    question = (struct check_config){.algorithm = &toy,
                                     .cluster = &cluster,
                                     .tick = 1000000,
                                     .symmetry = true,
                                     .reduce = true,
                                     .memory = UINT64_C(256) << 20,
                                     .threads = 2};
    return 0;
}

static inline int put_the_toy_away(void **state)
{
    check_result_free(&result);
    return 0;
}

static inline void ask(uint32_t properties)
{
    check_result_free(&result);
    question.properties = properties;
    check_run(&question, &result);
}

static inline void breaks(enum check_property property, uint32_t moves)
{
    ask(1u << property);
    assert_string_equal(result.text, "");
    assert_int_equal(result.verdict, CHECK_BROKEN);
    assert_int_equal(result.broken, property);
    assert_int_equal(result.path.count - cluster.count, moves);
}

static inline void holds(enum check_property property)
{
    ask(1u << property);
    assert_string_equal(result.text, "");
    assert_int_equal(result.verdict, CHECK_HOLDS);
}

static inline void is_refused(uint32_t properties)
{
    ask(properties);
    assert_int_equal(result.verdict, CHECK_REFUSED);
}

#define on_the_toy(test) cmocka_unit_test_setup_teardown(test, bring_a_new_toy, put_the_toy_away)

#endif
