/*
 * A recording (recorder.h) run again, through the same code. What comes out is held against what came out then: the first
 * thing that differs ends it, since from there on everything may. Nothing that a file says is believed: lengths, members, names and
 * settings are checked before they are used, and checksums tell what was damaged.
 */
#ifndef ELECTOR_AGENT_RECORDER_REPLAY_H
#define ELECTOR_AGENT_RECORDER_REPLAY_H

#include "agent/recorder/recorder.h"

struct flight_tape;

/* False with the reason, one line that begins with `path`. The bytes are copied. */
struct flight_tape *flight_load(const char *path, char *text, size_t room);
struct flight_tape *flight_take(const char *path, const uint8_t *bytes, size_t size, char *text, size_t room);
void flight_tape_free(struct flight_tape *);
const struct config *flight_config(const struct flight_tape *);
const uint8_t *flight_boot(const struct flight_tape *); /* [FLIGHT_BOOT]; zeros: unknown */

/* Who wants to know what happens; each may be NULL. `at` and `host` are set before each call. */
struct flight_listener {
    void *whose;
    uint64_t at;
    struct host *host;
    void (*called)(struct flight_listener *, const struct host_call *);
    void (*sent)(struct flight_listener *, el_node to, const uint8_t *payload, size_t size);
    void (*changed)(struct flight_listener *, struct host_group *);
    void (*renewed)(struct flight_listener *, uint32_t cell);
    void (*noted)(struct flight_listener *, struct host_group *, const struct host_note *);
    void (*ended)(struct flight_listener *); /* after the last call that was run; the host is freed next */
};

enum flight_verdict {
    FLIGHT_AGREES,
    FLIGHT_DIVERGES, /* it does another thing now: other code, or a bug */
    FLIGHT_DAMAGED,  /* it agrees up to there */
};

struct flight_report {
    enum flight_verdict verdict;
    char text[240];         /* what differs or is damaged, and where */
    uint64_t inputs, sent;  /* calls from outside, and payloads, up to there */
    uint64_t began, ended;  /* CLOCK_BOOTTIME of the first and the last call */
    uint32_t flags;         /* FLIGHT_CLOSED, FLIGHT_FULL */
    const char *unfinished; /* the call that did not return; NULL: all did */
};

enum {
    FLIGHT_UNFINISHED =
        1,            /* also what was recorded of a call that did not return: that may end this process, too */
    FLIGHT_TRUSTS = 2 /* also from states that cannot be checked, those of groups that are not quorum's */
};

/* False: no memory. */
bool flight_replay(const struct flight_tape *, struct flight_listener *, uint32_t how, struct flight_report *);

#endif
