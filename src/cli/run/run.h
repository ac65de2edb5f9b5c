/*
 * elector run: campaigns for one or many groups, and runs a command for each group that this host leads.
 *
 * This room uses the library (elector.h, client/), src/supervise, which runs and kills commands, the limits of agent/config, and
 * cli.h. url.c looks for an agent on this host, and candidates.c asks one which other members campaign.
 *
 * Start reading at run.c: the loop. Then:
 *   state.c      what a run does in each state; run_enter(), the only place that changes the state
 *   deadline.c   stops the command before the lease ends: when to send SIGTERM and SIGKILL
 *   command.c    starts the command, and handles its exit
 *   campaign.c   the connection to the library: campaigns, hears of events, resigns
 *   hooks.c, health.c, measure.c   --on-elected, --on-lost, --on-leader; --health-cmd; --rank
 *   candidates.c, spread.c, assignment.c   the other candidates, and --spread
 *   options.c, help.c, groups.c, url.c, rank.c   the command line
 *
 * A runner is the process: one connection, one loop, one health check. A run is one group of the runner, with its own
 * state, command and hooks.
 *
 * The states of a run, and every transition between them. run_enter() traps on any other transition, and
 * test/unit/cli/run/state.c compares it with this table.
 *
 *   DISCONNECTED -> DISCONNECTED  an attempt to connect failed; retry later
 *   DISCONNECTED -> UNHEALTHY     connected, and the health check has not passed, or --rank is measured
 *   DISCONNECTED -> CAMPAIGN      connected, and campaigning
 *   DISCONNECTED -> DONE          a signal, --wait is over, or an error that a retry will not mend
 *   UNHEALTHY    -> DISCONNECTED  the connection broke
 *   UNHEALTHY    -> CAMPAIGN      the health check has passed, and --rank is measured
 *   UNHEALTHY    -> DONE          as for DISCONNECTED; or the first measurement of --rank has failed
 *   CAMPAIGN     -> DISCONNECTED  the connection broke
 *   CAMPAIGN     -> UNHEALTHY     the health check failed too often; or a penalty is over, and --rank is measured again
 *   CAMPAIGN     -> CAMPAIGN      a penalty is over: campaign again, with the full priority
 *   CAMPAIGN     -> READY         elected
 *   CAMPAIGN     -> DONE          as for DISCONNECTED; --no-wait and another leads
 *   READY        -> WORK          --on-elected has ended, and the restart delay is over: the command is started
 *   READY        -> ON_LOST       leadership is lost or handed over, the health check fails, a signal, or no process could
 *                                 be created
 *   WORK         -> STOPPING      the command exited; or the lease ends soon, leadership is lost or handed over, the health
 *                                 check fails, or a signal
 *   STOPPING     -> READY         nothing of the command is left, it is to be restarted, and this host still leads
 *   STOPPING     -> ON_LOST       nothing of the command is left, and the tenure is over
 *   ON_LOST      -> LEAVING       --on-lost has ended or the lease has, and the agent had asked us to stop
 *   ON_LOST      -> DISCONNECTED  the same, and the connection is broken
 *   ON_LOST      -> UNHEALTHY     the same, connected: campaign again when the health check passes
 *   ON_LOST      -> CAMPAIGN      the same, healthy: campaign again
 *   ON_LOST      -> DONE          the same; the command exited for good, --once, a signal, or an error as for DISCONNECTED
 *   LEAVING      -> DISCONNECTED  the connection broke
 *   LEAVING      -> UNHEALTHY     the loss is confirmed, or 5 s are over: campaign again when the health check passes
 *   LEAVING      -> CAMPAIGN      the same, healthy; or this host is elected again at once
 *   LEAVING      -> DONE          the same; --once, a signal, or an error as for DISCONNECTED
 *
 *   state         entered by                           what happens on entry
 *   DISCONNECTED  wait_to_connect(), campaign.c        forgets the token; sets the time of the next attempt
 *   UNHEALTHY     run_campaign(), campaign.c           nothing
 *   CAMPAIGN      run_campaign(), campaign.c           sends the campaign; (from LEAVING: nothing, it is sent already)
 *   READY         begin_tenure(), state.c              reads token and deadline, queues --on-elected
 *                 restart_later(), command.c           sets the time of the restart
 *   WORK          run_start(), command.c               starts keeper and command
 *   STOPPING      run_stop(), deadline.c               SIGTERM to all processes of the command; sets the time of SIGKILL
 *   ON_LOST       run_end_tenure(), state.c            queues --on-lost
 *   LEAVING       run_leave(), campaign.c              tells the agent that the work has stopped
 *   DONE          run_finish(), state.c                sets the exit code, and ends the candidacy
 */
