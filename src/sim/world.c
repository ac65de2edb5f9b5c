/* The loop: take the earliest event, let the node react, carry out what it asks for, judge. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "inner.h"

void sim_push(struct sim_world *world, const struct sim_event *event)
{
    if (!sim_queue_push(&world->queue, event)) world->result.out_of_memory = true;
}

/* ---- A node reacts ---- */

static void open_phase(struct sim_world *world)
{
    if (world->phase_open) return;
    world->phase_open = true;
    world->phase_began = world->now;
    world->phase_messages = world->result.sent[0];
}

/* A start or a suspicion: turnaround counts from the first. */
static void stir(struct sim_world *world)
{
    if (!world->stirred) world->began = world->last_news = world->now;
    world->stirred = true;
    open_phase(world);
}

static void news(struct sim_world *world)
{
    world->last_news = world->now;
}

static void look_at_view(struct sim_world *world, el_node node, uint64_t cause, bool recorded)
{
    struct sim_node *n = &world->nodes[node];
    const struct el_config cfg = {&world->plan->cluster, node};
    struct el_view view;
    world->algorithm->view(sim_state(world, node), &cfg, &view);
    if (view.leader == n->leader && view.role == n->role) return;
    const bool leader_changed = view.leader != n->leader;
    if (recorded && leader_changed) {
        news(world);
        sim_record(world, (struct sim_record){.what = SIM_VIEWED,
                                              .cause = cause,
                                              .node = node,
                                              .peer = view.leader,
                                              .role = (uint8_t)view.role,
                                              .number = view.term});
    }
    sim_oracle_view(world, node, view.leader, view.role);
}

static void take_note(struct sim_world *world, el_node node, const struct el_action *action, uint64_t cause)
{
    if (action->note < 64) world->result.notes |= UINT64_C(1) << action->note;
    sim_record(world, (struct sim_record){.what = SIM_NOTED,
                                          .cause = cause,
                                          .node = node,
                                          .note = action->note,
                                          .values = {action->values[0], action->values[1]}});
}

static void send(struct sim_world *world, el_node node, struct el_action *action, uint64_t cause)
{
    if (action->timer != EL_NO_TIMER)
        action->msg.aux = sim_timer_left(world, node, action->timer, action->slot);
    sim_network_send(world, &action->msg, cause);
}

static void save(struct sim_world *world, el_node node, const struct el_action *action, uint64_t cause)
{
    world->nodes[node].durable = action->durable;
    sim_record(world, (struct sim_record){.what = SIM_SAVED, .cause = cause, .node = node});
}

/*
 * Where in the outbox a change of view is best told: right after the last note that leads up to a message,
 * or before the first message if none does.
 */
static uint32_t place_of_view(const struct el_outbox *out)
{
    uint32_t place = out->count;
    bool sends = false;
    for (uint32_t i = out->count; i-- > 0;) {
        if (out->actions[i].type == EL_NOTE && sends) return i + 1;
        if (out->actions[i].type != EL_SEND) continue;
        sends = true;
        place = i;
    }
    return place;
}

/* Carries out the outbox, in order. Returns how many numbers the node wants drawn from, 0 if none. */
static uint32_t carry_out(struct sim_world *world, el_node node, uint64_t cause)
{
    const bool news_to_all = !world->setting_out;
    uint32_t choose = 0;
    const uint32_t view_at = place_of_view(&world->outbox);
    for (uint32_t i = 0; i < world->outbox.count; i++) {
        struct el_action *action = &world->outbox.actions[i];
        if (i == view_at) look_at_view(world, node, cause, news_to_all);
        switch (action->type) {
        case EL_SEND: send(world, node, action, cause); break;
        case EL_ARM: sim_timer_arm(world, node, action, cause); break;
        case EL_DISARM: sim_timer_disarm(world, node, action->timer, action->slot); break;
        case EL_MOVE: sim_timer_move(world, node, action->timer, action->to, action->slot); break;
        case EL_SAVE: save(world, node, action, cause); break;
        case EL_CHOOSE: choose = action->n; break;
        case EL_NOTE: take_note(world, node, action, cause); break;
        case EL_VERDICT: break; /* for machines that are detectors */
        }
    }
    if (view_at == world->outbox.count) look_at_view(world, node, cause, news_to_all);
    return choose;
}

