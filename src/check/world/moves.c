/* The successors of a world: each move of each node, of the network, of time, and each fault left in the
 * budget. */
#include <string.h>

#include "check/world/moves.h"

/* ---- Messages in flight ---- */

static bool is_before(const struct check_model *model, uint32_t a, uint32_t b)
{
    if (!model->fifo) return a < b;
    const struct check_letter *x = check_letter_at(model, a), *y = check_letter_at(model, b);
    if (x->returns != y->returns) return x->returns < y->returns;
    if (x->msg.from != y->msg.from) return x->msg.from < y->msg.from;
    return x->msg.to < y->msg.to; /* equal links: in the order of sending */
}

/* True if, by the algorithm's own statement, the receiver will never react to it. */
static bool is_moot(const struct check_walk *walk, const struct check_world *world, uint32_t number)
{
    const struct check_model *model = walk->model;
    const struct check_letter *letter = check_letter_at(model, number);
    if (!model->uses_moot || letter->returns) return false;
    uint32_t local = world->local[letter->msg.to - 1];
    const uint8_t flags = check_head_of(check_local_at(model, local))->flags;
    const bool may_be_wiped =
        check_is_left(walk, CHECK_WIPE) && (!(flags & LOCAL_ALIVE) || check_is_left(walk, CHECK_CRASH));
    if (may_be_wiped) return false; /* a lost record may change what it reacts to */
    if (!(flags & LOCAL_STARTED)) return false;
    if (!(flags & LOCAL_ALIVE)) /* as it would be after a restart */
        local = check_outcomes_of(walk->memo, local, check_event(CHECK_REVIVE, 0), false).first->local;
    const struct check_head *head = check_head_of(check_local_at(model, local));
    const struct el_config cfg = {model->cluster, letter->msg.to};
    return model->algorithm->moot(head + 1, &cfg, &letter->msg);
}

void check_post(const struct check_walk *walk, struct check_world *world, uint32_t letter)
{
    const struct check_model *model = walk->model;
    if (is_moot(walk, world, letter)) return;
    uint32_t at = world->flight_count, copies = 0;
    while (at > 0 && is_before(model, letter, world->flight[at - 1])) at--;
    for (uint32_t i = at; !model->fifo && i > 0 && world->flight[i - 1] == letter; i--) copies++;
    if (!model->fifo && model->copies_max && copies >= model->copies_max) return;
    memmove(world->flight + at + 1, world->flight + at, (world->flight_count - at) * sizeof *world->flight);
    world->flight[at] = letter;
    world->flight_count++;
}

static void take_out(struct check_world *world, uint32_t at)
{
    world->flight_count--;
    memmove(world->flight + at, world->flight + at + 1, (world->flight_count - at) * sizeof *world->flight);
}

/* After a step of this node, messages to it may be moot. */
static void drop_moot(const struct check_walk *walk, struct check_world *world, el_node node)
{
    const struct check_model *model = walk->model;
    for (uint32_t i = 0; model->uses_moot && i < world->flight_count;) {
        if (check_letter_at(model, world->flight[i])->msg.to == node && is_moot(walk, world, world->flight[i]))
            take_out(world, i);
        else
            i++;
    }
}

static bool cannot_return(const struct check_walk *walk, const struct check_world *world)
{
    const uint8_t *budget = walk->model->config->budget;
    const bool restarts =
        budget[CHECK_RESTART] == CHECK_ANY || check_spent(world->spent, CHECK_RESTART) < budget[CHECK_RESTART];
    const bool wipes =
        budget[CHECK_WIPE] == CHECK_ANY || check_spent(world->spent, CHECK_WIPE) < budget[CHECK_WIPE];
    return !restarts && !wipes;
}

/* Removes letters without effect: returns to dead nodes, and messages to nodes that stay dead. */
static void drop_dead_letters(const struct check_walk *walk, struct check_world *world)
{
    const struct check_model *model = walk->model;
    const bool final = model->config->reduce && !model->hop_acks && cannot_return(walk, world);
    if (!final && !model->hop_acks) return;
    for (uint32_t i = 0; i < world->flight_count;) {
        const struct check_letter *letter = check_letter_at(model, world->flight[i]);
        const el_node owner = letter->returns ? letter->msg.from : letter->msg.to;
        const bool dead = !(check_head_of(check_local_at(model, world->local[owner - 1]))->flags & LOCAL_ALIVE);
        const bool started =
            check_head_of(check_local_at(model, world->local[owner - 1]))->flags & LOCAL_STARTED;
        if (dead && started && (letter->returns || final))
            take_out(world, i);
        else
            i++;
    }
}

