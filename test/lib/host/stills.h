/*
 * Real hosts as values. A still is the whole of a host between two calls: its state (host_pack), its record,
 * the disk's contents and pending writes. Equal stills are kept once, and so are letters. The host's own code
 * computes the effect of a call on a still, once; then it is known. So a world is a few numbers, as in
 * src/check, but it is no model.
 */
#ifndef ELECTOR_TEST_LIB_HOST_STILLS_H
#define ELECTOR_TEST_LIB_HOST_STILLS_H

#include "agent/recorder/recorder.h"
#include "lib/host/session_groups.h"
#include "lib/node/known.h"

enum {
    STILL_GROUPS = 2,
    STILL_HOSTS = 3,
    STILL_SENT_MAX = 24,
    STILL_BYTES_MAX = 1 << 15,
    RECORD_BYTES_MAX = 4096
};

/* ---- What is kept once ---- */

/* What a call meets. */
enum still_call {
    CALL_START, /* of a dead one; groups: a bit for each that clients want to lead */
    CALL_TICK,
    CALL_RECEIVE,
    CALL_SAVED,
    CALL_STAND,
    CALL_LEAVE, /* it stands no more */
    CALL_RESIGN,
    CALL_TRANSFER,
    CALL_FORGET,
    CALL_OBITUARY /* only asks for it */
};

struct still {
    uint8_t *bytes;                       /* squeezed */
    uint32_t host, record, disk, writing; /* sizes: of each, one after another; no host: it is dead */
    uint64_t wake;
    struct {
        bool leads, is_known;
        uint64_t token, lease_end;
    } groups[STILL_GROUPS];
};

struct outcome {
    uint32_t still, sent_at;
    uint8_t sent, performed;
};

static struct {
    struct known stills_known, letters_known, outcomes_known;
    struct still *stills;
    struct letter **letters;
    struct outcome *outcomes;
    uint32_t *sent;
    uint32_t still_count, letter_count, outcome_count, sent_count;
    uint32_t live[STILL_HOSTS + 1]; /* what is there as a host, and 1; 0: nothing */
    struct {
        uint8_t bytes[RECORD_BYTES_MAX];
        uint32_t size;
    } records[STILL_HOSTS + 1]; /* as they are there: most calls leave them alone, and they are large to make */
    uint32_t posted[STILL_SENT_MAX];
    uint32_t posted_count;
    uint64_t calls, revivals, compared;
} album;

/* Most of it is zeros: bytes that are none, counted, and then how many zeros follow. */
static inline size_t squeeze(const uint8_t *from, size_t size, uint8_t *to)
{
    size_t used = 0, at = 0;
    while (at < size) {
        uint8_t bytes = 0, zeros = 0;
        while (at + bytes < size && bytes < UINT8_MAX &&
               (from[at + bytes] || (at + bytes + 1 < size && from[at + bytes + 1])))
            bytes++;
        to[used++] = bytes;
        memcpy(to + used, from + at, bytes);
        used += bytes;
        at += bytes;
        while (at < size && zeros < UINT8_MAX && !from[at]) zeros++, at++;
        to[used++] = zeros;
    }
    return used;
}

static inline void expand(const uint8_t *from, uint8_t *to, size_t size)
{
    for (size_t at = 0; at < size;) {
        const uint8_t bytes = *from++;
        memcpy(to + at, from, bytes);
        from += bytes;
        at += bytes;
        memset(to + at, 0, *from);
        at += *from++;
    }
}

static inline size_t still_size(const struct still *still)
{
    return (size_t)still->host + still->record + still->disk + still->writing;
}

/* One more; there is room for a power of two. */
#define album_push(list, count, what)                                                       \
    do {                                                                                    \
        if (((count) & ((count)-1)) == 0) {                                                 \
            (list) = realloc((list), ((count) ? 2 * (size_t)(count) : 1) * sizeof *(list)); \
            assert_non_null(list);                                                          \
        }                                                                                   \
        (list)[(count)++] = (what);                                                         \
    } while (0)

