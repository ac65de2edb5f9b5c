/*
 * The ring election of the lectures in its basic form: a node forwards a greater claim and replaces a smaller
 * one by its own. No node remembers that it took part. So elections of several initiators run side by side,
 * and the winner's claim and announcement circulate once for each of them.
 *
 * Reference: Coulouris, Dollimore, Kindberg and Blair, Distributed Systems, section 15.3, before Chang and
 * Roberts's flag. Deviations: taking part clears `elected`, so that a takeover never shows two leaders; a
 * failure detector, where there is one, repairs the ring and starts a new run.
 */
#include "algorithms/ring/ring.h"

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
    } else {
        el_note(out, RING_OUTBIDS, m->subject, 0);
        ring_stand(me, cfg, out);
    }
}

static void on_campaign(void *state, const struct el_config *cfg, struct el_outbox *out)
{
    ring_stand(state, cfg, out);
}

const struct el_algorithm el_ring_basic = {
    .name = "ring-basic",
    .summary = "a greater claim is forwarded clockwise; nobody remembers taking part",
    .idea = "Processes form a ring and send clockwise only. An initiator sends its own rank. A "
            "process forwards a greater claim and replaces a smaller one by its own. The claim that "
            "comes back to its owner is the greatest; the owner announces itself once around. "
            "Elections of several initiators run side by side, each to the end.",
    .reference = "Coulouris, Dollimore, Kindberg, Blair: Distributed Systems, 5th ed., section 15.3",
    .notes = ring_notes,
    .note_count = RING_SWALLOWS,
    .on_message = on_message,
    .on_campaign = on_campaign,
    RING_SHARED,
};
