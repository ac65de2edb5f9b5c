/* Hosts whose calls are recorded, and their recordings run again. */
#ifndef ELECTOR_TEST_LIB_HOST_RECORDINGS_H
#define ELECTOR_TEST_LIB_HOST_RECORDINGS_H

#include "lib/host/hosts.h"

#include <stdio.h>
#include <sys/stat.h>

#include "agent/recorder/replay.h"

static const uint64_t MIB = 1048576;
enum { STATE_MAX = 1 << 25 };

struct bytes {
    uint8_t *at;
    size_t size;
};

static inline struct bytes read_recording(const char *path)
{
    struct stat status;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(stat(path, &status), 0);
    struct bytes read = {malloc((size_t)status.st_size), (size_t)status.st_size};
    assert_int_equal(fread(read.at, 1, read.size, file), read.size);
    fclose(file);
    return read;
}

static inline struct flight_report replay_bytes(struct bytes of, bool unfinished)
{
    char text[512];
    struct flight_report report = {.verdict = FLIGHT_DAMAGED};
    struct flight_tape *tape = flight_take("it", of.at, of.size, text, sizeof text);
    if (!tape) {
        snprintf(report.text, sizeof report.text, "%.200s", text);
        return report;
    }
    assert_true(flight_replay(tape, NULL, FLIGHT_TRUSTS | (unfinished ? FLIGHT_UNFINISHED : 0), &report));
    flight_tape_free(tape);
    return report;
}

static inline struct flight_report replay_file(el_node node)
{
    const struct bytes read = read_recording(members[node].flight_path);
    const struct flight_report report = replay_bytes(read, false);
    free(read.at);
    return report;
}

static inline void close_recorded(void)
{
    char old[96];
    close_world();
    on_changed = NULL;
    on_step = NULL;
    recorded_size = 0;
    for (el_node node = 1; node <= MEMBERS; node++) {
        unlink(members[node].flight_path);
        snprintf(old, sizeof old, "%s.1", members[node].flight_path);
        unlink(old);
    }
}

static inline void all_agree(void)
{
    for (el_node node = 1; node <= MEMBERS; node++) {
        const struct flight_report report = replay_file(node);
        if (report.verdict != FLIGHT_AGREES) fail_msg("member %u: %s", node, report.text);
        assert_true(report.inputs > 100);
        assert_true(report.sent > 30);
        assert_true(report.flags == FLIGHT_CLOSED);
        assert_null(report.unfinished);
    }
}

static inline struct bytes packed(struct host *host)
{
    struct bytes bytes = {malloc(STATE_MAX), 0};
    struct flight_bytes b = {.at = bytes.at, .end = bytes.at + STATE_MAX};
    assert_non_null(bytes.at);
    assert_true(host_pack(host, &b));
    bytes.size = (size_t)(b.at - bytes.at);
    return bytes;
}

static inline void keep_end(struct flight_listener *listener)
{
    *(struct bytes *)listener->whose = packed(listener->host);
}

/* The recording comes to the end that the living one came to, and its file has not grown by more than that many states. */
static inline void ends_as_it_did(el_node node, uint64_t begun, size_t grown)
{
    char text[512];
    struct stat file;
    struct bytes end = {0};
    struct flight_report report;
    struct flight_listener listener = {.whose = &end, .ended = keep_end};
    const struct bytes living = packed(members[node].host);
    die(node);
    assert_int_equal(stat(members[node].flight_path, &file), 0);
    assert_true((uint64_t)file.st_size <= recorded_size + grown * (living.size + 4096));
    struct flight_tape *tape = flight_load(members[node].flight_path, text, sizeof text);
    if (!tape) fail_msg("%s", text);
    assert_true(flight_replay(tape, &listener, FLIGHT_TRUSTS, &report));
    if (report.verdict != FLIGHT_AGREES) fail_msg("member %u: %s", node, report.text);
    assert_int_equal(report.flags, FLIGHT_CLOSED);
    assert_true(report.began > begun); /* in the middle of a life */
    assert_int_equal(end.size, living.size);
    assert_memory_equal(end.at, living.at, end.size);
    flight_tape_free(tape);
    free(end.at);
    free(living.at);
}

#endif
