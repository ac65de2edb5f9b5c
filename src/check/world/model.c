/* The parts of a world: local states, letters and histories, each kept once; and the world's fingerprint. */
#include "check/world/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/reduce/renumber.h"
#include "check/reduce/symmetry.h"

/* ---- Time in parts of a tick ---- */

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint16_t check_parts(struct check_model *model, el_duration duration)
{
    const __uint128_t parts =
        ((__uint128_t)duration * model->parts + model->config->tick - 1) / model->config->tick;
    if (parts <= LEFT_MOST) return (uint16_t)parts;
    check_give_up(model, "a timer runs for more ticks than can be counted: use a longer --tick");
    return LEFT_MOST;
}

uint16_t check_rate_parts(const struct check_model *model, uint8_t rate)
{
    enum { MILLION = 1000000 };
    const uint32_t off = (uint32_t)((uint64_t)model->parts * model->cluster->drift / MILLION);
    return (uint16_t)(rate == 0 ? model->parts - off : rate == 1 ? model->parts : model->parts + off);
}

/* ---- Adding ---- */

static struct el_hash *hash_under(const struct check_model *model, const struct check_store *store,
                                  void *record, uint32_t permutation)
{
    if (permutation == 0) return record;
    const size_t more = (model->permutation_count - 1) * sizeof(struct el_hash);
    return (struct el_hash *)(void *)((unsigned char *)record + store->size - more) + (permutation - 1);
}

static void view_local(const struct check_model *model, struct check_local *local)
{
    const struct check_head *head = check_head_of(local);
    const uint16_t *left = check_left_of(model, local);
    const bool lives = head->flags & LOCAL_ALIVE;
    if (lives && (head->flags & LOCAL_STARTED)) {
        struct el_view view = {0};
        const struct el_config cfg = {model->cluster, head->self};
        model->algorithm->view(head + 1, &cfg, &view);
        local->term = view.term;
        if (model->algorithm->decided) model->algorithm->decided(head + 1, &local->decision);
        if (model->algorithm->membership) model->algorithm->membership(head + 1, &cfg, &local->members);
        local->leader = (uint8_t)view.leader;
        local->role = (uint8_t)view.role;
        const uint32_t place = view.timer == EL_NO_TIMER ? 0 : view.timer * (model->count + 1) + view.slot;
        const uint16_t bound = view.timer == EL_NO_TIMER ? 1 : left[place];
        local->leading = view.role == EL_LEADER && bound != 0 && bound != LEFT_OVERDUE && bound != LEFT_NONE;
        if (view.role == EL_LEADER && bound == LEFT_OVERDUE) local->ends_first = (uint16_t)(place + 1);
    }
    for (size_t i = 0; i < model->left_count && model->config->time == CHECK_TICKS; i++) {
        if (left[i] == LEFT_OVERDUE) local->is_overdue = true;
        if (left[i] == 0 || left[i] == LEFT_OVERDUE) local->is_due = true;
    }
}

uint32_t check_add_local(struct check_model *model, const unsigned char *bytes)
{
    unsigned char record[CHECK_RECORD_MAX];
    struct check_local *local = (struct check_local *)(void *)record;
    memset(local, 0, sizeof *local);
    memcpy(local + 1, bytes, model->bytes);
    for (uint32_t i = 0; i < model->permutation_count; i++) {
        unsigned char renamed[CHECK_RECORD_MAX];
        const unsigned char *content = bytes;
        if (i > 0) {
            memcpy(renamed, bytes, model->bytes);
            check_rename_local(model, renamed, model->permutations[i]);
            content = renamed;
        }
        *hash_under(model, &model->locals, record, i) = el_fingerprint(content, model->bytes);
    }
    view_local(model, local);
    const uint32_t number = check_store_add(&model->locals, record);
    if (number == UINT32_MAX) check_give_up(model, "out of memory for local states or messages");
    return number == UINT32_MAX ? 0 : number;
}

