/*
 * One session with ZooKeeper, on the engine's loop: the C client without threads (libzookeeper-st), and around it what it
 * leaves to its user. It finds addresses by libuv, because the client would wait for names; it moves on to another server
 * when told that this one does not answer; and it begins a new session when the last one has expired.
 *
 * Requests go straight to the C client, with client_handle(), while client_is_connected(). Call client_pump() after them;
 * callbacks of the C client come from the loop only.
 */
#ifndef ELECTOR_ENGINES_ZOOKEEPER_CLIENT_H
#define ELECTOR_ENGINES_ZOOKEEPER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>
#include <zookeeper/zookeeper.h>

enum { CLIENT_SERVERS_MAX = 16, CLIENT_TEXT = 400, CLIENT_SECRET = 256 };

struct client_server {
    const char *host; /* a name or an address, without brackets */
    uint16_t port;
};

struct client_settings {
    struct client_server servers[CLIENT_SERVERS_MAX];
    uint32_t server_count;
    uint32_t session_ms;        /* as asked; the servers may grant another */
    char digest[CLIENT_SECRET]; /* "user:password"; "": none */
};

struct client_hooks {
    void *context;
    /* The servers know our session; `is_new`: it has just begun, and has no nodes. */
    void (*connected)(void *context, bool is_new);
    void (*disconnected)(void *context); /* requests without an answer stay without one */
    void (*expired)(void *context);      /* with all its nodes; a new session is begun */
    /* What keeps us from connecting, in a few words: for people. */
    void (*trouble)(void *context, const char *text);
};

struct client;

/* The names of the servers are borrowed. NULL: out of memory. */
struct client *client_new(uv_loop_t *, const struct client_settings *, const struct client_hooks *);
/* Closes the session, if it is connected, and frees. Run the loop once more after it. Not from within a callback. */
void client_close(struct client *);

zhandle_t *client_handle(const struct client *);
bool client_is_connected(const struct client *);
uint32_t client_granted_ms(const struct client *); /* the session's timeout; 0: not connected yet */
int64_t client_session(const struct client *);     /* its number, as in a node's ephemeralOwner */
void client_pump(struct client *);
/* The server does not answer: leave it, keep the session, and try the next one. */
void client_move_on(struct client *);

#endif
