/*
 * Runs a command until a deadline, and kills everything that the command started.
 *
 * Between the supervisor (`elector run`) and the command stands a keeper, a small process of ours:
 *
 *     elector run ── keeper ── command (a process group of its own) ── whatever it starts
 *
 * The keeper kills everything below it when the supervisor dies, when the time of SIGKILL on a page that the two share has
 * passed, or when the guardian asks. So the command stops in time even if the supervisor is stopped, hangs or is
 * killed. The keeper inherits the supervisor's descriptors: if the supervisor is killed, the lock or connection that
 * holds leadership stays open until the keeper has killed the command and exited. If the keeper dies, the command
 * dies with it (PR_SET_PDEATHSIG), and the supervisor, a subreaper too, kills and reaps the rest.
 *
 * A tenure may have hooks: one before the command starts and one after it has ended. Then the keeper is opened before
 * either, runs both, and in between starts the command as often as it is told to. Whatever ends the tenure, the last
 * hook runs once, after all other processes are gone and before the keeper exits. If the supervisor died or
 * hangs, or the guardian asks, the keeper runs the last hook by itself. It kills the hook when the lease expires. A hook
 * that could begin only after that, because the host slept, has its usual time: late is better than never.
 *
 * This room may know base/ and the guardian's header. It does not know the library or elections: its caller passes the end
 * of the lease and decides when to stop.
 *
 * Start reading here, then:
 *   supervise.c     the supervisor's side
 *   keeper.c        the keeper's process: starts the command, and kills it in time
 *   stop_times.c    when SIGTERM and SIGKILL are due, from the end of the lease
 *   tree.c, cgroup.c   signal and reap all descendants of the command
 *   line.c          when an agent dies, its guardian asks the keepers, not the supervisor, which may hang
 *   helper_command.c   hooks and health checks
 */
#ifndef ELECTOR_SUPERVISE_SUPERVISE_H
#define ELECTOR_SUPERVISE_SUPERVISE_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "supervise/line.h"
#include "supervise/stop_times.h"
#include "supervise/tree.h"

/* Shared by the supervisor, the keeper and, until it executes, the command. */
struct supervise_page {
    _Atomic uint64_t kill_at_ns; /* on CLOCK_BOOTTIME; 0: no limit */
    _Atomic uint64_t end_at_ns;  /* of the lease, on CLOCK_BOOTTIME; 0: none */
    _Atomic pid_t command;
    _Atomic int exec_error;  /* errno of execvp(); 0: none */
    _Atomic bool overdue;    /* the keeper has killed the command, by its deadline or for the guardian */
    _Atomic bool is_counted; /* in the line's number of works */
};

struct supervise_hook {
    const char *name;   /* for messages */
    char *const *words; /* for execvp; NULL: there is none */
    char *variables[2]; /* "NAME=VALUE" */
};

struct supervise_command {
    char about[96];     /* prefix of the keeper's messages */
    char *const *words; /* for execvp; NULL: there are hooks only */
    struct supervise_hook first, last;
    uint64_t hook_timeout_ns;
    const char
        *end_variable;   /* gets the end of the lease when a program of an open keeper starts; NULL: none */
    sigset_t signals;    /* blocked in the command */
    bool ignores_pipe;   /* SIGPIPE is ignored, as it was for us */
    bool is_realtime;    /* the keeper asks for real-time scheduling; what it starts is ordinary */
    bool takes_terminal; /* the command becomes the foreground group of the terminal at descriptor 0 */
    struct supervise_line *line; /* of the connection; borrowed until all its works have ended; NULL: none */
    int connection; /* the socket by which leadership is held: ended if the supervisor hangs; 0: none */
};

enum supervise_report {
    SUPERVISE_NOTHING, /* to report for now */
    SUPERVISE_FAILED,  /* the command could not be executed; value: errno */
    SUPERVISE_EXITED,  /* the command exited; value: its exit code, or 128 plus the signal */
    SUPERVISE_STOPPED, /* the command was stopped by job control; value: the signal */
    SUPERVISE_EMPTY, /* no process is left; value: how many that the command had left behind a signal ended, if above 0. The
                        * last report, unless an open keeper lives on (`keeper`) */
    SUPERVISE_CLOSED, /* of an open keeper, the last one; value: how the last hook ended, see below */
};

