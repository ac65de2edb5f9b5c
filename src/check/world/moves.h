/* The inside of the moves: one world, and what is done to it to come to the next. Shared by moves.c and rounds.c. */
#ifndef ELECTOR_CHECK_WORLD_MOVES_H
#define ELECTOR_CHECK_WORLD_MOVES_H

#include "check/world/model.h"

struct check_walk {
    struct check_model *model;
    struct check_memo *memo;
    const struct check_world *from;
    const struct check_local *locals[CHECK_NODES_MAX]; /* of that world */
    check_visitor *visit;
    void *whose;
    bool goes_on;   /* the visitor wants more */
    bool is_moving; /* something can happen that is no fault */
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

/* What there is any number of is not counted. */
static inline void check_spend_one(const struct check_walk *walk, struct check_world *world,
                                   enum check_budget budget)
{
    if (walk->model->config->budget[budget] == CHECK_ANY) return;
    world->spent[budget / 8] += UINT64_C(1) << budget % 8 * 8; /* no budget is as large as a byte */
}

/* What a step uses up: a letter under way, by its place, and one of a budget. */
struct check_cost {
    uint32_t letter;
    enum check_budget budget;
};
#define CHECK_NO_LETTER UINT32_MAX
static const struct check_cost CHECK_FREE_OF_COST = {CHECK_NO_LETTER, CHECK_BUDGETS};

/* The world after what a step uses up. */
void check_pay(const struct check_walk *walk, struct check_world *after, struct check_cost cost);
/* A node takes a step: every way that it can come out. */
void check_let(struct check_walk *walk, struct check_cost cost, struct check_step step, uint64_t event);
/* Hands a successor to the visitor; too many letters are shed first, in every way. */
void check_arrive(struct check_walk *walk, struct check_world *world, struct check_step *step);
/* One letter under way, by its place. */
void check_deliver(struct check_walk *walk, uint32_t at);
void check_lose(struct check_walk *walk, uint32_t at);
/* A step that costs one of a budget, if there is one left. */
void check_spend(struct check_walk *walk, enum check_budget budget, struct check_step step, uint32_t what);
/* A leader is asked to resign, or to hand over. */
void check_ask(struct check_walk *walk, el_node node);
/* It comes back, dies, or goes on after a pause. False: there is nothing else that it could do. */
bool check_come_or_go(struct check_walk *walk, el_node node);
/* Time passes, if nothing has to happen before. */
void check_pass(struct check_walk *walk);
/* Puts a letter under way, in its place. */
void check_post(const struct check_walk *walk, struct check_world *world, uint32_t letter);

/* rounds.c: at one instant one order, and what the budgets allow instead. */
void check_play_round(struct check_walk *walk);

#endif
