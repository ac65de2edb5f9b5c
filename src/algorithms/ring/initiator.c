/*
 * The ring for many initiators and repeated elections: every message names the run and its initiator, and
 * each process forwards only the highest (run, initiator) it has seen. The election of the highest initiator
 * completes; the others stop on the way.
 *
 * Reference: the "multiple initiators" slides of the distributed-systems lectures after Coulouris et al.
 * Deviations: the lectures' cache of initiator ids alone would block every election after the highest
 * initiator has died, so a run number comes first; and "has forwarded" belongs to one pair, since a flag
 * for all of them deadlocks. Failures are handled as the lectures suggest: a timeout of 3N-1 hops, a failure
 * detector, and the rule that a claim seen twice has lost its owner. The timeout doubles each time it expires,
 * since skipping dead nodes takes time that 3N-1 hops do not include.
 */
#include "algorithms/ring/ring.h"

struct ring_initiator {
    uint64_t gone;
    uint64_t run; /* the highest pair seen: run, then the initiator's id */
    el_node initiator;
    el_node leader;
    el_node claim;    /* the claim forwarded for that pair, in the end the leader's; nobody: none yet */
    uint32_t retries; /* how often the timeout expired since the last result */
};

enum { PATIENCE };
enum { RETRIES_MAX = 8 }; /* the timeout doubles at most this often */
#define NOTE_LIST(NOTE)                                                                     \
    NOTE(FORWARDS, "forwards", "forwards the stronger claim of @1")                         \
    NOTE(OUTBIDS, "outbids", "outbids @1")                                                  \
    NOTE(SWALLOWS, "swallows", "swallows the weaker claim of @1")                           \
    NOTE(SUPPRESSES, "suppresses", "suppresses run #1 of the lower initiator @2")           \
    NOTE(CAME_HOME, "came-home", "its own claim came home: it has won")                     \
    NOTE(LEARNS, "learns", "learns that @1 leads")                                          \
    NOTE(IGNORES_GONE, "ignores-gone", "drops a message about @1, which is gone")           \
    NOTE(SEEN_TWICE, "seen-twice", "sees the claim of @1 a second time: its owner is gone") \
    NOTE(OUT_OF_PATIENCE, "out-of-patience", "has heard of no leader in time")              \
    NOTE(STARTS_OVER, "starts-over", "starts over without @1")                              \
    NOTE(OBJECTS, "objects", "outranks the elected @1, and objects")                        \
    NOTE(REOPENS, "reopens", "calls a new election for @1, whose run #2 is out of date")    \
    NOTE(SKIPS, "skips", "cannot reach @1 and skips it")                                    \
    NOTE(ALONE, "alone", "finds nobody else on the ring")                                   \
    NOTE(MALFORMED, "malformed", "drops a message whose initiator does not exist")
enum { NOTE_LIST(EL_NOTE_NAME) };
static const struct el_note_text notes[] = {NOTE_LIST(EL_NOTE_TEXT)};

static void follow(struct ring_initiator *me, el_node leader, struct el_outbox *out)
{
    me->leader = leader;
    me->claim = leader;
    me->retries = 0;
    el_disarm(out, PATIENCE, 0);
}

static void pass(struct ring_initiator *me, const struct el_config *cfg, el_node after, struct el_msg msg,
                 struct el_outbox *out)
{
    if (ring_send(me->gone, cfg, after, msg, out)) return;
    el_note(out, ALONE, 0, 0);
    follow(me, cfg->self, out);
}

/* An election from the worst initiator takes 3N-1 hops, and longer if dead nodes are skipped. */
static void be_patient(const struct ring_initiator *me, const struct el_config *cfg, struct el_outbox *out)
{
    const el_duration hop = cfg->cluster->transmit_max + cfg->cluster->process_max;
    const el_duration patience = (3 * (el_duration)cfg->cluster->count - 1) * hop << me->retries;
    el_arm(out, PATIENCE, 0, patience, patience);
}