/* ---- Arriving at a new world ---- */

/* Removes the excess letters in every combination, from `first` on; of equal letters only one is tried. */
static void shed(struct check_walk *walk, const struct check_world *world, struct check_step *step,
                 uint32_t first)
{
    const uint32_t excess = world->flight_count - walk->model->config->flight;
    for (uint32_t i = first; i + excess <= world->flight_count && walk->goes_on; i++) {
        if (i > first && world->flight[i] == world->flight[i - 1]) continue;
        struct check_world less;
        check_copy_world(&less, world);
        walk->shed[step->shed_count++] = world->flight[i];
        step->shed = walk->shed;
        take_out(&less, i);
        if (excess == 1)
            walk->goes_on = walk->visit(walk->context, &less, step);
        else
            shed(walk, &less, step, i);
        step->shed_count--;
    }
}

void check_arrive(struct check_walk *walk, struct check_world *world, struct check_step *step)
{
    const uint32_t most = walk->model->config->flight;
    if (!walk->goes_on) return;
    if (step->is_fault) world->leaderless = 0;
    if (most == 0 || world->flight_count <= most)
        walk->goes_on = walk->visit(walk->context, world, step);
    else
        shed(walk, world, step, 0);
}

static bool belongs_to_dawn(enum check_move_type type)
{
    return type == CHECK_DIE || type == CHECK_REVIVE || type == CHECK_STOP || type == CHECK_GO_ON ||
           type == CHECK_INSTALL;
}

/* True if this step calls for a leader. */
static bool calls(const struct check_model *model, uint32_t was, const struct check_step *step)
{
    const bool misses_leader =
        step->type == CHECK_TELL_SUSPECT && check_local_at(model, was)->leader == step->peer;
    return step->type == CHECK_CALL || step->type == CHECK_REVIVE || misses_leader;
}

void check_pay(const struct check_walk *walk, struct check_world *after, struct check_cost cost)
{
    check_copy_world(after, walk->from);
    if (cost.letter != CHECK_NO_LETTER) take_out(after, cost.letter);
    if (cost.budget != CHECK_BUDGETS) check_spend_one(walk, after, cost.budget);
}

void check_let(struct check_walk *walk, struct check_cost cost, struct check_step step, uint64_t event)
{
    struct check_model *model = walk->model;
    const uint32_t was = walk->from->local[step.node - 1];
    const struct check_outcomes outcomes =
        check_outcomes_of(walk->memo, was, event, check_is_left(walk, CHECK_CRASH));
    const struct check_outcome *outcome = outcomes.first;
    const bool was_fault = step.is_fault;
    walk->is_moving |= !step.is_fault;
    for (uint32_t i = 0; i < outcomes.count && walk->goes_on; i++, outcome = check_next_outcome(outcome)) {
        struct check_world after;
        if (walk->from->flight_count + outcome->sent > CHECK_FLIGHT_MAX) {
            check_give_up(model, "too many messages are in flight at once: bound them with --flight");
            return;
        }
        check_pay(walk, &after, cost);
        after.local[step.node - 1] = outcome->local;
        if (outcome->local != was) drop_moot(walk, &after, step.node);
        for (uint32_t j = 0; j < outcome->sent; j++) check_post(walk, &after, outcome->letters[j]);
        if (outcome->dying >= 0) check_spend_one(walk, &after, CHECK_CRASH);
        if (outcome->dying >= 0 || step.type == CHECK_DIE) drop_dead_letters(walk, &after);
        step.is_fault = was_fault || outcome->dying >= 0;
        after.called |= calls(model, was, &step);
        after.dawn &= belongs_to_dawn(step.type);
        step.outcome = outcome;
        check_arrive(walk, &after, &step);
    }
}

/* ---- The network ---- */

