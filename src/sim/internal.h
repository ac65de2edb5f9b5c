/*
 * The inside of a world: its data, and the functions by which the files of the simulator call each other.
 * Included only within src/sim. Start reading with sim_world_run in world/run.c.
 */
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
 * One machine, as run by every node: the election, or the failure detector. The two share nodes and links but
 * no random numbers, so the detector's delays and losses do not depend on the election.
 */
struct sim_machine {
    const struct el_algorithm *algorithm; /* NULL: there is none */
    const struct el_cluster *cluster;
    unsigned char *states; /* [count] of state_size */
    uint64_t state_size;
    struct el_outbox outbox;
    struct sim_random random[SIM_STREAMS];
    struct sim_map last_arrival; /* by link, if links keep order */
    uint64_t in_flight, armed;   /* number of messages in flight, and of armed timers */
};

struct sim_node {
    el_node leader;       /* as last seen in its view */
    uint32_t followers;   /* live nodes that name it, itself included */
    uint32_t incarnation; /* timers of an earlier incarnation are void */
    uint32_t timers;      /* its first timer; 0: none */
    uint32_t rate;        /* of its clock, parts per million */
    uint8_t role;         /* el_role */
    bool alive;
    bool paused;
    sim_time resume;
    sim_time born; /* when it last restarted */
};

/* A leader's claim, kept apart from the node: few nodes ever lead, so most of this memory is never touched. */
struct sim_office {
    uint64_t term;
    uint64_t lapsed;         /* the term of its claim, if that had expired before the current step; else 0 */
    sim_time since;          /* when it took office in this term */
    uint32_t timer, slot;    /* the timer that bounds the claim */
    el_node handover_target; /* the member that its last step offered to hand over to */
    bool asked;              /* it was asked to resign or to hand over */
    bool refused;            /* the resource has refused it; reported once */
    bool settled; /* every live node has named it, all at once: from then on its fall is remarkable */
};

struct sim_disk {
    struct el_durable durable, writing; /* writing: valid if exactly one record is being written */
    sim_time done;                      /* when the last of them will be on disk */
    uint32_t pending;
    uint32_t departing; /* messages that wait for the disk, or for messages that do */
    bool lost;          /* its record was wiped, and none has been saved since */
};

/* Kept after firing, since a stopwatch keeps counting. */
struct sim_timer {
    uint64_t generation; /* 0: not armed */
    sim_time deadline;
    sim_time earliest; /* the earliest time at which it may fire: armed_at + min */
    int64_t armed_at;  /* may be negative after a clock jump */
    uint64_t cause;
    uint32_t timer, slot;
    uint32_t next;
    uint8_t channel;
};

/* The state of a scripted run. */
struct sim_stage {
    struct sim_event *flight; /* messages, in the order of sending */
    size_t flight_count;
    const struct sim_step *step; /* being played; NULL: none yet */
    bool dying;                  /* its node dies in this step ... */
    uint64_t acts;               /* ... after this many more SENDs and SAVEs */
    size_t chosen;               /* how many of its choices were drawn */
    bool fired;                  /* some timer has fired */
    struct el_hash scene;        /* the world's fingerprint when the loop began ... */
    uint64_t loop;               /* ... with this step, from 1; 0: no loop */
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
    void *listener_context;
    sim_claim_listener *claim_listener; /* NULL: nobody listens */
    void *claim_context;
    sim_view_listener *view_listener; /* NULL: nobody listens */
    void *view_context;

    struct sim_machine machines[SIM_CHANNELS];
    struct sim_node *nodes;     /* [count + 1] */
    struct sim_office *offices; /* [count + 1] */
    struct sim_disk *disks;     /* [count + 1] */
    struct el_guard guard;      /* of the resource */
    struct el_cluster cluster;  /* the plan's, with attributes that failures lower */
    uint64_t *attributes;
    struct el_quality *qualities; /* [count + 1] */
    struct sim_timer *timers;     /* [1..]; index 0 ends a list */
    uint32_t timer_count, timer_capacity, timer_free;
    struct sim_map timers_by_number; /* used if timers have slots per peer: (node, number) to index */
    uint64_t generation;

    struct sim_map suspicions; /* (node, peer) → 1 by the detector, + 2 for each accusation */
    struct sim_map terms;      /* the leader of each term */
    uint64_t highest_term;     /* the highest term in which anybody took office */
    bool *broken;              /* [break_count] breaks in force */
    size_t broken_count;
    size_t commands_left, calls_left; /* of the plan; calls: requests to campaign, and accusations */

    struct sim_records { /* of the members, see records.c */
        uint32_t wanted, decided;
        bool is_sole;   /* some live member has installed the last, and knows it to be sole */
        uint64_t asked; /* members whose hosts have asked for a record */
        uint64_t floors[EL_RECORDS_MAX + 1]; /* that each record carries */
    } records;
    struct sim_stage stage;

