/* The common part of the elections with leases. */
#include "algorithms/majority/tenure.h"

#include "elector/parts.h"

el_duration tenure_promise(const struct el_config *cfg)
{
    return el_lease_promised(el_number(cfg, TENURE_LEASE), cfg->cluster->drift);
}

void tenure_arm(const struct el_config *cfg, uint32_t timer, uint32_t option, struct el_outbox *out)
{
    el_arm(out, timer, 0, el_number(cfg, option), el_number(cfg, option));
}

void tenure_wait(const struct el_config *cfg, uint32_t timer, el_duration least, struct el_outbox *out)
{
    if (el_may_lead(cfg->cluster, cfg->self))
        el_arm(out, timer, 0, least, least + el_number(cfg, TENURE_RETRY));
}

void tenure_open_round(uint64_t *sets, const struct el_config *cfg)
{
    const uint32_t words = el_set_words(cfg->cluster->count);
    el_set_copy(sets + words, sets, cfg->cluster->count);
    el_set_clear(sets, cfg->cluster->count);
    el_set_clear(sets + (size_t)2 * words, cfg->cluster->count);
}

bool tenure_answer(uint64_t *sets, const struct el_config *cfg, el_node from)
{
    el_set_add(sets, from);
    return el_set_size(sets, cfg->cluster->count) >= el_majority(cfg);
}

bool tenure_refuse(uint64_t *sets, const struct el_config *cfg, el_node from)
{
    uint64_t *refused = sets + (size_t)2 * el_set_words(cfg->cluster->count);
    el_set_add(refused, from);
    return el_set_size(refused, cfg->cluster->count) > cfg->cluster->count - el_majority(cfg);
}

enum el_answer tenure_heir(const uint64_t *sets, const struct el_config *cfg, el_node heir)
{
    if (heir == cfg->self || !el_may_lead(cfg->cluster, heir)) return EL_NOT_ELIGIBLE;
    const bool now = el_set_has(sets, heir),
               before = el_set_has(sets + el_set_words(cfg->cluster->count), heir);
    return now || before ? EL_PERFORMED : EL_OUT_OF_TOUCH;
}
