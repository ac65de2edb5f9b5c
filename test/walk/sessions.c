/*
 * Every run, within bounds, of three real hosts with two groups on one session: see lib/host/scenes.h for what may happen, and the
 * bounds below for how much of it. In every world: never two may work for a group at once, tokens rise, what is shown is what
 * was told and no more than the promises behind that very group allow (lib/host/sessions.h, lib/host/stills.h). The last worlds go on
 * without faults, and then every group that somebody wants has one leader whom all know.
 *
 * Environment: ELECTOR_WALK=soak for the larger bounds, with ELECTOR_SECONDS for so long; ELECTOR_WALK=NAME for one of them, ELECTOR_TELL for the hosts' own words.
 */
#include <time.h>

#include "lib/host/scene_moves.h"
#include "lib/host/sessions_well.h"
#include "lib/sim/environment.h"

enum { DEPTH_MAX = 8000, LEASE_MS = 340, WELL_LEASES = 6 };

/* Times that fit together, and meet as often as they can: at the bounds there is 1 ns between a lease and a promise. */
static const struct config_profile times = {
    .name = "walk",
    .transmit_max = MS,
    .options = {
        {"lease", "340ms"}, {"beat", "100ms"}, {"margin", "20ms"}, {"re-ask", "120ms"}, {"stagger", "30ms"}}};

struct frame {
    struct scene scene;
    struct moves moves;
};

static struct {
    const struct bounds *bounds;
    struct frame *frames;
    uint32_t depth, deepest;
    struct known seen;
    uint64_t moves, leaves, ran_on, end;
    bool is_running_on;
} walk;

static void explain(void)
{
    print_message("%s:\n", walk.bounds->name);
    for (uint32_t i = 0; i <= walk.depth; i++) {
        const struct frame *f = &walk.frames[i];
        if (f->moves.next) print_move(&f->scene, &f->moves.list[f->moves.next - 1]);
    }
    if (walk.is_running_on) print_message("and then, undisturbed:\n");
}

/* ---- How it begins ---- */

static void quietly(struct scene *w, uint64_t ms)
{
    static const struct bounds none = {.name = "beginning"};
    struct moves moves;
    const uint64_t end = w->now + ms * MS;
    for (find_moves(w, &none, end, &moves); moves.count; find_moves(w, &none, end, &moves))
        make_move(w, &moves.list[0]);
    w->now = end;
}

static void want(struct scene *w, el_node node, uint8_t groups)
{
    for (unsigned i = 0; i < STILL_GROUPS; i++) {
        const struct move move = {
            .what = MOVE_ASK, .node = (uint8_t)node, .ask = CALL_STAND, .group = (uint8_t)i};
        if ((groups & ~w->wants[node - 1]) >> i & 1) ask(w, &move);
    }
}

static void leave_all(struct scene *w)
{
    for (unsigned i = 0; i < STILL_GROUPS; i++)
        for (unsigned call = 0; call < 2; call++) {
            const struct move move = {
                .what = MOVE_ASK, .node = 1, .ask = call ? CALL_RESIGN : CALL_LEAVE, .group = (uint8_t)i};
            ask(w, &move);
        }
    quietly(w, 110);
}

static void make_records(struct scene *w)
{
    for (el_node node = 1; node <= STILL_HOSTS; node++) {
        char text[TEXT];
        const struct record_identity identity = {.cluster_id = {7}, .member = node};
        struct hosted *h = &world.hosts[node];
        require(record_open(&h->record, h->path, &identity, text, sizeof text) == RECORD_READY);
        struct record_image *fresh = record_copy(h->record);
        assert_non_null(fresh);
        w->at[node - 1] = keep_dead(fresh->bytes, (uint32_t)fresh->size);
        free(fresh);
        put_away(node);
        h->config.profile = &times;
        h->config.drift = 0;
        h->is_fileless = true;
    }
}

static void begin_scene(struct scene *w, const struct bounds *b)
{
    memset(w, 0, sizeof *w);
    w->now = world.now = 1000 * MS;
    make_records(w);
    for (el_node node = 1; node <= STILL_HOSTS; node++) {
        const struct move start = {.what = MOVE_START, .node = (uint8_t)node};
        if (b->begins == BEGINS_STARTED)
            w->wants[node - 1] = b->wants[node - 1] & (uint8_t)node; /* the rest follows at once */
        w->any_order = b->any_order && b->begins == BEGINS_STARTED;
        make_move(w, &start);
        if (b->begins != BEGINS_STARTED) quietly(w, 10); /* they do not beat together */
    }
    if (b->begins == BEGINS_LED || b->begins == BEGINS_SHARED || b->begins == BEGINS_LEFT) want(w, 1, 1);
    if (b->begins == BEGINS_LED) want(w, 2, 2);
    if (b->begins == BEGINS_SHARED || b->begins == BEGINS_LEFT) want(w, 1, 2);
    if (b->begins != BEGINS_STARTED) quietly(w, UINT64_C(2) * LEASE_MS);
    if (b->begins == BEGINS_LEFT) leave_all(w);
    w->any_order = b->any_order;
    for (el_node node = 1; node <= STILL_HOSTS; node++) want(w, node, b->wants[node - 1]);
    if (b->begins != BEGINS_LED && b->begins != BEGINS_SHARED) return;
    quietly(w, 110);
    require(w->tenures[0].host == 1 && w->tenures[1].host == (b->begins == BEGINS_LED ? 2 : 1));
}