    uint64_t judging;       /* pending checks of the simulator's own detector */
    bool restless;          /* heartbeats never end: the run is at rest when nothing has changed for `settle` */
    sim_time changed;       /* when a view, a verdict or, by command, the world last changed */
    bool setting_out;       /* the nodes are being started: their first views are not reported */
    bool election_begun;    /* a start or a suspicion has happened */
    bool called;            /* an election was called: by request, after a restart, or for a suspected leader */
    sim_time began;         /* the first start or suspicion */
    sim_time last_progress; /* the last delivery or change of view */
    uint64_t phase_messages, progress_messages; /* messages sent at the phase's begin; at the last progress */
    sim_time phase_began;
    bool phase_open;
    bool phase_has_views; /* some view has changed in it */

    /* For the oracles; updated with every change of one node. */
    uint32_t alive_count, leader_count, leaderless_count;
    el_node best; /* the best live candidate, when known */
    bool best_known;
};

static inline unsigned char *sim_state(const struct sim_machine *machine, el_node node)
{
    return machine->states + (node - 1) * machine->state_size;
}

/* network.c */
void sim_network_send(struct sim_world *world, enum sim_channel channel, const struct el_msg *msg,
                      uint64_t cause);
bool sim_network_cut(const struct sim_world *world, el_node from, el_node to);
/* Record and count the fate of a message: lost, stopped by a cut link, addressee dead, duplicated. */
void sim_network_lose(struct sim_world *world, const struct el_msg *msg, uint64_t sent);
void sim_network_cut_off(struct sim_world *world, const struct el_msg *msg, uint64_t sent);
void sim_network_find_dead(struct sim_world *world, const struct el_msg *msg, uint64_t sent);
void sim_network_copy(struct sim_world *world, const struct el_msg *msg, uint64_t sent);
/* Draws from the plan's distribution. */
sim_time sim_draw_delay(const struct sim_delay *delay, struct sim_random *dice);

/* disk.c: a SAVE takes the plan's time to reach the disk, and later messages wait for it. */
void sim_disk_save(struct sim_world *world, el_node node, struct el_durable durable, uint64_t cause);
void sim_disk_stored(struct sim_world *world, const struct sim_event *event);
/* Sends the message, now or when the record is on disk. */
void sim_disk_send(struct sim_world *world, el_node node, enum sim_channel channel, struct el_action *action,
                   uint64_t cause);
void sim_disk_depart(struct sim_world *world, const struct sim_event *event);
/* The process died: a record that was being written is on disk or not, at random. */
void sim_disk_crash(struct sim_world *world, el_node node);

/* detector.c: schedule new checks after the detector's delay: all nodes check one peer, or one node all
 * peers. */
void sim_detector_look_at(struct sim_world *world, el_node peer, uint64_t cause);
void sim_detector_look_from(struct sim_world *world, el_node node, uint64_t cause);
/* Computes and stores the verdict: 1 suspect, -1 trust again, 0 no change. */
int sim_detector_judge(struct sim_world *world, el_node node, el_node peer);
/* The same after a command accuses the peer or withdraws the accusation. */
int sim_detector_accuse(struct sim_world *world, el_node node, el_node peer, bool accused);
/* The detector machine of this node reported a verdict. */
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
/* The node's clock jumps by `local` on its own scale: forward, so that its timers fire sooner, or back. */
void sim_timer_jump(struct sim_world *world, el_node node, int64_t local);
/* True if the event belongs to the armed timer, which is then disarmed. */
bool sim_timer_fires(struct sim_world *world, const struct sim_event *event);
/* NULL if it is not armed. */
const struct sim_timer *sim_timer_armed(struct sim_world *world, struct sim_key_of_timer key);
struct sim_event sim_timer_timeout(const struct sim_world *world, el_node node, const struct sim_timer *timer);
void sim_timer_forget_all(struct sim_world *world, el_node node);

/* oracle.c: a node's view changed, or it died or came back. */
void sim_oracle_view(struct sim_world *world, el_node node, const struct el_view *view);
/* Called around each step: a lease that the node wins is armed only within the step. */
void sim_oracle_step_begins(struct sim_world *world, el_node node);
void sim_oracle_step_ends(struct sim_world *world, el_node node);
void sim_oracle_died(struct sim_world *world, el_node node);
void sim_oracle_born(struct sim_world *world, el_node node);
void sim_oracle_find_agreement(struct sim_world *world);
void sim_oracle_judge_rest(struct sim_world *world);
void sim_oracle_endless(struct sim_world *world);
/* The script has returned to the world's state at this step, whose record is given. */
void sim_oracle_goes_round(struct sim_world *world, uint64_t step, uint64_t record);
/* Reports the live nodes for which `test` is true, if any; the first few by name. */
/* Of a machine that decides: remembers what each number was decided to be. */
void sim_oracle_decision(struct sim_world *world, el_node node, const void *state);
void sim_oracle_report_those(struct sim_world *world, enum el_violation kind,
                             bool (*test)(struct sim_world *, el_node));

