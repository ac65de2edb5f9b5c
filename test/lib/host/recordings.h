/* Hosts whose calls are recorded, and the replay of their recordings. */
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

static inline struct recorder_report replay_bytes(struct bytes of, bool unfinished)
{
    char text[512];
    struct recorder_report report = {.verdict = RECORDER_DAMAGED};
    struct recorder_reader *tape = recorder_take("it", of.at, of.size, text, sizeof text);
    if (!tape) {
        snprintf(report.text, sizeof report.text, "%.200s", text);
        return report;
    }
    assert_true(recorder_replay(tape, NULL, RECORDER_TRUSTS | (unfinished ? RECORDER_UNFINISHED : 0), &report));
    recorder_reader_free(tape);
    return report;
}

/* Lets the file have all that was recorded. */
static inline void sync_recording(struct member *member)
{
    if (member->alive) assert_true(recorder_sync(member->recorder, 60000));
}

static inline struct recorder_report replay_file(el_node node)
{
    sync_recording(&members[node]);
    const struct bytes read = read_recording(members[node].recorder_path);
    const struct recorder_report report = replay_bytes(read, false);
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
        unlink(members[node].recorder_path);
        snprintf(old, sizeof old, "%s.1", members[node].recorder_path);
        unlink(old);
    }
}

static inline void all_agree(void)
{
    for (el_node node = 1; node <= MEMBERS; node++) {
        const struct recorder_report report = replay_file(node);
        if (report.verdict != RECORDER_AGREES) fail_msg("member %u: %s", node, report.text);
        assert_true(report.inputs > 100);
        assert_true(report.sent > 30);
        assert_true(report.flags == RECORDER_CLOSED);
        assert_null(report.unfinished);
    }
}

static inline struct bytes packed(struct host *host)
{
    struct bytes bytes = {malloc(STATE_MAX), 0};
    struct recorder_bytes b = {.at = bytes.at, .end = bytes.at + STATE_MAX};
    assert_non_null(bytes.at);
    assert_true(host_pack(host, &b));
    bytes.size = (size_t)(b.at - bytes.at);
    return bytes;
}

static inline void keep_end(struct recorder_listener *listener)
{
    *(struct bytes *)listener->context = packed(listener->host);
}

/* The recording comes to the end that the living one came to, and its file has not grown by more than that
 * many states. */
static inline void ends_as_it_did(el_node node, uint64_t begun, size_t grown)
{
    char text[512];
    struct stat file;
    struct bytes end = {0};
    struct recorder_report report;
    struct recorder_listener listener = {.context = &end, .ended = keep_end};
    const struct bytes living = packed(members[node].host);
    die(node);
    assert_int_equal(stat(members[node].recorder_path, &file), 0);
    assert_true((uint64_t)file.st_size <= recorded_size + grown * (living.size + 4096));
    struct recorder_reader *tape = recorder_load(members[node].recorder_path, text, sizeof text);
    if (!tape) fail_msg("%s", text);
    assert_true(recorder_replay(tape, &listener, RECORDER_TRUSTS, &report));
    if (report.verdict != RECORDER_AGREES) fail_msg("member %u: %s", node, report.text);
    assert_int_equal(report.flags, RECORDER_CLOSED);
    assert_true(report.began > begun); /* in the middle of a life */
    assert_int_equal(end.size, living.size);
    assert_memory_equal(end.at, living.at, end.size);
    recorder_reader_free(tape);
    free(end.at);
    free(living.at);
}

#endif
