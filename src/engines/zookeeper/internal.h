/*
 * zookeeper://HOST:PORT,HOST:PORT/PATH?layout=kazoo: one session for all groups of this process. Start in zookeeper.c.
 *   zookeeper.c   the adapter: settings, the session's life, renewals, the machine's messages
 *   place.c       a group's place in its queue: between the machine and run.c
 *   run.c         looks at the nodes, creates ours, watches the one before
 *   nodes.c       the nodes of a group, as last seen: their order, what is in them
 *   removal.c     deletes nodes of ours until the servers confirm it
 *   client.c      the session: the C client of ZooKeeper on the loop
 *   renewal.c     which answered writes prove that the session lives
 *   tokens.c      what is added to czxids, so that tokens rise over a migration
 *   check.c       what `elector doctor` wants to know
 *   servers.c     for it: what each server says of itself
 *   layout.c      names of nodes
 */
#ifndef ELECTOR_ENGINES_ZOOKEEPER_INTERNAL_H
#define ELECTOR_ENGINES_ZOOKEEPER_INTERNAL_H

#include "algorithms/store/session_store.h"
#include "engines/engine.h"
#include "engines/zookeeper/client.h"
#include "engines/zookeeper/layout.h"
#include "engines/zookeeper/renewal.h"

enum { NODE_NAME = 128, NODE_DATA = 512, FOLDER_SIZE = 256, PATH_SIZE = 512 };

/* ---- nodes.c ---- */

struct node {
    char name[NODE_NAME];
    uint32_t sequence;
    uint64_t czxid; /* ... and what is added to it: its token. 0: not read yet */
    bool is_read;
    char who[NODE_DATA]; /* the candidate's name and, behind its '\0', its value */
    uint32_t value_at;
};

struct nodes {
    struct node *all; /* in order */
    uint32_t count;
};

enum nodes_verdict { NODES_FINE, NODES_OTHER_LAYOUT, NODES_USED_UP, NODES_NO_MEMORY };
/* Takes the children of the group's path. What is known of a node that is still there is kept. */
enum nodes_verdict nodes_take(struct nodes *, const struct layout *, const struct String_vector *children,
                              const struct layout **other);
void nodes_free(struct nodes *);
struct node *nodes_named(const struct nodes *, const char *name); /* NULL: none */
/* The first whose name begins with this; NULL: none. */
struct node *nodes_of(const struct nodes *, const char *prefix);
struct node *nodes_before(const struct nodes *, const struct node *); /* NULL: it is the first */
/* What its owner has written: an Elector's name and value, or anything. */
void node_read(struct node *, const struct layout *, const char *data, size_t size, uint64_t czxid);
/* What a node of ours holds; the size. */
size_t node_write(char data[NODE_DATA], const char *name, const char *value);

/* ---- The adapter ---- */

struct removal;
struct run;

/* A group's place in its queue, until the group is forgotten. */
struct place {
    struct zookeeper *z;
    struct host_group *group;
    struct place *next;
    char path[PATH_SIZE];
    char prefix[LAYOUT_PREFIX]; /* of our node, in this session of the machine; "": none was begun */
    uint64_t session; /* the machine's session: ends with ZooKeeper's, or when the machine closes it. 0: none */
    uint64_t told;    /* events, in this session */
    struct el_msg request, renewal;
    bool has_request, has_renewal; /* that wait for an answer */
    uint64_t mark;                 /* the write that the renewal waits for: renewal.h */
    uint32_t answers;              /* runs and writes that name it, and whose answers are to come */
    struct run *run;               /* the requests to the servers that are under way; NULL: none */
    bool must_look;                /* once the run has ended */
    bool must_sync;                /* the server may be behind what we did over another connection */
    char watched[NODE_NAME];       /* the node before ours, of the last WATCH; "": none */
    bool watches_children, watches_own, watches_first;
    char first[NODE_NAME]; /* that has our watch */
    struct nodes nodes;
    char value
        [NODE_DATA]; /* to be written into our node, if `value_token` is the node's; 0: nothing is to be written */
    uint64_t value_token;
};

