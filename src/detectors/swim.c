/*
 * SWIM with Lifeguard: each period a member pings one other, in an order that is shuffled for every round. If
 * the target does not answer in time, others are asked to ping it; if none of them gets an answer before the
 * period ends, the target is suspected. Suspicions are piggybacked on pings and acks. A suspect refutes them
 * with a higher incarnation, or counts as dead when its time is up. Load per member does not grow with the
 * cluster.
 *
 * Lifeguard: the time for a refutation is long at first and shrinks as others accuse too. A member that is
 * asked to ping and cannot reach the target says so (Nack). A member that misses even Nacks, or has to
 * refute, raises its local health score: each point (0..8) lengthens its own period and timeout, so an
 * overloaded member stops accusing.
 *
 * Reference: Das, Gupta, Motivala, SWIM: scalable weakly-consistent infection-style process group membership
 * protocol, DSN 2002; Dadgar, Phillips, Currey, Lifeguard: local health awareness for more accurate failure
 * detection, DSN-W 2018. Deviations: membership is fixed, so dead members are still pinged and told that they
 * count as dead; so a restarted member rejoins, and a healed partition merges. A ping or an ack carries one
 * rumour, not as many as fit. An answer to our own ping clears a suspicion here, whatever rumours say.
 */
#include "detectors/swim.h"

static const struct el_note_text notes[] = {SWIM_NOTE_LIST(EL_NOTE_TEXT)};

/* ---- Our own probe ---- */

static void arm_stretched(const struct swim *me, const struct el_config *cfg, uint32_t timer, uint32_t option,
                          struct el_outbox *out)
{
    const el_duration wait = detector_times(el_number(cfg, option), me->health + 1);
    el_arm(out, timer, 0, wait, wait);
}

static uint32_t peers(const struct el_config *cfg)
{
    return cfg->cluster->count - 1;
}

/* Shuffles the order one place at a time, as it is used: takes the `chosen`-th of those not pinged in this
 * round. */
static el_node next_target(struct swim *me, const struct el_config *cfg, uint32_t chosen)
{
    struct swim_member *members = swim_members(me, cfg);
    const el_node target = members[me->place + chosen].order;
    members[me->place + chosen].order = members[me->place].order;
    members[me->place].order = target;
    me->place = me->place + 1 < peers(cfg) ? me->place + 1 : 0;
    return target;
}

static void give_up(struct swim *me, const struct el_config *cfg, struct el_outbox *out)
{
    swim_doubt(me, me->asked ? el_set_size(swim_owing(me, cfg), cfg->cluster->count) : 1, out);
    swim_suspect(me, cfg, me->target, out);
}

static void on_period(struct swim *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->target != EL_NOBODY) give_up(me, cfg, out);
    me->target = EL_NOBODY;
    arm_stretched(me, cfg, SWIM_PERIOD, SWIM_OF_PERIOD, out);
    el_choose(out, peers(cfg) - me->place);
}

static void on_chosen(void *state, const struct el_config *cfg, uint32_t chosen, struct el_outbox *out)
{
    struct swim *me = state;
    el_require(chosen < peers(cfg) - me->place);
    me->target = next_target(me, cfg, chosen);
    me->probe++;
    me->asked = 0;
    el_set_clear(swim_owing(me, cfg), cfg->cluster->count);
    arm_stretched(me, cfg, SWIM_TIMEOUT, SWIM_OF_TIMEOUT, out);
    swim_send(me, cfg, me->target,
              (struct el_msg){.kind = SWIM_PING, .subject = me->target, .epoch = me->probe}, out);
}

/* Asks the next members in the order, which is random already. */
static void ask_others(struct swim *me, const struct el_config *cfg, struct el_outbox *out)
{
    const uint64_t wanted = el_number(cfg, SWIM_INDIRECT);
    const struct el_msg request = {.kind = SWIM_PING_REQUEST, .subject = me->target, .epoch = me->probe};
    for (uint32_t i = 0; i < peers(cfg) && me->asked < wanted; i++) {
        const uint32_t place = (uint32_t)(((uint64_t)me->place + i) % peers(cfg));
        const el_node peer = swim_members(me, cfg)[place].order;
        if (peer == me->target || swim_member(me, cfg, peer)->opinion != SWIM_ALIVE) continue;
        me->asked++;
        el_set_add(swim_owing(me, cfg), peer);
        swim_send(me, cfg, peer, request, out);
    }
    el_note(out, SWIM_ASKS, me->target, me->asked);
}

/* ---- Requests from others ---- */

static void on_ping(struct swim *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    const struct el_msg ack = {.kind = SWIM_ACK, .subject = cfg->self, .epoch = m->epoch, .rank = m->rank};
    swim_send(me, cfg, m->from, ack, out);
}

static void on_ping_request(struct swim *me, const struct el_config *cfg, const struct el_msg *m,
                            struct el_outbox *out)
{
    if (m->subject == cfg->self || m->subject == m->from) return; /* no correct member asks for that */
    struct swim_member *asker = swim_member(me, cfg, m->from);
    const el_duration wait = detector_times(el_number(cfg, SWIM_OF_TIMEOUT), 1);
    asker->relay_target = m->subject;
    asker->relay_probe = m->epoch;
    el_note(out, SWIM_RELAYS, m->subject, m->from);
    el_arm(out, SWIM_RELAY, m->from, wait, wait);
    swim_send(me, cfg, m->subject,
              (struct el_msg){.kind = SWIM_PING, .subject = m->subject, .epoch = m->epoch, .rank = m->from},
              out);
}

