/*
 * The confine room makes an agent of little use to an intruder. Nobody but root can read its memory, it leaves no core
 * dump, it can gain no privilege, and it has only those system calls that agent, guardian and flight recorder need. All of
 * its processes inherit the filter: the guardian, which it executes, and the recorder's `elector-writer` and
 * `elector-flight`, which it forks. So it is installed before the first of them starts. Start with calls.c, the list;
 * filter.c makes a program of it.
 *
 * A forbidden call fails with ENOSYS, as on a kernel that does not have it. Libraries are prepared for that, and so no
 * mistake in the list costs a lease; the kernel logs it (audit type 1326).
 *
 * With ELECTOR_SECCOMP_REPORT=FILE in the environment a forbidden call ends the process instead, and a line in FILE says
 * which call it was. All tests run like this: test/contain fails a test that left such a file.
 */
#ifndef ELECTOR_AGENT_CONFINE_CONFINE_H
#define ELECTOR_AGENT_CONFINE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

/* No core dumps, and no access to this memory for other processes of our user. Without effect in a sanitized build,
 * whose search for leaks needs that access. */
void confine_memory(void);

/* Installs the filter, in all threads and in all processes that they start. It cannot be removed, and a
 * second call changes nothing. False: `text` says why there is none. */
bool confine_calls(char *text, size_t size);

/* For a process that inherited the filter: ends on a forbidden call, if ELECTOR_SECCOMP_REPORT is set. */
void confine_report(void);

#endif