static bool is_head(const struct check_walk *walk, uint32_t at)
{
    const struct check_model *model = walk->model;
    const uint32_t *flight = walk->from->flight;
    if (!model->fifo) return at == 0 || flight[at] != flight[at - 1]; /* one of equal letters is enough */
    if (at == 0) return true;
    const struct check_letter *a = check_letter_at(model, flight[at - 1]),
                              *b = check_letter_at(model, flight[at]);
    return a->returns || a->msg.from != b->msg.from || a->msg.to != b->msg.to || a->returns != b->returns;
}

/* The addressee is dead: the letter returns to its sender if the algorithm needs hop acknowledgements. */
static void meet_nobody(struct check_walk *walk, uint32_t at)
{
    const struct check_letter *letter = check_letter_at(walk->model, walk->from->flight[at]);
    struct check_world after;
    check_pay(walk, &after, (struct check_cost){at, CHECK_BUDGETS});
    const bool sender_lives = check_flags_of(walk, letter->msg.from) & LOCAL_ALIVE;
    const bool returns = walk->model->hop_acks && sender_lives;
    if (returns) check_post(walk, &after, check_add_letter(walk->model, &letter->msg, LEFT_NONE, true));
    struct check_step step = {
        .type = CHECK_DROP, .node = letter->msg.to, .letter = walk->from->flight[at], .kept = returns};
    walk->is_moving = true;
    check_arrive(walk, &after, &step);
}

static bool loss_goes_without_saying(const struct check_model *model)
{
    return model->soup || (model->config->reduce && model->late_is_lost);
}

void check_deliver(struct check_walk *walk, uint32_t at)
{
    const uint32_t number = walk->from->flight[at];
    const struct check_letter *letter = check_letter_at(walk->model, number);
    const el_node to = letter->returns ? letter->msg.from : letter->msg.to;
    struct check_step step = {
        .type = letter->returns ? CHECK_RETURN : CHECK_DELIVER, .node = to, .letter = number};
    if (!(check_flags_of(walk, to) & LOCAL_ALIVE)) {
        walk->is_moving = true;
        if (!loss_goes_without_saying(walk->model)) meet_nobody(walk, at);
        return;
    }
    if (!check_is_awake(walk, to) || check_local_of(walk, to)->is_overdue) return;
    step.kept = walk->model->soup;
    check_let(walk, (struct check_cost){step.kept ? CHECK_NO_LETTER : at, CHECK_BUDGETS}, step,
              check_event(step.type, number));
    if (walk->model->soup || letter->returns || !check_is_left(walk, CHECK_DUPLICATE)) return;
    step.kept = step.is_fault = true;
    check_let(walk, (struct check_cost){CHECK_NO_LETTER, CHECK_DUPLICATE}, step,
              check_event(step.type, number));
}

void check_lose(struct check_walk *walk, uint32_t at)
{
    const struct check_letter *letter = check_letter_at(walk->model, walk->from->flight[at]);
    if (letter->returns || !check_is_left(walk, CHECK_LOSE) || loss_goes_without_saying(walk->model)) return;
    struct check_world after;
    check_pay(walk, &after, (struct check_cost){at, CHECK_LOSE});
    struct check_step step = {
        .type = CHECK_DROP, .node = letter->msg.to, .letter = walk->from->flight[at], .is_fault = true};
    check_arrive(walk, &after, &step);
}

/* ---- Nodes ---- */

/* An answer may arrive exactly at the timeout: at one instant messages come first. */
static bool must_hear_first(const struct check_walk *walk, el_node node)
{
    for (uint32_t i = 0; walk->model->timely && i < walk->from->flight_count; i++) {
        const struct check_letter *letter = check_letter_at(walk->model, walk->from->flight[i]);
        if (letter->left == 0 && !letter->returns && letter->msg.to == node) return true;
    }
    return false;
}

static void fire(struct check_walk *walk, el_node node)
{
    const struct check_model *model = walk->model;
    const struct check_local *local = check_local_of(walk, node);
    const uint16_t *left = check_left_of(model, local);
    const bool timed = model->config->time == CHECK_TICKS;
    for (uint32_t i = 0; i < model->left_count; i++) {
        if (left[i] == LEFT_NONE || (local->ends_first && i + 1 != local->ends_first)) continue;
        if (timed && left[i] != LEFT_OVERDUE &&
            (left[i] != 0 || local->is_overdue || must_hear_first(walk, node)))
            continue;
        const uint32_t timer = i / (model->count + 1), slot = i % (model->count + 1);
        const struct check_step step = {.type = CHECK_FIRE, .node = node, .timer = timer, .slot = slot};
        check_let(walk, CHECK_FREE_OF_COST, step, check_event(CHECK_FIRE, timer << 16 | slot));
    }
}

