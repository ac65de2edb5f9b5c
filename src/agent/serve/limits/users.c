/* See users.h. */
#include "agent/serve/limits/users.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Frees users whose last descriptor was closed after their last client had gone. */
static void tidy(struct users *users)
{
    struct user **at = &users->first;
    while (*at) {
        struct user *user = *at;
        if (user->clients || atomic_load(&user->closing)) {
            at = &user->next;
        } else {
            *at = user->next;
            free(user);
        }
    }
}

struct user *users_meet(struct users *users, uid_t uid)
{
    struct user *user = users->first;
    while (user && user->uid != uid) user = user->next;
    if (!user) {
        tidy(users);
        user = calloc(1, sizeof *user);
        if (!user) return NULL;
        user->uid = uid;
        user->next = users->first;
        users->first = user;
    }
    user->clients++;
    return user;
}

void users_part(struct users *users, struct user *user)
{
    user->clients--;
    tidy(users);
}

void users_free(struct users *users)
{
    static struct users left; /* the closer still writes to these */
    tidy(users);
    while (users->first) {
        struct user *user = users->first;
        users->first = user->next;
        user->next = left.first;
        left.first = user;
    }
    tidy(&left);
}

const struct user *users_greediest(const struct users *users, enum user_good good)
{
    const struct user *most = NULL;
    for (const struct user *user = users->first; user; user = user->next)
        if (user->taken[good] > (most ? most->taken[good] : 0)) most = user;
    return most;
}

bool user_is_trusted(const struct user *user)
{
    return user->uid == 0 || user->uid == geteuid();
}

bool user_may_take(const struct user *user, const struct config *config, enum user_good good, uint64_t more,
                   char *text, size_t size)
{
    const struct {
        const char *what, *setting;
        uint64_t most;
    } goods[] = {
        [USER_CONNECTIONS] = {"connections", "socket-per-user", config->socket_per_user},
        [USER_CANDIDACIES] = {"candidacies", "candidacies-per-user", config->candidacies_per_user},
        [USER_OBSERVED] = {"observed groups", "observed-per-user", config->observed_per_user},
        [USER_VALUE_BYTES] = {"bytes of values", "value-bytes-per-user", config->value_bytes_per_user},
    };
    if (user_is_trusted(user) || user->taken[good] + more <= goods[good].most) return true;
    snprintf(text, size, "user %u has %llu %s, and may have %llu (`%s` in the agent's configuration)",
             (unsigned)user->uid, (unsigned long long)user->taken[good], goods[good].what,
             (unsigned long long)goods[good].most, goods[good].setting);
    return false;
}
