/* Shared by the files of the http room and their tests. */
#ifndef ELECTOR_AGENT_SERVE_HTTP_INTERNAL_H
#define ELECTOR_AGENT_SERVE_HTTP_INTERNAL_H

#include <microhttpd.h>

#include "agent/serve/http/http.h"
#include "agent/serve/internal.h"

enum { HTTP_PIECE = 8192 /* bytes of a long answer generated at a time */, HTTP_ROUND_US = 1000 };

enum {
    HTTP_GROUPS_MAX = 64,      /* most groups in one answer of /groups, */
    HTTP_GROUPS_LOOKED = 4096, /* and most that it looks at */
    HTTP_CHANGES_MAX = 10000   /* the largest `most` of /events */
};

struct http_reader; /* of /events */

enum http_stage {
    HTTP_ASKS,    /* its request is not complete */
    HTTP_HEARS,   /* it is being answered */
    HTTP_READS_ON /* it reads /events */
};

struct http_connection {
    struct http_connection *older, *newer;
    int fd;
    struct sockaddr_storage from;
    uint64_t since_ms; /* when it connected, or its last answer ended; uv_now() */
    enum http_stage stage;
    bool is_cut; /* disconnected; libmicrohttpd will close it */
    struct MHD_Connection *connection;
    struct http_connection *next_waiting;
    bool waits; /* suspended until the next round */
};

struct http {
    struct http_setup with;
    uv_loop_t *loop;
    struct MHD_Daemon *daemon; /* NULL: not listening yet */
    uv_poll_t poll;            /* initialised while there is a daemon */
    uv_timer_t timer, keep_alive, retry;
    uv_idle_t again;  /* active: go on in the next turn of the loop. A timer of 0 ms would go on in this one */
    unsigned handles; /* not closed by the loop yet */
    bool is_local;    /* on loopback: the Host header must name this host */
    const char *unhealthy;
    char *config_path; /* whole; NULL: there is no such file */
    uint16_t port;
    uint64_t round_began_ns;
    bool is_over;                    /* the round: who has more to say is suspended until the next */
    struct http_connection *waiting; /* those */
    struct http_reader *readers;
    uint32_t reader_count;
    struct http_connection *oldest, *newest; /* by since_ms */
};

/* Text that is being copied to libmicrohttpd. */
struct http_text {
    char *bytes; /* freed when all of it is copied */
    size_t at, size;
};

/* connections.c */
/*
 * Called by libmicrohttpd when a connection begins and ends. There is always room for a new one: if all places
 * are taken, or those of its address, it takes the place of the oldest whose request is not complete, else of
 * the oldest that is being answered. Readers of /events keep theirs.
 */
void http_on_connection(void *context, struct MHD_Connection *, void **place,
                        enum MHD_ConnectionNotificationCode);
void http_set_stage(struct http *, struct MHD_Connection *, enum http_stage);
/* Disconnects clients whose request was not complete in time. Milliseconds until the next; UINT64_MAX:
 * none. */
uint64_t http_cut_overdue(struct http *);

/*
 * All answers together take HTTP_ROUND_US of one turn of the loop. This says whether a request may be answered now, or its answer
 * continued. If not, and nothing was written yet (`used` is 0), the connection is suspended until the next turn: libmicrohttpd is
 * to be told that there is nothing to write, and will ask again.
 */
bool http_may_go_on(struct http *, struct MHD_Connection *, size_t used);
void http_begin_round(struct http *);

/* routes.c: whether HTTP, which does not know its clients, may tell of the group. */
bool http_may_tell(const struct http *, const struct leadership *);

/* http.c */
unsigned http_patience_s(const struct http *);
/* Copies as much as there is room for; returns the number of bytes. */
size_t http_pour(struct http_text *, char *to, size_t room);
bool http_set_text(struct http_text *, const char *); /* copies; false: out of memory */
/* JSON between two texts. Steals the reference, which may be NULL. False: out of memory. */
bool http_set_json(struct http_text *, const char *before, json_t *, const char *after);
/* Adds the common headers, queues the response and releases it. NULL (out of memory) closes the connection. */
enum MHD_Result http_answer(struct http *, struct MHD_Connection *, unsigned code, const char *type,
                            struct MHD_Response *);

/* May be called from within a call of the host. */
void http_go_round_soon(struct http *);

/* path.c: parses untrusted input. */
/* What the query has for the key; NULL: nothing. */
const char *http_value_of(struct MHD_Connection *, const char *key);
/* Leaves the number if there is no such key. False: not a number, or above `most`. */
bool http_read_number(struct MHD_Connection *, const char *key, uint64_t most, uint64_t *number);
/* Copies the text with %XX decoded; plain has room for length_max + 1. False: a broken escape, or too long. */
bool http_unescape(const char *text, char *plain, size_t length_max);
/* The group that a path names after its prefix; any character may be written as %XX. False: not a group
 * name. */
bool http_group_of(const char *path, const char *prefix, char name[CONFIG_NAME_MAX + 1]);
/* Whether a Host header needs no DNS: localhost or a numeric address, with or without a port. */
bool http_is_plain_host(const char *host);

/* routes.c: called by libmicrohttpd. */
enum MHD_Result http_on_request(void *context, struct MHD_Connection *, const char *url, const char *method,
                                const char *version, const char *upload, size_t *upload_size, void **seen);

/* status.c, metrics.c, events.c: paths with long answers. */
enum MHD_Result http_status(struct http *, struct MHD_Connection *);
enum MHD_Result http_metrics(struct http *, struct MHD_Connection *);
/* `most`: changes a second; 0: all. */
enum MHD_Result http_events(struct http *, struct MHD_Connection *, uint64_t most);
/* page.c */
enum MHD_Result http_page(struct http *, struct MHD_Connection *);
/* overview.c: a new reference; NULL: out of memory. */
json_t *http_describe(struct http *);
/* groups.c: the same, as *answer. Returns NULL, or what is wrong with the request. */
const char *http_list_groups(struct http *, struct MHD_Connection *, json_t **answer);
/* events.c: *most for http_events(). Returns NULL, or what is wrong with the request. */
const char *http_read_events(struct MHD_Connection *, uint64_t *most);
void http_on_change(void *context);    /* for change_list.moved */
void http_wake_readers(struct http *); /* so that none is suspended */
void http_comment(struct http *);      /* to all readers */

#endif
