/*
 * The ring that collects the live members: each process adds itself to the set in the message and passes it to
 * the first successor it can reach. The first process that finds itself in the set closes the lap, picks the
 * best-ranked member and announces it around the ring.
 *
 * Reference: A. S. Tanenbaum, M. van Steen, Distributed Systems, the ring algorithm; Petrov, Database
 * Internals, chapter 10, figure 10-5. Deviations: the set is one 64-bit word, so at most 64 members; a process
 * other than the initiator, which may have died, can close the lap; laps are numbered.
 */
#include "algorithms/ring/lap.h"

static void on_start(void *state, const struct el_config *cfg, const struct el_start *start,
                     struct el_outbox *out)
{
    ((struct lap *)state)->collects = true;
    lap_on_start(state, cfg, start, out);
}

static void on_elect(struct lap *me, const struct el_config *cfg, const struct el_msg *m, struct el_outbox *out)
{
    if (m->aux & el_bit(cfg->self)) {
        lap_close(me, cfg, m->epoch, el_best_of(cfg->cluster, m->aux), out);
        return;
    }
    el_note(out, LAP_ADDS, 0, 0);
    struct el_msg fuller = *m;
    fuller.aux |= el_bit(cfg->self);
    lap_join(me, cfg, fuller, out);
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

const struct el_algorithm el_ring_collect = {
    .name = "ring-collect",
    .summary = "the set of live members travels once around, then the result does",
    .idea = "The initiator sends a set that contains itself. Each process adds itself and passes the "
            "set to the first successor it can reach, skipping dead ones. When the set comes back, "
            "its best-ranked member is the leader, and a second lap announces it.",
    .reference =
        "Tanenbaum, van Steen: Distributed Systems, ring algorithm; Petrov: Database Internals, ch. 10",
    .set_kinds = 1u << LAP_ELECT,
    .count_max = 64,
    .on_start = on_start,
    .on_message = on_message,
    LAP_SHARED,
};
