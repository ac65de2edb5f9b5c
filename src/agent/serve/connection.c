/* One client: reads requests and writes answers and events, both in bounded buffers. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/serve/internal.h"
#include "agent/serve/limits/portion.h"
#include "base/clock.h"
#include "base/closer.h"
#include "base/pass.h"

/* ---- Output ---- */

void connection_doom(struct connection *c)
{
    if (c->is_closed || c->is_doomed) return;
    c->is_doomed = true;
    c->watched = 0;
    (void)uv_poll_stop(&c->poll);
    serve_queue(c);
}

void connection_wake(struct connection *c)
{
    c->has_changes = true;
    serve_queue(c);
}

void connection_coalesce(struct connection *c, struct number_set *waits, const struct leadership *o)
{
    if (c->is_closed || c->is_doomed) return;
    if (!number_set_add(waits, o->number)) connection_doom(c);
    connection_wake(c);
}

/* Moves the buffered output to the front only when room is needed, because there may be much of it. */
static bool make_room(struct connection *c, size_t size)
{
    const size_t most = SERVE_OUT_MAX + (size_t)c->campaigns * SERVE_OUT_EACH;
    if (c->out && c->out_first + c->out_size + size <= c->out_room) return true;
    if (c->out_size + size > most) return false;
    if (c->out && c->out_first) memmove(c->out, c->out + c->out_first, c->out_size);
    c->out_first = 0;
    if (c->out && 2 * (c->out_size + size) <= c->out_room) return true;
    const size_t wanted = 2 * (c->out_size + size), room = wanted < most ? wanted : most;
    if (c->out && room <= c->out_room) return c->out_size + size <= c->out_room;
    char *out = realloc(c->out, room);
    if (!out) return false;
    c->out = out;
    c->out_room = room;
    return true;
}

static bool is_heard(const struct connection *c)
{
    return !c->is_closed && !c->is_doomed;
}

static void end_line(struct connection *c, size_t size)
{
    c->out[c->out_first + c->out_size + size] = '\n';
    c->out_size += size + 1;
}

void connection_say(struct connection *c, json_t *line)
{
    if (!line) {
        connection_doom(c); /* out of memory: a closed connection is better than a missing line */
        return;
    }
    if (is_heard(c)) {
        const size_t used = c->out_first + c->out_size, room = c->out_room - used;
        const size_t size = json_dumpb(line, c->out ? c->out + used : NULL, room, JSON_COMPACT);
        if (size == 0 || !make_room(c, size + 1)) {
            connection_doom(c);
        } else {
            if (size >= room) (void)json_dumpb(line, c->out + c->out_first + c->out_size, size, JSON_COMPACT);
            end_line(c, size);
        }
    }
    json_decref(line);
}

void connection_say_event(struct connection *c, const struct leadership *o,
                          const struct leadership_event *event)
{
    char line[SERVE_EVENT_MAX];
    if (!is_heard(c)) return;
    const size_t size = serve_write_event(c, o, event, line);
    if (!make_room(c, size + 1)) {
        connection_doom(c);
        return;
    }
    memcpy(c->out + c->out_first + c->out_size, line, size);
    end_line(c, size);
}

static void say_lease(struct connection *c, const struct leadership *o)
{
    const struct leadership_event event = {
        .type = LEADERSHIP_LEASE, .token = o->tenure->token, .deadline_ns = leadership_told_until(o)};
    connection_say_event(c, o, &event);
}

static bool has_events(const struct connection *c)
{
    return c->lease_waits.count > 0 || c->leader_waits.count > 0;
}

/* Writes the coalesced events, with the present state. */
static void say_changes(struct connection *c)
{
    for (uint32_t at = 0; has_events(c) && c->out_size < SERVE_BATCH; at++) {
        const uint32_t lease = number_set_next(&c->lease_waits, at),
                       leader = number_set_next(&c->leader_waits, at);
        at = lease < leader ? lease : leader;
        if (at == NUMBER_SET_NONE) break;
        const struct leadership *o = leadership_at(&c->serve->leaderships, at);
        number_set_remove(&c->lease_waits, at);
        number_set_remove(&c->leader_waits, at);
        if (at == lease && leadership_is_held_by(o, c)) say_lease(c, o);
        if (at == leader && serve_may_read(c, o)) connection_say(c, serve_leader_event(c->serve, o));
    }
}

