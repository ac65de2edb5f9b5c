/* Shared by the files of the serve room, serve/request, serve/http, their tests and fuzzers. */
#ifndef ELECTOR_AGENT_SERVE_INTERNAL_H
#define ELECTOR_AGENT_SERVE_INTERNAL_H

#include <jansson.h>

#include "agent/history/history.h"
#include "agent/serve/change_list.h"
#include "agent/serve/leadership/leadership.h"
#include "agent/serve/limits/audit.h"
#include "agent/serve/limits/number_set.h"
#include "agent/serve/limits/turns.h"
#include "agent/serve/limits/users.h"
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
    SERVE_ID_MAX = 64,                      /* bytes of an id that is a string */
    SERVE_FORWARDED_MAX = 256,              /* requests that wait for answers of other agents */
    SERVE_AWAITED_MAX = 64,                 /* groups that a client observes before they exist */
    SERVE_GROUPS_MAX = CONFIG_GROUPS_LIMIT, /* groups that clients can use */
    SERVE_OBSERVE_ALL_MAX = 256, /* connections that observe all groups: each change is told to all of them, */
    SERVE_OBSERVE_ALL_EACH =
        64,                /* at most so many of one user; as many are left for root and the agent's own */
    SERVE_CLOSING_MAX = 8, /* descriptors of a user that wait to be closed: no more are read from it */
    SERVE_AWAITED_BUCKETS = 1024,
    SERVE_UNTOLD_MAX = 16, /* changes that the log and the peers have not been told of, */
    SERVE_UNTOLD_MS = 5,   /* and how long they wait for that */
    SERVE_UNSETTLED_MAX =
        32, /* changes to a leader whose agent's account is awaited: as many lines as the log may have */
    SERVE_POLLED_MAX = 256, /* connections that are polled though they wait for their turn */
    SERVE_RESTART_MAX = 16  /* keys that wait for a restart, and are told */
};
_Static_assert((int)SERVE_GROUPS_MAX <= (int)NUMBER_SET_END,
               "sets have room for the numbers of all leaderships");

struct observation; /* observers.c */

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
    struct user *user;
    struct turn_place turn;
    char program[16];    /* its name, for the log; "": not asked for yet */
    const char *refusal; /* the error in the last answer; NULL: ok */
    uint32_t
        work; /* the guardian's number for its process or its `work` socket (guardian_client.h), since its first candidacy */
    int passed; /* a descriptor that the client passed, for its next `work` request; -1: none */
    int line; /* of its `work`, while there is no guardian, or it was no candidate yet. Its end tells the keeper that we are dead. -1: none */
    bool is_readable;            /* the loop has seen input */
    bool has_ended;              /* the client has closed its sending side; buffered output still goes out */
    bool is_closed, is_unpolled; /* unpolled: its handle is closed, too */
    enum leadership_way way;     /* closed: how its candidacies end */
    bool is_doomed;              /* to be closed soon, but not from within a call of the host */
    bool is_gone;                /* the client has ended, and waits for its turn to be parted with */
    int watched;                 /* the events that the loop polls for */

    bool has_page;   /* the client reads its deadlines on the deadline page */
    bool page_waits; /* the page goes out with the next bytes */
    bool had_page;   /* it was sent once; not again, because unread descriptors count against our limit */

    bool has_changes; /* new output or events since connection_go_on() */

    /* Signs of life, see watchdog.c. */
    uint64_t watchdog_ns; /* it promised one at least this often; 0: it did not */
    uint64_t alive_ns;    /* the last one, or when it began to lead */
    uint32_t leads;       /* groups */
    bool is_suspect, hangs;
    uint32_t abandon_next; /* hangs: its groups from this number on have not been abandoned yet */

    size_t in_size;
    size_t out_first, out_size, out_room;
    char *out;

    bool observes_all;
    struct connection *next_of_all; /* that observe all groups */
    struct observation *observations;
    uint32_t awaited_count; /* groups among them that do not exist yet */
    uint32_t campaigns;
    uint64_t value_bytes; /* of its candidacies */
    /* Sets of numbers of leaderships. */
    struct number_set entered;  /* it is or was a candidate */
    struct number_set observed; /* one by one */
    struct number_set leader_waits,
        lease_waits; /* groups with an event to send, coalesced: with the state at that time */

    uint32_t forwarded; /* its requests that wait for the answer of another agent */
    bool is_forwarded;  /* its present request is one of them */
    bool is_held;       /* its next request waits for the store: capabilities.c */

    bool in_status; /* a status of all groups is being written; other requests wait */
    uint32_t status_next;
    json_t *status_id;

    char in[SERVE_LINE_MAX];
};