/* ---- How it ends ---- */

static void bring_to_life(const struct scene *w, el_node node)
{
    struct hosted *h = &world.hosts[node];
    revive(node, w->at[node - 1]);
    album.live[node] = 0;
    h->life = w->lives[node - 1];
    h->written_at = world.now;
    h->paused_until = 0;
    if (h->host) return;
    h->life++;
    (void)make_host(node);
    for (unsigned i = 0; i < STILL_GROUPS; i++)
        if (w->wants[node - 1] >> i & 1) stand(node, i, true, 0);
}

static bool is_wanted(const struct scene *w, unsigned group)
{
    for (unsigned i = 0; i < STILL_HOSTS; i++)
        if (w->wants[i] >> group & 1) return true;
    return false;
}

/* All is well from here on: what is late is lost. */
static void run_on(const struct scene *w)
{
    walk.is_running_on = true;
    world.now = w->now;
    world.takes = NULL;
    world.seed = 1;
    for (unsigned i = 0; i < STILL_GROUPS; i++) {
        struct tenure *t = &world.watched[i];
        t->host = w->tenures[i].host;
        t->life = w->tenures[i].life;
        t->token = w->tenures[i].token;
        t->until = w->tenures[i].until;
    }
    for (el_node node = 1; node <= STILL_HOSTS; node++) bring_to_life(w, node);
    for (el_node node = 1; node <= STILL_HOSTS; node++) after_event(node);
    for (unsigned leases = 0; leases < WELL_LEASES; leases++) {
        pass(LEASE_MS);
        resign_the_unwilling();
    }
    for (unsigned i = 0; i < STILL_GROUPS; i++)
        if (is_wanted(w, i)) judge_group(i);
    for (el_node node = 1; node <= STILL_HOSTS; node++) put_away(node);
    mail_free(&world.mail);
    walk.is_running_on = false;
    walk.ran_on++;
}

/* ---- All of it ---- */

static void enter(const struct scene *w)
{
    struct frame *f = &walk.frames[walk.depth];
    bool is_new;
    const struct el_hash sum = scene_sum(w);
    (void)know(&walk.seen, sum, 0, &is_new);
    if (!is_new) {
        walk.depth--;
        return;
    }
    if (walk.depth > walk.deepest) walk.deepest = walk.depth;
    find_moves(w, walk.bounds, walk.end, &f->moves);
    if (f->moves.count) return;
    walk.leaves++;
    if (sum.high % walk.bounds->run_on == 0) run_on(w);
    walk.depth--;
}

/* Until the time is over, if it is limited: UINT64_MAX is not. */
static void explore(const struct bounds *b, uint64_t end_ns)
{
    const clock_t began = clock();
    prepare_world(STILL_HOSTS, 0);
    world.explain = explain;
    (void)watch("a");
    (void)watch("b");
    memset(&walk, 0, sizeof walk);
    walk.bounds = b;
    walk.seen.is_set = true;
    walk.frames = calloc(DEPTH_MAX, sizeof *walk.frames);
    assert_non_null(walk.frames);
    begin_scene(&walk.frames[0].scene, b);
    walk.end = walk.frames[0].scene.now + b->until_ms * MS;
    walk.depth = 1;
    walk.frames[1].scene = walk.frames[0].scene;
    enter(&walk.frames[1].scene);
    bool is_over = false;
    while (walk.depth && !is_over) {
        struct frame *f = &walk.frames[walk.depth];
        is_over = end_ns != UINT64_MAX && walk.moves % 1024 == 0 && clock_monotonic_ns() >= end_ns;
        if (f->moves.next == f->moves.count) {
            walk.depth--;
            continue;
        }
        const struct move *move = &f->moves.list[f->moves.next++];
        require(walk.depth + 1 < DEPTH_MAX);
        struct scene *next = &walk.frames[walk.depth + 1].scene;
        *next = f->scene;
        walk.frames[walk.depth + 1].moves.next = 0;
        make_move(next, move);
        walk.moves++;
        walk.depth++;
        enter(next);
    }
    const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    print_message(
        "%s, %u faults, %u ms%s: %llu worlds, %llu moves, %u deep, %llu last ones, of which %llu went on; "
        "%u states of a host, %llu calls, %llu revivals, %llu compared; %.1f s, %.0f worlds/s\n",
        b->name, b->total, b->until_ms, is_over ? ", not finished" : "", (unsigned long long)walk.seen.count,
        (unsigned long long)walk.moves, walk.deepest, (unsigned long long)walk.leaves,
        (unsigned long long)walk.ran_on, album.still_count, (unsigned long long)album.calls,
        (unsigned long long)album.revivals, (unsigned long long)album.compared, seconds,
        (double)walk.seen.count / (seconds > 0 ? seconds : 1));
    assert_true(is_over || (walk.ran_on > 0 && album.compared > 0));
    known_free(&walk.seen);
    free(walk.frames);
    close_album();
    close_world();
}

