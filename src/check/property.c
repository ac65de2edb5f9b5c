/* The properties by name, and how they are checked from the nodes' views alone. */
#include <string.h>

#include "check/world/model.h"

static const struct {
    const char *name, *text;
    uint32_t claim;
} properties[CHECK_PROPERTIES] = {
    [CHECK_ONE_LEADER] = {"one-leader", "never two leaders at one instant", EL_CLAIMS_ONE_LEADER},
    [CHECK_ONE_PER_TERM] = {"one-per-term", "never two nodes, or two incarnations of one, that led in one term",
                            EL_CLAIMS_ONE_PER_TERM},
    [CHECK_TOKENS_RISE] = {"tokens-rise", "each new leader has a higher term than all before",
                           EL_CLAIMS_RISING},
    [CHECK_AGREEMENT] = {"agreement", "at rest, every live node names the same live leader",
                         EL_CLAIMS_AGREEMENT},
    [CHECK_BEST] = {"best", "at rest, the leader is the best-ranked live candidate", EL_CLAIMS_BEST},
    [CHECK_GROUPS] = {"groups", "at rest, the leader that a node follows does lead", EL_CLAIMS_GROUPS},
    [CHECK_ONE_DECISION] = {"one-decision", "never two decisions under one number", EL_CLAIMS_ONE_DECISION},
    [CHECK_IN_ORDER] = {"in-order", "nobody leads while the store has a candidate that came earlier",
                        EL_CLAIMS_IN_ORDER},
    [CHECK_LED] = {"led", "once all faults are over, never longer than --within ticks without a leader", 0},
    [CHECK_RESTS] = {"rests", "from every world, a world at rest can be reached", 0},
    [CHECK_ELECTS] =
        {"elects",
         "from every world, one can be reached in which all live nodes follow one leader (of a machine that"
         " decides: hold the same for decided)",
         0},
};

const char *check_property_name(enum check_property property)
{
    return properties[property].name;
}

const char *check_property_text(enum check_property property)
{
    return properties[property].text;
}

uint32_t check_claimed(const struct el_algorithm *algorithm)
{
    const uint32_t at_rest = 1u << CHECK_AGREEMENT | 1u << CHECK_BEST | 1u << CHECK_GROUPS;
    uint32_t claimed = 0;
    for (uint32_t i = 0; i < CHECK_PROPERTIES; i++)
        if (properties[i].claim & algorithm->claims) claimed |= 1u << i;
    if (!algorithm->beats) return claimed;
    if (!(claimed & ~at_rest)) claimed |= 1u << CHECK_ELECTS;
    return claimed & ~at_rest; /* heartbeats never come to rest */
}

const char *check_budget_name(enum check_budget budget)
{
    static const char *const names[] = {"crash",   "restart", "wipe",   "lose",     "duplicate",
                                        "suspect", "pause",   "resign", "transfer", "delay-some",
                                        "reorder", "cut",     "part"};
    return names[budget];
}

/* ---- After every move ---- */

static bool asks(const struct check_model *model, enum check_property property)
{
    return model->config->properties & 1u << property;
}

static uint32_t count_leading(const struct check_model *model, const struct check_world *world)
{
    uint32_t leading = 0;
    for (uint32_t i = 0; i < model->count; i++) leading += check_local_at(model, world->local[i])->leading;
    return leading;
}

/* The store is the last node; its view is the first of the queue, with its key. */
static bool is_out_of_turn(const struct check_model *model, const struct check_world *world)
{
    const struct check_local *store = check_local_at(model, world->local[model->count - 1]);
    for (uint32_t i = 0; i + 1 < model->count && store->leader; i++) {
        const struct check_local *local = check_local_at(model, world->local[i]);
        if (local->leading && local->term > store->term) return true;
    }
    return false;
}

