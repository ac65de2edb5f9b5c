/* What a test asks of the groups in a world of sessions.h: to stand, to let go, to say who leads, and the end of a member. */
#ifndef ELECTOR_TEST_LIB_HOST_SESSION_GROUPS_H
#define ELECTOR_TEST_LIB_HOST_SESSION_GROUPS_H

#include "lib/host/sessions.h"

static inline unsigned watch(const char *name)
{
    struct tenure *t = &world.watched[world.watched_count];
    assert_true(world.watched_count < WATCHED_MAX);
    snprintf(t->name, sizeof t->name, "%s", name);
    t->key = seal_group_key(world.hosts[1].config.cluster_id, name);
    return world.watched_count++;
}

static inline struct session_group *group_of(el_node node, unsigned watched)
{
    char text[TEXT];
    struct host_group *group =
        host_find(world.hosts[node].host, world.watched[watched].name, text, sizeof text);
    require(group);
    return (struct session_group *)group;
}

/* As an agent does: what is overdue comes before anything that is asked. */
static inline void stand(el_node node, unsigned watched, bool stands, uint64_t priority)
{
    (void)host_tick(world.hosts[node].host);
    host_stand(&group_of(node, watched)->base, stands, priority);
    after_event(node);
}

/* To another, or to nobody; the work has been stopped. */
static inline bool let_go(el_node node, unsigned watched, el_node to)
{
    struct session_group *group = group_of(node, watched);
    struct tenure *t = &world.watched[watched];
    (void)host_tick(world.hosts[node].host);
    const enum el_answer answer = to ? host_transfer(&group->base, to) : host_resign(&group->base);
    if (answer == EL_PERFORMED && t->host == node && t->life == world.hosts[node].life && t->until > world.now)
        t->until = world.now;
    after_event(node);
    return answer == EL_PERFORMED;
}

static inline bool leads(el_node node, unsigned watched)
{
    const struct session_group *group = group_at(node, watched);
    return group && host_view_of(&group->base).role == EL_LEADER;
}

static inline el_node leader_of(unsigned watched)
{
    for (el_node node = 1; node <= world.count; node++)
        if (leads(node, watched)) return node;
    return EL_NOBODY;
}

static inline struct session *session_at(el_node node, unsigned watched)
{
    return session_of(group_of(node, watched));
}

/* The work of one that is dead is over, which is all that an obituary says. */
static inline void end_work(el_node dead, unsigned life)
{
    for (unsigned i = 0; i < world.watched_count; i++) {
        struct tenure *t = &world.watched[i];
        if (t->host == dead && t->life == life && t->until > world.now) t->until = world.now;
    }
}

static inline void bury(el_node witness, struct session *s, el_node dead, unsigned life, uint64_t incarnation)
{
    end_work(dead, life);
    (void)host_tick(world.hosts[witness].host);
    session_bury(s, dead, incarnation);
    host_flush(world.hosts[witness].host);
    after_event(witness);
}

#endif
