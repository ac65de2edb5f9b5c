/* The agent's side of the deadline page: the writer of base/deadline_layout.h, by its rules W1 to W4. */
#ifndef ELECTOR_AGENT_SERVE_DEADLINE_PAGE_H
#define ELECTOR_AGENT_SERVE_DEADLINE_PAGE_H

#include "base/deadline_layout.h"

struct deadline_page;

/* NULL: out of memory, or the kernel cannot keep clients from writing to it (before Linux 5.1). All calls below
 * except deadline_page_fd() accept NULL, and do nothing. */
struct deadline_page *deadline_page_new(void);
void deadline_page_free(struct deadline_page *); /* clients keep their mapping */
int deadline_page_fd(const struct deadline_page *);

void deadline_page_set_deadline(struct deadline_page *, uint32_t cell, uint64_t deadline_ns);
/* Occupies a vacant slot (W1), after the cell got its deadline. */
void deadline_page_occupy(struct deadline_page *, uint32_t slot, uint64_t token, uint32_t cell);
/* Moves an occupied slot to a cell that has its deadline already. */
void deadline_page_move(struct deadline_page *, uint32_t slot, uint32_t cell);
void deadline_page_freeze(struct deadline_page *, uint32_t slot, uint64_t deadline_ns);
void deadline_page_vacate(struct deadline_page *, uint32_t slot);

#endif
