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
 *   started     node leads already when the story begins
 *   campaigned  node calls an election
 *   sent        node sends a message to `to`: kind, subject, members (where a set travels), message
 *   delivered   node gets it from `from`
 *   dropped     it does not reach node; reason: lost, cut (no link), dead (the addressee)
 *   copied      the network made a second copy, on its way to node
 *   returned    node is told that its message did not reach `to`
 *   timed-out   node's timer ran out
 *   suspected   node's failure detector accuses peer
 *   trusted     and takes that back
 *   noted       node says why it does what it does; note: its name, text: in words
 *   viewed      node now sees leader (null: nobody); role: idle, electing, follower, leader; term
 *   crashed     node stops
 *   restarted   node comes back
 *   paused      node stands still
 *   resumed     node goes on
 *   parted      the network breaks as in text
 *   healed      that break is over
 *   saved       node has put its record on disk
 *   requested   node is asked to resign, or to hand over to `to`; request: resign, transfer
 *   told        node is told a fact by its host: fact, value
 *   admitted    the resource meets node as a newer leader: term
 *   refused     the resource turns node away: term
 *   jumped      node's clock leaps
 *   looped      a script says that what follows leads back to here; step: its number
 *   rested      nothing is under way any more
 *   violated    violation: its name, nodes: the first of those concerned, text: what it means
 *
 * Nodes are ids. `record` numbers the records from 1; `cause` is the record that led to this one, and is
 * left out where there is none; `message` is the record in which the message was sent.
 */
int sim_write_jsonl(FILE *out, const struct sim_world *world);

/* A sequenceDiagram; messages stand in the order in which they were sent. */
int sim_write_mermaid(FILE *out, const struct sim_world *world);

/* A log with vector clocks, to be opened in ShiViz as a file. Above 256 nodes only a comment, and -1. */
int sim_write_shiviz(FILE *out, const struct sim_world *world);

/* SVG 1.1, one lane a node, time to the right. Of a large run the first part; the caption says so. */
int sim_write_svg(FILE *out, const struct sim_world *world);

/* ---- What the writers share ---- */

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

/* In the plan's unit, up to six decimals and no more than needed, without the unit. */
void sim_put_time(FILE *out, const struct sim_plan *plan, sim_time time);

/*
 * The length of the character at `text`, if it is well-formed UTF-8 and no control character; otherwise 0,
 * and a writer puts SIM_NO_CHARACTER in place of that byte.
 */
size_t sim_character(const char *text);
#define SIM_NO_CHARACTER "\xEF\xBF\xBD"

/* All of it reached the file, or -1. */
int sim_written(FILE *out);

#endif
