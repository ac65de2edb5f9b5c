/* The candidates of a leadership, and what each has asked for. For leadership.c only; others call leadership.h. */
#ifndef ELECTOR_AGENT_SERVE_LEADERSHIP_CANDIDATES_H
#define ELECTOR_AGENT_SERVE_LEADERSHIP_CANDIDATES_H

#include "agent/serve/leadership/leadership.h"

struct leadership_candidate *candidate_at(const struct leadership *, uint32_t piece);       /* NULL: piece 0 */
struct leadership_candidate *candidate_find(const struct leadership *, const void *client); /* NULL: none */

/* NULL: it has none. The others return the default then. */
struct leadership_options *candidate_options(const struct leadership *, const struct leadership_candidate *);
uint64_t candidate_priority(const struct leadership *, const struct leadership_candidate *);
uint32_t candidate_preempt_after(const struct leadership *, const struct leadership_candidate *);
const char *candidate_value(const struct leadership *, const struct leadership_candidate *);

/* Its piece, not in the list yet; 0: out of memory. */
uint32_t candidate_new(struct leadership *, void *client, uint64_t priority, const char *value);
void candidate_free(struct leadership *, uint32_t piece);
/* By falling priority, after those of the same priority. */
void candidate_insert(struct leadership *, uint32_t piece);
/* Replaces priority and value. False: out of memory, and nothing has changed. */
bool candidate_change(struct leadership *, struct leadership_candidate *, uint64_t priority, const char *value);
/* Its piece; 0: it is not in the list. */
uint32_t candidate_take_out(struct leadership *, const struct leadership_candidate *);

#endif
