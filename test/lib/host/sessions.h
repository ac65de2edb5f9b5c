/*
 * Hosts whose groups use shared sessions. Each host has its own clock and disk, and the network loses,
 * duplicates, delays and cuts. After every event the bench checks that no two hosts claim a group at one true
 * instant, that no token fell, and that watchers were told every visible change.
 */
#ifndef ELECTOR_TEST_LIB_HOST_SESSIONS_H
#define ELECTOR_TEST_LIB_HOST_SESSIONS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/host/quorum/sessions.h"
#include "lib/host/letters.h"

#include "lib/scratch.h"

enum { HOSTS_MAX = 6, WATCHED_MAX = 24, LETTERS_MAX = 50000, MILLION = 1000000, DRIFT = 10000, TEXT = 200 };
#define MS UINT64_C(1000000)

struct hosted {
    struct host *host;
    struct record *record;
    struct config config;
    struct record_image *writing;
    struct record *disk;                     /* what is on it, in worlds that keep it */
    uint64_t written_at, wake, paused_until; /* in true time */
    uint64_t offset;                         /* of its clock */
    uint32_t rate;                           /* of its clock, in millionths */
    unsigned life;
    bool alive, is_stuck, fails, is_fileless; /* the last three: its disk */
    char path[64];
};

/* What is known of who may work for a group, by what it was shown. */
struct tenure {
    char name[16];
    uint64_t key, token;
    el_node host;
    unsigned life;
    uint64_t until; /* in true time */
    unsigned begun;
};

static struct {
    struct hosted hosts[HOSTS_MAX + 1];
    unsigned count;
    uint64_t now, seed, run;
    struct mail mail;
    bool cut[HOSTS_MAX + 1][HOSTS_MAX + 1];
    bool keeps_disks;
    uint32_t loss, twice; /* in hundredths */
    uint64_t delay_min, delay_max, write_min, write_max;
    bool (*takes)(struct letter *); /* NULL: the network takes every letter, as it is */
    struct tenure watched[WATCHED_MAX];
    unsigned watched_count;
    uint64_t sent, changes, renewals, warnings;
    void (*explain)(void); /* how it came to this; may be NULL */
} world;