#ifndef ELECTOR_CLI_RUN_RUN_H
#define ELECTOR_CLI_RUN_RUN_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/run/assignment.h"
#include "cli/run/groups.h"
#include "cli/run/rank.h"
#include "elector.h"
#include "supervise/helper_command.h"
#include "supervise/supervise.h"

enum run_restart { RUN_NEVER, RUN_ON_FAILURE, RUN_ALWAYS, RUN_RESTART_DEFAULT };

enum { RUN_EXIT_NOT_ELECTED = 1, RUN_EXIT_LOST = 75 }; /* exit codes, unless -E gives another */

enum run_hook_kind { RUN_HOOK_ELECTED, RUN_HOOK_LOST, RUN_HOOK_LEADER, RUN_HOOK_KINDS };

/* The command line. */
struct run_request {
    struct run_groups *groups; /* owned; at least one */
    const char *url, *value;
    char **command; /* ends with NULL; borrowed; NULL: none, there are only hooks */
    uint64_t priority;
    uint64_t preempt_after_ns; /* UINT64_MAX: never */
    struct rank rank;
    bool has_rank, has_priority, spread, once, no_wait, has_wait, quiet, verbose;
    uint64_t wait_ns, stop_timeout_ns;
    uint64_t watchdog_ns; /* 0: none */
    int exit_code;        /* -1: the default ones */
    enum run_restart restart;
    struct helper_words *hooks[RUN_HOOK_KINDS]; /* NULL: none */
    uint64_t hook_timeout_ns;
    struct helper_words *health; /* NULL: none */
    uint64_t health_interval_ns, health_timeout_ns, health_failures;
    uint64_t penalty_ns; /* 0: none */
};

/* 0, or the exit code with a message. */
int run_read_request(struct run_request *, int argc, char **argv);
void run_free_request(struct run_request *);
void run_write_help(void); /* help.c */

/* --url, else $ELECTOR_URL, else the agent's default socket. Only if this host has no sign of an agent (url.h), a
 * folder of locks on this host, which is said even with --quiet. False: there is none, and a message says why. */
bool run_find_url(const struct run_request *, char *url, size_t size);

enum run_state {
    RUN_DISCONNECTED,
    RUN_UNHEALTHY, /* connected, but not a candidate: the health check has not passed, or --rank is being measured */
    RUN_CAMPAIGN, /* a candidate */
    RUN_READY,    /* leads; the command is to be started, at once or after a restart delay */
    RUN_WORK,     /* leads; the command runs */
    RUN_STOPPING, /* some process of the command is left and must end */
    RUN_ON_LOST, /* no process of the command is left; --on-lost runs, and holds leadership until the lease ends */
    RUN_LEAVING, /* the agent knows that the work has stopped; another host is about to lead */
    RUN_DONE,
};

enum { RUN_STATES = RUN_DONE + 1 };

enum { RUN_HOOKS_WAITING = 16 };

struct run_hook {
    enum run_hook_kind kind;
    uint64_t token, deadline_ns;
    char leader[ELECTOR_NAME_MAX + 1];
    bool is_me; /* the leader is this member */
};

/* The hooks of a group: one at a time, in the order elected, lost, new leader. */
struct run_hooks {
    struct run_hook list[RUN_HOOKS_WAITING]; /* the first one runs, if any does */
    size_t count;
    bool announced;        /* --on-elected was queued, and --on-lost must follow */
    struct run_hook heard; /* the latest leader, until it may be queued */
    bool has_heard;
    struct helper_command helper;
    bool in_keeper;           /* the first of the list runs in the keeper, not in the helper */
    uint64_t keeper_limit_ns; /* when to abandon a keeper whose hook does not end; 0: none runs */
    int status;               /* of the --on-elected that runs in the keeper */
};

/* What the agent was asked in order to hand over; the answers are events (candidates.c). */
enum run_asking_stage {
    RUN_ASKS_NOBODY,
    RUN_ASKS_FOR_CANDIDATES,
    RUN_KNOWS_CANDIDATES,
    RUN_ASKS_FOR_TRANSFER,
    RUN_IS_RELIEVED, /* the agent hands over */
    RUN_IS_REFUSED
};
enum run_asking_cause { RUN_ASKS_FOR_HEALTH, RUN_ASKS_FOR_FAILURES, RUN_ASKS_FOR_SPREAD };

