/* Hosts in one process, on one clock that only the test moves, with a network and disks that it can make
 * fail. */
#ifndef ELECTOR_TEST_LIB_HOST_HOSTS_H
#define ELECTOR_TEST_LIB_HOST_HOSTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/host/host.h"
#include "agent/recorder/recorder.h"
#include "agent/seal/seal.h"

#include "lib/scratch.h"

enum { MEMBERS = 3, MILLISECOND = 1000000, QUEUE_MAX = 4096 };

struct datagram {
    uint64_t at;
    el_node from, to;
    size_t size;
    uint8_t bytes[SEAL_PAYLOAD_MAX];
};

struct member {
    struct host *host;
    struct record *record;
    struct config config;
    struct record_image *writing;
    struct recorder *recorder;
    uint64_t written_at;
    uint64_t answers[MEMBERS + 1], longest_trip_ns, shortest_trip_ns;
    bool alive, disk_is_stuck, disk_fails;
    char path[64], recorder_path[80];
};

static struct member members[MEMBERS + 1];
static struct datagram queue[QUEUE_MAX];
static size_t queued;
static uint64_t now;
static bool cut[MEMBERS + 1][MEMBERS + 1];
static uint64_t seed;
static uint64_t
    jitter; /* how much longer than a millisecond a datagram may take: then they overtake each other */
static uint64_t lost_percent;
static uint64_t last_token; /* of whoever led last, in true time */
static el_node last_leader;
static unsigned elections;
static uint64_t recorded_size;                                   /* 0: nobody is */
static void (*on_changed)(struct member *, struct host_group *); /* may be NULL */
static void (*on_step)(struct member *);                         /* of time; may be NULL */

/* ---- The world ---- */

static inline uint64_t hook_now(void *context)
{
    return now;
}

static inline uint64_t hook_random(void *context)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return seed >> 11;
}

static inline uint64_t hook_wall(void *context)
{
    return 1700000000000 + now / MILLISECOND;
}

static inline void hook_send(void *context, el_node to, const uint8_t *payload, size_t size)
{
    struct member *member = context;
    assert_true(size <= SEAL_PAYLOAD_MAX);
    const uint64_t at = now + MILLISECOND + (jitter ? hook_random(NULL) % jitter : 0);
    size_t place = queued;
    if (cut[member->config.self][to] || queued == QUEUE_MAX) return;
    if (lost_percent && hook_random(NULL) % 100 < lost_percent) return;
    while (place && queue[place - 1].at > at) place--;
    memmove(queue + place + 1, queue + place, (queued++ - place) * sizeof *queue);
    queue[place] = (struct datagram){at, member->config.self, to, size, {0}};
    memcpy(queue[place].bytes, payload, size);
}

static inline void hook_save(void *context, struct record_image *image)
{
    struct member *member = context;
    assert_null(member->writing); /* one at a time */
    member->writing = image;
    member->written_at = now + UINT64_C(2) * MILLISECOND;
}

static inline void hook_answered(void *context, el_node peer, uint64_t round_trip_ns)
{
    struct member *member = context;
    assert_in_range(peer, 1, MEMBERS);
    member->answers[peer]++;
    if (round_trip_ns > member->longest_trip_ns) member->longest_trip_ns = round_trip_ns;
    if (round_trip_ns < member->shortest_trip_ns || member->shortest_trip_ns == 0)
        member->shortest_trip_ns = round_trip_ns;
}

static inline bool leads(el_node node)
{
    char text[200];
    if (!members[node].alive) return false;
    struct host_group *group = host_find(members[node].host, "billing", text, sizeof text);
    const struct host_view view = host_view_of(group);
    return view.role == EL_LEADER && view.deadline_ns > now;
}

/* After every event: one leader at most, and tokens only rise. */
static inline void hook_changed(void *context, struct host_group *group)
{
    struct member *member = context;
    if (on_changed) on_changed(member, group);
    const struct host_view view = host_view_of(group);
    if (view.role != EL_LEADER || strcmp(host_name(group), "billing") != 0) return;
    if (member->config.self == last_leader && view.token == last_token) return;
    assert_true(view.token > last_token);
    last_token = view.token;
    last_leader = member->config.self;
    elections++;
}

static inline void hook_warn(void *context, struct host_group *group, const char *text)
{
    if (getenv("ELECTOR_TELL"))
        print_message("%6llu %u %s\n", (unsigned long long)(now / MILLISECOND),
                      ((struct member *)context)->config.self, text);
}

static inline void hook_note(void *context, struct host_group *group, const struct host_note *note)
{
    char text[256];
    host_note_text(&((struct member *)context)->config, note, text, sizeof text);
    hook_warn(context, group, text);
}

/* The algorithms that a host can run: recipes need a store, and hosts have none. */
static inline const struct el_algorithm *const *hosted_algorithms(uint32_t *count)
{
    static const struct el_algorithm *hosted[64];
    uint32_t known;
    const struct el_algorithm *const *all = el_algorithms(&known);
    *count = 0;
    for (uint32_t i = 0; i < known; i++)
        if (!all[i]->store) hosted[(*count)++] = all[i];
    return hosted;
}