static void react(struct sim_world *world, el_node node, const struct el_event *event, uint64_t cause)
{
    const struct el_config cfg = {&world->plan->cluster, node};
    el_step(world->algorithm, &cfg, sim_state(world, node), event, &world->outbox);
    uint32_t choose = carry_out(world, node, cause);
    while (choose) {
        const struct el_event chosen = {
            .type = EL_CHOSEN, .chosen = (uint32_t)sim_random_below(&world->random[SIM_STREAM_CHOICE], choose)};
        el_step(world->algorithm, &cfg, sim_state(world, node), &chosen, &world->outbox);
        choose = carry_out(world, node, cause);
    }
}

static void start(struct sim_world *world, el_node node, enum el_start_how how, uint64_t cause)
{
    struct el_event event = {.type = EL_START};
    event.start.how = how;
    event.start.incumbent = how == EL_FRESH ? world->plan->incumbent : EL_NOBODY;
    event.start.durable = world->nodes[node].durable;
    react(world, node, &event, cause);
}

static void suspect(struct sim_world *world, el_node node, el_node peer, bool suspected, uint64_t cause)
{
    if (suspected) {
        stir(world);
        if (world->nodes[node].leader == peer) world->called = true;
    } else {
        open_phase(world);
    }
    const uint64_t told = sim_record(world, (struct sim_record){.what = suspected ? SIM_SUSPECTED : SIM_TRUSTED,
                                                                .cause = cause,
                                                                .node = node,
                                                                .peer = peer});
    const struct el_event event = {.type = suspected ? EL_SUSPECT : EL_TRUST, .peer = peer};
    react(world, node, &event, told);
}

/* ---- Commands of the plan ---- */

static void campaign(struct sim_world *world, el_node node)
{
    if (!world->nodes[node].alive) return;
    const el_node leader = world->nodes[node].leader;
    if (world->leader_count > 0 || (leader && world->nodes[leader].alive))
        world->result.faults |= EL_NEEDLESS_CALLS;
    stir(world);
    world->called = true;
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_CAMPAIGNED, .node = node});
    const struct el_event event = {.type = EL_REQUEST, .request = EL_CAMPAIGN};
    react(world, node, &event, told);
}

static void crash(struct sim_world *world, el_node node)
{
    struct sim_node *n = &world->nodes[node];
    world->result.faults |= EL_CRASHES;
    sim_oracle_died(world, node);
    n->alive = false;
    n->paused = false;
    sim_timer_forget_all(world, node);
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_CRASHED, .node = node});
    bool missed = world->plan->detect == SIM_NEVER;
    for (el_node peer = 1; peer <= world->plan->cluster.count && world->plan->miss_count && !missed; peer++)
        missed = peer != node && sim_detector_misses(world, peer, node);
    if (missed) world->result.faults |= EL_UNNOTICED;
    sim_detector_look_at(world, node, told);
}

static void restart(struct sim_world *world, el_node node)
{
    struct sim_node *n = &world->nodes[node];
    world->result.faults |= EL_RESTARTS;
    memset(sim_state(world, node), 0, world->state_size);
    n->alive = true;
    n->incarnation++;
    n->born = world->now;
    sim_oracle_born(world, node);
    sim_detector_forget(world, node);
    stir(world);
    world->called = true;
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_RESTARTED, .node = node});
    start(world, node, EL_RESTORED, told);
    sim_detector_look_at(world, node, told);
    sim_detector_look_from(world, node, told);
}

static void set_break(struct sim_world *world, uint32_t number, bool broken)
{
    world->broken[number] = broken;
    if (broken) {
        world->broken_count++;
        world->result.faults |= EL_PARTITIONS;
    } else {
        world->broken_count--;
    }
    const uint64_t told =
        sim_record(world, (struct sim_record){.what = broken ? SIM_PARTED : SIM_HEALED, .number = number});
    const struct sim_break *b = &world->plan->breaks[number];
    for (el_node node = 1; node <= world->plan->cluster.count; node++)
        if (b->side ? b->side[node] != 0 : b->from == node) sim_detector_look_at(world, node, told);
}

static void accuse(struct sim_world *world, const struct sim_command *command, bool accused)
{
    if (accused) world->result.faults |= EL_FALSE_SUSPICIONS;
    if (!world->nodes[command->node].alive) return;
    const int verdict = sim_detector_accuse(world, command->node, command->peer, accused);
    if (verdict != 0) suspect(world, command->node, command->peer, verdict > 0, 0);
}

