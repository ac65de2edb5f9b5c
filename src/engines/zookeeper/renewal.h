/*
 * When does an answered write prove that the session lives, and since when?
 *
 * The leader of the servers ends sessions. A write that goes through a follower is carried out by the leader, but only
 * the follower notes that the session was heard; it tells the leader with its answer to the leader's next ping, which
 * comes every half tick. A follower that dies before that takes its note with it, and the leader counts from an earlier
 * one. So one answered write proves too little, and a client's ping, which the follower answers alone, even less.
 *
 * Two writes prove it: if a second one is sent half a tick after the first was answered, and is answered on the same
 * connection, then the follower was with the leader in between, and has told of the first one. From the sending of the
 * first one the session lives for its whole timeout. (A new connection proves as much: the leader is asked whether the
 * session lives, and notes it.)
 *
 * This file knows neither clock nor socket. Those who want to renew get the number of the next write with
 * renewal_ask(), and are served when renewal_answered() or renewal_connected() returns that number or a higher one.
 */
#ifndef ELECTOR_ENGINES_ZOOKEEPER_RENEWAL_H
#define ELECTOR_ENGINES_ZOOKEEPER_RENEWAL_H

#include <stdbool.h>
#include <stdint.h>

enum { RENEWAL_OPEN_MAX = 32 };

struct renewal {
    uint64_t gap_ns; /* half a tick and a little: between the answer of the first write and the second one */
    uint64_t spacing_ns;          /* at least, between two writes */
    uint64_t next;                /* the number of the next write */
    uint64_t sent_at;             /* of the last one */
    bool is_connected, is_wanted; /* wanted: by somebody who waits for the next write */
    bool is_in_flight, flies_for_somebody;
    struct {
        uint64_t number, answered_at;
    } open[RENEWAL_OPEN_MAX]; /* answered, and wait for a second write; the earliest first */
    uint32_t open_count;
};

void renewal_init(struct renewal *, uint64_t gap_ns);
/* Somebody wants to renew: the number to wait for. */
uint64_t renewal_ask(struct renewal *);
/* When a write is to be sent; UINT64_MAX: none. */
uint64_t renewal_due(const struct renewal *);
void renewal_sent(struct renewal *, uint64_t now);
/* Returns the highest number that is proved; 0: none is by this. */
uint64_t renewal_answered(struct renewal *, uint64_t now);
void renewal_broken(struct renewal *); /* the connection */
/* The same session on a new connection, or a new session. Returns as renewal_answered(). */
uint64_t renewal_connected(struct renewal *);

#endif
