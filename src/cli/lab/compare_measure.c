/*
 * Measuring the cells of `elector compare`, on all processors. Each cell depends only on its terms, so the threads
 * share nothing but the number of the next cell. They go column by column, and begin each with the last rows, which take
 * longest.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cli/lab/compare.h"

/* The cells of a row: three, and one for each trouble. */
enum { COST, TWICE, SURVIVED, TROUBLES, CELLS = TROUBLES + SIM_TROUBLES };

struct pool {
    struct comparison *comparison;
    _Atomic uint64_t next, done;
    atomic_bool failed;
    pthread_mutex_t lock;    /* protects the fields below */
    struct sim_error *error; /* of the first cell that failed */
    bool tells;
    uint64_t began_ns, told_ns;
};

static bool takes_part(const struct el_algorithm *algorithm, uint32_t nodes)
{
    return !algorithm->count_max || nodes <= algorithm->count_max;
}

static int measure(const struct sim_trial_terms *terms, struct compare_row *row, int cell,
                   struct sim_error *error)
{
    struct sim_trial_terms doubled = *terms;
    doubled.nodes *= 2;
    if (!row->ran) return 0;
    switch (cell) {
    case COST: return sim_measure_cost(row->algorithm, terms, &row->cost, error);
    case TWICE:
        return takes_part(row->algorithm, doubled.nodes)
                   ? sim_measure_cost(row->algorithm, &doubled, &row->twice, error)
                   : 0;
    case SURVIVED: return sim_measure_survived(row->algorithm, terms, &row->survived, error);
    default:
        return sim_measure_trouble(row->algorithm, (enum sim_trouble)(cell - TROUBLES), terms,
                                   &row->trials[cell - TROUBLES], error);
    }
}

/* At most twice a second. After the first column the estimate is a fair one. */
static void tell(struct pool *pool, const struct compare_row *row)
{
    const uint64_t all = (uint64_t)pool->comparison->count * CELLS, done = atomic_load(&pool->done);
    const uint64_t now_ns = clock_monotonic_ns();
    pthread_mutex_lock(&pool->lock);
    if (pool->tells && now_ns >= pool->told_ns + NS_PER_S / 2) {
        const double seconds = (double)(now_ns - pool->began_ns) / (double)NS_PER_S;
        pool->told_ns = now_ns;
        fprintf(stderr, "\r%llu of %llu cells, %s; %.0f s so far, about %.0f s to go \033[K",
                (unsigned long long)done, (unsigned long long)all, row->algorithm->name, seconds,
                seconds * (double)(all - done) / (double)done);
        fflush(stderr);
    }
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *context)
{
    struct pool *pool = context;
    const uint64_t count = pool->comparison->count, all = count * CELLS;
    for (uint64_t at; !atomic_load(&pool->failed) && (at = atomic_fetch_add(&pool->next, 1)) < all;) {
        struct compare_row *row = &pool->comparison->rows[count - 1 - at % count];
        struct sim_error error = {""};
        if (measure(&pool->comparison->terms, row, (int)(at / count), &error) != 0) {
            pthread_mutex_lock(&pool->lock);
            if (!atomic_exchange(&pool->failed, true)) *pool->error = error;
            pthread_mutex_unlock(&pool->lock);
        }
        atomic_fetch_add(&pool->done, 1);
        tell(pool, row);
    }
    return NULL;
}

/* With fewer threads than asked for, if the system grants no more. */
static void work_together(struct pool *pool, unsigned threads)
{
    enum { THREADS_MAX = 64 };
    pthread_t helpers[THREADS_MAX];
    unsigned started = 0;
    while (started + 1 < threads && started < THREADS_MAX &&
           pthread_create(&helpers[started], NULL, work, pool) == 0)
        started++;
    work(pool);
    for (unsigned i = 0; i < started; i++) pthread_join(helpers[i], NULL);
}

int compare_measure(struct comparison *comparison, unsigned threads, bool tells, struct sim_error *error)
{
    const struct el_algorithm *const *all = el_algorithms(&comparison->count);
    comparison->rows = calloc(comparison->count, sizeof *comparison->rows);
    if (!comparison->rows) {
        snprintf(error->text, sizeof error->text, "out of memory");
        return -1;
    }
    for (uint32_t i = 0; i < comparison->count; i++) {
        comparison->rows[i].algorithm = all[i];
        comparison->rows[i].ran = takes_part(all[i], comparison->terms.nodes);
    }
    struct pool pool = {
        .comparison = comparison, .error = error, .tells = tells, .began_ns = clock_monotonic_ns()};
    pool.told_ns = pool.began_ns;
    pthread_mutex_init(&pool.lock, NULL);
    work_together(&pool, threads);
    pthread_mutex_destroy(&pool.lock);
    if (tells) fputs("\r\033[K", stderr);
    return atomic_load(&pool.failed) ? -1 : 0;
}
