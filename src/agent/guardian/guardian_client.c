/* See guardian_client.h. */
#define _GNU_SOURCE
#include "agent/guardian/internal.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/guardian/alive_lock.h"
#include "agent/peer/udp.h"
#include "base/clock.h"
#include "base/closer.h"
#include "base/kernel/memfd.h"
#include "base/log/log.h"

enum {
    PAUSE_FIRST_MS = 100,
    PAUSE_MOST_MS = 10000,
    STEADY_S = 10,
    GOODBYE_MS = 1000,
    GOODBYE_AT_WORK_MS = 2, /* while the loop runs */
    STARTING_MS = 5,        /* how often to look whether a guardian has been started */
    RELEASES_AFTER_MS =
        5, /* an election does not wait for them; the guardian keeps older ones, which are also true */
    CLOSING_MAX = 8, /* more lines of a user than this that take long to close: its new work is not watched */
    CLOSING_USERS = 64,
    PLACES = CLIENT_WORKS_MAX - CLIENT_BLIND - 1,
    PLACES_EACH = PLACES / 2, /* of one user, lest it take them all */
    LEAST_TIMEOUT_MS = 1000
};

static const struct work no_work = {.fd = -1, .connection = -1};

/* ---- Start and end of a guardian ---- */

static bool say(const struct guardian_client *o, const struct guardian_message *m, int fd)
{
    return guardian_channel_say(&o->channel, m, fd);
}

static void end_guardian(struct guardian_client *o)
{
    if (o->channel.pid == 0) return;
    guardian_channel_close(&o->channel);
    o->has_all = o->is_armed = false;
    o->timeout_ms = 0;
    memset(o->sealed_by, 0, sizeof o->sealed_by);
    for (uint32_t i = 0; i < CLIENT_WORKS_MAX; i++) o->works[i].is_told = false;
}

static void start_later(struct guardian_client *o)
{
    const uint64_t now = host_clock(o->host);
    if (now - o->started_at >= STEADY_S * NS_PER_S) o->pause_ms = 0;
    o->pause_ms = o->pause_ms ? 2 * o->pause_ms : PAUSE_FIRST_MS;
    if (o->pause_ms > PAUSE_MOST_MS) o->pause_ms = PAUSE_MOST_MS;
    o->start_at = now + o->pause_ms * NS_PER_MS;
}

static void lose_guardian(struct guardian_client *o, const char *how)
{
    end_guardian(o);
    start_later(o);
    log_event(LOG_WARN_LEVEL, NULL,
              "the guardian %s; another is started in %llu ms, and until then peers would wait for our leases",
              how, (unsigned long long)o->pause_ms);
}

static void on_death(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events;
    lose_guardian(poll->data, "has died");
}

static void start_guardian(struct guardian_client *o)
{
    const struct guardian_message begin = {.kind = GUARDIAN_BEGIN}, page = {.kind = GUARDIAN_PAGE};
    if (!o->channel.start) o->started_at = host_clock(o->host);
    const int error = guardian_channel_open(&o->channel, o->loop, o->program, o->config->log == CONFIG_LOG_JSON,
                                            config_is_realtime(o->config), on_death, o);
    if (error == EINPROGRESS) return;
    if (error) {
        start_later(o);
        log_event(LOG_WARN_LEVEL, NULL,
                  "cannot start a guardian: %s; until that works, peers would wait for our leases",
                  strerror(error));
        return;
    }
    const int socket = udp_open_aside(o->config);
    if (socket < 0 || !say(o, &begin, socket) || (o->page && !say(o, &page, o->page_fd)))
        lose_guardian(o, "cannot be spoken to");
    if (socket >= 0) close(socket);
}

/* ---- Work ---- */

static bool is_dead(int pidfd)
{
    struct pollfd polled = {.fd = pidfd, .events = POLLIN};
    return poll(&polled, 1, 0) != 0;
}

/* If the process is dead and its connection is not, another process has the connection, and we do not know
 * it. */
static bool cannot_be_watched(const struct work *w)
{
    return w->fd < 0 || (w->kind == GUARDIAN_WATCH && is_dead(w->fd));
}

