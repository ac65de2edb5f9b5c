/* What an office adds to the chronicle. Shared by office*.c, and nobody else. */
#ifndef ELECTOR_AGENT_SERVE_LEADERSHIP_PAST_H
#define ELECTOR_AGENT_SERVE_LEADERSHIP_PAST_H

#include "agent/history/history.h"
#include "agent/serve/leadership.h"

void office_record(const struct office *, enum chronicle_what);
void office_record_event(const struct office *, const struct office_event *); /* that its holder is told */
void office_record_way(const struct office *, enum office_way);               /* in which its holder goes */
void office_record_stop(const struct office *, enum office_ending, el_node to);

#endif
