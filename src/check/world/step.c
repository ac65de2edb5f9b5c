/*
 * All outcomes of one event at one node: el_step, its outbox carried out in order, every answer to a CHOOSE,
 * every length of a timer and, if the node may die, every prefix of the outbox. A step depends only on the
 * node's own state, so each thread computes it once and remembers the outcomes.
 */
#include <stdlib.h>
#include <string.h>

#include "check/reduce/symmetry.h"
#include "core/machine.h"

enum { ACTIONS_MAX = 512, MEMO_FIRST = 1 << 12 };
static const size_t ARENA_MOST = (size_t)192 << 20;

struct check_memo {
    struct check_model *model;
    struct check_outcomes *table; /* open addressing; count 0 is free */
    _Atomic uint32_t mask;        /* read, like arena_used, by the progress report */
    uint32_t used;
    unsigned char *arena;
    _Atomic size_t arena_used;
    size_t arena_size;
};

/* ---- The memo ---- */

struct check_memo *check_memo_new(struct check_model *model)
{
    struct check_memo *memo = calloc(1, sizeof *memo);
    if (!memo) return NULL;
    memo->model = model;
    memo->mask = MEMO_FIRST - 1;
    memo->table = calloc(MEMO_FIRST, sizeof *memo->table);
    memo->arena_size = ARENA_MOST;
    memo->arena = malloc(ARENA_MOST); /* pages are used only as it fills */
    if (!memo->table || !memo->arena) {
        check_memo_free(memo);
        return NULL;
    }
    return memo;
}

void check_memo_free(struct check_memo *memo)
{
    if (!memo) return;
    free(memo->table);
    free(memo->arena);
    free(memo);
}

uint64_t check_memory_of_memo(const struct check_memo *memo)
{
    return ((uint64_t)memo->mask + 1) * sizeof *memo->table + memo->arena_used;
}

static struct check_outcomes *place_of(struct check_outcomes *table, uint32_t mask, uint32_t local,
                                       uint64_t event)
{
    uint64_t mixed = (event ^ (uint64_t)local << 20) * UINT64_C(0x9E3779B97F4A7C15);
    mixed ^= mixed >> 29;
    uint32_t at = (uint32_t)mixed & mask;
    while (table[at].count && (table[at].local != local || table[at].event != event)) at = (at + 1) & mask;
    return &table[at];
}

static void grow(struct check_memo *memo)
{
    const uint32_t mask = memo->mask * 2 + 1;
    struct check_outcomes *table = calloc((size_t)mask + 1, sizeof *table);
    if (!table) {
        check_give_up(memo->model, "out of memory");
        return;
    }
    for (uint32_t i = 0; i <= memo->mask; i++)
        if (memo->table[i].count)
            *place_of(table, mask, memo->table[i].local, memo->table[i].event) = memo->table[i];
    free(memo->table);
    memo->table = table;
    memo->mask = mask;
}

void check_memo_trim(struct check_memo *memo)
{
    if (memo->arena_used < memo->arena_size / 2) return;
    memset(memo->table, 0, ((size_t)memo->mask + 1) * sizeof *memo->table);
    memo->arena_used = 0;
    memo->used = 0;
}

/* ---- A step in the making ---- */

struct attempt {
    unsigned char bytes[CHECK_RECORD_MAX];
    uint32_t letters[CHECK_SENT_MAX];
    uint16_t sent;
    uint16_t done; /* sends and saves carried out */
    uint8_t choices[CHECK_CHOICES_MAX];
    uint8_t choice_count;
};

struct maker {
    struct check_memo *memo;
    struct check_outcomes *made;
    int dying;     /* the node dies after this many SENDs and SAVEs; -1: it survives */
    uint64_t time; /* not 0: after its start the node is told this wall clock */
    uint16_t most; /* the most SENDs and SAVEs of an attempt that survived */
    el_node self;
};

static struct check_head *head_of(struct attempt *attempt)
{
    return (struct check_head *)(void *)attempt->bytes;
}

static uint16_t *left_at(const struct maker *maker, struct attempt *attempt, uint32_t timer, uint32_t slot)
{
    const struct check_model *model = maker->memo->model;
    el_require(timer < model->algorithm->timer_count && slot <= model->count);
    uint16_t *left = (uint16_t *)(void *)(attempt->bytes + sizeof(struct check_head) + model->state_size);
    return left + (size_t)timer * (model->count + 1) + slot;
}

static void forget_all(const struct check_model *model, struct attempt *attempt)
{
    struct check_head *head = head_of(attempt);
    head->flags &= (uint8_t) ~(LOCAL_ALIVE | LOCAL_PAUSED | LOCAL_CALLS);
    head->suspects = 0;
    const bool keeps_state = model->algorithm->store && head->self == model->count && head->flags & LOCAL_SAVED;
    if (!keeps_state) memset(attempt->bytes + sizeof *head, 0, model->state_size);
    uint16_t *left = (uint16_t *)(void *)(attempt->bytes + sizeof *head + model->state_size);
    for (size_t i = 0; i < model->left_count; i++) left[i] = LEFT_NONE;
}