/* Passes the page with the first bytes. If the kernel refuses (too many descriptors in flight), the bytes go
 * alone: a client that was promised a page and gets none says hello again without one. */
static ssize_t send_with_page(struct connection *c)
{
    const ssize_t size = pass_send(c->fd, c->out + c->out_first, c->out_size, deadline_page_fd(c->serve->page),
                                   MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size >= 0 || errno == ETOOMANYREFS) c->page_waits = false;
    if (size < 0 && errno == ETOOMANYREFS) errno = EINTR; /* try again without it */
    return size;
}

/* False: the socket takes no more now, or the connection was closed. */
static bool write_out(struct connection *c)
{
    while (c->out_size > 0) {
        const ssize_t size = c->page_waits
                                 ? send_with_page(c)
                                 : send(c->fd, c->out + c->out_first, c->out_size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
            connection_close(c, LEADERSHIP_DIES);
            return false;
        }
        if (size < 0) return false;
        c->serve->turns.bytes += (size_t)size;
        c->out_first += (size_t)size;
        c->out_size -= (size_t)size;
    }
    c->out_first = 0;
    if (c->out_room <= SERVE_OUT_MAX) return true;
    free(c->out); /* it was told of thousands of elections at once */
    c->out = NULL;
    c->out_room = 0;
    return true;
}

/* Called from within a call of the host, so it must not close anything. Output that does not go out now goes
 * out later. */
void connection_push(struct connection *c)
{
    if (c->is_closed || c->is_doomed || c->page_waits) return;
    const ssize_t size = send(c->fd, c->out + c->out_first, c->out_size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size <= 0) return;
    c->out_first += (size_t)size;
    c->out_size -= (size_t)size;
}

/* ---- Input ---- */

static bool is_busy(const struct connection *c)
{
    return c->in_status || c->is_held || c->out_size >= SERVE_OUT_BUSY || c->is_doomed || c->is_closed;
}

/* Handles one request, if a whole line is there. */
static bool take_line(struct connection *c)
{
    const char *newline = memchr(c->in, '\n', c->in_size);
    if (!newline && c->in_size == sizeof c->in) {
        c->in_size = 0;
        serve_refuse(c, NULL, "too-long", "a line is at most 4096 bytes");
        connection_doom(c);
        return false;
    }
    if (!newline) return false;
    const size_t size = (size_t)(newline - c->in);
    serve_request(c, c->in, size);
    if (c->is_held) return false; /* it stays the next one */
    c->in_size -= size + 1;
    memmove(c->in, newline + 1, c->in_size);
    return true;
}

static bool has_line(const struct connection *c)
{
    return c->in_size == sizeof c->in || memchr(c->in, '\n', c->in_size);
}

static bool has_one_line(const struct connection *c)
{
    return memchr(c->in, '\n', c->in_size) == c->in + c->in_size - 1;
}

/* Handles requests in one hold of the host, so that their messages to peers share datagrams. Few of them if other clients
 * wait, and none after the turn is over. A single one is not held: what it makes the host send leaves before all else. */
static void take_lines(struct connection *c)
{
    struct turns *turns = &c->serve->turns;
    if (is_busy(c) || !has_line(c)) return;
    if (has_one_line(c)) {
        (void)take_line(c);
        turns->requests++;
    }
    host_batch_begin(c->serve->host);
    for (uint32_t left = turns_wait(turns) ? TURN_PORTION : TURN_ALONE; left > 0; left--) {
        if (is_busy(c) || !take_line(c)) break;
        turns->requests++;
        if (turns_are_over(turns, clock_boottime_ns())) break;
    }
    host_batch_end(c->serve->host);
}

static void watch(struct connection *c);
static void read_in(struct connection *c);
static bool may_read(const struct connection *c);
static bool withdraw_some(struct connection *c, enum leadership_way way);
static bool go_on_parting(struct connection *c);

static void do_portion(struct connection *c)
{
    if (c->is_readable && may_read(c)) read_in(c);
    if (c->is_closed) return;
    if (c->in_status) connection_say(c, serve_status_line(c));
    if (!c->has_ended) say_changes(c);
    take_lines(c);
    (void)write_out(c);
}

