/* Adds the events of a leadership to the history. For this room only. */
#ifndef ELECTOR_AGENT_SERVE_LEADERSHIP_PAST_H
#define ELECTOR_AGENT_SERVE_LEADERSHIP_PAST_H

#include "agent/history/history.h"
#include "agent/serve/leadership/leadership.h"

void leadership_record(const struct leadership *, enum history_what);
void leadership_record_event(const struct leadership *,
                             const struct leadership_event *);              /* sent to its holder */
void leadership_record_way(const struct leadership *, enum leadership_way); /* how its holder leaves */
/* If no majority has renewed the lease for three beats, records it, and which voters are silent. If `is_said`, the holder
 * resigns because it saw no renewal in time: then that is recorded, even if a renewal has come since. True: it is so. */
bool leadership_record_silence(const struct leadership *, bool is_said);
void leadership_record_stop(const struct leadership *, enum leadership_ending, el_node to);

#endif