/* True if an equal outcome is in the list already. */
static bool is_known(const struct check_outcomes *made, const struct check_outcome *outcome)
{
    const struct check_outcome *each = made->first;
    for (uint32_t i = 0; i < made->count; i++, each = check_next_outcome(each))
        if (each->local == outcome->local && each->sent == outcome->sent &&
            (each->dying < 0) == (outcome->dying < 0) &&
            memcmp(each->letters, outcome->letters, outcome->sent * sizeof *outcome->letters) == 0)
            return true;
    return false;
}

/* A claim expires at the very instant of its timer: that timer comes before any message. */
static void end_claim(const struct check_model *model, struct attempt *attempt)
{
    const struct check_head *head = head_of(attempt);
    const struct el_config cfg = {model->cluster, head->self};
    struct el_view view = {.timer = EL_NO_TIMER};
    if (model->config->time != CHECK_TICKS || !(head->flags & LOCAL_ALIVE)) return;
    model->algorithm->view(head + 1, &cfg, &view);
    if (view.role != EL_LEADER || view.timer == EL_NO_TIMER) return;
    uint16_t *left = (uint16_t *)(void *)(attempt->bytes + sizeof *head + model->state_size);
    uint16_t *bound = &left[view.timer * (model->count + 1) + view.slot];
    if (*bound == 0) *bound = LEFT_OVERDUE;
}

static void finish(struct maker *maker, struct attempt *attempt, bool dies)
{
    struct check_memo *memo = maker->memo;
    if (dies) forget_all(memo->model, attempt);
    end_claim(memo->model, attempt);
    struct check_outcome *outcome = (struct check_outcome *)(void *)(memo->arena + memo->arena_used);
    memset(outcome, 0, sizeof *outcome);
    outcome->local = check_add_local(memo->model, attempt->bytes);
    outcome->dying = (int16_t)(dies ? maker->dying : -1);
    outcome->choice_count = attempt->choice_count;
    memcpy(outcome->choices, attempt->choices, sizeof outcome->choices);
    outcome->sent = attempt->sent;
    memcpy(outcome->letters, attempt->letters, attempt->sent * sizeof *attempt->letters);
    if (!dies && attempt->done > maker->most) maker->most = attempt->done;
    if (is_known(maker->made, outcome)) return;
    memo->arena_used = (size_t)((const unsigned char *)check_next_outcome(outcome) - memo->arena);
    el_require(memo->arena_used < memo->arena_size);
    maker->made->count++;
}

static void put_into_flight(struct maker *maker, struct attempt *attempt, const struct el_action *action)
{
    struct check_model *model = maker->memo->model;
    struct el_msg msg = action->msg;
    if (action->timer != EL_NO_TIMER) {
        const uint16_t left = *left_at(maker, attempt, action->timer, action->slot);
        const bool runs = left != LEFT_NONE && left != LEFT_OVERDUE;
        msg.aux = runs ? (uint64_t)left * model->config->tick / model->parts : 0;
    }
    uint16_t left = LEFT_NONE;
    if (model->config->rounds)
        left = (uint16_t)model->parts;
    else if (model->timely)
        left = check_parts(model, model->cluster->transmit_max);
    else if (model->config->late)
        left = (uint16_t)(model->config->late * model->parts);
    el_require(attempt->sent < CHECK_SENT_MAX);
    attempt->letters[attempt->sent++] = check_add_letter(model, &msg, left, false);
}

/*
 * If a message may arrive at any time or never, a crash after fewer SENDs allows nothing that a crash after
 * more does not: only the saved record makes a difference. So only crashes just before a SAVE are tried. With
 * symmetry this is required: a broadcast goes out in order of position, and in the middle of it the nodes are
 * not symmetric.
 */
static bool is_dominated(const struct maker *maker, const struct el_action *next)
{
    const struct check_model *model = maker->memo->model;
    const bool asked = model->config->reduce || model->permutation_count > 1;
    return asked && model->late_is_lost && next->type != EL_SAVE;
}

static void take_step(struct maker *maker, struct attempt *attempt, const struct el_event *event);

static uint32_t wall_clock_of(const struct el_algorithm *algorithm)
{
    uint32_t fact = 0;
    while (strcmp(algorithm->facts[fact], "wall-clock") != 0) fact++;
    return fact;
}

/* The lengths that a timer may have: the shortest, each one tick longer, and the longest. */
static void arm(struct maker *maker, const struct attempt *before, const struct el_action *actions,
                uint32_t count, uint32_t at);

