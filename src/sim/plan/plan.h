/*
 * sim/plan turns settings into a plan. A plan is everything a run depends on: the members, the network, the
 * faults and their times, and the expected result. Settings are the options of `elector sim` and, with the
 * same names, the lines of a scenario file. This room may know the registries of algorithms and detectors,
 * but runs nothing. Start reading with sim_plan_build in plan.c; settings.c lists the keys.
 */
#ifndef ELECTOR_SIM_PLAN_PLAN_H
#define ELECTOR_SIM_PLAN_PLAN_H

#include "sim/world/queue.h"
#include "sim/world/random.h"

/* ---- Settings, as typed ---- */

struct sim_setting {
    char *key;
    char *value;
    uint32_t line; /* 0: from the command line */
    uint32_t column;
};

struct sim_settings {
    struct sim_setting *list;
    size_t count;
    size_t capacity;
    const char *file; /* borrowed; NULL: the command line only */
};

/* An error message: the mistake, the setting it is in, and what to do about it. */
struct sim_error {
    char text[512];
};

/* One row for each key, with its text in --help. */
struct sim_key {
    const char *name;
    const char *argument; /* NULL: takes none */
    const char *help;
};
const struct sim_key *sim_keys(size_t *count);

/* Copies key and value. False if memory ran out. */
bool sim_settings_add(struct sim_settings *settings, const char *key, const char *value, uint32_t line,
                      uint32_t column);
/* Adds the lines of a scenario file. 0, or -1 with the error filled in. */
int sim_settings_read(struct sim_settings *settings, const char *path, struct sim_error *error);
/* The same for a text in memory; one byte must follow it. Overwrites the text. `name` stands for the file in errors,
 * and is borrowed. */
int sim_settings_parse(struct sim_settings *settings, const char *name, char *text, size_t size,
                       struct sim_error *error);
void sim_settings_free(struct sim_settings *settings);

/* ---- The plan ---- */

enum sim_command_type {
    SIM_DO_CAMPAIGN,
    SIM_DO_CRASH,
    SIM_DO_RESTART,
    SIM_DO_PAUSE,
    SIM_DO_RESUME,
    SIM_DO_PART, /* a partition or a cut begins */
    SIM_DO_HEAL,
    SIM_DO_SUSPECT, /* a false suspicion: node accuses peer */
    SIM_DO_TRUST,
    SIM_DO_RESIGN,   /* node 0: the leader at that time */
    SIM_DO_TRANSFER, /* the same, to peer */
    SIM_DO_FACT,
    SIM_DO_JUMP,
    SIM_DO_CHANGE, /* the next record of the members is decided, as soon as it can be */
};

struct sim_command {
    sim_time at;
    uint64_t order;                   /* the order given, for equal times */
    const struct sim_setting *source; /* the setting it comes from; NULL: a default of the plan */
    enum sim_command_type type;
    el_node node; /* 0 in SUSPECT and TRUST: everybody else; in CRASH, RESIGN, TRANSFER: the leader */
    el_node peer;
    union {
        uint32_t break_number; /* PART, HEAL */
        sim_time until;        /* PAUSE */
        bool wiped;            /* RESTART: its record is lost */
        int64_t leap;          /* JUMP */
        struct {               /* FACT */
            uint64_t value;
            uint32_t fact;
        };
    };
};

/*
 * A scripted run: the network and the timers do nothing by themselves; every move is a step. By steps: each
 * step takes one message delay, and timers fire when the script says so. By ticks: time passes only by a step
 * WAIT.
 */
enum sim_script { SIM_UNSCRIPTED, SIM_BY_STEPS, SIM_BY_TICKS };

enum sim_step_type {
    SIM_STEP_COMMAND, /* as in any other plan */
    SIM_STEP_DELIVER, /* the fate of a message in flight: arrives, hop fails, lost, duplicated */
    SIM_STEP_RETURN,
    SIM_STEP_LOSE,
    SIM_STEP_COPY,
    SIM_STEP_FIRE, /* a timer fires */
    SIM_STEP_WAIT,
    SIM_STEP_LOOP, /* the steps after this one lead back to it */
};

struct sim_step {
    const struct sim_setting *source;
    enum sim_step_type type;
    bool dying;    /* the node dies in this step ... */
    uint64_t acts; /* ... after this many of its SENDs and SAVEs; its new view is not seen */
    uint32_t *choices;
    size_t choice_count;
    union {
        struct sim_command command;
        struct {
            el_node from, to;
            uint32_t kind;
            uint64_t place; /* among equal messages in flight; 1: the oldest */
        };
        struct {
            el_node node;
            uint32_t timer, slot;
        };
        sim_time wait;
    };
};

