/* See era.h. */
#include "algorithms/quorum/era.h"

#include "algorithms/quorum/floor.h"
#include "algorithms/quorum/speakers.h"

/* ---- Who ---- */

static bool is_recorded(const struct quorum *q)
{
    return q->era && q->era->installed > 0;
}

bool quorum_was_member(const struct quorum *q, el_node node)
{
    const struct el_cluster *cluster = q->cfg->cluster;
    if (quorum_takes_part(q->cfg, node)) return true;
    for (uint32_t record = 1; record <= quorum_installed(q); record++)
        if (quorum_is_in(cluster->records[record - 1].voters | cluster->records[record - 1].leaders, node))
            return true;
    return false;
}

bool quorum_could_lead(const struct quorum *q, el_node node)
{
    const struct el_cluster *cluster = q->cfg->cluster;
    if (quorum_may_hold(q->cfg, node)) return true;
    for (uint32_t record = 1; record <= quorum_installed(q); record++)
        if (quorum_is_in(cluster->records[record - 1].leaders, node)) return true;
    return false;
}

/* ---- What messages say ---- */

/* Twice the number of the era, less one while it is joint. */
static uint64_t phase(const struct quorum *q)
{
    return 2 * (uint64_t)quorum_era_number(q->cfg->cluster, q->era->installed) - q->era->joint;
}

struct el_msg quorum_with_era(const struct quorum *q, struct el_msg m)
{
    if (!is_recorded(q) || !quorum_bears_era(m.kind)) return m;
    if (m.kind == QUORUM_ACK && q->era->joint && quorum_is_settled(q)) m.flags |= QUORUM_HAS_SETTLED;
    return quorum_marked(m, phase(q), q->era->installed, q->era->joint ? 0 : q->era->floor);
}

static uint64_t era_of(const struct el_msg *m)
{
    return (quorum_phase(m) + 1) / 2;
}

static uint64_t own_era(const struct quorum *q)
{
    return is_recorded(q) ? (phase(q) + 1) / 2 : 0;
}

bool quorum_is_of_later_era(const struct quorum *q, const struct el_msg *m)
{
    return q->era && quorum_bears_era(m->kind) && era_of(m) > own_era(q);
}

bool quorum_is_of_earlier_era(const struct quorum *q, const struct el_msg *m)
{
    return q->era && quorum_bears_era(m->kind) && era_of(m) < own_era(q);
}

bool quorum_is_of_later_record(const struct quorum *q, const struct el_msg *m)
{
    return q->era && quorum_bears_era(m->kind) && quorum_record(m) > q->era->installed;
}

void quorum_hear_record(const struct quorum *q, const struct el_msg *m)
{
    if (q->era && quorum_bears_era(m->kind) && quorum_record(m) >= q->era->installed)
        quorum_peer(q, m->from)->behind = 0;
    if (q->me->incarnation && quorum_is_of_later_record(q, m))
        el_note(q->out, QUORUM_LAGS, m->from, quorum_record(m) + 1);
}

/* ---- Sole ---- */

static void stop_settling(const struct quorum *q)
{
    if (q->era->settling) el_disarm(q->out, QUORUM_SETTLING, 0);
    q->era->settling = 0;
    for (el_node node = 1; node <= q->cfg->cluster->count; node++) quorum_peer(q, node)->settled = 0;
}

/* The ceiling on disk is never below the floor. So the floor of the next incarnation, its ceiling, is not below it
 * either, and needs no place of its own on disk. */
static void raise_floor(const struct quorum *q, uint64_t floor)
{
    q->era->floor = quorum_highest(q->era->floor, floor);
    quorum_see(q, q->era->floor);
    q->me->ceiling = quorum_highest(q->me->ceiling, q->era->floor);
}

static void become_sole(const struct quorum *q, uint64_t floor)
{
    q->era->joint = 0;
    stop_settling(q);
    raise_floor(q, floor);
    quorum_save(q);
    el_note(q->out, QUORUM_IS_SOLE, q->era->floor, 0);
    *q->changes |= QUORUM_REVIEW | QUORUM_LAPSED;
}

/* M11: it is a fact, and comes with its floor. Voters that never lead send no beats and cannot find it out. So it is believed
 * of who votes, in either set, and of who may lead, perhaps without a vote. */
void quorum_hear_era(const struct quorum *q, const struct el_msg *m)
{
    if (!is_recorded(q) || !q->era->joint || !quorum_bears_era(m->kind)) return;
    if (quorum_phase(m) != 2 * own_era(q)) return;
    if (!quorum_votes(q, m->from) && !quorum_may_lead(q, m->from)) return;
    if (quorum_era_floor_in(m) >= EL_EPOCH_MAX || !quorum_believes(q, quorum_era_floor_in(m))) return;
    become_sole(q, quorum_era_floor_in(m));
}

bool quorum_is_settled(const struct quorum *q)
{
    return !q->era->settling && quorum_is_ready(q);
}

/*
 * A peer's SETTLED is good for one lease from the sending of what it answers: as long as the lease runs that began
 * no later. Our clock has absorbed those of all its messages, so it is a floor.
 */