struct run_asking {
    enum run_asking_stage stage;
    enum run_asking_cause cause;
    uint64_t until_ns;             /* without an answer it leads on */
    char to[ELECTOR_NAME_MAX + 1]; /* empty: nobody */
    uint64_t priority;             /* of `to` */
    char refusal[256];
};

struct runner;

struct run {
    struct runner *runner;
    const struct run_request *request;
    const char *group;
    enum run_state state; /* RUN_DISCONNECTED at first; changed by run_enter() alone */
    int exit_code;        /* in RUN_DONE */
    int ending_signal;    /* a signal asked for the end: neither restart nor campaign again */

    /* The leadership. Times are on CLOCK_BOOTTIME; 0: never. */
    uint64_t token, deadline_ns, lease_ns; /* lease_ns: the longest time left that was seen */
    struct stop_times stop;                /* when SIGTERM and SIGKILL are due, before the deadline */
    uint64_t read_deadline_ns;             /* when to read the deadline again; no event tells of a renewal */
    uint64_t elected_ns;
    bool stop_asked, lost, another_leads;
    bool is_unrenewed; /* the command was stopped because the lease was not renewed in time */
    struct run_asking asking;
    bool hands_over; /* the agent has agreed to hand over */
    bool told_alone; /* we have reported that there is nobody to hand over to */
    char reason[128];
    bool was_removed; /* from a store: a problem, so --quiet does not hide it */

    /* Penalties: after a short tenure, campaign with priority 0. */
    uint64_t penalised_until_ns; /* 0: no penalty */
    unsigned penalties, quick_failures;
    uint64_t tried_at_failure; /* number of the failed check after which we last tried to hand over */

    struct spread_watch watch;
    bool is_looked_at;           /* --spread has asked for its candidates */
    uint64_t wanted_measurement; /* the number of the measurement that the next campaign waits for */

    /* The command. */
    struct supervise work;
    bool exited; /* it stopped of its own accord */
    int status;
    pid_t pid;
    bool exec_failed, killed, has_terminal;
    uint64_t started_ns, backoff_ns;
    uint64_t stopping_ns; /* when it got SIGTERM */
    uint64_t
        next_ns; /* READY: the restart. STOPPING: SIGKILL, or the next attempt. LEAVING: the end of waiting */

    struct run_hooks hooks;
};

struct runner {
    const struct run_request *request;
    char url[PATH_MAX];
    char id[ELECTOR_NAME_MAX + 1]; /* of this member; empty: not known yet */
    elector *elector;              /* NULL: none */
    bool broken;                   /* the connection broke; it is closed when no command runs */
    struct run *runs;
    size_t count;
    struct supervise_command command;
    char leader_variable[ELECTOR_NAME_MAX + 20];
    uint64_t give_up_ns;          /* --wait or --no-wait; 0: never */
    uint64_t retry_ns;            /* back-off between attempts to connect */
    uint64_t connect_ns;          /* when to connect; 0: at once */
    uint64_t connecting_until_ns; /* the agent has not answered our hello; 0: it has, or was not asked */
    char refusal[256];            /* why the last attempt failed, as it was told; empty: not yet */

    /* One health check for all groups. */
    struct helper_command check;
    uint64_t check_ns; /* the next one */
    uint64_t failures; /* in a row */
    bool healthy;      /* no check is configured, or it has passed and has not failed too often since */

    /* --rank: one measurement at a time, for all groups. */
    struct helper_command measuring;
    int measured_fd;       /* its output */
    uint64_t measurements; /* how many have ended */
    uint64_t rank;         /* the last one that succeeded */
    bool is_ranked;        /* there was one */

    struct spread spread; /* --spread: all groups, in the order of runs */
    uint64_t spread_ns;
    unsigned spread_turn;
    size_t spread_awaited;           /* answers that have not come */
    bool spread_looks, spread_fails; /* a look at the groups is under way; some answer is none */

    int signals, timer;
};

