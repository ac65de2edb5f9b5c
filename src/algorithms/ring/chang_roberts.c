/*
 * Chang and Roberts's ring: a process that already stands behind a claim swallows every weaker one, so
 * only the greatest claim of many simultaneous elections completes its lap.
 *
 * Reference: E. Chang, R. Roberts, An improved algorithm for decentralized extrema-finding in circular
 * configurations of processes, CACM 22(5), 1979. Deviations: as in basic.c. The paper assumes no failures;
 * without a detector, one crash can make a claim circulate for ever, as the scenarios show.
 */
#include "algorithms/ring/ring.h"

static bool participating(const struct ring *me)
{
    return me->claim != EL_NOBODY;
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    struct ring *me = state;
    const struct el_rank mine = el_rank_of(cfg->cluster, cfg->self), theirs = el_claimed_rank(cfg, m);

    if (ring_drops(me, cfg, m, out)) return;
    if (m->kind == RING_ELECTED) {
        ring_on_elected(me, cfg, m, out);
    } else if (m->subject == cfg->self) {
        ring_win(me, cfg, out);
    } else if (el_rank_above(theirs, mine)) {
        ring_yield(me, cfg, m, out);
    } else if (!participating(me)) {
        el_note(out, RING_OUTBIDS, m->subject, 0);
        ring_stand(me, cfg, out);
    } else {
        el_note(out, RING_SWALLOWS, m->subject, 0);
    }
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    if (!participating(state)) ring_stand(state, cfg, out);
}

const struct el_algorithm el_chang_roberts = {
    .name = "chang-roberts",
    .summary = "ring with a participation flag: weaker claims are swallowed",
    .idea = "As in the basic ring, the greatest claim comes back to its owner, which announces "
            "itself. In addition each process remembers that it takes part, and from then on swallows"
            " any claim weaker than its own. So only one of many simultaneous elections completes.",
    .reference = "Chang, Roberts: An improved algorithm for decentralized extrema-finding in circular "
                 "configurations of processes, CACM 22(5), 1979",
    EL_NOTES(ring_notes),
    .on_message = on_message,
    .on_campaign = on_campaign,
    RING_SHARED,
};
