/*
 * What this agent knows, over HTTP, for monitors, load balancers and people: docs/http.md has the paths. It changes nothing
 * and tells no secrets. libmicrohttpd speaks the protocol, driven by the agent's loop on the agent's thread: no locks, and
 * nobody who asks can make it wait. Long answers are made piece by piece, as fast as they are read.
 */
#ifndef ELECTOR_AGENT_SERVE_HTTP_HTTP_H
#define ELECTOR_AGENT_SERVE_HTTP_HTTP_H

#include "agent/metrics/metrics.h"
#include "agent/serve/serve.h"

enum {
    HTTP_CONNECTIONS_MAX = 64,
    HTTP_OF_ONE_ADDRESS_MAX = 48,
    HTTP_READERS_MAX = 16,    /* of /events: they stay, and others want to ask too */
    HTTP_REQUEST_MAX = 16384, /* bytes, with everything that is made of it */
    HTTP_PATIENCE_S = 10,     /* for a client that neither sends nor reads */
    HTTP_KEEP_ALIVE_S = 15,   /* a comment to readers of /events, so that both sides notice an end */
};

struct http;

/* All is borrowed. */
struct http_setup {
    const struct config *config; /* http: where; http_groups */
    struct host *host;
    struct serve *serve;
    const struct seal *seal; /* may be NULL */
    struct metrics *metrics;
    uint32_t patience_s; /* 0: HTTP_PATIENCE_S */
};

/* Listens. NULL with one line: what, where, what to do. */
struct http *http_new(uv_loop_t *, const struct http_setup *, char *text, size_t size);
/* Only the socket, which does not block. -1 with the line. */
int http_listen(const struct sockaddr_storage *, char *text, size_t size);
uint16_t http_port(const struct http *);
/* From now on /healthz says that it is not well, and why. The word is borrowed. */
void http_set_unwell(struct http *, const char *why);
/* Before what it was set up with goes. Hangs up on everybody; what it is made of goes when the loop has closed its handles. */
void http_free(struct http *);

#endif
