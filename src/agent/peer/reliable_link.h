/*
 * Below algorithms that were written for links which keep order and lose nothing: messages to one peer are numbered,
 * sent again until they are acknowledged, and delivered in order, once. What stays unacknowledged for too long has
 * failed, and its sender is told.
 *
 * A numbering belongs to a life that is drawn at random. A sender begins a new one when its receiver does not remember
 * the old one (it was started again), so that neither waits for what the other has forgotten.
 */
#ifndef ELECTOR_AGENT_PEER_RELIABLE_LINK_H
#define ELECTOR_AGENT_PEER_RELIABLE_LINK_H

#include "agent/peer/payload.h"

enum { LINK_WAITING_MAX = 64, LINK_PAST = 4 };

struct reliable_link_waiting {
    struct el_msg msg;
    uint64_t since;
};

struct reliable_link_hooks {
    void *context;
    void (*send)(void *context, el_node to, struct payload_entry *); /* the group is for the owner to fill in */
    void (*deliver)(void *context, const struct el_msg *);
    void (*failed)(void *context, const struct el_msg *);
    uint64_t (*random)(void *context);
};

struct reliable_link {
    el_node peer;
    uint64_t incarnation; /* of our numbering */
    uint32_t first;       /* the number of the first that waits */
    bool is_full;         /* nobody takes them: it has failed, as the next tick finds */
    uint32_t count;
    uint64_t retry_at, pause;
    uint64_t their_incarnation;
    uint32_t expected; /* of theirs, next */
    uint64_t boot;     /* of this end, for as long as it lives; in acknowledgements */
    uint64_t receiver; /* the boot of the other end, as it acknowledged: another is another process */
    uint64_t past_receivers[LINK_PAST], their_past[LINK_PAST];
    struct reliable_link_waiting waiting[LINK_WAITING_MAX];
};

void reliable_link_init(struct reliable_link *, el_node peer, const struct reliable_link_hooks *);
/* All that waits is forgotten, and nobody is told: it belonged to what is over. */
void reliable_link_begin_anew(struct reliable_link *, const struct reliable_link_hooks *);
/* Never calls back but to send. If too many wait already, this one is lost and those fail at the next tick. */
void reliable_link_send(struct reliable_link *, const struct reliable_link_hooks *, uint64_t now,
                        const struct el_msg *);
void reliable_link_receive(struct reliable_link *, const struct reliable_link_hooks *, uint64_t now,
                           const struct payload_entry *);
/* Sends again what waits, and gives up what has waited for `patience`. Returns when it is to be called next. */
uint64_t reliable_link_tick(struct reliable_link *, const struct reliable_link_hooks *, uint64_t now,
                            uint64_t patience);

#endif
