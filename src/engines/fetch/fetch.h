/*
 * HTTP requests of an engine: libcurl on the engine's loop, without threads of our own. Answers are bounded, and no call
 * blocks. Callbacks run from the loop, never from within a call here, so they may begin, cancel and end whatever they like.
 *
 * A caller that has several servers tries the next one itself: `trouble` says which kind of failure it was.
 */
#ifndef ELECTOR_ENGINES_FETCH_FETCH_H
#define ELECTOR_ENGINES_FETCH_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

enum { FETCH_BODY_MAX = 16 << 20, FETCH_TEXT = 300 };

/* Files of PEM; NULL: none, for `ca` those of the system. Borrowed for the life of the fetcher, and read for each new
 * connection, so that renewed files count. */
struct fetch_tls {
    const char *ca, *certificate, *key;
    const char *ca_pem, *certificate_pem, *key_pem; /* the same as texts, instead of files */
};

enum fetch_trouble {
    FETCH_ANSWERED,    /* `status` is the server's, whatever it is */
    FETCH_UNREACHABLE, /* no connection, or it broke */
    FETCH_LATE,        /* no answer within timeout_ms */
    FETCH_PROXY,       /* the proxy that the environment names cannot be reached, or refuses; `text` names it */
    FETCH_UNTRUSTED,   /* TLS: a certificate or file is wrong */
    FETCH_UNUSABLE     /* nonsense, more than FETCH_BODY_MAX, or out of memory */
};

struct fetch_answer {
    enum fetch_trouble trouble;
    int status;             /* of HTTP; 0: none */
    uint32_t retry_after_s; /* that the server asks for; 0: it does not */
    const char *body;       /* '\0' follows; of a request without `data` */
    size_t size;
    const char *text;          /* what went wrong, without a full stop */
    int64_t date_s;            /* by the server's clock, since 1970; 0: it did not say */
    int64_t certificate_end_s; /* of the server's certificate, if `asks_certificate`; 0: unknown */
};

/* All texts are copied. */
struct fetch_request {
    const char *method; /* NULL: POST with a body, else GET */
    const char *url;
    const char *body; /* NULL: none */
    size_t size;
    const char *const *headers; /* "Name: value", the last one is NULL; NULL: none */
    uint64_t timeout_ms;        /* of the whole; 0: the answer never ends */
    uint64_t connect_ms;        /* 0: as timeout_ms */
    bool asks_certificate;      /* over a connection of its own */
    void *context;
    /* Part of the answer's body; `status` is known. NULL: the body comes with `done`. */
    void (*data)(void *context, int status, const char *bytes, size_t size);
    void (*done)(void *context, const struct fetch_answer *); /* once, unless cancelled */
};

struct fetcher;
struct fetch;

struct fetcher *fetcher_new(uv_loop_t *, const struct fetch_tls *); /* NULL: no memory */
/* Cancels what is under way. Run the loop once more after it. */
void fetcher_free(struct fetcher *);

/* NULL: out of memory, and nothing follows. */
struct fetch *fetch_begin(struct fetcher *, const struct fetch_request *);
void fetch_cancel(struct fetch *); /* neither `data` nor `done` follows; NULL does nothing */

#endif