static inline uint32_t keep_letter(const struct letter *letter)
{
    struct letter clean;
    bool is_new;
    memset(&clean, 0, sizeof clean);
    clean.from = letter->from;
    clean.to = letter->to;
    clean.size = letter->size;
    memcpy(clean.bytes, letter->bytes, letter->size);
    const size_t size = offsetof(struct letter, bytes) + letter->size;
    const uint32_t number =
        know(&album.letters_known, el_fingerprint(&clean, size), album.letter_count, &is_new);
    if (!is_new) return number;
    struct letter *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, &clean, size);
    album_push(album.letters, album.letter_count, copy);
    return number;
}

/* Whatever is said goes to whoever explores, and not into the mail. */
static inline bool keep_posted(struct letter *letter)
{
    require(album.posted_count < STILL_SENT_MAX);
    letter->at = letter->order = 0;
    album.posted[album.posted_count++] = keep_letter(letter);
    return false;
}

/* ---- Between hosts and stills ---- */

static inline uint64_t no_jitter(void *context)
{
    return 0;
}

/* Whoever works for a group reads its cell at that very moment, in the middle of a call. */
static inline void judge_renewed(void *context, uint32_t cell)
{
    const struct hosted *h = context;
    for (unsigned i = 0; i < STILL_GROUPS; i++) {
        const struct session_group *group = group_at(h->config.self, i);
        if (!group || group->base.shown_cell != cell || group->base.shown_role != EL_LEADER) continue;
        const uint64_t deadline = host_cell_deadline(h->host, cell);
        if (deadline > world.now) judge_bound(group, deadline);
    }
}

static inline struct host *make_host(el_node node)
{
    struct hosted *h = &world.hosts[node];
    struct host_hooks hooks = hooks_of(h);
    hooks.random = no_jitter;
    hooks.renewed = judge_renewed;
    assert_non_null(h->record);
    h->host = host_new(&h->config, h->record, hooks);
    assert_non_null(h->host);
    h->alive = true;
    return h->host;
}

static inline void put_away_host(el_node node)
{
    struct hosted *h = &world.hosts[node];
    if (h->host) host_free(h->host);
    free(h->writing);
    h->host = NULL;
    h->writing = NULL;
    h->alive = false;
    album.live[node] = 0;
}

static inline void put_away(el_node node)
{
    put_away_host(node);
    record_close(world.hosts[node].record);
    world.hosts[node].record = NULL;
    album.records[node].size = 0;
}

static inline void remember_record(el_node node, const uint8_t *bytes, uint32_t size)
{
    require(size <= RECORD_BYTES_MAX);
    memcpy(album.records[node].bytes, bytes, size);
    album.records[node].size = size;
}

static inline void restore_record(el_node node, const uint8_t *bytes, uint32_t size)
{
    struct hosted *h = &world.hosts[node];
    if (album.records[node].size == size && memcmp(album.records[node].bytes, bytes, size) == 0) return;
    record_close(h->record);
    h->record = record_restore(bytes, size);
    assert_non_null(h->record);
    remember_record(node, bytes, size);
}

static inline struct record_image *copy_image(const uint8_t *bytes, uint32_t size)
{
    struct record_image *image = malloc(sizeof *image + size);
    assert_non_null(image);
    image->size = size;
    image->version = 1;
    memcpy(image->bytes, bytes, size);
    return image;
}

/* The host that this is a still of; of a dead one, its record alone. */
static inline void revive(el_node node, uint32_t number)
{
    const struct still *still = &album.stills[number];
    struct hosted *h = &world.hosts[node];
    static uint8_t bytes[STILL_BYTES_MAX];
    struct recorder_bytes b = {bytes, bytes + still->host, false};
    const uint8_t *record = bytes + still->host, *writing = record + still->record + still->disk;
    if (album.live[node] == number + 1) return;
    expand(still->bytes, bytes, still_size(still));
    put_away_host(node);
    album.revivals++;
    if (still->host == 0) {
        restore_record(node, record + still->record, still->disk);
        return;
    }
    restore_record(node, record, still->record);
    require(host_unpack(make_host(node), &b, true) && b.at == b.end);
    if (still->writing) h->writing = copy_image(writing, still->writing);
    album.live[node] = number + 1;
}