/* A request of a client, passed on to the agent of the group's leader. */
struct serve_forwarded {
    struct connection *from; /* NULL: this place is free */
    json_t *id;
    uint32_t request; /* of the exchange */
    el_node to;
    enum exchange_request what;
    char group[CONFIG_NAME_MAX + 1];
};

/* A change that waits to be told: untold.c. */
struct serve_untold {
    bool states; /* to the peers; else to the log */
    enum serve_step step;
    union {
        struct history_entry entry;
        struct history_statement statement;
    };
    char group[CONFIG_NAME_MAX + 1];
};

/* A change to a leader that history_complete() will complete: untold.c. */
struct serve_unsettled {
    uint64_t at_ns;
    struct history_entry change;
    char group[CONFIG_NAME_MAX + 1];
};

struct serve {
    uv_loop_t *loop;
    const struct config *config;
    struct host *host;
    struct guardian_client *guardian;
    struct leaderships leaderships;
    uint32_t *idle_since_s;          /* by number of the leadership: see serve_is_forgotten() */
    uint32_t idle_room, forget_next; /* forget_next: where serve_forget_some() goes on */
    uint64_t forget_at_ns;           /* and when */
    bool some_wait_to_be_dropped;    /* forgotten, but not yet dropped; or unused, while places are scarce */
    struct change_list change_list;  /* by number of the leadership */
    struct metrics *metrics;         /* NULL: do not count */
    uint64_t lapsed[HOST_CELLS_MAX + 1]; /* the deadline of each cell that was last counted as missed */
    struct exchange *exchange;           /* NULL: there is none */
    const struct serve_engine *engine;   /* NULL: this is an agent */
    const char *refused;                 /* serve_set_refused() */
    /* Of changes of leaders, for the log; may be NULL. */
    void (*on_step)(void *context, enum serve_step, const char *group, const struct history_entry *);
    void *on_step_context;
    struct serve_untold untold[SERVE_UNTOLD_MAX];
    uint32_t untold_count;
    uint64_t untold_until_ns;
    struct serve_unsettled unsettled[SERVE_UNSETTLED_MAX]; /* a ring */
    uint32_t unsettled_first, unsettled_count;
    struct connection *connections[SERVE_CONNECTIONS_MAX];
    uint32_t connection_count;
    uint32_t connection_most; /* as many as there are descriptors for */
    uint32_t first_free;      /* all places below are taken */
    struct users users;
    struct turns turns;
    uv_check_t after_polling;       /* clients are served then: messages of peers and due timers come first */
    uv_idle_t go_on;                /* active while clients wait: the loop does not */
    struct observation **observers; /* by number of the leadership */
    uint32_t observers_room;
    struct observation *awaited[SERVE_AWAITED_BUCKETS];
    struct connection *observers_of_all;
    uint32_t observers_of_all_count;
    bool
        some_are_held_up; /* connections that are not read from while descriptors of their user are being closed */
    uv_poll_t listener;
    uv_timer_t chores, watchdog;
    struct serve_forwarded forwarded[SERVE_FORWARDED_MAX];
    struct audit audit;
    uv_timer_t audit_timer;
    struct deadline_page *page; /* NULL: there is none */
    int fd, spare_fd;
    dev_t device; /* of the socket's file: we remove only our own */
    ino_t inode;
    uint32_t handles; /* not closed by the loop yet */
    bool has_listener, is_freed;
    char failed[200];
    struct exchange_difference restart[SERVE_RESTART_MAX]; /* ours: in use; theirs: in the file */
    uint32_t restart_count;
    char http_error[512]; /* why HTTP is not served although it should be; "": it is, or is off */
};

/* serve.c */
struct leadership *serve_leadership(struct serve *, struct host_group *); /* NULL: out of memory */
struct leadership *serve_find_leadership(const struct serve *, const char *group);
void serve_do_chores_soon(struct serve *);
void serve_look_later(struct serve *); /* the same, in 10 ms */
void serve_release(struct serve *);    /* the loop has closed a handle */

