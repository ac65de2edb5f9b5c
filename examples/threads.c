/* One thread dispatches; others work, and ask before each action whether they may. */
#include <err.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include <elector.h>

static elector *e;
static atomic_int jobs;
static atomic_bool is_over;

/* The thread that owns the elector. */
static void *dispatch(void *context)
{
    (void)context;
    elector_status status = elector_campaign(e, "jobs", NULL, 0, NULL);
    while (!atomic_load(&is_over) && (status == ELECTOR_OK || status == ELECTOR_TIMEOUT))
        status = elector_wait(e, -1); /* ends with elector_wakeup() */
    if (status != ELECTOR_OK && status != ELECTOR_INTERRUPTED) errx(1, "%s", elector_message(e));
    return NULL;
}

/* Any thread may ask. The clock and a few loads: cheap enough for every action. */
static void *work(void *context)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    while (atomic_load(&jobs) < 3) {
        const uint64_t token = elector_token(e, "jobs");
        const int job = token ? atomic_fetch_add(&jobs, 1) : 3;
        if (job < 3) printf("job %d under token %" PRIu64 " by %s\n", job, token, (const char *)context);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

int main(void)
{
    pthread_t owner, workers[2];
    if (elector_open(NULL, &e) != ELECTOR_OK) errx(1, "%s", elector_message(e));
    pthread_create(&owner, NULL, dispatch, NULL);
    pthread_create(&workers[0], NULL, work, "one");
    pthread_create(&workers[1], NULL, work, "two");
    for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
    atomic_store(&is_over, true);
    elector_wakeup(e);
    pthread_join(owner, NULL);
    elector_close(e); /* when no other thread can ask any more */
    return 0;
}
