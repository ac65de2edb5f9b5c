/*
 * Hirschberg and Sinclair's ring, which runs both ways: in phase p a process probes 2^p hops to either side.
 * A process that outranks the prober swallows the probe; otherwise the last process it reaches sends a reply.
 * Two replies allow the next phase, and a probe that returns to its sender has met everybody. Processes that
 * probe 2^p hops lie more than 2^(p-1) apart, so a phase costs at most 8N messages, and all 8N(1 + log N).
 *
 * Reference: D. S. Hirschberg, J. B. Sinclair, Decentralized extrema-finding in circular configurations of
 * processors, CACM 23(11), 1980. Deviations: a process woken by a message takes part before it reads the
 * message; messages carry a run number, since a late probe of one election would otherwise start the next
 * (so links need not keep order); the winner announces itself clockwise around the ring. A restarted process
 * has forgotten the run number, so others may ignore its call as an old one until somebody else calls.
 */
#include "algorithms/ring/ring.h"

struct hirschberg_sinclair {
    uint64_t run;
    el_node leader;
    uint8_t phase;
    uint8_t answered; /* bit d: the reply that travels in direction d has arrived */
    uint8_t electing;
    uint8_t spare;
};
_Static_assert(sizeof(struct hirschberg_sinclair) == 16, "no padding");

/* Probe and Reply: `flags` is the direction of travel, `aux` the phase. Probe: `more` is the hops left. */
enum { PROBE = 1, REPLY = 2, ELECTED = 3, KINDS = 3 };
static const char *const kinds[KINDS + 1] = {NULL, "Probe", "Reply", "Elected"};

enum { CLOCKWISE = 0, BACKWARDS = 1, BOTH_ANSWERED = 3 };

#define NOTE_LIST(NOTE)                                                                 \
    NOTE(WOKEN, "woken", "is woken, and probes its neighbours first")                   \
    NOTE(FORWARDS, "forwards", "forwards the stronger probe of @1, with #2 more to go") \
    NOTE(REPLIES, "replies", "is the last that the probe of @1 reaches, and yields")    \
    NOTE(SWALLOWS, "swallows", "swallows the weaker probe of @1")                       \
    NOTE(CARRIES, "carries", "carries a reply back to @1")                              \
    NOTE(HALF, "half", "has the reply from one side")                                   \
    NOTE(ADVANCES, "advances", "has both replies: phase #1, #2 hops to either side")    \
    NOTE(CAME_HOME, "came-home", "its own probe came home: it has won")                 \
    NOTE(OTHER_HOME, "other-home", "has its other probe back, too")                     \
    NOTE(LEARNS, "learns", "learns that @1 leads")                                      \
    NOTE(LATE, "late", "has no more use for this reply")                                \
    NOTE(OUTDATED, "outdated", "drops a message of the earlier run #1")                 \
    NOTE(TAKES_PART, "takes-part", "takes part already")                                \
    NOTE(ALONE, "alone", "finds nobody else on the ring")                               \
    NOTE(MALFORMED, "malformed", "drops a message that no member could have sent")
enum { NOTE_LIST(EL_NOTE_NAME) };
static const struct el_note_text notes[] = {NOTE_LIST(EL_NOTE_TEXT)};

static void pass(const struct el_config *cfg, struct el_msg msg, struct el_outbox *out)
{
    const el_node last = cfg->cluster->count;
    el_node to = cfg->self == last ? 1 : cfg->self + 1;
    if (msg.flags == BACKWARDS) to = cfg->self == 1 ? last : cfg->self - 1;
    el_send(out, cfg, to, msg);
}

static uint64_t reach(uint64_t phase)
{
    return UINT64_C(1) << phase;
}

static void settle(struct hirschberg_sinclair *me, const struct el_config *cfg, el_node owner)
{
    me->leader = ring_winner(cfg, owner);
    me->electing = false;
}

static void probe(struct hirschberg_sinclair *me, const struct el_config *cfg, uint8_t phase,
                  struct el_outbox *out)
{
    struct el_msg msg = ring_message(PROBE, ring_own_claim(cfg));
    me->phase = phase;
    me->answered = 0;
    msg.epoch = me->run;
    msg.aux = phase;
    msg.more = reach(phase);
    pass(cfg, msg, out);
    msg.flags = BACKWARDS;
    pass(cfg, msg, out);
}

static void stand(struct hirschberg_sinclair *me, const struct el_config *cfg, uint64_t run,
                  struct el_outbox *out)
{
    me->run = run;
    me->leader = EL_NOBODY;
    me->electing = true;
    if (cfg->cluster->count > 1) {
        probe(me, cfg, 0, out);
    } else {
        el_note(out, ALONE, 0, 0);
        settle(me, cfg, cfg->self);
    }
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct hirschberg_sinclair *me = state;
    me->leader = start->incumbent;
    me->run = start->incumbent != EL_NOBODY;
    if (start->how != EL_FRESH) stand(me, cfg, me->run + 1, out);
}

static void on_own_probe(struct hirschberg_sinclair *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (!me->electing) {
        el_note(out, OTHER_HOME, 0, 0);
        return;
    }
    el_note(out, CAME_HOME, 0, 0);
    settle(me, cfg, cfg->self);
    struct el_msg news = ring_message(ELECTED, ring_own_claim(cfg));
    news.epoch = me->run;
    pass(cfg, news, out);
}

