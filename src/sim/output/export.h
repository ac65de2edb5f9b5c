/*
 * A finished run in the formats of other tools: JSON Lines, Mermaid, ShiViz, and a drawn space-time diagram.
 * Each is written from the trace alone, which must have been kept in full (SIM_KEEP_ALL), and is the same
 * byte for byte on every machine. All return 0, or -1 if writing failed or memory ran out.
 */
#ifndef ELECTOR_SIM_OUTPUT_EXPORT_H
#define ELECTOR_SIM_OUTPUT_EXPORT_H

#include <stdio.h>

#include "sim/world/world.h"

/*
 * One flat object a line. The first describes the run; each of the others is one record of the trace:
 *
 *   run         algorithm, nodes (ids in ring order), seed, unit of all times: "T" (message delays) or "ms"
 *   started     node leads already when the run begins
 *   campaigned  node calls an election
 *   sent        node sends a message to `to`: kind, subject, members (where a set travels), message
 *   delivered   node gets it from `from`
 *   dropped     it does not reach node; reason: lost, cut (no link), dead (the addressee)
 *   copied      the network made a second copy, on its way to node
 *   returned    node is told that its message did not reach `to`
 *   timed-out   node's timer ran out
 *   suspected   node's failure detector accuses peer
 *   trusted     node's failure detector withdraws the accusation of peer
 *   noted       node gives a reason for its actions; note: its name, text: in words
 *   viewed      node now sees leader (null: nobody); role: idle, electing, follower, leader; term
 *   crashed     node stops
 *   restarted   node comes back
 *   paused      node stops reacting
 *   resumed     node continues
 *   parted      the network breaks as in text
 *   healed      that break is over
 *   saved       node has put its record on disk
 *   requested   node is asked to resign, or to hand over to `to`; request: resign, transfer
 *   told        node is told a fact by its host: fact, value
 *   admitted    the resource admits node as a newer leader: term
 *   refused     the resource refuses node: term
 *   jumped      node's clock jumps
 *   looped      the script returns to this point; step: its number
 *   rested      no event is pending any more
 *   violated    violation: its name, nodes: the first of those concerned, text: what it means
 *
 * Nodes are ids. `record` numbers the records from 1; `cause` is the record that led to this one, and is
 * omitted if there is none; `message` is the record in which the message was sent.
 */
int sim_write_jsonl(FILE *out, const struct sim_world *world);

/* A sequenceDiagram; messages are in the order of sending. */
int sim_write_mermaid(FILE *out, const struct sim_world *world);

/* A log with vector clocks, for ShiViz to open as a file. With more than 256 nodes, only a comment, and -1. */
int sim_write_shiviz(FILE *out, const struct sim_world *world);

/* SVG 1.1, one lane a node, time to the right. A large run is cut after its first part; the caption says so. */
int sim_write_svg(FILE *out, const struct sim_world *world);

/* ---- Common parts ---- */

/* How a message ended. */
struct sim_fate {
    uint8_t arrivals; /* more than one: copies */
    bool dropped;
    uint8_t reason; /* sim_reason, if dropped */
};

/* By the number of the SENT record, [count + 1]; the caller frees it. NULL if memory ran out. */
struct sim_fate *sim_fates(const struct sim_trace *trace);

/* 0 for nobody. */
unsigned long long sim_id(const struct sim_plan *plan, el_node node);

/* Writes a time in the plan's unit, with up to six decimals and without the unit's name. */
void sim_put_time(FILE *out, const struct sim_plan *plan, sim_time time);

/*
 * The length of the character at `text`, if it is well-formed UTF-8 and not a control character. Otherwise 0,
 * and the writer replaces that byte by SIM_NO_CHARACTER.
 */
size_t sim_character(const char *text);
#define SIM_NO_CHARACTER "\xEF\xBF\xBD"

/* 0 if all of it reached the file, else -1. */
int sim_written(FILE *out);

#endif