static void carry_out(struct maker *maker, struct attempt *attempt, const struct el_action *actions,
                      uint32_t count, uint32_t at)
{
    uint32_t choose = 0;
    for (; at < count; at++) {
        const struct el_action *action = &actions[at];
        uint16_t *left;
        switch (action->type) {
        case EL_SEND:
        case EL_SAVE:
            if ((int)attempt->done == maker->dying && !is_dominated(maker, action)) {
                finish(maker, attempt, true);
                return;
            }
            attempt->done++;
            if (action->type == EL_SEND) {
                put_into_flight(maker, attempt, action);
            } else {
                head_of(attempt)->durable = action->durable;
                head_of(attempt)->flags |= LOCAL_SAVED;
                head_of(attempt)->flags &= (uint8_t)~LOCAL_LOST;
            }
            break;
        case EL_ARM: arm(maker, attempt, actions, count, at); return;
        case EL_DISARM: *left_at(maker, attempt, action->timer, action->slot) = LEFT_NONE; break;
        case EL_MOVE:
            left = left_at(maker, attempt, action->timer, action->slot);
            if (*left != LEFT_NONE) {
                *left_at(maker, attempt, action->to, action->slot) = *left;
                *left_at(maker, attempt, action->timer, action->slot) = LEFT_NONE;
            }
            break;
        case EL_CHOOSE: choose = action->n; break;
        case EL_NOTE:
        case EL_VERDICT: break;
        }
    }
    if (maker->time) {
        const struct el_event event = {
            .type = EL_FACT, .fact = wall_clock_of(maker->memo->model->algorithm), .value = maker->time};
        maker->time = 0;
        take_step(maker, attempt, &event);
        return;
    }
    if (choose == 0) {
        if (maker->dying < 0 || (int)attempt->done == maker->dying) finish(maker, attempt, maker->dying >= 0);
        return;
    }
    el_require(attempt->choice_count < CHECK_CHOICES_MAX);
    for (uint32_t chosen = 0; chosen < choose; chosen++) {
        struct attempt next = *attempt;
        next.choices[next.choice_count++] = (uint8_t)chosen;
        take_step(maker, &next, &(struct el_event){.type = EL_CHOSEN, .chosen = chosen});
    }
}

static void arm(struct maker *maker, const struct attempt *before, const struct el_action *actions,
                uint32_t count, uint32_t at)
{
    struct check_model *model = maker->memo->model;
    const struct el_action *action = &actions[at];
    const bool timed = model->config->time == CHECK_TICKS;
    const uint16_t most = timed ? check_parts(model, action->max) : 1;
    uint16_t left = timed ? check_parts(model, action->min) : 1;
    for (;;) {
        struct attempt next = *before;
        *left_at(maker, &next, action->timer, action->slot) = left;
        carry_out(maker, &next, actions, count, at + 1);
        if (left >= most) return;
        left = (uint32_t)(most - left) > model->parts ? (uint16_t)(left + model->parts) : most;
    }
}

static void take_step(struct maker *maker, struct attempt *attempt, const struct el_event *event)
{
    const struct check_model *model = maker->memo->model;
    struct el_action actions[ACTIONS_MAX];
    struct el_outbox out = {.actions = actions,
                            .capacity = (uint32_t)el_outbox_bound(model->algorithm, model->count)};
    el_require(out.capacity <= ACTIONS_MAX);
    const struct el_config cfg = {model->cluster, maker->self};
    el_step(model->algorithm, &cfg, attempt->bytes + sizeof(struct check_head), event, &out);
    carry_out(maker, attempt, actions, out.count, 0);
}

/* ---- Events ---- */

static void start(const struct check_model *model, struct attempt *attempt, bool again, struct el_event *event)
{
    struct check_head *head = head_of(attempt);
    event->type = EL_START;
    event->start.how = !again ? EL_FRESH : head->flags & LOCAL_LOST ? EL_LOST : EL_RESTORED;
    event->start.incumbent = again ? EL_NOBODY : model->config->incumbent;
    if (event->start.how == EL_RESTORED) event->start.durable = head->durable;
    if (event->start.how == EL_LOST && model->algorithm->decided) event->start.durable.epoch = head->lives;
    head->flags |= LOCAL_STARTED | LOCAL_ALIVE;
}

/* One tick passes on this node's clock. A timer that expires between two ticks is overdue at the second. */
static void tick(const struct check_model *model, struct attempt *attempt)
{
    struct check_head *head = head_of(attempt);
    const uint16_t parts = check_rate_parts(model, head->rate);
    uint16_t *left = (uint16_t *)(void *)(attempt->bytes + sizeof *head + model->state_size);
    for (size_t i = 0; i < model->left_count; i++) {
        if (left[i] == LEFT_NONE || left[i] == LEFT_OVERDUE) continue;
        left[i] = left[i] >= parts ? (uint16_t)(left[i] - parts) : LEFT_OVERDUE;
    }
}

