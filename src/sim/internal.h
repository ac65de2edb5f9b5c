/* The inside of a world, shared by the files of the simulator and nobody else. */
#ifndef ELECTOR_SIM_INTERNAL_H
#define ELECTOR_SIM_INTERNAL_H

#include "elector/parts.h"
#include "sim/world/map.h"
#include "sim/world/world.h"

enum {
    SIM_STREAM_DELAY,
    SIM_STREAM_LOSS,
    SIM_STREAM_COPY,
    SIM_STREAM_ORDER,
    SIM_STREAM_TIMER,
    SIM_STREAM_CHOICE,
    SIM_STREAM_DISK,
    SIM_STREAMS
};

/*
 * One machine, as run by every node: the election, or the failure detector. They share nodes and links and
 * nothing else, dice neither: what the detector meets does not depend on the election.
 */
struct sim_machine {
    const struct el_algorithm *algorithm; /* NULL: there is none */
    const struct el_cluster *cluster;
    unsigned char *states; /* [count] of state_size */
    uint64_t state_size;
    struct el_outbox outbox;
    struct sim_random random[SIM_STREAMS];
    struct sim_map last_arrival; /* by link, where order must be kept */
    uint64_t in_flight, armed;   /* what is under way */
};

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
};

/* What a node claims beyond naming a leader; few nodes ever lead, so most of these are never touched. */
struct sim_office {
    uint64_t term;
    uint64_t
        lapsed; /* the term of its claim, if that had run out before the step that it takes; 0: it had not */
    sim_time since;          /* when it took office in this term */
    uint32_t timer, slot;    /* what bounds the claim */
    el_node handover_target; /* whom it has just said that it would hand over to */
    bool asked;              /* it was asked to give its office up */
    bool refused;            /* the resource has turned it away, which is told once */
    bool settled; /* every live node has named it, all at once: from then on its fall is remarkable */
};

struct sim_disk {
    struct el_durable durable, writing; /* writing: if exactly one record is on its way */
    sim_time done;                      /* when the last one on its way will be there */
    uint32_t pending;
    uint32_t departing; /* messages that wait for that, or for those that do */
    bool lost;          /* its record was wiped, and none has been saved since */
};

/* Kept after firing, since a stopwatch counts on. */
struct sim_timer {
    uint64_t generation; /* 0: not armed */
    sim_time deadline;
    sim_time earliest; /* when it may have run out, had chance willed so */
    int64_t armed_at;  /* may lie before the beginning, when the clock has leapt */
    uint64_t cause;
    uint32_t timer, slot;
    uint32_t next;
    uint8_t channel;
};

/* Where a scripted run stands. */
struct sim_stage {
    struct sim_event *flight; /* messages, in the order of sending */
    size_t recorder_count;
    const struct sim_step *step; /* being played; NULL: none yet */
    bool dying;                  /* its node dies in it ... */
    uint64_t acts;               /* ... after so many more SENDs and SAVEs */
    size_t chosen;               /* how many of its choices were drawn */
    bool fired;                  /* some timer has */
    struct el_hash scene;        /* everything that matters, when the loop began ... */
    uint64_t loop;               /* ... with this step, from 1; 0: there is none */
    uint64_t loop_record;
};

struct sim_world {
    const struct sim_plan *plan;
    const struct el_algorithm *algorithm; /* the election's */
    sim_time now;
    struct sim_queue queue;
    struct sim_trace trace;
    struct sim_result result;
    sim_listener *listener; /* NULL: nobody listens */
    void *listener_whose;

    struct sim_machine machines[SIM_CHANNELS];
    struct sim_node *nodes;     /* [count + 1] */
    struct sim_office *offices; /* [count + 1] */
    struct sim_disk *disks;     /* [count + 1] */
    struct el_guard guard;      /* of the resource */
    struct el_cluster cluster;  /* the plan's, where ranks change by how often a process fails */
    uint64_t *attributes;
    struct el_quality *qualities; /* [count + 1] */
    struct sim_timer *timers;     /* [1..]; 0 ends a list */
    uint32_t timer_count, timer_capacity, timer_free;
    struct sim_map timers_by_number; /* where some are for one peer each: (node, number) to index */
    uint64_t generation;

    struct sim_map suspicions; /* (node, peer) → 1 by the detector, + 2 for each accusation */
    struct sim_map terms;      /* who led in it */
    uint64_t highest_term;     /* in which anybody took office */
    bool *broken;              /* [break_count] which breaks are in force */
    size_t broken_count;
    size_t commands_left, calls_left; /* of the plan's; calls: requests to campaign, and accusations */

