/* See json_lines.h. */
#define _GNU_SOURCE /* SOCK_CLOEXEC, MSG_CMSG_CLOEXEC */
#include "client/json_lines.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/pass.h"
#include "client/engine.h"
#include "client/program.h"

/* ---- Beginning and ending ---- */

static elector_status say_why_not(struct json_lines *w, int error)
{
    const char *hint = "";
    elector_status status = ELECTOR_UNAVAILABLE;
    if (error == ENOENT || error == ECONNREFUSED) {
        hint = "; is the agent running, and is this its socket?";
    } else if (error == EACCES || error == EPERM) {
        hint = "; ask for membership in the group that owns the socket";
        status = ELECTOR_REFUSED;
    } else if (error == EAGAIN) {
        hint = "; the agent does not take new connections: does it hang?";
    }
    snprintf(w->reason, sizeof w->reason, "cannot connect to %s: %s%s", w->path, strerror(error), hint);
    return status;
}

static void clear(struct json_lines *w)
{
    w->fd = w->passed = w->passes = -1;
    w->size = w->used = w->out_first = w->out_size = w->out_room = 0;
    w->out = NULL;
    w->path[0] = w->reason[0] = '\0';
}

elector_status json_lines_open(struct json_lines *w, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    clear(w);
    if (strlen(path) >= sizeof address.sun_path) {
        snprintf(w->reason, sizeof w->reason, "%.60s…: the path of a socket has at most %zu bytes", path,
                 sizeof address.sun_path - 1);
        return ELECTOR_INVALID;
    }
    snprintf(w->path, sizeof w->path, "%s", path);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    w->fd = descriptors_above_standard(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (w->fd >= 0 && connect(w->fd, (const struct sockaddr *)&address, sizeof address) == 0) return ELECTOR_OK;
    const int error = errno;
    json_lines_close(w);
    return say_why_not(w, error);
}

elector_status json_lines_start(struct json_lines *w, const char *url)
{
    clear(w);
    snprintf(w->path, sizeof w->path, "%.*s", (int)strcspn(url, "?"), url);
    w->fd = program_start(url, w->reason, sizeof w->reason);
    return w->fd >= 0 ? ELECTOR_OK : ELECTOR_INVALID; /* trying again would not help */
}

elector_status json_lines_connect(struct json_lines *w, const char *url)
{
    const char *flaw = engine_url_flaw(url);
    if (flaw) {
        clear(w);
        snprintf(w->reason, sizeof w->reason, "'%.200s': %s", url, flaw);
        return ELECTOR_INVALID;
    }
    return strncmp(url, "unix:", 5) == 0 ? json_lines_open(w, url + 5) : json_lines_start(w, url);
}

void json_lines_close(struct json_lines *w)
{
    if (w->fd >= 0) close(w->fd);
    if (w->passed >= 0) close(w->passed);
    if (w->passes >= 0) close(w->passes);
    w->fd = w->passed = w->passes = -1;
    free(w->out);
    w->out = NULL;
    w->out_first = w->out_size = w->out_room = 0;
}

static void end(struct json_lines *w, const char *what)
{
    if (!w->reason[0]) snprintf(w->reason, sizeof w->reason, "the agent at %s %s", w->path, what);
    json_lines_close(w);
}

static void end_by(struct json_lines *w, int error)
{
    char text[120];
    snprintf(text, sizeof text, "is gone: %s", strerror(error));
    end(w, text);
}

/* ---- Sending ---- */

static ssize_t send_out(struct json_lines *w)
{
    const ssize_t sent = pass_send(w->fd, w->out + w->out_first, w->out_size, w->passes, MSG_NOSIGNAL);
    if (sent > 0 && w->passes >= 0) {
        close(w->passes);
        w->passes = -1;
    }
    return sent;
}

static bool flush(struct json_lines *w)
{
    while (w->fd >= 0 && w->out_size > 0) {
        const ssize_t sent = send_out(w);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
        if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) { /* the agent may have said why: read on */
            w->out_size = 0;
            return true;
        }
        if (sent < 0) {
            end_by(w, errno);
            return false;
        }
        w->out_size -= (size_t)sent;
        w->out_first = w->out_size ? w->out_first + (size_t)sent : 0;
    }
    if (w->out_size == 0 && w->out_room > LINES_OUT_KEPT) { /* it was for a burst of requests */
        free(w->out);
        w->out = NULL;
        w->out_room = 0;
    }
    return w->fd >= 0;
}

