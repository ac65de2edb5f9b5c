/*
 * The outlet: lines for standard error, written by a thread of their own, so that the caller never waits for a reader.
 *
 * Whoever reads standard error may stop: a hung log reader leaves a pipe full, Ctrl-S stops a terminal, and a frozen file
 * system blocks a write to a file. A process that must kill work in time or renew leases may wait for none of them.
 *
 * Why a thread: O_NONBLOCK would change the open file for every process that shares it, such as the shell at a
 * terminal, and has no effect on files. poll() promises nothing either: a file is always ready, and another process may
 * fill a pipe before we write. A thread can wait, and dies with its process. It closes its copies of all other
 * descriptors: a thread that hangs in the kernel keeps neither a lock nor a connection open after its process died.
 *
 * Lines wait in a ring of 1 MiB that needs no lock between caller and thread. If a line finds no room, it and those
 * after it are dropped until the ring is empty again; then a notice tells how many were lost. exit() waits for the
 * rest, 1 s at most. A process that hangs in a frozen file system ends when that is thawed; its descriptors are closed.
 *
 * In a forked child the thread does not exist, and lines are dropped. A child that is about to end has
 * outlet_last_words(); one that lives on calls outlet_begin_again().
 */
#ifndef ELECTOR_BASE_LOG_OUTLET_H
#define ELECTOR_BASE_LOG_OUTLET_H

#include <stddef.h>
#include <stdint.h>

enum { OUTLET_LINE_MAX = 4096 }; /* PIPE_BUF: a line is one write, which no other writer's can divide */

/* Copies a line with its newline; longer than OUTLET_LINE_MAX, it is cut. Never blocks. Any thread may call it. */
void outlet_put(const char *line, size_t size);

/* Writes the notice of lost lines, with its newline, and returns its length. Called by the outlet's thread. */
typedef size_t outlet_notice(char *text, size_t size, uint64_t lost);
void outlet_set_notice(outlet_notice *);

/* In a forked child, first of all: what waited belongs to the parent, and the next line starts a thread of our own. */
void outlet_begin_again(void);

/*
 * Writes the text and ends the process: for a small child that has done its work, with all signals blocked. Closes all
 * descriptors but 0, 1 and 2 first, so that nothing else waits for it. Takes 1 s at most.
 */
_Noreturn void outlet_last_words(const char *text, int exit_code);

#endif
