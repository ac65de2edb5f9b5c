/* See alive_lock.h. */
#define _GNU_SOURCE
#include "agent/guardian/alive_lock.h"

#include <errno.h>

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

bool alive_lock_says_dead(pthread_mutex_t *lock, bool wait)
{
    const int error = wait ? pthread_mutex_lock(lock) : pthread_mutex_trylock(lock);
    if (error == 0) (void)pthread_mutex_unlock(lock);
    return error == EOWNERDEAD;
}
