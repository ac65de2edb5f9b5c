/*
 * A Lease of coordination.k8s.io/v1 as JSON: what elections read of it, and how they change it. Pure, and without a clock.
 *
 * Two annotations carry the fencing token, which Kubernetes itself does not have. `elector/token` is the highest token that
 * was given; `elector/acquired` is the acquireTime of the tenure that it was given to. A holder that took the Lease without
 * Elector, as client-go does, leaves both as they are and writes another acquireTime: so it has no token.
 */
#ifndef ELECTOR_ENGINES_KUBERNETES_LEASE_H
#define ELECTOR_ENGINES_KUBERNETES_LEASE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEASE_NAME_MAX = 253,
    LEASE_UID_MAX = 63,
    LEASE_HOLDER_MAX = 255,
    LEASE_TIME_SIZE = 32,
    LEASE_VALUE_MAX = 255
};
#define LEASE_TOKEN_MAX ((UINT64_C(1) << 53) - 1) /* tokens and versions are below it */

struct lease {
    char name[LEASE_NAME_MAX + 1], uid[LEASE_UID_MAX + 1];
    uint64_t version;                  /* resourceVersion */
    char holder[LEASE_HOLDER_MAX + 1]; /* "": nobody; a longer one is cut */
    uint64_t duration_s;               /* 0: it says none */
    uint64_t transitions;
    bool was_held;                   /* by anybody, ever */
    uint64_t renewed_us;             /* by the holder's clock, since 1970; 0: it says none */
    uint64_t token;                  /* the highest that was given; 0: none */
    bool has_token;                  /* ... to this holder */
    char value[LEASE_VALUE_MAX + 1]; /* proclaimed by this holder; a longer one is cut */
};

/* False: `wrong` says what is wrong with it, for people. */
bool lease_read(const json_t *object, struct lease *, const char **wrong);
/* Whether a group can have a Lease of this name: a DNS subdomain, as Kubernetes wants it. */
bool lease_is_name(const char *name);

/* What a write changes. */
struct lease_change {
    const char *holder; /* "": nobody */
    uint64_t duration_s;
    uint64_t now_us;
    uint64_t token;    /* of a new tenure; 0: the tenure goes on */
    uint64_t least;    /* the object gets no lower token: one that was restored has forgotten it. 0: any */
    const char *value; /* NULL: as it was. A new tenure has none */
};

/* The body of a POST: a Lease that nobody holds. NULL: no memory. */
json_t *lease_new(const char *name);
/* The body of a PUT: the object as it was read, with this change and all that others wrote. NULL: no memory. */
json_t *lease_changed(const json_t *object, const struct lease_change *);

/* "2026-01-02T03:04:05.678901Z": exactly six digits, as the API server wants it. */
void lease_write_time(uint64_t us, char text[LEASE_TIME_SIZE]);
bool lease_read_time(const char *text, uint64_t *us);

#endif
