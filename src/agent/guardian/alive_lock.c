/* See alive_lock.h. */
#define _GNU_SOURCE
#include "agent/guardian/alive_lock.h"

#include <errno.h>
#include <sys/eventfd.h>

/* ---- The agent ---- */

bool alive_lock_hold(pthread_mutex_t *lock)
{
    pthread_mutexattr_t kind;
    if (pthread_mutexattr_init(&kind) != 0) return false;
    const bool is_made = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED) == 0 &&
                         pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST) == 0 &&
                         pthread_mutex_init(lock, &kind) == 0;
    pthread_mutexattr_destroy(&kind);
    return is_made && pthread_mutex_lock(lock) == 0;
}

void alive_lock_release(pthread_mutex_t *lock)
{
    (void)pthread_mutex_unlock(lock);
}

/* ---- The guardian ---- */

static struct {
    pthread_mutex_t *lock;
    int event;
} watched;

/* Any other way to get the lock says nothing about its last owner. */
static void conclude(int error)
{
    if (error == EOWNERDEAD) (void)eventfd_write(watched.event, 1);
    if (error == 0) (void)pthread_mutex_unlock(watched.lock);
}

static void *await_death(void *unused)
{
    conclude(pthread_mutex_lock(watched.lock));
    return unused;
}

int alive_lock_watch(pthread_mutex_t *lock)
{
    pthread_t waiter;
    watched.lock = lock;
    watched.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (watched.event < 0) return -1;
    const int error = pthread_mutex_trylock(lock);
    if (error != EBUSY)
        conclude(error);
    else if (pthread_create(&waiter, NULL, await_death, NULL) == 0)
        (void)pthread_detach(waiter);
    return watched.event;
}
