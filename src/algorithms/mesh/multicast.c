/*
 * Election by multicast: a process asks all others; lower ones agree, higher ones disagree and ask for
 * themselves. One disagreement ends a candidacy. The lectures give three versions, here the option `mode`:
 * wait until all agree (one crash blocks this for ever), wait for all or a timeout, or wait for a timeout
 * without a disagreement (agreement then needs no message). Asking only those above makes the last the bully.
 *
 * Reference: distributed-systems lectures after Coulouris et al., as the step before the bully.
 * Deviations: the versions with a timeout have a second one, as in the bully, so that a process asks again if
 * the process it gave way to dies; answers echo a run number.
 */
#include "algorithms/mesh/mesh.h"

struct multicast {
    struct mesh mesh;
    uint32_t polled; /* how many we asked */
    uint32_t agreed; /* how many of them agreed */
    /* the set of suspects follows, then the set of processes that agreed */
};

enum { IDLE, ASKING, WAITING };
enum { ELECTION = 1, AGREE, DISAGREE, COORDINATOR };
enum { T_REPLIES, T_COORDINATOR, TIMERS };
enum { MODE, EXCLUDE_SUSPECTS };
enum { MODE_TIMEOUT, MODE_ALL, MODE_DISAGREE };
#define NOTE_LIST(NOTE)                                                       \
    NOTE(ASKS, "asks", "asks the #1 others")                                  \
    NOTE(ALL_AGREED, "all-agreed", "is elected: all agree")                   \
    NOTE(TIME_IS_UP, "time-is-up", "is elected: nobody disagreed in time")    \
    NOTE(GIVES_UP, "gives-up", "gives up: @1 disagrees")                      \
    NOTE(AGREES, "agrees", "bows to @1")                                      \
    NOTE(DISAGREES, "disagrees", "outranks @1 and disagrees")                 \
    NOTE(LEARNS, "learns", "learns that @1 leads")                            \
    NOTE(DISTRUSTS, "distrusts", "is told that @1 leads, but suspects it")    \
    NOTE(OBJECTS, "objects", "outranks the coordinator @1, and objects")      \
    NOTE(NO_COORDINATOR, "no-coordinator", "heard of no coordinator in time") \
    NOTE(NOTICES, "notices", "notices that the leader @1 is gone")            \
    NOTE(STALE, "stale", "ignores a late reply from @1")
enum { NOTE_LIST(EL_NOTE_NAME) };
static const struct el_note_text notes[] = {NOTE_LIST(EL_NOTE_TEXT)};

static uint64_t *suspects(struct multicast *me)
{
    return (uint64_t *)(me + 1);
}

static uint64_t *agreeing(struct multicast *me, const struct el_config *cfg)
{
    return suspects(me) + el_set_words(cfg->cluster->count);
}

static void win(struct multicast *me, const struct el_config *cfg, uint32_t note, struct el_outbox *out)
{
    el_note(out, note, 0, 0);
    mesh_rest(&me->mesh, cfg->self, TIMERS, out);
    mesh_send_others(cfg, (struct el_msg){.kind = COORDINATOR, .subject = cfg->self, .epoch = me->mesh.run},
                     EL_NOBODY, out);
}

static void await_coordinator(struct multicast *me, const struct el_config *cfg, struct el_outbox *out)
{
    mesh_rest(&me->mesh, EL_NOBODY, TIMERS, out);
    me->mesh.mode = WAITING;
    if (el_number(cfg, MODE) != MODE_ALL)
        el_arm(out, T_COORDINATOR, 0, 2 * el_round_trip(cfg), 2 * el_round_trip(cfg));
}

static void stand(struct multicast *me, const struct el_config *cfg, struct el_outbox *out)
{
    mesh_rest(&me->mesh, EL_NOBODY, TIMERS, out);
    me->mesh.run++;
    me->mesh.mode = ASKING;
    me->polled = me->agreed = 0;
    el_set_clear(agreeing(me, cfg), cfg->cluster->count);
    const struct el_msg ask = {.kind = ELECTION, .subject = cfg->self, .epoch = me->mesh.run};
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++) {
        if (peer == cfg->self) continue;
        if (el_number(cfg, EXCLUDE_SUSPECTS) && el_set_has(suspects(me), peer)) continue;
        el_send(out, cfg, peer, ask);
        me->polled++;
    }
    if (me->polled == 0) {
        win(me, cfg, ALL_AGREED, out);
        return;
    }
    el_note(out, ASKS, me->polled, 0);
    if (el_number(cfg, MODE) != MODE_ALL) el_arm(out, T_REPLIES, 0, el_round_trip(cfg), el_round_trip(cfg));
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct multicast *me = state;
    me->mesh.leader = start->incumbent;
    if (start->how != EL_FRESH) stand(me, cfg, out);
}

/* Without this a late Election makes a process forget the leader that it knows, and elect it again: for ever, if
 * messages are late again. A leader that has died is suspected in time. */
static bool follows_better(struct multicast *me, const struct el_config *cfg, el_node than)
{
    const el_node leader = me->mesh.leader;
    return leader != EL_NOBODY && !el_set_has(suspects(me), leader) && el_outranks(cfg->cluster, leader, than);
}