static void say(struct ring_initiator *me, const struct el_config *cfg, uint8_t kind, struct el_outbox *out)
{
    const struct el_msg msg = {.kind = kind,
                               .subject = cfg->self,
                               .rank = el_rank_of(cfg->cluster, cfg->self).attribute,
                               .epoch = me->run,
                               .more = me->initiator};
    pass(me, cfg, cfg->self, msg, out);
}

static void take_part(struct ring_initiator *me, el_node claim)
{
    me->leader = EL_NOBODY;
    me->claim = claim;
}

static bool running(const struct ring_initiator *me)
{
    return me->leader == EL_NOBODY && me->claim != EL_NOBODY;
}

static void stand(struct ring_initiator *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->run++;
    me->initiator = cfg->self;
    take_part(me, cfg->self);
    be_patient(me, cfg, out);
    say(me, cfg, RING_ELECTION, out);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct ring_initiator *me = state;
    me->leader = me->claim = start->incumbent;
    if (start->how != EL_FRESH) stand(me, cfg, out);
}

static void on_election(struct ring_initiator *me, const struct el_config *cfg, const struct el_msg *m,
                        struct el_outbox *out)
{
    const struct el_rank mine = el_rank_of(cfg->cluster, cfg->self), theirs = el_claimed_rank(cfg, m);

    if (m->subject == cfg->self) {
        el_note(out, CAME_HOME, 0, 0);
        follow(me, cfg->self, out);
        say(me, cfg, RING_ELECTED, out);
    } else if (m->subject == me->claim) {
        el_note(out, SEEN_TWICE, m->subject, 0);
        stand(me, cfg, out);
    } else if (el_rank_above(theirs, mine)) {
        el_note(out, FORWARDS, m->subject, 0);
        take_part(me, m->subject);
        pass(me, cfg, cfg->self, *m, out);
    } else if (me->claim == EL_NOBODY) {
        el_note(out, OUTBIDS, m->subject, 0);
        take_part(me, cfg->self);
        say(me, cfg, RING_ELECTION, out);
    } else {
        el_note(out, SWALLOWS, m->subject, 0);
    }
}

static void on_elected(struct ring_initiator *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    if (m->subject == cfg->self) return;
    if (m->subject == me->leader) {
        el_note(out, SEEN_TWICE, m->subject, 0); /* a live owner would have taken it off the ring */
        stand(me, cfg, out);
    } else if (el_rank_above(el_rank_of(cfg->cluster, cfg->self), el_claimed_rank(cfg, m))) {
        el_note(out, OBJECTS, m->subject, 0);
        stand(me, cfg, out);
    } else {
        el_note(out, LEARNS, m->subject, 0);
        follow(me, m->subject, out);
        pass(me, cfg, cfg->self, *m, out);
    }
}

/* -1, 0, 1: the message's pair is lower than ours, the same, higher. */
static int compare_pair(const struct ring_initiator *me, const struct el_config *cfg, const struct el_msg *m)
{
    if (m->epoch != me->run) return m->epoch < me->run ? -1 : 1;
    if (m->more == me->initiator) return 0;
    if (me->initiator == EL_NOBODY) return 1;
    return el_id(cfg->cluster, (el_node)m->more) < el_id(cfg->cluster, me->initiator) ? -1 : 1;
}

