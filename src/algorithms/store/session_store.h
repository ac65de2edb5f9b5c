/*
 * The store of etcd and ZooKeeper, as far as elections use it. A session (etcd: a lease) belongs to one incarnation
 * of one candidate and expires if it is not renewed. Keys belong to a session, end with it, and stand in the order
 * of their revisions (create_revision, czxid): the first leads. A session may watch one key and is told once when
 * that key is gone.
 *
 * Words of a message:
 *   epoch    the session; in an answer 0: there is no such session
 *   more     the number of the request
 *   extra[0] the candidate's incarnation
 *   aux      request: the key or session it is about. Answer: our first key (CREATED: the one created). Event: the key that is gone, 0: none
 *   rank     answer, event: how many events this session was sent
 *   subject  answer, event: the owner of the first key of all; the store: there is no key
 *   extra[1] answer: the key just before ours; 0: none
 *   extra[2] answer, event: the first key of all; 0: none
 *   extra[3] OPENED: a session that an earlier incarnation left; 0: none
 *   flags    WATCHED: 1 if the key is gone already. OPENED: 1 if nothing proves yet that the session lives for a whole lease
 *            from the request on; then the first renewal proves it, and the candidate does not lead before
 *
 * Servers that report (ZooKeeper). A client talks to any server, but only the leader of the servers ends sessions. A server
 * notes which sessions it hears, and reports them to the leader every half tick: `report`. A server that fails takes
 * its notes along. So here a renewal extends the session when it is reported, and is answered only then. The engine gets
 * that answer by two writes (engines/zookeeper/renewal.h). `lost-reports` says how often in a run a server fails with a
 * note, and how often a session is opened that the leader has not heard of for some time.
 */
#ifndef ELECTOR_ALGORITHMS_STORE_SESSION_STORE_H
#define ELECTOR_ALGORITHMS_STORE_SESSION_STORE_H

#include "algorithms/store/store.h"

/* Requests are odd; the answer is the next kind. */
enum {
    STORE_OPEN = 1, /* etcd: LeaseGrant. ZooKeeper: connect */
    STORE_OPENED,
    STORE_CREATE, /* a key at the end of the queue */
    STORE_CREATED,
    STORE_LIST, /* all keys: where are ours? */
    STORE_LISTED,
    STORE_WATCH,
    STORE_WATCHED,
    STORE_RENEW,
    STORE_RENEWED,
    STORE_DELETE, /* our keys */
    STORE_DELETED,
    STORE_CLOSE, /* this session, or one that an earlier incarnation left */
    STORE_CLOSED,
    STORE_EVENT,
};

/* The store's timers come first; slots are members. */
enum { STORE_EXPIRY, STORE_OLDER_EXPIRY, STORE_SILENCE, STORE_REPORT, STORE_OLDER_REPORT, STORE_TIMERS };
#define STORE_TIMER_ROWS "expiry", "older-expiry", "silence", "report", "older-report"

/* The store's notes come first. */
#define STORE_NOTE_LIST(NOTE)                                                                         \
    NOTE(STORE_ADMITS, "admits", "opens a session for @1")                                            \
    NOTE(STORE_IS_FULL, "is-full", "has two sessions of @1 already, and opens no third")              \
    NOTE(STORE_QUEUES, "queues", "creates the key of @1, revision #2")                                \
    NOTE(STORE_FINDS_KEY, "finds-key", "has a key of @1 already, revision #2")                        \
    NOTE(STORE_EXPIRES, "expires", "hears nothing of a session of @1 for too long, and ends it")      \
    NOTE(STORE_ENDS, "ends", "closes a session of @1")                                                \
    NOTE(STORE_KNOWS_NOT, "knows-not", "has no such session of @1")                                   \
    NOTE(STORE_RETURNS, "returns", "is back with all its data, and gives each session its full time") \
    NOTE(STORE_HAS_LOST, "has-lost", "has lost its data, and is silent until every lease is over")    \
    NOTE(STORE_SERVES, "serves", "answers again")                                                     \
    NOTE(STORE_LOSES_NOTE, "loses-note", "has a server fail that had heard @1 and not reported it")   \
    NOTE(STORE_IS_LATE, "is-late", "has not heard the session of @1 for some time")

enum { STORE_NOTE_LIST(EL_NOTE_NAME) STORE_NOTES };

struct store_session {
    uint64_t id; /* 0: none */
    uint64_t incarnation;
    uint64_t call;    /* the last request that was carried out */
    uint64_t renewed; /* the last renewal that was heard: renewals go beside requests */
    uint64_t noted;   /* the renewal that is to be reported; 0: none */
    uint64_t watched;
    uint64_t told; /* events sent */
    uint64_t keys[2];
};

struct session_store {
    uint64_t revision; /* of the last change */
    uint8_t silent;    /* answers nothing: its data is lost */
    uint8_t unset;     /* does not know the wall clock yet, so it has no revision */
    uint8_t lost;      /* reports */
    uint8_t choosing;  /* CHOOSE is about a session of this member; */
    uint8_t which;     /* this one; */
    uint8_t opens;     /* whether it is late when it opens; 0: whether its report is lost */
    uint8_t spare[2];
};
enum { STORE_PER_MEMBER = 2 * sizeof(struct store_session) }; /* the second is an earlier incarnation's */

/* How this store differs from another: fixed for a recipe. */
struct store_rules {
    uint32_t state_bytes; /* the sessions lie behind the algorithm's struct */
    uint32_t lease;       /* options: a duration; */
    uint32_t observe;     /* a flag: tells all sessions with a key when the first key changes; */
    uint32_t herd;        /* a flag: tells all sessions with a key of every key that is gone */
    bool creates_once;    /* a session that has a key gets no second one (etcd's transaction) */
    bool reports;         /* has options: */
    uint32_t report;      /* a duration; 0: a renewal counts at once; */
    uint32_t lost;        /* a number: how many reports are lost */
};

void session_store_start(const struct store_rules *rules, void *state, const struct el_config *cfg,
                         const struct el_start *start, struct el_outbox *out);
void session_store_message(const struct store_rules *rules, void *state, const struct el_config *cfg,
                           const struct el_msg *m, struct el_outbox *out);
void session_store_timer(const struct store_rules *rules, void *state, const struct el_config *cfg,
                         uint32_t timer, uint32_t slot, struct el_outbox *out);
void session_store_chosen(const struct store_rules *rules, void *state, const struct el_config *cfg,
                          uint32_t chosen, struct el_outbox *out);
void session_store_fact(const struct store_rules *rules, void *state, const struct el_config *cfg,
                        uint64_t wall_clock_ms, struct el_outbox *out);
/* The numbers of its state and of a message: requests of a member are its family, revisions are family 0. */
void session_store_numbers(const struct store_rules *rules, void *state, const struct el_config *cfg,
                           el_number_visit *visit, void *context);
void session_store_numbers_sent(struct el_msg *m, const struct el_config *cfg, el_number_visit *visit,
                                void *context);
/* The owner of the first key, nobody if there is none; *key is its revision. */
el_node session_store_first(const struct store_rules *rules, const void *state, const struct el_config *cfg,
                            uint64_t *key);

#endif