/* Links are whole, nobody is paused, and those live who are needed to elect a leader. */
static bool is_well(const struct check_model *model, const struct check_world *world)
{
    const bool has_store = model->algorithm->store;
    uint32_t living = 0, flags = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        flags = check_head_of(check_local_at(model, world->local[i]))->flags;
        if (flags & LOCAL_ALIVE && flags & LOCAL_PAUSED) return false;
        living += (flags & LOCAL_ALIVE) != 0;
    }
    if (world->broken || (has_store && !(flags & LOCAL_ALIVE))) return false;
    return has_store ? living > 1 : model->algorithm->majority ? living > model->count / 2 : living > 0;
}

void check_count_leaderless(const struct check_model *model, struct check_world *world)
{
    if (!asks(model, CHECK_LED)) return;
    if (count_leading(model, world) || !is_well(model, world))
        world->leaderless = 0;
    else if (world->leaderless <= model->config->within)
        world->leaderless++;
}

uint32_t check_judge(const struct check_model *model, const struct check_world *world)
{
    uint32_t broken = 0;
    if (asks(model, CHECK_ONE_LEADER) && count_leading(model, world) > 1) broken |= 1u << CHECK_ONE_LEADER;
    if (asks(model, CHECK_IN_ORDER) && is_out_of_turn(model, world)) broken |= 1u << CHECK_IN_ORDER;
    if (asks(model, CHECK_LED) && world->leaderless > model->config->within) broken |= 1u << CHECK_LED;
    return broken;
}

static uint32_t remember_tenure(struct check_model *model, struct check_history *history, el_node node,
                                uint64_t term)
{
    uint32_t at = 0, broken = 0;
    for (; at < HISTORY_TERMS_MAX && history->tenures[at].node; at++) {
        const struct check_tenure *tenure = &history->tenures[at];
        if (tenure->term == term && tenure->node == node && !tenure->past) return 0;
        if (tenure->term == term) broken = 1u << CHECK_ONE_PER_TERM;
        if (tenure->term > term || (tenure->term == term && tenure->node > node)) break;
    }
    if (history->tenures[HISTORY_TERMS_MAX - 1].node) {
        check_give_up(model, "too many terms have had a leader: bound them with --terms");
        return broken;
    }
    memmove(&history->tenures[at + 1], &history->tenures[at],
            (HISTORY_TERMS_MAX - 1 - at) * sizeof *history->tenures);
    history->tenures[at] = (struct check_tenure){.term = term, .node = node};
    return broken;
}

static void remember_death(struct check_history *history, el_node node)
{
    for (uint32_t i = 0; i < HISTORY_TERMS_MAX; i++)
        if (history->tenures[i].node == node) history->tenures[i].past = 1;
}

/* Decisions are kept for ever, whoever knows them and whatever becomes of him. */
static uint32_t remember_decision(struct check_model *model, uint32_t number, const struct check_local *is,
                                  uint32_t *broken)
{
    struct check_history history = *check_history_at(model, number);
    uint32_t at = 0;
    if (!asks(model, CHECK_ONE_DECISION) || is->decision.number == 0) return number;
    while (at < HISTORY_DECISIONS_MAX && history.decisions[at].number) {
        const struct el_decision *known = &history.decisions[at];
        if (known->number == is->decision.number) {
            if (known->value != is->decision.value) *broken |= 1u << CHECK_ONE_DECISION;
            return number;
        }
        if (known->number > is->decision.number) break;
        at++;
    }
    if (history.decisions[HISTORY_DECISIONS_MAX - 1].number) {
        check_give_up(model, "too many decisions: name fewer initiators");
        return number;
    }
    memmove(&history.decisions[at + 1], &history.decisions[at],
            (HISTORY_DECISIONS_MAX - 1 - at) * sizeof *history.decisions);
    history.decisions[at] = is->decision;
    return check_add_history(model, &history);
}