/* Adds a record with the current time and returns its index; 0, at no cost, if none are kept. */
static inline uint64_t sim_record(struct sim_world *world, struct sim_record record)
{
    if (world->trace.capacity == 0) return 0;
    record.time = world->now;
    return sim_trace_add(&world->trace, &record);
}

/* resource.c: the resource that leaders work on, and its guard. */
void sim_resource_next(struct sim_world *world);
void sim_resource_work(struct sim_world *world);

/* quality.c: ranks that take a process's failures into account. */
bool sim_quality_begin(struct sim_world *world);
void sim_quality_failed(struct sim_world *world, el_node node);
/* Updates all attributes after a failure or after some uptime. */
void sim_quality_review(struct sim_world *world);

/* majority.c: whether some candidate reaches a majority both ways, and which nodes must then know its
 * leader. */
bool sim_majority_possible(const struct sim_world *world);
void sim_majority_judge(struct sim_world *world);
bool sim_reaches_both_ways(const struct sim_world *world, el_node a, el_node b);

/* records.c: members that change. The next record is wanted, or the world has changed: it is decided if it can be. */
void sim_records_want(struct sim_world *world);
void sim_records_review(struct sim_world *world);
/* The node hears of the record of this number, and its host asks for it; and gets it. */
void sim_records_ask(struct sim_world *world, el_node node, uint64_t number, uint64_t cause);
void sim_records_came(struct sim_world *world, const struct sim_event *event);
/* By the last record that was decided. */
bool sim_may_lead(const struct sim_world *world, el_node node);
/* The node reaches a majority of the voters, and of those before as long as they count. */
bool sim_reaches_voters(const struct sim_world *world, el_node node);

/* step.c: a machine of the node takes a step for this event; `cause` is the event's record. */
void sim_react(struct sim_world *world, el_node node, enum sim_channel channel, const struct el_event *event,
               uint64_t cause);
/* Compares the node's view with its last known view. */
void sim_look_at_view(struct sim_world *world, el_node node, uint64_t cause);
void sim_start(struct sim_world *world, el_node node, enum el_start_how how, uint64_t cause);
/* The node's detector suspects the peer, or trusts it again. */
void sim_suspect(struct sim_world *world, el_node node, el_node peer, bool suspected, uint64_t cause);
/* A start or a suspicion: turnaround is counted from the first one. */
void sim_election_begins(struct sim_world *world);
/* A delivery or a change of view: turnaround is counted to the last one. */
void sim_election_progresses(struct sim_world *world);
/* Something has changed: the run is not at rest yet. */
static inline void sim_change(struct sim_world *world)
{
    world->changed = world->now;
}

/* faults.c: carries out a command of the plan. `node` is the addressee, already resolved if the command says
 * "leader". */
void sim_carry_out_command(struct sim_world *world, const struct sim_command *command, el_node node);
/* The same for a command that is not in the plan, without counting it. */
void sim_apply_command(struct sim_world *world, const struct sim_command *command, el_node node);
/* True if the command makes a node call an election or accuse a peer. */
bool sim_is_call(const struct sim_command *command);

/* events.c */
void sim_push(struct sim_world *world, const struct sim_event *event);
void sim_deliver(struct sim_world *world, const struct sim_event *event);
void sim_take_back_hop(struct sim_world *world, const struct sim_event *event);
void sim_time_out(struct sim_world *world, const struct sim_event *event);
bool sim_put_off(struct sim_world *world, const struct sim_event *event); /* its process is paused */
void sim_handle(struct sim_world *world, const struct sim_event *event);

/* fingerprint.c: two equal hashes mean that the run can continue in the same ways. False if memory ran out. */
bool sim_fingerprint(struct sim_world *world, struct el_hash *hash);

/* scripted.c: plays a scripted run step by step, until a step is impossible. */
void sim_stage_play(struct sim_world *world);
/* The message stays in flight until a step of the script decides its fate. */
void sim_stage_hold(struct sim_world *world, const struct sim_event *event);
/* False if the node dies before it carries out this action. */
bool sim_stage_lives_to(struct sim_world *world, const struct el_action *action);
/* The script's next answer to CHOOSE; false if it has none that fits, which ends the run. */
bool sim_stage_choose(struct sim_world *world, uint32_t n, uint32_t *chosen);

#endif
