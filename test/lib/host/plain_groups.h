/* Thousands of groups on hosts with shared sessions. */
#ifndef ELECTOR_TEST_LIB_HOST_PLAIN_GROUPS_H
#define ELECTOR_TEST_LIB_HOST_PLAIN_GROUPS_H

#include "lib/host/session_groups.h"

/* So many groups more, of which nobody watches who leads them. */
static inline struct host_group *plain_group(el_node node, unsigned number)
{
    char name[16], text[TEXT];
    snprintf(name, sizeof name, "plain%u", number);
    struct host_group *group = host_find(world.hosts[node].host, name, text, sizeof text);
    require(group);
    return group;
}

static inline void stand_for_plain(el_node node, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++) host_stand(plain_group(node, i), true, 0);
    after_event(node);
}

/* How many of these a host leads. */
static inline unsigned plain_led(el_node node, unsigned first, unsigned count)
{
    unsigned led = 0;
    for (unsigned i = first; i < first + count; i++)
        led += host_view_of(plain_group(node, i)).role == EL_LEADER;
    return led;
}

static inline void cut_both_ways(el_node a, el_node b, bool is_cut)
{
    world.cut[a][b] = world.cut[b][a] = is_cut;
}

/* Before it starts. */
static inline void set_lease(el_node node, const char *lease)
{
    struct config *config = &world.hosts[node].config;
    config->group_count = 1;
    config->groups[0] = (struct config_group){.name = "*", .option_count = 1};
    snprintf(config->groups[0].options[0][0], 64, "lease");
    snprintf(config->groups[0].options[0][1], 64, "%s", lease);
}

#endif