uint32_t check_remember(struct check_model *model, uint32_t number, el_node node, uint32_t before,
                        uint32_t after, uint32_t *broken)
{
    const struct check_local *was = check_local_at(model, before), *is = check_local_at(model, after);
    const bool died = (check_head_of(was)->flags & LOCAL_ALIVE) && !(check_head_of(is)->flags & LOCAL_ALIVE);
    const bool begins = is->leading && !(was->leading && was->term == is->term);
    *broken = 0;
    if (model->algorithm->decided) return remember_decision(model, number, is, broken);
    const struct check_history *known = check_history_at(model, number);
    const bool decides = is->members.record > known->decided;
    if (!died && !begins && !decides) return number;
    if (!decides && !asks(model, CHECK_ONE_PER_TERM) && !asks(model, CHECK_TOKENS_RISE)) return number;
    struct check_history history = *known;
    if (decides) { /* it is the first to install it */
        history.decided = is->members.record;
        history.floors[history.decided] = is->members.floor;
    }
    if (died) remember_death(&history, node);
    if (begins && asks(model, CHECK_ONE_PER_TERM)) *broken |= remember_tenure(model, &history, node, is->term);
    if (begins && asks(model, CHECK_TOKENS_RISE)) {
        if (is->term <= history.highest) {
            history.fell = 1;
            *broken |= 1u << CHECK_TOKENS_RISE;
        }
        if (is->term > history.highest) history.highest = is->term;
    }
    const bool is_same = memcmp(&history, known, sizeof history) == 0; /* most crashes end no leadership */
    return is_same ? number : check_add_history(model, &history);
}

/* ---- At rest ---- */

static bool lives(const struct check_model *model, const struct check_world *world, el_node node)
{
    return check_head_of(check_local_at(model, world->local[node - 1]))->flags & LOCAL_ALIVE;
}

static el_node best_alive(const struct check_model *model, const struct check_world *world)
{
    el_node best = EL_NOBODY;
    for (el_node node = 1; node <= model->count; node++)
        if (lives(model, world, node) && el_may_lead(model->cluster, node) &&
            el_outranks(model->cluster, node, best))
            best = node;
    return best;
}

static el_node named_by(const struct check_model *model, const struct check_world *world, el_node node)
{
    return check_local_at(model, world->local[node - 1])->leader;
}

static bool leads(const struct check_model *model, const struct check_world *world, el_node node)
{
    return node && lives(model, world, node) && named_by(model, world, node) == node;
}

/* All live nodes hold the same for decided. */
static bool is_decided(const struct check_model *model, const struct check_world *world)
{
    const struct check_local *first = NULL;
    for (el_node node = 1; node <= model->count; node++) {
        const struct check_local *local = check_local_at(model, world->local[node - 1]);
        if (!lives(model, world, node)) continue;
        if (!first) first = local;
        if (local->decision.number != first->decision.number || local->decision.value != first->decision.value)
            return false;
    }
    return true;
}

bool check_is_agreed(const struct check_model *model, const struct check_world *world)
{
    el_node leader = EL_NOBODY;
    if (model->algorithm->decided) return is_decided(model, world);
    for (el_node node = 1; node <= model->count; node++) {
        if (!lives(model, world, node)) continue;
        const el_node named = named_by(model, world, node);
        if (!leads(model, world, named) || (leader && leader != named)) return false;
        leader = named;
    }
    return true;
}

bool check_must_lead(const struct check_model *model, const struct check_world *world)
{
    return best_alive(model, world) && (world->called || model->algorithm->beats);
}

uint32_t check_judge_rest(const struct check_model *model, const struct check_world *world)
{
    uint32_t broken = 0;
    const el_node best = best_alive(model, world);
    if (asks(model, CHECK_LED) && !count_leading(model, world) && is_well(model, world))
        broken |= 1u << CHECK_LED; /* it will stay so */
    if (!check_must_lead(model, world)) return broken;
    const bool agreed = check_is_agreed(model, world);
    if (asks(model, CHECK_AGREEMENT) && !agreed) broken |= 1u << CHECK_AGREEMENT;
    if (asks(model, CHECK_BEST) && !(agreed && named_by(model, world, best) == best))
        broken |= 1u << CHECK_BEST;
    for (el_node node = 1; node <= model->count && asks(model, CHECK_GROUPS); node++)
        if (lives(model, world, node) && !leads(model, world, named_by(model, world, node)))
            broken |= 1u << CHECK_GROUPS;
    return broken;
}
