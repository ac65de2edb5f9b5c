/* Publishes the holder's deadline: on the deadline page, where many move on together, or by lease events. */
#include "agent/serve/leadership/lease.h"

#include "base/clock.h"

static const uint64_t LATE_NS = NS_PER_MS;

/* A holder whose deadline is frozen keeps the one that it was told. */
static bool follows_cell(const struct leadership *o)
{
    return o->tenure->is_held && !o->tenure->is_frozen && o->tenure->cell != HOST_NO_CELL;
}

uint64_t leadership_told_until(const struct leadership *o)
{
    return follows_cell(o) ? o->all->cells[o->tenure->cell] : o->tenure->deadline_ns;
}

uint64_t leadership_over_ns(const struct leadership *o, uint64_t token)
{
    const uint64_t now = host_clock(o->all->host), until = leadership_told_until(o);
    return o->tenure->token == token && until < now ? now - until : UINT64_MAX;
}

void leadership_catch_up(struct leadership *o)
{
    o->tenure->deadline_ns = leadership_told_until(o);
}

static struct leadership_tenure *tenure_at(const struct leaderships *all, uint32_t number_and_1)
{
    return leadership_at(all, number_and_1 - 1)->tenure;
}

void leadership_tell_no_leases(struct leadership *o)
{
    struct leadership_tenure *t = o->tenure;
    if (!t->is_told) return;
    t->is_told = false;
    *(t->told_before ? &tenure_at(o->all, t->told_before)->told_after : &o->all->told) = t->told_after;
    if (t->told_after) tenure_at(o->all, t->told_after)->told_before = t->told_before;
}

void leadership_tell_leases(struct leadership *o)
{
    struct leadership_tenure *t = o->tenure;
    if (t->is_told || !t->is_held) return;
    t->is_told = true;
    t->told_before = 0;
    t->told_after = o->all->told;
    if (t->told_after) tenure_at(o->all, t->told_after)->told_before = o->number + 1;
    o->all->told = o->number + 1;
}

/* Moves the tenure to a cell of the host, or out of all. First it keeps what its present cell has published. */
static void set_cell(struct leadership *o, uint32_t cell)
{
    leadership_catch_up(o);
    o->tenure->cell = cell < HOST_CELLS_MAX ? cell : HOST_NO_CELL;
    if (o->tenure->cell == HOST_NO_CELL) return;
    o->all->cells[o->tenure->cell] = host_cell_deadline(o->all->host, o->tenure->cell);
    deadline_page_set_deadline(o->all->page, DEADLINE_SLOTS + o->tenure->cell, o->all->cells[o->tenure->cell]);
}

/* Without a lease no deadline moves on, and a token may be used twice, which rule W4 of the page forbids. So may one that is
 * not above those of dropped groups, of which one had this slot. */
void leadership_publish(struct leadership *o)
{
    set_cell(o, host_cell(o->group));
    o->tenure->is_published = o->all->page && o->number < DEADLINE_SLOTS &&
                              o->tenure->deadline_ns != UINT64_MAX && o->tenure->token > o->all->dropped_token;
    if (!o->tenure->is_published) return;
    if (o->tenure->cell == HOST_NO_CELL)
        deadline_page_set_deadline(o->all->page, o->number, o->tenure->deadline_ns);
    deadline_page_occupy(o->all->page, o->number, o->tenure->token,
                         o->tenure->cell == HOST_NO_CELL ? o->number : DEADLINE_SLOTS + o->tenure->cell);
}

void leadership_take_back(struct leadership *o)
{
    if (o->tenure->is_published) deadline_page_vacate(o->all->page, o->number);
    o->tenure->is_published = false;
    leadership_tell_no_leases(o);
}

/* Whether the old deadline has passed, or will within 1 ms: a reader of the page may have seen it pass. */
static bool is_late(const struct leaderships *all, uint64_t before_ns)
{
    return host_clock(all->host) + LATE_NS >= before_ns;
}

static void tell_lease(struct leadership *o, bool was_late)
{
    const struct leadership_event event = {.type = LEADERSHIP_LEASE,
                                           .token = o->tenure->token,
                                           .deadline_ns = o->tenure->deadline_ns,
                                           .was_late = was_late};
    if (o->tenure->holder) o->all->tell(o->all->context, o->tenure->holder->client, o, &event);
}

/* See lease.h. */
void leadership_move_on(struct leadership *o, uint64_t deadline_ns)
{
    const uint64_t before_ns = leadership_told_until(o);
    set_cell(o, host_cell(o->group));
    if (deadline_ns == before_ns && o->tenure->cell == HOST_NO_CELL) return;
    o->tenure->deadline_ns = deadline_ns;
    if (o->tenure->is_published && o->tenure->cell != HOST_NO_CELL)
        deadline_page_move(o->all->page, o->number, DEADLINE_SLOTS + o->tenure->cell);
    else if (o->tenure->is_published)
        deadline_page_freeze(o->all->page, o->number, deadline_ns); /* it may have shared a cell before */
    tell_lease(o, o->tenure->is_published && is_late(o->all, before_ns));
}

void leaderships_renewed(struct leaderships *all, uint32_t cell)
{
    if (cell >= HOST_CELLS_MAX) return;
    const uint64_t before_ns = all->cells[cell];
    all->cells[cell] = host_cell_deadline(all->host, cell);
    deadline_page_set_deadline(all->page, DEADLINE_SLOTS + cell, all->cells[cell]);
    const bool was_late = is_late(all, before_ns);
    for (uint32_t next = all->told; next;) {
        struct leadership *o = leadership_at(all, next - 1);
        next = o->tenure->told_after;
        if (!follows_cell(o) || o->tenure->cell != cell) continue;
        leadership_catch_up(o);
        tell_lease(o, false);
    }
    for (uint32_t i = 0; was_late && i < all->count; i++) {
        struct leadership *o = leadership_at(all, i);
        if (!follows_cell(o) || o->tenure->cell != cell || o->tenure->is_told) continue;
        leadership_catch_up(o);
        tell_lease(o, true);
    }
}