static void judge_peers(struct check_walk *walk, el_node node)
{
    const uint32_t suspects = check_head_of(check_local_of(walk, node))->suspects;
    const struct check_config *config = walk->model->config;
    if (!walk->model->algorithm->on_suspect || !(config->detect || config->budget[CHECK_SUSPECT])) return;
    for (el_node peer = 1; peer <= walk->model->count; peer++) {
        const bool suspected = suspects & 1u << (peer - 1), lives = check_flags_of(walk, peer) & LOCAL_ALIVE;
        struct check_step step = {
            .type = suspected ? CHECK_TELL_TRUST : CHECK_TELL_SUSPECT, .node = node, .peer = peer};
        if (peer == node || (suspected && !lives)) continue;
        if (!suspected && lives) {
            if (!check_is_left(walk, CHECK_SUSPECT)) continue;
            step.is_fault = true;
            check_let(walk, (struct check_cost){CHECK_NO_LETTER, CHECK_SUSPECT}, step,
                      check_event(step.type, peer));
        } else {
            check_let(walk, CHECK_FREE_OF_COST, step, check_event(step.type, peer));
        }
    }
}

void check_spend(struct check_walk *walk, enum check_budget budget, struct check_step step, uint32_t what)
{
    if (!check_is_left(walk, budget)) return;
    step.is_fault = true;
    check_let(walk, (struct check_cost){CHECK_NO_LETTER, budget}, step, check_event(step.type, what));
}

void check_ask(struct check_walk *walk, el_node node)
{
    if (!check_local_of(walk, node)->leading || !walk->model->algorithm->on_request) return;
    check_spend(walk, CHECK_RESIGN, (struct check_step){.type = CHECK_ASK_RESIGN, .node = node}, 0);
    for (el_node peer = 1; peer <= walk->model->count; peer++)
        if (peer != node)
            check_spend(walk, CHECK_TRANSFER,
                        (struct check_step){.type = CHECK_ASK_TRANSFER, .node = node, .peer = peer}, peer);
}

/* Bit 0: its record is lost now. Above it the wall clock, for a node that has none; it is higher for each life. */
static uint32_t revival(const struct check_walk *walk, bool is_wiped)
{
    if (!walk->model->tells_time) return is_wiped;
    const uint32_t lives =
        3u + check_spent(walk->from->spent, CHECK_RESTART) + check_spent(walk->from->spent, CHECK_WIPE);
    return lives << 1 | is_wiped;
}

bool check_come_or_go(struct check_walk *walk, el_node node)
{
    const uint8_t flags = check_flags_of(walk, node);
    const struct check_step revive = {.type = CHECK_REVIVE, .node = node};
    struct check_step wiped = revive;
    wiped.wiped = true;
    if (!(flags & LOCAL_ALIVE)) {
        check_spend(walk, CHECK_RESTART, revive, revival(walk, false));
        check_spend(walk, CHECK_WIPE, wiped, revival(walk, true));
        return false;
    }
    check_spend(walk, CHECK_CRASH, (struct check_step){.type = CHECK_DIE, .node = node}, 0);
    if (!(flags & LOCAL_PAUSED)) return true;
    check_let(walk, CHECK_FREE_OF_COST, (struct check_step){.type = CHECK_GO_ON, .node = node},
              check_event(CHECK_GO_ON, 0));
    return false;
}

static void act(struct check_walk *walk, el_node node)
{
    if (!check_come_or_go(walk, node)) return;
    fire(walk, node);
    check_spend(walk, CHECK_PAUSE, (struct check_step){.type = CHECK_STOP, .node = node}, 0);
    if (check_local_of(walk, node)->is_overdue) return;
    if (check_flags_of(walk, node) & LOCAL_CALLS)
        check_let(walk, CHECK_FREE_OF_COST, (struct check_step){.type = CHECK_CALL, .node = node},
                  check_event(CHECK_CALL, 0));
    judge_peers(walk, node);
    check_ask(walk, node);
}

/* ---- Time ---- */

