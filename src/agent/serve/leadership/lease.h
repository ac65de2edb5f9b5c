/* The lease of a leadership. For leadership.c only; others call leadership.h. */
#ifndef ELECTOR_AGENT_SERVE_LEADERSHIP_LEASE_H
#define ELECTOR_AGENT_SERVE_LEADERSHIP_LEASE_H

#include "agent/serve/leadership/leadership.h"

/* Copies the last published deadline into the tenure. */
void leadership_catch_up(struct leadership *);
void leadership_publish(struct leadership *);   /* when a tenure begins */
void leadership_take_back(struct leadership *); /* when it ends, before anybody else can learn it */
void leadership_tell_no_leases(struct leadership *);
/* The tenure has got another cell, or its own deadline has moved on. */
void leadership_move_on(struct leadership *, uint64_t deadline_ns);

#endif
