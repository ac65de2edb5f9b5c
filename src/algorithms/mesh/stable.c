/*
 * The stable leader: members own rounds in turn, and the owner of the current round leads as long as the
 * others hear it. It sends OK every delta; a process that hears none for 2 delta starts the next round and
 * tells its owner. Rounds only rise, so a restarted process learns the current one, and no live, timely
 * leader is ever displaced, whatever the ids. This is a leader detector (Omega): each side of a partition
 * finds its own leader.
 *
 * Reference: M. K. Aguilera, C. Delporte-Gallet, H. Fauconnier, S. Toueg, Stable leader election, DISC 2001.
 * Deviations: rounds count from 1 and round r belongs to member 1 + (r - 1) mod n, so that 0 is no term;
 * rounds whose owner may not lead are skipped; the OK that brings a newer round counts as its first; if delta
 * is unknown, timeouts grow and heartbeats keep their interval. The paper's processes never restart. Here a
 * restarted process begins at round 1, and the first answer takes it to the current round. It may lead again
 * in a round that it led before, so rounds are not fencing tokens.
 */
#include "algorithms/mesh/mesh.h"

struct stable {
    uint64_t round;
    uint64_t missed; /* the round we last left for lack of an OK; 0: none, or its owner turned out to be slow */
    uint64_t wait;   /* the timeout for an OK; initially 2 delta */
    uint32_t heard;  /* OKs of this round, counted up to HEARD_ENOUGH */
    uint32_t spare;
};

enum { OK = 1, START };
enum { BEAT, WAIT };
enum { DELTA, ADAPT };
/* The first OK may come from an owner that has already left the round. By the second it would have known. */
enum { HEARD_ENOUGH = 2 };
enum { LEADS, FOLLOWS, GIVES_UP, BEGINS, TELLS, WAITS_LONGER, HANDS_OVER, GOES_ON, MALFORMED };

/* Far below the maximum, so that counting on cannot overflow; only a forged message gets near it. */
static const uint64_t round_max = EL_EPOCH_MAX / 2;

static const struct el_note_text notes[] = {
    [LEADS] = {"leads", "leads in its round #1"},
    [FOLLOWS] = {"follows", "follows @1 in round #2"},
    [GIVES_UP] = {"gives-up", "hears no more from @1 and gives up round #2"},
    [BEGINS] = {"begins", "goes to round #2, which is @1's"},
    [TELLS] = {"tells", "tells @1, who is behind, of round #2"},
    [WAITS_LONGER] = {"waits-longer", "was wrong about @1, and waits longer from now on"},
    [HANDS_OVER] = {"hands-over", "hands over to @1, in round #2"},
    [GOES_ON] = {"goes-on", "is called, but whether a leader lives is asked all the time"},
    [MALFORMED] = {"malformed", "drops a message from @1 about a round that cannot be"},
};

/* ---- Rounds and their owners ---- */

static el_node owner_of(const struct el_config *cfg, uint64_t round)
{
    return 1 + (el_node)((round - 1) % cfg->cluster->count);
}

/* The first round, from this one on, whose owner may lead; this one if nobody may. */
static uint64_t owned_from(const struct el_config *cfg, uint64_t round)
{
    for (uint32_t i = 0; i < cfg->cluster->count; i++)
        if (el_may_lead(cfg->cluster, owner_of(cfg, round + i))) return round + i;
    return round;
}

/* The first round after this one that belongs to that member. */
static uint64_t round_of(const struct el_config *cfg, uint64_t after, el_node owner)
{
    const uint32_t count = cfg->cluster->count;
    return after + 1 + (owner + count - owner_of(cfg, after + 1)) % count;
}

static bool is_ours(const struct stable *me, const struct el_config *cfg)
{
    return owner_of(cfg, me->round) == cfg->self && el_may_lead(cfg->cluster, cfg->self);
}