uint32_t check_add_letter(struct check_model *model, const struct el_msg *msg, uint16_t left, bool returns)
{
    unsigned char record[sizeof(struct check_letter) + CHECK_PERMUTATIONS_MAX * sizeof(struct el_hash)];
    struct check_letter *letter = (struct check_letter *)(void *)record;
    memset(letter, 0, sizeof *letter);
    letter->msg = *msg;
    letter->left = left;
    letter->returns = returns;
    for (uint32_t i = 0; i < model->permutation_count; i++) {
        struct check_letter renamed = *letter;
        if (i > 0) check_rename_msg(model, &renamed.msg, model->permutations[i]);
        *hash_under(model, &model->letters, record, i) = el_fingerprint(&renamed.msg, CHECK_LETTER_BYTES);
    }
    const uint32_t number = check_store_add(&model->letters, record);
    if (number == UINT32_MAX) check_give_up(model, "out of memory for local states or messages");
    return number == UINT32_MAX ? 0 : number;
}

uint32_t check_aged_letter(struct check_model *model, uint32_t number)
{
    struct check_letter *letter = check_store_at(&model->letters, number);
    uint32_t aged = atomic_load_explicit(&letter->aged, memory_order_acquire);
    if (aged) return aged - 1;
    aged = check_add_letter(model, &letter->msg, (uint16_t)(letter->left - model->parts), letter->returns);
    atomic_store_explicit(&letter->aged, aged + 1, memory_order_release);
    return aged;
}

uint32_t check_add_history(struct check_model *model, const struct check_history *history)
{
    unsigned char record[CHECK_RECORD_MAX] = {0};
    memcpy(record, history, sizeof *history);
    const size_t bytes = sizeof *history - sizeof history->hash;
    for (uint32_t i = 0; i < model->permutation_count; i++) {
        struct check_history renamed = *history;
        if (i > 0) check_rename_history(model, &renamed, model->permutations[i]);
        *hash_under(model, &model->histories, record, i) = el_fingerprint(&renamed.highest, bytes);
    }
    const uint32_t number = check_store_add(&model->histories, record);
    if (number == UINT32_MAX) check_give_up(model, "out of memory for local states or messages");
    return number == UINT32_MAX ? 0 : number;
}

/* ---- Fingerprints ---- */

/* On a link that keeps order, the place of a message is part of its fingerprint. */
static struct el_hash in_place(struct el_hash hash, uint32_t place)
{
    const uint64_t odd = 2 * (uint64_t)place + 1;
    return (struct el_hash){hash.high * odd + place,
                            (hash.low << (place % 61) | hash.low >> (63 - place % 61) >> 1) + place};
}

static bool same_link(const struct check_letter *a, const struct check_letter *b)
{
    return a->msg.from == b->msg.from && a->msg.to == b->msg.to && a->returns == b->returns;
}

static struct el_hash sum_of_nodes(const struct check_model *model, const struct check_world *world,
                                   uint32_t permutation)
{
    struct el_hash sum = {0, 0};
    for (uint32_t i = 0; i < model->count; i++)
        check_add_hash(&sum, *hash_under(model, &model->locals, check_store_at(&model->locals, world->local[i]),
                                         permutation));
    check_add_hash(&sum, *hash_under(model, &model->histories,
                                     check_store_at(&model->histories, world->history), permutation));
    return sum;
}

static struct el_hash hash_of_counts(const struct check_world *world)
{
    const uint64_t counts[] = {
        world->spent[0],
        world->spent[1],
        (uint64_t)world->leaderless << 32 | (uint64_t)world->ticks << 2 | (uint64_t)world->dawn << 1 |
            world->called,
        world->broken,
    };
    struct el_hash sum = {0, 0}; /* only added to fingerprints: odd factors are good enough */
    for (uint32_t i = 0; i < 4; i++) {
        static const uint64_t odd[] = {UINT64_C(0x9E3779B97F4A7C15), UINT64_C(0xBF58476D1CE4E5B9),
                                       UINT64_C(0x94D049BB133111EB), UINT64_C(0xD6E8FEB86659FD93)};
        sum.low += counts[i] * odd[i];
        sum.high += (counts[i] ^ counts[i] >> 32) * odd[3 - i];
    }
    return sum;
}

