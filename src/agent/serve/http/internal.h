/* The inside of the HTTP server. Shared by http*.c and their tests, and nobody else. */
#ifndef ELECTOR_AGENT_SERVE_HTTP_INTERNAL_H
#define ELECTOR_AGENT_SERVE_HTTP_INTERNAL_H

#include <microhttpd.h>

#include "agent/serve/http/http.h"
#include "agent/serve/internal.h"

enum { HTTP_PIECE = 8192 }; /* of a long answer, made at a time */

struct http_reader; /* of /events */

struct http {
    struct http_setup with;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_timer_t timer, keep_alive;
    unsigned handles; /* that the loop has not closed yet */
    bool is_local;    /* on loopback, where only who means this host is answered */
    const char *unwell;
    uint16_t port;
    struct http_reader *readers;
    uint32_t reader_count;
};

/* Text on its way into what the library sends. */
struct http_text {
    char *bytes; /* freed when it has been poured out */
    size_t at, size;
};

/* http.c */
/* As much as there is room for; returns how much. */
size_t http_pour(struct http_text *, char *to, size_t room);
bool http_set_text(struct http_text *, const char *); /* copies; false: no memory */
/* JSON between two words. Takes the reference, which may be NULL; false: no memory. */
bool http_set_json(struct http_text *, const char *before, json_t *, const char *after);
/* Answers with a response that is then dropped, with the headers that all have; NULL: no memory, and the client is hung up on. */
enum MHD_Result http_answer(struct http *, struct MHD_Connection *, unsigned code, const char *type,
                            struct MHD_Response *);

/* From within a call of the host, too. */
void http_go_round_soon(struct http *);

/* path.c: bytes of strangers. */
/* The group that a path names behind its prefix, with %XX for whatever a client likes to escape. False: no group's name. */
bool http_group_of(const char *path, const char *prefix, char name[CONFIG_NAME_MAX + 1]);
/* Whether a Host header means this host whatever the DNS says: localhost or an address in numbers, with a port or none. */
bool http_is_plain_host(const char *host);

/* routes.c: for the library. */
enum MHD_Result http_on_request(void *context, struct MHD_Connection *, const char *url, const char *method,
                                const char *version, const char *upload, size_t *upload_size, void **seen);

/* cli/cluster/status.c, metrics.c, events.c: paths that are more than a line. */
enum MHD_Result http_status(struct http *, struct MHD_Connection *);
enum MHD_Result http_metrics(struct http *, struct MHD_Connection *);
enum MHD_Result http_events(struct http *, struct MHD_Connection *);
void http_wake_readers(void *context); /* there is something to tell them */
void http_comment(struct http *);      /* to all readers */

#endif
