/*
 * sim/output writes a run in every format. The trace is the input of all writers: records of what happened,
 * each with its cause. Transcript and explanation (transcript.h) are for people; JSON Lines, Mermaid, ShiViz
 * and the SVG diagram (export.h) are for other tools; import.h fills a trace from recordings of real agents.
 * This room reads worlds and never changes them. Start with the records below, then transcript.c.
 */
#ifndef ELECTOR_SIM_OUTPUT_TRACE_H
#define ELECTOR_SIM_OUTPUT_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include "sim/world/queue.h"

enum sim_what {
    SIM_DID_NOTHING,
    SIM_STARTED, /* node leads already when the run begins */
    SIM_CAMPAIGNED,
    SIM_SENT,      /* node → peer, msg */
    SIM_DELIVERED, /* node ← peer, msg; cause: the SENT record */
    SIM_DROPPED,   /* lost, cut, or the addressee is dead (reason); node: addressee, peer: sender */
    SIM_COPIED,    /* the network made a second copy */
    SIM_RETURNED,  /* a hop failed: node learns that peer was not reached */
    SIM_TIMED_OUT, /* node, kind: the timer */
    SIM_SUSPECTED, /* node suspects peer */
    SIM_TRUSTED,
    SIM_NOTED,  /* node, note, values */
    SIM_VIEWED, /* node now sees peer as its leader, in this role */
    SIM_CRASHED,
    SIM_RESTARTED,
    SIM_PAUSED,
    SIM_RESUMED,
    SIM_PARTED, /* a partition or a cut begins; number: which break of the plan */
    SIM_HEALED,
    SIM_SAVED,
    SIM_REQUESTED, /* node is asked to resign, or to hand over to peer; kind: el_request_what */
    SIM_TOLD,      /* node is told a fact; kind: which, number: its value */
    SIM_ADMITTED,  /* the resource admits node as a newer leader; number: its term */
    SIM_REFUSED,   /* the resource refuses node; number: its term */
    SIM_JUMPED,    /* node's clock jumps; number: how far, signed */
    SIM_LOOPED,    /* the script returns to this point; number: the step */
    SIM_RESTED,    /* no event is pending any more */
    SIM_VIOLATED,  /* number: the violation's place in the result */
};

enum sim_reason { SIM_LOST, SIM_CUT, SIM_DEAD };

/* Indices count from 1; 0 is no record. */
struct sim_record {
    sim_time time;
    uint64_t cause;
    uint64_t number;    /* the message's number, the command's, the violation's */
    uint64_t values[2]; /* a note's values; a sent set */
    el_node node, peer, subject;
    uint32_t note;
    uint8_t what;   /* sim_what */
    uint8_t kind;   /* of the message; the timer */
    uint8_t role;   /* el_role */
    uint8_t reason; /* sim_reason */
    uint32_t spare; /* no hidden padding: records are compared as bytes */
};

struct sim_trace {
    struct sim_record *records;
    uint64_t capacity; /* how many are kept */
    uint64_t count;    /* how many were ever added */
    bool all;          /* keep all, not only the last `capacity` */
};

/* keep = 0: no records at all; SIM_KEEP_ALL: every one; else the last `keep`. */
#define SIM_KEEP_ALL UINT64_MAX
bool sim_trace_init(struct sim_trace *trace, uint64_t keep);
void sim_trace_free(struct sim_trace *trace);
/* Adds a copy and returns its index; 0 if none are kept. */
uint64_t sim_trace_add(struct sim_trace *trace, const struct sim_record *record);
/* NULL if the record is not kept, or not any more. Borrowed until the next addition. */
const struct sim_record *sim_trace_at(const struct sim_trace *trace, uint64_t index);
uint64_t sim_trace_first(const struct sim_trace *trace);

#endif