static struct el_hash sum_under(const struct check_model *model, const struct check_world *world,
                                uint32_t permutation)
{
    struct el_hash sum = sum_of_nodes(model, world, permutation);
    uint32_t place = 0;
    const struct check_letter *before = NULL;
    for (uint32_t i = 0; i < world->flight_count; i++) {
        struct check_letter *letter = check_store_at(&model->letters, world->flight[i]);
        const struct el_hash hash = *hash_under(model, &model->letters, letter, permutation);
        if (model->fifo) {
            place = before && same_link(before, letter) ? place + 1 : 0;
            before = letter;
            check_add_hash(&sum, in_place(hash, place));
        } else {
            check_add_hash(&sum, hash);
        }
    }
    return sum;
}

static bool is_less(struct el_hash a, struct el_hash b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

struct el_hash check_key(const struct check_model *model, const struct check_world *world,
                         uint32_t *permutation)
{
    struct el_hash least = sum_of_nodes(model, world, 0);
    *permutation = 0;
    for (uint32_t i = 1; i < model->permutation_count; i++) {
        const struct el_hash sum = sum_of_nodes(model, world, i);
        if (!is_less(sum, least)) continue;
        least = sum;
        *permutation = i;
    }
    return least;
}

struct el_hash check_fingerprint(const struct check_model *model, const struct check_world *world)
{
    struct el_hash least = model->renumbers ? check_renumbered(model, world) : sum_under(model, world, 0);
    for (uint32_t i = 1; i < model->permutation_count; i++) {
        const struct el_hash sum = sum_under(model, world, i);
        if (is_less(sum, least)) least = sum;
    }
    check_add_hash(&least, hash_of_counts(world));
    return least;
}

/* ---- The model ---- */

static bool refuse(char *text, size_t size, const char *why)
{
    snprintf(text, size, "%s", why);
    return false;
}

/* The wall clock of the checker counts lives: the slowest that is different for each incarnation. */
static bool waits_for_the_time(const struct el_algorithm *algorithm)
{
    for (uint32_t i = 0; i < algorithm->fact_count; i++)
        if (strcmp(algorithm->facts[i], "wall-clock") == 0) return true;
    return false;
}

static bool is_sensible(const struct check_model *model, char *text, size_t size)
{
    const struct check_config *config = model->config;
    if (model->count > CHECK_NODES_MAX) return refuse(text, size, "the checker takes at most 16 nodes");
    if (model->algorithm->on_arrival) return refuse(text, size, "a machine with a stopwatch cannot be checked");
    if (model->tells_time &&
        (config->budget[CHECK_WIPE] == CHECK_ANY || config->budget[CHECK_RESTART] == CHECK_ANY))
        return refuse(text, size,
                      "a node that loses its record asks for the wall clock, and here that counts restarts: "
                      "bound --wipe and --restart");
    if (model->cluster->record_count && !config->rounds)
        return refuse(text, size, "members that change (--record) need --rounds on");
    if (config->time == CHECK_TICKS && config->tick == 0) return refuse(text, size, "--tick must be above 0");
    const bool is_about_order = config->properties & 1u << CHECK_IN_ORDER;
    if (is_about_order && !model->algorithm->store)
        return refuse(text, size, "in-order is about elections on a store");
    if (((config->properties & 1u << CHECK_LED) != 0) != (config->within != 0))
        return refuse(text, size, "--property led and --within TICKS belong together");
    if (config->within && config->time != CHECK_TICKS)
        return refuse(text, size, "--property led counts ticks: it needs --time ticks, or --rounds on");
    if (model->soup && (model->fifo || model->hop_acks || model->timely || config->late))
        return refuse(text, size,
                      "unlimited losses and duplicates together need an algorithm whose links need neither "
                      "order nor timeliness");
    if (config->rounds &&
        (config->time != CHECK_TICKS || model->fifo || model->hop_acks || config->late || model->soup))
        return refuse(text, size, "rounds need ticks, and links that need not keep order");
    const bool is_told = model->algorithm->on_suspect && (config->detect || config->budget[CHECK_SUSPECT]);
    if (config->rounds && (config->initiators || is_told))
        return refuse(text, size, "with --rounds there are no initiators and no detector");
    if ((config->budget[CHECK_CUT] || config->budget[CHECK_PART]) && (!config->rounds || model->count > 5))
        return refuse(text, size, "--cut and --part need --rounds, and at most five nodes");
    if ((uint64_t)config->late * model->parts > LEFT_MOST)
        return refuse(text, size, "--late is too many ticks: use a longer --tick, or a coarser --drift");
    if (model->parts > LEFT_MOST / 4)
        return refuse(text, size, "the drift bound is too fine for ticks: use --drift 0.01");
    return true;
}

bool check_model_init(struct check_model *model, const struct check_config *config, char *text, size_t size)
{
    enum { MILLION = 1000000 };
    const struct el_algorithm *algorithm = config->algorithm;
    *model = (struct check_model){
        .config = config,
        .algorithm = algorithm,
        .cluster = config->cluster,
        .count = config->cluster->count,
        .fifo = algorithm->needs & EL_NEEDS_FIFO,
        .hop_acks = algorithm->needs & EL_NEEDS_HOP_ACKS,
        .timely = config->time == CHECK_TICKS && ((algorithm->needs & EL_NEEDS_TIMELY) || config->rounds),
        .uses_moot = config->reduce && algorithm->moot && !(algorithm->needs & EL_NEEDS_FIFO),
        .copies_max = algorithm->beats ? 1 : 0,
        .tells_time = config->budget[CHECK_WIPE] && waits_for_the_time(algorithm),
        .parts = MILLION / common_divisor(MILLION, config->cluster->drift)};
    const bool any = config->budget[CHECK_DUPLICATE] == CHECK_ANY && config->budget[CHECK_LOSE] == CHECK_ANY;
    model->soup = any && !check_looks_at_rest(config); /* with messages kept for ever no world is at rest */
    if (any) model->copies_max = 1;
    model->late_is_lost = model->soup || (!model->fifo && !model->hop_acks && config->time == CHECK_FREE &&
                                          !check_looks_at_rest(config));
    if (!config->rates || config->time == CHECK_FREE) model->parts = 1;
    if (!is_sensible(model, text, size)) return false;
    model->state_size = el_state_size(algorithm, model->count);
    model->left_count = (size_t)algorithm->timer_count * (model->count + 1);
    model->bytes =
        (sizeof(struct check_head) + model->state_size + model->left_count * sizeof(uint16_t) + 7) / 8 * 8;
    if (!check_find_permutations(model)) return refuse(text, size, "out of memory");
    model->renumbers = check_may_renumber(model);
    const size_t more = (model->permutation_count - 1) * sizeof(struct el_hash);
    if (sizeof(struct check_local) + model->bytes + more > CHECK_RECORD_MAX)
        return refuse(text, size, "the state of a node is too large with this many members: use fewer --nodes");
    if (!check_store_init(&model->locals, sizeof(struct check_local) + model->bytes + more) ||
        !check_store_init(&model->letters, sizeof(struct check_letter) + more) ||
        !check_store_init(&model->histories, sizeof(struct check_history) + more))
        return refuse(text, size, "out of memory");
    model->first_history = check_add_history(model, &(struct check_history){0});
    return true;
}

void check_model_free(struct check_model *model)
{
    if (model->locals.size) check_store_free(&model->locals);
    if (model->letters.size) check_store_free(&model->letters);
    if (model->histories.size) check_store_free(&model->histories);
    free(model->permutations);
}

uint64_t check_model_memory(const struct check_model *model)
{
    return check_store_memory(&model->locals) + check_store_memory(&model->letters) +
           check_store_memory(&model->histories);
}

struct check_world check_first_world(struct check_model *model, const uint8_t *rates)
{
    struct check_world world = {.history = model->first_history};
    for (el_node node = 1; node <= model->count; node++) {
        unsigned char bytes[CHECK_RECORD_MAX] = {0};
        struct check_head *head = (struct check_head *)(void *)bytes;
        head->self = (uint8_t)node;
        head->rate = rates[node - 1];
        head->flags = model->config->initiators & el_bit(node) ? LOCAL_CALLS : 0;
        uint16_t *left = (uint16_t *)(void *)(bytes + sizeof *head + model->state_size);
        for (size_t i = 0; i < model->left_count; i++) left[i] = LEFT_NONE;
        world.local[node - 1] = check_add_local(model, bytes);
    }
    return world;
}