static void on_probe(struct hirschberg_sinclair *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    struct el_msg next = *m;
    if (m->subject == cfg->self) {
        on_own_probe(me, cfg, out);
    } else if (ring_claim_above(cfg, ring_own_claim(cfg), ring_claim_in(m))) {
        el_note(out, SWALLOWS, m->subject, 0);
    } else if (m->more > 1) {
        next.more--;
        el_note(out, FORWARDS, m->subject, next.more);
        pass(cfg, next, out);
    } else {
        next.kind = REPLY;
        next.flags = m->flags == CLOCKWISE ? BACKWARDS : CLOCKWISE;
        next.more = 0;
        el_note(out, REPLIES, m->subject, 0);
        pass(cfg, next, out);
    }
}

static void on_reply(struct hirschberg_sinclair *me, const struct el_config *cfg, const struct el_msg *m,
                     struct el_outbox *out)
{
    if (m->subject != cfg->self) {
        el_note(out, CARRIES, m->subject, 0);
        pass(cfg, *m, out);
        return;
    }
    if (!me->electing || m->aux != me->phase) {
        el_note(out, LATE, 0, 0);
        return;
    }
    me->answered |= (uint8_t)(1u << m->flags);
    if (me->answered != BOTH_ANSWERED) {
        el_note(out, HALF, 0, 0);
        return;
    }
    const uint8_t phase = me->phase + 1;
    el_note(out, ADVANCES, phase, reach(phase));
    probe(me, cfg, phase, out);
}

static void on_elected(struct hirschberg_sinclair *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    if (m->subject == cfg->self) return; /* our announcement completed its lap */
    me->run = m->epoch;
    el_note(out, LEARNS, m->subject, 0);
    settle(me, cfg, m->subject);
    pass(cfg, *m, out);
}

/* A probe that goes all the way round is never answered but comes home; and a run number must have a
 * successor. */
static bool possible(const struct el_config *cfg, const struct el_msg *m)
{
    if (m->epoch >= EL_EPOCH_MAX - 1 || m->flags > BACKWARDS) return false;
    if (m->kind == PROBE) return m->more > 0;
    return m->kind == ELECTED || (m->aux < 32 && reach(m->aux) < cfg->cluster->count);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct hirschberg_sinclair *me = state;
    if (!possible(cfg, m)) {
        el_note(out, MALFORMED, 0, 0);
        return;
    }
    if (m->epoch < me->run) {
        el_note(out, OUTDATED, m->epoch, 0);
        return;
    }
    if (m->epoch > me->run && m->kind != ELECTED) {
        el_note(out, WOKEN, 0, 0);
        stand(me, cfg, m->epoch, out);
    }
    switch (m->kind) {
    case PROBE: on_probe(me, cfg, m, out); break;
    case REPLY: on_reply(me, cfg, m, out); break;
    default: on_elected(me, cfg, m, out); break;
    }
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct hirschberg_sinclair *me = state;
    if (me->electing) {
        el_note(out, TAKES_PART, 0, 0);
    } else {
        stand(me, cfg, me->run + 1, out);
    }
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct hirschberg_sinclair *me = state;
    el_view_of(v, cfg, me->leader, me->electing, me->run);
}

/* A participant swallows probes of weaker processes, or drops them as probes of an earlier run. In the first
 * run this holds after every restart as well, since no run is earlier. */
static bool moot(const void *state, const struct el_config *cfg, const struct el_msg *m)
{
    const struct hirschberg_sinclair *me = state;
    return m->kind == PROBE && m->epoch <= 1 && m->epoch <= me->run && m->subject != cfg->self &&
           ring_claim_above(cfg, ring_own_claim(cfg), ring_claim_in(m));
}

static const struct el_weakness breaks[] = {
    {EL_CRASHES, EL_NO_LEADER | EL_DISAGREEMENT | EL_DEAD_LEADER | EL_NOT_BEST,
     "nothing gets past a dead process: a call, a probe or the announcement is lost there"},
    {EL_LOSSES | EL_PARTITIONS, EL_NO_LEADER | EL_DISAGREEMENT,
     "a process whose probe or reply is lost waits for ever, and so does one that misses the announcement"},
    {EL_PARTITIONS | EL_FALSE_SUSPICIONS, EL_NOT_BEST,
     "it has no failure detector: a suspected leader leads on until somebody calls an election"},
    {EL_RESTARTS, EL_TWO_LEADERS,
     "a restarted process repeats a run number, and wins without waking the old leader"},
};

const struct el_algorithm el_hirschberg_sinclair = {
    .name = "hirschberg-sinclair",
    .summary = "two-way ring: probes reach twice as far in each phase",
    .idea = "A process asks its two neighbours whether it outranks them, then all within two hops to "
            "either side, then within four, and so on. A process that outranks it swallows the probe,"
            " and without replies from both sides it goes no further. So only the best of each "
            "stretch of the ring looks beyond it. A process whose probe comes home has asked "
            "everybody, and wins.",
    .reference = "Hirschberg, Sinclair: Decentralized extrema-finding in circular configurations of "
                 "processors, CACM 23(11), 1980",
    EL_KINDS(kinds),
    EL_NOTES(notes),
    EL_BREAKS(breaks),
    .needs = EL_NEEDS_RELIABLE,
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST,
    .ring = true,
    .state_bytes = sizeof(struct hirschberg_sinclair),
    .outbox_fixed = 5,
    .on_start = on_start,
    .on_message = on_message,
    .on_campaign = on_campaign,
    .view = view,
    .moot = moot,
};
