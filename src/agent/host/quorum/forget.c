/*
 * Drops a group that nobody uses, so that names made up for each job do not run out.
 *
 * Why no second leader follows, and no lower token: quorum_forget() drops a group only if no promise of it lives here, and
 * takes a lapsed one back for good. What is left is the highest term that we granted, used or gave back (session.forgotten, of
 * all groups of the session). A group that is made again begins there, so this voter grants nothing that it would have refused
 * before, and this member uses no term again. The number is not on disk: after a restart the floor, which is the ceiling
 * of all terms granted, takes its place (Q3).
 *
 * The numbers of groups have no gaps: the last group takes the number of the one dropped. Pieces of the slab do not move, so
 * pointers to other groups stay valid.
 */
#include <string.h>

#include "agent/host/quorum/sessions.h"

struct session_group *session_group_heir_of_number(const struct session_group *group)
{
    const struct session *s = session_of(group);
    return group->number == s->group_count ? NULL : session_group_at(s, s->group_count);
}

/* Nothing here refers to the group, nobody stands for it as far as we know, and no round of changes is being told. */
static bool is_idle(const struct session_group *group)
{
    const struct session *s = session_of(group);
    return s->left == 0 && !group->base.stands && group->role == QUORUM_IDLE && group->place == 0 &&
           !group->waits_for_turn && !group->is_unshown && group->cell == SESSION_NO_CELL &&
           session_expand(group)->candidates == 0 && postings_may_be_dropped(group);
}

/* The driver's part of it. True: the group has no promise and no claim any more. */
static bool let_go(struct session_group *group, uint64_t *spent_to)
{
    struct session *s = session_of(group);
    struct session_step step;
    session_open(s, group, &step);
    const bool may_go = quorum_forget(&step.q, spent_to);
    session_close(s, group, &step);
    return may_go;
}

/* Wherever the heir was named by its number, it has another one now. */
static void renumber(struct session *s, struct session_group *heir, uint32_t number)
{
    struct session_group *older = session_group_at(s, heir->older), *newer = session_group_at(s, heir->newer);
    if (heir->posted && older) older->newer = number;
    if (heir->posted && newer) newer->older = number;
    for (struct session_group *g = heir->waits_for_turn ? s->first_in_turn : NULL; g;
         g = session_group_at(s, g->next_in_turn))
        if (g->next_in_turn == heir->number) {
            g->next_in_turn = number;
            break;
        }
    s->groups[number - 1] = s->groups[heir->number - 1];
    if (s->news) s->news[number - 1] = s->news[heir->number - 1];
    heir->number = number;
}

static void give_back(struct session *s, struct session_group *group, uint32_t piece)
{
    uint32_t aside;
    memcpy(&aside, group->folded, sizeof aside);
    if (group->units_aside) slab_give_back(&s->slab, aside, group->units_aside);
    slab_give_back(&s->slab, piece, slab_units(offsetof(struct session_group, name) + strlen(group->name) + 1));
}

bool session_group_forget(struct session_group *group)
{
    struct session *s = session_of(group);
    uint64_t spent_to = 0;
    if (!is_idle(group) || !let_go(group, &spent_to) || !is_idle(group)) return false;
    struct session_group *heir = session_group_heir_of_number(group);
    const uint32_t number = group->number, piece = s->groups[number - 1];
    s->forgotten = quorum_highest(s->forgotten, spent_to);
    postings_take_down(group);
    if (heir) renumber(s, heir, number);
    s->group_count--;
    if (s->cursor > s->group_count) s->cursor = 0;
    host_free_extra(&group->base);
    give_back(s, group, piece);
    s->work.group = NULL; /* a new group may get the same piece */
    return true;
}
