/*
 * A reliable link, for algorithms that assume links without loss and reordering. It numbers the messages to a
 * peer, retries until they are acknowledged, and delivers each once, in order. If a message stays
 * unacknowledged for too long, all that wait have failed, and the sender is told.
 *
 * Each numbering has a random incarnation. A sender begins a new one when its receiver has restarted and does
 * not know the old one. So neither side waits for messages that the other has forgotten.
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
    void (*send)(void *context, el_node to, struct payload_entry *); /* the owner fills in the group */
    void (*deliver)(void *context, const struct el_msg *);
    void (*failed)(void *context, const struct el_msg *);
    uint64_t (*random)(void *context);
};

struct reliable_link {
    el_node peer;
    uint64_t incarnation; /* of our numbering */
    uint32_t first;       /* number of the first message that waits */
    bool is_full;         /* more than LINK_WAITING_MAX wait: the next tick fails them all */
    uint32_t count;
    uint64_t retry_at, pause;
    uint64_t their_incarnation;
    uint32_t expected; /* the next number of the peer's */
    uint64_t boot;     /* our boot, sent in acknowledgements */
    uint64_t receiver; /* the peer's boot, from its acknowledgements: if it changes, the peer has restarted */
    uint64_t past_receivers[LINK_PAST], their_past[LINK_PAST];
    struct reliable_link_waiting waiting[LINK_WAITING_MAX];
};

void reliable_link_init(struct reliable_link *, el_node peer, const struct reliable_link_hooks *);
/* Drops all waiting messages without failing them: they belong to an election that has ended. */
void reliable_link_begin_anew(struct reliable_link *, const struct reliable_link_hooks *);
/* Calls no hook but send. If LINK_WAITING_MAX wait already, the message is lost and those fail at the next
 * tick. */
void reliable_link_send(struct reliable_link *, const struct reliable_link_hooks *, uint64_t now,
                        const struct el_msg *);
void reliable_link_receive(struct reliable_link *, const struct reliable_link_hooks *, uint64_t now,
                           const struct payload_entry *);
/* Retries waiting messages. If the first has waited for `patience`, all fail. Returns when to call it next. */
uint64_t reliable_link_tick(struct reliable_link *, const struct reliable_link_hooks *, uint64_t now,
                            uint64_t patience);

#endif