static void tell_work(struct guardian_client *o, uint32_t number)
{
    struct work *w = &o->works[number];
    if (o->channel.pid == 0 || w->is_told) return;
    w->is_blind = cannot_be_watched(w);
    struct guardian_message m = {.kind = w->is_blind ? GUARDIAN_BLIND : w->kind, .number = number};
    w->is_told = say(o, &m, w->is_blind ? -1 : w->fd);
    m.kind = GUARDIAN_CONNECTION; /* if this fails, the client learns of our death a few milliseconds later */
    if (w->is_told && w->connection >= 0) (void)say(o, &m, w->connection);
}

/* False: the channel is full. */
static bool unwatch(struct guardian_client *o, uint32_t number)
{
    struct work *w = &o->works[number];
    struct guardian_message m = {.kind = GUARDIAN_UNWATCH, .number = number};
    if (w->is_told && !say(o, &m, -1)) return false;
    w->is_told = false;
    return true;
}

/* Lines that are being closed, beside the loop: of users whose number has the same remainder. */
static atomic_uint closing[CLOSING_USERS];

static atomic_uint *closing_of(uid_t owner)
{
    return &closing[owner % CLOSING_USERS];
}

/*
 * The kernel closes what a client has left in the queue of its line together with the last descriptor of the line, and a TCP
 * socket may linger. So the queue is emptied first. Nobody watches the line any more: it may be shut down.
 */
static void close_work(enum guardian_kind kind, int fd, uid_t owner)
{
    if (kind == GUARDIAN_LINE)
        closer_close_socket(fd, closing_of(owner));
    else
        close(fd);
}

static void free_work(struct work *w)
{
    close_work(w->kind, w->fd, w->owner);
    *w = no_work;
}

/* A number is given to other work only after the guardian was told. */
static void tidy(struct guardian_client *o)
{
    o->tidy_at = UINT64_MAX;
    for (uint32_t i = CLIENT_BLIND + 1; i < CLIENT_WORKS_MAX; i++) {
        struct work *w = &o->works[i];
        if (!w->is_dropped || w->holds) continue;
        if (unwatch(o, i))
            free_work(w);
        else
            o->tidy_at = host_clock(o->host) + NS_PER_S;
    }
}

static void tidy_later(struct guardian_client *o, const struct work *w)
{
    if (w->is_dropped && w->holds == 0 && o->tidy_at == UINT64_MAX) o->tidy_at = host_clock(o->host) + NS_PER_S;
}

static uint32_t find_place(const struct guardian_client *o)
{
    uint32_t i = CLIENT_BLIND + 1;
    while (i < CLIENT_WORKS_MAX && o->works[i].is_used) i++;
    return i;
}

/* Root and the agent's own user may take them all. */
static bool has_its_share(const struct guardian_client *o, uid_t owner)
{
    uint32_t count = 0;
    if (owner == 0 || owner == geteuid()) return false;
    for (uint32_t i = CLIENT_BLIND + 1; i < CLIENT_WORKS_MAX; i++)
        count += o->works[i].is_used && o->works[i].owner == owner;
    return count >= PLACES_EACH;
}

/* At most once a minute: clients come and go. */
static void tell_full(struct guardian_client *o, uid_t owner)
{
    const uint64_t now = host_clock(o->host);
    if (o->told_full_at && now - o->told_full_at < 60 * NS_PER_S) return;
    o->told_full_at = now;
    log_event(
        LOG_WARN_LEVEL, NULL,
        "the guardian can watch %d clients, %d of one user, and no more of uid %u: while others lead, peers would wait for our "
        "leases if this agent died; let clients share a connection",
        (int)PLACES, (int)PLACES_EACH, (unsigned)owner);
}

static uint32_t take_place(struct guardian_client *o, uid_t owner)
{
    uint32_t place = has_its_share(o, owner) ? CLIENT_WORKS_MAX : find_place(o);
    if (place < CLIENT_WORKS_MAX) return place;
    tidy(o);
    place = has_its_share(o, owner) ? CLIENT_WORKS_MAX : find_place(o);
    if (place == CLIENT_WORKS_MAX) tell_full(o, owner);
    return place;
}

