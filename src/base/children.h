/*
 * The children of this process, as the kernel lists them. A subreaper (PR_SET_CHILD_SUBREAPER) and process 1 of a
 * container get children that they never started: orphans from below. Somebody must reap those.
 */
#ifndef ELECTOR_BASE_CHILDREN_H
#define ELECTOR_BASE_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHILDREN_MAX = 512 }; /* more are found by a later call, when some of these are gone */

struct children {
    size_t count;
    pid_t list[CHILDREN_MAX];
};

/* Adds those in /proc/PID/task/TID/children. False: the kernel has no such file. */
bool children_add(struct children *, const char *path);
/* Those of the calling thread. Orphans go to the first thread of a process: call it there. */
bool children_read(struct children *);

/* Reaps all that have ended, except known ones. From the first thread only. Never blocks. */
void children_reap_unknown(bool (*is_known)(const void *context, pid_t child), const void *context);

#endif