bool json_lines_is_full(const struct json_lines *w)
{
    return w->out_size > 0;
}

/* Room for one more request. False: too many wait, or memory ran out. */
static bool make_room(struct json_lines *w)
{
    if (w->out_first > 0 && w->out_first + w->out_size + LINES_REQUEST_MAX > w->out_room) {
        memmove(w->out, w->out + w->out_first, w->out_size);
        w->out_first = 0;
    }
    const size_t needed = w->out_size + LINES_REQUEST_MAX;
    if (needed <= w->out_room) return true;
    if (needed > LINES_OUT_MAX) return false;
    const size_t room = 2 * w->out_room > needed ? 2 * w->out_room : 2 * needed;
    char *out = realloc(w->out, room);
    if (!out) return false;
    w->out = out;
    w->out_room = room;
    return true;
}

bool json_lines_send(struct json_lines *w, json_t *request)
{
    const bool has_room = w->fd >= 0 && make_room(w);
    char *at = has_room ? w->out + w->out_first + w->out_size : NULL;
    const size_t size = has_room && request ? json_dumpb(request, at, LINES_REQUEST_MAX - 1, JSON_COMPACT) : 0;
    json_decref(request);
    if (size == 0 || size >= LINES_REQUEST_MAX) {
        if (w->fd >= 0) end(w, "reads too slowly, or the request was too long");
        return false;
    }
    at[size] = '\n';
    w->out_size += size + 1;
    return flush(w);
}

/* ---- Reading ---- */

static json_t *parse(struct json_lines *w, const char *line, size_t size)
{
    json_error_t error;
    json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(object)) return object;
    char text[160];
    snprintf(text, sizeof text, "sent a line that is not a JSON object (%.60s); is it an agent?",
             object ? "another kind of value" : error.text);
    json_decref(object);
    end(w, text);
    return NULL;
}

/* Parses the next whole line of the buffer. *none: there is no whole line. */
static json_t *next_line(struct json_lines *w, bool *none)
{
    const char *start = w->in + w->used;
    const char *stop = w->used < w->size ? memchr(start, '\n', w->size - w->used) : NULL;
    *none = !stop;
    if (!stop) return NULL;
    w->used = (size_t)(stop - w->in) + 1;
    return parse(w, start, (size_t)(stop - start));
}

/* Keeps the first descriptor that was passed, and closes all others. */
static void keep_first(struct json_lines *w, struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        for (size_t at = 0; at + sizeof(int) <= c->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + at, sizeof fd);
            if (w->passed < 0)
                w->passed = fd;
            else
                close(fd);
        }
    }
}

int json_lines_take_passed(struct json_lines *w)
{
    const int fd = w->passed;
    w->passed = -1;
    return fd;
}

static ssize_t receive(struct json_lines *w)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))]; /* room for 1; the kernel closes the rest */
    struct iovec room = {.iov_base = w->in + w->size, .iov_len = sizeof w->in - w->size};
    struct msghdr message = {
        .msg_iov = &room, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    const ssize_t got = recvmsg(w->fd, &message, MSG_CMSG_CLOEXEC);
    if (got >= 0) keep_first(w, &message);
    return got;
}

