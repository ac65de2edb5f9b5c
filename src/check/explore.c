/*
 * The search goes level by level, so that the first counterexample is a shortest one. Each thread takes
 * chunks of the level, visits every successor, and keeps the new ones. When the table of worlds must grow,
 * all threads wait.
 */
#define _DEFAULT_SOURCE
#include "check/explore.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* A successor whose table slot is being prefetched; many are prefetched at once. */
struct pending {
    struct check_world world;
    struct el_hash hash;
    struct check_origin origin;
    uint32_t broken;
    bool is_fault;
};
enum { PENDING_MAX = 16 };

struct worker {
    struct check_search *search;
    struct check_memo *memo;
    struct check_chunk *out;
    uint64_t out_worlds;
    pthread_t thread;
    /* while a world is expanded */
    uint32_t number, successors;
    uint64_t moves, cut, resting;
    bool all_known; /* every successor was seen before this level */
    uint32_t first_pending, pending_count;
    struct pending pending[PENDING_MAX]; /* a ring buffer */
};

static double now(void)
{
    return (double)clock_monotonic_ns() / 1e9;
}

/* ---- A barrier, at which one thread may change what all share ---- */

static void meet(struct check_search *search)
{
    pthread_mutex_lock(&search->lock);
    if (!search->wants_growth) {
        pthread_mutex_unlock(&search->lock);
        return;
    }
    const uint64_t meeting = search->meetings;
    if (++search->waiting == search->active) {
        search->may_grow = check_visited_grow(&search->visited, search->table_memory);
        search->waiting = 0;
        search->meetings++;
        atomic_store(&search->wants_growth, false);
        pthread_cond_broadcast(&search->met);
    }
    while (search->meetings == meeting) pthread_cond_wait(&search->met, &search->lock);
    pthread_mutex_unlock(&search->lock);
}

static void leave(struct check_search *search)
{
    pthread_mutex_lock(&search->lock);
    search->active--;
    if (search->active > 0 && search->wants_growth && search->waiting == search->active) {
        search->may_grow = check_visited_grow(&search->visited, search->table_memory);
        search->waiting = 0;
        search->meetings++;
        atomic_store(&search->wants_growth, false);
        pthread_cond_broadcast(&search->met);
    }
    pthread_mutex_unlock(&search->lock);
}

static void mind_the_table(struct check_search *search)
{
    if (search->covers && check_cover_is_full(&search->cover, &search->visited))
        check_stop(search, "the table of worlds is full");
    if (search->may_grow && check_visited_is_full(&search->visited)) atomic_store(&search->wants_growth, true);
    if (atomic_load_explicit(&search->wants_growth, memory_order_relaxed)) meet(search);
    if (!search->may_grow && check_visited_is_brimming(&search->visited))
        check_stop(search, "the table of worlds is full");
}

void check_stop(struct check_search *search, const char *why)
{
    pthread_mutex_lock(&search->lock);
    if (!search->stopped) snprintf(search->result->text, sizeof search->result->text, "%s", why);
    search->stopped = true;
    pthread_mutex_unlock(&search->lock);
}

/* ---- Worlds ---- */

static void report(struct check_search *search, uint32_t broken, uint32_t number, uint32_t depth,
                   struct el_hash hash)
{
    pthread_mutex_lock(&search->lock);
    const bool better = !search->found || depth < search->found_depth ||
                        (depth == search->found_depth && hash.low < search->found_hash.low);
    if (better) {
        search->found = broken;
        search->found_number = number;
        search->found_depth = depth;
        search->found_hash = hash;
    }
    pthread_mutex_unlock(&search->lock);
}

static void keep(struct worker *worker, const struct check_world *world, uint32_t number)
{
    struct check_search *search = worker->search;
    if (worker->out && !check_chunk_add(worker->out, &search->model, world, number)) {
        check_frontier_put(search->next, worker->out, worker->out_worlds);
        worker->out = NULL;
    }
    if (!worker->out) {
        worker->out_worlds = 0;
        worker->out = check_chunk_new();
        if (!worker->out || !check_chunk_add(worker->out, &search->model, world, number)) {
            check_stop(search, "out of memory");
            return;
        }
    }
    worker->out_worlds++;
}

static bool add_world(struct check_search *search, const struct check_world *world, struct el_hash hash,
                      struct check_origin origin, uint32_t *number)
{
    if (!search->covers) return check_visited_add(&search->visited, hash, origin, number);
    /* A world that was met before need not be compared with worlds that may cover it. */
    return check_visited_meet(&search->visited, hash) &&
           check_cover_add(&search->cover, &search->visited, world, origin, number);
}

static bool is_beyond(const struct check_search *search, const struct check_world *world)
{
    const uint32_t depth = search->config->depth;
    return check_is_cut(&search->model, world) || (depth && search->depth >= depth + search->model.count);
}

