/*
 * Starts a guardian beside the loop. Whoever starts a process waits until it has executed its program, and a disk that hangs may
 * keep that program. So a thread does it.
 */
#ifndef ELECTOR_AGENT_GUARDIAN_START_H
#define ELECTOR_AGENT_GUARDIAN_START_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct guardian_start;

/* Borrows the program's name for good. NULL: there is no thread for it, see errno. */
struct guardian_start *guardian_start_begin(const char *program, bool json, bool realtime);
/* Waits for so long at most. True: guardian_start_take() is next. */
bool guardian_start_is_over(const struct guardian_start *, int wait_ms);
/* Frees it. Returns 0 and what guardian_spawn() gave, or an errno. */
int guardian_start_take(struct guardian_start *, pid_t *, int *channel);
/* Nobody wants it any more: if it succeeds after all, the guardian is killed before it was told anything. Frees it. */
void guardian_start_abandon(struct guardian_start *);

#endif