static bool something_runs(const struct check_walk *walk)
{
    const struct check_model *model = walk->model;
    for (uint32_t i = 0; i < walk->from->flight_count; i++)
        if (check_letter_at(model, walk->from->flight[i])->left != LEFT_NONE) return true;
    for (el_node node = 1; node <= model->count; node++) {
        const uint16_t *left = check_left_of(model, check_local_of(walk, node));
        for (size_t i = 0; i < model->left_count; i++)
            if (left[i] != LEFT_NONE && left[i] != LEFT_OVERDUE) return true;
    }
    return false;
}

static bool may_pass(const struct check_walk *walk)
{
    const struct check_model *model = walk->model;
    if (model->config->time != CHECK_TICKS || !something_runs(walk)) return false;
    for (el_node node = 1; node <= model->count; node++)
        if (check_is_awake(walk, node) && check_local_of(walk, node)->is_due) return false;
    for (uint32_t i = 0; model->timely && i < walk->from->flight_count; i++) {
        const struct check_letter *letter = check_letter_at(model, walk->from->flight[i]);
        if (letter->left == 0 && check_is_awake(walk, letter->msg.to)) return false;
    }
    return true;
}

/* One tick passes for all. A letter that is then too late is lost; on a timely link it must be delivered
 * first. */
void check_pass(struct check_walk *walk)
{
    struct check_model *model = walk->model;
    struct check_step step = {.type = CHECK_TICK, .shed = walk->shed};
    struct check_world after;
    if (!may_pass(walk)) return;
    check_copy_world(&after, walk->from);
    after.flight_count = 0;
    for (el_node node = 1; node <= model->count; node++)
        after.local[node - 1] =
            check_outcomes_of(walk->memo, walk->from->local[node - 1], check_event(CHECK_TICK, 0), false)
                .first->local;
    for (uint32_t i = 0; i < walk->from->flight_count; i++) {
        const struct check_letter *letter = check_letter_at(model, walk->from->flight[i]);
        uint32_t number = walk->from->flight[i];
        if (letter->left != LEFT_NONE && letter->left < model->parts) {
            if (!model->timely || !(check_flags_of(walk, letter->msg.to) & LOCAL_ALIVE)) {
                if (step.shed_count < CHECK_SENT_MAX) walk->shed[step.shed_count++] = number;
                continue;
            }
        } else if (letter->left != LEFT_NONE) {
            number = check_aged_letter(model, number);
        }
        check_post(walk, &after, number);
    }
    if (model->config->horizon) after.ticks++;
    check_count_leaderless(model, &after);
    after.dawn = model->config->rounds;
    walk->is_moving = true;
    check_arrive(walk, &after, &step);
}

bool check_successors(struct check_model *model, struct check_memo *memo, const struct check_world *world,
                      check_visitor *visit, void *context)
{
    struct check_walk walk;
    walk.model = model, walk.memo = memo, walk.from = world, walk.visit = visit, walk.context = context;
    walk.goes_on = true, walk.is_moving = false;
    for (uint32_t i = 0; i < model->count; i++) walk.locals[i] = check_local_at(model, world->local[i]);
    for (el_node node = 1; node <= model->count; node++) {
        if (check_flags_of(&walk, node) & LOCAL_STARTED) continue;
        const struct check_step step = {.type = CHECK_START, .node = node};
        check_let(&walk, CHECK_FREE_OF_COST, step, check_event(CHECK_START, 0));
        return true;
    }
    if (model->config->rounds) {
        check_play_round(&walk);
        return walk.is_moving;
    }
    for (uint32_t i = 0; i < world->flight_count; i++) {
        if (!is_head(&walk, i)) continue;
        check_deliver(&walk, i);
        check_lose(&walk, i);
    }
    for (el_node node = 1; node <= model->count; node++) act(&walk, node);
    check_pass(&walk);
    return walk.is_moving;
}

bool check_is_cut(const struct check_model *model, const struct check_world *world)
{
    const struct check_config *config = model->config;
    if (config->horizon && world->ticks >= config->horizon) return true;
    for (uint32_t i = 0; i < model->count && config->terms; i++) {
        const uint64_t term = check_local_at(model, world->local[i])->term >> model->algorithm->term_shift;
        if (term > config->terms) return true;
    }
    return false;
}
