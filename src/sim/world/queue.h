/*
 * The queue of future events, ordered by time, then class, then insertion. Messages that are queued in the
 * order of their arrival (all of them, if the delay is fixed) take a first-in first-out lane; all other
 * events go through a heap.
 */
#ifndef ELECTOR_SIM_WORLD_QUEUE_H
#define ELECTOR_SIM_WORLD_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "elector/core.h"

typedef uint64_t sim_time; /* virtual nanoseconds */
#define SIM_NEVER UINT64_MAX
#define SIM_TIME_MAX (UINT64_C(1) << 53) /* the latest time in a plan: about 104 days */

/* The order at one instant: faults; events that a pause held back (overdue timers, then the rest); messages;
 * requests and suspicions; timers. */
enum sim_class { SIM_FAULTS, SIM_OVERDUE, SIM_HELD_BACK, SIM_MESSAGES, SIM_REQUESTS, SIM_TIMERS };

enum sim_event_type {
    SIM_COMMAND,
    SIM_DELIVERY,
    SIM_RETURN, /* a hop that failed */
    SIM_TIMEOUT,
    SIM_JUDGEMENT,   /* of the simulator's own detector */
    SIM_STORED,      /* a record is on the disk */
    SIM_DEPARTURE,   /* a message that waited for the disk leaves */
    SIM_WORK,        /* the leader works on the resource */
    SIM_RECORD_CAME, /* the host of a member has got a record of the members */
};

/* The machines of a node: its election, and the failure detector beside it, if it has one. */
enum sim_channel { SIM_ELECTION, SIM_DETECTOR, SIM_CHANNELS };

#define SIM_NO_LEFT UINT8_MAX

struct sim_event {
    sim_time time;
    uint64_t order; /* class and sequence number; filled in by the queue */
    uint64_t cause; /* the trace record that led here */
    uint8_t type;   /* sim_event_type */
    uint8_t class;  /* sim_class */
    union {
        uint8_t copy;       /* DELIVERY: a second copy that the network made */
        uint8_t left_timer; /* DEPARTURE: the timer whose time left goes into the message; SIM_NO_LEFT: none */
    };
    uint8_t channel;      /* sim_channel */
    el_node node;         /* the node that handles it */
    uint32_t incarnation; /* of that node when the event was queued */
    union {
        uint32_t command;   /* COMMAND: its number; RECORD_CAME: the record */
        uint32_t left_slot; /* DEPARTURE */
    };
    union {
        struct el_msg msg;         /* DELIVERY, RETURN, DEPARTURE */
        struct el_durable durable; /* STORED */
        struct {
            uint32_t timer, slot;
            uint64_t generation;
            sim_time due; /* when it would have fired without a pause */
        };
        el_node peer; /* JUDGEMENT: the node's detector looks at the peer */
    };
};

struct sim_queue {
    struct sim_event *lane; /* a ring buffer */
    uint64_t lane_capacity, lane_head, lane_count;
    struct sim_slot *heap; /* keys, with the events apart */
    struct sim_event *events;
    uint32_t *vacant;
    uint64_t heap_capacity, heap_count;
    uint64_t sequence;
};

void sim_queue_free(struct sim_queue *queue);
/* A copy of the event. False if memory ran out. */
bool sim_queue_push(struct sim_queue *queue, const struct sim_event *event);
/* The earliest event, taken out; false if there is none. */
bool sim_queue_pop(struct sim_queue *queue, struct sim_event *event);

#endif
