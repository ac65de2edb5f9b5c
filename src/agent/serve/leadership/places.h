/* The memory of leaderships: a place for each group, a tenure for those that were held. For leadership.c only; others call
 * leadership.h. */
#ifndef ELECTOR_AGENT_SERVE_LEADERSHIP_PLACES_H
#define ELECTOR_AGENT_SERVE_LEADERSHIP_PLACES_H

#include "agent/serve/leadership/leadership.h"

/* Whether there is memory for a tenure, which the leadership has from then on. */
bool leadership_has_room(struct leadership *);

#endif
