/*
 * Candidates and ordinary processes: only a candidate may lead, however low its rank. A process that notices
 * the leader's crash first waits for its own delta. If nobody else has finished an election by then, it polls
 * the candidates, picks the best live one and announces it to all.
 *
 * Reference: M. G. Murshed, A. R. Allen, Enhanced bully algorithm for leader node election in synchronous
 * distributed systems, Computers 2012, as told by Petrov, Database Internals, chapter 10, figure 10-3. The
 * paper itself was not at hand; counts are derived. Deviation: "delta greater than a round trip" lets two
 * runs overlap, since a run takes three transmissions; neighbouring deltas differ by 3 Ttrans + 2 Tprocess.
 */
#include "algorithms/mesh/mesh.h"

struct candidate_ordinary {
    struct mesh mesh;
    el_node failed; /* the leader that is being replaced */
    el_node best;   /* the best candidate that has answered so far */
    /* the set of suspects follows */
};

enum { IDLE, HOLDING, POLLING };
enum { POLL = 1, ALIVE, ELECTED };
enum { T_DELTA, T_POLL, TIMERS };
enum { CANDIDATES, DELTA };
enum { WAITS, GOES_FIRST, POLLS, SAYS_ALIVE, PICKS, NO_CANDIDATE, LEARNS, DISTRUSTS, OBJECTS, NOTICES, STALE };

static const struct el_note_text notes[] = {
    [WAITS] = {"waits", "waits its turn behind #1 others"},
    [GOES_FIRST] = {"goes-first", "is the first in line"},
    [POLLS] = {"polls", "polls the other candidates (#1)"},
    [SAYS_ALIVE] = {"says-alive", "tells @1 that it is alive"},
    [PICKS] = {"picks", "picks @1, the best candidate alive"},
    [NO_CANDIDATE] = {"no-candidate", "finds no candidate alive: there is no leader"},
    [LEARNS] = {"learns", "learns that @1 leads"},
    [OBJECTS] = {"objects", "is a better candidate than the elected @1, and objects"},
    [DISTRUSTS] = {"distrusts", "is told that @1 leads, but suspects it"},
    [NOTICES] = {"notices", "notices that the leader @1 is gone"},
    [STALE] = {"stale", "ignores a late reply from @1"},
};

static uint64_t *suspects(struct candidate_ordinary *me)
{
    return (uint64_t *)(me + 1);
}

/* A better rank gets a smaller delta; the failed leader is not counted. */
static void call_election(struct candidate_ordinary *me, const struct el_config *cfg, struct el_outbox *out)
{
    const struct el_cluster *cluster = cfg->cluster;
    const el_duration step =
        el_number(cfg, DELTA) ? el_number(cfg, DELTA) : 3 * cluster->transmit_max + 2 * cluster->process_max;
    me->failed = me->mesh.leader == cfg->self ? EL_NOBODY : me->mesh.leader;
    mesh_rest(&me->mesh, EL_NOBODY, TIMERS, out);
    const uint32_t place = el_place(cluster, cfg->self, me->failed);
    el_note(out, place ? WAITS : GOES_FIRST, place, 0);
    me->mesh.mode = HOLDING;
    el_arm(out, T_DELTA, 0, place * step, place * step);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct candidate_ordinary *me = state;
    me->mesh.leader = start->incumbent;
    if (start->how != EL_FRESH) call_election(me, cfg, out);
}

static void decide(struct candidate_ordinary *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->best == EL_NOBODY) {
        el_note(out, NO_CANDIDATE, 0, 0);
        mesh_rest(&me->mesh, EL_NOBODY, TIMERS, out);
        return;
    }
    el_note(out, PICKS, me->best, 0);
    mesh_rest(&me->mesh, me->best, TIMERS, out);
    mesh_send_others(cfg, (struct el_msg){.kind = ELECTED, .subject = me->best, .epoch = me->mesh.run},
                     me->failed, out);
}

static void poll(struct candidate_ordinary *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->mesh.run++;
    me->best = el_may_lead(cfg->cluster, cfg->self) ? cfg->self : EL_NOBODY;
    uint32_t polled = 0;
    for (el_node peer = 1; peer <= cfg->cluster->count; peer++) {
        if (peer == cfg->self || peer == me->failed || !el_may_lead(cfg->cluster, peer)) continue;
        el_send(out, cfg, peer, (struct el_msg){.kind = POLL, .subject = cfg->self, .epoch = me->mesh.run});
        polled++;
    }
    if (polled == 0) {
        decide(me, cfg, out);
        return;
    }
    el_note(out, POLLS, polled, 0);
    me->mesh.mode = POLLING;
    el_arm(out, T_POLL, 0, el_round_trip(cfg), el_round_trip(cfg));
}