uint32_t guardian_client_add(struct guardian_client *o, uid_t owner, enum guardian_kind kind, int fd,
                             int connection)
{
    if (fd < 0) return CLIENT_BLIND;
    const bool has_room = o && atomic_load(closing_of(owner)) < CLOSING_MAX;
    const uint32_t place = has_room ? take_place(o, owner) : CLIENT_WORKS_MAX;
    if (place == CLIENT_WORKS_MAX) {
        close_work(kind, fd, owner);
        return CLIENT_BLIND;
    }
    o->works[place] =
        (struct work){.kind = kind, .owner = owner, .fd = fd, .connection = connection, .is_used = true};
    return place;
}

/* Without a page the guardian would wait for it for ever. So it is told of blind work only while that leads. */
static bool counts_for_ever(const struct guardian_client *o, uint32_t work)
{
    return work == CLIENT_BLIND && !o->page;
}

void guardian_client_stand(struct guardian_client *o, uint32_t work)
{
    if (!o || work == CLIENT_NONE || counts_for_ever(o, work)) return;
    o->works[work].stands = true;
    tell_work(o, work); /* if this fails, again when it holds something */
}

static bool has_a_place(uint32_t work)
{
    return work > CLIENT_BLIND && work < CLIENT_WORKS_MAX;
}

void guardian_client_drop(struct guardian_client *o, uint32_t work)
{
    if (!o || !has_a_place(work)) return;
    struct work *w = &o->works[work];
    w->is_dropped = true;
    w->connection = -1;
    if (w->holds == 0 && !w->is_told)
        free_work(w);
    else
        tidy_later(o, w);
}

static void renew(struct guardian_client *o, struct work *w)
{
    if (!o->has_unsealed) o->release_at = host_clock(o->host) + RELEASES_AFTER_MS * NS_PER_MS;
    w->unsealed = UINT64_MAX;
    o->has_unsealed = true;
}

static void show(struct guardian_client *o, uint32_t work, bool leads)
{
    if (o->page) atomic_store(&o->page->leads[work], leads);
}

/* A tenure above CLIENT_GROUPS_MAX has no release: its group waits for the lease. */
void guardian_client_hold(struct guardian_client *o, uint32_t work, struct host_group *group, uint64_t term)
{
    if (!o || work == CLIENT_NONE) return;
    struct work *w = &o->works[work];
    if (group && work != CLIENT_BLIND && w->tenure_count < CLIENT_GROUPS_MAX) {
        w->tenures[w->tenure_count++] = (struct host_tenure){group, term};
        renew(o, w);
    }
    if (w->holds++ > 0) return;
    w->stands = true;
    if (w->is_told && !w->is_blind && cannot_be_watched(w) && !unwatch(o, work))
        lose_guardian(o, "takes nothing in");
    tell_work(o, work);
    if (o->has_all && !w->is_told) lose_guardian(o, "takes nothing in");
    show(o, work, true);
}

static void forget(struct guardian_client *o, struct work *w, const struct host_group *group)
{
    for (uint32_t i = 0; i < w->tenure_count; i++) {
        if (w->tenures[i].group != group) continue;
        w->tenures[i] = w->tenures[--w->tenure_count];
        renew(o, w);
        return;
    }
}

/* The guardian is told later: the caller's next messages go to the successor, which waits for them. */
void guardian_client_let_go(struct guardian_client *o, uint32_t work, const struct host_group *group)
{
    if (!o || work == CLIENT_NONE) return;
    struct work *w = &o->works[work];
    forget(o, w, group);
    if (--w->holds > 0) return;
    show(o, work, false);
    tidy_later(o, w);
    if (!counts_for_ever(o, work)) return;
    w->stands = false;
    if (!unwatch(o, work)) lose_guardian(o, "takes nothing in");
}

/* To a new guardian, as fast as it reads. */
static void tell_all_work(struct guardian_client *o)
{
    bool has_all = true;
    for (uint32_t i = CLIENT_BLIND; i < CLIENT_WORKS_MAX; i++) {
        if (!o->works[i].stands) continue;
        tell_work(o, i);
        has_all = has_all && o->works[i].is_told;
    }
    o->has_all = has_all;
}

