/*
 * The client's view of the deadline page (base/deadline_layout.h). The peer of a socket sends the descriptor
 * and is not trusted: anything that is not a deadline page, or could be truncated later, is not mapped.
 *
 * Any thread may read while the owner maps another page or clears the view: the mapping keeps its address until
 * deadline_view_free(). A reader that is preempted may read the page of another agent. So it checks afterwards
 * that its term has not ended meanwhile (group_state_deadline).
 */
#ifndef ELECTOR_CLIENT_DEADLINE_VIEW_H
#define ELECTOR_CLIENT_DEADLINE_VIEW_H

#include <stdbool.h>

#include "base/deadline_layout.h"

struct deadline_view {        /* zeroed: no page yet */
    struct deadline_map *map; /* read-only memory; set once, then constant */
};

/* The descriptor is borrowed. False: it is not a deadline page of this version; the view is unchanged. */
bool deadline_view_map(struct deadline_view *, int fd);
/* Replaces the page by zeroes: all slots are vacant. */
void deadline_view_clear(struct deadline_view *);
void deadline_view_free(struct deadline_view *);

/* The deadline of this token; 0: it does not lead. A page was mapped before, and `slot` is below
 * DEADLINE_SLOTS. */
uint64_t deadline_view_deadline(const struct deadline_view *, uint32_t slot, uint64_t token);

#endif
