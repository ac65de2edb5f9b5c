/*
 * Playing a script: messages stay in flight and timers armed until a step decides their fate. An impossible
 * step ends the run, and the error lists the possible ones.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/internal.h"
#include "sim/plan/builder.h"

enum { LIST_TEXT = 200 };

/* ---- Errors ---- */

/* Returns false. */
__attribute__((format(printf, 2, 3))) static bool refuse(struct sim_world *world, const char *format, ...)
{
    char what[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    struct builder b = {.settings = world->plan->settings,
                        .now = world->stage.step ? world->stage.step->source : NULL,
                        .error = &world->result.error};
    build_fail_at(&b, NULL, "%s", what);
    return false;
}

static unsigned long long id_of(const struct sim_world *world, el_node node)
{
    return el_id(&world->plan->cluster, node);
}

/* Adds to the list of possible steps; a list that is full ends with an ellipsis. */
__attribute__((format(printf, 2, 3))) static void add(char list[LIST_TEXT], const char *format, ...)
{
    char text[80];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const size_t used = strlen(list);
    if (used + strlen(text) + 8 < LIST_TEXT) {
        snprintf(list + used, LIST_TEXT - used, "%s%s", used ? ", " : "", text);
    } else if (used && list[used - 1] != '.') {
        snprintf(list + used, LIST_TEXT - used, ", ...");
    }
}

static const char *list_flight(const struct sim_world *world, char list[LIST_TEXT])
{
    list[0] = '\0';
    for (size_t i = 0; i < world->stage.flight_count; i++) {
        const struct el_msg *msg = &world->stage.flight[i].msg;
        add(list, "%llu>%llu %s", id_of(world, msg->from), id_of(world, msg->to),
            world->algorithm->kinds[msg->kind]);
    }
    return *list ? list : "nothing";
}

static const char *list_timers(const struct sim_world *world, el_node node, char list[LIST_TEXT])
{
    list[0] = '\0';
    for (uint32_t i = world->nodes[node].timers; i; i = world->timers[i].next) {
        const struct sim_timer *t = &world->timers[i];
        if (t->generation == 0) continue;
        if (t->slot) {
            add(list, "%s:%u", world->algorithm->timers[t->timer], t->slot);
        } else {
            add(list, "%s", world->algorithm->timers[t->timer]);
        }
    }
    return *list ? list : "none";
}

/* ---- Messages in flight ---- */

void sim_stage_hold(struct sim_world *world, const struct sim_event *event)
{
    struct sim_event *place =
        build_one_more(&world->stage.flight, &world->stage.flight_count, sizeof *world->stage.flight);
    if (place) {
        *place = *event;
    } else {
        world->result.out_of_memory = true;
    }
}

/* The message that the step names; NULL and an error if it is not in flight. */
static const struct sim_event *find_message(struct sim_world *world, const struct sim_step *step)
{
    uint64_t found = 0;
    for (size_t i = 0; i < world->stage.flight_count; i++) {
        const struct sim_event *event = &world->stage.flight[i];
        const struct el_msg *msg = &event->msg;
        if (msg->from == step->from && msg->to == step->to && msg->kind == step->kind && ++found == step->place)
            return event;
    }
    char list[LIST_TEXT];
    const char *kind = world->algorithm->kinds[step->kind];
    if (found) {
        refuse(world, "only %llu %s from %llu to %llu %s in flight", (unsigned long long)found, kind,
               id_of(world, step->from), id_of(world, step->to), found == 1 ? "is" : "are");
    } else {
        refuse(world, "no %s from %llu to %llu is in flight; in flight: %s", kind, id_of(world, step->from),
               id_of(world, step->to), list_flight(world, list));
    }
    return NULL;
}

static struct sim_event take_out(struct sim_world *world, const struct sim_event *event)
{
    struct sim_stage *stage = &world->stage;
    const struct sim_event taken = *event;
    const size_t place = (size_t)(event - stage->flight);
    stage->flight_count--;
    memmove(&stage->flight[place], &stage->flight[place + 1],
            (stage->flight_count - place) * sizeof *stage->flight);
    world->machines[SIM_ELECTION].in_flight--;
    return taken;
}

static bool overtakes(const struct sim_world *world, const struct sim_event *event)
{
    for (const struct sim_event *older = world->stage.flight; older < event; older++)
        if (older->msg.from == event->msg.from && older->msg.to == event->msg.to) return true;
    return false;
}

/* ---- Steps ---- */

static bool can_act(struct sim_world *world, el_node node)
{
    if (!world->nodes[node].alive) return refuse(world, "%llu is dead", id_of(world, node));
    if (world->nodes[node].paused) return refuse(world, "%llu is paused; resume it first", id_of(world, node));
    return true;
}

static bool deliver(struct sim_world *world, const struct sim_step *step)
{
    const struct sim_event *found = find_message(world, step);
    if (!found) return false;
    if (!world->nodes[step->to].alive)
        return refuse(world, "%llu is dead: the message can only be %slost", id_of(world, step->to),
                      world->algorithm->needs & EL_NEEDS_HOP_ACKS ? "returned or " : "");
    if (!can_act(world, step->to)) return false;
    if (overtakes(world, found)) world->result.faults |= EL_REORDERS;
    const struct sim_event event = take_out(world, found);
    sim_deliver(world, &event);
    return true;
}

/* The addressee is dead, or the link to it is cut. */
static bool return_hop(struct sim_world *world, const struct sim_step *step)
{
    const struct sim_event *found = find_message(world, step);
    if (!found || !can_act(world, step->from)) return false;
    if (found->copy) return refuse(world, "this is a copy; only the first message can return");
    if (found->incarnation != world->nodes[step->from].incarnation)
        return refuse(world, "%llu has restarted since it sent this", id_of(world, step->from));
    const struct sim_event event = take_out(world, found);
    if (world->nodes[step->to].alive) {
        world->result.faults |= EL_PARTITIONS;
        sim_network_cut_off(world, &event.msg, event.cause);
    } else {
        sim_network_find_dead(world, &event.msg, event.cause);
    }
    sim_take_back_hop(world, &event);
    return true;
}

static bool lose(struct sim_world *world, const struct sim_step *step)
{
    const struct sim_event *found = find_message(world, step);
    if (!found) return false;
    const struct sim_event event = take_out(world, found);
    if (world->nodes[step->to].alive) {
        sim_network_lose(world, &event.msg, event.cause);
    } else {
        sim_network_find_dead(world, &event.msg, event.cause);
    }
    return true;
}

static bool copy(struct sim_world *world, const struct sim_step *step)
{
    const struct sim_event *found = find_message(world, step);
    if (!found) return false;
    const struct sim_event event = *found; /* the array may move */
    sim_network_copy(world, &event.msg, event.cause);
    return true;
}

/*
 * By steps: a message that is still in flight when a timer fires is late. By ticks: a timer that fires before
 * its time shows that its clock has jumped.
 */
static uint32_t fault_of_firing(const struct sim_world *world, const struct sim_timer *timer)
{
    if (world->plan->script == SIM_BY_STEPS) return world->stage.flight_count ? EL_LATENESS : 0;
    return world->now < timer->earliest ? EL_DRIFTS : 0;
}

static bool fire(struct sim_world *world, const struct sim_step *step)
{
    char list[LIST_TEXT];
    if (!can_act(world, step->node)) return false;
    const struct sim_key_of_timer key = {step->node, SIM_ELECTION, step->timer, step->slot};
    const struct sim_timer *timer = sim_timer_armed(world, key);
    if (!timer)
        return refuse(world, "this timer is not armed; armed at %llu: %s", id_of(world, step->node),
                      list_timers(world, step->node, list));
    world->result.faults |= fault_of_firing(world, timer);
    world->stage.fired = true;
    const struct sim_event timeout = sim_timer_timeout(world, step->node, timer);
    sim_time_out(world, &timeout);
    return true;
}

static bool is_possible(struct sim_world *world, const struct sim_command *command)
{
    const struct sim_node *n = &world->nodes[command->node];
    const unsigned long long id = id_of(world, command->node);
    switch (command->type) {
    case SIM_DO_CRASH: return n->alive || refuse(world, "%llu is dead already", id);
    case SIM_DO_RESTART: return !n->alive || refuse(world, "%llu is not dead", id);
    case SIM_DO_RESUME: return n->paused || refuse(world, "%llu is not paused", id);
    case SIM_DO_SUSPECT:
    case SIM_DO_TRUST: {
        const bool suspects = sim_map_get(&world->suspicions, command->node, command->peer) != 0;
        if (!can_act(world, command->node)) return false;
        if (suspects != (command->type == SIM_DO_SUSPECT)) return true;
        return refuse(world, suspects ? "%llu suspects %llu already" : "%llu does not suspect %llu", id,
                      id_of(world, command->peer));
    }
    default: return can_act(world, command->node);
    }
}

static bool obey(struct sim_world *world, const struct sim_command *command)
{
    if (!is_possible(world, command)) return false;
    if (command->type == SIM_DO_RESUME) world->nodes[command->node].resume = world->now;
    sim_apply_command(world, command, command->node);
    return true;
}

static bool play(struct sim_world *world, const struct sim_step *step)
{
    switch (step->type) {
    case SIM_STEP_COMMAND: return obey(world, &step->command);
    case SIM_STEP_DELIVER: return deliver(world, step);
    case SIM_STEP_RETURN: return return_hop(world, step);
    case SIM_STEP_LOSE: return lose(world, step);
    case SIM_STEP_COPY: return copy(world, step);
    case SIM_STEP_FIRE: return fire(world, step);
    case SIM_STEP_WAIT:
    case SIM_STEP_LOOP: return true;
    }
    return true;
}

/* ---- Crashes and choices ---- */

bool sim_stage_lives_to(struct sim_world *world, const struct el_action *action)
{
    if (action->type != EL_SEND && action->type != EL_SAVE) return true;
    if (world->stage.acts == 0) return false;
    world->stage.acts--;
    return true;
}

bool sim_stage_choose(struct sim_world *world, uint32_t n, uint32_t *chosen)
{
    struct sim_stage *stage = &world->stage;
    const struct sim_step *step = stage->step;
    *chosen = 0;
    if (!step) return true; /* before the first step */
    if (stage->chosen == step->choice_count)
        return refuse(world, "it draws a number below %u%s: put choosing=N before the step", n,
                      stage->chosen ? " once more" : "");
    *chosen = step->choices[stage->chosen++];
    return *chosen < n || refuse(world, "it draws a number below %u, not %u", n, *chosen);
}

static el_node actor_of(const struct sim_step *step)
{
    switch (step->type) {
    case SIM_STEP_COMMAND: return step->command.node;
    case SIM_STEP_DELIVER: return step->to;
    case SIM_STEP_RETURN: return step->from;
    case SIM_STEP_FIRE: return step->node;
    default: return EL_NOBODY;
    }
}

/* Crashes the node if the step says so. Refuses a step whose choices, or SENDs and SAVEs, were not all used. */
static bool finish(struct sim_world *world, const struct sim_step *step)
{
    struct sim_stage *stage = &world->stage;
    if (world->result.error.text[0]) return false;
    if (step->dying) {
        const struct sim_command death = {.type = SIM_DO_CRASH, .node = actor_of(step)};
        stage->dying = false;
        if (stage->acts)
            return refuse(world, "there are only %llu SENDs and SAVEs to carry out, not %llu",
                          (unsigned long long)(step->acts - stage->acts), (unsigned long long)step->acts);
        sim_apply_command(world, &death, death.node);
    } else if (stage->chosen < step->choice_count) {
        return refuse(world, "it draws %zu number%s, not %zu", stage->chosen, stage->chosen == 1 ? "" : "s",
                      step->choice_count);
    }
    return true;
}

/* ---- The run ---- */

static void begin_loop(struct sim_world *world, uint64_t number)
{
    struct sim_stage *stage = &world->stage;
    stage->loop = number;
    stage->loop_record = sim_record(world, (struct sim_record){.what = SIM_LOOPED, .number = number});
    if (!sim_fingerprint(world, &stage->scene)) world->result.out_of_memory = true;
}

static bool close_loop(struct sim_world *world)
{
    struct sim_stage *stage = &world->stage;
    struct el_hash now;
    if (stage->loop == 0) return true;
    stage->step = &world->plan->steps[stage->loop - 1];
    if (!sim_fingerprint(world, &now)) {
        world->result.out_of_memory = true;
        return false;
    }
    if (now.high != stage->scene.high || now.low != stage->scene.low)
        return refuse(world, "the steps after it do not return to the state that the run had here");
    sim_oracle_goes_round(world, stage->loop, stage->loop_record);
    return true;
}

/* True if some message has been in flight for longer than transmit_max, in true time. */
static bool is_late(const struct sim_world *world)
{
    for (size_t i = 0; i < world->stage.flight_count; i++) {
        const struct sim_event *event = &world->stage.flight[i];
        if (world->nodes[event->node].alive && world->now - event->time > world->plan->cluster.transmit_max)
            return true;
    }
    return false;
}

static void let_time_pass(struct sim_world *world, const struct sim_step *step, bool begun)
{
    const bool by_ticks = world->plan->script == SIM_BY_TICKS;
    if (step->type == SIM_STEP_WAIT) {
        world->now += step->wait;
        if (by_ticks && is_late(world)) world->result.faults |= EL_LATENESS;
    } else if (step->type != SIM_STEP_LOOP && begun && !by_ticks) {
        world->now += world->plan->delay.max;
    }
}

static bool play_all(struct sim_world *world)
{
    const struct sim_plan *plan = world->plan;
    bool begun = world->stage.flight_count > 0;      /* by the nodes, when they started */
    for (size_t i = 0; i < plan->command_count; i++) /* facts known from the start */
        sim_apply_command(world, &plan->commands[i], plan->commands[i].node);
    for (size_t i = 0; i < plan->step_count && !world->result.out_of_memory; i++) {
        const struct sim_step *step = &plan->steps[i];
        world->stage.step = step;
        world->stage.dying = step->dying;
        world->stage.acts = step->acts;
        world->stage.chosen = 0;
        let_time_pass(world, step, begun);
        begun |= step->type != SIM_STEP_LOOP;
        world->result.events++;
        if (step->type == SIM_STEP_LOOP) begin_loop(world, i + 1);
        if (!play(world, step) || !finish(world, step)) return false;
    }
    return close_loop(world);
}

void sim_stage_play(struct sim_world *world)
{
    const struct sim_machine *election = &world->machines[SIM_ELECTION];
    if (!play_all(world)) return;
    if (election->in_flight || election->armed) return;
    sim_record(world, (struct sim_record){.what = SIM_RESTED});
    world->result.came_to_rest = true;
}
