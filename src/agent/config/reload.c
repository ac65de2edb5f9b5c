/* Whether one configuration can take the place of another while an agent runs. */
#include <string.h>

#include "agent/config/config.h"

/* Compares the settings that a group's machine was started with. */
static bool is_same_group(const struct config_group *a, const struct config_group *b)
{
    if (strcmp(a->name, b->name) != 0 || a->algorithm != b->algorithm || a->option_count != b->option_count)
        return false;
    for (uint32_t i = 0; i < a->option_count; i++)
        if (strcmp(a->options[i][0], b->options[i][0]) != 0 || strcmp(a->options[i][1], b->options[i][1]) != 0)
            return false;
    return true;
}

bool config_is_same_cluster(const struct config *a, const struct config *b)
{
    if (a->drift != b->drift || a->transmit_max != b->transmit_max || a->profile != b->profile ||
        a->group_count != b->group_count)
        return false;
    for (uint32_t i = 0; i < a->group_count; i++)
        if (!is_same_group(&a->groups[i], &b->groups[i])) return false;
    if (a->member_count != b->member_count || a->self != b->self || a->has_keys != b->has_keys ||
        memcmp(a->cluster_id, b->cluster_id, sizeof a->cluster_id) != 0 || strcmp(a->state, b->state) != 0 ||
        strcmp(a->socket, b->socket) != 0 || memcmp(&a->http, &b->http, sizeof a->http) != 0)
        return false;
    for (uint32_t i = 0; i < a->member_count; i++) {
        const struct config_member *x = &a->members[i], *y = &b->members[i];
        if (x->id != y->id || x->role != y->role || strcmp(x->name, y->name) != 0 ||
            memcmp(x->public_key, y->public_key, SEAL_KEY) != 0 ||
            memcmp(&x->address, &y->address, sizeof x->address) != 0)
            return false;
    }
    return true;
}
