/*
 * The ring that carries only the maximum: instead of the set of ring-collect, the message holds the best rank
 * met so far, so the ring may have any size.
 *
 * Reference: Petrov, Database Internals, chapter 10 ("collecting a single highest-ranked identifier").
 * Deviation: without a set nobody can tell that the initiator died. So the message counts its hops, and the
 * process that receives it after N hops closes the lap.
 */
#include "algorithms/ring/lap.h"

static void on_elect(struct lap *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    const struct el_rank mine = el_rank_of(cfg->cluster, cfg->self);
    const uint64_t hops = m->aux + 1;

    if (m->more == cfg->self || hops >= cfg->cluster->count) {
        lap_close(me, cfg, m->epoch, m->subject, out);
        return;
    }
    struct el_msg next = *m;
    next.aux = hops;
    if (el_rank_above(mine, el_claimed_rank(cfg, m))) {
        el_note(out, LAP_ADDS, 0, 0);
        next.subject = cfg->self;
        next.rank = mine.attribute;
    }
    lap_join(me, cfg, next, out);
}

static void on_message(void *state, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    if (!lap_well_formed(cfg, m, out)) return;
    if (m->kind == LAP_ELECT) {
        on_elect(state, cfg, m, out);
    } else {
        lap_on_elected(state, cfg, m, out);
    }
}

const struct el_algorithm el_ring_max = {
    .name = "ring-max",
    .summary = "only the best rank met so far travels around, then the result does",
    .idea = "As ring-collect, but the message carries the best rank met so far instead of the whole "
            "set. When it comes back to the initiator, the best rank is known, and a second lap "
            "announces the leader.",
    .reference = "Petrov: Database Internals, ch. 10, ring algorithm, variant",
    .on_start = lap_on_start,
    .on_message = on_message,
    LAP_SHARED,
};