static void on_election(struct multicast *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    struct el_msg reply = {.subject = cfg->self, .epoch = m->epoch};
    if (el_outranks(cfg->cluster, m->from, cfg->self)) {
        el_note(out, AGREES, m->from, 0);
        reply.kind = AGREE;
        if (el_number(cfg, MODE) != MODE_DISAGREE) el_send(out, cfg, m->from, reply);
        if (me->mesh.mode != ASKING && !follows_better(me, cfg, m->from)) await_coordinator(me, cfg, out);
    } else {
        el_note(out, DISAGREES, m->from, 0);
        reply.kind = DISAGREE;
        el_send(out, cfg, m->from, reply);
        if (me->mesh.mode == IDLE) stand(me, cfg, out);
    }
}

static void on_reply(struct multicast *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    if (m->epoch != me->mesh.run || me->mesh.mode != ASKING) {
        el_note(out, STALE, m->from, 0);
    } else if (m->kind == DISAGREE) {
        el_note(out, GIVES_UP, m->from, 0);
        await_coordinator(me, cfg, out);
    } else if (!el_set_has(agreeing(me, cfg), m->from)) {
        el_set_add(agreeing(me, cfg), m->from);
        if (++me->agreed == me->polled) win(me, cfg, ALL_AGREED, out);
    }
}

static void on_coordinator(struct multicast *me, const struct el_config *cfg, const struct el_msg *m,
                           struct el_outbox *out)
{
    const enum mesh_news news = mesh_judge(cfg, suspects(me), m->subject);
    el_note(out, LEARNS + news, m->subject, 0);
    if (news == MESH_LEARNS) {
        mesh_rest(&me->mesh, m->subject, TIMERS, out);
    } else if (me->mesh.mode == IDLE) {
        stand(me, cfg, out);
    }
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    switch (m->kind) {
    case ELECTION: on_election(state, cfg, m, out); return;
    case COORDINATOR: on_coordinator(state, cfg, m, out); return;
    default: on_reply(state, cfg, m, out); return;
    }
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)slot;
    if (timer == T_REPLIES) {
        win(state, cfg, TIME_IS_UP, out);
    } else {
        el_note(out, NO_COORDINATOR, 0, 0);
        stand(state, cfg, out);
    }
}

static void on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct multicast *me = state;
    el_set_add(suspects(me), peer);
    if (peer != me->mesh.leader) return;
    el_note(out, NOTICES, peer, 0);
    stand(me, cfg, out);
}

static void on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    (void)cfg, (void)out;
    el_set_remove(suspects(state), peer);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    if (((struct mesh *)state)->mode == IDLE) stand(state, cfg, out);
}

static const char *const kinds[] = {NULL, "Election", "Agree", "Disagree", "Coordinator"};
static const char *const timers[] = {"replies", "coordinator"};
static const struct el_option options[] = {
    [MODE] = {"mode", EL_CHOICE, 0, "timeout|all|disagree", "timeout",
              "when a candidate wins: all agree or a timeout, all agree, no disagreement before a timeout"},
    [EXCLUDE_SUSPECTS] = {"exclude-suspects", EL_FLAG, 0, NULL, "off", "do not ask suspected processes"},
};

static const struct el_weakness breaks[] = {
    {EL_UNNOTICED, EL_DEAD_LEADER | EL_DISAGREEMENT, "a leader that dies unnoticed stays elected"},
    {EL_CRASHES, EL_NO_LEADER, "with mode=all one silent process blocks the election for ever"},
    {EL_PARTITIONS | EL_LOSSES | EL_REORDERS | EL_LATENESS | EL_PAUSES | EL_CLOCKS, EL_ALL_WRONG,
     "silence until the timeout counts as consent: each side of a partition elects its own leader"},
    {EL_FALSE_SUSPICIONS, EL_ALL_WRONG, "a suspected live leader is elected again and distrusted again"},
    {EL_RESTARTS, EL_TWO_LEADERS | EL_DISAGREEMENT | EL_NOT_BEST | EL_DEAD_LEADER | EL_NO_LEADER,
     "a process replaced under the same id during an election forgets its answers"},
};

const struct el_algorithm el_multicast = {
    .name = "multicast",
    .roleless = true,
    .summary = "ask everybody; lower processes agree, higher ones disagree",
    .idea = "A candidate multicasts its rank. Lower processes agree; higher ones disagree and stand "
            "themselves. A candidate gives up if one process disagrees. It is elected if all agree, "
            "or if nobody disagrees in time, and announces itself to all.",
    .reference = "distributed-systems lectures after Coulouris et al., section 15.3: multicast-based election",
    EL_KINDS(kinds),
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE | EL_NEEDS_TIMELY,
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST,
    .state_bytes = sizeof(struct multicast),
    .state_sets = 2,
    .outbox_fixed = 10,
    .outbox_per_member = 1,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_suspect = on_suspect,
    .on_trust = on_trust,
    .on_campaign = on_campaign,
    .view = mesh_view,
};
