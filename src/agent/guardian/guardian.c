/* See guardian.h: what a guardian knows, and what it does when its agent is dead. */
#define _GNU_SOURCE
#include "agent/guardian/guardian.h"

#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/closer.h"
#include "base/log/log.h"

/* ---- Messages ---- */

static bool is_watched(enum guardian_kind kind)
{
    return kind == GUARDIAN_WATCH || kind == GUARDIAN_LINE || kind == GUARDIAN_BLIND;
}

static void drop_release(struct guardian_obituary *release)
{
    if (release) sodium_memzero(release, sizeof *release);
    free(release);
}

/* Clients have the other end of a line and of a connection, and may have left in it what takes long to close: base/closer.h. The thread
 * that hears of the agent's death must not wait for that. */
static void close_client_socket(int fd)
{
    static atomic_uint closing;
    if (fd >= 0) closer_close(fd, &closing);
}

static void let_go(struct guardian_watched *one)
{
    if (one->kind == GUARDIAN_LINE)
        close_client_socket(one->fd);
    else if (one->fd >= 0)
        close(one->fd);
    close_client_socket(one->connection);
    one->fd = one->connection = -1;
    for (uint32_t i = 0; i < GUARDIAN_PEERS_MAX; i++) drop_release(one->releases[i]);
}

static struct guardian_watched *find(struct guardian *g, uint32_t number)
{
    for (uint32_t i = 0; i < g->watched_count; i++)
        if (g->watched[i].number == number) return &g->watched[i];
    return NULL;
}

static void unwatch(struct guardian *g, uint32_t number)
{
    struct guardian_watched *one = find(g, number);
    if (!one) {
        g->is_mute = true;
        return;
    }
    let_go(one);
    *one = g->watched[--g->watched_count];
}

/* Work whose descriptor did not arrive cannot be watched. */
static bool watch(struct guardian *g, enum guardian_kind kind, uint32_t number, int fd)
{
    if (g->watched_count == GUARDIAN_WATCHED_MAX) {
        g->is_mute = true;
        return false;
    }
    g->watched[g->watched_count++] = (struct guardian_watched){
        .number = number, .kind = fd < 0 ? GUARDIAN_BLIND : kind, .fd = fd, .connection = -1};
    return fd >= 0;
}

/* True: the descriptor is kept. The caller closes it otherwise. */
static bool keep_connection(struct guardian *g, uint32_t number, int fd)
{
    struct guardian_watched *one = find(g, number);
    if (!one || one->connection >= 0) {
        g->is_mute = true;
        return false;
    }
    one->connection = fd;
    return true;
}

static bool has_datagram(const struct guardian_message *m, size_t size, uint32_t peer)
{
    return peer >= 1 && peer <= GUARDIAN_PEERS_MAX && m->size <= GUARDIAN_DATAGRAM_MAX &&
           size == GUARDIAN_HEAD + m->size;
}

static void copy(struct guardian_obituary *obituary, const struct guardian_message *m)
{
    obituary->size = m->size;
    obituary->address = m->address;
    memcpy(obituary->datagram, m->datagram, m->size);
}

/* It can end this member's leases for as long as its channel lasts: keep it out of the swap space and of core dumps. */
static void keep_obituary(struct guardian *g, const struct guardian_message *m, size_t size)
{
    if (!has_datagram(m, size, m->number)) {
        g->is_mute = true;
        return;
    }
    struct guardian_obituary *kept = &g->obituaries[m->number - 1];
    if (kept->size == 0) (void)sodium_mlock(kept, sizeof *kept);
    copy(kept, m);
}

/* Without memory there is no release, and the lease decides. */
static void keep_release(struct guardian *g, const struct guardian_message *m, size_t size)
{
    struct guardian_watched *one = find(g, m->number);
    if (!one || !has_datagram(m, size, m->peer)) {
        g->is_mute = true;
        return;
    }
    struct guardian_obituary **kept = &one->releases[m->peer - 1];
    drop_release(*kept);
    *kept = m->size ? malloc(sizeof **kept) : NULL;
    if (*kept) copy(*kept, m);
}

