/*
 * Closes descriptors that came from others, in threads of its own. Closing one can take as long as its sender likes: a TCP
 * socket lingers for the time in SO_LINGER, and a file of a hung file system is flushed. The kernel also closes what still
 * waits in the queue of a Unix socket that is closed. So the loop closes no such descriptor itself.
 *
 * Each owner occupies one thread at most, and there are CLOSER_THREADS. What an owner passed waits for its own.
 */
#ifndef ELECTOR_BASE_CLOSER_H
#define ELECTOR_BASE_CLOSER_H

#include <stdatomic.h>

enum { CLOSER_THREADS = 8, CLOSER_PASSED_MAX = 253 /* the kernel's SCM_MAX_FD */ };

/* Closes `fd` soon. *pending is raised now, and lowered when it is closed; it lives until then. Without memory or a thread
 * the descriptor stays open. */
void closer_close(int fd, atomic_uint *pending);

/*
 * Closes a Unix socket whose other end a client has. Nothing more can be sent to it from now on. What was sent is read first,
 * and if there are descriptors in it, all of them and the socket go to closer_close(). Otherwise it is closed at once.
 */
void closer_close_socket(int fd, atomic_uint *pending);

#endif
