/* The agent's side of the deadline page: the writer of base/deadline_layout.h, whose rules W1 to W4 it keeps. */
#ifndef ELECTOR_AGENT_SERVE_DEADLINE_PAGE_H
#define ELECTOR_AGENT_SERVE_DEADLINE_PAGE_H

#include "base/deadline_layout.h"

struct page;

/* NULL: this kernel has none that clients could not write to (Linux 5.1 has), or no memory. Everything below but
 * page_fd() takes NULL, and does nothing. */
struct page *page_new(void);
void page_free(struct page *); /* who has mapped it keeps what is in it */
int page_fd(const struct page *);

void page_set_deadline(struct page *, uint32_t cell, uint64_t deadline_ns);
/* Of a vacant slot. Its cell has its deadline already. */
void page_occupy(struct page *, uint32_t slot, uint64_t token, uint32_t cell);
/* Of one that is occupied, to a cell that has its deadline already. */
void page_move(struct page *, uint32_t slot, uint32_t cell);
void page_freeze(struct page *, uint32_t slot, uint64_t deadline_ns);
void page_vacate(struct page *, uint32_t slot);

#endif