void quorum_look_for_sole(const struct quorum *q)
{
    if (!is_recorded(q) || !q->era->joint) return;
    const struct quorum_electorate voters = quorum_electorate(q);
    struct quorum_tally settled = {0, 0};
    for (el_node node = 1; node <= q->cfg->cluster->count; node++) {
        const struct quorum_peer *p = quorum_peer(q, node);
        if (node == q->cfg->self ? quorum_is_settled(q) : p->lease && p->settled)
            quorum_count(&voters, &settled, node);
    }
    if (settled.from >= voters.from_majority) become_sole(q, q->me->clock);
}

/* ---- Installing ---- */

static struct quorum_former *former(const struct quorum *q, el_node node)
{
    return &q->formers[node - 1];
}

void quorum_forget_former(const struct quorum *q, el_node node)
{
    if (!q->formers || !former(q, node)->incarnation) return;
    el_disarm(q->out, QUORUM_FORMER, node);
    *former(q, node) = (struct quorum_former){0};
}

/* The leases that run now can no longer be renewed: new promises begin new leases. */
static void retire_leases(const struct quorum *q)
{
    for (el_node node = 1; node <= q->cfg->cluster->count; node++) {
        struct quorum_peer *p = quorum_peer(q, node);
        quorum_forget_former(q, node);
        if (!p->lease) continue;
        el_move(q->out, QUORUM_LEASE, QUORUM_FORMER, node);
        *former(q, node) = (struct quorum_former){p->base_incarnation, p->base_epoch, p->base};
        p->base = p->base_incarnation = p->base_epoch = 0;
        p->lease = p->settled = 0;
    }
}

/* The number of the message from which our claim counts; 0: the voters in force do not back it. Our own promise is the
 * newest. */
static uint64_t claim_base(const struct quorum *q)
{
    if (!q->group || q->group->role != QUORUM_LEADER) return 0;
    const el_node voter = quorum_bounding_voter(q);
    if (voter == EL_NOBODY) return 0;
    return voter == q->cfg->self ? UINT64_MAX : quorum_peer(q, voter)->base;
}

/* A claim that the new electorate does not back, or for a shorter time, lasts as long as the leases by which it was
 * counted so far. */
static void carry_claim(const struct quorum *q, uint64_t base, uint32_t before, bool was_joint)
{
    if (claim_base(q) >= base) return;
    q->era->former = before;
    q->era->former_joint = was_joint;
    q->group->carried = 1;
    retire_leases(q);
}

/* M14: what was asked by an earlier record is asked anew. */
static void ask_anew(const struct quorum *q)
{
    for (el_node node = 1; node <= q->cfg->cluster->count; node++) quorum_peer(q, node)->floor_known = 0;
    if (q->me->unlearned && !q->me->silent) quorum_floor_ask_afresh(q);
}

/* A candidate that does not know yet that it is one beats nobody, and so nobody would answer it. */
static void look_for_the_behind(const struct quorum *q)
{
    for (el_node node = 1; node <= q->cfg->cluster->count; node++)
        quorum_peer(q, node)->behind = node != q->cfg->self && quorum_is_voteless(q, node);
}

static void begin_era(const struct quorum *q)
{
    stop_settling(q);
    if (!q->era->joint) return;
    q->era->settling = 1;
    el_arm(q->out, QUORUM_SETTLING, 0, q->me->longest, q->me->longest);
}

bool quorum_install(const struct quorum *q, uint32_t record, uint64_t floor)
{
    const struct el_cluster *cluster = q->cfg->cluster;
    if (!q->era || q->me->incarnation == 0 || floor >= EL_EPOCH_MAX) return false;
    const uint32_t before = q->era->installed;
    const bool was_joint = q->era->joint;
    if (record <= before || record > cluster->record_count || cluster->count > 64) return false;
    const uint64_t base = claim_base(q);
    q->era->installed = record;
    q->era->joint = quorum_begins_era(cluster, record);
    begin_era(q);
    look_for_the_behind(q);
    raise_floor(q, floor);
    quorum_save(q);
    el_note(q->out, QUORUM_INSTALLS, record + 1, quorum_era_number(cluster, record));
    carry_claim(q, base, before, was_joint);
    ask_anew(q);
    /* Not FREED: a new voter pushes no heir, for the leader is about to ask it to join. */
    *q->changes |= QUORUM_REVIEW | QUORUM_LAPSED;
    return true;
}

/* ---- Disk and timers ---- */

enum { JOINT = 1, INSTALLED_SHIFT = 1 };

uint64_t quorum_era_word(const struct quorum *q)
{
    return q->era ? (uint64_t)q->era->installed << INSTALLED_SHIFT | q->era->joint : 0;
}

/* The floor of our incarnation is known by now: raise_floor(). */
void quorum_era_restore(const struct quorum *q, uint64_t word)
{
    const uint64_t installed = word >> INSTALLED_SHIFT;
    if (!q->era || installed == 0 || installed > q->cfg->cluster->record_count) return;
    q->era->installed = (uint32_t)installed;
    q->era->joint = word & JOINT;
    look_for_the_behind(q);
}

void quorum_era_timer(const struct quorum *q, uint32_t timer, el_node slot)
{
    if (timer == QUORUM_FORMER) {
        *former(q, slot) = (struct quorum_former){0};
        *q->changes |= QUORUM_LAPSED;
        return;
    }
    q->era->settling = 0;
    el_note(q->out, QUORUM_SETTLED, 0, 0);
    quorum_look_for_sole(q);
}
