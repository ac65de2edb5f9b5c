/* An office's lease. For leadership.c; what others may call is in leadership.h. */
#ifndef ELECTOR_AGENT_SERVE_LEADERSHIP_LEASE_H
#define ELECTOR_AGENT_SERVE_LEADERSHIP_LEASE_H

#include "agent/serve/leadership.h"

/* The deadline that the holder could know is the one on record. */
void office_catch_up(struct office *);
void office_publish(struct office *);   /* of a tenure that begins */
void office_take_back(struct office *); /* it leads no more, before anybody else can hear of it */
void office_tell_no_leases(struct office *);
/* It has come into another cell, or has a deadline of its own that has moved on. */
void office_move_on(struct office *, uint64_t deadline_ns);

#endif
