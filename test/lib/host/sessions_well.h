/* Checks of hosts on shared sessions after a long time without faults. */
#ifndef ELECTOR_TEST_LIB_HOST_SESSIONS_WELL_H
#define ELECTOR_TEST_LIB_HOST_SESSIONS_WELL_H

#include "lib/host/session_groups.h"

/* As an leadership does, where nobody wants to lead any more. */
static inline void resign_the_unwilling(void)
{
    for (unsigned i = 0; i < world.watched_count; i++) {
        const el_node node = leader_of(i);
        if (node && !group_of(node, i)->base.stands) (void)let_go(node, i, EL_NOBODY);
    }
}

static inline void judge_candidates(const struct session_group *here, unsigned i)
{
    for (el_node each = 1; each <= world.count; each++) {
        uint64_t known, said;
        const bool stands = host_stands(&group_of(each, i)->base, each, &said);
        require(host_stands(&here->base, each, &known) == stands);
        if (stands) require(known == said);
    }
}

/* It is the best of the others who stand. */
static inline void judge_heir(const struct session_group *here, unsigned i, el_node leader)
{
    const struct quorum_claim claim = session_claim_of(group_of(leader, i));
    uint64_t most = 0, priority;
    const struct quorum_group *known = &session_expand(here)->quorum;
    require(known->claim_heir == claim.heir);
    require(!claim.heir || known->claim_heir_term == claim.heir_term);
    require(!claim.heir || host_stands(&here->base, claim.heir, &most));
    for (el_node each = 1; each <= world.count; each++)
        if (each != leader && host_stands(&here->base, each, &priority))
            require(claim.heir && priority <= most);
}

/* Nobody who might has not joined. */
static inline void judge_backing(const struct session_group *at)
{
    const struct session *s = session_of(at);
    require(at->cell != SESSION_NO_CELL);
    for (el_node each = 1; each <= world.count; each++)
        if (s->runner.host->config->members[each - 1].role != CONFIG_OBSERVER)
            require(s->cells[at->cell].voters >> (each - 1) & 1);
}

static inline void judge_group(unsigned i)
{
    const el_node leader = leader_of(i);
    require(leader != EL_NOBODY);
    const struct host_view truth = host_view_of(&group_of(leader, i)->base);
    for (el_node node = 1; node <= world.count; node++) {
        const struct session_group *here = group_at(node, i);
        require(here);
        const struct host_view view = host_view_of(&here->base);
        require(view.leader == leader && view.token == truth.token);
        require(strcmp(view.value, truth.value) == 0);
        judge_candidates(here, i);
        if (node == leader)
            judge_backing(here);
        else
            judge_heir(here, i, leader);
    }
}

#endif