static inline struct host_hooks hooks_of(struct member *member)
{
    return (struct host_hooks){.context = member,
                               .now = hook_now,
                               .send = hook_send,
                               .save = hook_save,
                               .changed = hook_changed,
                               .note = hook_note,
                               .warn = hook_warn,
                               .random = hook_random,
                               .wall_ms = hook_wall,
                               .answered = hook_answered};
}

static inline void start(el_node node)
{
    struct member *member = &members[node];
    char text[200];
    const struct record_identity identity = {.cluster_id = {7}, .member = node};
    const enum record_outcome outcome =
        record_open(&member->record, member->path, &identity, text, sizeof text);
    assert_true(outcome != RECORD_REFUSED);
    struct host_hooks hooks = hooks_of(member);
    if (recorded_size) {
        member->recorder = recorder_open(member->recorder_path, recorded_size, &member->config, member->record,
                                         &hooks, text, sizeof text);
        assert_non_null(member->recorder);
    }
    member->host = host_new(&member->config, member->record, hooks);
    assert_non_null(member->host);
    member->alive = true;
    assert_non_null(host_find(member->host, "billing", text, sizeof text));
}

static inline void die(el_node node)
{
    struct member *member = &members[node];
    if (!member->alive) return;
    host_free(member->host);
    recorder_close(member->recorder);
    member->recorder = NULL;
    record_close(member->record);
    free(member->writing);
    member->writing = NULL;
    member->host = NULL;
    member->alive = false;
}

static inline void open_world(void)
{
    char text[200];
    memset(cut, 0, sizeof cut);
    memset(members, 0, sizeof members);
    queued = jitter = lost_percent = 0;
    now = 1000000000;
    last_token = last_leader = elections = 0;
    seed = 42;
    for (el_node node = 1; node <= MEMBERS; node++) {
        struct member *member = &members[node];
        member->config = (struct config){.cluster = "test",
                                         .cluster_id = {7},
                                         .member_count = MEMBERS,
                                         .self = node,
                                         .drift = 10000,
                                         .transmit_max = UINT64_C(2) * MILLISECOND};
        for (el_node each = 1; each <= MEMBERS; each++) {
            snprintf(member->config.members[each - 1].name, 16, "m%u", each);
            member->config.members[each - 1].id = each;
        }
        snprintf(member->path, sizeof member->path, "%s/elector-host-%d-%u", scratch_memory(), (int)getpid(),
                 node);
        snprintf(member->recorder_path, sizeof member->recorder_path, "%s.flight", member->path);
        unlink(member->path);
        const struct record_identity identity = {.cluster_id = {7}, .member = node};
        assert_true(record_create(member->path, &identity, text, sizeof text));
        start(node);
    }
}

static inline void close_world(void)
{
    for (el_node node = 1; node <= MEMBERS; node++) {
        die(node);
        unlink(members[node].path);
    }
}

static inline void finish_write(struct member *member)
{
    struct record_image *image = member->writing;
    const int error = member->disk_fails ? 5 : record_write(member->record, image);
    const uint64_t version = image->version;
    member->writing = NULL;
    free(image);
    host_saved(member->host, version, error);
}

static inline void deliver_first(void)
{
    const struct datagram datagram = queue[0];
    memmove(queue, queue + 1, --queued * sizeof *queue);
    struct member *to = &members[datagram.to];
    if (to->alive && !cut[datagram.from][datagram.to])
        host_receive(to->host, datagram.from, datagram.bytes, datagram.size);
}

/* Time passes, and everything that falls into it happens. */
static inline void pass(uint64_t ms)
{
    const uint64_t end = now + ms * MILLISECOND;
    for (;;) {
        uint64_t next = end;
        for (el_node node = 1; node <= MEMBERS; node++) {
            struct member *member = &members[node];
            if (!member->alive) continue;
            const uint64_t due = host_tick(member->host);
            if (on_step) on_step(member);
            if (due < next) next = due;
            if (member->writing && !member->disk_is_stuck && member->written_at < next)
                next = member->written_at;
        }
        if (queued && queue[0].at < next) next = queue[0].at;
        if (next > now) now = next;
        for (el_node node = 1; node <= MEMBERS; node++) {
            struct member *member = &members[node];
            if (member->alive && member->writing && !member->disk_is_stuck && member->written_at <= now)
                finish_write(member);
        }
        while (queued && queue[0].at <= now) deliver_first();
        assert_true(leads(1) + leads(2) + leads(3) <= 1);
        if (now >= end) return;
    }
}

static inline void stand(el_node node, bool stands)
{
    char text[200];
    host_stand(host_find(members[node].host, "billing", text, sizeof text), stands, 0);
}

static inline el_node leader(void)
{
    return leads(1) ? 1 : leads(2) ? 2 : leads(3) ? 3 : 0;
}

#endif
