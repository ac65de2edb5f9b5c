/*
 * The line: a socket by which the guardian of a dead agent asks for the end of all commands of one connection, and is
 * told when none is left (agent/guardian/guardian.h).
 *
 * All keepers of a connection share one end of the socket, so only one of them reads the guardian's message. That one
 * sets `is_ended` in shared memory and shuts the socket down; the others see the shutdown, and each kills its own
 * command. Each work is counted before its keeper starts, until none of its processes is left. The keeper that brings
 * the count to 0 answers. A keeper that starts too late to be counted finds the line ended and starts no command. If
 * a keeper dies early, the supervisor uncounts its work; if that is dead, too, nobody answers, and the next leader
 * waits for the lease.
 */
#ifndef ELECTOR_SUPERVISE_LINE_H
#define ELECTOR_SUPERVISE_LINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct supervise_line {
    int socket;
    _Atomic bool is_ended;  /* no command is started any more */
    _Atomic uint32_t works; /* number of works that are counted */
};

enum supervise_word {
    SUPERVISE_SILENCE,
    SUPERVISE_GONE, /* agent and guardian died: what runs goes on, but no command is started */
    SUPERVISE_END   /* kill everything */
};

/* In all functions NULL is allowed: no line. */

/* Owns the socket from now on; NULL: out of memory. */
struct supervise_line *supervise_line_new(int socket);
void supervise_line_free(struct supervise_line *); /* in this process; keepers have copies */

/* Each has an effect only once, whichever process calls it: `is_counted` is in memory that they share. */
void supervise_line_add_work(struct supervise_line *, _Atomic bool *is_counted);
void supervise_line_remove_work(struct supervise_line *, _Atomic bool *is_counted);

enum supervise_word supervise_line_read(struct supervise_line *);
bool supervise_line_is_ended(const struct supervise_line *); /* no command is started any more */
/* No command will be started any more. Answers the guardian now if nothing runs, else when the last command has ended. */
void supervise_line_end(struct supervise_line *);

#endif
