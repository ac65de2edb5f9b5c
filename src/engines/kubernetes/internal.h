/*
 * The adapter for Kubernetes: what the machine `kubernetes-lease` asks of its store becomes reads and writes of Lease objects
 * at the API server. The Lease of a group has the group's name; holders write it as client-go does, so that its participants
 * and ours exclude each other. Start with kubernetes.c, then:
 *   object.c       a group's Lease as last seen: what the machine and clients are told of it; what is to be asked next
 *   call.c         a call to the API server, pauses, and what to tell people
 *   watch.c        lists the namespace's Leases, then watches them
 *   rights.c       warns a candidate that may not write
 *   check.c        what `elector doctor` wants to know
 *   lease.c        a Lease as JSON; the annotations that carry the token
 *   credentials.c  the pod's service account, or a kubeconfig (kubeconfig.c, yaml.c)
 *
 * The machine's versions are numbers of ours: each change of the object that is seen counts one. So a Lease that was deleted
 * or restored is another version, and not an older one. Which of two answers is newer, resourceVersion says.
 *
 * A token is chosen before the write that acquires the Lease: one more than the resourceVersion that the write replaces, than
 * the token in the object, and than any token seen here. Of writes that replace the same version only one succeeds, so no
 * token is given twice; and the next one replaces a later version, so it is higher. A Lease that does not exist is first
 * created without a holder.
 */
#ifndef ELECTOR_ENGINES_KUBERNETES_INTERNAL_H
#define ELECTOR_ENGINES_KUBERNETES_INTERNAL_H

#include "algorithms/store/lease_store.h"
#include "engines/fetch/fetch.h"
#include "engines/kubernetes/credentials.h"
#include "engines/kubernetes/kubernetes.h"
#include "engines/kubernetes/lease.h"

enum {
    KUBERNETES_FLIGHTS = 32,
    KUBERNETES_NAMESPACE_MAX = 63,
    KUBERNETES_IDENTITY = 128,
    KUBERNETES_URL = 2048
};

struct kubernetes;

/* A group's Lease, until the group is forgotten. */
struct object {
    struct kubernetes *k;
    struct host_group *group;
    struct object *next;

    struct el_msg request; /* of the machine, that waits for an answer; kind 0: none */
    uint64_t told;         /* the version that the machine was told last */
    bool may_hold;         /* a write that makes us the holder was sent */
    bool withdraws;        /* until the store says that the holder is not us */
    char *value;           /* to be written; NULL: nothing */
    uint64_t value_of;     /* the tenure that it belongs to */

    bool is_known, exists; /* what the store said */
    bool is_stale;         /* to be read before anything is written: a write failed, or its answer was lost */
    bool is_wanted;        /* to be read for those who look */
    bool is_listed;        /* in the last list */
    bool is_news;          /* engine_observed() is due */
    json_t *object;        /* NULL: none exists */
    struct lease lease;
    uint64_t version;      /* counts changes; 0: nothing is known */
    uint64_t seen_ns;      /* when it changed, as far as we saw; earlier, if the first look found it old */
    uint64_t holder_since; /* resourceVersion at which its holder was first seen */
    uint64_t highest;      /* token seen here, over deletions of the Lease */
    uint64_t token;        /* of our tenure */
    bool is_shown_late;    /* shown as expired */

    struct call *call; /* under way; NULL: none */
    uint64_t not_before;
    uint64_t conflicted; /* the version that was refused last */
};

enum verb { VERB_GET, VERB_CREATE, VERB_UPDATE, VERB_LIST, VERB_WATCH };

struct call {
    struct object *of; /* NULL: of the namespace */
    struct kubernetes *k;
    struct fetch *fetch;
    enum verb verb;
    uint64_t version;      /* the object's, when it was sent */
    uint64_t acquires;     /* the token of a new tenure; 0: none */
    uint64_t value_of;     /* UPDATE that proclaims: the tenure */
    bool is_request;       /* its answer is the machine's */
    uint64_t token_number; /* of the credentials that it was sent with */
};

