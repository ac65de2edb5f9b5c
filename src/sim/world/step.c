/* A node takes a step: the world carries out its outbox in order and compares its view with the last one. */
#include <string.h>

#include "base/clock.h"
#include "sim/internal.h"

static void open_phase(struct sim_world *world)
{
    if (world->phase_open) return;
    world->phase_open = true;
    world->phase_began = world->now;
    world->phase_messages = world->result.sent[0];
    world->phase_has_views = false;
}

void sim_election_begins(struct sim_world *world)
{
    if (!world->election_begun) world->began = world->last_progress = world->now;
    world->election_begun = true;
    open_phase(world);
}

void sim_election_progresses(struct sim_world *world)
{
    world->last_progress = world->now;
    world->progress_messages = world->result.sent[0];
}

static void tell_view(struct sim_world *world, el_node node, const struct el_view *view, uint64_t cause)
{
    sim_election_progresses(world);
    sim_change(world);
    world->phase_has_views = true;
    sim_record(world, (struct sim_record){.what = SIM_VIEWED,
                                          .cause = cause,
                                          .node = node,
                                          .peer = view->leader,
                                          .role = (uint8_t)view->role,
                                          .number = view->term});
}

static void tell_listener(const struct sim_world *world, el_node node, const struct el_view *view)
{
    const uint64_t record = world->setting_out ? 0 : world->trace.count;
    if (world->view_listener) world->view_listener(world->view_context, record, node, view);
}

void sim_look_at_view(struct sim_world *world, el_node node, uint64_t cause)
{
    const struct sim_node *n = &world->nodes[node];
    const struct sim_machine *machine = &world->machines[SIM_ELECTION];
    const struct el_config cfg = {machine->cluster, node};
    struct el_view view;
    machine->algorithm->view(sim_state(machine, node), &cfg, &view);
    if (machine->algorithm->decided) sim_oracle_decision(world, node, sim_state(machine, node));
    const bool same = view.leader == n->leader && view.role == n->role;
    const bool same_claim = view.timer == EL_NO_TIMER && view.term == world->offices[node].term;
    if (same && (view.role != EL_LEADER || same_claim)) {
        tell_listener(world, node, &view); /* its term may be another */
        return;
    }
    const bool new_claim = view.role == EL_LEADER && !(same && view.term == world->offices[node].term);
    if (new_claim && world->plan->disk.max && world->disks[node].pending)
        return; /* a new leadership waits for the disk */
    if (view.leader != n->leader && !world->setting_out) tell_view(world, node, &view, cause);
    tell_listener(world, node, &view);
    sim_oracle_view(world, node, &view);
}

static void take_note(struct sim_world *world, el_node node, enum sim_channel channel,
                      const struct el_action *action, uint64_t cause)
{
    const uint64_t bit = action->note < 64 ? UINT64_C(1) << action->note : 0;
    if (channel == SIM_DETECTOR) {
        world->result.detector_notes |= bit;
        return;
    }
    world->result.notes |= bit;
    if (world->algorithm->membership && action->note == world->algorithm->record_note)
        sim_records_ask(world, node, action->values[1], cause);
    if (action->note == EL_NOTE_DECLINED) world->offices[node].asked = false;
    if (world->algorithm->handover_note && action->note + 1 == world->algorithm->handover_note)
        world->offices[node].handover_target = (el_node)action->values[0];
    sim_record(world, (struct sim_record){.what = SIM_NOTED,
                                          .cause = cause,
                                          .node = node,
                                          .note = action->note,
                                          .values = {action->values[0], action->values[1]}});
}

/*
 * The place in the outbox at which a change of view is recorded: right after the last note that precedes a
 * message, or before the first message if there is no such note.
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

static void carry_out_one(struct sim_world *world, el_node node, enum sim_channel channel,
                          struct el_action *action, uint64_t cause)
{
    const struct sim_key_of_timer key = {node, channel, action->timer, action->slot};
    switch (action->type) {
    case EL_SEND: sim_disk_send(world, node, channel, action, cause); return;
    case EL_ARM: sim_timer_arm(world, key, action->min, action->max, cause); return;
    case EL_DISARM: sim_timer_disarm(world, key); return;
    case EL_MOVE: sim_timer_move(world, key, action->to); return;
    case EL_SAVE:
        if (channel == SIM_ELECTION) sim_disk_save(world, node, action->durable, cause);
        return;
    case EL_NOTE: take_note(world, node, channel, action, cause); return;
    case EL_VERDICT:
        if (channel == SIM_DETECTOR) sim_detector_verdict(world, node, action->peer, action->suspected);
        return;
    case EL_CHOOSE: return; /* the caller draws */
    }
}

