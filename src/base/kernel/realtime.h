/*
 * Real-time scheduling (SCHED_FIFO) and locked memory, for a process whose lateness ends leases: with `profile = realtime`, the
 * agent, its guardian, `elector run` and its keepers. Either may be refused; then the process works without it.
 *
 * A child never inherits locked memory. REALTIME_ALONE: nor does it inherit the scheduling, and no thread does
 * (SCHED_RESET_ON_FORK). REALTIME_WITH_CHILDREN is for who starts a process that must begin at once, or a thread like itself:
 * each other child and thread calls realtime_leave() or realtime_end().
 *
 * The host never starves: a thread that has run for REALTIME_BURST_MS without waiting becomes an ordinary one
 * (RLIMIT_RTTIME, SIGXCPU), until realtime_resume().
 */
#ifndef ELECTOR_BASE_KERNEL_REALTIME_H
#define ELECTOR_BASE_KERNEL_REALTIME_H

#include <stdbool.h>
#include <stddef.h>

enum { REALTIME_BURST_MS = 50 };

/* Whoever ends the work of another interrupts it, also where that one runs in a circle. All are below the kernel's own threads,
 * which have 50. */
enum realtime_priority {
    REALTIME_AGENT = 10,    /* also `elector run`, which reads what the agent says */
    REALTIME_GUARDIAN = 11, /* ends the work of an agent that is dead */
    REALTIME_KEEPER = 12    /* kills the command in time */
};

enum realtime_heirs { REALTIME_ALONE, REALTIME_WITH_CHILDREN };

struct realtime {
    int scheduling_error, memory_error; /* errno; 0: granted */
};

/* For the calling thread and the memory of its process. Call it before other threads begin, once in a process. */
struct realtime realtime_begin(enum realtime_priority, enum realtime_heirs);
/* Before the thread waits. True: it had run for too long, and is a real-time thread again. Cheap if not. */
bool realtime_resume(void);
/* For a thread that a real-time thread of this process may wait for, busily even: as libuv's loop waits for its pool. Each time
 * that the thread begins. */
void realtime_join(void);
/* For a thread that others need not wait for. */
void realtime_leave(void);
/* In a child, before it executes a program that is not ours: the child is an ordinary process, with the limits that
 * its parent was started with. */
void realtime_end(void);
/* What is refused, why, and who grants it: "SCHED_FIFO (...; LimitRTPRIO=12 in the service grants it)". "": nothing is. */
const char *realtime_describe(const struct realtime *, char *text, size_t size);

#endif
