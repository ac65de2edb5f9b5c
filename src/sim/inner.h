/* The inside of a world, shared by the files of the simulator and nobody else. */
#ifndef ELECTOR_SIM_INNER_H
#define ELECTOR_SIM_INNER_H

#include "map.h"
#include "world.h"

struct sim_node {
    el_node leader;       /* as last seen in its view */
    uint32_t followers;   /* live nodes that name it, itself included */
    uint32_t incarnation; /* timers of an earlier one are void */
    uint32_t timers;      /* its first timer; 0: none */
    uint32_t rate;        /* of its clock, parts per million */
    uint8_t role;         /* el_role */
    bool alive;
    bool paused;
    sim_time resume;
    sim_time born; /* when it last came back */
    struct el_durable durable;
};

/* Kept after firing, since a stopwatch counts on. */
struct sim_timer {
    uint64_t generation; /* 0: not armed */
    sim_time deadline, armed_at;
    uint64_t cause;
    uint32_t timer, slot;
    uint32_t next;
};

enum {
    SIM_STREAM_DELAY,
    SIM_STREAM_LOSS,
    SIM_STREAM_COPY,
    SIM_STREAM_ORDER,
    SIM_STREAM_TIMER,
    SIM_STREAM_CHOICE,
    SIM_STREAMS
};

struct sim_world {
    const struct sim_plan *plan;
    const struct el_algorithm *algorithm;
    sim_time now;
    struct sim_queue queue;
    struct sim_trace trace;
    struct sim_random random[SIM_STREAMS];
    struct sim_result result;

    struct sim_node *nodes; /* [count + 1] */
    unsigned char *states;  /* [count] of state_size */
    uint64_t state_size;
    struct el_outbox outbox;
    struct sim_timer *timers; /* [1..]; 0 ends a list */
    uint32_t timer_count, timer_capacity, timer_free;
    uint64_t generation;

    struct sim_map last_arrival; /* by link, where order must be kept */
    struct sim_map suspicions;   /* (node, peer) → 1 by the detector, + 2 for each accusation */
    bool *broken;                /* [break_count] which breaks are in force */
    size_t broken_count;
    size_t commands_left, calls_left; /* of the plan's; calls: requests to campaign, and accusations */

    /* What is under way; at rest when all are 0. */
    uint64_t in_flight, armed, judging;
    bool setting_out;   /* the nodes are being started: what they see first is no news */
    bool stirred;       /* something began */
    bool called;        /* an election was called: by request, after a restart, or for a leader suspected */
    sim_time began;     /* the first start or suspicion */
    sim_time last_news; /* the last delivery or change of view */
    uint64_t phase_messages;
    sim_time phase_began;
    bool phase_open;

    /* Oracles, kept up to date with every change of one node. */
    uint32_t alive_count, leader_count, leaderless_count;
    el_node best; /* the best live candidate, when known */
    bool best_known;
};

/* Files of the simulator call each other through these. */
static inline unsigned char *sim_state(const struct sim_world *world, el_node node)
{
    return world->states + (node - 1) * world->state_size;
}

/* network.c */
void sim_network_send(struct sim_world *world, const struct el_msg *msg, uint64_t cause);
bool sim_network_cut(const struct sim_world *world, el_node from, el_node to);
sim_time sim_network_delay(struct sim_world *world);

/* detector.c: whoever may have to judge anew does so after the detector's delay: all of a peer, one of all. */
void sim_detector_look_at(struct sim_world *world, el_node peer, uint64_t cause);
void sim_detector_look_from(struct sim_world *world, el_node node, uint64_t cause);
/* The verdict: 1 suspect, -1 trust again, 0 no change. Remembers it. */
int sim_detector_judge(struct sim_world *world, el_node node, el_node peer);
/* The same after a command accuses the peer, or takes that back. */
int sim_detector_accuse(struct sim_world *world, el_node node, el_node peer, bool accused);
bool sim_detector_misses(const struct sim_world *world, el_node node, el_node peer);
void sim_detector_forget(struct sim_world *world, el_node node);

/* timers.c */
struct sim_timer *sim_timer_find(struct sim_world *world, el_node node, uint32_t timer, uint32_t slot);
void sim_timer_arm(struct sim_world *world, el_node node, const struct el_action *action, uint64_t cause);
void sim_timer_disarm(struct sim_world *world, el_node node, uint32_t timer, uint32_t slot);
void sim_timer_move(struct sim_world *world, el_node node, uint32_t timer, uint32_t to, uint32_t slot);
el_duration sim_timer_left(struct sim_world *world, el_node node, uint32_t timer, uint32_t slot);
el_duration sim_timer_elapsed(struct sim_world *world, el_node node, uint32_t timer, uint32_t slot);
/* True if this timeout is the armed one; it is unarmed then. */
bool sim_timer_fires(struct sim_world *world, const struct sim_event *event);
void sim_timer_forget_all(struct sim_world *world, el_node node);

/* oracle.c: a node's view changed, or it died or came back. */
void sim_oracle_view(struct sim_world *world, el_node node, el_node leader, enum el_role role);
void sim_oracle_died(struct sim_world *world, el_node node);
void sim_oracle_born(struct sim_world *world, el_node node);
void sim_oracle_find_agreement(struct sim_world *world);
void sim_oracle_judge_rest(struct sim_world *world);
void sim_oracle_endless(struct sim_world *world);

/* Adds a record of this instant and returns its index; 0 where none are kept, at no cost. */
static inline uint64_t sim_record(struct sim_world *world, struct sim_record record)
{
    if (world->trace.capacity == 0) return 0;
    record.time = world->now;
    return sim_trace_add(&world->trace, &record);
}

/* react.c: a node takes a step for this event, whose record is `cause`. */
void sim_react(struct sim_world *world, el_node node, const struct el_event *event, uint64_t cause);
void sim_start(struct sim_world *world, el_node node, enum el_start_how how, uint64_t cause);
/* Its detector suspects the peer, or trusts it again. */
void sim_suspect(struct sim_world *world, el_node node, el_node peer, bool suspected, uint64_t cause);
/* A start or a suspicion: turnaround counts from the first. */
void sim_stir(struct sim_world *world);
/* A delivery or a change of view: turnaround counts to the last. */
void sim_news(struct sim_world *world);

/* command.c */
void sim_carry_out_command(struct sim_world *world, const struct sim_command *command);
/* Somebody is asked to call an election, or told of a death. */
bool sim_is_call(const struct sim_command *command);

/* world.c */
void sim_push(struct sim_world *world, const struct sim_event *event);

#endif