/* accept.c */
bool serve_listen(struct serve *, char *text, size_t size); /* false: `text` says why */
int serve_process_of(int fd);                               /* a pidfd of the client; -1: there is none */
void serve_on_connect(uv_poll_t *, int status, int events);
bool serve_accept(struct serve *, int fd); /* serves this client, and owns the socket. False: it is closed */
/* Whether this user gets another connection. Otherwise `text` says why not. */
bool serve_admits(const struct serve *, const struct user *, char *text, size_t size);
/* A connection for an accepted socket; NULL: out of memory, or too many. Takes `fd` and `who` over in any
 * case. */
struct connection *serve_adopt(struct serve *, int fd, struct serve_who);

/* event_line.c: an event for a candidate, without a newline; returns its size. */
enum { SERVE_EVENT_MAX = 512 };
size_t serve_write_event(const struct connection *, const struct leadership *, const struct leadership_event *,
                         char line[SERVE_EVENT_MAX]);

/* untold.c */
void serve_tell_later(struct serve *, const char *group, enum serve_step, const struct history_entry *);
/* A change to a leader: SERVE_LEADER_SETTLED. */
void serve_settle_later(struct serve *, const char *group, const struct history_entry *);
void serve_state_later(struct serve *, const char *group, const struct history_statement *);
void serve_tell_now(struct serve *);

/* turn.c */
void serve_queue(
    struct connection *); /* it has something to do; may be called from within a call of the host */
void serve_queue_parting(struct connection *); /* it is closed, and has candidacies left to withdraw */
void serve_part_with_all(struct serve *);      /* the same, but their candidacies stay with the host */
void serve_on_turn(uv_check_t *);

/* observers.c: each change of a group is told to its observers. */
/* Observes one group. False: out of memory. */
bool serve_observe(struct connection *, const struct leadership *);
/* Observes a group that does not exist yet. */
bool serve_await(struct connection *, const char *group);
bool serve_awaits(const struct connection *, const char *group);
bool serve_observe_all(struct connection *);
/* No more events: of this group, by its name; or of those that it has not named. Not both. */
void serve_unobserve(struct connection *, const char *group);
void serve_unobserve_all(struct connection *);
void serve_stop_observing(struct connection *);
/* A new group: whoever awaited it observes it from now on. False: out of memory, and somebody may miss it. */
bool serve_meet(struct serve *, const struct leadership *);
void serve_tell_observers(struct serve *, const struct leadership *);

/* connection.c */
bool connection_begin(struct connection *, uv_loop_t *);
void connection_hear(struct connection *, const char *bytes,
                     size_t size); /* at most as many bytes as `in` has room for */
/* Buffers a line, to be written soon; steals the reference. If there is no room, the connection will be
 * closed. */
void connection_say(struct connection *, json_t *);
void connection_say_event(struct connection *, const struct leadership *, const struct leadership_event *);
/* A portion: writes buffered output, reads, writes coalesced events, handles some requests. True: there is more to do. */
bool connection_go_on(struct connection *);
/* Closes it soon. This and the next two may be called from within a call of the host; the others may not. */
void connection_doom(struct connection *);
/* Sends buffered output at once: a new leader hears of its election before the peers do. */
void connection_push(struct connection *);
void connection_wake(struct connection *); /* there is new output, or a new event */
/* An event waits for the client: with the newest state when it is sent. */
void connection_coalesce(struct connection *, struct number_set *, const struct leadership *);
void connection_close(struct connection *, enum leadership_way);

/* watchdog.c */
void serve_watch(struct connection *, uint64_t watchdog_ms); /* it promises signs of life; 0: it does not */
void serve_hear_alive(struct connection *);
bool serve_abandon_some(struct connection *); /* a portion, if it hangs. True: groups are left */
/* An event that is about to be told to the client. */
void serve_count_tenures(struct connection *, const struct leadership_event *);
bool serve_hangs(void *context, const void *client); /* for leaderships.hangs */

/* leadership/metrics.c: counts a change of leaders and measures how long nobody led, for metrics and history alike. Call it
 * before the leadership's seen_leader and seen_token are updated. */
struct history_change;
void serve_count_change(struct serve *, struct leadership *, const struct host_view *, uint64_t now,
                        struct history_change *);