static bool goes_on(const struct check_search *search)
{
    return !search->stopped && (!search->found || search->must_finish_level);
}

/* Looks up the oldest pending successor, and keeps it if it is new. */
static void settle_one(struct worker *worker)
{
    struct check_search *search = worker->search;
    const struct pending *pending = &worker->pending[worker->first_pending];
    const uint32_t from = pending->origin.parent;
    uint32_t number = 0;
    worker->first_pending = (worker->first_pending + 1) % PENDING_MAX;
    worker->pending_count--;
    mind_the_table(search); /* one world may have more successors than the table has free slots */
    if (!goes_on(search)) return;
    const bool is_new = add_world(search, &pending->world, pending->hash, pending->origin, &number);
    if (search->edges) check_edge(search, from, number, pending->is_fault);
    if (is_new || (search->visited.numbers && number >= search->next_first)) worker->all_known = false;
    if (!is_new) return;
    if (pending->broken) report(search, pending->broken, number, search->depth + 1, pending->hash);
    if (search->edges) check_mark(search, number, &pending->world);
    keep(worker, &pending->world, number);
}

static void settle_all(struct worker *worker)
{
    while (worker->pending_count > 0) settle_one(worker);
}

static bool look_at(void *context, const struct check_world *world, const struct check_found *found)
{
    struct worker *worker = context;
    struct check_search *search = worker->search;
    const struct check_origin origin = {worker->number, worker->successors++};
    worker->moves++;
    if (!found->broken &&
        is_beyond(search, world)) { /* checked but not kept: its successors are out of bounds */
        worker->cut++;
        if (search->edges) check_mark_cut(search, worker->number);
        return !search->stopped;
    }
    if (worker->pending_count == PENDING_MAX) settle_one(worker);
    struct pending *pending = &worker->pending[(worker->first_pending + worker->pending_count++) % PENDING_MAX];
    pending->hash = check_fingerprint(&search->model, world);
    check_visited_expect(&search->visited, pending->hash);
    check_copy_world(&pending->world, world);
    pending->origin = origin;
    pending->broken = found->broken;
    pending->is_fault = found->is_fault;
    return goes_on(search);
}

static void expand(struct worker *worker, const struct check_world *world, uint32_t number)
{
    struct check_search *search = worker->search;
    worker->number = number;
    worker->successors = 0;
    worker->all_known = true;
    if (search->config->reduce && !search->edges) {
        const bool is_ample = check_next_ample(&search->model, worker->memo, world, look_at, worker);
        settle_all(worker);
        if (is_ample && !worker->all_known) return;
    }
    worker->successors = CHECK_FULL; /* a number range of its own, apart from the ample set */
    const bool is_moving = check_next(&search->model, worker->memo, world, look_at, worker);
    settle_all(worker);
    if (is_moving) return;
    worker->resting++;
    if (search->edges) check_mark_rest(search, number, world);
    const uint32_t broken = check_judge_rest(&search->model, world);
    if (broken) report(search, broken, number, search->depth, check_fingerprint(&search->model, world));
}

static uint32_t without_starts(const struct check_search *search, uint32_t depth)
{
    return depth > search->model.count ? depth - search->model.count : 0;
}

static void tell(struct check_search *search)
{
    const double time = now();
    if (!search->config->progress || time < search->told + 0.5) return;
    search->told = time;
    check_take_stock(search);
    search->result->depth = without_starts(search, search->depth);
    search->result->level = search->level->worlds;
    search->result->level_left = search->level->worlds - atomic_load(&search->expanded);
    search->config->progress(search->config->context, search->result);
}

static void mind_the_limits(struct check_search *search)
{
    const struct check_config *config = search->config;
    /* An eighth is left for what is not counted: mostly chunks that were freed and not returned. */
    if (check_memory(search) > config->memory / 8 * 7) check_stop(search, "the memory is used up");
    if (config->seconds > 0 && now() - search->began > config->seconds)
        check_stop(search, "the time is used up");
    if (config->interrupt && *config->interrupt) check_stop(search, "interrupted");
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct check_search *search = worker->search;
    struct check_chunk *chunk;
    while (goes_on(search) && (chunk = check_frontier_take(search->level)) != NULL) {
        struct check_world world;
        uint32_t at = 0, number = 0, done = 0;
        while (check_chunk_next(chunk, &search->model, &at, &world, &number)) {
            if (!goes_on(search)) break;
            expand(worker, &world, number);
            done++;
            const char *why = atomic_load_explicit(&search->model.gave_up, memory_order_relaxed);
            if (why) check_stop(search, why);
        }
        atomic_fetch_add(&search->expanded, done);
        check_chunk_free(chunk);
        if (worker == search->workers) {
            mind_the_limits(search);
            tell(search);
        }
    }
    if (worker->out) check_frontier_put(search->next, worker->out, worker->out_worlds);
    worker->out = NULL;
    leave(search);
    return NULL;
}

