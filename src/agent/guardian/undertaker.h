/*
 * The undertaker: a process that shares the agent's memory and does nothing. The kernel takes the memory of a dying process
 * apart before it closes its descriptors, a millisecond for a small agent and more for one with many groups, and so long its
 * guardian and its clients do not know that it is dead. Memory that somebody else still uses is not taken apart: descriptors
 * are closed at once, and the undertaker, who waits for the whole of the agent's end, does the rest while others elect.
 *
 * It keeps no descriptor of the agent: what it had inherited is closed before undertaker_begin() returns. Later ones it does
 * not have, since only memory is shared. No signal but SIGKILL and SIGSTOP reaches it.
 */
#ifndef ELECTOR_AGENT_GUARDIAN_UNDERTAKER_H
#define ELECTOR_AGENT_GUARDIAN_UNDERTAKER_H

#include <sys/types.h>

/* Once in a process, for it and by its main thread. Returns its process; 0: there is none, which was logged, and all goes on
 * as without one. */
pid_t undertaker_begin(void);
/* Before an end in good order: ends it, and leaves nothing of it. 0 is nothing. */
void undertaker_end(pid_t);

#endif
