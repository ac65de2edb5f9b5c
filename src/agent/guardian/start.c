/* See start.h. */
#define _GNU_SOURCE
#include "agent/guardian/start.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/guardian/spawn.h"

enum { STACK = 256 * 1024 };

/* The second of two frees it: the thread when it is over, or the loop when it gives up. */
enum { GOES_ON, IS_OVER, IS_GIVEN_UP };

struct guardian_start {
    const char *program;
    bool json, realtime;
    atomic_int state;
    int over; /* an eventfd: readable when the thread does not need this any more */
    int error, channel;
    pid_t pid;
};

static void free_start(struct guardian_start *start)
{
    close(start->over);
    free(start);
}

/* Nobody waits for this process: the agent reaps it like an orphan. */
static void end_guardian(const struct guardian_start *start)
{
    if (start->error) return;
    kill(start->pid, SIGKILL);
    (void)waitpid(start->pid, NULL, WNOHANG);
    close(start->channel);
}

static void *run(void *argument)
{
    struct guardian_start *start = argument;
    int goes_on = GOES_ON;
    start->error = guardian_spawn(start->program, start->json, start->realtime, &start->pid, &start->channel);
    if (atomic_compare_exchange_strong(&start->state, &goes_on, IS_OVER)) {
        (void)eventfd_write(start->over, 1);
        return NULL;
    }
    end_guardian(start);
    free_start(start);
    return NULL;
}

static int begin_thread(struct guardian_start *start)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the loop's */
    error = pthread_create(&thread, &attributes, run, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

struct guardian_start *guardian_start_begin(const char *program, bool json, bool realtime)
{
    struct guardian_start *start = calloc(1, sizeof *start);
    if (!start) return NULL;
    *start = (struct guardian_start){
        .program = program, .json = json, .realtime = realtime, .over = eventfd(0, EFD_CLOEXEC), .channel = -1};
    int error = start->over < 0 ? errno : begin_thread(start);
    if (!error) return start;
    if (start->over >= 0) close(start->over);
    free(start);
    errno = error;
    return NULL;
}

bool guardian_start_is_over(const struct guardian_start *start, int wait_ms)
{
    return poll(&(struct pollfd){.fd = start->over, .events = POLLIN}, 1, wait_ms) > 0;
}

int guardian_start_take(struct guardian_start *start, pid_t *pid, int *channel)
{
    const int error = start->error;
    *pid = start->pid;
    *channel = start->channel;
    free_start(start);
    return error;
}

/* If the thread is over, it may still have to write to the eventfd: that is its next instruction. */
void guardian_start_abandon(struct guardian_start *start)
{
    int goes_on = GOES_ON;
    eventfd_t count;
    if (!start || atomic_compare_exchange_strong(&start->state, &goes_on, IS_GIVEN_UP)) return;
    (void)eventfd_read(start->over, &count);
    end_guardian(start);
    free_start(start);
}