/* Changes to the node before its machine gets the event. False if the machine gets none. */
static bool prepare(struct maker *maker, struct attempt *attempt, uint64_t word, struct el_event *event)
{
    const struct check_model *model = maker->memo->model;
    struct check_head *head = head_of(attempt);
    const uint32_t what = (uint32_t)word;
    *event = (struct el_event){0};
    switch ((enum check_move_type)(word >> 32)) {
    case CHECK_START: start(model, attempt, false, event); return true;
    case CHECK_REVIVE:
        if (what & 1) {
            head->durable = (struct el_durable){0};
            memset(attempt->bytes + sizeof *head, 0, model->state_size);
            head->flags = (uint8_t)((head->flags & ~LOCAL_SAVED) | LOCAL_LOST);
            if (model->algorithm->decided) head->lives++;
        }
        start(model, attempt, true, event);
        maker->time = event->start.how == EL_LOST ? what >> 1 : 0;
        return true;
    case CHECK_CALL:
        head->flags &= (uint8_t)~LOCAL_CALLS;
        event->type = EL_REQUEST;
        event->request = EL_CAMPAIGN;
        return true;
    case CHECK_DELIVER:
    case CHECK_RETURN:
        event->type = (word >> 32) == CHECK_DELIVER ? EL_MESSAGE : EL_UNSENT;
        event->msg = check_letter_at(model, what)->msg;
        return true;
    case CHECK_FIRE:
        event->type = EL_TIMER;
        event->timer = what >> 16;
        event->slot = what & 0xFFFF;
        *left_at(maker, attempt, event->timer, event->slot) = LEFT_NONE;
        return true;
    case CHECK_TELL_SUSPECT:
    case CHECK_TELL_TRUST:
        event->type = (word >> 32) == CHECK_TELL_SUSPECT ? EL_SUSPECT : EL_TRUST;
        event->peer = what;
        head->suspects ^= 1u << (what - 1);
        return true;
    case CHECK_ASK_RESIGN:
    case CHECK_ASK_TRANSFER:
        event->type = EL_REQUEST;
        event->request = what ? EL_TRANSFER : EL_RESIGN;
        event->peer = what;
        return true;
    case CHECK_INSTALL:
        event->type = EL_FACT;
        event->fact = model->algorithm->record_fact;
        event->value = what;
        return true;
    case CHECK_DIE: forget_all(model, attempt); return false;
    case CHECK_STOP: head->flags |= LOCAL_PAUSED; return false;
    case CHECK_GO_ON: head->flags &= (uint8_t)~LOCAL_PAUSED; return false;
    case CHECK_TICK: tick(model, attempt); return false;
    case CHECK_BREAK:
    case CHECK_PUT_OFF:
    case CHECK_DROP: break;
    }
    el_require(false);
    return false;
}

static void make(struct maker *maker, uint32_t local, uint64_t word)
{
    const struct check_model *model = maker->memo->model;
    struct attempt attempt;
    struct el_event event;
    memset(&attempt, 0, sizeof attempt);
    const struct check_head *head = check_head_of(check_local_at(model, local));
    memcpy(attempt.bytes, head, model->bytes);
    maker->self = head->self;
    if (prepare(maker, &attempt, word, &event))
        take_step(maker, &attempt, &event);
    else
        finish(maker, &attempt, false);
}

/*
 * A crash after no action equals a crash before the event, except that the hop was acknowledged. A crash
 * after all actions equals a crash after the step, except in rounds, where that moment does not exist.
 */
static void make_all(struct maker *maker, uint32_t local, uint64_t word, bool may_die)
{
    const struct check_model *model = maker->memo->model;
    maker->dying = -1;
    make(maker, local, word);
    const int first = model->hop_acks ? 0 : 1, last = maker->most - (model->config->rounds ? 0 : 1);
    for (maker->dying = first; may_die && maker->dying <= last; maker->dying++) make(maker, local, word);
}

struct check_outcomes check_outcomes_of(struct check_memo *memo, uint32_t local, uint64_t event, bool may_die)
{
    const uint64_t key = event | (uint64_t)may_die << 63;
    const struct check_outcomes *known = place_of(memo->table, memo->mask, local, key);
    if (known->count) return *known;
    if (memo->used > memo->mask / 2) grow(memo);
    struct check_outcomes *made = place_of(memo->table, memo->mask, local, key);
    struct check_outcomes fresh = {.event = key, .local = local};
    fresh.first = (const struct check_outcome *)(const void *)(memo->arena + memo->arena_used);
    struct maker maker = {.memo = memo, .made = &fresh};
    make_all(&maker, local, event, may_die);
    memo->used++;
    *made = fresh;
    return fresh;
}