/* ---- All of it ---- */

static void tell_patience(struct guardian_client *o)
{
    const uint64_t lease_ms = host_longest_lease_ns(o->host) / NS_PER_MS;
    uint32_t timeout_ms = lease_ms < GUARDIAN_TIMEOUT_MAX_MS ? (uint32_t)lease_ms : GUARDIAN_TIMEOUT_MAX_MS;
    if (timeout_ms < LEAST_TIMEOUT_MS) timeout_ms = LEAST_TIMEOUT_MS;
    struct guardian_message m = {.kind = GUARDIAN_TIMEOUT, .number = timeout_ms};
    if (timeout_ms != o->timeout_ms && say(o, &m, -1)) o->timeout_ms = timeout_ms;
}

static void say_goodbye(struct guardian_client *o, int wait_ms)
{
    struct guardian_message m = {.kind = GUARDIAN_GOODBYE};
    struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, o->channel.pid, 0), .events = POLLIN};
    if (o->channel.pid && ended.fd >= 0 && say(o, &m, -1)) (void)poll(&ended, 1, wait_ms);
    if (ended.fd >= 0) close(ended.fd);
    end_guardian(o);
}

static void make_page(struct guardian_client *o)
{
    struct guardian_page *page = MAP_FAILED;
    o->page_fd = memfd_new("elector-guard");
    if (o->page_fd >= 0 && ftruncate(o->page_fd, sizeof *page) == 0)
        page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, o->page_fd, 0);
    if (page == MAP_FAILED) return;
    if (alive_lock_hold(&page->alive))
        o->page = page;
    else
        munmap(page, sizeof *page);
}

/* The guardian is dead by now, so nobody sees the lock given back. */
static void drop_page(struct guardian_client *o)
{
    if (o->page) alive_lock_release(&o->page->alive);
    if (o->page) munmap(o->page, sizeof *o->page);
    if (o->page_fd >= 0) close(o->page_fd);
}

struct guardian_client *guardian_client_new(uv_loop_t *loop, const struct config *config, struct host *host,
                                            struct seal *seal, const char *program)
{
    struct guardian_client *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    o->loop = loop;
    o->config = config;
    o->host = host;
    o->seal = seal;
    o->channel.fd = -1;
    o->program = program;
    o->tidy_at = UINT64_MAX;
    make_page(o);
    for (uint32_t i = 0; i < CLIENT_WORKS_MAX; i++) o->works[i] = no_work;
    return o;
}

void guardian_client_free(struct guardian_client *o)
{
    if (!o) return;
    guardian_channel_give_up(&o->channel);
    if (o->channel.pid) say_goodbye(o, GOODBYE_MS);
    for (uint32_t i = 0; i < CLIENT_WORKS_MAX; i++)
        if (o->works[i].fd >= 0) close_work(o->works[i].kind, o->works[i].fd, o->works[i].owner);
    drop_page(o);
    free(o);
}

bool guardian_client_may_be(const struct guardian_client *o, pid_t child)
{
    return o && (o->channel.start || child == o->channel.pid);
}

uint64_t guardian_client_tick(struct guardian_client *o)
{
    const bool is_wanted = o->config->guardian && o->program;
    if (host_clock(o->host) >= o->tidy_at) tidy(o);
    if (!is_wanted) guardian_channel_give_up(&o->channel);
    if (!is_wanted && o->channel.pid) say_goodbye(o, GOODBYE_AT_WORK_MS);
    if (!is_wanted) return UINT64_MAX;
    if (o->channel.pid == 0 && host_clock(o->host) >= o->start_at) start_guardian(o);
    if (o->channel.start) return host_clock(o->host) + STARTING_MS * NS_PER_MS;
    if (o->channel.pid == 0) return o->start_at;
    if (!o->has_all) tell_all_work(o);
    if (o->channel.pid && o->has_all) {
        tell_patience(o);
        guardian_client_seal(o);
    }
    if (!o->has_unsealed) return host_clock(o->host) + NS_PER_S;
    const uint64_t next = host_clock(o->host) + NS_PER_MS;
    return o->release_at > next ? o->release_at : next;
}