/* Pauses may overlap; the last one to end counts. */
static void pause(struct sim_world *world, const struct sim_command *command)
{
    struct sim_node *n = &world->nodes[command->node];
    if (!n->alive) return;
    world->result.faults |= EL_PAUSES;
    if (!n->paused) sim_record(world, (struct sim_record){.what = SIM_PAUSED, .node = command->node});
    if (!n->paused || n->resume < command->until) n->resume = command->until;
    n->paused = true;
}

static void resume(struct sim_world *world, const struct sim_command *command)
{
    struct sim_node *n = &world->nodes[command->node];
    if (!n->paused || world->now < n->resume) return;
    n->paused = false;
    sim_record(world, (struct sim_record){.what = SIM_RESUMED, .node = command->node});
}

/* Somebody is asked to call an election, or told of a death. */
static bool is_call(const struct sim_command *command)
{
    return command->type == SIM_DO_CAMPAIGN || command->type == SIM_DO_SUSPECT;
}

static void carry_out_command(struct sim_world *world, const struct sim_command *command)
{
    world->commands_left--;
    if (is_call(command)) world->calls_left--;
    switch (command->type) {
    case SIM_DO_CAMPAIGN: campaign(world, command->node); return;
    case SIM_DO_CRASH: crash(world, command->node); return;
    case SIM_DO_RESTART: restart(world, command->node); return;
    case SIM_DO_PAUSE: pause(world, command); return;
    case SIM_DO_RESUME: resume(world, command); return;
    case SIM_DO_PART: set_break(world, command->break_number, true); return;
    case SIM_DO_HEAL: set_break(world, command->break_number, false); return;
    case SIM_DO_SUSPECT: accuse(world, command, true); return;
    case SIM_DO_TRUST: accuse(world, command, false); return;
    }
}

/* ---- Events ---- */

static void take_back_hop(struct sim_world *world, const struct sim_event *event)
{
    world->result.failed_hops++;
    world->result.sent[0]--;
    world->result.sent[event->msg.kind]--;
    const struct sim_node *sender = &world->nodes[event->msg.from];
    if (!sender->alive || sender->incarnation != event->incarnation) return;
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_RETURNED,
                                                                .cause = event->cause,
                                                                .number = event->cause,
                                                                .node = event->msg.from,
                                                                .peer = event->msg.to,
                                                                .kind = event->msg.kind,
                                                                .subject = event->msg.subject});
    struct el_event back = {.type = EL_UNSENT};
    back.msg = event->msg;
    react(world, event->msg.from, &back, told);
}

static void find_dead(struct sim_world *world, const struct sim_event *event)
{
    sim_record(world, (struct sim_record){.what = SIM_DROPPED,
                                          .cause = event->cause,
                                          .number = event->cause,
                                          .node = event->msg.to,
                                          .peer = event->msg.from,
                                          .kind = event->msg.kind,
                                          .subject = event->msg.subject,
                                          .reason = SIM_DEAD});
    world->result.to_the_dead++;
    if (!(world->algorithm->needs & EL_NEEDS_HOP_ACKS) || event->copy) return;
    struct sim_event back = *event; /* refused: the sender hears of it one delay later */
    back.type = SIM_RETURN;
    back.node = event->msg.from;
    back.time = world->now + sim_network_delay(world);
    sim_push(world, &back);
    world->in_flight++;
}

static void deliver(struct sim_world *world, const struct sim_event *event)
{
    if (!world->nodes[event->node].alive) {
        find_dead(world, event);
        return;
    }
    world->result.delivered++;
    news(world);
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_DELIVERED,
                                                                .cause = event->cause,
                                                                .number = event->cause,
                                                                .node = event->msg.to,
                                                                .peer = event->msg.from,
                                                                .kind = event->msg.kind,
                                                                .subject = event->msg.subject});
    struct el_event arrival;
    arrival.type = EL_MESSAGE;
    arrival.peer = EL_NOBODY;
    arrival.msg = event->msg;
    arrival.elapsed = 0;
    if (world->algorithm->on_arrival)
        arrival.elapsed = sim_timer_elapsed(world, event->node, world->algorithm->stopwatch, event->msg.from);
    react(world, event->node, &arrival, told);
}

