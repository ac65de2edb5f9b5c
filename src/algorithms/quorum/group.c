/* How a group sends and receives. A member is also its own voter: a message to itself is handled at once. */
#include "algorithms/quorum/group.h"

void quorum_say(const struct quorum *q, el_node to, struct el_msg msg)
{
    if (to != q->cfg->self) {
        quorum_send(q, to, msg);
        return;
    }
    msg = quorum_to_self(q, msg);
    quorum_group_hear(q, &msg);
}

void quorum_say_all(const struct quorum *q, struct el_msg msg)
{
    for (el_node to = 1; to <= q->cfg->cluster->count; to++)
        if (quorum_tells(q, to)) quorum_send(q, to, msg);
    quorum_say(q, q->cfg->self, msg);
}

void quorum_group_hear(const struct quorum *q, const struct el_msg *m)
{
    switch (m->kind) {
    case QUORUM_VOTE: quorum_on_vote(q, m); return;
    case QUORUM_GRANT: quorum_on_grant(q, m); return;
    case QUORUM_REFUSE: quorum_on_refusal(q, m); return;
    case QUORUM_RELEASE: quorum_on_release(q, m); return;
    case QUORUM_TOLD: quorum_on_told(q, m->from, quorum_told_in(m)); return;
    default: quorum_on_check(q, m); return;
    }
}
