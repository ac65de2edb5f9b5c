/*
 * The guarantees of a quorum configuration, by pure arithmetic from docs/quorum-protocol.md (the inequality,
 * "Failover, measured", Q21, Q22) and docs/run.md (when work is stopped). Times are in ns. A bound holds if
 * messages take at most `transmit` and none is lost; each lost exchange costs up to one re-ask more.
 * bounds.c computes, bounds_settings.c takes the settings from a configuration.
 */
#ifndef ELECTOR_CLI_CLUSTER_BOUNDS_H
#define ELECTOR_CLI_CLUSTER_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/config/config.h"

struct bounds_settings {
    uint64_t lease, beat, margin, reask, stagger; /* D, h, g, r, δ */
    uint64_t transmit, process;                   /* o, and the time in which an agent handles a message */
    bool is_realtime;                             /* SCHED_FIFO and locked memory are asked for */
    uint32_t drift;                               /* ρ, in millionths */
    uint32_t block;
    uint32_t voters, witnesses, observers; /* voters: those that may lead */
    uint32_t candidates;                   /* they may lead, and have no vote */
};

enum bounds_event {
    BOUNDS_WORKER_CRASH,
    BOUNDS_TRANSFER,
    BOUNDS_RESIGN,
    BOUNDS_AGENT_CRASH_GUARDED,
    BOUNDS_AGENT_CRASH,
    BOUNDS_HOST_SILENT,
    BOUNDS_MAJORITY_BACK,
    BOUNDS_ALL_RESTART,
    BOUNDS_FOLLOWER_RESTARTS,
    BOUNDS_EVENTS
};

enum bounds_warning {
    BOUNDS_ONE_VOTE,       /* a single vote: no failover at all */
    BOUNDS_TWO_VOTES,      /* no member may fail */
    BOUNDS_EVEN,           /* tolerates no more failures than one vote less */
    BOUNDS_ONE_CANDIDATE,  /* nobody to fail over to */
    BOUNDS_MANY_WITNESSES, /* the tolerated failures may include every member that may lead */
    BOUNDS_SHORT_LEASE,    /* a stall of the agent below 200 ms costs the leadership */
    BOUNDS_FEW_LOSSES,     /* two lost exchanges in a row cost the leadership */
    BOUNDS_SHORT_STOP,     /* the work has less than 100 ms to end by itself */
    BOUNDS_SMALL_MARGIN,   /* less than 10 ms between the last instant of the work and the end of the lease */
    BOUNDS_SMALL_DRIFT,    /* the kernel alone may adjust clocks by 0.0005 */
    BOUNDS_LARGE_BLOCK,    /* terms may get ahead of the wall clock */
    BOUNDS_WARNINGS
};

struct bounds_votes {
    uint32_t votes, majority, failures;
    uint32_t candidate_failures; /* tolerated failures of members that may lead: one and a majority remain */
};

struct bounds {
    struct bounds_votes count;
    uint64_t promise;   /* P */
    uint64_t detection; /* until a silent leader is suspected */
    uint64_t bounds[BOUNDS_EVENTS];
    uint64_t support_back;       /* until the vote of a restarted member counts again */
    uint64_t term_at, kill_at;   /* SIGTERM and SIGKILL of `elector run`, after the last renewal */
    uint64_t deadline;           /* the work is over, after the last renewal */
    uint32_t losses, run_losses; /* exchanges lost in a row: leadership kept, and the work not disturbed */
    uint64_t stall, run_stall;   /* how long the leader's agent may stall, likewise */
    uint32_t work_drift;         /* millionths: beyond this drift the work of two leaders may overlap */
    /* Packets in 1,000 s: of a voter's agent, of a candidate's (role = candidate; 0 without one), of all. */
    uint64_t packets_sent, packets_of_candidate, packets_all;
    bool warnings[BOUNDS_WARNINGS];
};

/* Whether the section's groups have bounds: those of quorum have. NULL: the groups without a section. */
bool bounds_are_of(const struct config_group *section);
struct bounds_settings bounds_settings_of(const struct config *, const struct config_group *section);
/* The shortest run_stall of all sections, and of the groups without one; UINT64_MAX: none has a lease. */
uint64_t bounds_shortest_stall(const struct config *);
uint32_t bounds_role_count(const struct config *, enum config_role);

struct bounds_votes bounds_count(uint32_t voters, uint32_t witnesses, uint32_t candidates);
/* The settings have passed the configuration's own checks, so no sum overflows. */
struct bounds bounds_of(const struct bounds_settings *);

/* That no lease outlives the promises behind it, whatever the clocks do within the drift; and what the blocks of terms need, unless
 * that is a warning. False: there are not so many. */
bool bounds_inequality(const struct bounds_settings *, const struct bounds *, uint32_t number,
                       struct config_inequality *);

extern const struct bounds_event_texts {
    const char *name;    /* "worker-crash" */
    const char *text;    /* "a worker crashes" */
    const char *formula; /* "2 (o + 1 ms)" */
    const char *remark;  /* to print after the bound; NULL: none */
} bounds_events[BOUNDS_EVENTS];
extern const struct bounds_warning_texts {
    const char *name, *text; /* what, and what to do */
} bounds_warnings[BOUNDS_WARNINGS];

#endif
