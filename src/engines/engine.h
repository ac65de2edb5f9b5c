/*
 * The engines room: `elector-engine URL`, an agent without peers. It elects on a store that somebody runs already, and
 * speaks the agent's socket protocol to one client (a socketpair, which the library makes) or to all of a host (a socket).
 *
 * What an agent gets from its peers, an engine gets from its store:
 *   src/algorithms/store   the recipe: one machine for each group that a client here stands for. The same object code
 *                          runs in the simulator and in the checker. It alone decides who leads, and until when
 *   host.c, group.c        the host of these machines: the second implementation of agent/host/host.h. So serve/, with
 *                          clients, rights, leaderships, deadlines and the page, is the agent's own code
 *   etcd/, ...             an adapter for each kind of store (struct store_kind below): the machine's requests become
 *                          requests of the store, and its answers become messages of member ENGINE_STORE
 *   fetch/                 HTTP for adapters
 *   url.c                  etcd://HOST:PORT,HOST:PORT/PREFIX?ttl=5s&ca=FILE
 *   check.c                what `elector doctor` is told of the store
 *   engine.c, main.c       the loop and the program
 * To the machine this process is member ENGINE_SELF, every other candidate is ENGINE_OTHERS, and the store is the last.
 *
 * A new store: a folder with a struct store_kind, which says what it must do; its row in kinds.c; its line at the end of
 * src/client/agent_engine.c, in src/client/connection.c and in src/client/schemes.c; its doors in test/style/run.sh.
 */
#ifndef ELECTOR_ENGINES_ENGINE_H
#define ELECTOR_ENGINES_ENGINE_H

#include <uv.h>

#include "elector/core.h"
#include "engines/url.h"

enum { ENGINE_SELF = 1, ENGINE_OTHERS, ENGINE_STORE };
enum { ENGINE_TEXT = 512, ENGINE_GROUPS_MAX = 16384 };

struct engine;     /* this process */
struct host_group; /* a group, with its machine if a client here stands */

/* One of those who stand for a group, in the order of succession. The first leads. Texts are borrowed. */
struct engine_candidate {
    const char *name, *value; /* the name of a foreign candidate is what it has written, made printable */
    uint64_t token;           /* as an Elector candidate would have it; below 2^53 */
    bool is_ours;             /* of this process */
};

/* One thing that `check` finds out, as `elector doctor` prints it. */
enum engine_verdict { ENGINE_FINE, ENGINE_WARN, ENGINE_WRONG, ENGINE_UNKNOWN };

/*
 * An adapter. All calls come from the loop's thread, and none may block. Within a call it must not call
 * engine_answer() or engine_observed(): the machine is in the middle of a step. Answers come from the loop.
 */
struct store_kind {
    const char *name;       /* "etcd": for people */
    const char *schemes[2]; /* plain, TLS ("": none) */
    uint16_t port;          /* of a host without one */
    el_duration usual_ttl;  /* if the URL gives none; 0: 5 s */
    const char *const
        *options; /* names that the URL's query may have, beside those of url.h; the last is NULL */
    const struct el_algorithm *algorithm;
    /* A sentence of at most 120 bytes: what has happened if the store ends the claim of a leader that goes on renewing it. */
    const char *removed;
    /* Operations of the socket protocol that it has not, each with the reason: {"transfer", "etcd has none"}. Last: NULLs. */
    const char *const (*lacks)[2];

    /*
     * Begins to connect. `opened` is for the adapter, and comes with every other call. The machine's times are set from
     * `ttl` already; an adapter that knows better, or whose store negotiates them, sets them (engine_set_time) before
     * engine_is_ready(). False: `text` says in
     * one line what is wrong with the URL or the files that it names, and what to do.
     */
    bool (*open)(struct engine *, const struct engine_url *, void **opened, char text[ENGINE_TEXT]);
    /* Everything given up that this process has in the store, at once (revoke the lease, close the session): no client is
     * left, and all their work has ended. Ends with engine_has_left(), after 2 s at most. */
    void (*leave)(void *opened);
    void (*close)(void *opened); /* frees; sends nothing more */

