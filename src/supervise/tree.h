/*
 * All descendants of a command: signals them, and proves that none is left.
 *
 * The caller is a child subreaper (PR_SET_CHILD_SUBREAPER): orphans below it become its children. So "no children"
 * (ECHILD) proves that nothing is left, whatever sessions and groups were created. A caller with other children names
 * those to spare. Then the proof is a list of its children that has only those: a child leaves the list only when the
 * caller reaps it, and an orphan joins the list before its parent can be reaped. The leader of the process group is
 * reaped last: until then no other process can get its id, and signals to the group reach no stranger.
 */
#ifndef ELECTOR_SUPERVISE_TREE_H
#define ELECTOR_SUPERVISE_TREE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct supervise_tree {
    pid_t leader; /* of the process group: the command itself; 0: not started yet */
    bool leader_ended, leader_reaped;
    int leader_code, leader_status; /* si_code and si_status, once it has ended */
    int leader_stopped_by;          /* job control: the signal; the reader sets it to 0 */
    bool empty;                     /* nothing is left */
    unsigned left_killed;           /* processes that a signal ended after the leader had ended */
    char cgroup[PATH_MAX];          /* path; empty: none */
    bool (*spares)(pid_t child);    /* true: a child of the caller that is not of the command; NULL: none is */
};

/* To the process group only. */
void supervise_tree_signal(const struct supervise_tree *, int signal);

/* To the process group, the control group (SIGKILL only), and all other descendants of the caller. */
void supervise_tree_signal_all(const struct supervise_tree *, int signal);

/* Reaps what has ended; sets `empty`. */
void supervise_tree_reap(struct supervise_tree *);

/* Creates a control group below ours, if the system allows it; else the path is empty. */
void supervise_cgroup_make(struct supervise_tree *);
void supervise_cgroup_join(const struct supervise_tree *); /* the calling process */
void supervise_cgroup_kill(const struct supervise_tree *);
void supervise_cgroup_remove(struct supervise_tree *);

#endif
