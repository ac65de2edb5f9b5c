/*
 * elector run: what was asked for, and the loop that does it.
 *
 * A runner is the process: one connection, one loop, one health check. A run is one group of it, with its own state, work
 * and hooks. One group is the usual case; --group makes many.
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

enum { RUN_EXIT_NOT_ELECTED = 1, RUN_EXIT_LOST = 75 }; /* exit codes, unless -E says another */

/* What hooks are run for, in the order in which they happen to a group. */
enum run_hook_kind { RUN_HOOK_ELECTED, RUN_HOOK_LOST, RUN_HOOK_LEADER, RUN_HOOK_KINDS };

struct run_request {
    struct run_groups *groups; /* owned; one at least */
    const char *url, *value;
    char **command; /* ends with NULL; borrowed; NULL: none, hooks do it */
    uint64_t priority;
    uint64_t preempt_after_ns; /* UINT64_MAX: never */
    struct rank rank;
    bool has_rank, has_priority, spread, once, no_wait, has_wait, quiet, verbose;
    uint64_t wait_ns, stop_timeout_ns;
    int exit_code; /* -1: the usual ones */
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

/* Where to campaign: as asked, as the environment says, the agent if it is there, else a folder on this host. */
bool run_find_url(const struct run_request *, char *url, size_t size);

enum run_state {
    RUN_DISCONNECTED, /* no connection; to be tried again */
    RUN_UNHEALTHY,    /* does not stand, since the health check fails or has not yet passed */
    RUN_CAMPAIGN,     /* waits to be elected */
    RUN_WORK,         /* leads, and the command runs */
    RUN_STOPPING,     /* something of the command is left, and is to end */
    RUN_READY,        /* leads, and nothing runs: the command is to be started, at once or after a while */
    RUN_ON_LOST,      /* nothing runs any more; --on-lost does, and holds the leadership as long as we lead */
    RUN_LEAVING,      /* the work is stopped and this was said; another is about to lead */
    RUN_DONE,
};

/* Why it is stopping. */
enum run_end { RUN_ENDED, RUN_LOSES, RUN_HANDS_OVER, RUN_GIVES_UP };

enum { RUN_HOOKS_WAITING = 16 };

struct run_hook {
    enum run_hook_kind event;
    uint64_t token, deadline_ns;
    char leader[ELECTOR_NAME_MAX + 1];
    bool is_me; /* who leads */
};

/* The hooks of a group: one at a time, in the order elected, lost, (a new) leader. */
struct run_hooks {
    struct run_hook list[RUN_HOOKS_WAITING]; /* the first runs, if one does */
    size_t count;
    bool announced;        /* elected was, and lost is to follow */
    struct run_hook heard; /* who leads, until it is in order to tell it */
    bool has_heard;
    struct helper_command helper;
};

struct runner;

struct run {
    struct runner *runner;
    const struct run_request *request;
    const char *group;
    enum run_state state; /* RUN_DISCONNECTED at first */
    int exit_code;        /* once it is RUN_DONE */
    int ending_signal;    /* somebody wants an end: neither restart nor campaign again */

    /* The leadership. Instants are on CLOCK_BOOTTIME; 0 is never. */
    uint64_t token, deadline_ns, lease_ns; /* lease_ns: the longest left that was seen */
    uint64_t term_at_ns, kill_at_ns;       /* TERM and KILL before the deadline */
    uint64_t look_at_ns;                   /* to see whether it has moved on, of which nobody tells */
    uint64_t elected_ns;                   /* since when it leads */
    bool stop_asked, lost, another_leads;
    bool hands_over,
        told_alone; /* it has asked to hand over; it wanted to, and was told that nobody else stands */
    char reason[128];

    /* Preference: after tenures that were short it stands behind all others for a while. */
    uint64_t penalised_until_ns; /* 0: it is not */
    unsigned penalties, quick_failures;
    uint64_t tried_at_failure; /* the failing check after which it tried last to hand over */

    struct spread_watch watch;

    /* The work. */
    struct supervise work;
    enum run_end end;
    int status; /* of the command */
    pid_t pid;  /* its own */
    bool exec_failed, killed, has_terminal;
    uint64_t started_ns, backoff_ns;
    uint64_t next_ns; /* what the state waits for: restart, KILL, force */