struct kubernetes {
    struct engine *engine;
    struct fetcher *fetcher;
    struct credentials credentials;
    struct object *objects;
    char namespace[KUBERNETES_NAMESPACE_MAX + 1];
    char identity[KUBERNETES_IDENTITY]; /* holderIdentity: MEMBER_UUID, another in each process */
    uint64_t ttl_s, timeout_ms;
    uv_timer_t pump; /* all work begins here, never within a call of the machine */
    bool is_closing, is_leaving;
    bool stands; /* somebody here has stood */

    /* call.c */
    uint32_t flights, failures;
    uint64_t not_before;
    enum verb failed;               /* what has to succeed before the trouble is over */
    const struct object *failed_of; /* ... and of which object; NULL: of the namespace */
    bool has_failed, has_refused;   /* refused: this verb; else it was not reached */

    struct kubernetes_check *check; /* NULL: none is under way */

    /* rights.c */
    struct fetch *review;
    bool has_reviewed;

    /* watch.c */
    struct call *list;
    struct fetch *watch;
    uint64_t watch_began;
    bool has_listed, may_not_watch, has_said_so; /* said: that it may not */
    uint64_t watched_version;                    /* resourceVersion up to which all is known */
    uint64_t list_not_before, watch_not_before, polled_ns;
    char *line; /* of the watch, not yet ended */
    size_t line_size, line_room;
};

/* kubernetes.c */
void kubernetes_go_on(struct kubernetes *); /* soon, from the loop */
void kubernetes_go_on_in(struct kubernetes *, uint64_t ms);
struct object *kubernetes_object_of(struct kubernetes *,
                                    struct host_group *); /* NULL: its name is none for a Lease, or no memory */

/* object.c */
/* Takes what an answer or an event says. `sent_version`: the object's when the question was sent; UINT64_MAX for an event. */
void object_take(struct object *, const json_t *object, uint64_t sent_version);
void object_take_missing(struct object *, uint64_t sent_version);
void object_saved(struct object *, const struct call *, const json_t *object);
/* Tells what is news, and begins the next call if one may begin now. */
void object_work(struct object *, uint64_t now, bool may_call);
void object_free(struct object *);
void object_settle_age(struct object *, uint64_t now); /* a holder may have become too old to be shown */

/* call.c */
/* Whether calls may begin now. */
bool kubernetes_may_call(struct kubernetes *, uint64_t now);
/* Begins a call of an object. Steals the body. False: no memory. */
bool kubernetes_call(struct object *, const struct call *, json_t *body);
bool kubernetes_list(struct kubernetes *);
void kubernetes_cancel(struct call *);
/* The headers of a call, the last one NULL; `room` holds the token. */
enum { KUBERNETES_HEADERS = 5 };
void kubernetes_headers(const struct kubernetes *, bool has_body, char room[CREDENTIALS_TOKEN_MAX + 32],
                        const char *headers[KUBERNETES_HEADERS]);
void kubernetes_url(const struct kubernetes *, const char *name, const char *query, char url[KUBERNETES_URL]);
/* Something failed: tells people, and pauses; for a refusal that concerns one object (NULL: the namespace), only for this one. */
void kubernetes_failed(struct kubernetes *, struct object *, const struct fetch_answer *, enum verb,
                       const json_t *body);
void kubernetes_answered(struct kubernetes *, const struct object *, enum verb);

/* rights.c */
void kubernetes_review(struct kubernetes *);
/* What a candidate must do, and may not according to this answer; "": nothing is known to be missing. */
void kubernetes_missing_rights(const json_t *review, char *text, size_t size);

/* check.c */
void kubernetes_check(void *opened);
void kubernetes_check_end(struct kubernetes *); /* without an answer */

/* watch.c */
void kubernetes_pump_watch(struct kubernetes *, uint64_t now);
void kubernetes_stop_watch(struct kubernetes *);
void kubernetes_listed(struct kubernetes *, const struct fetch_answer *, const json_t *object);

#endif
