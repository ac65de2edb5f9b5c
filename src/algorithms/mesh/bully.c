/*
 * The bully: a process that notices the coordinator's crash polls all processes above it. If one answers, it
 * waits for a coordinator. If none answers within T, it is the highest live process and announces itself to all
 * below.
 *
 * Reference: H. Garcia-Molina, Elections in a distributed computing system, IEEE Trans. Computers 31(1),
 * 1982, in the form of Coulouris et al., section 15.3.5. T = 2 Ttrans + Tprocess, T' = 2 T. Deviations:
 * answers echo a run number, so that a late answer is not taken for a new one; a process does not follow a
 * coordinator that it suspects; "unless it has begun one already" also holds for T' after the result, so that a
 * delayed poll does not start the same election again.
 */
#include "algorithms/mesh/bully.h"

uint64_t *bully_suspects(struct bully *me)
{
    return (uint64_t *)(me + 1);
}

bool bully_electing(const struct bully *me)
{
    return me->mode == BULLY_HOLDING || me->mode == BULLY_ELECTING || me->mode == BULLY_WAITING;
}

static void rest(struct bully *me, struct el_outbox *out)
{
    me->mode = BULLY_IDLE;
    for (uint32_t timer = 0; timer < BULLY_TIMERS; timer++) el_disarm(out, timer, 0);
}

/* For T' the announcement may still be on its way. A poll in that time belongs to the same election: we answer
 * it and do not stand. */
void bully_follow(struct bully *me, const struct el_config *cfg, el_node leader, struct el_outbox *out)
{
    rest(me, out);
    me->leader = leader;
    me->mode = BULLY_SETTLING;
    el_arm(out, BULLY_T_SETTLED, 0, 2 * el_round_trip(cfg), 2 * el_round_trip(cfg));
}

static void win(struct bully *me, const struct el_config *cfg, struct el_outbox *out)
{
    el_note(out, BULLY_WINS, 0, 0);
    bully_follow(me, cfg, cfg->self, out);
    mesh_send_below(cfg, (struct el_msg){.kind = BULLY_COORDINATOR, .subject = cfg->self, .epoch = me->run},
                    out);
}

void bully_stand(struct bully *me, const struct el_config *cfg, struct el_outbox *out)
{
    rest(me, out);
    me->run++;
    me->leader = EL_NOBODY;
    const uint64_t *without = el_number(cfg, BULLY_EXCLUDE_SUSPECTS) ? bully_suspects(me) : NULL;
    const struct el_msg poll = {.kind = BULLY_ELECTION, .subject = cfg->self, .epoch = me->run};
    const uint32_t above = mesh_send_above(cfg, poll, without, out);
    if (above == 0) {
        win(me, cfg, out);
        return;
    }
    el_note(out, BULLY_POLLS, above, 0);
    me->mode = BULLY_ELECTING;
    el_arm(out, BULLY_T_ANSWER, 0, el_round_trip(cfg), el_round_trip(cfg));
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct bully *me = state;
    me->leader = start->incumbent;
    if (start->how != EL_FRESH) bully_stand(me, cfg, out); /* a process that restarts holds an election */
}

static void on_election(struct bully *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    if (el_outranks(cfg->cluster, m->from, cfg->self)) return; /* a correct process polls upwards only */
    el_note(out, BULLY_ANSWERS, m->from, 0);
    el_send(out, cfg, m->from, (struct el_msg){.kind = BULLY_ANSWER, .subject = cfg->self, .epoch = m->epoch});
    if (me->mode != BULLY_IDLE) return;
    if (el_number(cfg, BULLY_SERIAL)) { /* our answer occupies the line for one transmission */
        me->mode = BULLY_HOLDING;
        el_arm(out, BULLY_T_SERIAL, 0, cfg->cluster->transmit_max, cfg->cluster->transmit_max);
    } else {
        bully_stand(me, cfg, out);
    }
}

static void on_answer(struct bully *me, const struct el_config *cfg, const struct el_msg *m,
                      struct el_outbox *out)
{
    if (m->epoch != me->run) {
        el_note(out, BULLY_STALE, m->from, 0);
    } else if (me->mode == BULLY_ELECTING) {
        el_note(out, BULLY_GIVES_WAY, m->from, 0);
        me->mode = BULLY_WAITING;
        el_disarm(out, BULLY_T_ANSWER, 0);
        el_arm(out, BULLY_T_COORDINATOR, 0, 2 * el_round_trip(cfg), 2 * el_round_trip(cfg));
    }
}