struct zookeeper {
    struct engine *engine;
    struct client_settings settings;
    struct client *client;
    const struct layout *layout;
    const struct ACL_vector *acl;
    char path[FOLDER_SIZE]; /* "": the root */
    char hosts[CLIENT_TEXT];
    uint64_t tick_ns; /* 0: not given */
    uint32_t
        least_ms; /* the shortest timeout that was granted: the machines' times are set from it. 0: none yet */
    struct renewal renewals;
    uint64_t sessions; /* how many there were, of machines */
    struct place *places;
    struct removal *removals;
    uv_timer_t soon;  /* what must not be done within a call from above */
    uv_timer_t timer; /* the next write of a renewal, and retries */
    uint32_t timers;
    uint64_t write_sent_ns;
    uint64_t tokens_above; /* see tokens.c */
    bool knows_tokens, reads_tokens;
    zoo_op_t check; /* the write of a renewal */
    zoo_op_result_t checked;
    struct zookeeper_check *examination;  /* NULL: none was begun yet */
    bool is_leaving, is_quiet, is_closed; /* quiet: it leaves, and all that was asked is answered */
};

zhandle_t *zookeeper_handle(const struct zookeeper *); /* NULL: not connected */
void zookeeper_pump(struct zookeeper *);
void zookeeper_soon(struct zookeeper *);
/* Whether this answer means that the connection or the session is gone, so that asking again later may help. */
bool zookeeper_is_broken(int rc);
/* An answer that nobody expects, such as that an ACL forbids it. Says so once. */
void zookeeper_refused(struct zookeeper *, const char *path, const char *what, int rc);
/* Any answer came: the servers are there. */
void zookeeper_heard(struct zookeeper *);

/* ---- check.c, servers.c ---- */

void zookeeper_check(void *opened);
void zookeeper_check_go_on(struct zookeeper *); /* there is a session */
void zookeeper_check_free(struct zookeeper *);  /* after the client was closed */

enum server_state {
    SERVER_SILENT,
    SERVER_ANSWERS,
    SERVER_LEADS,
    SERVER_FOLLOWS,
    SERVER_ALONE,
    SERVER_OBSERVES,
    SERVER_LOOKS
};
struct server_answer {
    enum server_state state;
    char text[200]; /* its version, or what is wrong */
};
struct servers;
/* Asks all servers of the settings, and calls `done` once, from the loop. NULL: out of memory. */
struct servers *servers_ask(uv_loop_t *, const struct client_settings *, void *context,
                            void (*done)(void *context, const struct server_answer *));
void servers_forget(struct servers *); /* `done` does not follow; NULL does nothing */
/* What the answer to `srvr` says. */
void server_read(struct server_answer *, const char *text);

/* ---- tokens.c ---- */

void tokens_read(
    struct zookeeper *); /* if it is not known yet: asks the servers, and then nobody waits any more */
/* The token of the node with this czxid. False: it would be above 2^53, which is after two million changes of ZooKeeper's leader. */
bool tokens_make(const struct zookeeper *, int64_t czxid, uint64_t *token);

/* ---- place.c ---- */

struct place *place_of(struct zookeeper *, struct host_group *);
void place_ask(struct place *, const struct el_msg *);
void place_renewed(struct place *); /* its renewal is proved */
void place_withdraw(struct place *);
void place_proclaim(struct place *, uint64_t token, const char *value);
struct node *place_node(const struct place *); /* ours; NULL: none is known */
/* To the machine: the answer to its request, if it waits; and an event, that a node is gone. */
void place_answer(struct place *, bool has_session, uint8_t flags);
void place_tell(struct place *, uint64_t gone);
void place_show(struct place *);   /* the candidates, to the engine */
void place_rename(struct place *); /* another name for our next node */
/* From the loop: answers what needs no server, or begins it. */
void place_settle(struct place *);
void place_reconnected(struct place *);
void place_lost_session(struct place *);
bool place_forget(struct place *); /* and frees it. False: it waits for an answer, or somebody stands */
void place_free(struct place *);   /* after the session was closed */

/* ---- run.c ---- */

void run_begin(struct place *, uint8_t kind); /* for the request of this kind; 0: only to look */
void run_give_up(struct place *);
void run_unwatch(struct place *); /* for good: nobody wants to know of it */
/* The path of a node. */
enum { NODE_PATH = PATH_SIZE + NODE_NAME + 2 };
void node_path(const struct place *, const char *name, char path[NODE_PATH]);

/* ---- removal.c ---- */

/* Deletes the nodes that begin with the prefix, if there are any. `done` is called once, from the loop, unless the removal
 * was forgotten; `place` may be NULL. */
struct removal *removal_begin(struct zookeeper *, const char *path, const char *prefix,
                              void (*done)(struct place *), struct place *);
void removal_forget(struct removal *);            /* goes on, but tells nobody */
void removals_go_on(struct zookeeper *);          /* connected again, or time to try again */
void removals_end(struct zookeeper *, bool tell); /* the session is over, and its nodes with it */

#endif
