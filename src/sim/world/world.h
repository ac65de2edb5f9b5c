/*
 * sim/world runs a plan: virtual time, one queue of events, one state machine a node, a simulated network,
 * disk and failure detector, and oracles that check the algorithm's claims. (plan, seed) gives the same
 * records, byte for byte, on every machine. This room may know the plan and the trace it writes to, but no
 * output format. Start reading with sim_world_run in run.c, then events.c and step.c.
 */
#ifndef ELECTOR_SIM_WORLD_WORLD_H
#define ELECTOR_SIM_WORLD_WORLD_H

#include "sim/output/trace.h"
#include "sim/plan/plan.h"

enum { SIM_KINDS_MAX = 16, SIM_VIOLATIONS_MAX = 64, SIM_NODES_NAMED_MAX = 8 };

struct sim_violation {
    enum el_violation kind;
    sim_time time;
    el_node nodes[SIM_NODES_NAMED_MAX]; /* the first few nodes concerned */
    uint32_t node_count;                /* how many of them are named here */
    uint32_t total;                     /* how many there are */
    uint64_t record;                    /* its record in the trace */
    uint64_t since;                     /* ENDLESS in a script: the record of the loop's beginning ... */
    uint64_t step;                      /* ... and its step, from 1; 0: not a loop */
};

/* One election: from the first call, suspicion or fault until the world is at rest. A crash that is noticed, and
 * after which nobody sends a message or changes its view, is none. */
struct sim_phase {
    sim_time began, ended;
    uint64_t messages;
    el_node leader; /* nobody: no agreement */
    bool is_open;   /* the run ended before it did; `ended` is the last progress */
};

struct sim_result {
    uint64_t sent[SIM_KINDS_MAX]; /* executed SENDs by kind; [0] is their sum */
    uint64_t failed_hops;         /* attempts that came back; not in `sent` */
    /* The fate of each message: sent[0] + failed_hops + copies = delivered + lost + to_the_dead + under_way. */
    uint64_t delivered, lost, copies, to_the_dead, under_way;
    uint64_t events;
    /* From the first start or suspicion to the last delivery or change of view. 0 if the run is endless. */
    sim_time turnaround;
    sim_time ended;
    bool came_to_rest;
    bool agreed; /* every live node names the same leader */
    bool is_led; /* ... which is alive, and leads */
    el_node leader;
    uint64_t term;                          /* of the leader at the end, by its own view; 0: nobody leads */
    uint32_t faults;                        /* the el_fault bits that happened */
    uint32_t leaders_max;                   /* the most simultaneous leaders, whatever is claimed */
    uint32_t elected_apart;                 /* how often a node began to lead while links were broken */
    uint32_t deposed;                       /* how often a live leader that all followed stopped, unasked */
    uint64_t notes;                         /* bit k: note k of the algorithm was made */
    uint64_t admitted, refused;             /* work on the resource, counted by its guard */
    uint64_t tokenless;                     /* work that the guard could not judge: the leader has no term */
    uint64_t detector_sent, detector_notes; /* of the detector machine, separate from the election's */
    struct sim_violation violations[SIM_VIOLATIONS_MAX];
    uint32_t violation_count;
    uint32_t violation_kinds; /* el_violation, all of them */
    struct sim_phase *phases;
    size_t phase_count;
    bool out_of_memory;
    struct sim_error error; /* the impossible step of a script, and the possible ones; "": none */
};

struct sim_world;

/* An endless run has no turnaround: it was cut, and might have gone on for ever. */
static inline bool sim_is_endless(const struct sim_result *result)
{
    return result->violation_kinds & EL_ENDLESS;
}

/* keep: how many trace records, see sim_trace_init. NULL if memory ran out. The plan is borrowed. */
struct sim_world *sim_world_new(const struct sim_plan *plan, uint64_t keep);
void sim_world_free(struct sim_world *world);
/* The listener is called each time some node's detector changes its verdict. Set it before the run. */
typedef void sim_listener(void *context, sim_time now, el_node node, el_node peer, bool suspected);
void sim_world_listen(struct sim_world *world, sim_listener *listener, void *context);
/*
 * The listener is called after each step in which a leader's claim is bounded by a timer: `end` is when the claim
 * expires unless it is renewed. `record` is the last record of the trace by then. Set it before the run.
 */
typedef void sim_claim_listener(void *context, uint64_t record, el_node leader, sim_time end);
void sim_world_listen_to_claims(struct sim_world *world, sim_claim_listener *listener, void *context);
/*
 * The listener is called with each view that the world takes of a node, also if it is the same as before: leader, role and
 * term. A dead node has none of them. The trace has only those in which the node names another leader. `record` is the last
 * record of the trace by then, or 0 while the nodes are being started. Set it before the run.
 */
typedef void sim_view_listener(void *context, uint64_t record, el_node node, const struct el_view *view);
void sim_world_listen_to_views(struct sim_world *world, sim_view_listener *listener, void *context);
/* Runs to the end. The result is borrowed from the world. */
const struct sim_result *sim_world_run(struct sim_world *world);
/* The same result, after the run. */
const struct sim_result *sim_world_result(const struct sim_world *world);
const struct sim_trace *sim_world_trace(const struct sim_world *world);
const struct sim_plan *sim_world_plan(const struct sim_world *world);
/* The node's leader, in its own view; nobody if the node is dead. */
el_node sim_world_leader_of(const struct sim_world *world, el_node node);
/* What the node believes: its leader, its role and its term. False: the node is dead. */
bool sim_world_view(const struct sim_world *world, el_node node, struct el_view *view);
/* The node that leads now by its own view; of several, the one with the highest term. */
el_node sim_world_leading(const struct sim_world *world);
/* How long it has led in this term. */
sim_time sim_world_tenure(const struct sim_world *world, el_node leading);
bool sim_world_alive(const struct sim_world *world, el_node node);
/* Memory in use for the nodes, per node: state and bookkeeping. */
uint64_t sim_world_bytes_per_node(const struct sim_world *world);

#endif
