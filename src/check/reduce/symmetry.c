/* See symmetry.h. Only the algorithm knows which words of a state name a node, so only one with `rename` has
 * symmetry. */
#include "check/reduce/symmetry.h"

#include <stdlib.h>
#include <string.h>

#include "core/machine.h"

static bool keeps_the_question(const struct check_model *model, const el_node *to)
{
    const struct el_cluster *cluster = model->cluster;
    const struct check_config *config = model->config;
    for (el_node node = 1; node <= model->count; node++) {
        const el_node other = to[node];
        if (cluster->attributes && cluster->attributes[node - 1] != cluster->attributes[other - 1])
            return false;
        if (cluster->roles && cluster->roles[node - 1] != cluster->roles[other - 1]) return false;
        if ((config->incumbent == node) != (config->incumbent == other)) return false;
        if (!(config->initiators & el_bit(node)) != !(config->initiators & el_bit(other))) return false;
    }
    return true;
}

/* The next in lexical order; false after the last. */
static bool permute(el_node *to, uint32_t count)
{
    uint32_t i = count - 1;
    while (i >= 1 && to[i] > to[i + 1]) i--;
    if (i == 0) return false;
    uint32_t j = count;
    while (to[j] < to[i]) j--;
    const el_node swapped = to[i];
    to[i] = to[j];
    to[j] = swapped;
    for (uint32_t a = i + 1, b = count; a < b; a++, b--) {
        const el_node end = to[a];
        to[a] = to[b];
        to[b] = end;
    }
    return true;
}

bool check_find_permutations(struct check_model *model)
{
    model->permutations = calloc(CHECK_PERMUTATIONS_MAX, sizeof *model->permutations);
    if (!model->permutations) return false;
    el_node to[CHECK_NODES_MAX + 1];
    for (el_node node = 0; node <= model->count; node++) to[node] = node;
    const uint8_t *budget = model->config->budget;
    const bool dies_half_told = budget[CHECK_CRASH] && !model->late_is_lost; /* sends go by position */
    const bool names_heirs = budget[CHECK_RESIGN];                           /* the best-ranked, so by id */
    const bool takes_turns = model->config->rounds; /* one order at each instant, by name */
    const bool alike = model->config->symmetry && !takes_turns && !dies_half_told && !names_heirs &&
                       model->algorithm->rename && model->count <= CHECK_SYMMETRIC_MAX && model->count > 1 &&
                       !budget[CHECK_CUT] && !budget[CHECK_PART];
    do {
        if (keeps_the_question(model, to))
            memcpy(model->permutations[model->permutation_count++], to, sizeof to);
    } while (alike && permute(to, model->count));
    return true;
}

static uint64_t rename_set(uint64_t set, uint32_t count, const el_node *to)
{
    uint64_t renamed = 0;
    for (el_node node = 1; node <= count; node++)
        if (set & el_bit(node)) renamed |= el_bit(to[node]);
    return renamed;
}

/* If a timer has a slot for each member, the slots move with their members. */
static void rename_slots(const struct check_model *model, uint16_t *left, const el_node *to)
{
    uint16_t before[CHECK_NODES_MAX + 1];
    const uint32_t slots = model->count + 1;
    for (uint32_t timer = 0; timer < model->algorithm->timer_count; timer++) {
        memcpy(before, left + (size_t)timer * slots, slots * sizeof *before);
        for (uint32_t slot = 1; slot < slots; slot++) left[timer * slots + to[slot]] = before[slot];
    }
}

void check_rename_local(const struct check_model *model, unsigned char *bytes, const el_node *to)
{
    struct check_head *head = (struct check_head *)(void *)bytes;
    head->self = (uint8_t)to[head->self];
    head->suspects = (uint32_t)rename_set(head->suspects, model->count, to);
    model->algorithm->rename(bytes + sizeof *head, &head->durable, model->count, to);
    rename_slots(model, (uint16_t *)(void *)(bytes + sizeof *head + model->state_size), to);
}

void check_rename_msg(const struct check_model *model, struct el_msg *msg, const el_node *to)
{
    msg->from = to[msg->from];
    msg->to = to[msg->to];
    msg->subject = to[msg->subject];
    if (model->algorithm->set_kinds & 1u << msg->kind) msg->aux = rename_set(msg->aux, model->count, to);
}

static int compare_tenures(const void *a, const void *b)
{
    const struct check_tenure *x = a, *y = b;
    if (x->term != y->term) return x->term < y->term ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

void check_rename_history(const struct check_model *model, struct check_history *history, const el_node *to)
{
    (void)model;
    uint32_t count = 0;
    while (count < HISTORY_TERMS_MAX && history->tenures[count].node) {
        history->tenures[count].node = to[history->tenures[count].node];
        count++;
    }
    qsort(history->tenures, count, sizeof *history->tenures, compare_tenures);
}