static void map_page(struct guardian *g, int fd)
{
    struct stat file;
    const bool is_whole =
        !g->page && fd >= 0 && fstat(fd, &file) == 0 && file.st_size >= (off_t)sizeof *g->page;
    void *page = is_whole ? mmap(NULL, sizeof *g->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (page == MAP_FAILED)
        g->is_mute = true;
    else
        g->page = page;
}

/* True: the descriptor is kept. */
static bool take(struct guardian *g, const struct guardian_message *m, size_t size, int fd)
{
    const enum guardian_kind kind = (enum guardian_kind)m->kind;
    if (is_watched(kind)) return watch(g, kind, m->number, fd);
    switch (kind) {
    case GUARDIAN_BEGIN:
        if (g->socket >= 0 || fd < 0) break;
        g->socket = fd;
        return true;
    case GUARDIAN_PAGE: map_page(g, fd); return false;
    case GUARDIAN_CONNECTION: return keep_connection(g, m->number, fd);
    case GUARDIAN_UNWATCH: unwatch(g, m->number); return false;
    case GUARDIAN_OBITUARY: keep_obituary(g, m, size); return false;
    case GUARDIAN_RELEASE: keep_release(g, m, size); return false;
    case GUARDIAN_TIMEOUT:
        g->timeout_ms = m->number < GUARDIAN_TIMEOUT_MAX_MS ? m->number : GUARDIAN_TIMEOUT_MAX_MS;
        return false;
    case GUARDIAN_GOODBYE: g->has_left = true; return false;
    default: break;
    }
    g->is_mute = true;
    return false;
}

void guardian_take(struct guardian *g, const struct guardian_message *m, size_t size, int fd)
{
    const bool is_whole = size >= GUARDIAN_HEAD && size <= sizeof *m;
    if (!is_whole) g->is_mute = true;
    const bool is_kept = is_whole && take(g, m, size, fd);
    if (!is_kept && fd >= 0) close(fd);
}

void guardian_close(struct guardian *g)
{
    for (uint32_t i = 0; i < g->watched_count; i++) let_go(&g->watched[i]);
    g->watched_count = 0;
    if (g->socket >= 0) close(g->socket);
    g->socket = -1;
    if (g->page) munmap(g->page, sizeof *g->page);
    g->page = NULL;
}

/* ---- After the agent's death ---- */

/* The page is final once the agent is dead. The agent itself, number 0, always counts. */
static bool counts(const struct guardian *g, const struct guardian_watched *one)
{
    const bool is_on_page = g->page && one->number > 0 && one->number < GUARDIAN_WATCHED_MAX;
    return !is_on_page || atomic_load(&g->page->leads[one->number]);
}

/* All clients' connections: those that led nothing must also learn that their agent is dead. */
static void shut_connections(const struct guardian *g)
{
    for (uint32_t i = 0; i < g->watched_count; i++)
        if (g->watched[i].connection >= 0) (void)shutdown(g->watched[i].connection, SHUT_RDWR);
}

static void ask_for_the_end(const struct guardian *g)
{
    for (uint32_t i = 0; i < g->watched_count; i++)
        if (g->watched[i].kind == GUARDIAN_LINE && counts(g, &g->watched[i]))
            (void)!send(g->watched[i].fd, GUARDIAN_LINE_END, sizeof GUARDIAN_LINE_END - 1,
                        MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A line that ends without the answer proves nothing: a keeper that was killed may have left processes
 * behind. A keeper that answered and ended before it read our request resets the line: the first read fails,
 * the second has the answer. */
static enum guardian_state read_line(int fd)
{
    char word[sizeof GUARDIAN_LINE_OVER];
    ssize_t size = recv(fd, word, sizeof word, MSG_DONTWAIT);
    if (size < 0 && errno == ECONNRESET) size = recv(fd, word, sizeof word, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return GUARDIAN_GOES_ON;
    const bool is_over =
        size == (ssize_t)sizeof word - 1 && memcmp(word, GUARDIAN_LINE_OVER, sizeof word - 1) == 0;
    return is_over ? GUARDIAN_IS_OVER : GUARDIAN_NEVER_KNOWN;
}

static enum guardian_state look_at(const struct guardian_watched *one, short events)
{
    if (one->kind == GUARDIAN_BLIND || events & POLLNVAL) return GUARDIAN_NEVER_KNOWN;
    if (events == 0) return GUARDIAN_GOES_ON;
    if (one->kind == GUARDIAN_LINE) return read_line(one->fd);
    return events & POLLIN ? GUARDIAN_IS_OVER
                           : GUARDIAN_NEVER_KNOWN; /* a pidfd is readable once its process is dead */
}

/* Waits until some work changes, then looks at all that goes on. */
static enum guardian_state look_at_all(struct guardian *g, int timeout_ms)
{
    struct pollfd polled[GUARDIAN_WATCHED_MAX];
    enum guardian_state all = GUARDIAN_IS_OVER;
    for (uint32_t i = 0; i < g->watched_count; i++) {
        const struct guardian_watched *one = &g->watched[i];
        polled[i] = (struct pollfd){.fd = one->state == GUARDIAN_GOES_ON ? one->fd : -1, .events = POLLIN};
    }
    if (poll(polled, g->watched_count, timeout_ms) < 0 && errno != EINTR) return GUARDIAN_NEVER_KNOWN;
    for (uint32_t i = 0; i < g->watched_count; i++) {
        struct guardian_watched *one = &g->watched[i];
        if (one->state == GUARDIAN_GOES_ON) one->state = look_at(one, polled[i].revents);
        if (!counts(g, one)) continue; /* read after the agent's end was seen */
        if (one->state == GUARDIAN_NEVER_KNOWN && all == GUARDIAN_IS_OVER) all = GUARDIAN_NEVER_KNOWN;
        if (one->state == GUARDIAN_GOES_ON) all = GUARDIAN_GOES_ON;
    }
    return all;
}

static void send_off(const struct guardian *g, const struct guardian_obituary *o)
{
    if (o && o->size)
        (void)!sendto(g->socket, o->datagram, o->size, MSG_DONTWAIT | MSG_NOSIGNAL,
                      (const struct sockaddr *)&o->address, sizeof o->address);
}

static bool has_releases(const struct guardian_watched *one)
{
    for (uint32_t i = 0; i < GUARDIAN_PEERS_MAX; i++)
        if (one->releases[i]) return true;
    return false;
}

/* Sends releases of work that is over. Sends none while the agent may live, since it may renew its leases.
 * True: call again after GUARDIAN_PAUSE_MS. */
static bool tell_of_some(struct guardian *g)
{
    const struct guardian_watched *agent = find(g, 0);
    bool is_more = false;
    if (agent && agent->state != GUARDIAN_IS_OVER) return false;
    for (uint32_t i = 0; i < g->watched_count; i++) {
        struct guardian_watched *one = &g->watched[i];
        if (one->state != GUARDIAN_IS_OVER || one->told == GUARDIAN_TIMES || !has_releases(one)) continue;
        if (!counts(g, one)) continue;
        for (uint32_t peer = 0; peer < GUARDIAN_PEERS_MAX; peer++) send_off(g, one->releases[peer]);
        if (++one->told < GUARDIAN_TIMES) is_more = true;
    }
    return is_more;
}

void guardian_agent_died(struct guardian *g)
{
    struct guardian_watched *agent = find(g, 0);
    if (agent) agent->state = GUARDIAN_IS_OVER;
}

bool guardian_end_all(struct guardian *g)
{
    const uint64_t until = clock_boottime_ns() / NS_PER_MS + g->timeout_ms;
    shut_connections(g);
    ask_for_the_end(g);
    if (g->is_mute) return false;
    for (int timeout_ms = 0;;) {
        const enum guardian_state state = look_at_all(g, timeout_ms);
        if (state == GUARDIAN_IS_OVER) return true;
        const bool is_more = tell_of_some(g);
        const uint64_t now = clock_boottime_ns() / NS_PER_MS;
        if (!is_more && (state == GUARDIAN_NEVER_KNOWN || now >= until)) return false;
        timeout_ms = is_more ? GUARDIAN_PAUSE_MS : (int)(until - now);
    }
}

void guardian_tell(const struct guardian *g)
{
    const struct timespec pause = {.tv_nsec = GUARDIAN_PAUSE_MS * 1000000L};
    for (int time = 0; time < GUARDIAN_TIMES; time++) {
        if (time > 0) nanosleep(&pause, NULL);
        for (uint32_t i = 0; i < GUARDIAN_PEERS_MAX; i++) send_off(g, &g->obituaries[i]);
    }
}

static uint32_t peers_of(const struct guardian *g)
{
    uint32_t peers = 0;
    for (uint32_t i = 0; i < GUARDIAN_PEERS_MAX; i++) peers += g->obituaries[i].size > 0;
    return peers;
}

static uint32_t works_told_of(const struct guardian *g)
{
    uint32_t works = 0;
    for (uint32_t i = 0; i < g->watched_count; i++) works += g->watched[i].number && g->watched[i].told;
    return works;
}

static uint32_t works_that_count(const struct guardian *g)
{
    uint32_t works = 0;
    for (uint32_t i = 0; i < g->watched_count; i++) works += g->watched[i].number && counts(g, &g->watched[i]);
    return works;
}

void guardian_mourn(struct guardian *g)
{
    const bool is_over = guardian_end_all(g);
    const uint32_t works = works_that_count(g);
    if (!is_over) {
        log_event(LOG_WARN_LEVEL, NULL,
                  "the agent is dead; of %u clients the work of %u is over, and peers were told; of the rest "
                  "that is not known: its leases decide",
                  works, works_told_of(g));
        return;
    }
    guardian_tell(g);
    log_event(LOG_WARN_LEVEL, NULL, "the agent is dead; work of %u clients is over, and %u peers were told",
              works, peers_of(g));
}
