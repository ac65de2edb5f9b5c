/* Enumerating the successors of one world. Included only by moves.c and rounds.c. */
#ifndef ELECTOR_CHECK_WORLD_MOVES_H
#define ELECTOR_CHECK_WORLD_MOVES_H

#include "check/world/model.h"

struct check_walk {
    struct check_model *model;
    struct check_memo *memo;
    const struct check_world *from;
    const struct check_local *locals[CHECK_NODES_MAX]; /* of that world */
    check_visitor *visit;
    void *context;
    bool goes_on;   /* the visitor wants more */
    bool is_moving; /* some move that is not a fault is possible */
    uint32_t shed[CHECK_SENT_MAX];
};

static inline const struct check_local *check_local_of(const struct check_walk *walk, el_node node)
{
    return walk->locals[node - 1];
}

static inline uint8_t check_flags_of(const struct check_walk *walk, el_node node)
{
    return check_head_of(check_local_of(walk, node))->flags;
}

static inline bool check_is_awake(const struct check_walk *walk, el_node node)
{
    return (check_flags_of(walk, node) & (LOCAL_ALIVE | LOCAL_PAUSED)) == LOCAL_ALIVE;
}

static inline bool check_is_left(const struct check_walk *walk, enum check_budget budget)
{
    return walk->model->config->budget[budget] == CHECK_ANY ||
           check_spent(walk->from->spent, budget) < walk->model->config->budget[budget];
}

/* An unlimited budget is not counted. */
static inline void check_spend_one(const struct check_walk *walk, struct check_world *world,
                                   enum check_budget budget)
{
    if (walk->model->config->budget[budget] == CHECK_ANY) return;
    world->spent[budget / 8] += UINT64_C(1) << budget % 8 * 8; /* a budget is below 255, so no carry */
}

/* The cost of a step: a letter in flight, by its place, and one of a budget. */
struct check_cost {
    uint32_t letter;
    enum check_budget budget;
};
#define CHECK_NO_LETTER UINT32_MAX
static const struct check_cost CHECK_FREE_OF_COST = {CHECK_NO_LETTER, CHECK_BUDGETS};

/* The world without the letter and the budget that the step costs. */
void check_pay(const struct check_walk *walk, struct check_world *after, struct check_cost cost);
/* A node takes a step; visits every outcome. */
void check_let(struct check_walk *walk, struct check_cost cost, struct check_step step, uint64_t event);
/* Passes a successor to the visitor; excess letters are removed first, in every combination. */
void check_arrive(struct check_walk *walk, struct check_world *world, struct check_step *step);
/* Delivers the letter at this place. */
void check_deliver(struct check_walk *walk, uint32_t at);
void check_lose(struct check_walk *walk, uint32_t at);
/* Takes a step that costs one of a budget, if any is left. */
void check_spend(struct check_walk *walk, enum check_budget budget, struct check_step step, uint32_t what);
/* The node installs a record that was decided, or the next one, if it can be decided now. */
void check_install(struct check_walk *walk, el_node node);
/* A leader is asked to resign, or to hand over. */
void check_ask(struct check_walk *walk, el_node node);
/* The node restarts, dies, or resumes after a pause. False if it can do nothing else. */
bool check_come_or_go(struct check_walk *walk, el_node node);
/* One tick passes, if no event is due before. */
void check_pass(struct check_walk *walk);
/* Inserts a letter at its place. */
void check_post(const struct check_walk *walk, struct check_world *world, uint32_t letter);

/* rounds.c: one order of events at each instant, and the exceptions that budgets allow. */
void check_play_round(struct check_walk *walk);

#endif
