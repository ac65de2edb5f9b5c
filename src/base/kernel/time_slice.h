/*
 * Time slices of 0.1 ms for the calling thread, which need no privilege (Linux 6.12; an earlier kernel ignores it). A thread
 * that wakes up may then interrupt one with longer slices, at once, and gives the processor up as soon. So on a busy host
 * an election does not wait for the ends of others' slices, which are milliseconds long. Threads and processes inherit it.
 */
#ifndef ELECTOR_BASE_TIME_SLICE_H
#define ELECTOR_BASE_TIME_SLICE_H

/* Both do nothing if the thread's scheduling policy is not the usual one: somebody has chosen. */
void time_slice_shorten(void);
void time_slice_reset(void); /* for a thread or process that others need not wait for */

#endif