    /* Somebody here wants to know about the group from now on: engine_observed() follows, and again after each change. */
    void (*observe)(void *opened, struct host_group *);
    /* A request of the group's machine: a message as src/algorithms/store says, to be answered with engine_answer(). It
     * replaces the group's last request of the same sort (renewal or other), whose answer nobody waits for any more. */
    void (*ask)(void *opened, struct host_group *, const struct el_msg *);
    /* No client here stands any more, and the machine is gone: our candidacy is to be removed. Try until the store confirms
     * it, or the lease is over. The group may stand again meanwhile, with ask(). */
    void (*withdraw)(void *opened, struct host_group *);
    /* The leader's value; "": none. `token` is that of its tenure: not to be written if the office is another's by now. */
    void (*proclaim)(void *opened, struct host_group *, uint64_t token, const char *value);
    /* Nobody here has used the group for long: frees what it keeps of it, and watches it no longer. False: not now, because it waits
     * for an answer, or somebody stands. If the group is used again, observe() or ask() comes first. */
    bool (*forget)(void *opened, struct host_group *);
    /*
     * Asks the store what `elector doctor` wants to know, also while it does not answer: servers, our rights, times. Each thing
     * is told with engine_found(), in the order in which people read it; engine_has_checked() ends it, after 10 s at most. If a
     * check is under way already, it goes on, and no other begins. Nothing in the store may be another than before.
     */
    void (*check)(void *opened);
};

/* ---- For adapters ---- */

uv_loop_t *engine_loop(const struct engine *);
const char *engine_member(const struct engine *); /* the name of this host, to be told to others */
/* A time of the machine's options: "lease", "heartbeat", ... The name must exist. */
void engine_set_time(struct engine *, const char *option, el_duration);
/* How long the store shall keep a session after its last renewal: `ttl` of the URL. Whole seconds, 2 at least. */
el_duration engine_ttl(const struct engine *);
/* The longest time from the last renewal of a leader that is lost until the store lets the next one lead. */
void engine_set_worst_failover(struct engine *, el_duration);
/* The longest time for `lease` if the store keeps a session for `kept` after a renewal, given how far clocks may differ. */
el_duration engine_lease_within(const struct engine *, el_duration kept);

/* The store has answered, and knows us: clients are served from now on. Before that only their hello waits. */
void engine_is_ready(struct engine *);
/*
 * It does not work, and `text` says why and what to do, in one line. Before engine_is_ready(): clients are refused with it,
 * and the process ends. Later: it is logged, unless it was the last thing said; go on trying.
 */
void engine_trouble(struct engine *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void engine_trouble_is_over(struct engine *);
/* Any answer of the store: for `status`, which tells when it was heard. */
void engine_hears_store(struct engine *);
void engine_has_left(struct engine *);

/* For store_kind.check. `what` is a word or two. A text says what was found and, unless it is fine, what to do. */
void engine_found(struct engine *, enum engine_verdict, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The certificate of `whose` ends then, in seconds since 1970; 0: nothing is known, and nothing is found. */
void engine_found_certificate(struct engine *, const char *whose, int64_t end_s);
void engine_has_checked(struct engine *);

/* What the store answers to the machine, or tells it: `from`, `to` and `spare` are filled in here. */
void engine_answer(struct host_group *, struct el_msg);
/* All candidates, or the first ones that are known. Copied. */
void engine_observed(struct host_group *, const struct engine_candidate *, uint32_t count);
/* A group that the store has, and nobody here has asked for; for `observe` and `status` of all groups. NULL: there are too
 * many, or the name is not one for a group. observe() does not follow: the adapter observes it already. */
struct host_group *engine_meet(struct engine *, const char *name);

struct host_group *engine_known(const struct engine *, const char *name); /* NULL: nobody has asked for it */
const char *engine_group_name(const struct host_group *);
bool engine_group_stands(const struct host_group *); /* its machine runs */
void *engine_group_data(const struct host_group *);  /* the adapter's own; NULL at first */
void engine_group_set_data(struct host_group *, void *);
struct host_group *engine_next_group(const struct engine *,
                                     const struct host_group *after); /* NULL begins and ends */

#endif