/* 1: read more into the buffer; 0: no input; -1: the connection ended. */
static int fill(struct json_lines *w)
{
    memmove(w->in, w->in + w->used, w->size - w->used);
    w->size -= w->used;
    w->used = 0;
    if (w->size == sizeof w->in) {
        end(w, "sent a line longer than 65536 bytes; is it an agent?");
        return -1;
    }
    const ssize_t got = receive(w);
    if (got > 0) {
        w->size += (size_t)got;
        return 1;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return 0;
    if (got == 0)
        end(w, "has closed the connection");
    else
        end_by(w, errno);
    return -1;
}

int json_lines_read(struct json_lines *w, json_t **line)
{
    bool none;
    *line = NULL;
    if (w->fd < 0 || !flush(w)) return -1;
    *line = next_line(w, &none);
    if (none) {
        const int filled = fill(w);
        if (filled <= 0) return filled;
        *line = next_line(w, &none);
        if (none) return w->size == sizeof w->in ? fill(w) : 0;
    }
    return *line ? 1 : -1;
}

bool json_lines_wait(struct json_lines *w, uint64_t until_ns)
{
    struct pollfd wanted = {.fd = w->fd, .events = (short)(w->out_size > 0 ? POLLIN | POLLOUT : POLLIN)};
    const int ready = poll(&wanted, 1, engine_left_ms(until_ns));
    return ready > 0 || clock_boottime_ns() < until_ns;
}

/* An error without an id: the agent refuses this connection, or could not parse our request. */
static bool turns_away(const json_t *line)
{
    return !json_object_get(line, "id") && json_is_false(json_object_get(line, "ok"));
}

elector_status json_lines_turned_away(struct json_lines *w, const json_t *line)
{
    char text[400];
    const elector_status status = json_lines_refusal(line, text, sizeof text);
    if (json_is_string(json_object_get(line, "engine"))) /* which names itself and its store */
        snprintf(w->reason, sizeof w->reason, "%s", text);
    else
        snprintf(w->reason, sizeof w->reason, "the agent at %s: %.200s", w->path, text);
    return status == ELECTOR_INVALID ? ELECTOR_INVALID : ELECTOR_UNAVAILABLE;
}

elector_status json_lines_hear(struct json_lines *w, uint64_t until_ns, json_t **line)
{
    for (;;) {
        const int got = json_lines_read(w, line);
        if (got < 0) return ELECTOR_LOST;
        if (got > 0 && turns_away(*line)) {
            const elector_status status = json_lines_turned_away(w, *line);
            json_decref(*line);
            *line = NULL;
            json_lines_close(w);
            return status;
        }
        if (got > 0 && !json_object_get(*line, "event")) return ELECTOR_OK;
        if (got > 0) json_decref(*line);
        *line = NULL;
        if (got == 0 && !json_lines_wait(w, until_ns)) break;
    }
    end(w, "does not answer; does it hang?");
    return ELECTOR_UNAVAILABLE;
}

elector_status json_lines_ask(struct json_lines *w, json_t *request, uint64_t until_ns, json_t **answer)
{
    *answer = NULL;
    return json_lines_send(w, request) ? json_lines_hear(w, until_ns, answer) : ELECTOR_LOST;
}

/* ---- Fields ---- */

const char *json_lines_text(const json_t *object, const char *name, size_t max)
{
    const json_t *text = json_object_get(object, name);
    return json_is_string(text) && json_string_length(text) <= max ? json_string_value(text) : NULL;
}

bool json_lines_number(const json_t *object, const char *name, uint64_t least, uint64_t *number)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *number = (uint64_t)json_integer_value(value);
    return *number >= least;
}

elector_status json_lines_refusal(const json_t *answer, char *text, size_t size)
{
    static const struct {
        const char *error;
        elector_status status;
    } known[] = {
        {"not-leading", ELECTOR_NOT_LEADING}, {"not-campaigning", ELECTOR_NOT_LEADING},
        {"bad-request", ELECTOR_INVALID},     {"unknown-op", ELECTOR_INVALID},
        {"too-long", ELECTOR_INVALID},        {"bad-group", ELECTOR_INVALID},
        {"bad-value", ELECTOR_INVALID},       {"leaving", ELECTOR_UNAVAILABLE},
        {"no-answer", ELECTOR_UNAVAILABLE},   {"unavailable", ELECTOR_UNAVAILABLE},
        {"bad-url", ELECTOR_INVALID},
    };
    const char *error = json_lines_text(answer, "error", 64),
               *message = json_lines_text(answer, "message", 400);
    if (!error) error = "refused";
    if (message && *message)
        snprintf(text, size, "%s", message);
    else
        snprintf(text, size, "the agent says: %s", error);
    for (char *c = text; *c;
         c++) { /* no control characters to a terminal: U+0000 to U+001F, U+007F to U+009F */
        const bool is_late = *c == '\xC2' && (unsigned char)c[1] >= 0x80 && (unsigned char)c[1] < 0xA0;
        if (is_late) c[1] = ' ';
        if ((unsigned char)*c < ' ' || *c == 0x7F || is_late) *c = ' ';
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(error, known[i].error) == 0) return known[i].status;
    return ELECTOR_REFUSED;
}