static void on_coordinator(struct bully *me, const struct el_config *cfg, const struct el_msg *m,
                           struct el_outbox *out)
{
    const enum mesh_news news = mesh_judge(cfg, bully_suspects(me), m->subject);
    el_note(out, BULLY_LEARNS + news, m->subject, 0);
    if (news == MESH_LEARNS) {
        bully_follow(me, cfg, m->subject, out);
    } else if (!bully_electing(me)) {
        bully_stand(me, cfg, out);
    }
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    switch (m->kind) {
    case BULLY_ELECTION: on_election(state, cfg, m, out); return;
    case BULLY_ANSWER: on_answer(state, cfg, m, out); return;
    default: on_coordinator(state, cfg, m, out); return;
    }
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)slot;
    struct bully *me = state;
    switch (timer) {
    case BULLY_T_ANSWER:
        el_note(out, BULLY_NO_ANSWER, 0, 0);
        win(me, cfg, out);
        return;
    case BULLY_T_COORDINATOR:
        el_note(out, BULLY_NO_COORDINATOR, 0, 0);
        bully_stand(me, cfg, out);
        return;
    case BULLY_T_SERIAL: bully_stand(me, cfg, out); return;
    default: me->mode = BULLY_IDLE; return;
    }
}

static void on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct bully *me = state;
    el_set_add(bully_suspects(me), peer);
    if (peer != me->leader) return;
    el_note(out, BULLY_NOTICES, peer, 0);
    bully_stand(me, cfg, out);
}

static void on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    (void)cfg, (void)out;
    el_set_remove(bully_suspects(state), peer);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    if (!bully_electing(state)) bully_stand(state, cfg, out);
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct bully *me = state;
    el_view_of(v, cfg, me->leader, bully_electing(me), me->run);
}

static const char *const kinds[] = {NULL, BULLY_KIND_NAMES};
static const char *const timers[] = {BULLY_TIMER_NAMES};
static const struct el_note_text notes[] = {BULLY_NOTE_LIST(EL_NOTE_TEXT)};
static const struct el_option options[] = {BULLY_OPTION_ROWS};

static const struct el_weakness breaks[] = {
    {EL_UNNOTICED, EL_DEAD_LEADER | EL_DISAGREEMENT, "a leader that dies unnoticed stays elected"},
    {EL_CRASHES, EL_NO_LEADER | EL_NOT_BEST,
     "a call is lost with its caller, if no live process above has heard it"},
    {EL_PARTITIONS | EL_LOSSES | EL_REORDERS | EL_LATENESS | EL_PAUSES | EL_CLOCKS, EL_ALL_WRONG,
     "a process that does not answer within T counts as dead: each side of a partition elects its own"
     " leader"},
    {EL_FALSE_SUSPICIONS, EL_ALL_WRONG,
     "a suspected live leader is replaced, or elections repeat for ever; the later death of a suspect"
     " goes unreported"},
    {EL_NEEDLESS_CALLS, EL_TWO_LEADERS,
     "an election above a live leader of lower rank: both lead for one delay"},
    {EL_RESTARTS, EL_TWO_LEADERS | EL_DISAGREEMENT | EL_NOT_BEST | EL_DEAD_LEADER | EL_NO_LEADER,
     "a high-ranked process that restarts deposes a healthy leader, and both lead for one delay; one "
     "replaced under the same id during an election makes two coordinators"},
};

const struct el_algorithm el_bully = {
    .name = "bully",
    .roleless = true,
    .summary = "ask everybody above; if nobody answers in time, you lead",
    .idea = "All processes know each other. A process that notices the coordinator's crash sends "
            "Election to every higher-ranked process. A process that receives it answers and holds "
            "its own election. A process without an answer within T = 2 Ttrans + Tprocess is the "
            "highest live one and sends Coordinator to all below. A process that was answered but "
            "hears of no coordinator within T' starts again.",
    .reference =
        "Garcia-Molina: Elections in a distributed computing system, IEEE Trans. Computers 31(1), 1982",
    EL_KINDS(kinds),
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE | EL_NEEDS_TIMELY,
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST,
    .state_bytes = sizeof(struct bully),
    .state_sets = 1,
    .outbox_fixed = 16,
    .outbox_per_member = 1,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_suspect = on_suspect,
    .on_trust = on_trust,
    .on_campaign = on_campaign,
    .view = view,
};
