/* A cell (struct session_cell) caches one deadline for all groups with the same supporters, up to a million of them.
 * Renewing it renews them all. */
#include <stdlib.h>

#include "agent/host/quorum/sessions.h"

static uint8_t cell_with(struct session *s, uint64_t voters)
{
    uint8_t unused = SESSION_NO_CELL;
    for (uint32_t i = 0; i < s->cell_count; i++) {
        if (s->cells[i].voters == voters && s->cells[i].groups && !s->cells[i].is_retired) return (uint8_t)i;
        if (s->cells[i].groups == 0) unused = (uint8_t)i;
    }
    if (unused == SESSION_NO_CELL && s->cell_count < SESSION_CELLS_MAX) unused = (uint8_t)s->cell_count++;
    if (unused != SESSION_NO_CELL) s->cells[unused] = (struct session_cell){.voters = voters};
    return unused;
}

static uint64_t voters_behind(const struct session *s, const struct quorum *q)
{
    uint64_t voters = 0;
    for (el_node voter = 1; voter <= s->cluster.count; voter++)
        if (quorum_is_backed(q, voter)) voters |= UINT64_C(1) << (voter - 1);
    return voters;
}

/* The lease end of every group that exactly these voters back. quorum_bounding_voter() computes it, here as in the
 * checker. 0: they are no majority any more. */
static uint64_t end_of(const struct session *s, uint64_t voters)
{
    struct quorum_ballot ballots[CONFIG_MEMBERS_MAX];
    for (uint32_t i = 0; i < s->cluster.count; i++) {
        const struct quorum_peer *p = &s->peers[i];
        ballots[i] = (struct quorum_ballot){0};
        if (voters >> i & 1)
            ballots[i] = (struct quorum_ballot){.incarnation = p->base_incarnation, .epoch = p->base_epoch};
    }
    const el_node by =
        quorum_bounding_voter(&(struct quorum){.cfg = &s->cfg,
                                               .me = (struct quorum_member *)(uintptr_t)&s->me,
                                               .peers = (struct quorum_peer *)(uintptr_t)s->peers,
                                               .ballots = ballots});
    return by ? s->timers[QUORUM_LEASE][by] : 0;
}

/* The end of the lease, and the deadline that clients see: one margin earlier. */
static void compute_deadline(const struct session *s, struct session_cell *cell)
{
    cell->lease_end = end_of(s, cell->voters);
    cell->deadline = cell->lease_end > s->runner.margin ? cell->lease_end - s->runner.margin : 0;
}

void session_assign_cell(struct session_group *group, const struct quorum *q)
{
    struct session *s = session_of(group);
    const bool leads = group->role == QUORUM_LEADER;
    const uint64_t voters = leads ? voters_behind(s, q) : 0;
    const uint32_t was = group->cell;
    const bool had = was != SESSION_NO_CELL;
    if (leads ? had && s->cells[was].voters == voters && !s->cells[was].is_retired : !had) return;
    if (had) s->cells[was].groups--;
    group->cell = leads ? cell_with(s, voters) : SESSION_NO_CELL;
    if (group->cell == SESSION_NO_CELL)
        return; /* all cells are in use: the group has no deadline, and is not shown as leading */
    struct session_cell *cell = &s->cells[group->cell];
    if (cell->groups++ == 0) compute_deadline(s, cell); /* a cell with groups has a deadline already */
}

void session_retire_cells(struct session *s, el_node voter)
{
    for (uint32_t i = 0; i < s->cell_count; i++)
        if (s->cells[i].voters >> (voter - 1) & 1) s->cells[i].is_retired = true;
}

static void show_led(struct session *s)
{
    for (uint32_t i = 0; i < s->group_count; i++)
        if (session_group_at(s, i + 1)->cell != SESSION_NO_CELL)
            host_group_show(&session_group_at(s, i + 1)->base);
}

void session_renew_cells(struct session *s)
{
    const uint64_t now = host_now(s->runner.host);
    bool begins_again = false;
    for (uint32_t i = 0; i < s->cell_count; i++) {
        struct session_cell *cell = &s->cells[i];
        const uint64_t was = cell->deadline;
        if (cell->groups == 0 || cell->is_retired) continue;
        compute_deadline(s, cell);
        if (was <= now && cell->deadline > now) {
            cell->is_over = false;
            begins_again = true;
        }
        if (cell->deadline != was) host_tell_renewed(s->runner.host, session_cell_number(s, i));
    }
    if (begins_again) show_led(s);
}

uint64_t session_end_cells(struct session *s, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    bool ended = false;
    for (uint32_t i = 0; i < s->cell_count; i++) {
        struct session_cell *cell = &s->cells[i];
        if (cell->groups == 0 || cell->is_over) continue;
        if (cell->deadline <= now) {
            cell->is_over = ended = true;
        } else if (cell->deadline < next) {
            next = cell->deadline;
        }
    }
    if (ended) show_led(s);
    return next;
}
