/* Hosts whose calls are recorded, and their recordings run again. */
#ifndef TEST_FLIGHTS_H
#define TEST_FLIGHTS_H

#include "hosts.h"

#include <stdio.h>

#include "agent/flight_replay.h"

static const uint64_t MIB = 1048576;

struct bytes {
    uint8_t *at;
    size_t size;
};

static inline struct bytes read_recording(const char *path)
{
    struct bytes read = {malloc(recorded_size), recorded_size};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
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
    assert_true(flight_replay(tape, NULL, unfinished, &report));
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

#endif
