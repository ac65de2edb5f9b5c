/* elector run: what was asked for, and the loop that does it. */
#ifndef ELECTOR_RUN_H
#define ELECTOR_RUN_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "elector.h"
#include "rank.h"
#include "supervise.h"

enum run_restart { RUN_NEVER, RUN_ON_FAILURE, RUN_ALWAYS };

enum { RUN_NOT_ELECTED = 1, RUN_LOST = 75 }; /* exit codes, unless -E says another */

struct run_request {
    const char *group, *url, *value;
    char **command; /* ends with NULL; borrowed */
    uint64_t priority;
    uint64_t preempt_after_ns; /* UINT64_MAX: never */
    struct rank rank;
    bool ranked, once, no_wait, waits, quiet, verbose;
    uint64_t wait_ns, stop_timeout_ns;
    int exit_code; /* -1: the usual ones */
    enum run_restart restart;
};

/* 0, or the exit code with a message. */
int run_read_request(struct run_request *, int argc, char **argv);
void run_write_help(void);

/* Where to campaign: as asked, as the environment says, the agent if it is there, else a folder on this host. */
bool run_find_url(const struct run_request *, char *url, size_t size);

enum run_state {
    RUN_APART,    /* no connection; to be tried again */
    RUN_CAMPAIGN, /* waits to be elected */
    RUN_WORK,     /* leads, and the command runs */
    RUN_STOPPING, /* something of the command is left, and is to end */
    RUN_PAUSE,    /* leads, and nothing runs: the command is to be started, at once or after a while */
    RUN_LEAVING,  /* the work is stopped and this was said; another is about to lead */
    RUN_DONE,
};

enum run_end { RUN_ENDED, RUN_LOSES, RUN_HANDS_OVER }; /* why it is stopping */

struct run {
    const struct run_request *request;
    char url[PATH_MAX];
    elector *elector; /* NULL: none */
    bool broken;      /* the connection is; to be closed when nothing runs */
    enum run_state state;
    int exit_code;     /* once it is RUN_DONE */
    int ending_signal; /* somebody wants an end: neither restart nor campaign again */

    /* The office. Instants are on CLOCK_BOOTTIME; 0 is never. */
    uint64_t token, deadline_ns, lease_ns; /* lease_ns: the longest left that was seen */
    uint64_t term_at_ns, kill_at_ns;       /* TERM and KILL before the deadline */
    uint64_t look_at_ns;                   /* to see whether it has moved on, of which nobody tells */
    bool stop_asked, lost, another_leads;
    char reason[128];

    /* The work. */
    struct supervise work;
    struct supervise_command command;
    enum run_end end;
    int status; /* of the command */
    pid_t pid;  /* its own */
    bool exec_failed, killed, has_terminal;
    uint64_t started_ns, backoff_ns;

    uint64_t give_up_ns; /* waiting to be elected */
    uint64_t next_ns;    /* what the state waits for: retry, restart, KILL, force */
    uint64_t retry_ns;   /* between attempts to connect */

    int signals, timer;
};

/* Until the end; the exit code. */
int run_loop(struct run *);

/* "elector run: GROUP: text". */
void run_say(const struct run *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- The office (run_office.c) -------------------------------------------------------------------- */

void run_connect(struct run *);  /* and campaign */
void run_dispatch(struct run *); /* hears what the library has to say */
void run_renew(struct run *);    /* the deadline may have moved on */
bool run_leads(const struct run *);
void run_leave(struct run *); /* the answer to STOP */
void run_rejoin(struct run *);
void run_finish(struct run *, int exit_code);
void run_let_go(
    struct run *); /* nothing runs, and nothing will under this connection: a guardian that asks is told */

/* ---- The work (run_work.c) ------------------------------------------------------------------------ */

void run_start(struct run *);
void run_stop(struct run *, enum run_end);
void run_press(struct run *); /* while stopping: KILL, and more, when it is time */
void run_read_news(struct run *);
void run_suspend(struct run *, int signal); /* job control: stops the command and ourselves, until we go on */

#endif
