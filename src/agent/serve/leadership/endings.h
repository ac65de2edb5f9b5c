/* The tenures that are ending, and when each does. For leadership.c only; others call leadership.h. */
#ifndef ELECTOR_AGENT_SERVE_LEADERSHIP_ENDINGS_H
#define ELECTOR_AGENT_SERVE_LEADERSHIP_ENDINGS_H

#include "agent/serve/leadership/leadership.h"

/* Its holder was asked to stop, or is gone: leaderships_tick() looks at it from now on. */
void leadership_look_at_ending(struct leadership *);

/* leadership.c: its stop_by has passed. */
void leadership_end_overdue(struct leadership *);
/* leadership.c: this member leaves. Asks the holder to stop, and no longer stands. */
void leadership_leave(struct leadership *);

#endif