/* ---- Levels ---- */

uint64_t check_memory(const struct check_search *search)
{
    uint64_t memory =
        (search->covers ? check_cover_memory(&search->cover, atomic_load(&search->visited.count)) : 0) +
        check_visited_memory(&search->visited) + check_model_memory(&search->model) +
        search->frontiers[0].in_memory + search->frontiers[1].in_memory + check_edge_memory(search);
    for (unsigned i = 0; i < search->worker_count; i++)
        if (search->workers[i].memo) memory += check_memory_of_memo(search->workers[i].memo);
    return memory;
}

void check_take_stock(struct check_search *search)
{
    struct check_result *result = search->result;
    result->states = atomic_load(&search->visited.count);
    result->frontier = search->level->worlds + search->next->worlds - atomic_load(&search->expanded);
    result->locals = search->model.locals.count;
    result->messages = search->model.letters.count;
    result->depth = search->depth;
    result->memory = check_memory(search);
    result->seconds = now() - search->began;
    result->covered = search->covers ? atomic_load(&search->cover.covered) : 0;
    result->moves = result->cut = result->resting = 0;
    for (unsigned i = 0; i < search->worker_count; i++) {
        result->moves += search->workers[i].moves;
        result->cut += search->workers[i].cut;
        result->resting += search->workers[i].resting;
    }
}

static bool run_level(struct check_search *search)
{
    search->active = search->worker_count;
    search->waiting = 0;
    search->next_first = atomic_load(&search->visited.count);
    atomic_store(&search->expanded, 0);
    unsigned started = 1;
    for (; started < search->worker_count; started++)
        if (pthread_create(&search->workers[started].thread, NULL, work, &search->workers[started]) != 0) break;
    for (unsigned i = started; i < search->worker_count; i++) leave(search);
    work(&search->workers[0]);
    for (unsigned i = 1; i < started; i++) pthread_join(search->workers[i].thread, NULL);
    if (search->level->failed || search->next->failed)
        check_stop(search, "worlds that wait cannot be written to disk: is the temporary folder full?");
    return !search->stopped;
}

static bool rates_vary(const struct check_search *search)
{
    return search->config->rates && search->config->time == CHECK_TICKS && search->model.cluster->drift;
}

/* Each clock is slow, true or fast: every combination is an initial world. */
static void begin(struct check_search *search, struct worker *worker)
{
    uint32_t combinations = 1;
    for (uint32_t i = 0; rates_vary(search) && !search->config->rate && i < search->model.count; i++)
        combinations *= 3;
    search->active = 1;
    for (uint32_t combination = 0; combination < combinations && !search->stopped; combination++) {
        mind_the_table(search);
        uint8_t rates[CHECK_NODES_MAX];
        check_rates(search, combination, rates);
        const struct check_world world = check_first_world(&search->model, rates);
        const struct check_origin origin = {UINT32_MAX, combination};
        uint32_t number = 0;
        const struct el_hash hash = check_fingerprint(&search->model, &world);
        if (add_world(search, &world, hash, origin, &number)) keep(worker, &world, number);
    }
    if (worker->out) check_frontier_put(search->next, worker->out, worker->out_worlds);
    worker->out = NULL;
}

void check_rates(const struct check_search *search, uint32_t combination, uint8_t *rates)
{
    const uint8_t *given = search->config->rate;
    for (uint32_t i = 0; i < search->model.count; i++) {
        rates[i] = !rates_vary(search) ? 1 : given ? given[i] : (uint8_t)(combination % 3);
        combination /= 3;
    }
}

static void swap_levels(struct check_search *search)
{
    struct check_frontier *done = search->level;
    check_frontier_free(done);
    check_frontier_init(done, search->config->memory / 6);
    search->level = search->next;
    search->next = done;
    atomic_store(&search->expanded, 0);
}

static bool make_workers(struct check_search *search)
{
    search->worker_count = search->config->threads ? search->config->threads : 1;
    search->workers = calloc(search->worker_count, sizeof *search->workers);
    if (!search->workers) return false;
    for (unsigned i = 0; i < search->worker_count; i++) {
        search->workers[i].search = search;
        search->workers[i].memo = check_memo_new(&search->model);
        if (!search->workers[i].memo) return false;
    }
    return true;
}

static bool make_tables(struct check_search *search, bool eventually)
{
    const struct check_config *config = search->config;
    search->covers = config->reduce && search->model.soup && !eventually;
    if (search->covers && !check_cover_init(&search->cover, &search->model, config->memory)) return false;
    const bool numbered = eventually || check_may_be_ample(&search->model);
    return check_visited_init(&search->visited, config->memory, numbered) &&
           (!eventually || check_edges_init(search));
}

