/* Shared by the files of the serve room, serve/http, their tests and fuzzers. */
#ifndef ELECTOR_AGENT_SERVE_INTERNAL_H
#define ELECTOR_AGENT_SERVE_INTERNAL_H

#include <jansson.h>

#include "agent/serve/audit.h"
#include "agent/serve/change_list.h"
#include "agent/serve/leadership.h"
#include "agent/serve/serve.h"

enum {
    SERVE_LINE_MAX = 4096,     /* bytes of a request, with its newline */
    SERVE_OUT_MAX = 65536,     /* output buffered for a client that does not read, */
    SERVE_OUT_EACH = 512,      /* and in addition for each of its candidacies: many may be decided at once */
    SERVE_OUT_BUSY = 32768,    /* with more output than this, its requests wait */
    SERVE_BATCH = 16384,       /* coalesced events are written in pieces of about this size */
    SERVE_STATUS_BYTES = 8192, /* bytes of groups in one line of a status, */
    SERVE_STATUS_GROUPS = 32,  /* and their number */
    SERVE_HISTORY_MAX = 64,    /* most tenures in one answer */
    SERVE_HISTORY_USUAL = 16,
    SERVE_ID_MAX = 64,            /* bytes of an id that is a string */
    SERVE_AWAITED_MAX = 64,       /* groups that a client observes before they exist */
    SERVE_CAMPAIGNS_MAX = 131072, /* candidacies of one connection */
    SERVE_GROUPS_MAX = 135168,    /* groups that clients can use: those of sessions, and the others */
    SERVE_WORDS = SERVE_GROUPS_MAX / 64
};

/* A bit for each leadership, by its number. */
struct serve_set {
    uint64_t words[SERVE_WORDS];
};

/* The client's user and groups, from the kernel. */
struct serve_who {
    uid_t uid;
    gid_t *gids; /* the owner frees them */
    uint32_t gid_count;
    pid_t pid; /* of the process that connected; 0: unknown */
};

struct connection {
    uv_poll_t poll;
    struct serve *serve;
    int fd;
    uint32_t place;
    struct serve_who who;
    char program[16];    /* its name, for the log; "": not asked for yet */
    const char *refusal; /* the error in the last answer; NULL: ok */
    uint32_t work;       /* the guardian's number for its process or its `work` socket (guardian_client.h) */
    int passed;          /* a descriptor that the client passed, for its next `work` request; -1: none */
    bool has_ended;      /* the client has closed its sending side; buffered output still goes out */
    bool is_closed;
    bool is_doomed; /* to be closed soon, but not from within a call of the host */
    int watched;    /* the events that the loop polls for */

    bool has_page;   /* the client reads its deadlines on the deadline page */
    bool page_waits; /* the page goes out with the next bytes */
    bool had_page;   /* it was sent once; not again, because unread descriptors count against our limit */

    bool has_changes; /* new output or events since connection_go_on() */

    /* Signs of life, see watchdog.c. */
    uint64_t watchdog_ns; /* it promised one at least this often; 0: it did not */
    uint64_t alive_ns;    /* the last one, or when it began to lead */
    uint32_t leads;       /* groups */
    bool is_suspect, hangs;

    size_t in_size;
    size_t out_first, out_size, out_room;
    char *out;

    bool observes_all;
    uint32_t campaigns;
    uint32_t awaited_count;
    struct serve_set entered; /* groups in which it is or was a candidate */
    struct serve_set observed;
    struct serve_set leader_waits,
        lease_waits; /* groups with an event to send, coalesced: with the state at that time */

    bool in_status; /* a status of all groups is being written; other requests wait */
    uint32_t status_next;
    json_t *status_id;

    char awaited[SERVE_AWAITED_MAX][CONFIG_NAME_MAX + 1];
    char in[SERVE_LINE_MAX];
};

struct serve {
    uv_loop_t *loop;
    const struct config *config;
    struct host *host;
    struct guardian_client *guardian;
    struct leaderships leaderships;
    struct change_list change_list; /* by number of the leadership */
    struct metrics *metrics;        /* NULL: do not count */
    struct connection *connections[SERVE_CONNECTIONS_MAX];
    uint32_t connection_count;
    uv_poll_t listener;
    uv_timer_t chores, watchdog;
    struct audit audit;
    uv_timer_t audit_timer;
    struct deadline_page *page; /* NULL: there is none */
    int fd, spare_fd;
    dev_t device; /* of the socket's file: we remove only our own */
    ino_t inode;
    uint32_t handles; /* not closed by the loop yet */
    bool has_listener, is_freed;
    char failed[200];
    char http_error[512]; /* why HTTP is not served although it should be; "": it is, or is off */
};