    struct sim_stage stage;

    uint64_t judging;   /* looks of the simulator's own detector that are due */
    bool restless;      /* something beats for ever: at rest is when nothing has changed for long */
    sim_time changed;   /* a view, a verdict, or the world by command */
    bool setting_out;   /* the nodes are being started: what they see first is no news */
    bool stirred;       /* something began */
    bool called;        /* an election was called: by request, after a restart, or for a leader suspected */
    sim_time began;     /* the first start or suspicion */
    sim_time last_news; /* the last delivery or change of view */
    uint64_t phase_messages, news_messages; /* sent when the phase began; when the last news came */
    sim_time phase_began;
    bool phase_open;

    /* Oracles, kept up to date with every change of one node. */
    uint32_t alive_count, leader_count, leaderless_count;
    el_node best; /* the best live candidate, when known */
    bool best_known;
};

/* Files of the simulator call each other through these. */
static inline unsigned char *sim_state(const struct sim_machine *machine, el_node node)
{
    return machine->states + (node - 1) * machine->state_size;
}

/* network.c */
void sim_network_send(struct sim_world *world, enum sim_channel channel, const struct el_msg *msg,
                      uint64_t cause);
bool sim_network_cut(const struct sim_world *world, el_node from, el_node to);
/* What becomes of a message, told and counted: it vanishes, meets a cut link, finds the addressee dead, doubles. */
void sim_network_lose(struct sim_world *world, const struct el_msg *msg, uint64_t sent);
void sim_network_cut_off(struct sim_world *world, const struct el_msg *msg, uint64_t sent);
void sim_network_find_dead(struct sim_world *world, const struct el_msg *msg, uint64_t sent);
void sim_network_copy(struct sim_world *world, const struct el_msg *msg, uint64_t sent);
/* Drawn as the plan says. */
sim_time sim_draw_delay(const struct sim_delay *delay, struct sim_random *dice);

/* disk.c: a record is on the disk some time after it was saved, and the messages after it wait for that. */
void sim_disk_save(struct sim_world *world, el_node node, struct el_durable durable, uint64_t cause);
void sim_disk_stored(struct sim_world *world, const struct sim_event *event);
/* Sends the message, now or when the disk is done. */
void sim_disk_send(struct sim_world *world, el_node node, enum sim_channel channel, struct el_action *action,
                   uint64_t cause);
void sim_disk_depart(struct sim_world *world, const struct sim_event *event);
/* The process died: what was on its way is there, or is not. */
void sim_disk_crash(struct sim_world *world, el_node node);

/* detector.c: whoever may have to judge anew does so after the detector's delay: all of a peer, one of all. */
void sim_detector_look_at(struct sim_world *world, el_node peer, uint64_t cause);
void sim_detector_look_from(struct sim_world *world, el_node node, uint64_t cause);
/* The verdict: 1 suspect, -1 trust again, 0 no change. Remembers it. */
int sim_detector_judge(struct sim_world *world, el_node node, el_node peer);
/* The same after a command accuses the peer, or takes that back. */
int sim_detector_accuse(struct sim_world *world, el_node node, el_node peer, bool accused);
/* A detector machine of this node spoke. */
void sim_detector_verdict(struct sim_world *world, el_node node, el_node peer, bool suspected);
bool sim_detector_misses(const struct sim_world *world, el_node node, el_node peer);
void sim_detector_forget(struct sim_world *world, el_node node);

/* timers.c */
struct sim_key_of_timer {
    el_node node;
    enum sim_channel channel;
    uint32_t timer, slot;
};
void sim_timer_arm(struct sim_world *world, struct sim_key_of_timer key, el_duration min, el_duration max,
                   uint64_t cause);
void sim_timer_disarm(struct sim_world *world, struct sim_key_of_timer key);
void sim_timer_move(struct sim_world *world, struct sim_key_of_timer key, uint32_t to);
el_duration sim_timer_left(struct sim_world *world, struct sim_key_of_timer key);
el_duration sim_timer_elapsed(struct sim_world *world, struct sim_key_of_timer key);
/* The node's clock leaps so far, by its own measure: forward, so that its timers are due sooner, or back. */
void sim_timer_jump(struct sim_world *world, el_node node, int64_t local);
/* True if this timeout is the armed one; it is unarmed then. */
bool sim_timer_fires(struct sim_world *world, const struct sim_event *event);
/* NULL if it is not armed. */
const struct sim_timer *sim_timer_armed(struct sim_world *world, struct sim_key_of_timer key);
struct sim_event sim_timer_timeout(const struct sim_world *world, el_node node, const struct sim_timer *timer);
void sim_timer_forget_all(struct sim_world *world, el_node node);