/* The text without "GROUP: ": the library's messages begin with it, and so do the lines of run_say(). */
const char *run_without_group(const struct run *, const char *text);
/* "elector run: GROUP: text" on standard error. Never blocks (base/log/outlet.h). */
void run_say(const struct run *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The earlier of two times; 0 is never. */
uint64_t run_earlier(uint64_t, uint64_t);

/* ---- State (state.c) ------------------------------------------------------------------------------ */

bool run_may_enter(enum run_state from, enum run_state to);
void run_enter(struct run *, enum run_state); /* traps unless run_may_enter() */
void run_step(struct run *);                  /* until the state no longer changes */
void run_end_tenure(struct run *);            /* no process of the command is left */
void run_finish(struct run *, int exit_code);
/* In RUN_READY: neither --on-elected nor a hand-over has to end before the command may start at next_ns. */
bool run_waits_for_time_alone(const struct run *);

/* ---- Stopping in time (deadline.c) ---------------------------------------------------------------- */

bool run_leads(const struct run *);
uint64_t run_lease_end(const struct run *); /* as known last; 0: there is no lease */
void run_read_deadline(struct run *);       /* from the library; computes when SIGTERM and SIGKILL are due */
bool run_must_stop(const struct run *);     /* leadership is lost or handed over, or SIGTERM is due */
bool run_is_unrenewed(const struct run *);  /* it still leads, nobody asked it to stop, and SIGTERM is due */
void run_stop(struct run *);                /* SIGTERM to all processes of the command */
void run_kill_when_due(struct run *);       /* in RUN_STOPPING: SIGKILL, repeated until nothing is left */

/* ---- The library (campaign.c) --------------------------------------------------------------------- */

/* And campaign; when all runs are RUN_DISCONNECTED or RUN_DONE. Does not wait for an answer: call it again after each wait. */
void run_connect(struct runner *);
void run_dispatch(struct runner *); /* handles events of the library */
void run_campaign(struct run *);    /* if healthy, else RUN_UNHEALTHY */
void run_leave(struct run *);       /* tells the agent, which had asked for it, that the work has stopped */
void run_campaign_again(struct run *);
void run_resign(const struct run *); /* state.c: and says why */
/* Closes the guardian's line: no command runs, and none will be started over this connection. */
void run_close_line(struct runner *);

/* ---- The command (command.c) ---------------------------------------------------------------------- */

/* Before the campaign: exit code 0, or with a message 127 (not found) or 126 (cannot be executed). Not with --on-elected,
 * which may bring the command. */
int run_look_for_command(const struct run_request *);
void run_start(struct run *);
/* With --on-elected or --on-lost: opens a keeper for this tenure, unless there is one. 0, or errno. */
int run_open_keeper(struct run *);
void run_read_keeper(struct run *);            /* handles what the keeper reports */
bool run_is_to_restart(const struct run *);    /* by --restart and the exit status */
void run_suspend(struct runner *, int signal); /* job control: stops commands and ourselves, until SIGCONT */
/* For the command and the hooks. Hooks also get ELECTOR_EVENT and ELECTOR_LEADER. */
void run_set_environment(struct run *, uint64_t token, uint64_t deadline_ns);

/* ---- Hooks and health check (hooks.c, health.c) --------------------------------------------------- */

void run_notify_elected(struct run *);
void run_notify_lost(struct run *); /* once for each elected; --on-leader names no other leader before it */
void run_notify_leader(struct run *, const elector_leader *);
void run_poll_hooks(struct run *);                                /* starts the next when the last has ended */
bool run_hook_is_pending(const struct run *, enum run_hook_kind); /* waits or runs */
bool run_has_tenure_hooks(const struct run_request *);            /* --on-elected or --on-lost */
/* Of a hook in the keeper. The status is that of waitpid(), or SUPERVISE_WAS_KILLED or _KEEPER_DIED. */
void run_on_hook_end(struct run *, int status);
void run_on_lost_unasked(struct run *, int status); /* the keeper has run --on-lost of its own accord */

void run_poll_health(struct runner *);

/* ---- --rank (measure.c) --------------------------------------------------------------------------- */

void run_measure(struct run *);           /* before its next campaign */
bool run_is_measured(const struct run *); /* that measurement has ended, or none is needed */
void run_poll_measurement(struct runner *);

/* ---- Other candidates (candidates.c, spread.c) ---------------------------------------------------- */

bool run_has_agent(const struct runner *);    /* or the engine of a store, which is one to us; not a lock */
bool run_can_transfer(const struct runner *); /* to a named candidate */
/* Asks the agent, and hands over to the best other candidate; that there is none is reported once. For RUN_ASKS_FOR_FAILURES only to
 * one without a penalty. */
void run_hand_over(struct run *, enum run_asking_cause);
bool run_hand_over_to(struct run *, const char *to, enum run_asking_cause); /* false: it could not be asked */
bool run_is_asking(const struct run *);
void run_go_on_asking(struct run *);                           /* acts on the answer, or on its absence */
void run_hear_answer(struct run *, const elector_event *);     /* DONE of a call */
void run_note_candidates(struct run *, const elector_event *); /* for --spread */
void run_forget_answers(struct runner *);                      /* the connection is another: none will come */
void run_penalise(struct run *);                               /* the tenure was short, and it was our fault */
void run_spread(struct runner *);

#endif