/* How a hook ended: the status of waitpid(), or one of these. */
enum {
    SUPERVISE_WAS_KILLED = -1,  /* it took too long, or was no longer needed */
    SUPERVISE_KEEPER_DIED = -2, /* it may not have run: the supervisor is to run it */
};

/* Zeroed: nothing runs. */
struct supervise {
    pid_t keeper;         /* 0: nothing runs */
    pid_t exiting_keeper; /* has reported SUPERVISE_EMPTY and is to be reaped; 0: none */
    int socket;           /* to the keeper; to be polled for input */
    bool abandoned;       /* the keeper died or hangs; we kill and reap ourselves */
    bool reported_exit;
    bool is_open;      /* the keeper outlives the command, until supervise_finish() or the end of the tenure */
    bool runs;         /* with an open keeper: the command or the first hook */
    bool is_finishing; /* supervise_finish() was called */
    struct supervise *next; /* in the list of all that run */
    struct supervise_line *line;
    struct supervise_page *page;
    struct supervise_tree tree;
};

/* Once, first of all. False: the kernel is too old. */
bool supervise_init(void);

/*
 * 0, or errno. `kill_at_ns` as in the page. The command inherits our environment. There may be many works at a time;
 * none may be moved in memory before SUPERVISE_EMPTY.
 */
int supervise_start(struct supervise *, const struct supervise_command *, uint64_t kill_at_ns);
/* A keeper without a command yet. supervise_start() then starts the command in it, as often as it is called. */
int supervise_open(struct supervise *, const struct supervise_command *, uint64_t kill_at_ns);
/* Starts the first hook in an open keeper. Its EXITED has a status as that of CLOSED. EMPTY follows, as for the command. */
void supervise_start_first(struct supervise *);
/* Lets an open keeper run the last hook and exit: CLOSED follows. Nothing else may run. */
void supervise_finish(struct supervise *);
/* A command or a first hook has started, and EMPTY was not reported. */
bool supervise_is_running(const struct supervise *);
void supervise_reap_keeper(
    struct supervise *); /* a keeper that has said SUPERVISE_EMPTY; supervise_start() does so, too */
void supervise_set_kill_time(struct supervise *, uint64_t kill_at_ns);
void supervise_set_end(struct supervise *, uint64_t end_at_ns); /* of the lease; 0: none */
void supervise_signal(struct supervise *, int signal);          /* to the process group */
void supervise_stop(struct supervise *);                        /* SIGTERM to all of it */
void supervise_kill(struct supervise *);                        /* SIGKILL to all of it */

/*
 * Kills the keeper, which does not answer, and all processes of the command. Call supervise_read() every few
 * milliseconds then, until SUPERVISE_EMPTY.
 */
void supervise_abandon_keeper(struct supervise *);

/* Never blocks. Call it until SUPERVISE_NOTHING. */
enum supervise_report supervise_read(struct supervise *, int *value);

/*
 * Sets which children of the supervisor are its own, and not orphans of a dead keeper: they are neither killed nor
 * reaped. Living keepers are always spared.
 */
void supervise_spare_children(bool (*is_ours)(pid_t child));

/*
 * Reaps orphans that became children of the supervisor: what hooks and health checks have left behind, and everything
 * foreign in a container whose process 1 we are. Call it after SIGCHLD.
 */
void supervise_reap_orphans(void);

/* Before a line is freed that living works were started with. */
void supervise_forget_line(const struct supervise_line *);

uint64_t supervise_now_ns(void); /* CLOCK_BOOTTIME */

/* ---- Between the supervisor and the keeper -------------------------------------------------------- */

/* Orders to the keeper: a signal number for the process group, or one of these. */
enum {
    SUPERVISE_STOP_ALL = 1000,
    SUPERVISE_KILL_ALL,
    SUPERVISE_START,
    SUPERVISE_START_FIRST,
    SUPERVISE_FINISH
};

struct supervise_message {
    int kind, value;
};

/* The keeper's process, from fork to exit. work->is_open says of which kind it is. */
_Noreturn void supervise_run_keeper(struct supervise *, const struct supervise_command *);

#endif