bool connection_go_on(struct connection *c)
{
    if (c->is_closed) return go_on_parting(c);
    if (c->is_gone) {
        connection_close(c, LEADERSHIP_DIES);
        return false;
    }
    c->has_changes = false;
    const bool is_free = write_out(c);
    if (c->is_closed) return false;
    if (c->is_doomed) { /* it got the reason */
        connection_close(c, LEADERSHIP_EXPELLED);
        return false;
    }
    if (is_free) do_portion(c);
    const bool abandons = serve_abandon_some(c);
    if (c->is_closed || c->is_doomed) return !c->is_closed;
    const bool takes_more = has_line(c) && !is_busy(c);
    if (c->has_ended && !takes_more && !withdraw_some(c, LEADERSHIP_DIES))
        return true; /* after its last requests */
    if (c->has_ended && c->out_size == 0 && !c->in_status && !takes_more && !c->forwarded) {
        connection_close(c, LEADERSHIP_DIES);
        return false;
    }
    watch(c);
    return abandons || (c->out_size == 0 && (c->in_status || takes_more || (!c->has_ended && has_events(c))));
}

void connection_hear(struct connection *c, const char *bytes, size_t size)
{
    const size_t room = sizeof c->in - c->in_size;
    if (c->is_closed || c->is_doomed) return;
    if (size > room) size = room;
    memcpy(c->in + c->in_size, bytes, size);
    c->in_size += size;
    connection_wake(c);
}

/* ---- The loop ---- */

/* Some of its candidacies: there may be thousands, and each costs microseconds. True: none is left. Messages about many share
 * datagrams; those about a single one leave before all else. */
static bool withdraw_some(struct connection *c, enum leadership_way way)
{
    const struct leaderships *leaderships = &c->serve->leaderships;
    uint32_t i = 0;
    const bool is_held = c->campaigns > 1;
    if (c->campaigns == 0) return true;
    if (is_held) host_batch_begin(c->serve->host);
    for (struct portion portion = portion_begin(); !portion_is_over(&portion); portion.left--) {
        i = number_set_next(&c->entered, i);
        if (i == NUMBER_SET_NONE) break;
        number_set_remove(&c->entered, i);
        (void)leadership_withdraw(leadership_at(leaderships, i), c, way);
    }
    if (is_held) host_batch_end(c->serve->host);
    if (number_set_next(&c->entered, i == NUMBER_SET_NONE ? 0 : i) != NUMBER_SET_NONE) return false;
    number_set_clear(&c->entered);
    serve_audit_end(c);
    c->user->taken[USER_CANDIDACIES] -= c->campaigns;
    c->user->taken[USER_VALUE_BYTES] -= c->value_bytes;
    c->campaigns = 0;
    c->value_bytes = 0;
    return true;
}

/* Keeps the last descriptor that was passed, and has the others closed. */
static void take_passed(struct connection *c, struct msghdr *head)
{
    for (struct cmsghdr *m = CMSG_FIRSTHDR(head); m; m = CMSG_NXTHDR(head, m)) {
        if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_RIGHTS) continue;
        for (size_t at = 0; at + sizeof(int) <= m->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
            if (c->passed >= 0) closer_close(c->passed, &c->user->closing);
            memcpy(&c->passed, CMSG_DATA(m) + at, sizeof c->passed);
        }
    }
}