static void on_lower_pair(struct ring_initiator *me, const struct el_config *cfg, const struct el_msg *m,
                          struct el_outbox *out)
{
    const bool settled = me->leader != EL_NOBODY;
    if (settled && m->kind == RING_ELECTION && m->epoch < me->run) {
        /* A node that missed our runs asks for an election. Answer with a newer run. */
        el_note(out, REOPENS, m->more, m->epoch);
        stand(me, cfg, out);
    } else {
        el_note(out, SUPPRESSES, m->epoch, m->more);
    }
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct ring_initiator *me = state;
    if (m->more < 1 || m->more > cfg->cluster->count) {
        el_note(out, MALFORMED, 0, 0);
        return;
    }
    if (el_ring_gone(cfg, me->gone, m->subject)) {
        el_note(out, IGNORES_GONE, m->subject, 0);
        if (m->kind == RING_ELECTION && !running(me)) stand(me, cfg, out); /* the call is valid */
        return;
    }
    const int order = compare_pair(me, cfg, m);
    if (order < 0) {
        on_lower_pair(me, cfg, m, out);
        return;
    }
    if (order > 0) {
        me->run = m->epoch;
        me->initiator = (el_node)m->more;
        take_part(me, EL_NOBODY);
        be_patient(me, cfg, out);
    }
    if (m->kind == RING_ELECTION) {
        on_election(me, cfg, m, out);
    } else {
        on_elected(me, cfg, m, out);
    }
}

static void on_unsent(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct ring_initiator *me = state;
    el_note(out, SKIPS, m->to, 0);
    if (compare_pair(me, cfg, m) < 0) {
        el_note(out, SUPPRESSES, m->epoch, m->more);
    } else {
        pass(me, cfg, m->to, *m, out);
    }
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)timer, (void)slot;
    struct ring_initiator *me = state;
    el_note(out, OUT_OF_PATIENCE, 0, 0);
    if (me->retries < RETRIES_MAX) me->retries++;
    stand(me, cfg, out);
}

static void on_suspect(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct ring_initiator *me = state;
    me->gone = el_ring_mark(cfg, me->gone, peer, true);
    if (peer != me->claim) return;
    el_note(out, STARTS_OVER, peer, 0);
    stand(me, cfg, out);
}

static void on_trust(void *state, const struct el_config *cfg, el_node peer, struct el_outbox *out)
{
    struct ring_initiator *me = state;
    (void)out;
    me->gone = el_ring_mark(cfg, me->gone, peer, false);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    if (!running(state)) stand(state, cfg, out);
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct ring_initiator *me = state;
    el_view_of(v, cfg, me->leader, running(me), me->run);
}

static const char *const timers[] = {"patience"};

static const struct el_weakness breaks[] = {
    {EL_UNNOTICED, EL_DEAD_LEADER | EL_DISAGREEMENT, "a leader that dies unnoticed stays elected"},
    {EL_CRASHES, EL_NO_LEADER | EL_NOT_BEST,
     "a call is lost with its caller, if its first hop finds a dead neighbour"},
    {EL_LOSSES | EL_PARTITIONS | EL_FALSE_SUSPICIONS | EL_LATENESS | EL_PAUSES | EL_CLOCKS, EL_ALL_WRONG,
     "a timeout expires too early, or a ring closed over live processes elects another leader"},
    {EL_RESTARTS | EL_DUPLICATES | EL_REORDERS, EL_ALL_WRONG,
     "a restarted process repeats a run number; an old message is taken for a new one"},
};

const struct el_algorithm el_ring_initiator = {
    .name = "ring-initiator",
    .roleless = true,
    .summary = "ring for many initiators: only the highest (run, initiator) may pass",
    .idea = "Every message names its run and the initiator of that run. A process forwards a message "
            "only if it has seen no higher (run, initiator). So only the highest initiator's election"
            " completes, and an earlier election never blocks a later one.",
    .reference = "distributed-systems lectures after Coulouris et al., section 15.3: multiple initiators",
    EL_KINDS(ring_kinds),
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_BREAKS(breaks),
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE | EL_NEEDS_TIMELY | EL_NEEDS_HOP_ACKS,
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST,
    .ring = true,
    .state_bytes = sizeof(struct ring_initiator),
    .outbox_fixed = 6,
    .on_start = on_start,
    .on_message = on_message,
    .on_unsent = on_unsent,
    .on_timer = on_timer,
    .on_suspect = on_suspect,
    .on_trust = on_trust,
    .on_campaign = on_campaign,
    .view = view,
};
