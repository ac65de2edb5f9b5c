/* A node takes a step: its outbox is carried out in order, and its view is compared with the one before. */
#include "inner.h"

static void open_phase(struct sim_world *world)
{
    if (world->phase_open) return;
    world->phase_open = true;
    world->phase_began = world->now;
    world->phase_messages = world->result.sent[0];
}

void sim_stir(struct sim_world *world)
{
    if (!world->stirred) world->began = world->last_news = world->now;
    world->stirred = true;
    open_phase(world);
}

void sim_news(struct sim_world *world)
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
        sim_news(world);
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

void sim_react(struct sim_world *world, el_node node, const struct el_event *event, uint64_t cause)
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

void sim_start(struct sim_world *world, el_node node, enum el_start_how how, uint64_t cause)
{
    struct el_event event = {.type = EL_START};
    event.start.how = how;
    event.start.incumbent = how == EL_FRESH ? world->plan->incumbent : EL_NOBODY;
    event.start.durable = world->nodes[node].durable;
    sim_react(world, node, &event, cause);
}

void sim_suspect(struct sim_world *world, el_node node, el_node peer, bool suspected, uint64_t cause)
{
    if (suspected) {
        sim_stir(world);
        if (world->nodes[node].leader == peer) world->called = true;
    } else {
        open_phase(world);
    }
    const uint64_t told = sim_record(world, (struct sim_record){.what = suspected ? SIM_SUSPECTED : SIM_TRUSTED,
                                                                .cause = cause,
                                                                .node = node,
                                                                .peer = peer});
    const struct el_event event = {.type = suspected ? EL_SUSPECT : EL_TRUST, .peer = peer};
    sim_react(world, node, &event, told);
}