/* There is room for all descriptors that a message can have: the kernel would close the others, and so wait for them. */
static void read_in(struct connection *c)
{
    union {
        char room[CMSG_SPACE(CLOSER_PASSED_MAX * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {c->in + c->in_size, sizeof c->in - c->in_size};
    struct msghdr head = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    c->is_readable = false;
    const ssize_t size = recvmsg(c->fd, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size >= 0) take_passed(c, &head);
    if (size > 0)
        c->in_size += (size_t)size;
    else if (size == 0)
        c->has_ended = true; /* it may still read: its requests are answered, then its candidacies end */
    else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        connection_close(c, LEADERSHIP_DIES);
}

/* Its user has passed descriptors that take long to close. */
static bool is_held_up(const struct connection *c)
{
    return atomic_load(&c->user->closing) >= SERVE_CLOSING_MAX;
}

static bool may_read(const struct connection *c)
{
    return !is_busy(c) && !c->has_ended && c->in_size < sizeof c->in && !is_held_up(c);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct connection *c = poll->data;
    if (c->is_closed || c->is_doomed || c->is_gone) return;
    /* It is parted with in its turn, which follows: a process that dies may leave a thousand connections. */
    if (status < 0 || events & UV_DISCONNECT) {
        c->is_gone = true;
        c->watched = 0;
        (void)uv_poll_stop(&c->poll);
        serve_queue(c);
        return;
    }
    if (events & UV_READABLE) c->is_readable = true;
    serve_queue(c);
    /* libuv polls again and again, within one turn, while 1,024 descriptors are ready. So those of a long queue are not polled
     * until their turn has come, when watch() begins again. */
    if (c->serve->turns.count <= SERVE_POLLED_MAX) return;
    c->watched = 0;
    (void)uv_poll_stop(&c->poll);
}

/* A client that does not read is not read from. Then we poll for writing, which also reports that it is
 * gone. */
static void watch(struct connection *c)
{
    int events = (may_read(c) ? UV_READABLE : 0) | (c->out_size > 0 ? UV_WRITABLE : 0);
    if (is_held_up(c) && !c->has_ended) {
        c->serve->some_are_held_up = true;
        serve_look_later(c->serve);
        if (!events) events = UV_DISCONNECT;
    }
    if (c->is_held && !events) events = UV_DISCONNECT;
    if (events == c->watched) return; /* saves a system call */
    c->watched = events;
    if (events == 0 ? uv_poll_stop(&c->poll) : uv_poll_start(&c->poll, events, on_poll)) connection_doom(c);
}

/* When its handle is closed and its candidacies are withdrawn. */
static void free_parted(struct connection *c)
{
    struct serve *serve = c->serve;
    if (!c->is_unpolled || c->user) return;
    free(c);
    serve_release(serve);
}

static void on_closed(uv_handle_t *handle)
{
    struct connection *c = handle->data;
    c->is_unpolled = true;
    free_parted(c);
}

/* Of a closed connection. False: candidacies are left, for the next turns. */
static bool part(struct connection *c)
{
    struct serve *serve = c->serve;
    if (!withdraw_some(c, c->way)) return false;
    serve_do_chores_soon(serve); /* its tenures may have an end to wait for */
    number_set_clear(&c->entered);
    guardian_client_drop(serve->guardian, c->work);
    c->user->taken[USER_CONNECTIONS]--;
    users_part(&serve->users, c->user);
    c->user = NULL;
    return true;
}

/* True: candidacies are left. False: it may be freed. */
static bool go_on_parting(struct connection *c)
{
    if (!part(c)) return true;
    free_parted(c);
    return false;
}

bool connection_begin(struct connection *c, uv_loop_t *loop)
{
    if (uv_poll_init(loop, &c->poll, c->fd) != 0) return false;
    c->poll.data = c;
    watch(c);
    return true;
}

void connection_close(struct connection *c, enum leadership_way way)
{
    struct serve *serve = c->serve;
    if (c->is_closed) return;
    c->is_closed = true;
    c->way = way;
    turns_leave(&serve->turns, &c->turn);
    serve->connections[c->place] = NULL;
    if (c->place < serve->first_free) serve->first_free = c->place;
    serve->connection_count--;
    const bool has_parted = withdraw_some(c, way); /* first: another candidate may be waiting */
    serve_stop_observing(c);
    serve_forget_forwarded(c);
    number_set_clear(&c->leader_waits);
    number_set_clear(&c->lease_waits);
    uv_close((uv_handle_t *)&c->poll, on_closed);
    closer_close_socket(
        c->fd, &c->user->closing); /* shuts it down: the guardian may have it open for another second */
    if (c->passed >= 0) closer_close(c->passed, &c->user->closing);
    if (c->line >= 0) closer_close(c->line, &c->user->closing);
    json_decref(c->status_id);
    c->status_id = NULL;
    free(c->who.gids);
    c->who.gids = NULL;
    free(c->out);
    c->out = NULL;
    c->out_first = c->out_size = c->out_room = 0;
    if (has_parted)
        (void)part(c); /* freed when its handle is closed */
    else
        serve_queue_parting(c);
}