static void on_relay(struct swim *me, const struct el_config *cfg, el_node asker, struct el_outbox *out)
{
    struct swim_member *member = swim_member(me, cfg, asker);
    el_note(out, SWIM_SORRY, member->relay_target, asker);
    el_send(out, cfg, asker,
            (struct el_msg){.kind = SWIM_NACK, .subject = member->relay_target, .epoch = member->relay_probe});
    member->relay_target = EL_NOBODY;
}

/* ---- Answers ---- */

static void relay_back(struct swim *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    if (m->rank > cfg->cluster->count) return;
    const el_node asker = (el_node)m->rank;
    struct swim_member *member = swim_member(me, cfg, asker);
    if (member->relay_target != m->from || member->relay_probe != m->epoch)
        return; /* too late, or never asked */
    member->relay_target = EL_NOBODY;
    el_disarm(out, SWIM_RELAY, asker);
    el_send(out, cfg, asker, *m);
}

static void on_ack(struct swim *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    const bool direct = m->rank == EL_NOBODY && m->from == m->subject;
    if (m->rank != EL_NOBODY && m->rank != cfg->self) {
        relay_back(me, cfg, m, out);
    } else if (m->subject == me->target && m->epoch == me->probe && (direct || m->rank == cfg->self)) {
        me->target = EL_NOBODY;
        el_disarm(out, SWIM_TIMEOUT, 0);
        swim_recover(me);
        if (direct) swim_clear(me, cfg, m->from, out);
    }
}

static void on_nack(struct swim *me, const struct el_config *cfg, const struct el_msg *m)
{
    if (m->epoch == me->probe) el_set_remove(swim_owing(me, cfg), m->from);
}

/* ---- Handlers ---- */

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    (void)start;
    struct swim *me = state;
    for (el_node node = 1; node <= cfg->cluster->count; node++) {
        struct swim_member *member = swim_member(me, cfg, node);
        member->opinion = SWIM_ALIVE;
        if (node <= peers(cfg)) member->order = node + (node >= cfg->self);
    }
    /* Random, so that members do not all ping at once. */
    if (peers(cfg)) el_arm(out, SWIM_PERIOD, 0, 0, detector_times(el_number(cfg, SWIM_OF_PERIOD), 1));
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    if (m->kind != SWIM_NACK) swim_hear(state, cfg, m, out);
    switch (m->kind) {
    case SWIM_PING: on_ping(state, cfg, m, out); return;
    case SWIM_ACK: on_ack(state, cfg, m, out); return;
    case SWIM_PING_REQUEST: on_ping_request(state, cfg, m, out); return;
    case SWIM_NACK: on_nack(state, cfg, m); return;
    default: return; /* only a rumour */
    }
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    switch (timer) {
    case SWIM_PERIOD: on_period(state, cfg, out); return;
    case SWIM_TIMEOUT: ask_others(state, cfg, out); return;
    case SWIM_RELAY: on_relay(state, cfg, slot, out); return;
    default: swim_ripen(state, cfg, slot, timer - SWIM_SUSPICION, out); return;
    }
}

static const char *const kinds[] = {NULL, "Ping", "Ack", "PingRequest", "Nack", "Alive", "Suspect", "Dead"};
static const char *const timers[] = {"period", "timeout", "relay", "suspicion", "suspicion-1", "suspicion-2"};
static const struct el_option options[] = {
    [SWIM_OF_PERIOD] = {"period", EL_DURATION, 0, NULL, "1s", "how often each member pings another"},
    [SWIM_OF_TIMEOUT] = {"timeout", EL_DURATION, 0, NULL, "200ms",
                         "how long to wait for an answer before asking others to ping"},
    [SWIM_INDIRECT] = {"indirect", EL_NUMBER, 0, NULL, "3", "how many others are asked to ping"},
    [SWIM_SHORTEST] = {"shortest", EL_NUMBER, 0, NULL, "4",
                       "the shortest suspicion, in periods times the logarithm of the number of members"},
    [SWIM_LONGEST] = {"longest", EL_NUMBER, 0, NULL, "6",
                      "the longest suspicion, as a multiple of the shortest"},
    [SWIM_HASTY] = {"hasty", EL_FLAG, 0, NULL, "off", "report suspicions, not only deaths"},
};

static const struct el_inequality inequalities[] = {
    {{{1, EL_OF_ROUND_TRIP}}, {{1, SWIM_OF_TIMEOUT}}, "others would be asked before the answer can arrive"},
    {{{2, SWIM_OF_TIMEOUT}, {1, EL_OF_ROUND_TRIP}},
     {{1, SWIM_OF_PERIOD}},
     "the period would end before the others can report"},
};

const struct el_algorithm el_swim = {
    .name = "swim",
    .summary = "pings one member at a time, asks others before it suspects, and lets suspects refute",
    .idea = "Every period each member pings one other, in shuffled order. If it gets no answer, it asks a"
            " few others to ping the target, in case only one link is bad. If they get none either, the "
            "target is suspected, and later pings and acks spread the rumour. A live suspect refutes it "
            "with a higher incarnation; one that does not refute in time counts as dead. Lifeguard adds "
            "that a member which misses expected answers suspects itself first and slows down. The load "
            "on each member does not depend on the size of the cluster.",
    .reference = "Das, Gupta, Motivala: SWIM, DSN 2002; Dadgar, Phillips, Currey: Lifeguard, DSN-W 2018",
    EL_KINDS(kinds),
    .routine_kinds = 1 << SWIM_PING | 1 << SWIM_ACK | 1 << SWIM_PING_REQUEST | 1 << SWIM_NACK,
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    .needs = EL_NEEDS_TIMELY,
    .beats = true,
    EL_INEQUALITIES(inequalities),
    .state_bytes = sizeof(struct swim),
    .state_sets = 2,
    .state_per_member = sizeof(struct swim_member),
    .outbox_fixed = 16,
    .outbox_per_member = 1,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_chosen = on_chosen,
};