static inline void judge_still(el_node node, struct still *still)
{
    for (unsigned i = 0; i < STILL_GROUPS; i++) {
        const struct session_group *group = group_at(node, i);
        if (!group) continue;
        const struct host_view view = host_view_of(&group->base);
        require(view.leader == group->base.shown_leader && view.token == group->base.shown_token);
        require((view.role == EL_LEADER) == (group->base.shown_role == EL_LEADER));
        still->groups[i].is_known = true;
        if (view.role != EL_LEADER) continue;
        require(view.deadline_ns > world.now && view.lease_end_ns >= view.deadline_ns);
        judge_bound(group, view.deadline_ns);
        require(view.deadline_ns == host_cell_deadline(world.hosts[node].host, host_cell(&group->base)));
        still->groups[i].leads = true;
        still->groups[i].token = view.token;
        still->groups[i].lease_end = view.lease_end_ns;
    }
}

/* All of the host as bytes, in `room`; the sizes in *still. */
static inline void describe(
    el_node node, const uint8_t *disk, uint32_t disk_size,
    uint8_t *room, /* NOLINT(readability-non-const-parameter): host_pack() writes there */
    struct still *still)
{
    struct hosted *h = &world.hosts[node];
    struct recorder_bytes b = {room, room + STILL_BYTES_MAX, false};
    require(host_pack(h->host, &b));
    still->host = (uint32_t)(b.at - room);
    struct record_image *record = record_copy(h->record);
    assert_non_null(record);
    still->record = (uint32_t)record->size;
    still->disk = disk_size;
    still->writing = h->writing ? (uint32_t)h->writing->size : 0;
    require((size_t)(b.end - b.at) > record->size + disk_size + still->writing);
    memcpy(b.at, record->bytes, record->size);
    remember_record(node, record->bytes, still->record);
    memcpy(b.at + record->size, disk, disk_size);
    if (h->writing) memcpy(b.at + record->size + disk_size, h->writing->bytes, h->writing->size);
    free(record);
}

static inline uint32_t keep_still(const uint8_t *bytes, struct still *still)
{
    static uint8_t squeezed[2 * STILL_BYTES_MAX];
    const size_t size = still_size(still);
    const struct el_hash sum = el_fingerprint(bytes, size);
    const uint64_t words[] = {sum.low, sum.high, still->host, still->disk, still->writing, still->wake};
    bool is_new;
    const uint32_t number =
        know(&album.stills_known, el_fingerprint(words, sizeof words), album.still_count, &is_new);
    if (!is_new) return number;
    const size_t least = squeeze(bytes, size, squeezed);
    still->bytes = malloc(least);
    assert_non_null(still->bytes);
    memcpy(still->bytes, squeezed, least);
    album_push(album.stills, album.still_count, *still);
    return number;
}

/* Of one that is dead: what its disk has, or gets in the end. */
static inline uint32_t keep_dead(const uint8_t *disk, uint32_t size)
{
    return keep_still(disk, &(struct still){.disk = size, .wake = UINT64_MAX});
}

/* What its disk has, or gets when the write is done. */
static inline uint32_t disk_of(uint32_t number, bool is_written, uint8_t *disk)
{
    static uint8_t bytes[STILL_BYTES_MAX];
    const struct still *still = &album.stills[number];
    const uint32_t size = is_written ? still->writing : still->disk;
    require(size <= RECORD_BYTES_MAX);
    expand(still->bytes, bytes, still_size(still));
    memcpy(disk, bytes + still->host + still->record + (is_written ? still->disk : 0), size);
    return size;
}

static inline uint32_t still_killed(uint32_t number, bool is_written)
{
    uint8_t disk[RECORD_BYTES_MAX];
    const uint32_t size = disk_of(number, is_written, disk);
    return keep_dead(disk, size);
}

/* ---- Calls ---- */

struct call {
    uint64_t now;
    uint32_t still, letter;
    uint8_t what, group, to, groups;
};

