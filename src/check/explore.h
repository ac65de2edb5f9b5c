/* The state of a search. Included only by explore.c, eventually.c and retrace.c. */
#ifndef ELECTOR_CHECK_EXPLORE_H
#define ELECTOR_CHECK_EXPLORE_H

#include "check/reduce/subsumption.h"
#include "check/tables/frontier.h"
#include "check/tables/visited.h"
#include "check/world/next.h"

/* Successors are numbered from 0 if an ample set was enough, and from CHECK_FULL if all were visited. */
#define CHECK_FULL (UINT32_C(1) << 31)

struct check_edges;
struct worker;

struct check_search { /* NOLINT(clang-analyzer-optin.performance.Padding): there is one */
    const struct check_config *config;
    struct check_result *result;
    struct check_model model;
    struct check_visited visited;
    struct check_cover cover;
    bool covers; /* worlds are kept in `cover`, not in the table of `visited` */
    struct check_frontier frontiers[2], *level, *next;
    struct worker *workers;
    unsigned worker_count;
    uint32_t depth;
    uint64_t next_first;       /* worlds from this number on belong to the next level */
    _Atomic uint64_t expanded; /* of this level */
    uint64_t table_memory;
    bool must_finish_level; /* this level may still contain a shorter counterexample */
    volatile bool stopped;
    double began, told;
    uint64_t level_worlds[2]; /* the number of worlds in the last two levels that are complete */

    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t met;
    unsigned active, waiting;
    uint64_t meetings;
    atomic_bool wants_growth;
    bool may_grow;
    volatile uint32_t found; /* bits of properties */
    uint32_t found_number, found_depth;
    struct el_hash found_hash;

    struct check_edges *edges; /* kept only for liveness properties */
};

void check_stop(struct check_search *search, const char *why);
uint64_t check_memory(const struct check_search *search);
void check_take_stock(struct check_search *search);
void check_rates(const struct check_search *search, uint32_t combination, uint8_t *rates);

/* eventually.c: liveness. */
bool check_edges_init(struct check_search *search);
void check_edges_free(struct check_search *search);
uint64_t check_edge_memory(const struct check_search *search);
void check_edge(struct check_search *search, uint32_t from, uint32_t to, bool is_fault);
void check_mark(struct check_search *search, uint32_t number, const struct check_world *world);
void check_mark_cut(struct check_search *search, uint32_t number);
void check_mark_rest(struct check_search *search, uint32_t number, const struct check_world *world);
void check_judge_eventually(struct check_search *search);

/* retrace.c: the moves that led to a world. */
void check_path_free(struct check_path *path);
void check_retrace(struct check_search *search, uint32_t number, struct check_path *path);
/* The same, followed by a path given by the numbers of its worlds: the loop. */
void check_retrace_on(struct check_search *search, struct check_path *path, uint32_t from,
                      const uint32_t *numbers, uint32_t count);

#endif