static void on_alive(struct candidate_ordinary *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    const bool is_gone = el_set_has(suspects(me), m->from); /* it died after it answered */
    if (m->epoch != me->mesh.run || me->mesh.mode != POLLING || is_gone ||
        !el_may_lead(cfg->cluster, m->from)) {
        el_note(out, STALE, m->from, 0);
    } else if (el_outranks(cfg->cluster, m->from, me->best)) {
        me->best = m->from;
    }
}

static void on_elected(struct candidate_ordinary *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    const enum mesh_news news = mesh_judge(cfg, suspects(me), m->subject);
    el_note(out, LEARNS + news, m->subject, 0);
    if (news == MESH_LEARNS) {
        mesh_rest(&me->mesh, m->subject, TIMERS, out);
    } else if (me->mesh.mode == IDLE) {
        if (news == MESH_DISTRUSTS) me->mesh.leader = m->subject; /* remember it as the leader to replace */
        call_election(me, cfg, out);
    }
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    switch (m->kind) {
    case ALIVE: on_alive(state, cfg, m, out); return;
    case ELECTED: on_elected(state, cfg, m, out); return;
    default:
        el_note(out, SAYS_ALIVE, m->from, 0);
        el_send(out, cfg, m->from, (struct el_msg){.kind = ALIVE, .subject = cfg->self, .epoch = m->epoch});
        return;
    }
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)slot;
    if (timer == T_DELTA) {
        poll(state, cfg, out);
    } else {
        decide(state, cfg, out);
    }
}

static void on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct candidate_ordinary *me = state;
    el_set_add(suspects(me), peer);
    if (peer == me->best && me->mesh.mode == POLLING) { /* it answered and died: ask again */
        poll(me, cfg, out);
        return;
    }
    if (peer != me->mesh.leader) return;
    el_note(out, NOTICES, peer, 0);
    call_election(me, cfg, out);
}

static void on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct candidate_ordinary *me = state;
    el_set_remove(suspects(me), peer);
    if (me->mesh.leader == EL_NOBODY && me->mesh.mode == IDLE && el_may_lead(cfg->cluster, peer))
        call_election(me, cfg, out);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    if (((struct mesh *)state)->mode == IDLE) call_election(state, cfg, out);
}

static const char *const kinds[] = {NULL, "Poll", "Alive", "Elected"};
static const char *const timers[] = {"delta", "poll"};
static const struct el_option options[] = {
    [CANDIDATES] = {"candidates", EL_ROLES, 0, NULL, NULL, "who may lead (otherwise everybody)"},
    [DELTA] = {"delta", EL_DURATION, 0, NULL, NULL,
               "how much longer each process waits than the next better one (otherwise 3 Ttrans + 2 "
               "Tprocess)"},
};

static const struct el_weakness breaks[] = {
    {EL_UNNOTICED, EL_DEAD_LEADER | EL_DISAGREEMENT | EL_NO_LEADER,
     "a leader that dies unnoticed stays elected"},
    {EL_CRASHES, EL_NO_LEADER | EL_NOT_BEST, "a call is lost with its caller, while it waits its delta"},
    {EL_PARTITIONS | EL_LOSSES | EL_REORDERS | EL_LATENESS | EL_PAUSES | EL_CLOCKS, EL_ALL_WRONG,
     "a process that does not answer within T counts as dead: each side of a partition elects its own"
     " leader"},
    {EL_NEEDLESS_CALLS | EL_FALSE_SUSPICIONS, EL_ALL_WRONG,
     "a suspected live leader is replaced without being told"},
    {EL_RESTARTS, EL_ALL_WRONG, "a better candidate that restarts takes over, and both lead for one delay"},
};

const struct el_algorithm el_candidate_ordinary = {
    .name = "candidate-ordinary",
    .summary = "only candidates may lead; an initiator waits its delta, polls them and picks the best",
    .idea = "Processes are candidates or ordinary. A process that notices the leader's crash waits "
            "for its own delta, which is shorter for a better rank. If nobody has finished an "
            "election by then, it polls the candidates, picks the best live one and announces it to "
            "all. This needs few messages and one election at a time.",
    .reference = "Murshed, Allen: Enhanced bully algorithm for leader node election in synchronous distributed "
                 "systems, 2012; Petrov: Database Internals, ch. 10",
    EL_KINDS(kinds),
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_BREAKS(breaks),
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE | EL_NEEDS_TIMELY,
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST,
    .state_bytes = sizeof(struct candidate_ordinary),
    .state_sets = 1,
    .outbox_fixed = 8,
    .outbox_per_member = 1,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_suspect = on_suspect,
    .on_trust = on_trust,
    .on_campaign = on_campaign,
    .view = mesh_view,
};
