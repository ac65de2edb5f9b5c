/*
 * LeLann's ring, the first distributed election: every process sends a token with its rank once around, and
 * reads the tokens of the others as they pass. Links keep order, so when its own token returns, it has seen
 * all the others and knows the winner. Nobody announces anything.
 *
 * Reference: G. Le Lann, Distributed systems: towards a formal approach, IFIP Congress, 1977. Deviations: a
 * process woken by a token sends its own token before it forwards that one, so that the best of all wins and
 * not just the best initiator (j initiators cost jN messages; here j is always N); a process keeps the best
 * claim it has read instead of a list of all. The paper also replaces a lost token by timeouts; here a crash
 * or a loss ends the election without a result.
 */
#include "algorithms/ring/ring.h"

struct lelann {
    struct ring_claim best; /* of the tokens read in this election, our own among them */
    el_node leader;
    uint32_t electing; /* our token has not returned yet */
};
_Static_assert(sizeof(struct lelann) == 24, "no padding");

enum { TOKEN = 1, KINDS = 1 };
static const char *const kinds[KINDS + 1] = {NULL, "Token"};

enum { WOKEN, READS_BETTER, READS, HOME, STRAY, TAKES_PART, ALONE };
static const struct el_note_text notes[] = {
    [WOKEN] = {"woken", "is woken by the token of @1 and sends its own first"},
    [READS_BETTER] = {"reads-better", "reads @1, the best so far"},
    [READS] = {"reads", "reads @1, which is not better than @2"},
    [HOME] = {"home", "has its token back, and so has read all: @1 is the best"},
    [STRAY] = {"stray", "drops a token of its own that it did not expect"},
    [TAKES_PART] = {"takes-part", "takes part already"},
    [ALONE] = {"alone", "finds nobody else on the ring"},
};

static void settle(struct lelann *me, const struct el_config *cfg)
{
    me->leader = ring_winner(cfg, me->best.owner);
    me->electing = false;
}

static void stand(struct lelann *me, const struct el_config *cfg, struct el_outbox *out)
{
    me->best = ring_own_claim(cfg);
    me->leader = EL_NOBODY;
    me->electing = true;
    if (ring_send(0, cfg, cfg->self, ring_message(TOKEN, me->best), out)) return;
    el_note(out, ALONE, 0, 0);
    settle(me, cfg);
}

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    struct lelann *me = state;
    me->leader = start->incumbent;
    if (start->how != EL_FRESH) stand(me, cfg, out);
}

static void on_own_token(struct lelann *me, const struct el_config *cfg, struct el_outbox *out)
{
    if (!me->electing) {
        el_note(out, STRAY, 0, 0);
        return;
    }
    el_note(out, HOME, me->best.owner, 0);
    settle(me, cfg);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct lelann *me = state;
    const struct ring_claim theirs = ring_claim_in(m);

    if (m->subject == cfg->self) {
        on_own_token(me, cfg, out);
        return;
    }
    if (!me->electing) {
        el_note(out, WOKEN, m->subject, 0);
        stand(me, cfg, out);
    }
    if (ring_claim_above(cfg, theirs, me->best)) {
        el_note(out, READS_BETTER, m->subject, 0);
        me->best = theirs;
    } else {
        el_note(out, READS, m->subject, me->best.owner);
    }
    ring_send(0, cfg, cfg->self, *m, out);
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    struct lelann *me = state;
    if (me->electing) {
        el_note(out, TAKES_PART, 0, 0);
    } else {
        stand(me, cfg, out);
    }
}

static void view(const void *state, const struct el_config *cfg, struct el_view *v)
{
    const struct lelann *me = state;
    el_view_of(v, cfg, me->leader, me->electing, 0);
}

static const struct el_weakness breaks[] = {
    {EL_CRASHES, EL_NO_LEADER | EL_DISAGREEMENT | EL_DEAD_LEADER | EL_NOT_BEST,
     "nothing gets past a dead process: a call or a token is lost there"},
    {EL_LOSSES | EL_PARTITIONS, EL_NO_LEADER | EL_DISAGREEMENT,
     "a lost token never comes home, and the processes it has not passed do not know of it"},
    {EL_PARTITIONS | EL_FALSE_SUSPICIONS, EL_NOT_BEST,
     "it has no failure detector: a suspected leader leads on until somebody calls an election"},
    {EL_REORDERS, EL_TWO_LEADERS | EL_DISAGREEMENT | EL_NO_LEADER | EL_ENDLESS,
     "a process whose token comes home before another has passed decides too early, and the late "
     "token starts yet another election"},
    {EL_DUPLICATES | EL_RESTARTS, EL_TWO_LEADERS | EL_ENDLESS,
     "an old token is taken for a new one: its owner decides too early, and others start another election"},
};

const struct el_algorithm el_lelann = {
    .name = "lelann",
    .summary = "every process sends a token once around and reads all the others",
    .idea = "Each process sends a token with its own rank around the ring, forwards the tokens of the "
            "others, and remembers the best it has read. Since no token overtakes another, a process has "
            "read all of them when its own comes home. It then knows who won, and nobody announces "
            "anything. The cost is one lap for every process: N times N messages.",
    .reference = "Le Lann: Distributed systems: towards a formal approach, IFIP Congress, 1977",
    EL_KINDS(kinds),
    EL_NOTES(notes),
    EL_BREAKS(breaks),
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE,
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST,
    .ring = true,
    .state_bytes = sizeof(struct lelann),
    .outbox_fixed = 4,
    .on_start = on_start,
    .on_message = on_message,
    .on_campaign = on_campaign,
    .view = view,
};