/* All tests fail in a run, which can be repeated. */
#define require(condition)                                                                            \
    do {                                                                                              \
        if (!(condition)) {                                                                           \
            if (world.explain) world.explain();                                                       \
            fail_msg("run %llu, %.3f ms: %s", (unsigned long long)world.run, (double)world.now / 1e6, \
                     #condition);                                                                     \
        }                                                                                             \
    } while (0)

static char record_paths[HOSTS_MAX + 1][64];

static inline uint64_t dice(uint64_t below)
{
    require(below > 0);
    world.seed ^= world.seed << 13;
    world.seed ^= world.seed >> 7;
    world.seed ^= world.seed << 17;
    return below > 0 ? world.seed % below : 0;
}

static inline bool one_in(uint64_t n)
{
    return dice(n) == 0;
}

/* ---- Clocks ---- */

static inline uint64_t clock_of(const struct hosted *h)
{
    return h->offset + world.now / MILLION * h->rate + world.now % MILLION * h->rate / MILLION;
}

/* The first true instant at which that clock shows this, or more. */
static inline uint64_t when(const struct hosted *h, uint64_t shown)
{
    if (shown >= UINT64_MAX / 2) return UINT64_MAX;
    const uint64_t span = shown > h->offset ? shown - h->offset : 0;
    return span / h->rate * MILLION + (span % h->rate * MILLION + h->rate - 1) / h->rate;
}

/* ---- Letters ---- */

static inline void post(const struct letter *letter)
{
    require(world.mail.count < LETTERS_MAX); /* or they beget each other */
    mail_post(&world.mail, letter);
}

/* Leaves out of a letter what is not to be kept. */
static inline void strip(struct letter *letter, bool (*keeps)(const struct payload_entry *))
{
    letter_strip(letter, world.hosts[letter->from].host->members, keeps);
}

static inline uint64_t between(uint64_t min, uint64_t max)
{
    return min + (max > min ? dice(max - min + 1) : 0);
}

/* ---- Hooks ---- */

static inline uint64_t hook_now(void *context)
{
    return clock_of(context);
}

static inline uint64_t hook_random(void *context)
{
    return dice(UINT64_MAX);
}

static inline uint64_t hook_wall(void *context)
{
    return 1700000000000 + world.now / MS;
}

static inline void hook_send(void *context, el_node to, const uint8_t *payload, size_t size)
{
    const struct hosted *h = context;
    struct letter letter = {.from = h->config.self, .to = to, .size = size};
    assert_true(size <= sizeof letter.bytes);
    memcpy(letter.bytes, payload, size);
    world.sent++;
    if (world.cut[letter.from][to] || (world.takes && !world.takes(&letter)) || dice(100) < world.loss) return;
    letter.at = world.now + between(world.delay_min, world.delay_max);
    post(&letter);
    if (dice(100) >= world.twice) return;
    letter.at = world.now + between(world.delay_min, world.delay_max);
    post(&letter);
}

static inline void hook_save(void *context, struct record_image *image)
{
    struct hosted *h = context;
    assert_null(h->writing); /* one at a time */
    h->writing = image;
    h->written_at = world.now + between(world.write_min, world.write_max);
}

static inline void hook_changed(void *context, struct host_group *group)
{
    world.changes++;
}

static inline void hook_renewed(void *context, uint32_t cell)
{
    world.renewals++;
}

static inline void hook_tell(void *context, struct host_group *group, const char *text)
{
    static int tells = -1;
    if (tells < 0) tells = getenv("ELECTOR_TELL") != NULL;
    if (tells)
        print_message("%9.3f %u %s: %s\n", (double)world.now / 1e6, ((struct hosted *)context)->config.self,
                      group ? host_name(group) : "-", text);
}

static inline void hook_note(void *context, struct host_group *group, const struct host_note *note)
{
    char text[256];
    host_note_text(&((struct hosted *)context)->config, note, text, sizeof text);
    hook_tell(context, group, text);
}

static inline void hook_warn(void *context, struct host_group *group, const char *text)
{
    world.warnings++;
    hook_tell(context, group, text);
}

/* ---- Watching ---- */

static inline struct session_group *group_at(el_node node, unsigned watched)
{
    const struct hosted *h = &world.hosts[node];
    struct host_group *group = h->alive ? host_by_key(h->host, world.watched[watched].key) : NULL;
    return (struct session_group *)group;
}

/* This life may work by this token until then: never two at once, and tokens rise. */
static inline void take_leadership(struct tenure *t, el_node node, unsigned life, uint64_t token,
                                   uint64_t until)
{
    if (t->host == node && t->life == life && t->token == token) {
        if (until > t->until) t->until = until;
        return;
    }
    require(t->until <= world.now); /* never two at once */
    require(token > t->token);
    t->host = node;
    t->life = life;
    t->token = token;
    t->until = until;
    t->begun++;
}

/*
 * A cell's deadline is the one that the driver computes for each of its groups: the end of the promise that bounds the claim.
 * Nor does the leader's own promise end sooner: it would let go before that.
 */
static inline void judge_bound(const struct session_group *group, uint64_t deadline)
{
    struct session *s = session_of(group);
    const struct session_work kept = s->work; /* a call may be under way, for another */
    struct session_work *work = session_expand(group);
    const struct quorum q = {
        .cfg = &s->cfg, .me = &s->me, .peers = s->peers, .group = &work->quorum, .ballots = work->ballots};
    const el_node by = quorum_bounding_voter(&q);
    const bool is_backed = quorum_is_backed(&q, s->cfg.self);
    s->work = kept;
    require(by != EL_NOBODY && deadline + s->runner.margin == s->timers[QUORUM_LEASE][by]);
    require(!is_backed || s->timers[QUORUM_LEASE][s->cfg.self] >= s->timers[QUORUM_LEASE][by]);
}

static inline void watch_one(el_node node, unsigned i)
{
    const struct hosted *h = &world.hosts[node];
    const struct session_group *group = group_at(node, i);
    if (!group) return;
    const struct host_view view = host_view_of(&group->base);
    require(view.leader == group->base.shown_leader && view.token == group->base.shown_token);
    require((view.role == EL_LEADER) == (group->base.shown_role == EL_LEADER));
    if (view.role != EL_LEADER) return;
    require(view.deadline_ns > clock_of(h) && view.lease_end_ns >= view.deadline_ns);
    judge_bound(group, view.deadline_ns);
    take_leadership(&world.watched[i], node, h->life, view.token, when(h, view.lease_end_ns));
}

static inline void after_event(el_node node)
{
    struct hosted *h = &world.hosts[node];
    if (!h->alive) return;
    h->wake = when(h, host_tick(h->host));
    for (unsigned i = 0; i < world.watched_count; i++) watch_one(node, i);
}

/* ---- Lives ---- */

static inline struct host_hooks hooks_of(struct hosted *h)
{
    return (struct host_hooks){.context = h,
                               .now = hook_now,
                               .send = hook_send,
                               .save = hook_save,
                               .changed = hook_changed,
                               .note = hook_note,
                               .warn = hook_warn,
                               .random = hook_random,
                               .wall_ms = hook_wall,
                               .renewed = hook_renewed};
}

static inline void start(el_node node)
{
    struct hosted *h = &world.hosts[node];
    char text[TEXT];
    const struct record_identity identity = {.cluster_id = {7}, .member = node};
    require(record_open(&h->record, h->path, &identity, text, sizeof text) != RECORD_REFUSED);
    h->host = host_new(&h->config, h->record, hooks_of(h));
    assert_non_null(h->host);
    h->life++;
    h->alive = true;
    h->paused_until = 0;
    after_event(node);
}

/* What was being written may have got there. */
static inline void die(el_node node)
{
    struct hosted *h = &world.hosts[node];
    if (!h->alive) return;
    if (h->writing && one_in(2)) (void)record_write(h->record, h->writing);
    host_free(h->host);
    record_close(h->record);
    free(h->writing);
    h->writing = NULL;
    h->host = NULL;
    h->alive = false;
}

static inline void make_record(el_node node)
{
    struct hosted *h = &world.hosts[node];
    char text[TEXT];
    const struct record_identity identity = {.cluster_id = {7}, .member = node};
    unlink(h->path);
    assert_true(record_create(h->path, &identity, text, sizeof text));
}

/* Also after a test that failed. */
static inline void sweep(void)
{
    for (el_node node = 1; node <= HOSTS_MAX; node++) unlink(record_paths[node]);
}

static inline void prepare_world(unsigned count, uint64_t run)
{
    if (!record_paths[1][0]) (void)atexit(sweep);
    const char *folder = scratch_memory();
    memset(&world, 0, sizeof world);
    world.count = count;
    world.run = run;
    world.now = 1000 * MS;
    world.seed = (run + 1) * UINT64_C(0x9E3779B97F4A7C15);
    world.delay_min = world.delay_max = MS;
    world.write_min = world.write_max = 2 * MS;
    for (el_node node = 1; node <= count; node++) {
        struct hosted *h = &world.hosts[node];
        h->config = (struct config){.cluster = "test",
                                    .cluster_id = {7},
                                    .member_count = count,
                                    .self = node,
                                    .drift = DRIFT,
                                    .transmit_max = 2 * MS};
        for (el_node each = 1; each <= count; each++) {
            snprintf(h->config.members[each - 1].name, 16, "m%u", each);
            h->config.members[each - 1].id = each;
        }
        h->rate = MILLION;
        snprintf(h->path, sizeof h->path, "%s/elector-sessions-%d-%u", folder, (int)getpid(), node);
        memcpy(record_paths[node], h->path, sizeof h->path);
        make_record(node);
    }
}

static inline void start_all(void)
{
    for (el_node node = 1; node <= world.count; node++) start(node);
}

static inline void open_world(unsigned count)
{
    prepare_world(count, 0);
    start_all();
}

static inline void close_world(void)
{
    for (el_node node = 1; node <= world.count; node++) {
        die(node);
        unlink(world.hosts[node].path);
    }
    mail_free(&world.mail);
}

/* ---- Time ---- */

static inline void finish_write(el_node node)
{
    struct hosted *h = &world.hosts[node];
    struct record_image *image = h->writing;
    const int error = h->fails ? 5 : h->is_fileless ? 0 : record_write(h->record, image);
    h->writing = NULL;
    if (world.keeps_disks && !error) {
        record_close(h->disk);
        h->disk = record_restore(image->bytes, image->size);
    }
    const uint64_t version = image->version;
    free(image);
    (void)host_tick(h->host);
    host_saved(h->host, version, error);
    after_event(node);
}

static inline void deliver_first(void)
{
    struct letter *letter = mail_take(&world.mail);
    const struct hosted *to = &world.hosts[letter->to];
    if (to->alive && to->paused_until > world.now) { /* it waits in a socket */
        letter->at = to->paused_until;
        post(letter);
    } else if (to->alive && !world.cut[letter->from][letter->to]) {
        host_receive(to->host, letter->from, letter->bytes, letter->size);
        after_event(letter->to);
    }
    free(letter);
}

/* When something happens next there, and whether it is the disk's doing. */
static inline uint64_t next_of(const struct hosted *h, bool *is_write)
{
    *is_write = h->writing && !h->is_stuck && h->written_at <= h->wake;
    const uint64_t next = *is_write ? h->written_at : h->wake;
    return next > h->paused_until ? next : h->paused_until;
}

/* The first thing that happens, if it does until then. */
static inline bool step(uint64_t end)
{
    uint64_t next = world.mail.count ? world.mail.letters[0]->at : UINT64_MAX;
    el_node at = EL_NOBODY;
    bool is_write = false, writes;
    for (el_node node = 1; node <= world.count; node++) {
        const uint64_t due = world.hosts[node].alive ? next_of(&world.hosts[node], &writes) : UINT64_MAX;
        if (due >= next) continue;
        next = due;
        at = node;
        is_write = writes;
    }
    if (next > end) return false;
    if (next > world.now) world.now = next;
    if (!at)
        deliver_first();
    else if (is_write)
        finish_write(at);
    else
        after_event(at);
    return true;
}

static inline void pass(uint64_t ms)
{
    const uint64_t end = world.now + ms * MS;
    while (step(end)) {}
    world.now = end;
}

#endif