/* peers.c */
/* How long ago the peer was last heard, in ns, whatever it said; UINT64_MAX: never. */
uint64_t serve_heard(const struct serve *, el_node peer);
/* False if the member is heard, and both read no version of messages in common. Then `theirs`, if not NULL, says which the peer has. */
bool serve_understands(const struct serve *, el_node peer, char theirs[EXCHANGE_VERSIONS_TEXT]);
/* Whether the member is heard and its vote counts in the group, as far as this agent knows. */
bool serve_counts(const struct serve *, el_node member, const struct host_group *);
/* How long the voter, or this member, grants nothing since it has just started, in ns; 0: it may grant, or it is not heard.
 * `is_lost`: it lost its record, and grants nothing until it has learned what it may have promised. */
uint64_t serve_silence(const struct serve *, el_node member, bool *is_lost);
bool serve_grants(const struct serve *, el_node member);                /* it is not silent */
json_t *serve_describe_differences(const struct serve *, el_node peer); /* NULL: nothing differs */
json_t *serve_list_differences(const struct exchange_difference *, uint32_t count);
/* "votes" and "votes_counted" of a group. */
void serve_count_votes(const struct serve *, const struct host_group *, uint32_t *votes, uint32_t *counted);

/* members.c */
json_t *serve_describe_members(const struct serve *); /* an array, for `status` and /overview */
json_t *serve_members(const struct serve *);          /* the answer to `members` */

/* "differing": the sections in which a voter differs, with the votes that count there; and "votes_elsewhere". Nothing, if
 * none differs. */
void serve_add_sections(const struct serve *, json_t *line);

/* request/request.c */
void serve_request(struct connection *, const char *line, size_t size);
/* request/fields.c */
void serve_refuse(struct connection *, const json_t *id, const char *error, const char *message);
/* Answers a request about the group. `leader`: the member that decided it; NULL: this one. */
void serve_answer_as(struct connection *, const json_t *id, const char *group, const char *leader,
                     enum leadership_answer);

/* forward.c */
/* Passes a request on to the agent of the group's leader, or refuses it. False: no other member is known to lead; nothing was
 * answered. `to`: the member to hand over to. */
bool serve_forward(struct connection *, const json_t *id, const struct leadership *, enum exchange_request,
                   el_node to);
void serve_forget_forwarded(struct connection *); /* it is closed */

/* rights.c */
bool serve_may(const struct connection *, const char *group, enum config_right);
bool serve_may_read(const struct connection *, const struct leadership *);
const char *serve_lack_of(enum config_right); /* says to a client that it does not have the right */
/* Logs that a client asked for a change, and `refusal` of the connection. `op` is a constant. A client that
 * repeats itself is counted instead. Call it after the change, which must not wait for the log. */
void serve_audit_request(struct connection *, const char *op, const json_t *request, const char *group);
/* The same for a request that another agent has answered. */
void serve_audit_answer(struct connection *, const char *op, const char *group);
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

/* capabilities.c */
struct leadership *serve_make_leadership(struct serve *,
                                         const char *group); /* NULL: out of memory, or too many */
/* Whether the request can be handled now. False: it was refused, or it waits (is_held). `group`: NULL, if it is about none. */
bool serve_can(struct connection *, const json_t *id, const char *op, const char *group);
/* The reason why there is no such operation or field; NULL: there is one. */
const char *serve_lacks(const struct serve *, const char *what);
void serve_describe_engine(const struct serve *, json_t *line); /* for the answer to `hello` */
/* What an engine has found out about its store; NULL: nothing yet, or there is no engine. */
const json_t *serve_findings(const struct serve *);

/* forget.c */
/* A group has been made. If places have become scarce, those that nobody uses are looked for within a second. */
void serve_count_groups(struct serve *);
/* Somebody leads it or stands for it, here or elsewhere, or it has a section of its own. */
bool serve_is_used(const struct serve *, const struct leadership *);
/* Nobody has used it for `forget-after` (for a second, while places are scarce), as seen here, or a client said so: status no
 * longer lists it. Once somebody uses it, it is no longer forgotten. */
bool serve_is_forgotten(struct serve *, const struct leadership *);
void serve_touch(struct serve *,
                 const struct leadership
                     *); /* somebody asks for it now: it is used until now, unless a client said otherwise */
/* A client said so. Drops it now or, if it cannot be dropped yet, later: then `o` stays valid. False: it is used. */
bool serve_forget(struct serve *, struct leadership *);

/* history.c */
/* The group is known here, or was led once: before it was dropped, or before this agent started. */
bool serve_remembers(const struct serve *, const char *group);
json_t *serve_history(const struct serve *, const char *group, uint32_t most);
json_t *serve_why(const struct serve *, const char *group);

#endif
