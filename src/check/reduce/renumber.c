/*
 * Numbers that rise for ever, of requests and of revisions, would make worlds without end that differ in nothing else.
 * If an algorithm only compares such numbers, and a new one is above all others, what happens next depends on their
 * order alone. So a world's fingerprint is that of the same world with each family's numbers replaced by their places:
 * 1 for the least, 2 for the next. 0 stays 0: it means none. The worlds themselves keep their numbers.
 */
#include "check/reduce/renumber.h"

#include <stdlib.h>
#include <string.h>

#include "check/reduce/symmetry.h"
#include "core/machine.h"

enum { NUMBERS_MAX = 2048 };

struct numbers {
    uint32_t count;
    struct number {
        uint64_t *word;
        uint32_t family;
    } all[NUMBERS_MAX];
};

static void collect(void *context, uint32_t family, uint64_t *word)
{
    struct numbers *numbers = context;
    if (*word == 0) return;
    el_require(numbers->count < NUMBERS_MAX);
    struct number *number = &numbers->all[numbers->count++];
    number->word = word;
    number->family = family;
}

static int compare(const void *a, const void *b)
{
    const struct number *x = a, *y = b;
    if (x->family != y->family) return x->family < y->family ? -1 : 1;
    return *x->word < *y->word ? -1 : *x->word > *y->word;
}

static void replace(struct numbers *numbers)
{
    uint64_t before = 0, place = 0;
    qsort(numbers->all, numbers->count, sizeof *numbers->all, compare);
    for (uint32_t i = 0; i < numbers->count; i++) {
        const struct number *number = &numbers->all[i];
        if (i == 0 || number->family != numbers->all[i - 1].family) before = place = 0;
        if (*number->word != before) place++;
        before = *number->word;
        *number->word = place;
    }
}

bool check_may_renumber(const struct check_model *model)
{
    /* A bound on terms asks for the terms themselves: a world above it would stand for one below. */
    return model->algorithm->numbers && model->algorithm->numbers_sent && model->config->reduce &&
           !model->config->terms && model->count <= CHECK_SYMMETRIC_MAX && model->permutation_count == 1 &&
           !model->fifo && !model->soup;
}

struct el_hash check_renumbered(const struct check_model *model, const struct check_world *world)
{
    /* 80 KB on the stack. As thread-local storage they would lie on the stack of every thread of the program. */
    uint64_t locals[CHECK_SYMMETRIC_MAX][CHECK_RECORD_MAX / sizeof(uint64_t)];
    struct check_letter letters[CHECK_FLIGHT_MAX];
    struct numbers numbers;
    const struct el_algorithm *algorithm = model->algorithm;
    struct check_history history = *check_history_at(model, world->history);
    numbers.count = 0;
    collect(&numbers, 0, &history.highest);
    for (uint32_t i = 0; i < HISTORY_TERMS_MAX; i++) collect(&numbers, 0, &history.tenures[i].term);
    for (uint32_t i = 0; i < model->count; i++) {
        const struct check_head *head = check_head_of(check_local_at(model, world->local[i]));
        const struct el_config cfg = {model->cluster, head->self};
        memcpy(locals[i], head, model->bytes);
        algorithm->numbers((struct check_head *)(void *)locals[i] + 1, &cfg, collect, &numbers);
    }
    for (uint32_t i = 0; i < world->flight_count; i++) {
        const struct el_config cfg = {model->cluster, EL_NOBODY};
        letters[i] = *check_letter_at(model, world->flight[i]);
        algorithm->numbers_sent(&letters[i].msg, &cfg, collect, &numbers);
    }
    replace(&numbers);
    struct el_hash sum = el_fingerprint(&history.highest, sizeof history - sizeof history.hash);
    for (uint32_t i = 0; i < model->count; i++) check_add_hash(&sum, el_fingerprint(locals[i], model->bytes));
    for (uint32_t i = 0; i < world->flight_count; i++)
        check_add_hash(&sum, el_fingerprint(&letters[i].msg, CHECK_LETTER_BYTES));
    return sum;
}
