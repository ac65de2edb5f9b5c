/*
 * An agent's page of deadlines (base/deadline_layout.h), as a client sees it. The descriptor comes from whoever is at the other end
 * of a socket: what is no page, or could be cut short under us, is not mapped.
 *
 * Any thread may read while the owner maps another page or none: whatever is mapped lies at one address until
 * deadline_view_free(), and memory is always there. A reader that is overtaken may read the slots of another agent, so it
 * checks afterwards that the office it asked for was not taken away meanwhile (office_deadline).
 */
#ifndef ELECTOR_CLIENT_DEADLINE_VIEW_H
#define ELECTOR_CLIENT_DEADLINE_VIEW_H

#include <stdbool.h>

#include "base/deadline_layout.h"

struct deadline_view {        /* zeroed: nothing was ever mapped */
    struct deadline_map *map; /* cannot be written to; changes once: from NULL */
};

/* The descriptor is borrowed. False: it is no page of this version, and nothing is mapped. */
bool deadline_view_map(struct deadline_view *, int fd);
/* Nothing is mapped any more: all slots are vacant. */
void deadline_view_clear(struct deadline_view *);
void deadline_view_free(struct deadline_view *);

/* Until when this token leads; 0: it does not, or not any more. Something was mapped, and there is such a slot. */
uint64_t deadline_view_deadline(const struct deadline_view *, uint32_t slot, uint64_t token);

#endif
