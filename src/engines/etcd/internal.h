/*
 * The adapter for etcd: what the machine `etcd-election` asks of its store becomes calls of etcd's JSON gateway. Keys are those
 * of etcd's Go client, so that `etcdctl elect` stands in the same queue: PREFIX/GROUP/LEASE, the lease in lower-case hex.
 * PREFIX/elector/names/LEASE holds the name of an Elector candidate, because the value of its key is the application's;
 * PREFIX/elector/tokens-above what is added to revisions to make tokens.
 *
 * All groups share one lease, one keep-alive, one watch, and transactions of many groups. Start with etcd.c, then:
 *   call.c    a call to one of the servers: the next one if it fails, user and password, what to tell people
 *   lease.c   grant, keep-alive, revoke. An OPEN or RENEW of a machine is answered by a keep-alive that was sent after it
 *   txn.c     CREATE, LIST, DELETE, CLOSE, and values: many groups in one transaction
 *   watch.c   the first look, the watch, and what to do after compaction
 *   check.c   what `elector doctor` wants to know
 *   groups.c  the groups that are known
 *   json.c    numbers and bytes in JSON
 *   queue.c   the candidates of a group as the store last said; what the machine is told of them
 *
 * What is believed of a win: CREATE and LIST read all keys of the group in the transaction, at the store's leader. That our
 * key is among them also says that the lease lived then, for both end together. That it lives still, the machine's own timer
 * says, which counts from the sending of a keep-alive that was answered.
 */
#ifndef ELECTOR_ENGINES_ETCD_INTERNAL_H
#define ELECTOR_ENGINES_ETCD_INTERNAL_H

#include <jansson.h>

#include "algorithms/store/session_store.h"
#include "engines/etcd/etcd.h"
#include "engines/fetch/fetch.h"

enum { ETCD_NAME_MAX = 63, ETCD_VALUE_MAX = 255, ETCD_BATCH = 40, ETCD_FLIGHTS = 4, ETCD_KEY_MAX = 512 };

struct etcd;

struct etcd_key { /* a candidate */
    uint64_t created, lease;
    char *id; /* the last part of the key */
    char *value;
};

struct etcd_group {
    struct etcd *etcd;
    struct host_group *group;
    char *folder; /* PREFIX/GROUP/ */

    /* The machine's requests: kind 0 is none. */
    struct el_msg request, renewal;
    bool request_joined, renewal_joined; /* a grant or keep-alive that was sent after it will answer it */
    uint64_t session;                    /* that the machine has; 0: none */
    uint64_t incarnation;                /* of the machine */
    uint64_t watched;                    /* the key whose end it wants to hear of */
    uint64_t told;                       /* events */
    uint64_t mine;                       /* our key, as it was told last */

    bool in_flight;    /* a transaction is under way that has an operation of this group */
    bool withdraws;    /* our key is to be deleted */
    bool has_key;      /* there may be one under our lease */
    char *value;       /* to be written to our key; NULL: nothing */
    uint64_t value_of; /* the tenure it belongs to */

    /* What the store said. */
    bool is_known, is_wanted; /* wanted: to be read, because it is unknown or old */
    bool is_news;             /* engine_observed() is due */
    uint64_t revision, seen;  /* of the last range, and of the last event after it */
    struct etcd_key *keys;    /* by `created` */
    uint32_t count, room;
};

struct etcd_name {
    uint64_t lease;
    char name[ETCD_NAME_MAX + 1];
};

enum etcd_lease { LEASE_NONE, LEASE_GRANTING, LEASE_ALIVE };

struct etcd {
    struct engine *engine;
    struct fetcher *fetcher;
    struct engine_url url;
    uv_timer_t pump; /* all work begins here, never within a call of the machine */
    bool is_closing, is_leaving;
    char prefix[ETCD_KEY_MAX / 2]; /* "" or with '/' at its end */
    struct fetch_tls tls;

    /* call.c */
    uint32_t at, failures; /* the server in use; failures in a row */
    uint64_t not_before;   /* after a round of failures */
    uint64_t timeout_ms;   /* of a call */
    struct etcd_call *calls;
    char user[128], password[256], token[1024];
    uint64_t token_at; /* when it came */
    bool authenticates;
    char moved[64]; /* why the last server was left */

    struct etcd_check *check; /* NULL: none is under way */

    /* lease.c */
    enum etcd_lease lease_state;
    uint64_t lease, session; /* session: counts leases */
    uint64_t beat_sent;
    uint64_t beat_every;   /* not more often than this for renewals */
    bool beats, has_named; /* a keep-alive is under way; our name is written under this lease */
    bool revokes;

    /* txn.c */
    uint32_t flights;