static void time_out(struct sim_world *world, const struct sim_event *event)
{
    if (!sim_timer_fires(world, event)) return;
    const uint64_t told = sim_record(world, (struct sim_record){.what = SIM_TIMED_OUT,
                                                                .cause = event->cause,
                                                                .node = event->node,
                                                                .kind = (uint8_t)event->timer});
    const struct el_event timeout = {.type = EL_TIMER, .timer = event->timer, .slot = event->slot};
    react(world, event->node, &timeout, told);
}

static void judge_one(struct sim_world *world, el_node node, el_node peer, uint64_t cause)
{
    if (node == peer || !world->nodes[node].alive || sim_detector_misses(world, node, peer)) return;
    const int verdict = sim_detector_judge(world, node, peer);
    if (verdict != 0) suspect(world, node, peer, verdict > 0, cause);
}

/* One node looks at the peer, or all do; a paused one looks when it goes on. */
static void judge(struct sim_world *world, const struct sim_event *event)
{
    if (event->node) {
        if (world->nodes[event->node].incarnation != event->incarnation) return;
        judge_one(world, event->node, event->peer, event->cause);
        return;
    }
    for (el_node node = 1; node <= world->plan->cluster.count; node++) {
        const struct sim_node *n = &world->nodes[node];
        if (n->born + world->plan->detect > world->now) continue; /* it looks for itself since */
        if (n->paused && world->now < n->resume) {
            struct sim_event later = *event;
            later.node = node;
            later.incarnation = n->incarnation;
            later.time = n->resume;
            sim_push(world, &later);
            world->judging++;
        } else {
            judge_one(world, node, event->peer, event->cause);
        }
    }
}

/* A paused process reacts to nothing; when it goes on, what is overdue comes first. */
static bool put_off(struct sim_world *world, const struct sim_event *event)
{
    if (event->type == SIM_COMMAND && event->class == SIM_FAULTS) return false;
    const struct sim_node *n = &world->nodes[event->node];
    if (!n->paused || world->now >= n->resume) return false;
    struct sim_event later = *event;
    later.time = n->resume;
    if (later.class != SIM_TIMERS) later.class = SIM_HELD_BACK;
    if (later.type == SIM_TIMEOUT && later.due < later.time) later.class = SIM_OVERDUE;
    sim_push(world, &later);
    return true;
}

static void handle(struct sim_world *world, const struct sim_event *event)
{
    switch ((enum sim_event_type)event->type) {
    case SIM_COMMAND: carry_out_command(world, &world->plan->commands[event->command]); return;
    case SIM_DELIVERY:
        world->in_flight--;
        deliver(world, event);
        return;
    case SIM_RETURN:
        world->in_flight--;
        take_back_hop(world, event);
        return;
    case SIM_TIMEOUT: time_out(world, event); return;
    case SIM_JUDGEMENT:
        world->judging--;
        judge(world, event);
        return;
    }
}

/* ---- The run ---- */

/* More messages than this under way at once, about a gigabyte, will not become fewer. */
enum { IN_FLIGHT_MAX = 1 << 23 };

static void close_phase(struct sim_world *world)
{
    struct sim_result *result = &world->result;
    if (!world->phase_open) return;
    world->phase_open = false;
    void *phases = realloc(result->phases, (result->phase_count + 1) * sizeof *result->phases);
    if (!phases) {
        result->out_of_memory = true;
        return;
    }
    result->phases = phases;
    result->phases[result->phase_count++] = (struct sim_phase){
        .began = world->phase_began,
        .ended = world->last_news > world->phase_began ? world->last_news : world->phase_began,
        .messages = result->sent[0] - world->phase_messages,
        .leader = result->agreed ? result->leader : EL_NOBODY};
}

static bool at_rest(const struct sim_world *world)
{
    return world->in_flight == 0 && world->armed == 0 && world->judging == 0;
}

static void come_to_rest(struct sim_world *world)
{
    if (!world->phase_open) return;
    sim_record(world, (struct sim_record){.what = SIM_RESTED});
    sim_oracle_find_agreement(world);
    if (world->calls_left == 0) sim_oracle_judge_rest(world); /* else the story is not over */
    close_phase(world);
}