static inline bool make_call(el_node node, const struct call *call)
{
    struct hosted *h = &world.hosts[node];
    struct record_image *image = h->writing;
    const struct letter *letter = call->what == CALL_RECEIVE ? album.letters[call->letter] : NULL;
    struct payload obituary;
    enum el_answer answer = EL_PERFORMED;
    if (call->what == CALL_START) (void)make_host(node);
    if (call->what != CALL_OBITUARY && call->what != CALL_RECEIVE)
        (void)host_tick(h->host); /* as an agent does */
    switch (call->what) {
    case CALL_START:
        for (unsigned i = 0; i < STILL_GROUPS; i++)
            if (call->groups >> i & 1) host_stand(&group_of(node, i)->base, true, 0);
        break;
    case CALL_RECEIVE: host_receive(h->host, letter->from, letter->bytes, letter->size); break;
    case CALL_SAVED:
        h->writing = NULL;
        free(image);
        host_saved(h->host, 1, 0);
        break;
    case CALL_STAND: host_stand(&group_of(node, call->group)->base, true, 0); break;
    case CALL_LEAVE: host_stand(&group_of(node, call->group)->base, false, 0); break;
    case CALL_RESIGN: answer = host_resign(&group_of(node, call->group)->base); break;
    case CALL_TRANSFER: answer = host_transfer(&group_of(node, call->group)->base, call->to); break;
    case CALL_FORGET:
        if (group_at(node, call->group)) (void)host_forget(&group_at(node, call->group)->base);
        break;
    case CALL_OBITUARY:
        if (!host_obituary(h->host, &obituary)) break;
        for (el_node to = 1; to <= STILL_HOSTS; to++)
            if (to != node) hook_send(h, to, obituary.bytes, obituary.size);
        break;
    default: break;
    }
    return answer == EL_PERFORMED;
}

static inline bool run_call(el_node node, const struct call *call, uint8_t *bytes, struct still *after)
{
    uint8_t disk[RECORD_BYTES_MAX];
    const uint32_t size = disk_of(call->still, call->what == CALL_SAVED, disk);
    album.posted_count = 0;
    world.now = call->now;
    world.takes = keep_posted;
    revive(node, call->still);
    album.live[node] = 0;
    const bool performed = make_call(node, call);
    *after = (struct still){.wake = host_tick(world.hosts[node].host)};
    describe(node, disk, size, bytes, after);
    judge_still(node, after);
    return performed;
}

/* What one that was never packed does, one that was packed and unpacked does: nothing is forgotten on the
 * way. */
static inline void compare_calls(el_node node, const struct call *call)
{
    static uint8_t live[STILL_BYTES_MAX], again[STILL_BYTES_MAX];
    uint32_t posted[STILL_SENT_MAX];
    struct still a, b;
    (void)run_call(node, call, live, &a);
    const uint32_t count = album.posted_count;
    memcpy(posted, album.posted, sizeof posted);
    put_away(node);
    (void)run_call(node, call, again, &b);
    require(a.host == b.host && a.record == b.record && a.writing == b.writing && a.wake == b.wake);
    require(memcmp(live, again, a.host + a.record + a.disk + a.writing) == 0);
    require(count == album.posted_count && memcmp(posted, album.posted, count * sizeof *posted) == 0);
    put_away(node);
    album.compared++;
}

static inline struct outcome call_still(el_node node, const struct call *call)
{
    static uint8_t bytes[STILL_BYTES_MAX];
    const uint64_t words[] = {call->now, (uint64_t)call->still << 32 | call->letter,
                              (uint64_t)node << 32 | (uint32_t)call->what << 24 | (uint32_t)call->group << 16 |
                                  (uint32_t)call->to << 8 | call->groups};
    bool is_new;
    const uint32_t number =
        know(&album.outcomes_known, el_fingerprint(words, sizeof words), album.outcome_count, &is_new);
    if (!is_new) return album.outcomes[number];
    struct still after;
    if (album.live[node] == call->still + 1 && album.calls % 16 == 0) compare_calls(node, call);
    const bool performed = run_call(node, call, bytes, &after);
    struct outcome outcome = {
        .sent_at = album.sent_count, .sent = (uint8_t)album.posted_count, .performed = performed};
    for (uint32_t i = 0; i < album.posted_count; i++) album_push(album.sent, album.sent_count, album.posted[i]);
    outcome.still = keep_still(bytes, &after);
    album.live[node] = outcome.still + 1;
    album_push(album.outcomes, album.outcome_count, outcome);
    album.calls++;
    return outcome;
}

static inline void close_album(void)
{
    for (el_node node = 1; node <= STILL_HOSTS; node++) put_away(node);
    for (uint32_t i = 0; i < album.still_count; i++) free(album.stills[i].bytes);
    for (uint32_t i = 0; i < album.letter_count; i++) free(album.letters[i]);
    free(album.stills);
    free(album.letters);
    free(album.outcomes);
    free(album.sent);
    known_free(&album.stills_known);
    known_free(&album.letters_known);
    known_free(&album.outcomes_known);
    memset(&album, 0, sizeof album);
}

#endif