/* oracle.c: a node's view changed, or it died or came back. */
void sim_oracle_view(struct sim_world *world, el_node node, const struct el_view *view);
/* The lease that a node won in this step may be armed only now. */
void sim_oracle_step_begins(struct sim_world *world, el_node node);
void sim_oracle_step_ends(struct sim_world *world, el_node node);
void sim_oracle_died(struct sim_world *world, el_node node);
void sim_oracle_born(struct sim_world *world, el_node node);
void sim_oracle_find_agreement(struct sim_world *world);
void sim_oracle_judge_rest(struct sim_world *world);
void sim_oracle_endless(struct sim_world *world);
/* A script came back to where it was at this step, whose record this is. */
void sim_oracle_goes_round(struct sim_world *world, uint64_t step, uint64_t record);
/* Reports the live nodes of which `test` is true, if there are any; the first few by name. */
void sim_oracle_report_those(struct sim_world *world, enum el_violation kind,
                             bool (*test)(struct sim_world *, el_node));

/* Adds a record of this instant and returns its index; 0 where none are kept, at no cost. */
static inline uint64_t sim_record(struct sim_world *world, struct sim_record record)
{
    if (world->trace.capacity == 0) return 0;
    record.time = world->now;
    return sim_trace_add(&world->trace, &record);
}

/* resource.c: what leaders are for, and the guard before it. */
void sim_resource_next(struct sim_world *world);
void sim_resource_work(struct sim_world *world);

/* quality.c: ranks that weigh how steady a process has been. */
bool sim_quality_begin(struct sim_world *world);
void sim_quality_failed(struct sim_world *world, el_node node);
/* Somebody failed, or uptime has made up for some of it. */
void sim_quality_review(struct sim_world *world);

/* majority.c: whether some candidate reaches a majority of the living both ways, and who then must know. */
bool sim_majority_possible(const struct sim_world *world);
void sim_majority_judge(struct sim_world *world);
bool sim_reaches_both_ways(const struct sim_world *world, el_node a, el_node b);

/* step.c: a machine of the node takes a step for this event, whose record is `cause`. */
void sim_react(struct sim_world *world, el_node node, enum sim_channel channel, const struct el_event *event,
               uint64_t cause);
/* Compares its view with what is known of it. */
void sim_look_at_view(struct sim_world *world, el_node node, uint64_t cause);
void sim_start(struct sim_world *world, el_node node, enum el_start_how how, uint64_t cause);
/* Its detector suspects the peer, or trusts it again. */
void sim_suspect(struct sim_world *world, el_node node, el_node peer, bool suspected, uint64_t cause);
/* A start or a suspicion: turnaround counts from the first. */
void sim_stir(struct sim_world *world);
/* A delivery or a change of view: turnaround counts to the last. */
void sim_news(struct sim_world *world);
/* Something is other than it was: rest must wait. */
static inline void sim_change(struct sim_world *world)
{
    world->changed = world->now;
}

/* faults.c: node is whom the command addresses, where that is "whoever leads" and was found out before. */
void sim_carry_out_command(struct sim_world *world, const struct sim_command *command, el_node node);
/* The same, for one that is not the plan's own. */
void sim_obey(struct sim_world *world, const struct sim_command *command, el_node node);
/* Somebody is asked to call an election, or told of a death. */
bool sim_is_call(const struct sim_command *command);

/* world.c */
void sim_push(struct sim_world *world, const struct sim_event *event);
void sim_deliver(struct sim_world *world, const struct sim_event *event);
void sim_take_back_hop(struct sim_world *world, const struct sim_event *event);
void sim_time_out(struct sim_world *world, const struct sim_event *event);

/* fingerprint.c: the same again if, and only if, the run can go on in the same ways. False if memory ran out. */
bool sim_scene(struct sim_world *world, struct el_hash *hash);

/* scripted.c: a scripted run, step by step, until one is impossible. */
void sim_stage_play(struct sim_world *world);
/* The message stays in flight until the script says what becomes of it. */
void sim_stage_hold(struct sim_world *world, const struct sim_event *event);
/* False: the node dies before it carries this out. */
bool sim_stage_lives_to(struct sim_world *world, const struct el_action *action);
/* The script's next answer to CHOOSE; false if it has none that fits, and the run is over. */
bool sim_stage_choose(struct sim_world *world, uint32_t n, uint32_t *chosen);

#endif
