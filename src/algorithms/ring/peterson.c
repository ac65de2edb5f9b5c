/*
 * The election of Peterson and of Dolev, Klawe and Rodeh: O(N log N) messages in the worst case, the optimum
 * for a ring with one direction. In each phase an active process sends two claims: its own and the first it
 * received. So it learns the claims of the two active processes before it. It stays active, standing for the
 * nearer one's claim, only if that claim is above the other two. At most half of the active processes stay
 * active.
 *
 * Reference: D. Dolev, M. Klawe, M. Rodeh, An O(n log n) unidirectional distributed algorithm for extrema
 * finding in a circle, Journal of Algorithms 3(3), 1982, algorithm A; G. L. Peterson, An O(n log n)
 * unidirectional algorithm for the circular extrema problem, ACM TOPLAS 4(4), 1982. Deviations: the process
 * that sees the winning claim return, which is seldom its owner, announces the result; a process woken by a
 * message becomes active with its own claim before it reads the message.
 */
#include "algorithms/ring/ring.h"

enum mode {
    AT_REST, /* no election under way here */
    AWAITS_FIRST,
    AWAITS_SECOND,
    RELAYS,
};

struct peterson {
    struct ring_claim stands_for;
    struct ring_claim nearer; /* the claim of the active process before us: the first message of the phase */
    el_node leader;
    uint32_t mode;
};
_Static_assert(sizeof(struct peterson) == 40, "no padding");

enum { FIRST = 1, SECOND = 2, ELECTED = 3, KINDS = 3 };
static const char *const kinds[KINDS + 1] = {NULL, "First", "Second", "Elected"};

#define NOTE_LIST(NOTE)                                                                              \
    NOTE(WOKEN, "woken", "is woken and stands for itself first")                                     \
    NOTE(HANDS_ON, "hands-on", "stands for @1, and hands on the claim before it")                    \
    NOTE(TAKES_OVER, "takes-over", "takes over the claim of @1, which is above both its neighbours") \
    NOTE(GIVES_UP, "gives-up", "no longer stands for @1, and only relays from now on")               \
    NOTE(PASSES, "passes", "relays")                                                                 \
    NOTE(RETURNED, "returned", "sees the claim of @1 return: no other is left")                      \
    NOTE(LEARNS, "learns", "learns that @1 leads")                                                   \
    NOTE(OUT_OF_TURN, "out-of-turn", "drops a claim of @1 that is not its turn")                     \
    NOTE(TAKES_PART, "takes-part", "takes part already")                                             \
    NOTE(ALONE, "alone", "finds nobody else on the ring")                                            \
    NOTE(MALFORMED, "malformed", "drops news that a member who does not exist sent around")
enum { NOTE_LIST(EL_NOTE_NAME) };
static const struct el_note_text notes[] = {NOTE_LIST(EL_NOTE_TEXT)};

static void settle(struct peterson *me, const struct el_config *cfg, el_node owner)
{
    me->leader = ring_winner(cfg, owner);
    me->mode = AT_REST;
}

/* Begins a phase with this claim. */
static void stand_for(struct peterson *me, const struct el_config *cfg, struct ring_claim claim,
                      struct el_outbox *out)
{
    me->stands_for = claim;
    me->leader = EL_NOBODY;
    me->mode = AWAITS_FIRST;
    if (ring_send(0, cfg, cfg->self, ring_message(FIRST, claim), out)) return;
    el_note(out, ALONE, 0, 0);
    settle(me, cfg, cfg->self);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct peterson *me = state;
    me->leader = start->incumbent;
    if (start->how != EL_FRESH) stand_for(me, cfg, ring_own_claim(cfg), out);
}

static void on_first(struct peterson *me, const struct el_config *cfg, struct ring_claim claim,
                     struct el_outbox *out)
{
    if (claim.owner != me->stands_for.owner) {
        el_note(out, HANDS_ON, me->stands_for.owner, 0);
        me->nearer = claim;
        me->mode = AWAITS_SECOND;
        ring_send(0, cfg, cfg->self, ring_message(SECOND, claim), out);
        return;
    }
    el_note(out, RETURNED, claim.owner, 0);
    settle(me, cfg, claim.owner);
    struct el_msg news = ring_message(ELECTED, claim);
    news.more = cfg->self; /* the process that takes the announcement off the ring */
    ring_send(0, cfg, cfg->self, news, out);
}