    /* watch.c */
    struct fetch *watch;
    char *line; /* of the watch, not yet ended */
    size_t line_size, line_room;
    bool probes; /* a read that proves that the server in use is in touch is under way */
    uint64_t probed;
    bool watch_spoke; /* this one has said something */
    bool looks, has_looked,
        watch_is_old;               /* looks: the first look is under way; old: a group is not in the watch */
    uint64_t watch_not_before;      /* after it ended for no reason of the server's */
    uint64_t watch_began, revision; /* revision: all is known up to it, with a prefix */
    uint64_t
        tokens_above; /* PREFIX/elector/tokens-above: added to revisions, so that tokens rise over a migration */
    struct etcd_name *names;
    uint32_t name_count, name_room;
};

/* etcd.c */
void etcd_go_on(struct etcd *); /* soon, from the loop */
void etcd_go_on_in(struct etcd *, uint64_t ms);

/* groups.c */
struct etcd_group *etcd_group_of(struct host_group *); /* NULL: not made yet */
struct etcd_group *etcd_make_group(struct etcd *, struct host_group *);
struct etcd_group *etcd_next(const struct etcd *, const struct etcd_group *after); /* NULL begins and ends */
void etcd_free_group(struct etcd_group *);

/* call.c */
enum etcd_outcome {
    ETCD_DONE, /* `answer` is the object */
    ETCD_FAILED, /* nobody knows whether it took effect. The next server is in use by now, or another token: call again */
    ETCD_REFUSED /* etcd said no: `code` of gRPC, and `message` */
};
enum { ETCD_NOT_FOUND = 5, ETCD_OUT_OF_RANGE = 11 };
struct etcd_call {
    struct etcd_call *before, *after;
    struct etcd *etcd;
    struct fetch *fetch;
    uint32_t server;
    uint64_t token_at; /* of the token that it was sent with; 0: without one */
    void *context;     /* the caller's */
    void (*done)(struct etcd *, void *context, enum etcd_outcome, const json_t *answer, int code,
                 const char *message);
};
/* Steals the body. False: out of memory, and `done` does not follow. */
bool etcd_call(struct etcd *, const char *path, json_t *body, void *context,
               void (*done)(struct etcd *, void *context, enum etcd_outcome, const json_t *answer, int code,
                            const char *message));
void etcd_cancel_calls(struct etcd *); /* they have failed, as their callers hear */
/* Whether calls may begin now: there is a token if there must be, and no pause after failures. Authenticates if need be. */
bool etcd_may_call(struct etcd *);
void etcd_server_failed(struct etcd *, uint32_t server, const struct fetch_answer *);
void etcd_server_answered(struct etcd *, uint32_t server);
const char *etcd_name_server(const struct etcd *, uint32_t server, char text[300]);
void etcd_write_url(const struct etcd *, const char *path, char *url, size_t size);
/* Headers of a call, with the last one NULL; `room` holds the token. */
void etcd_headers(const struct etcd *, char room[1100], const char *headers[3]);
/* Tells people what etcd refused. True: it may be mended by calling again (a new token, another server). */
bool etcd_refused(struct etcd *, uint32_t server, int code, const char *message);

/* json.c */
uint64_t etcd_number(const json_t *object,
                     const char *name); /* text or number; 0: it is not there, the default */
/* In base64, to be freed; NULL: no memory. And back: *size without the '\0' that follows. */
json_t *etcd_bytes(const char *bytes, size_t size);
char *etcd_read_bytes(const json_t *object, const char *name, size_t *size);

/* lease.c */
void etcd_pump_lease(struct etcd *, uint64_t now);
void etcd_lease_is_lost(struct etcd *);                  /* the store says so */
void etcd_bound_failover(struct etcd *, uint64_t ttl_s); /* the TTL that etcd granted, or is asked for */
void etcd_revoke(struct etcd *);                         /* then engine_has_left() */

/* txn.c */
void etcd_pump_txns(struct etcd *);
void etcd_own_key(const struct etcd_group *, char key[ETCD_KEY_MAX]);

/* watch.c */
void etcd_pump_watch(struct etcd *, uint64_t now);
void etcd_stop_watch(struct etcd *);
json_t *etcd_range(const char *folder); /* of all keys below, in the order of their creation */

/* check.c */
void etcd_check(void *opened);
void etcd_check_end(struct etcd *); /* without an answer */

/* queue.c */
void etcd_take_range(struct etcd_group *, const json_t *range, uint64_t revision);
void etcd_take_event(struct etcd *, const json_t *event);
void etcd_take_all(struct etcd *, const json_t *kvs,
                   uint64_t revision); /* of the first look: every key below the prefix */
void etcd_forget_keys(struct etcd_group *);
void etcd_answer(struct etcd_group *, bool is_alive, uint8_t flags); /* the pending request */
void etcd_answer_renewal(struct etcd_group *, bool is_alive);
void etcd_pump_queues(struct etcd *);
void etcd_tell(struct etcd_group *, uint64_t gone); /* an event */
const struct etcd_key *etcd_ours(const struct etcd_group *);

#endif
