/*
 * The events that wait for elector_dispatch(), in the order of delivery. An event of our own (ELECTED, STOP,
 * LOST_OFFICE, DONE, CONNECTED, DISCONNECTED) is never dropped or overtaken. A newer leader replaces a NEW_LEADER of its
 * group that waits, unless an event of our own candidacy has come between. So the leaders that wait are at most as many
 * as groups and events of our own, however long nobody fetches them, and a group takes memory only while an event of it
 * waits.
 */
#ifndef ELECTOR_CLIENT_EVENT_QUEUE_H
#define ELECTOR_CLIENT_EVENT_QUEUE_H

#include "elector.h"

enum { EVENT_BUCKET_BITS = 12, EVENT_REASON_MAX = 127 };

/* A leader with its texts, in one piece of memory. */
struct leader_copy {
    elector_leader told;
    char text[];
};

/* Candidates with their texts, in one piece of memory. */
struct candidate_copies {
    size_t count;
    const elector_candidate *list[];
};

struct queued {
    struct queued *next;           /* in the order of delivery */
    struct queued *next_in_bucket; /* the group's last NEW_LEADER only */
    uint64_t number;               /* rises in the order of delivery */
    elector_event_type type;
    elector_reason reason;
    union {
        struct { /* ELECTED, STOP, LOST_OFFICE */
            uint64_t token, deadline_ns;
        } own;
        struct {            /* DONE: a ticket, as long as the call is not complete */
            uint64_t id;    /* for the engine */
            uint64_t token; /* HAND_OVER: of the term that ends */
            elector_call call;
            elector_status status;
            bool is_awaited;   /* a call waits for it: it is not queued */
            bool is_abandoned; /* nobody waits for it any more: it is freed */
            bool is_quiet;     /* it is queued only if it fails */
            bool is_complete;
            char *message; /* owned; NULL: none */
            struct candidate_copies *candidates;
            struct leader_copy *leader; /* what elector_leader_of() asked for */
        } done;
        struct leader_copy *leader; /* NEW_LEADER */
        elector_status status;      /* DISCONNECTED */
    };
    const char *group; /* borrowed from the group's state, or in `text` */
    char text[];       /* the reason, or the group */
};

struct event_queue { /* zeroed: empty */
    struct queued *first, *last;
    struct queued *leaders[1 << EVENT_BUCKET_BITS]; /* the last NEW_LEADER of each group, hashed by group */
    uint64_t numbers;                               /* the last one given */
    size_t own_count, leader_count;
};

/* NULL: out of memory. */
struct leader_copy *leader_copy_make(const elector_leader *);

/* An event that is in no queue yet, with room for a text of `text_max` bytes. The group is borrowed. NULL: out of
 * memory. */
struct queued *event_make(elector_event_type, const char *group, size_t text_max);
/* A ticket; the group is copied, and may be NULL. NULL: out of memory. */
struct queued *ticket_make(elector_call, const char *group);
/* These copy. False: out of memory. */
bool ticket_set_leader(struct queued *, const elector_leader *);
bool ticket_set_candidates(struct queued *, const elector_candidate *, size_t count);
void event_free(struct queued *); /* NULL is allowed */

/* Appends an event of our own, owns it from now on, and returns its number. */
uint64_t event_queue_add(struct event_queue *, struct queued *);
/* Queues a new leader. The group's last one is replaced where it waits, unless its number is below `after`, the
 * number of the group's last event of our own. False: out of memory. */
bool event_queue_tell_leader(struct event_queue *, const char *group, const elector_leader *, uint64_t after);
/* Removes the leader of this group that waits, if any; NULL: of all groups. */
void event_queue_forget_leader(struct event_queue *, const char *group);
/* Removes the first event if its number is at most `last`. The caller frees it. NULL: none. */
struct queued *event_queue_take(struct event_queue *, uint64_t last);
/* Frees the events. */
void event_queue_clear(struct event_queue *);

#endif
