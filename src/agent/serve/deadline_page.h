/* The agent's side of the deadline page: the writer of base/deadline_layout.h, whose rules W1 to W4 it keeps. */
#ifndef ELECTOR_AGENT_SERVE_DEADLINE_PAGE_H
#define ELECTOR_AGENT_SERVE_DEADLINE_PAGE_H

#include "base/deadline_layout.h"

struct deadline_page;

/* NULL: this kernel has none that clients could not write to (Linux 5.1 has), or no memory. Everything below but
 * deadline_page_fd() takes NULL, and does nothing. */
struct deadline_page *deadline_page_new(void);
void deadline_page_free(struct deadline_page *); /* who has mapped it keeps what is in it */
int deadline_page_fd(const struct deadline_page *);

void deadline_page_set_deadline(struct deadline_page *, uint32_t cell, uint64_t deadline_ns);
/* Of a vacant slot. Its cell has its deadline already. */
void deadline_page_occupy(struct deadline_page *, uint32_t slot, uint64_t token, uint32_t cell);
/* Of one that is occupied, to a cell that has its deadline already. */
void deadline_page_move(struct deadline_page *, uint32_t slot, uint32_t cell);
void deadline_page_freeze(struct deadline_page *, uint32_t slot, uint64_t deadline_ns);
void deadline_page_vacate(struct deadline_page *, uint32_t slot);

#endif
