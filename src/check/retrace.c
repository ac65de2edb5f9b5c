/* Reconstructs the moves that led to a world. The search keeps only the predecessor of each world. */
#include <stdlib.h>
#include <string.h>

#include "check/explore.h"

struct retracer {
    struct check_search *search;
    struct check_memo *memo;
    struct check_world world, found;
    struct check_path *path; /* receives the moves */
    uint32_t at, wanted;     /* the current and the wanted successor, by index; or */
    uint32_t number;         /* the wanted successor, by number */
    bool by_number, done;
};

static void shed(const struct check_model *model, const struct check_step *step, struct check_move *move)
{
    if (step->shed_count == 0) return;
    move->shed = calloc(step->shed_count, sizeof *move->shed);
    for (uint32_t i = 0; move->shed && i < step->shed_count; i++)
        move->shed[move->shed_count++] = check_letter_at(model, step->shed[i])->msg;
}

static void send(const struct check_model *model, const struct check_outcome *outcome, struct check_move *move)
{
    if (outcome->sent == 0) return;
    move->sent = calloc(outcome->sent, sizeof *move->sent);
    for (uint32_t i = 0; move->sent && i < outcome->sent; i++)
        move->sent[move->sent_count++] = check_letter_at(model, outcome->letters[i])->msg;
}

static struct check_move describe(const struct check_model *model, const struct check_step *step)
{
    struct check_move move = {.type = step->type,
                              .node = step->node,
                              .peer = step->peer,
                              .timer = step->timer,
                              .slot = step->slot,
                              .kept = step->kept,
                              .wiped = step->wiped,
                              .is_fault = step->is_fault,
                              .dying = -1};
    if (step->type == CHECK_DELIVER || step->type == CHECK_RETURN || step->type == CHECK_DROP ||
        step->type == CHECK_PUT_OFF)
        move.msg = check_letter_at(model, step->letter)->msg;
    if (step->type == CHECK_INSTALL) move.value = step->letter;
    if (step->outcome) {
        move.dying = step->outcome->dying;
        move.choice_count = step->outcome->choice_count;
        memcpy(move.choices, step->outcome->choices, sizeof move.choices);
        send(model, step->outcome, &move);
    }
    shed(model, step, &move);
    return move;
}

static void add_move(struct check_path *path, struct check_move move)
{
    struct check_move *moves = realloc(path->moves, (path->count + 1) * sizeof *moves);
    if (!moves) {
        free(move.shed);
        free(move.sent);
        return;
    }
    path->moves = moves;
    path->moves[path->count++] = move;
}

static bool match(void *context, const struct check_world *world, const struct check_found *found)
{
    struct retracer *retracer = context;
    struct check_model *model = &retracer->search->model;
    if (retracer->by_number) {
        const uint32_t number = check_visited_find(&retracer->search->visited, check_fingerprint(model, world));
        if (number != retracer->number || found->is_fault) return true;
    } else if (retracer->at++ != retracer->wanted) {
        return true;
    }
    retracer->found = *world;
    for (uint32_t i = 0; i < found->count; i++) add_move(retracer->path, describe(model, &found->steps[i]));
    retracer->done = true;
    return false;
}

void check_path_free(struct check_path *path)
{
    for (uint32_t i = 0; i < path->count; i++) {
        free(path->moves[i].shed);
        free(path->moves[i].sent);
    }
    free(path->moves);
    *path = (struct check_path){0};
}

static void go_on(struct retracer *retracer, struct check_path *path, bool ample)
{
    struct check_model *model = &retracer->search->model;
    retracer->done = false;
    retracer->path = path;
    if (ample)
        (void)check_next_ample(model, retracer->memo, &retracer->world, match, retracer);
    else
        (void)check_next(model, retracer->memo, &retracer->world, match, retracer);
    if (retracer->done) retracer->world = retracer->found;
}

static uint32_t *chain(const struct check_search *search, uint32_t number, uint32_t *count)
{
    uint32_t length = 0;
    for (uint32_t at = number; at != UINT32_MAX; at = search->visited.origins[at].parent) length++;
    uint32_t *numbers = calloc((size_t)length + 1, sizeof *numbers);
    *count = numbers ? length : 0;
    for (uint32_t at = number; numbers && at != UINT32_MAX; at = search->visited.origins[at].parent)
        numbers[--length] = at;
    return numbers;
}

void check_retrace(struct check_search *search, uint32_t number, struct check_path *path)
{
    uint32_t count = 0;
    uint32_t *numbers = chain(search, number, &count);
    struct retracer retracer = {.search = search, .memo = check_memo_new(&search->model)};
    *path = (struct check_path){.loop = UINT32_MAX};
    if (count > 0 && retracer.memo) {
        check_rates(search, search->visited.origins[numbers[0]].move, path->rates);
        retracer.world = check_first_world(&search->model, path->rates);
        for (uint32_t i = 1; i < count; i++) {
            const uint32_t move = search->visited.origins[numbers[i]].move;
            retracer.at = 0;
            retracer.wanted = move % CHECK_FULL;
            go_on(&retracer, path, move < CHECK_FULL);
        }
    }
    check_memo_free(retracer.memo);
    free(numbers);
}

void check_retrace_on(struct check_search *search, struct check_path *path, uint32_t from,
                      const uint32_t *numbers, uint32_t count)
{
    struct check_path stem;
    struct retracer retracer = {.search = search, .memo = check_memo_new(&search->model), .by_number = true};
    uint32_t length = 0;
    uint32_t *before = chain(search, from, &length);
    check_retrace(search, from, &stem);
    *path = stem;
    path->loop = stem.count;
    if (retracer.memo && before) {
        /* Repeat the stem to get to its last world. */
        struct check_path again = {0};
        retracer.world = check_first_world(&search->model, stem.rates);
        for (uint32_t i = 1; i < length; i++) {
            const uint32_t move = search->visited.origins[before[i]].move;
            retracer.by_number = false;
            retracer.at = 0;
            retracer.wanted = move % CHECK_FULL;
            go_on(&retracer, &again, move < CHECK_FULL);
        }
        retracer.by_number = true;
        check_path_free(&again);
        for (uint32_t i = 0; i < count; i++) {
            retracer.number = numbers[i];
            go_on(&retracer, path, false);
        }
    }
    check_memo_free(retracer.memo);
    free(before);
}
