/*
 * The leaderships of up to three members that communicate in memory. The test sets the time, writes reach the
 * disk at once, and clients are names; the answers to them are kept as text.
 */
#ifndef ELECTOR_TEST_LIB_HOST_LEADERSHIPS_H
#define ELECTOR_TEST_LIB_HOST_LEADERSHIPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/serve/leadership/leadership.h"
#include "lib/host/agent_fakes.h"
#include "lib/host/quiet_hooks.h"

enum { MEMBERS = 3, QUEUE_MAX = 4096 };
static const uint64_t MS = 1000000;

/* ---- A world ---- */

struct packet {
    el_node from, to;
    size_t size;
    uint8_t bytes[SEAL_PAYLOAD_MAX];
};

struct member {
    struct config config;
    struct record record;
    struct host *host;
    struct leaderships leaderships;
    unsigned saves;
    bool is_cut;
    int disk_error;
};

static struct member members[MEMBERS];
static uint32_t member_count;
static uint64_t now;
static struct packet queue[QUEUE_MAX];
static size_t queued;
static char heard[4096];
static bool is_deaf; /* to what the host says */

static inline uint64_t read_clock(void *context)
{
    return now;
}

static inline void post(void *context, el_node to, const uint8_t *payload, size_t size)
{
    const struct member *from = context;
    if (queued == QUEUE_MAX || from->is_cut || members[to - 1].is_cut) return;
    struct packet *packet = &queue[queued++];
    packet->from = from->config.self;
    packet->to = to;
    packet->size = size;
    memcpy(packet->bytes, payload, size);
}

static inline void save(void *context, struct record_image *image)
{
    struct member *m = context;
    m->saves++;
    free(image);
}

static inline void changed(void *context, struct host_group *group)
{
    struct member *m = context;
    if (!is_deaf) leadership_changed(leadership_of(&m->leaderships, group));
}

static inline void renewed(void *context, uint32_t cell)
{
    struct member *m = context;
    if (!is_deaf) leaderships_renewed(&m->leaderships, cell);
}

static inline void tell(void *context, void *client, struct leadership *o, const struct leadership_event *event)
{
    static const char *const names[] = {"elected", "lease", "stop", "lost"};
    const size_t used = strlen(heard);
    if (event->type == LEADERSHIP_LEASE && strstr(heard, " lease; ")) return; /* the first will do */
    snprintf(heard + used, sizeof heard - used, "%s %s%s%s%s%s; ", (const char *)client, names[event->type],
             event->reason ? " " : "", event->reason ? event->reason : "", event->cause ? " by " : "",
             event->cause ? event->cause : "");
}

static inline void settle(void)
{
    bool goes_on = true;
    while (goes_on) {
        goes_on = queued > 0;
        for (uint32_t i = 0; i < member_count; i++)
            for (; members[i].saves > 0; members[i].saves--, goes_on = true)
                host_saved(members[i].host, 0, members[i].disk_error);
        if (queued == 0) continue;
        const struct packet first = queue[0];
        memmove(queue, queue + 1, --queued * sizeof *queue);
        host_receive(members[first.to - 1].host, first.from, first.bytes, first.size);
    }
}

static inline void pass(uint64_t ms)
{
    for (uint64_t end = now + ms * MS; now < end; now += 5 * MS) {
        for (uint32_t i = 0; i < member_count; i++) (void)host_tick(members[i].host);
        settle();
        for (uint32_t i = 0; i < member_count; i++) (void)leaderships_tick(&members[i].leaderships);
        settle();
    }
}

static inline void begin(uint32_t count)
{
    now = 1000 * MS;
    queued = 0;
    heard[0] = '\0';
    member_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct member *m = &members[i];
        *m = (struct member){.config = {.cluster = "test", .member_count = count, .self = i + 1, .drift = 200}};
        m->config.groups[m->config.group_count++] =
            (struct config_group){.name = "bully", .algorithm = el_algorithm_named("bully")};
        m->config.groups[m->config.group_count++] =
            (struct config_group){.name = "raft", .algorithm = el_algorithm_named("raft")};
        m->config.transmit_max = 5 * MS;
        for (uint32_t k = 0; k < count; k++) {
            m->config.members[k].id = k + 1;
            snprintf(m->config.members[k].name, sizeof m->config.members[k].name, "m%u", k + 1);
        }
        struct host_hooks hooks = quiet_hooks(m, read_clock);
        hooks.send = post;
        hooks.save = save;
        hooks.changed = changed;
        hooks.renewed = renewed;
        m->host = host_new(&m->config, &m->record, hooks);
        m->leaderships.host = m->host;
        m->leaderships.config = &m->config;
        m->leaderships.tell = tell;
    }
}

static inline int finish(void **state)
{
    for (uint32_t i = 0; i < member_count; i++) {
        leaderships_free(&members[i].leaderships);
        host_free(members[i].host);
    }
    member_count = 0;
    return 0;
}

static inline struct leadership *leadership(uint32_t member, const char *group)
{
    char text[200];
    struct host_group *found = host_find(members[member - 1].host, group, text, sizeof text);
    if (!found) fail_msg("%s", text);
    return leadership_of(&members[member - 1].leaderships, found);
}

/* ---- Clients, and what they are told ---- */

static char a[] = "a", b[] = "b", c[] = "c";

static inline void expect_heard(const char *text)
{
    assert_string_equal(heard, text);
    heard[0] = '\0';
}

/* Waits for somebody to be told something that begins so. */
static inline void wait_for(const char *text)
{
    for (int i = 0; i < 2000 && !strstr(heard, text); i++) pass(5);
    if (!strstr(heard, text)) fail_msg("nobody was told %s, only: %s", text, heard);
}

static inline void lead(uint32_t member, char *client)
{
    assert_int_equal(leadership_enter(leadership(member, "g"), client, 0, ""), LEADERSHIP_DONE);
    for (uint32_t i = 1; i <= member_count; i++) (void)leadership(i, "g");
    wait_for("elected");
}

#endif
