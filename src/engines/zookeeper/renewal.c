/* See renewal.h. */
#include "engines/zookeeper/renewal.h"

#include <string.h>

enum { WRITES_PER_GAP = 8 };

void renewal_init(struct renewal *r, uint64_t gap_ns)
{
    *r = (struct renewal){.gap_ns = gap_ns, .spacing_ns = gap_ns / WRITES_PER_GAP, .next = 1};
}

uint64_t renewal_ask(struct renewal *r)
{
    r->is_wanted = true;
    return r->next;
}

uint64_t renewal_due(const struct renewal *r)
{
    const uint64_t at_least = r->sent_at + r->spacing_ns;
    if (!r->is_connected || r->is_in_flight) return UINT64_MAX;
    uint64_t due = r->is_wanted && r->open_count < RENEWAL_OPEN_MAX ? 0 : UINT64_MAX;
    if (r->open_count && r->open[0].answered_at + r->gap_ns < due) due = r->open[0].answered_at + r->gap_ns;
    return due < at_least ? at_least : due;
}

void renewal_sent(struct renewal *r, uint64_t now)
{
    r->is_in_flight = true;
    r->flies_for_somebody = r->is_wanted;
    r->is_wanted = false;
    r->sent_at = now;
    r->next++;
}

uint64_t renewal_answered(struct renewal *r, uint64_t now)
{
    uint32_t proved = 0;
    if (!r->is_in_flight) return 0;
    r->is_in_flight = false;
    while (proved < r->open_count && r->open[proved].answered_at + r->gap_ns <= r->sent_at) proved++;
    const uint64_t number = proved ? r->open[proved - 1].number : 0;
    r->open_count -= proved;
    memmove(r->open, r->open + proved, r->open_count * sizeof *r->open);
    if (!r->flies_for_somebody) return number;
    if (r->open_count == RENEWAL_OPEN_MAX) { /* they wait for a later one, which proves as much */
        r->is_wanted = true;
    } else {
        r->open[r->open_count].number = r->next - 1;
        r->open[r->open_count++].answered_at = now;
    }
    return number;
}

/* Those who wait keep their numbers. All were given before this, so the next connection proves them all. */
void renewal_broken(struct renewal *r)
{
    if (!r->is_connected) return;
    r->is_connected = r->is_in_flight = r->is_wanted = false;
    r->open_count = 0;
    r->next++;
}

uint64_t renewal_connected(struct renewal *r)
{
    if (r->is_connected) return 0;
    r->is_connected = true;
    /* Numbers below this one were given before the last connection broke; who asked since then needs a write. */
    return r->next - 1;
}