static inline bool serve_has(const struct serve_set *set, uint32_t number)
{
    return set->words[number / 64] >> (number % 64) & 1;
}

static inline void serve_add(struct serve_set *set, uint32_t number)
{
    set->words[number / 64] |= UINT64_C(1) << (number % 64);
}

static inline void serve_remove(struct serve_set *set, uint32_t number)
{
    set->words[number / 64] &= ~(UINT64_C(1) << (number % 64));
}

/* serve.c */
struct leadership *serve_leadership(struct serve *, struct host_group *); /* NULL: out of memory */
struct leadership *serve_find_leadership(struct serve *, const char *group);
void serve_do_chores_soon(struct serve *);
/* A connection for an accepted socket; NULL: out of memory, or too many. Takes `fd` and `who` over in any
 * case. */
struct connection *serve_adopt(struct serve *, int fd, struct serve_who);
void serve_release(struct serve *); /* the loop has closed a handle */
uint32_t serve_work(const struct connection *);

/* connection.c */
bool connection_begin(struct connection *, uv_loop_t *);
void connection_hear(struct connection *, const char *bytes,
                     size_t size); /* at most as many bytes as `in` has room for */
/* Buffers a line, to be written soon; steals the reference. If there is no room, the connection will be
 * closed. */
void connection_say(struct connection *, json_t *);
void connection_say_event(struct connection *, const struct leadership *, const struct leadership_event *);
/* Writes buffered output, then coalesced events, then handles requests that had to wait. */
void connection_go_on(struct connection *);
/* Closes it soon. This and the next two may be called from within a call of the host; the others may not. */
void connection_doom(struct connection *);
/* Sends buffered output at once: a new leader hears of its election before the peers do. */
void connection_push(struct connection *);
void connection_wake(struct connection *); /* there is new output, or a new event */
void connection_close(struct connection *, enum leadership_way);

/* watchdog.c */
void serve_watch(struct connection *, uint64_t watchdog_ms); /* it promises signs of life; 0: it does not */
void serve_hear_alive(struct connection *);
/* An event that is about to be told to the client. */
void serve_count_tenures(struct connection *, const struct leadership_event *);
bool serve_hangs(void *context, const void *client); /* for leaderships.hangs */

/* leadership_metrics.c: call it before the leadership's seen_leader and seen_token are updated. */
void serve_count_change(struct serve *, struct leadership *, const struct host_view *);

/* request.c */
void serve_request(struct connection *, const char *line, size_t size);
void serve_refuse(struct connection *, const json_t *id, const char *error, const char *message);

/* rights.c */
bool serve_may(const struct connection *, const char *group, enum config_right);
bool serve_may_read(const struct connection *, const struct leadership *);
const char *serve_lack_of(enum config_right); /* says to a client that it does not have the right */
/* Logs that a client asked for a change, and `refusal` of the connection. `op` is a constant. A client that
 * repeats itself is counted instead. Call it after the change, which must not wait for the log. */
void serve_audit_request(struct connection *, const char *op, const json_t *request, const char *group);
void serve_audit_end(struct connection *); /* it goes, and its candidacies with it */
void serve_end_audit(struct serve *);      /* logs the counts */

/* status.c */
json_t *serve_text(const char *text); /* any bytes as a JSON string; invalid UTF-8 becomes '?' */
json_t *serve_deadline(uint64_t deadline_ns);
json_t *serve_leader_event(const struct serve *, const struct leadership *);
json_t *serve_nobody_event(const char *group);
json_t *serve_begin_status(const struct serve *); /* the members, and an empty list of groups */
json_t *serve_describe_group(const struct serve *, const struct leadership *);
json_t *serve_status_of(const struct serve *, const struct leadership *); /* one group */
/* One page: the members, and the groups from number *next on, which it advances. Groups that the client may not
 * read are left out, so there may be none. */
json_t *serve_status_page(const struct connection *, uint32_t *next);
/* The next line of a status of all groups; advances status_next, and clears in_status with the last one. */
json_t *serve_status_line(struct connection *);

/* history.c */
json_t *serve_history(const struct serve *, const struct leadership *, uint32_t most);
json_t *serve_why(const struct serve *, const struct leadership *);

#endif
