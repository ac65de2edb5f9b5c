/*
 * The alive lock: a robust mutex on the page that agent and guardian share. The agent's loop thread holds it as
 * long as it lives. When that thread dies, the kernel marks the mutex and wakes the guardian, which waits for
 * it.
 *
 * Why a lock: the kernel frees the memory of a dying process before it closes its descriptors and reports its
 * end. That takes 0.1 ms or more. It walks the list of robust mutexes before all of that, so this lock tells
 * first.
 *
 * Why this is not too early: the kernel marks the mutex when the loop thread has left user mode for good. Only
 * that thread sends to peers, answers clients, and writes to the channel and to the page. So from then on
 * nobody can come to lead through this agent, and what it told the guardian is complete. Another thread of the
 * agent may run on for a moment, or longer inside a slow fsync. It writes the state file and does nothing else:
 * a vote that is on disk and was never sent binds nobody else. The next agent waits for the lock of that file,
 * which the last thread gives back.
 *
 * What is no death: a stopped or traced agent keeps the lock. The list belongs to a thread, so neither another
 * thread's end nor that of a forked copy (the recorder's snapshot writer) gives the lock back. If the kernel
 * cannot mark the lock (the OOM killer may take the list's memory away first), the guardian learns of the death
 * from the channel and the pidfd.
 */
#ifndef ELECTOR_AGENT_GUARDIAN_ALIVE_LOCK_H
#define ELECTOR_AGENT_GUARDIAN_ALIVE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

/* Initialises and takes the lock, in memory that is shared. The calling thread must be the loop's. False:
 * this system has no such locks. */
bool alive_lock_hold(pthread_mutex_t *);
/* Gives it back at a normal exit, which is no death. By the same thread, before the memory is unmapped. */
void alive_lock_release(pthread_mutex_t *);

/* In the guardian. True: the thread that held the lock has died. False: it lives, if this did not wait;
 * otherwise it has given the lock back. */
bool alive_lock_says_dead(pthread_mutex_t *, bool wait);

#endif
