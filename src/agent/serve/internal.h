/* The inside of the control socket. Shared by control*.c, their tests and fuzzer, and http*.c, which tells the same. */
#ifndef ELECTOR_AGENT_SERVE_INTERNAL_H
#define ELECTOR_AGENT_SERVE_INTERNAL_H

#include <jansson.h>

#include "agent/serve/change_list.h"
#include "agent/serve/leadership.h"
#include "agent/serve/serve.h"

enum {
    SERVE_LINE_MAX = 4096,     /* a request, with its newline */
    SERVE_OUT_MAX = 65536,     /* what waits for a client that does not read */
    SERVE_OUT_EACH = 512,      /* and so much more for each of its candidacies: many may be decided at once */
    SERVE_OUT_BUSY = 32768,    /* from here on its requests wait too */
    SERVE_BATCH = 16384,       /* what is coalesced is written in pieces of about this size */
    SERVE_STATUS_BYTES = 8192, /* after so many, groups go to another line */
    SERVE_STATUS_GROUPS = 32,  /* so do they after so many */
    SERVE_HISTORY_MAX = 64,    /* tenures in one answer */
    SERVE_HISTORY_USUAL = 16,
    SERVE_ID_MAX = 64,            /* an id that is a string */
    SERVE_AWAITED_MAX = 64,       /* groups observed by name before there are any */
    SERVE_CAMPAIGNS_MAX = 131072, /* of one connection */
    SERVE_GROUPS_MAX = 135168,    /* that a client can ask for: those of sessions, and the others */
    SERVE_WORDS = SERVE_GROUPS_MAX / 64
};

/* A bit for each leadership, by its number. */
struct serve_set {
    uint64_t words[SERVE_WORDS];
};

/* Who is at the other end, as the kernel knows it. */
struct serve_who {
    uid_t uid;
    gid_t *gids; /* its owner frees them */
    uint32_t gid_count;
};

struct connection {
    uv_poll_t poll;
    struct serve *serve;
    int fd;
    uint32_t place;
    struct serve_who who;
    uint32_t work;  /* its process, or what it has said its work is: see agent/guardian/guardian_client.h */
    int passed;     /* a descriptor that came, and that no request has asked for yet; -1: none */
    bool has_ended; /* it will send no more: what is written still goes out */
    bool is_closed;
    bool is_doomed; /* to be hung up on, but not from within a call of the host */
    int watched;    /* what the loop waits for on it */

    bool has_page;   /* and reads its deadlines there */
    bool page_waits; /* it is to go with the next bytes */
    bool had_page;   /* it went: once is enough, for who does not read holds our descriptors */

    bool has_news; /* something to write or to tell of, since it last went on */

    size_t in_size;
    size_t out_first, out_size, out_room;
    char *out;

    bool observes_all;
    uint32_t campaigns;
    uint32_t awaited_count;
    struct serve_set entered; /* candidate there, or was */
    struct serve_set observed;
    struct serve_set leader_waits, lease_waits; /* to be told of, in whatever is their newest form */

    bool in_status; /* a status without a group is being written; other requests wait */
    uint32_t status_next;
    json_t *status_id;

    char awaited[SERVE_AWAITED_MAX][CONFIG_NAME_MAX + 1];
    char in[SERVE_LINE_MAX];
};

struct serve {
    uv_loop_t *loop;
    const struct config *config;
    struct host *host;
    struct guardian_client *obituary;
    struct leaderships leaderships;
    struct change_list change_list; /* of leaderships */
    struct metrics *metrics;        /* NULL: nobody counts */
    struct connection *connections[SERVE_CONNECTIONS_MAX];
    uint32_t connection_count;
    uv_poll_t listener;
    uv_timer_t chores;
    struct deadline_page *page; /* NULL: there is none */
    int fd, spare_fd;
    dev_t device; /* of the socket's file: only our own is taken away */
    ino_t inode;
    uint32_t handles; /* that the loop has not closed yet */
    bool has_listener, is_freed;
    char failed[200];
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

/* socket.c */
struct leadership *serve_leadership(struct serve *, struct host_group *); /* NULL: no memory */
struct leadership *serve_find_leadership(struct serve *, const char *group);
void serve_do_chores_soon(struct serve *);
/* A connection that is there; NULL: no memory or no place. `who` is taken over in any case. */
struct connection *serve_adopt(struct serve *, int fd, struct serve_who);
void serve_release(struct serve *); /* a handle is closed */
uint32_t serve_work(const struct connection *);

/* connection.c */
bool connection_begin(struct connection *, uv_loop_t *);
void connection_hear(struct connection *, const char *bytes, size_t size); /* at most what there is room for */
/* Appends a line and its newline, to be written soon; steals the reference. Without room the connection is doomed. */
void connection_say(struct connection *, json_t *);
void connection_say_event(struct connection *, const struct leadership *, const struct leadership_event *);
/* Writes what can be written, then what was coalesced, then goes on with requests that had to wait. */
void connection_go_on(struct connection *);
/* To be hung up on, soon: these may be called from within a call of the host, which the others may not. */
void connection_doom(struct connection *);
/* Sends what was said at once: who is elected hears of it before the peers do. */
void connection_push(struct connection *);
void connection_wake(struct connection *); /* there is something new to say */
void connection_close(struct connection *, enum leadership_way);

/* count.c */
/* What is new is not `seen` yet. */
void serve_count(struct serve *, struct leadership *, const struct host_view *);

/* request.c */
void serve_request(struct connection *, const char *line, size_t size);
void serve_refuse(struct connection *, const json_t *id, const char *error, const char *message);

/* cli/cluster/status.c */
json_t *serve_text(const char *text); /* whatever bytes a peer has sent, as a JSON string */
json_t *serve_deadline(uint64_t deadline_ns);
json_t *serve_leader_event(const struct serve *, const struct leadership *);
json_t *serve_nobody_event(const char *group);
json_t *serve_begin_status(const struct serve *); /* with the members, and no groups yet */
json_t *serve_describe_group(const struct serve *, const struct leadership *);
json_t *serve_status_of(const struct serve *, const struct leadership *); /* one group */
/* The next line of a status of all; moves status_next on, and ends in_status with the last. */
json_t *serve_status_line(struct connection *);

/* cli/cluster/history.c */
json_t *serve_history(const struct serve *, const struct leadership *, uint32_t most);
json_t *serve_why(const struct serve *, const struct leadership *);

#endif