/* Carries out the outbox in order. Returns the n of its CHOOSE, 0 if there is none. */
static uint32_t carry_out(struct sim_world *world, el_node node, enum sim_channel channel, uint64_t cause)
{
    const struct el_outbox *out = &world->machines[channel].outbox;
    const bool has_view =
        channel == SIM_ELECTION && !world->stage.dying; /* the view of a dying node is not seen */
    const uint32_t view_at = has_view ? place_of_view(out) : 0;
    uint32_t choose = 0;
    for (uint32_t i = 0; i < out->count; i++) {
        if (world->stage.dying && !sim_stage_lives_to(world, &out->actions[i])) return 0;
        if (has_view && i == view_at) sim_look_at_view(world, node, cause);
        if (out->actions[i].type == EL_CHOOSE) choose = out->actions[i].n;
        carry_out_one(world, node, channel, &out->actions[i], cause);
    }
    if (has_view && view_at == out->count) sim_look_at_view(world, node, cause);
    if (has_view) sim_oracle_step_ends(world, node);
    return choose;
}

static bool draw(struct sim_world *world, struct sim_machine *machine, uint32_t n, uint32_t *chosen)
{
    if (world->plan->script) return sim_stage_choose(world, n, chosen);
    *chosen = (uint32_t)sim_random_below(&machine->random[SIM_STREAM_CHOICE], n);
    return true;
}

/* Work stops at once here, so the host requests the TRANSFER at once. In a script, a step must do so. */
static void request_handover(struct sim_world *world, el_node node, uint64_t cause)
{
    const el_node heir = world->offices[node].handover_target;
    world->offices[node].handover_target = EL_NOBODY;
    if (heir == EL_NOBODY || world->plan->script) return;
    const uint64_t told = sim_record(
        world, (struct sim_record){
                   .what = SIM_REQUESTED, .cause = cause, .node = node, .peer = heir, .kind = EL_TRANSFER});
    const struct el_event event = {.type = EL_REQUEST, .peer = heir, .request = EL_TRANSFER};
    sim_react(world, node, SIM_ELECTION, &event, told);
}

void sim_react(struct sim_world *world, el_node node, enum sim_channel channel, const struct el_event *event,
               uint64_t cause)
{
    struct sim_machine *machine = &world->machines[channel];
    const struct el_config cfg = {machine->cluster, node};
    if (channel == SIM_ELECTION) sim_oracle_step_begins(world, node);
    el_step(machine->algorithm, &cfg, sim_state(machine, node), event, &machine->outbox);
    uint32_t choose = carry_out(world, node, channel, cause);
    struct el_event chosen = {.type = EL_CHOSEN};
    while (choose && draw(world, machine, choose, &chosen.chosen)) {
        el_step(machine->algorithm, &cfg, sim_state(machine, node), &chosen, &machine->outbox);
        choose = carry_out(world, node, channel, cause);
    }
    if (world->offices[node].handover_target) request_handover(world, node, cause);
    if (channel == SIM_ELECTION) sim_records_review(world);
}

/* A node that lost its record can exceed the terms it forgot only by the time of day, if its host reports it:
 * milliseconds, different for each incarnation. */
static void tell_wall_clock(struct sim_world *world, el_node node, uint64_t cause)
{
    enum { BEFORE_THE_BEGINNING = 1000000 };
    const struct el_algorithm *algorithm = world->algorithm;
    uint32_t fact = 0;
    while (fact < algorithm->fact_count && strcmp(algorithm->facts[fact], "wall-clock") != 0) fact++;
    if (fact == algorithm->fact_count) return;
    const struct el_event event = {.type = EL_FACT,
                                   .fact = fact,
                                   .value = BEFORE_THE_BEGINNING + world->now / NS_PER_MS +
                                            world->nodes[node].incarnation};
    const uint64_t told = sim_record(
        world,
        (struct sim_record){
            .what = SIM_TOLD, .cause = cause, .node = node, .kind = (uint8_t)fact, .number = event.value});
    sim_react(world, node, SIM_ELECTION, &event, told);
}

void sim_start(struct sim_world *world, el_node node, enum el_start_how how, uint64_t cause)
{
    struct el_event event = {.type = EL_START};
    event.start.how = how;
    event.start.incumbent = how == EL_FRESH ? world->plan->incumbent : EL_NOBODY;
    if (how == EL_RESTORED) event.start.durable = world->disks[node].durable;
    if (how == EL_LOST && world->algorithm->decided)
        event.start.durable.epoch = world->nodes[node].incarnation + 1;
    sim_react(world, node, SIM_ELECTION, &event, cause);
    if (how == EL_LOST) tell_wall_clock(world, node, cause);
    if (!world->machines[SIM_DETECTOR].algorithm) return;
    event.start = (struct el_start){.how = how};
    sim_react(world, node, SIM_DETECTOR, &event, cause);
}

void sim_suspect(struct sim_world *world, el_node node, el_node peer, bool suspected, uint64_t cause)
{
    sim_change(world);
    if (world->listener) world->listener(world->listener_context, world->now, node, peer, suspected);
    if (suspected) {
        sim_election_begins(world);
        if (world->nodes[node].leader == peer) world->called = true;
    } else {
        open_phase(world);
    }
    const uint64_t told = sim_record(world, (struct sim_record){.what = suspected ? SIM_SUSPECTED : SIM_TRUSTED,
                                                                .cause = cause,
                                                                .node = node,
                                                                .peer = peer});
    const struct el_event event = {.type = suspected ? EL_SUSPECT : EL_TRUST, .peer = peer};
    sim_react(world, node, SIM_ELECTION, &event, told);
}