static void on_second(struct peterson *me, const struct el_config *cfg, struct ring_claim farther,
                      struct el_outbox *out)
{
    if (ring_claim_above(cfg, me->nearer, me->stands_for) && ring_claim_above(cfg, me->nearer, farther)) {
        el_note(out, TAKES_OVER, me->nearer.owner, 0);
        stand_for(me, cfg, me->nearer, out);
    } else {
        el_note(out, GIVES_UP, me->stands_for.owner, 0);
        me->mode = RELAYS;
    }
}

static void on_elected(struct peterson *me, const struct el_config *cfg, const struct el_msg *m,
                       struct el_outbox *out)
{
    if (m->more == cfg->self) return; /* our announcement completed its lap */
    if (m->more < 1 || m->more > cfg->cluster->count) {
        el_note(out, MALFORMED, 0, 0);
        return;
    }
    el_note(out, LEARNS, m->subject, 0);
    settle(me, cfg, m->subject);
    ring_send(0, cfg, cfg->self, *m, out);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct peterson *me = state;
    if (m->kind == ELECTED) {
        on_elected(me, cfg, m, out);
        return;
    }
    if (me->mode == AT_REST) {
        el_note(out, WOKEN, 0, 0);
        stand_for(me, cfg, ring_own_claim(cfg), out);
    }
    if (me->mode == RELAYS) {
        el_note(out, PASSES, 0, 0);
        ring_send(0, cfg, cfg->self, *m, out);
    } else if (me->mode == AWAITS_FIRST && m->kind == FIRST) {
        on_first(me, cfg, ring_claim_in(m), out);
    } else if (me->mode == AWAITS_SECOND && m->kind == SECOND) {
        on_second(me, cfg, ring_claim_in(m), out);
    } else {
        el_note(out, OUT_OF_TURN, m->subject, 0); /* impossible if links keep order and lose nothing */
    }
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct peterson *me = state;
    if (me->mode == AT_REST) {
        stand_for(me, cfg, ring_own_claim(cfg), out);
    } else {
        el_note(out, TAKES_PART, 0, 0);
    }
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct peterson *me = state;
    el_view_of(v, cfg, me->leader, me->mode != AT_REST, 0);
}

static const struct el_weakness breaks[] = {
    {EL_CRASHES, EL_NO_LEADER | EL_DISAGREEMENT | EL_DEAD_LEADER | EL_NOT_BEST,
     "nothing gets past a dead process: a call, a claim or the announcement is lost there"},
    {EL_LOSSES | EL_PARTITIONS, EL_NO_LEADER | EL_DISAGREEMENT | EL_NOT_BEST,
     "a process whose message is lost waits for ever, or takes the next message for it"},
    {EL_PARTITIONS | EL_FALSE_SUSPICIONS, EL_NOT_BEST,
     "it has no failure detector: a suspected leader leads on until somebody calls an election"},
    {EL_DUPLICATES | EL_REORDERS | EL_RESTARTS,
     EL_TWO_LEADERS | EL_DISAGREEMENT | EL_NO_LEADER | EL_NOT_BEST | EL_ENDLESS,
     "a claim out of turn is compared with the wrong neighbours, or meets only relays and circulates "
     "for ever"},
};

const struct el_algorithm el_peterson = {
    .name = "peterson",
    .summary = "one-way ring in phases: a claim survives only if it is above both neighbouring claims",
    .idea = "In each phase every active process sends its claim to the next one, and then the claim it "
            "received. So it sees three claims in a row: its own and the two before. If the middle one is"
            " the best of the three, it adopts that claim and stays active; otherwise it only relays. At "
            "least half of the claims drop out in each phase, and never the best. A process that receives"
            " the claim it already stands for knows that it is the last one, and announces its owner.",
    .reference = "Dolev, Klawe, Rodeh: An O(n log n) unidirectional distributed algorithm for extrema finding "
                 "in a circle, J. Algorithms 3(3), 1982; Peterson: An O(n log n) unidirectional algorithm for "
                 "the circular extrema problem, TOPLAS 4(4), 1982",
    EL_KINDS(kinds),
    EL_NOTES(notes),
    EL_BREAKS(breaks),
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE,
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST,
    .ring = true,
    .state_bytes = sizeof(struct peterson),
    .outbox_fixed = 4,
    .on_start = on_start,
    .on_message = on_message,
    .on_campaign = on_campaign,
    .view = view,
};