/* A break in the network: one link one way, or sides that cannot reach each other. */
struct sim_break {
    el_node from, to; /* a cut; 0 if it is a partition */
    uint8_t *side;    /* [count + 1] the side of each node in a partition; 0: not named, reaches everybody */
    char *text;       /* as typed */
};

/* A slow link, one way: what is sent on it from `begin` until `end` takes longer. */
struct sim_slow {
    el_node from, to;
    sim_time extra, begin, end;
};

enum sim_delay_shape { SIM_DELAY_FIXED, SIM_DELAY_RANGE, SIM_DELAY_EXPONENTIAL };

struct sim_delay {
    enum sim_delay_shape shape;
    sim_time min, max, mean;
};

struct sim_miss {
    el_node node, peer; /* node never notices peer; 0: everybody, anybody */
};

enum sim_expect_type {
    SIM_EXPECT_LEADER, /* value: the id; SIM_NO_ID: no agreed leader */
    SIM_EXPECT_AGREEMENT,
    SIM_EXPECT_NO_AGREEMENT,
    SIM_EXPECT_MESSAGES, /* kind 0: all */
    SIM_EXPECT_TURNAROUND,
    SIM_EXPECT_VIOLATION,
    SIM_EXPECT_NO_VIOLATION,
    SIM_EXPECT_BROKEN, /* a property of the checker, by its name; value: its place among them */
    SIM_EXPECT_FAILED_HOPS,
    SIM_EXPECT_TERM,    /* the leader's term at the end; 0: nobody leads */
    SIM_EXPECT_REFUSED, /* how often the resource's guard refused a leader */
};
#define SIM_NO_ID UINT64_MAX

struct sim_expect {
    enum sim_expect_type type;
    uint32_t kind;    /* of message; of violation */
    uint64_t value;   /* an id, a count, a time */
    const char *text; /* as typed; borrowed from the settings */
};

struct sim_plan {
    const struct el_algorithm *algorithm;
    struct el_cluster cluster; /* points to the arrays below */
    uint64_t *ids, *attributes;
    uint8_t *roles;
    const char *const *names;  /* [count] of recorded agents, borrowed; NULL: not a recording */
    struct el_record *records; /* of the members, after the first */
    size_t record_count, change_count;
    struct el_value *options;
    el_node **member_lists; /* of the options that are lists */
    uint64_t seed;
    sim_time unit; /* T, one message delay */
    bool in_units; /* times are shown in T, not in milliseconds */
    struct sim_delay delay;
    sim_chance loss, duplicate, reorder;
    struct sim_delay disk;               /* how long a record takes to be saved; max 0: no time */
    sim_time detect;                     /* delay of the simulator's own detector; SIM_NEVER: it has none */
    const struct el_algorithm *detector; /* a detector machine beside every election; NULL: none */
    struct el_cluster detector_cluster;  /* the same members, with the detector's options */
    struct el_value *detector_options;
    struct sim_miss *misses;
    size_t miss_count;
    uint32_t *rates; /* [count + 1] rate of each clock in parts per million; NULL: all exact */
    el_node incumbent;
    struct sim_command *commands; /* in order of time */
    size_t command_count;
    struct sim_break *breaks;
    size_t break_count;
    struct sim_slow *slows;
    size_t slow_count;
    enum sim_script script;
    struct sim_step *steps;
    size_t step_count;
    const struct sim_settings *settings; /* borrowed; for errors that only the run finds */
    struct sim_expect *expects;
    size_t expect_count;
    uint32_t judged; /* el_claim bits beyond the algorithm's own: violations that are expected are looked for */
    sim_time work;   /* how often a leader works on a guarded resource; 0: there is none */
    sim_time mercy;  /* the uptime that halves the penalty for failures; 0: failures do not lower the rank */
    uint64_t detector_seed; /* separate, since groups have their own seeds and share one detector */
    sim_time until;         /* SIM_NEVER: to the end */
    sim_time settle;  /* where something always is under way: at rest when nothing has changed for so long */
    sim_time horizon; /* a run still busy then is endless */
    uint64_t event_max;
};

/* 0, or -1 with the error filled in; the settings must outlive the plan. */
int sim_plan_build(struct sim_plan *plan, const struct sim_settings *settings, struct sim_error *error);
/* The same with this algorithm, registered or not, unless the settings name another. */
int sim_plan_build_for(struct sim_plan *plan, const struct el_algorithm *algorithm,
                       const struct sim_settings *settings, struct sim_error *error);
void sim_plan_free(struct sim_plan *plan);

/* The node with this id, or nobody. */
el_node sim_plan_node(const struct sim_plan *plan, uint64_t id);

/* A time for people: "3.5", or "12.25 ms" if the plan uses real units. */
#define SIM_TIME_TEXT 32
const char *sim_time_text(const struct sim_plan *plan, sim_time time, char text[SIM_TIME_TEXT]);

#endif
