/* An leadership's lease. For leadership.c; what others may call is in leadership.h. */
#ifndef ELECTOR_AGENT_SERVE_LEADERSHIP_LEASE_H
#define ELECTOR_AGENT_SERVE_LEADERSHIP_LEASE_H

#include "agent/serve/leadership.h"

/* The deadline that the holder could know is the one on record. */
void leadership_catch_up(struct leadership *);
void leadership_publish(struct leadership *);   /* of a tenure that begins */
void leadership_take_back(struct leadership *); /* it leads no more, before anybody else can hear of it */
void leadership_tell_no_leases(struct leadership *);
/* It has come into another cell, or has a deadline of its own that has moved on. */
void leadership_move_on(struct leadership *, uint64_t deadline_ns);

#endif