#define ONE_OF_EACH         \
    {                       \
        1, 1, 1, 1, 1, 1, 1 \
    }
#define OF_LINKS                                                                \
    {                                                                           \
        [FAULT_LATE] = 1, [FAULT_TWICE] = 1, [FAULT_CUT] = 1, [FAULT_PAUSE] = 1 \
    }

/* In `make test`; the sanitized build takes two of one fault. */
static const struct bounds bounds[] = {
    {"beginning", ONE_OF_EACH, .total = 1, .until_ms = 330, .begins = BEGINS_STARTED, .wants = {3, 3},
     .run_on = 4},
    {"links-shared", OF_LINKS, .total = 1, .until_ms = 1500, .begins = BEGINS_SHARED, .wants = {3, 3},
     .run_on = 4},
#ifndef ELECTOR_SANITIZED
    {"links", OF_LINKS, .total = 1, .until_ms = 1400, .wants = {3, 3}, .run_on = 4},
    {"deaths", {[FAULT_DEATH] = 1}, .total = 1, .until_ms = 550, .wants = {3, 3}, .run_on = 8},
    {"deaths-shared",
     {[FAULT_DEATH] = 1},
     .total = 1,
     .until_ms = 900,
     .begins = BEGINS_SHARED,
     .wants = {3, 3},
     .run_on = 8},
    {"lies", {[FAULT_LIE] = 2}, .total = 2, .until_ms = 450, .wants = {3, 3}, .run_on = 4},
    {"forgets",
     {[FAULT_ASK] = 3, [FAULT_FORGET] = 2},
     .total = 3,
     .until_ms = 220,
     .begins = BEGINS_LEFT,
     .run_on = 16},
    {"clients", {[FAULT_ASK] = 2}, .total = 2, .until_ms = 450, .wants = {3, 3}, .run_on = 4},
    {"two", ONE_OF_EACH, .total = 2, .until_ms = 150, .wants = {3, 3}, .run_on = 16},
    {"two-shared", ONE_OF_EACH, .total = 2, .until_ms = 150, .begins = BEGINS_SHARED, .wants = {3, 3},
     .run_on = 16},
    {"order", .until_ms = 40, .any_order = true, .begins = BEGINS_LINKED, .wants = {3, 2}, .run_on = 1},
#endif
};

static const struct bounds bounds_of_a_soak[] = {
    {"soak-links", OF_LINKS, .total = 2, .until_ms = 600, .begins = BEGINS_SHARED, .wants = {3, 3},
     .run_on = 32},
    {"soak-lies",
     {[FAULT_LIE] = 2, [FAULT_DEATH] = 1},
     .total = 3,
     .until_ms = 150,
     .wants = {3, 3},
     .run_on = 64},
    {"soak-forgets",
     {[FAULT_LATE] = 2, [FAULT_ASK] = 2, [FAULT_FORGET] = 1},
     .total = 5,
     .until_ms = 95,
     .begins = BEGINS_LEFT,
     .wants = {1},
     .run_on = 4},
    {"soak-deaths", {[FAULT_DEATH] = 2}, .total = 2, .until_ms = 250, .wants = {3, 3}, .run_on = 64},
    {"soak-two", ONE_OF_EACH, .total = 2, .until_ms = 200, .wants = {3, 3}, .run_on = 32},
    {"soak-order", .until_ms = 40, .any_order = true, .begins = BEGINS_LINKED, .wants = {3, 3}, .run_on = 1},
};

/* By their number of faults: so the first trace has the fewest. Those that are left share the time that is left. */
static void explore_all(const struct bounds *list, size_t count)
{
    const char *only = getenv("ELECTOR_WALK");
    const bool all = !only || (strcmp(only, "soak") == 0 && list == bounds_of_a_soak);
    const uint64_t end_ns = end_of(seconds_of_soak());
    uint32_t left = 0;
    for (size_t i = 0; i < count; i++) left += list[i].total ? list[i].total : 1;
    for (size_t i = 0; i < count; i++)
        for (uint8_t total = list[i].total ? 1 : 0; total <= list[i].total; total++, left--) {
            struct bounds b = list[i];
            const uint64_t now = clock_monotonic_ns();
            b.total = total;
            if (all || strcmp(only, b.name) == 0)
                explore(&b, end_ns == UINT64_MAX ? end_ns : now + (end_ns > now ? (end_ns - now) / left : 0));
        }
}

static void two_groups_on_one_session_never_have_two_leaders(void **state)
{
    explore_all(bounds, sizeof bounds / sizeof *bounds);
    if (getenv("ELECTOR_WALK"))
        explore_all(bounds_of_a_soak, sizeof bounds_of_a_soak / sizeof *bounds_of_a_soak);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_groups_on_one_session_never_have_two_leaders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