static struct el_msg about(const struct el_config *cfg, uint8_t kind, uint64_t round)
{
    return (struct el_msg){.kind = kind, .subject = owner_of(cfg, round), .epoch = round};
}

/* ---- Going through them ---- */

static void beat(struct stable *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (me->heard < HEARD_ENOUGH && ++me->heard == HEARD_ENOUGH) el_note(out, LEADS, me->round, 0);
    mesh_send_others(cfg, about(cfg, OK, me->round), EL_NOBODY, out);
    el_arm(out, BEAT, 0, el_number(cfg, DELTA), el_number(cfg, DELTA));
}

static void listen(const struct stable *me, struct el_outbox *out)
{
    el_arm(out, WAIT, 0, me->wait, me->wait);
}

/* The paper's StartRound; `heard` OKs have arrived already. */
static void begin(struct stable *me, const struct el_config *cfg, uint64_t round, uint32_t heard,
                  struct el_outbox *out)
{
    me->round = owned_from(cfg, round);
    me->heard = heard;
    const el_node owner = owner_of(cfg, me->round);
    el_note(out, BEGINS, owner, me->round);
    if (is_ours(me, cfg)) {
        el_disarm(out, WAIT, 0);
        beat(me, cfg, out);
        return;
    }
    if (owner != cfg->self && heard < HEARD_ENOUGH) el_send(out, cfg, owner, about(cfg, START, me->round));
    el_disarm(out, BEAT, 0);
    listen(me, out);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct stable *me = state;
    me->wait = 2 * el_number(cfg, DELTA);
    const bool led = start->how == EL_FRESH && start->incumbent && el_may_lead(cfg->cluster, start->incumbent);
    begin(me, cfg, led ? round_of(cfg, 0, start->incumbent) : 1, led ? HEARD_ENOUGH : 0, out);
}

/* An OK of the round that we left: its owner was slow, not dead, so the timeout grows. It grows at most once
 * per expiry, so it cannot overflow in any practical time. */
static void learn_patience(struct stable *me, const struct el_config *cfg, const struct el_msg *m,
                           struct el_outbox *out)
{
    if (!el_number(cfg, ADAPT) || m->kind != OK || m->epoch == 0 || m->epoch != me->missed) return;
    if (m->from != owner_of(cfg, m->epoch)) return;
    me->missed = 0;
    me->wait += el_number(cfg, DELTA);
    el_note(out, WAITS_LONGER, m->from, 0);
}

static void hear_ok(struct stable *me, const struct el_config *cfg, const struct el_msg *m,
                    struct el_outbox *out)
{
    if (m->epoch > me->round) {
        begin(me, cfg, m->epoch, 1, out);
        return;
    }
    if (me->heard < HEARD_ENOUGH && ++me->heard == HEARD_ENOUGH) el_note(out, FOLLOWS, m->from, me->round);
    listen(me, out);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct stable *me = state;
    if (m->epoch < me->round) {
        learn_patience(me, cfg, m, out);
        el_note(out, TELLS, m->from, me->round);
        el_send(out, cfg, m->from, about(cfg, START, me->round));
    } else if (m->epoch > round_max || !el_may_lead(cfg->cluster, owner_of(cfg, m->epoch)) ||
               (m->kind == OK && m->from != owner_of(cfg, m->epoch))) {
        el_note(out, MALFORMED, m->from, 0);
    } else if (m->kind == OK) {
        hear_ok(me, cfg, m, out);
    } else if (m->epoch > me->round) {
        begin(me, cfg, m->epoch, 0, out);
    }
}

static void on_timer(void *state, const struct el_config *cfg, uint32_t timer, uint32_t slot,
                     struct el_outbox *out)
{
    (void)slot;
    struct stable *me = state;
    if (timer == BEAT) {
        beat(me, cfg, out);
        return;
    }
    me->missed = me->round;
    el_note(out, GIVES_UP, owner_of(cfg, me->round), me->round);
    begin(me, cfg, me->round + 1, 0, out);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    (void)state, (void)cfg;
    el_note(out, GOES_ON, 0, 0);
}