    struct run_hooks hooks;
};

struct runner {
    const struct run_request *request;
    char url[PATH_MAX];
    char id[ELECTOR_NAME_MAX + 1]; /* this member; empty: not known yet */
    elector *elector;              /* NULL: none */
    bool broken;                   /* the connection is; to be closed when nothing runs */
    struct run *runs;
    size_t count;
    struct supervise_command command;
    uint64_t give_up_ns; /* waiting to be elected */
    uint64_t retry_ns;   /* between attempts to connect */
    uint64_t connect_ns; /* when to connect; 0: at once */

    /* Health: one check for all groups. */
    struct helper_command check;
    uint64_t check_ns; /* the next */
    uint64_t failures; /* in a row */
    bool healthy;      /* no check, or it has passed and did not fail too often since */

    struct json_lines *json_lines; /* to ask with, where it is an agent; NULL: not open */
    struct spread spread;          /* of all groups, in the order of runs; where it is asked for */
    uint64_t spread_ns;
    unsigned spread_turn;

    int signals, timer;
};

/* Until the end; the exit code. */
int run_loop(struct runner *);

/* "elector run: GROUP: text". */
void run_say(const struct run *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The sooner of two instants; 0 is never. */
uint64_t run_earlier(uint64_t, uint64_t);

/* ---- The leadership (leadership.c) -------------------------------------------------------------------- */

void run_connect(struct runner *);    /* and campaign; when all are RUN_DISCONNECTED */
void run_dispatch(struct runner *);   /* hears what the library has to say */
void run_campaign(struct run *);      /* campaigns, if it is well */
void run_read_deadline(struct run *); /* the deadline may have moved on */
bool run_leads(const struct run *);
void run_leave(struct run *); /* the answer to STOP */
void run_campaign_again(struct run *);
void run_finish(struct run *, int exit_code);
/* Nothing runs, and nothing will under this connection: a guardian that asks is told. */
void run_close_line(struct runner *);

/* ---- The work (work.c) ------------------------------------------------------------------------ */

void run_find_member_id(struct run *);
void run_start(struct run *);
void run_stop(struct run *, enum run_end);
void run_kill_when_due(struct run *); /* while stopping: KILL, and more, when it is time */
void run_read_keeper(struct run *);
void run_end_tenure(struct run *, enum run_end); /* nothing runs: the tenure is over */
void run_release(struct run *);                  /* after that: the leadership is given up */
void run_suspend(struct runner *, int signal);   /* job control: stops commands and ourselves, until we go on */
/* For the command and the hooks; ELECTOR_EVENT and ELECTOR_LEADER are the hooks' own. */
void run_set_environment(struct run *, uint64_t token, uint64_t deadline_ns);

/* ---- Beside the work (hooks.c, health.c) -------------------------------------------------- */

void run_notify_elected(struct run *);
void run_notify_lost(struct run *); /* once for each elected; before it, nobody else is told of as the leader */
void run_notify_leader(struct run *, const elector_leader *);
void run_poll_hooks(struct run *);                                /* starts the next when the last has ended */
bool run_hook_is_pending(const struct run *, enum run_hook_kind); /* or runs */

void run_poll_health(struct runner *);

/* ---- Others (candidates.c, spread.c) ----------------------------------------------------------- */

/* Who else could lead this group, with which priority: the best of them. False: nobody, or nobody can tell. */
bool run_find_successor(struct run *, char *name, uint64_t *priority);
/* Who stands for this group, which is number `group` of those to be spread; nobody, if the agent does not say. */
void run_read_candidates(struct run *, struct spread *, size_t group);
bool run_has_agent(const struct runner *);
bool run_ask_member_id(struct runner *); /* false: it did not answer */
void run_close_queries(struct runner *);
/* Hands over to the best other candidate, since we are no good. False, with a line: there is none. */
bool run_hand_over(struct run *, const char *why);
void run_penalise(struct run *); /* the tenure was short, and the fault was ours */
void run_spread(struct runner *);

#endif
