/*
 * The events that wait for elector_dispatch(), in the order of delivery. An event of our own candidacy (ELECTED,
 * STOP, LOST_OFFICE) is never dropped or overtaken. A newer leader replaces a NEW_LEADER of its group that waits,
 * unless an event of our own has come between. So the leaders that wait are at most as many as groups and events
 * of our own, however long nobody fetches them, and a group takes memory only while an event of it waits.
 */
#ifndef ELECTOR_CLIENT_EVENT_QUEUE_H
#define ELECTOR_CLIENT_EVENT_QUEUE_H

#include "elector.h"

enum { EVENT_BUCKET_BITS = 12, EVENT_REASON_MAX = 127 };

struct queued {
    struct queued *next;           /* in the order of delivery */
    struct queued *next_in_bucket; /* the group's last NEW_LEADER only */
    uint64_t number;               /* rises in the order of delivery */
    elector_event_type type;
    char group[ELECTOR_GROUP_MAX + 1];
    union {
        struct { /* ELECTED, STOP, LOST_OFFICE */
            elector_term term;
            char reason[EVENT_REASON_MAX + 1];
        } own;
        elector_leader leader; /* NEW_LEADER */
    };
};

struct event_queue { /* zeroed: empty */
    struct queued *first, *last;
    struct queued *leaders[1 << EVENT_BUCKET_BITS]; /* the last NEW_LEADER of each group, hashed by group */
    uint64_t numbers;                               /* the last one given */
    size_t own_count, leader_count;
};

/* An event that is in no queue yet. NULL: out of memory. */
struct queued *event_make(elector_event_type, const char *group);
/* Appends an event of our own candidacy, owns it from now on, and returns its number. */
uint64_t event_queue_add(struct event_queue *, struct queued *);
/* Queues a new leader. The group's last one is replaced where it waits, unless its number is below `after`, the
 * number of the group's last event of our own. False: out of memory. */
bool event_queue_tell_leader(struct event_queue *, const char *group, const elector_leader *, uint64_t after);
/* Removes the first event if its number is at most `last`. The caller frees it. NULL: none. */
struct queued *event_queue_take(struct event_queue *, uint64_t last);
/* Frees the events. */
void event_queue_clear(struct event_queue *);

#endif
