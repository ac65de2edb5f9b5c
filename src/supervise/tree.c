/* See tree.h. */
#define _GNU_SOURCE
#include "supervise/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/children.h"

enum { DEPTH_MAX = 16 };

/*
 * The children of all threads of a process. False: the kernel does not list them. The list of another process may
 * miss some while others end: it serves to send signals, and never proves that nothing is left.
 */
static bool list_children(struct children *children, pid_t parent)
{
    char path[320];
    if (parent == getpid())
        return children_read(children); /* we fork in one thread only, and this is quicker */
    children->count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    DIR *threads = opendir(path);
    if (!threads) return false;
    bool listed = false;
    for (const struct dirent *entry = readdir(threads); entry; entry = readdir(threads)) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent, entry->d_name);
        if (children_add(children, path)) listed = true;
    }
    closedir(threads);
    return listed;
}

/* If the kernel lists no children, only the process group is left, although its id may be reused. */
static bool children_are_listed(void)
{
    return access("/proc/thread-self/children", R_OK) == 0;
}

void supervise_tree_signal(const struct supervise_tree *tree, int signal)
{
    if (tree->leader > 0 && (!tree->leader_reaped || !children_are_listed())) kill(-tree->leader, signal);
}

static bool is_spared(const struct supervise_tree *tree, pid_t child)
{
    return tree->spares && tree->spares(child);
}

/* Members of the process group have got the signal already. */
static void signal_below(const struct supervise_tree *tree, pid_t parent, int signal, int depth)
{
    struct children *children = malloc(sizeof *children);
    if (!children) return;
    if (list_children(children, parent)) {
        for (size_t i = 0; i < children->count; i++) {
            const pid_t child = children->list[i];
            if (depth == 0 && is_spared(tree, child)) continue;
            if (depth < DEPTH_MAX) signal_below(tree, child, signal, depth + 1);
            if (tree->leader_reaped || getpgid(child) != tree->leader) kill(child, signal);
        }
    }
    free(children);
}

void supervise_tree_signal_all(const struct supervise_tree *tree, int signal)
{
    supervise_tree_signal(tree, signal);
    if (signal == SIGKILL) supervise_cgroup_kill(tree);
    signal_below(tree, getpid(), signal, 0);
}

static void note_leader(struct supervise_tree *tree, const siginfo_t *info)
{
    if (info->si_code == CLD_STOPPED) {
        tree->leader_stopped_by = info->si_status;
    } else if (info->si_code != CLD_CONTINUED) {
        tree->leader_ended = true;
        tree->leader_code = info->si_code;
        tree->leader_status = info->si_status;
    }
}

static void check_leader(struct supervise_tree *tree)
{
    siginfo_t info = {0};
    if (tree->leader <= 0 || tree->leader_ended) return;
    if (waitid(P_PID, (id_t)tree->leader, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid)
        note_leader(tree, &info);
    info = (siginfo_t){0};
    if (waitid(P_PID, (id_t)tree->leader, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
        if (info.si_pid) note_leader(tree, &info);
    } else if (errno == ECHILD) { /* child of a dead keeper: reaped there, or not yet ours */
        tree->leader_ended = tree->leader_reaped = true;
        tree->leader_code = CLD_KILLED;
        tree->leader_status = SIGKILL;
    }
}

enum left { LEFT_SOME, LEFT_LEADER, LEFT_SPARED, LEFT_NONE };

static enum left try_reap(struct supervise_tree *tree, pid_t child, bool *reaped)
{
    int status = 0;
    if (is_spared(tree, child)) return LEFT_SPARED;
    if (child == tree->leader) return LEFT_LEADER;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == 0) return LEFT_SOME;
    if (ended == child && tree->leader_ended && WIFSIGNALED(status)) tree->left_killed++;
    *reaped = true;
    return LEFT_NONE;
}

/*
 * Reaps all but the leader and spared children. LEFT_SOME: there may be more. After each reaped child the list is
 * read again, since its orphans may have become ours after we read it.
 */
static enum left reap_listed(struct supervise_tree *tree)
{
    struct children *children = malloc(sizeof *children);
    enum left left = LEFT_SOME;
    for (bool again = children != NULL; again;) {
        again = false;
        left = LEFT_NONE;
        if (!children_read(children)) break;
        if (children->count == CHILDREN_MAX) left = LEFT_SOME;
        for (size_t i = 0; i < children->count; i++) {
            const enum left one = try_reap(tree, children->list[i], &again);
            if (one < left) left = one;
        }
    }
    free(children);
    return left;
}

/* When only the leader is listed and no child is spared: ECHILD is the proof. */
static void reap_the_rest(struct supervise_tree *tree)
{
    siginfo_t info = {0};
    int status;
    while ((status = waitid(P_ALL, 0, &info, WEXITED | WNOHANG)) == 0 && info.si_pid) {
        if (info.si_pid == tree->leader) tree->leader_reaped = true;
        info = (siginfo_t){0};
    }
    if (status != 0 && errno == ECHILD) tree->empty = tree->leader_reaped = true;
}

void supervise_tree_reap(struct supervise_tree *tree)
{
    if (tree->empty) return;
    check_leader(tree);
    enum left left = reap_listed(tree);
    if (left == LEFT_SOME || !(tree->leader_ended || tree->leader <= 0)) return;
    if (!tree->spares || !children_are_listed()) {
        reap_the_rest(tree);
        return;
    }
    if (left == LEFT_LEADER && waitpid(tree->leader, NULL, WNOHANG) != 0) {
        tree->leader_reaped = true;
        left = reap_listed(tree); /* its orphans */
    }
    tree->empty = left > LEFT_LEADER;
}
