/*
 * A crowd: all members of one detector on a small host, where every message takes one delay. A test creates it,
 * lets time pass, injects faults, and asks who suspects whom:
 *
 *     gather("swim", 5);
 *     live(10 * SECOND);
 *     kills(3);
 *     live(40 * SECOND);
 *     assert_string_equal(suspicions(), "1:3 2:3 4:3 5:3");
 */
#ifndef ELECTOR_TEST_LIB_NODE_CROWD_H
#define ELECTOR_TEST_LIB_NODE_CROWD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elector/core.h"

#define MILLISECOND UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
enum { CROWD_MAX = 64, CROWD_TIMERS = 8, CROWD_OPTIONS = 8 };

struct crowd_timer {
    uint64_t due, armed_at; /* due 0: not armed */
};

static struct {
    const struct el_algorithm *detector;
    struct el_cluster cluster;
    struct el_value options[CROWD_OPTIONS];
    uint64_t now, delay, dice;
    unsigned char *states[CROWD_MAX + 1];
    bool dead[CROWD_MAX + 1];
    bool cut[CROWD_MAX + 1][CROWD_MAX + 1];       /* from, to */
    bool suspected[CROWD_MAX + 1][CROWD_MAX + 1]; /* by, whom */
    struct crowd_timer timers[CROWD_MAX + 1][CROWD_TIMERS][CROWD_MAX + 1];
    struct {
        uint64_t at;
        struct el_msg msg;
    } * post; /* in the order of arrival */
    size_t post_first, post_count, post_capacity;
    uint64_t sent, accusations;
    struct el_outbox out;
    char text[4096];
} crowd;

static inline uint64_t crowd_below(uint64_t n)
{
    crowd.dice = crowd.dice * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (crowd.dice >> 33) % n;
}

static inline void crowd_post(const struct el_msg *msg)
{
    crowd.sent++;
    if (crowd.cut[msg->from][msg->to]) return;
    if (crowd.post_count == crowd.post_capacity) {
        crowd.post_capacity = crowd.post_capacity ? 2 * crowd.post_capacity : 1024;
        crowd.post = realloc(crowd.post, crowd.post_capacity * sizeof *crowd.post);
        assert_non_null(crowd.post);
    }
    crowd.post[crowd.post_count].at = crowd.now + crowd.delay;
    crowd.post[crowd.post_count++].msg = *msg;
}

static inline void crowd_step(el_node node, const struct el_event *event);

static inline void crowd_act(el_node node, const struct el_action *action)
{
    const uint32_t which = action->timer < CROWD_TIMERS ? action->timer : 0; /* not all actions have one */
    struct crowd_timer *timer = &crowd.timers[node][which][action->slot];
    switch (action->type) {
    case EL_SEND: crowd_post(&action->msg); return;
    case EL_ARM:
        timer->armed_at = crowd.now;
        timer->due = crowd.now + action->min + crowd_below(action->max - action->min + 1);
        return;
    case EL_DISARM: timer->due = 0; return;
    case EL_VERDICT:
        assert_int_not_equal(crowd.suspected[node][action->peer], action->suspected);
        crowd.suspected[node][action->peer] = action->suspected;
        crowd.accusations += action->suspected;
        return;
    case EL_NOTE:
    case EL_CHOOSE: return;
    case EL_MOVE:
    case EL_SAVE: fail();
    }
}

static inline void crowd_step(el_node node, const struct el_event *event)
{
    const struct el_config cfg = {&crowd.cluster, node};
    uint32_t draw_below = 0;
    el_step(crowd.detector, &cfg, crowd.states[node], event, &crowd.out);
    for (uint32_t i = 0; i < crowd.out.count; i++) {
        crowd_act(node, &crowd.out.actions[i]);
        if (crowd.out.actions[i].type == EL_CHOOSE) draw_below = crowd.out.actions[i].n;
    }
    if (draw_below == 0) return;
    struct el_event chosen = {.type = EL_CHOSEN};
    chosen.chosen = (uint32_t)crowd_below(draw_below);
    el_step(crowd.detector, &cfg, crowd.states[node], &chosen, &crowd.out);
    for (uint32_t i = 0; i < crowd.out.count; i++) crowd_act(node, &crowd.out.actions[i]);
}

static inline void crowd_start(el_node node, enum el_start_how how)
{
    struct el_event event = {.type = EL_START};
    event.start.how = how;
    memset(crowd.states[node], 0, el_state_size(crowd.detector, crowd.cluster.count));
    memset(crowd.timers[node], 0, sizeof crowd.timers[node]);
    memset(crowd.suspected[node], 0, sizeof crowd.suspected[node]);
    crowd.dead[node] = false;
    crowd_step(node, &event);
}

