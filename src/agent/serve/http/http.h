/*
 * The http room answers monitors, load balancers and people over HTTP (docs/http.md has the paths). It reads
 * what the serve room knows, changes nothing and contains no secrets. Start with routes.c, the table of paths;
 * http.c is the server, connections.c decides who is disconnected.
 *
 * libmicrohttpd speaks the protocol, driven by the agent's loop on its one thread: there are no locks, and no
 * client can block the agent. Long answers are generated piece by piece, as fast as the client reads.
 */
#ifndef ELECTOR_AGENT_SERVE_HTTP_HTTP_H
#define ELECTOR_AGENT_SERVE_HTTP_HTTP_H

#include "agent/metrics/metrics.h"
#include "agent/serve/serve.h"

enum {
    HTTP_CONNECTIONS_MAX = 64,
    HTTP_OF_ONE_ADDRESS_MAX = 48,
    HTTP_READERS_MAX = 16,    /* of /events: they stay connected, so leave room for others */
    HTTP_REQUEST_MAX = 16384, /* bytes of memory per connection */
    HTTP_TIMEOUT_S = 10,      /* for a whole request, and for a client that neither sends nor reads */
    HTTP_RETRY_MS = 2000,     /* if the address cannot be had */
    HTTP_KEEP_ALIVE_S = 15,   /* a comment to readers of /events, so that both sides notice a dead connection */
};

struct http;

/* All pointers are borrowed. */
struct http_setup {
    const struct config *config; /* uses http and http_groups */
    struct host *host;
    struct serve *serve;
    const struct seal *seal; /* may be NULL */
    struct metrics *metrics;
    uint32_t timeout_s; /* 0: HTTP_TIMEOUT_S */
    uint32_t retry_ms;  /* 0: HTTP_RETRY_MS */
    /* How long the agent may stall before the work of the shortest lease is stopped; UINT64_MAX: there is no lease. May be NULL. */
    uint64_t (*stall_ns)(const struct config *);
};

/*
 * Listens. If that fails, it logs why once, lets `status` tell it as `http_error`, and tries again every
 * HTTP_RETRY_MS until it succeeds: any user of this host can take a port, and that must not keep an agent from
 * starting. NULL: out of memory.
 */
struct http *http_new(uv_loop_t *, const struct http_setup *);
bool http_is_served(const struct http *);
/* Opens the listening socket only, non-blocking. -1: `text` says why. */
int http_listen(const struct sockaddr_storage *, char *text, size_t size);
uint16_t http_port(const struct http *);
/* From now on /healthz answers 503 with this reason, which is borrowed. */
void http_set_unhealthy(struct http *, const char *why);
/* Disconnects all clients. Call it before the objects of http_setup are freed. Its memory is freed when the
 * loop has closed its handles. */
void http_free(struct http *);

#endif
