/*
 * A connection to an agent: JSON objects, one a line (docs/socket-protocol.md). It never blocks but in wire_wait(),
 * wire_hear() and wire_ask(), and believes nothing: what is too long, no JSON or no object ends it with the reason in words.
 */
#ifndef ELECTOR_CLIENT_JSON_LINES_H
#define ELECTOR_CLIENT_JSON_LINES_H

#include <jansson.h>

#include "elector.h"

enum { LINES_REQUEST_MAX = 4096, LINES_LINE_MAX = 65536, LINES_ANSWER_MS = 5000 };

struct json_lines {
    int fd;            /* -1: closed */
    int passed;        /* a descriptor that came along, not taken yet; -1: none */
    size_t size, used; /* of in: read, and already given out */
    size_t out_size;
    int passes; /* a descriptor that goes out with the next bytes; -1: none. Borrowed */
    char path[108];
    char reason[512]; /* why it ended, or would not begin */
    char out[2 * LINES_REQUEST_MAX];
    char in[LINES_LINE_MAX];
};

/* ELECTOR_INVALID, ELECTOR_UNAVAILABLE or ELECTOR_REFUSED with the reason. */
elector_status json_lines_open(struct json_lines *, const char *path);
void json_lines_close(struct json_lines *);

/* Sends, or keeps what the socket does not take yet. Steals the reference. False: the reason says why. */
bool json_lines_send(struct json_lines *, json_t *request);
/* Whether anything waits to be sent. */
bool json_lines_is_full(const struct json_lines *);
/* 1 and a line to be freed; 0: none yet; -1: it has ended, and the reason says why. */
int json_lines_read(struct json_lines *, json_t **line);
/* The descriptor that came with a line read so far, or before it, to be closed; -1: none. Only the first is kept. */
int json_lines_take_passed(struct json_lines *);
/* Until there is input, output has room, or the time is up (then false). */
bool json_lines_wait(struct json_lines *, uint64_t until_ns);

/*
 * For who has one question and no use for events: the next line that is none; then the same after a request, whose
 * reference is stolen. ELECTOR_OK and a line to be freed; ELECTOR_LOST or ELECTOR_UNAVAILABLE with the reason, which
 * may be that of an agent that turns us away.
 */
elector_status json_lines_hear(struct json_lines *, uint64_t until_ns, json_t **line);
elector_status json_lines_ask(struct json_lines *, json_t *request, uint64_t until_ns, json_t **answer);

/* Text of an object; NULL: there is none of that name that fits. */
const char *json_lines_text(const json_t *object, const char *name, size_t max);
/* A whole number from `least` on; false: there is none. */
bool json_lines_number(const json_t *object, const char *name, uint64_t least, uint64_t *number);

/* What an answer with "ok":false means. */
elector_status json_lines_refusal(const json_t *answer, char *text, size_t size);

#endif