/* The options are as a test sets them, otherwise 0. Delays are 10 ms, steps take no time. */
static inline void gather(const char *name, uint32_t count)
{
    for (el_node node = 0; node <= CROWD_MAX; node++) free(crowd.states[node]);
    free(crowd.post);
    free(crowd.out.actions);
    memset(&crowd, 0, sizeof crowd);
    crowd.detector = el_detector_named(name);
    assert_non_null(crowd.detector);
    assert_true(crowd.detector->timer_count <= CROWD_TIMERS && crowd.detector->option_count <= CROWD_OPTIONS);
    crowd.delay = 10 * MILLISECOND;
    crowd.dice = count;
    crowd.cluster = (struct el_cluster){
        .count = count, .transmit_max = crowd.delay, .process_max = MILLISECOND, .options = crowd.options};
    const uint32_t bound = (uint32_t)el_outbox_bound(crowd.detector, count);
    crowd.out = (struct el_outbox){calloc(bound, sizeof(struct el_action)), bound, 0};
    assert_non_null(crowd.out.actions);
    for (el_node node = 1; node <= count; node++) {
        crowd.states[node] = calloc(1, el_state_size(crowd.detector, count));
        assert_non_null(crowd.states[node]);
    }
}

static inline void crowd_option(const char *name, uint64_t number)
{
    for (uint32_t i = 0; i < crowd.detector->option_count; i++) {
        if (strcmp(crowd.detector->options[i].name, name) != 0) continue;
        crowd.options[i].number = number;
        return;
    }
    fail_msg("there is no option '%s'", name);
}

static inline void all_start(void)
{
    for (el_node node = 1; node <= crowd.cluster.count; node++) crowd_start(node, EL_FRESH);
}

static inline void kills(el_node node)
{
    crowd.dead[node] = true;
}

static inline void revives(el_node node)
{
    crowd_start(node, EL_RESTORED);
}

/* Messages one way, or both. */
static inline void cuts(el_node from, el_node to, bool cut)
{
    crowd.cut[from][to] = cut;
}

static inline void parts(el_node a, el_node b, bool cut)
{
    cuts(a, b, cut);
    cuts(b, a, cut);
}

/* ---- Living ---- */

static inline struct crowd_timer *crowd_first_timer(el_node *node, struct el_event *event)
{
    struct crowd_timer *first = NULL;
    for (el_node n = 1; n <= crowd.cluster.count; n++)
        for (uint32_t timer = 0; !crowd.dead[n] && timer < crowd.detector->timer_count; timer++)
            for (uint32_t slot = 0; slot <= crowd.cluster.count; slot++) {
                struct crowd_timer *t = &crowd.timers[n][timer][slot];
                if (t->due == 0 || (first && t->due >= first->due)) continue;
                first = t;
                *node = n;
                event->timer = timer;
                event->slot = slot;
            }
    return first;
}

static inline void crowd_deliver(void)
{
    const struct el_msg msg = crowd.post[crowd.post_first++].msg;
    if (crowd.post_first == crowd.post_count) crowd.post_first = crowd.post_count = 0;
    if (crowd.dead[msg.to]) return;
    struct el_event event = {.type = EL_MESSAGE};
    event.msg = msg;
    event.elapsed = crowd.now - crowd.timers[msg.to][crowd.detector->stopwatch][msg.from].armed_at;
    crowd_step(msg.to, &event);
}

/* For so long; at one instant messages come before timers. */
static inline void live(uint64_t duration)
{
    const uint64_t until = crowd.now + duration;
    for (;;) {
        el_node node = EL_NOBODY;
        struct el_event event = {.type = EL_TIMER};
        while (crowd.post_count && crowd.post[crowd.post_first].at <= crowd.now) crowd_deliver();
        struct crowd_timer *timer = crowd_first_timer(&node, &event);
        const uint64_t next_post = crowd.post_count ? crowd.post[crowd.post_first].at : UINT64_MAX;
        const uint64_t next_timer = timer ? timer->due : UINT64_MAX;
        const uint64_t next = next_post <= next_timer ? next_post : next_timer;
        if (next > until) break;
        crowd.now = next;
        if (next_post <= next_timer) {
            crowd_deliver();
        } else {
            timer->due = 0;
            crowd_step(node, &event);
        }
    }
    crowd.now = until;
}

/* "1:3 2:3": which of the living suspect whom. */
static inline const char *suspicions(void)
{
    size_t used = 0;
    crowd.text[0] = '\0';
    for (el_node by = 1; by <= crowd.cluster.count; by++)
        for (el_node whom = 1; !crowd.dead[by] && whom <= crowd.cluster.count; whom++)
            if (crowd.suspected[by][whom] && used < sizeof crowd.text)
                used += (size_t)snprintf(crowd.text + used, sizeof crowd.text - used, used ? " %u:%u" : "%u:%u",
                                         by, whom);
    return crowd.text;
}

#endif