static void run(struct sim_world *world)
{
    const struct sim_plan *plan = world->plan;
    const sim_time end = plan->until != SIM_NEVER ? plan->until : plan->horizon;
    struct sim_event event;
    while (!world->result.out_of_memory) {
        if (at_rest(world)) {
            come_to_rest(world);
            if (world->commands_left == 0) {
                world->result.came_to_rest = true;
                return;
            }
        }
        if (!sim_queue_pop(&world->queue, &event)) return;
        const bool too_much = world->result.events == plan->event_max || world->in_flight > IN_FLIGHT_MAX;
        if (event.time > end || too_much) {
            if (event.time > end) world->now = end;
            const bool cut_short = plan->until != SIM_NEVER && !too_much; /* as was asked */
            if (!cut_short && !at_rest(world)) sim_oracle_endless(world);
            return;
        }
        world->now = event.time;
        world->result.events++;
        if (!put_off(world, &event)) handle(world, &event);
    }
}

const struct sim_result *sim_world_run(struct sim_world *world)
{
    const struct sim_plan *plan = world->plan;
    for (el_node node = 1; node <= plan->cluster.count; node++) {
        world->nodes[node].alive = true;
        sim_oracle_born(world, node);
    }
    if (plan->incumbent) sim_record(world, (struct sim_record){.what = SIM_STARTED, .node = plan->incumbent});
    world->setting_out = true;
    for (el_node node = 1; node <= plan->cluster.count; node++) start(world, node, EL_FRESH, 0);
    world->setting_out = false;
    for (size_t i = 0; i < plan->command_count; i++) {
        const struct sim_command *command = &plan->commands[i];
        const bool request = command->type == SIM_DO_CAMPAIGN || command->type == SIM_DO_SUSPECT ||
                             command->type == SIM_DO_TRUST;
        const struct sim_event event = {.time = command->at,
                                        .type = SIM_COMMAND,
                                        .class = request ? SIM_REQUESTS : SIM_FAULTS,
                                        .node = command->node,
                                        .command = (uint32_t)i};
        sim_push(world, &event);
        world->commands_left++;
        if (is_call(command)) world->calls_left++;
    }
    if (plan->rates) world->result.faults |= EL_CLOCKS;
    if (plan->cluster.transmit_max < plan->delay.max) world->result.faults |= EL_LATENESS;
    run(world);
    sim_oracle_judge_rest(world);
    close_phase(world);
    world->result.turnaround = world->stirred ? world->last_news - world->began : 0;
    world->result.ended = world->now;
    return &world->result;
}

struct sim_world *sim_world_new(const struct sim_plan *plan, uint64_t keep)
{
    struct sim_world *world = calloc(1, sizeof *world);
    if (!world) return NULL;
    const uint32_t count = plan->cluster.count;
    const uint64_t bound = el_outbox_bound(plan->algorithm, count);
    world->plan = plan;
    world->algorithm = plan->algorithm;
    world->state_size = el_state_size(plan->algorithm, count);
    world->nodes = calloc((size_t)count + 1, sizeof *world->nodes);
    world->states = calloc(count, world->state_size);
    world->broken = calloc(plan->break_count + 1, sizeof *world->broken);
    world->outbox.actions = calloc(bound, sizeof *world->outbox.actions);
    world->outbox.capacity = (uint32_t)bound;
    for (uint64_t stream = 0; stream < SIM_STREAMS; stream++)
        sim_random_seed(&world->random[stream], plan->seed, stream);
    if (!world->nodes || !world->states || !world->broken || !world->outbox.actions ||
        !sim_trace_init(&world->trace, keep)) {
        sim_world_free(world);
        return NULL;
    }
    for (el_node node = 1; node <= count; node++)
        world->nodes[node].rate = plan->rates ? plan->rates[node] : 1000000;
    return world;
}

void sim_world_free(struct sim_world *world)
{
    if (!world) return;
    sim_queue_free(&world->queue);
    sim_trace_free(&world->trace);
    sim_map_free(&world->last_arrival);
    sim_map_free(&world->suspicions);
    free(world->nodes);
    free(world->states);
    free(world->broken);
    free(world->outbox.actions);
    free(world->timers);
    free(world->result.phases);
    free(world);
}

const struct sim_trace *sim_world_trace(const struct sim_world *world)
{
    return &world->trace;
}

const struct sim_plan *sim_world_plan(const struct sim_world *world)
{
    return world->plan;
}

el_node sim_world_leader_of(const struct sim_world *world, el_node node)
{
    return world->nodes[node].leader;
}

bool sim_world_alive(const struct sim_world *world, el_node node)
{
    return world->nodes[node].alive;
}

uint64_t sim_world_bytes_per_node(const struct sim_world *world)
{
    return world->state_size + sizeof *world->nodes;
}
