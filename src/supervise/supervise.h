/*
 * A command that runs only while it may.
 *
 * Between the supervisor (`elector run`) and the command stands a keeper, a small process of ours:
 *
 *     elector run ── keeper ── command (a process group of its own) ── whatever it starts
 *
 * The keeper kills everything below it when the supervisor dies, and when the instant is past that the supervisor last
 * wrote to a page which the two share: so it does not matter whether the supervisor is stopped, hangs or is gone. It
 * inherits the supervisor's descriptors: a lock or a connection by which leadership is held outlives a supervisor that
 * is killed, until the keeper has ended the work and itself. If the keeper dies, the command dies with it
 * (PR_SET_PDEATHSIG) and the supervisor, which is a subreaper too, kills and reaps the rest.
 *
 * When the agent dies its guardian speaks to the keepers, not to the supervisor, which may hang: see line.h.
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
    _Atomic pid_t command;
    _Atomic int exec_error;  /* errno, if it could not be executed */
    _Atomic bool overdue;    /* the keeper has killed it, for the time was up, or the agent is dead */
    _Atomic bool is_counted; /* by the line */
};

struct supervise_command {
    char about[96];              /* begins the keeper's messages */
    char *const *words;          /* for execvp */
    sigset_t signals;            /* the signals that it blocks */
    bool ignores_pipe;           /* SIGPIPE is ignored, as it was for us */
    bool takes_terminal;         /* it becomes the foreground of the terminal at descriptor 0 */
    struct supervise_line *line; /* of all works of a connection; borrowed until all have ended; NULL: none */
};

enum supervise_report {
    SUPERVISE_NOTHING, /* for now */
    SUPERVISE_FAILED,  /* it could not be executed; errno */
    SUPERVISE_EXITED,  /* the command itself; its exit code, or 128 and the signal's number */
    SUPERVISE_STOPPED, /* by job control; the signal */
    SUPERVISE_EMPTY,   /* nothing is left of it, and the keeper is about to exit: the last news */
};

/* Zeroed: nothing runs. */
struct supervise {
    pid_t keeper; /* 0: nothing runs */
    pid_t
        exiting_keeper; /* the last one: nothing is below it, and it is reaped when there is time; 0: it was */
    int socket;         /* to the keeper; to be polled for input */
    bool abandoned;     /* the keeper is given up; we do it ourselves */
    bool reported_exit;
    struct supervise *next; /* of all that run */
    struct supervise_line *line;
    struct supervise_page *page;
    struct supervise_tree tree;
};

/* Once, before all. False: the kernel is too old. */
bool supervise_init(void);

/*
 * 0, or errno. `kill_at_ns` as in the page. The environment is our own. There may be many works at a time; each stays
 * where it is until SUPERVISE_EMPTY.
 */
int supervise_start(struct supervise *, const struct supervise_command *, uint64_t kill_at_ns);
void supervise_reap_keeper(
    struct supervise *); /* a keeper that has said SUPERVISE_EMPTY; supervise_start() does so, too */
void supervise_set_kill_time(struct supervise *, uint64_t kill_at_ns);
void supervise_signal(struct supervise *, int signal); /* to the process group */
void supervise_stop(struct supervise *);               /* SIGTERM to all of it */
void supervise_kill(struct supervise *);               /* SIGKILL to all of it */

/*
 * As supervise_kill(), without the keeper's help: for one that does not answer. Call supervise_read() again and again
 * then, every few milliseconds.
 */
void supervise_abandon_keeper(struct supervise *);

/* Never waits. Until SUPERVISE_NOTHING, there may be more. */
enum supervise_report supervise_read(struct supervise *, int *value);

/*
 * Children of the supervisor that are not to be taken for what a dead keeper has left: false unless told otherwise. A
 * keeper that lives is spared without being asked for.
 */
void supervise_spare_children(bool (*is_ours)(pid_t child));

uint64_t supervise_now_ns(void); /* CLOCK_BOOTTIME */

/* ---- Between the supervisor and the keeper -------------------------------------------------------- */

/* Orders are signal numbers, and these. */
enum { SUPERVISE_STOP_ALL = 1000, SUPERVISE_KILL_ALL };

struct supervise_message {
    int kind, value;
};

/* The keeper's life, in its own process. */
_Noreturn void supervise_run_keeper(struct supervise *, const struct supervise_command *);

#endif