/* Resigning hands over to the next owner in turn. */
static enum el_answer on_request(void *state, const struct el_config *cfg, enum el_request_what what,
                                 el_node to, struct el_outbox *out)
{
    struct stable *me = state;
    if (!is_ours(me, cfg) || me->heard < HEARD_ENOUGH) return EL_NOT_LEADING;
    const el_node heir = what == EL_TRANSFER ? to : owner_of(cfg, owned_from(cfg, me->round + 1));
    if (heir == cfg->self || !el_may_lead(cfg->cluster, heir)) return EL_NOT_ELIGIBLE;
    const uint64_t round = round_of(cfg, me->round, heir);
    el_note(out, HANDS_OVER, heir, round);
    begin(me, cfg, round, 0, out); /* this tells the heir */
    mesh_send_others(cfg, about(cfg, START, round), heir, out);
    return EL_PERFORMED;
}

static void view(const void *state, const struct el_config *cfg, struct el_view *view)
{
    const struct stable *me = state;
    el_view_of(view, cfg, me->heard == HEARD_ENOUGH ? owner_of(cfg, me->round) : EL_NOBODY, true, me->round);
}

static const char *const kinds[] = {NULL, "OK", "Start"};
static const char *const timers[] = {[BEAT] = "beat", [WAIT] = "wait"};
static const struct el_option options[] = {
    [DELTA] = {"delta", EL_DURATION, 0, NULL, "50ms", "how often the owner of a round sends OK"},
    [ADAPT] = {"adapt", EL_FLAG, 0, NULL, "off", "lengthen the timeout each time it proves too short"},
};

static const struct el_inequality inequalities[] = {
    {{{1, EL_OF_ROUND_TRIP}},
     {{1, DELTA}},
     "a restarted process would take an old round for its own before it hears of the current one, and"
     " a slow OK would count as missing"},
};

static const struct el_weakness breaks[] = {
    {EL_PARTITIONS, EL_NO_LEADER | EL_DISAGREEMENT,
     "each side of a partition finds a leader of its own, and a member that hears nobody drives all "
     "it reaches from round to round"},
    {EL_LOSSES, EL_NO_LEADER | EL_DISAGREEMENT | EL_ENDLESS,
     "two lost OKs look like a dead owner, to one member or to all"},
    {EL_DRIFTS, EL_NO_LEADER | EL_ENDLESS,
     "a clock that runs three times as fast as the owner's gives up before the next OK"},
};

const struct el_algorithm el_stable = {
    .name = "stable",
    .summary = "members own rounds in turn; the owner leads as long as the others hear it in time",
    .idea = "Round r belongs to one member. The owner sends OK to all every delta, and leads. A member "
            "follows an owner from which it has heard two OKs. If it hears none for twice delta, it "
            "starts the next round and tells its owner. A message of an older round is answered with the "
            "current one. So no restarted member, however high its rank, displaces a leader that is heard"
            " in time.",
    .reference = "Aguilera, Delporte-Gallet, Fauconnier, Toueg: Stable leader election, DISC 2001",
    EL_KINDS(kinds),
    .routine_kinds = 1u << OK,
    EL_TIMERS(timers),
    EL_NOTES(notes),
    EL_OPTIONS(options),
    EL_INEQUALITIES(inequalities),
    EL_BREAKS(breaks),
    .needs = EL_NEEDS_TIMELY,
    .claims = EL_CLAIMS_AGREEMENT | EL_CLAIMS_STABLE,
    .beats = true,
    .state_bytes = sizeof(struct stable),
    .outbox_fixed = 8,
    .outbox_per_member = 1,
    .on_start = on_start,
    .on_message = on_message,
    .on_timer = on_timer,
    .on_campaign = on_campaign,
    .on_request = on_request,
    .view = view,
};
