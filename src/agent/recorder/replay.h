/*
 * Replays a recording (recorder.h) through the same code, and compares the outputs with the recorded ones. The
 * first difference ends the replay, because everything after it may differ. The file is not trusted: lengths,
 * members, names and settings are checked before use, and checksums detect damage.
 */
#ifndef ELECTOR_AGENT_RECORDER_REPLAY_H
#define ELECTOR_AGENT_RECORDER_REPLAY_H

#include "agent/recorder/recorder.h"

struct recorder_reader;

/* NULL: `text` says why, in one line that begins with `path`. The bytes are copied. */
struct recorder_reader *recorder_load(const char *path, char *text, size_t room);
struct recorder_reader *recorder_take(const char *path, const uint8_t *bytes, size_t size, char *text,
                                      size_t room);
void recorder_reader_free(struct recorder_reader *);
const struct config *recorder_config(const struct recorder_reader *);
const uint8_t *recorder_boot(const struct recorder_reader *); /* [RECORDER_BOOT]; zeros: unknown */

/* Callbacks during a replay; each may be NULL. `at` and `host` are set before each call. */
struct recorder_listener {
    void *context;
    uint64_t at;
    struct host *host;
    void (*called)(struct recorder_listener *, const struct host_call *);
    void (*sent)(struct recorder_listener *, el_node to, const uint8_t *payload, size_t size);
    void (*changed)(struct recorder_listener *, struct host_group *);
    void (*renewed)(struct recorder_listener *, uint32_t cell);
    void (*noted)(struct recorder_listener *, struct host_group *, const struct host_note *);
    void (*ended)(struct recorder_listener *); /* after the last call; the host is freed next */
};

enum recorder_verdict {
    RECORDER_AGREES,
    RECORDER_DIVERGES, /* the outputs differ: other code, or a bug */
    RECORDER_DAMAGED,  /* agrees up to the damage */
};

struct recorder_report {
    enum recorder_verdict verdict;
    char text[240];         /* what differs or is damaged, and where */
    uint64_t inputs, sent;  /* calls into the host, and payloads it sent, up to there */
    uint64_t began, ended;  /* CLOCK_BOOTTIME of the first and the last call */
    uint32_t flags;         /* RECORDER_CLOSED, RECORDER_FULL */
    const char *unfinished; /* the call that did not return; NULL: all did */
};

enum {
    RECORDER_UNFINISHED = 1, /* run a call that did not return, too: it may crash this process */
    RECORDER_TRUSTS = 2      /* accept states that cannot be checked: groups of other algorithms than quorum */
};

/* `how`: RECORDER_UNFINISHED, RECORDER_TRUSTS. False: out of memory. */
bool recorder_replay(const struct recorder_reader *, struct recorder_listener *, uint32_t how,
                     struct recorder_report *);

#endif
