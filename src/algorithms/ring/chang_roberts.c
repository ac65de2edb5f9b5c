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
    .roleless = true,
    .summary = "ring with a participation flag: weaker claims are swallowed",
    .idea = "As in the basic ring, the greatest claim comes back to its owner, which announces "
            "itself. In addition each process remembers that it takes part, and from then on swallows"
            " any claim weaker than its own. So only one of many simultaneous elections completes.",
    .reference = "Chang, Roberts: An improved algorithm for decentralized extrema-finding in circular "
                 "configurations of processes, CACM 22(5), 1979",
    .kinds = ring_kinds,
    .kind_count = RING_KINDS,
    .notes = ring_notes,
    .note_count = RING_NOTES,
    .breaks = ring_breaks,
    .break_count = RING_BREAKS,
    .needs = EL_NEEDS_FIFO | EL_NEEDS_RELIABLE | EL_NEEDS_HOP_ACKS,
    .claims = EL_CLAIMS_ONE_LEADER | EL_CLAIMS_AGREEMENT | EL_CLAIMS_BEST,
    .ring = true,
    .state_bytes = sizeof(struct ring),
    .outbox_fixed = 4,
    .on_start = ring_on_start,
    .on_message = on_message,
    .on_unsent = ring_on_unsent,
    .on_suspect = ring_on_suspect,
    .on_trust = ring_on_trust,
    .on_campaign = on_campaign,
    .view = ring_view,
};