static void search_all(struct check_search *search)
{
    begin(search, &search->workers[0]);
    swap_levels(search);
    while (search->level->worlds > 0 && !search->stopped) {
        if (!run_level(search) || search->found) break;
        if (search->next->worlds > 0) search->depth++;
        search->level_worlds[0] = search->level_worlds[1];
        search->level_worlds[1] = search->next->worlds;
        swap_levels(search);
    }
}

/* The level at `depth` was being expanded: all its worlds were judged when they were found, but whether they rest is
 * known only of those before it. */
static void tell_exhausted(struct check_search *search)
{
    const uint64_t *worlds = search->level_worlds;
    search->result->exhausted =
        without_starts(search, search->depth - (search->must_finish_level && search->depth));
    if (worlds[0]) search->result->growth = (double)worlds[1] / (double)worlds[0];
}

/* Or, of a machine that decides, some node holds more than the first decision, which needs nobody. */
static bool has_led(const struct check_search *search)
{
    for (uint32_t i = 0; i < search->model.locals.count; i++)
        if (check_local_at(&search->model, i)->leading ||
            check_local_at(&search->model, i)->decision.number > 1)
            return true;
    return false;
}

static void conclude(struct check_search *search)
{
    struct check_result *result = search->result;
    check_take_stock(search);
    tell_exhausted(search);
    result->has_led = has_led(search);
    if (search->found) {
        result->verdict = CHECK_BROKEN;
        result->broken = (enum check_property)__builtin_ctz(search->found);
        check_retrace(search, search->found_number, &result->path);
    } else if (search->stopped) {
        result->verdict = CHECK_STOPPED;
    } else if (!check_moot_is_moot(&search->model, search->workers[0].memo)) {
        result->verdict = CHECK_STOPPED;
        snprintf(result->text, sizeof result->text,
                 "the algorithm does something with a message that it calls moot; ask again with --reduce off");
    } else if (search->edges) {
        check_judge_eventually(search);
    }
    result->depth = without_starts(search, result->depth);
    result->seconds = now() - search->began;
}

/* True if moot messages were left out of the search. */
static bool run(const struct check_config *config, struct check_result *result, bool leaves_out_moot)
{
    struct check_search search = {.config = config, .result = result, .began = now(), .may_grow = true};
    *result = (struct check_result){.verdict = CHECK_HOLDS};
    const uint32_t at_rest = 1u << CHECK_AGREEMENT | 1u << CHECK_BEST | 1u << CHECK_GROUPS;
    const bool eventually = config->properties & (1u << CHECK_RESTS | 1u << CHECK_ELECTS);
    search.must_finish_level = config->properties & at_rest;
    search.table_memory = config->memory / 8 * 7;
    pthread_mutex_init(&search.lock, NULL);
    pthread_cond_init(&search.met, NULL);
    check_frontier_init(&search.frontiers[0], config->memory / 6);
    check_frontier_init(&search.frontiers[1], config->memory / 6);
    search.level = &search.frontiers[0];
    search.next = &search.frontiers[1];
    if (!check_model_init(&search.model, config, result->text, sizeof result->text)) {
        result->verdict = CHECK_REFUSED;
    } else if (!make_tables(&search, eventually) || !make_workers(&search)) {
        result->verdict = CHECK_STOPPED;
        snprintf(result->text, sizeof result->text, "out of memory");
    } else {
        result->permutations = search.model.permutation_count;
        search.model.uses_moot = search.model.uses_moot && leaves_out_moot;
        search_all(&search);
        conclude(&search);
    }
    for (unsigned i = 0; search.workers && i < search.worker_count; i++)
        check_memo_free(search.workers[i].memo);
    free(search.workers);
    check_edges_free(&search);
    check_visited_free(&search.visited);
    check_cover_free(&search.cover);
    check_frontier_free(&search.frontiers[0]);
    check_frontier_free(&search.frontiers[1]);
    check_model_free(&search.model);
    pthread_mutex_destroy(&search.lock);
    pthread_cond_destroy(&search.met);
    return search.model.uses_moot;
}

/* A world at rest has no moot messages in flight either. So a counterexample at rest must contain their
 * deliveries: the search is repeated with them, and finds the shortest. */
void check_run(const struct check_config *config, struct check_result *result)
{
    const bool left_out = run(config, result, true);
    if (result->verdict != CHECK_BROKEN || !left_out || !check_looks_at_rest(config)) return;
    check_result_free(result);
    (void)run(config, result, false);
}

void check_result_free(struct check_result *result)
{
    check_path_free(&result->path);
}
