/*
 * A connection to an agent: JSON objects, one per line (docs/socket-protocol.md), in bounded buffers. Only
 * json_lines_wait(), json_lines_hear() and json_lines_ask() block. A line that is too long, or is not a JSON
 * object, ends the connection; `reason` says why.
 */
#ifndef ELECTOR_CLIENT_JSON_LINES_H
#define ELECTOR_CLIENT_JSON_LINES_H

#include <jansson.h>

#include "elector.h"

/* LINES_OUT_MAX: requests that wait until the agent reads them; it reads no more while its answers wait for us. */
enum {
    LINES_REQUEST_MAX = 4096,
    LINES_OUT_MAX = 1 << 24,
    LINES_OUT_KEPT = 65536,
    LINES_LINE_MAX = 65536,
    LINES_ANSWER_MS = 5000
};

struct json_lines {
    int fd;            /* -1: closed */
    int passed;        /* a descriptor that the agent passed and nobody has taken yet; -1: none */
    size_t size, used; /* of `in`: bytes read, and bytes parsed */
    int passes;        /* a descriptor to pass with the next bytes sent, closed then; -1: none */
    char *out;         /* owned; out_size bytes from out_first on wait to be sent */
    size_t out_first, out_size, out_room;
    char path[108];
    char reason[512]; /* why the connection ended or failed */
    char in[LINES_LINE_MAX];
};

/* On failure ELECTOR_INVALID, ELECTOR_UNAVAILABLE or ELECTOR_REFUSED, and `reason` says why. */
elector_status json_lines_open(struct json_lines *, const char *path);
/* The same with an engine that is started for this URL; `path` gets the URL without its options. */
elector_status json_lines_start(struct json_lines *, const char *url);
/* One of these two: unix:PATH, or the URL of an engine (engine_speaks_lines()). */
elector_status json_lines_connect(struct json_lines *, const char *url);
void json_lines_close(struct json_lines *);

/* Sends, and buffers what the socket does not take yet. Steals the reference. False: the connection has
 * ended, also because LINES_OUT_MAX bytes wait, or memory ran out. */
bool json_lines_send(struct json_lines *, json_t *request);
/* Whether output waits to be sent. */
bool json_lines_is_full(const struct json_lines *);
/* 1: *line is set, the caller frees it; 0: none yet; -1: the connection has ended. */
int json_lines_read(struct json_lines *, json_t **line);
/* The first descriptor that was passed with the lines read so far; the caller closes it. -1: none. */
int json_lines_take_passed(struct json_lines *);
/* Waits until there is input or room for output. False: the time is up. */
bool json_lines_wait(struct json_lines *, uint64_t until_ns);

/*
 * For callers with single questions, who ignore events. json_lines_hear() waits for the next line that is not
 * an event; json_lines_ask() sends a request first, and steals its reference. ELECTOR_OK: the caller frees the
 * line. ELECTOR_LOST or ELECTOR_UNAVAILABLE: `reason` says why, also if the agent has refused the connection.
 */
elector_status json_lines_hear(struct json_lines *, uint64_t until_ns, json_t **line);
elector_status json_lines_ask(struct json_lines *, json_t *request, uint64_t until_ns, json_t **answer);

/* A string field of at most `max` bytes, borrowed; NULL: there is none. */
const char *json_lines_text(const json_t *object, const char *name, size_t max);
/* An integer field of at least `least`; false: there is none. */
bool json_lines_number(const json_t *object, const char *name, uint64_t least, uint64_t *number);

/* Somebody turns this connection away: `reason` says why. ELECTOR_INVALID: for what was asked of it, so that asking again is in
 * vain; else ELECTOR_UNAVAILABLE. */
elector_status json_lines_turned_away(struct json_lines *, const json_t *line);
/* The status and the message of an answer with "ok":false. */
elector_status json_lines_refusal(const json_t *answer, char *text, size_t size);

#endif
