/*
 * The line by which a guardian asks for the end of all that one connection works at, and is told (agent/guardian/guardian.h).
 *
 * Every keeper has the same end of it, and what one reads no other does. So whoever reads the guardian's word says so in
 * memory that all of them share, and closes the line to all: each finds its end then, and kills its own work. A work is
 * counted before its keeper begins, and until nothing is left of it; who counts the last one out after the end answers. A
 * keeper that was counted too late to be waited for finds the line ended before it starts anything. For a
 * keeper that died before its time the supervisor counts, or nobody: then the lease decides.
 */
#ifndef ELECTOR_SUPERVISE_LINE_H
#define ELECTOR_SUPERVISE_LINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct supervise_line {
    int socket;
    _Atomic bool is_ended;  /* nothing begins any more */
    _Atomic uint32_t works; /* that are counted */
};

enum supervise_word {
    SUPERVISE_SILENCE,
    SUPERVISE_GONE, /* agent and guardian both: no order, but nothing begins any more */
    SUPERVISE_END   /* everything is to end */
};

/* In all of them NULL is no line: it is silent, and nobody counts. */

/* Takes the socket over; NULL: no memory. */
struct supervise_line *supervise_line_new(int socket);
void supervise_line_free(struct supervise_line *); /* in this process; keepers have their own */

/* In and out, both once, whoever does it and however often: `is_counted` is the work's own, and shared as well. */
void supervise_line_add_work(struct supervise_line *, _Atomic bool *is_counted);
void supervise_line_remove_work(struct supervise_line *, _Atomic bool *is_counted);

enum supervise_word supervise_line_read(struct supervise_line *);
/* Nobody is left who could begin anything: by who knows. Answered at once if nothing runs, else by the last. */
void supervise_line_end(struct supervise_line *);

#endif
