/*
 * Everything that descends from a command: to signal it, and to know for sure that nothing of it is left.
 *
 * Whoever calls these is a child subreaper (PR_SET_CHILD_SUBREAPER), so what is orphaned below it becomes its child,
 * and "no children" (ECHILD) means that nothing is left, whatever sessions and groups were made. Where the caller has
 * children of its own besides, it says which to spare; then a list of its children with none but those is the proof:
 * a child leaves that list only when the caller reaps it, and who is orphaned joins it before its parent can be
 * reaped. The leader of the group is reaped last: as long as its process id is taken, signals to the group cannot reach a
 * stranger.
 */
#ifndef ELECTOR_SUPERVISE_TREE_H
#define ELECTOR_SUPERVISE_TREE_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct supervise_tree {
    pid_t leader; /* of the process group: the command itself; 0: not yet started */
    bool leader_ended, leader_reaped;
    int leader_code, leader_status; /* of siginfo_t, once it has ended */
    int leader_stopped_by;          /* job control: the signal, until it is read and set to 0 */
    bool empty;                     /* nothing is left */
    char cgroup[PATH_MAX];          /* empty: there is none */
    bool (*spares)(pid_t child);    /* a child of the caller that is none of this; NULL: there are none */
};

/* To the process group alone. */
void supervise_tree_signal(const struct supervise_tree *, int signal);

/* To the group, the control group (SIGKILL) and whatever else descends from the caller. */
void supervise_tree_signal_all(const struct supervise_tree *, int signal);

/* Takes in what has ended. */
void supervise_tree_reap(struct supervise_tree *);

/* A control group of its own below ours, where the system allows it; else the name is empty. */
void supervise_cgroup_make(struct supervise_tree *);
void supervise_cgroup_join(const struct supervise_tree *); /* the calling process */
void supervise_cgroup_kill(const struct supervise_tree *);
void supervise_cgroup_remove(struct supervise_tree *);

#endif
