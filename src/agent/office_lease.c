/* Until when a holder leads, and how it learns of it: from the page, where many move on together, or by lines. */
#include "agent/office_lease.h"

static const uint64_t LATE_NS = 1000000;

/* One that is asked to stop knows the deadline that it was told, and no later one. */
static bool follows_cell(const struct office *o)
{
    return o->is_held && o->ending == OFFICE_STAYS && o->cell != HOST_NO_CELL;
}

uint64_t office_told_until(const struct office *o)
{
    return follows_cell(o) ? o->all->cells[o->cell] : o->deadline_ns;
}

void office_catch_up(struct office *o)
{
    o->deadline_ns = office_told_until(o);
}

void office_tell_no_leases(struct office *o)
{
    if (!o->is_told) return;
    o->is_told = false;
    *(o->told_before ? &o->told_before->told_after : &o->all->told) = o->told_after;
    if (o->told_after) o->told_after->told_before = o->told_before;
}

void office_tell_leases(struct office *o)
{
    if (o->is_told || !o->is_held) return;
    o->is_told = true;
    o->told_before = NULL;
    o->told_after = o->all->told;
    if (o->told_after) o->told_after->told_before = o;
    o->all->told = o;
}

/* Into a cell of the host's, or out of all: what was published of the one it leaves is what its holder knows. */
static void set_cell(struct office *o, uint32_t cell)
{
    office_catch_up(o);
    o->cell = cell < HOST_CELLS_MAX ? cell : HOST_NO_CELL;
    if (o->cell == HOST_NO_CELL) return;
    o->all->cells[o->cell] = host_cell_deadline(o->all->host, o->cell);
    page_set_deadline(o->all->page, PAGE_SLOTS + o->cell, o->all->cells[o->cell]);
}

/* Where there is no lease, nothing moves on, and a token may be given twice: that is not for a page. */
void office_publish(struct office *o)
{
    set_cell(o, host_cell(o->group));
    o->is_published = o->all->page && o->number < PAGE_SLOTS && o->deadline_ns != UINT64_MAX;
    if (!o->is_published) return;
    if (o->cell == HOST_NO_CELL) page_set_deadline(o->all->page, o->number, o->deadline_ns);
    page_occupy(o->all->page, o->number, o->token, o->cell == HOST_NO_CELL ? o->number : PAGE_SLOTS + o->cell);
}

void office_take_back(struct office *o)
{
    if (o->is_published) page_vacate(o->all->page, o->number);
    o->is_published = false;
    office_tell_no_leases(o);
}

/* Too late for who had looked at the clock before us, or nearly: it may have seen the old deadline pass. */
static bool is_late(const struct offices *all, uint64_t before_ns)
{
    return host_clock(all->host) + LATE_NS >= before_ns;
}

static void tell_lease(struct office *o, bool was_late)
{
    const struct office_event event = {
        .type = OFFICE_LEASE, .token = o->token, .deadline_ns = o->deadline_ns, .was_late = was_late};
    if (o->holder) o->all->tell(o->all->whose, o->holder->client, o, &event);
}

/* It has come into another cell, or has a deadline of its own that has moved on. */
void office_move_on(struct office *o, uint64_t deadline_ns)
{
    const uint64_t before_ns = office_told_until(o);
    set_cell(o, host_cell(o->group));
    if (deadline_ns == before_ns && o->cell == HOST_NO_CELL) return;
    o->deadline_ns = deadline_ns;
    if (o->is_published && o->cell != HOST_NO_CELL)
        page_move(o->all->page, o->number, PAGE_SLOTS + o->cell);
    else if (o->is_published)
        page_freeze(o->all->page, o->number, deadline_ns); /* it may come from a cell that others move on */
    tell_lease(o, o->is_published && is_late(o->all, before_ns));
}

void offices_renewed(struct offices *all, uint32_t cell)
{
    if (cell >= HOST_CELLS_MAX) return;
    const uint64_t before_ns = all->cells[cell];
    all->cells[cell] = host_cell_deadline(all->host, cell);
    page_set_deadline(all->page, PAGE_SLOTS + cell, all->cells[cell]);
    const bool was_late = is_late(all, before_ns);
    for (struct office *o = all->told; o; o = o->told_after) {
        if (!follows_cell(o) || o->cell != cell) continue;
        office_catch_up(o);
        tell_lease(o, false);
    }
    for (uint32_t i = 0; was_late && i < all->count; i++) {
        struct office *o = all->list[i];
        if (!follows_cell(o) || o->cell != cell || o->is_told) continue;
        office_catch_up(o);
        tell_lease(o, true);
    }
}
