/* Rounds: all events of one instant happen in one fixed order; budgets allow exceptions. */
#include <string.h>

#include "check/world/moves.h"

/* The order of two messages that arrive at one instant: by receiver, sender, then content. */
static bool comes_first(const struct el_msg *a, const struct el_msg *b)
{
    if (a->to != b->to) return a->to < b->to;
    if (a->from != b->from) return a->from < b->from;
    if (a->kind != b->kind) return a->kind < b->kind;
    if (a->subject != b->subject) return a->subject < b->subject;
    if (a->flags != b->flags) return a->flags < b->flags;
    /* By value: renumbering keeps that order. `more` comes last, since it may count within the others. */
    const uint64_t x[] = {a->epoch, a->rank, a->aux}, y[] = {b->epoch, b->rank, b->aux};
    for (size_t i = 0; i < EL_LENGTH(x); i++)
        if (x[i] != y[i]) return x[i] < y[i];
    for (size_t i = 0; i < EL_LENGTH(a->extra); i++)
        if (a->extra[i] != b->extra[i]) return a->extra[i] < b->extra[i];
    return a->more < b->more;
}

static bool has_arrived(const struct check_walk *walk, uint32_t at)
{
    const struct check_letter *letter = check_letter_at(walk->model, walk->from->flight[at]);
    return letter->left == 0 && check_is_awake(walk, letter->msg.to);
}

static uint32_t first_arrived(const struct check_walk *walk)
{
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < walk->from->flight_count; i++) {
        if (!has_arrived(walk, i)) continue;
        const struct el_msg *msg = &check_letter_at(walk->model, walk->from->flight[i])->msg;
        if (first == UINT32_MAX ||
            comes_first(msg, &check_letter_at(walk->model, walk->from->flight[first])->msg))
            first = i;
    }
    return first;
}

static void delay(struct check_walk *walk, uint32_t at)
{
    struct check_model *model = walk->model;
    const struct check_letter *letter = check_letter_at(model, walk->from->flight[at]);
    if (!check_is_left(walk, CHECK_DELAY)) return;
    struct check_world after;
    check_pay(walk, &after, (struct check_cost){at, CHECK_DELAY});
    check_post(walk, &after, check_add_letter(model, &letter->msg, (uint16_t)model->parts, false));
    struct check_step step = {
        .type = CHECK_PUT_OFF, .node = letter->msg.to, .letter = walk->from->flight[at], .is_fault = true};
    check_arrive(walk, &after, &step);
}

/* The letter is lost on a broken link; the break was the fault, not this loss. */
static void vanish(struct check_walk *walk, uint32_t at)
{
    struct check_world after;
    check_pay(walk, &after, (struct check_cost){at, CHECK_BUDGETS});
    after.dawn = 0;
    struct check_step step = {.type = CHECK_DROP, .letter = walk->from->flight[at]};
    step.node = check_letter_at(walk->model, step.letter)->msg.to;
    walk->is_moving = true;
    check_arrive(walk, &after, &step);
}

static void hear(struct check_walk *walk, uint32_t first)
{
    const struct el_msg *msg = &check_letter_at(walk->model, walk->from->flight[first])->msg;
    const el_node to = msg->to;
    if (walk->from->broken & check_link(walk->model->count, msg->from, msg->to)) {
        vanish(walk, first);
        return;
    }
    check_deliver(walk, first);
    check_lose(walk, first);
    delay(walk, first);
    for (uint32_t i = 0; i < walk->from->flight_count && check_is_left(walk, CHECK_REORDER); i++) {
        const struct check_letter *letter = check_letter_at(walk->model, walk->from->flight[i]);
        if (i == first || !has_arrived(walk, i) || letter->msg.to != to) continue;
        const struct check_step step = {
            .type = CHECK_DELIVER, .node = to, .letter = walk->from->flight[i], .is_fault = true};
        check_let(walk, (struct check_cost){i, CHECK_REORDER}, step,
                  check_event(CHECK_DELIVER, walk->from->flight[i]));
    }
}

/* Crashes, restarts and pauses happen at the beginning of an instant. This loses nothing, since within one
 * instant nodes do not see each other's actions. */
static void trouble(struct check_walk *walk)
{
    for (el_node node = 1; node <= walk->model->count; node++) {
        if (!check_come_or_go(walk, node)) continue;
        check_spend(walk, CHECK_PAUSE, (struct check_step){.type = CHECK_STOP, .node = node}, 0);
        if (check_local_of(walk, node)->is_overdue) continue;
        check_ask(walk, node);
        check_install(walk, node);
    }
}

static void break_links(struct check_walk *walk, enum check_budget budget, uint32_t links, bool mends)
{
    struct check_world after;
    if (!mends && (!check_is_left(walk, budget) || (walk->from->broken & links) == links)) return;
    check_copy_world(&after, walk->from);
    after.broken = mends ? 0 : after.broken | links;
    if (!mends) check_spend_one(walk, &after, budget);
    struct check_step step = {.type = CHECK_BREAK, .is_fault = true};
    check_arrive(walk, &after, &step);
}

static void trouble_links(struct check_walk *walk)
{
    const uint32_t count = walk->model->count;
    if (count > 5) return;
    if (walk->from->broken) break_links(walk, CHECK_CUT, 0, true);
    for (el_node a = 1; a <= count; a++) {
        uint32_t all = 0;
        for (el_node b = 1; b <= count; b++) {
            if (a == b) continue;
            break_links(walk, CHECK_CUT, check_link(count, a, b), false);
            all |= check_link(count, a, b) | check_link(count, b, a);
        }
        break_links(walk, CHECK_PART, all, false);
    }
}

static bool fire_first(struct check_walk *walk, bool overdue)
{
    for (el_node node = 1; node <= walk->model->count; node++) {
        const struct check_local *local = check_local_of(walk, node);
        if (!check_is_awake(walk, node) || !(overdue ? local->is_overdue : local->is_due)) continue;
        const uint16_t *left = check_left_of(walk->model, local);
        for (uint32_t i = 0; i < walk->model->left_count; i++) {
            if (left[i] != (overdue ? LEFT_OVERDUE : 0)) continue;
            if (local->ends_first && i + 1 != local->ends_first) continue;
            const uint32_t timer = i / (walk->model->count + 1), slot = i % (walk->model->count + 1);
            const struct check_step step = {.type = CHECK_FIRE, .node = node, .timer = timer, .slot = slot};
            check_let(walk, CHECK_FREE_OF_COST, step, check_event(CHECK_FIRE, timer << 16 | slot));
            return true;
        }
    }
    return false;
}

void check_play_round(struct check_walk *walk)
{
    if (walk->from->dawn) {
        trouble(walk);
        trouble_links(walk);
    }
    if (fire_first(walk, true)) return;
    const uint32_t first = first_arrived(walk);
    if (first != UINT32_MAX)
        hear(walk, first);
    else if (!fire_first(walk, false))
        check_pass(walk);
}
