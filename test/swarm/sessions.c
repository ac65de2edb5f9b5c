/*
 * Many groups on the sessions of three and five hosts, under random faults: letters lost, doubled, delayed and cut off one
 * way; hosts that die and come back, with and without their record; slow disks, pauses, clocks at the edge of the bound;
 * candidates that come, go, resign and hand over; obituaries of who is really dead. Never do two claim a group at once,
 * and tokens rise (lib/host/sessions.h). Then all is well again, and every group that somebody wants has a leader whom all know,
 * and what all know of each other's candidates is the truth.
 *
 * Environment: ELECTOR_SESSION_RUNS how many, ELECTOR_FIRST_RUN where to begin, ELECTOR_RUN only that one (with
 * ELECTOR_TELL in words).
 */
#include "lib/host/sessions_well.h"
#include "lib/sim/environment.h"

#ifdef ELECTOR_SANITIZED
enum { RUNS = 15 };
#else
enum { RUNS = 120 };
#endif
enum { GROUPS_MIN = 5, GROUPS_MAX = 20, TROUBLE_MS = 9000, RECOVERY_MS = 9000, GRAVES_MAX = 64 };

/* A life that is over, in each of its sessions. */
struct grave {
    el_node who;
    unsigned life;
    uint64_t incarnation[2];
    uint32_t settings[2];
};

static struct {
    struct grave graves[GRAVES_MAX];
    unsigned grave_count;
    unsigned trouble; /* how rarely hosts are troubled; 0: never */
    bool may_wipe, may_bury;
    uint64_t wins, obituaries, deaths;
} story;

static el_node any_host(void)
{
    return (el_node)dice(world.count) + 1;
}

static el_node any_alive(void)
{
    for (unsigned tries = 0; tries < 20; tries++) {
        const el_node node = any_host();
        if (world.hosts[node].alive && world.hosts[node].paused_until <= world.now) return node;
    }
    return EL_NOBODY;
}

static unsigned any_group(void)
{
    return (unsigned)dice(world.watched_count);
}

/* ---- Trouble ---- */

static void kill_one(void)
{
    const el_node node = any_host();
    const struct hosted *h = &world.hosts[node];
    if (!h->alive) return;
    struct grave *grave = &story.graves[story.grave_count];
    *grave = (struct grave){.who = node, .life = h->life};
    unsigned i = 0;
    for (const struct session *s = h->host->sessions; s && i < 2; s = s->next, i++) {
        if (h->host->writes_done)
            grave->incarnation[i] =
                s->me.incarnation; /* else nobody heard of it, and the next has its number */
        grave->settings[i] = s->runner.settings;
    }
    if (story.grave_count + 1 < GRAVES_MAX) story.grave_count++;
    story.deaths++;
    die(node);
}

static void revive_one(void)
{
    const el_node node = any_host();
    if (world.hosts[node].alive) return;
    if (story.may_wipe && one_in(4)) unlink(world.hosts[node].path);
    start(node);
}

static void bury_one(void)
{
    const el_node witness = any_alive();
    if (!story.may_bury || !witness || !story.grave_count) return;
    const struct grave grave = story.graves[dice(story.grave_count)];
    if (grave.who == witness) return;
    for (unsigned i = 0; i < 2; i++)
        for (struct session *s = world.hosts[witness].host->sessions; s; s = s->next)
            if (grave.incarnation[i] && s->runner.settings == grave.settings[i])
                bury(witness, s, grave.who, grave.life, grave.incarnation[i]);
    story.obituaries++;
}

static void cut_or_mend(void)
{
    const el_node from = any_host(), to = any_host();
    const bool cuts = one_in(2), both = one_in(2);
    if (one_in(6)) { /* from all, or all is well again */
        for (el_node node = 1; node <= world.count; node++) {
            world.cut[from][node] = cuts;
            if (both) world.cut[node][from] = cuts;
        }
        return;
    }
    world.cut[from][to] = cuts;
    if (both) world.cut[to][from] = cuts;
}

static void pause_one(void)
{
    const el_node node = any_alive();
    if (node) world.hosts[node].paused_until = world.now + between(1, one_in(3) ? 3000 : 400) * MS;
}

static void trouble_disk(void)
{
    struct hosted *h = &world.hosts[any_host()];
    h->is_stuck = !h->is_stuck && one_in(3);
}

/* ---- What is asked of them ---- */

static bool may_lead(el_node node)
{
    return world.hosts[1].config.members[node - 1].role == CONFIG_VOTER;
}

static void ask_one(void)
{
    const el_node node = any_alive();
    const unsigned group = any_group();
    if (!node || !may_lead(node)) return;
    switch (dice(8)) {
    case 0: (void)let_go(node, group, EL_NOBODY); return;
    case 1: (void)let_go(node, group, any_host()); return;
    case 2: {
        char value[16];
        snprintf(value, sizeof value, "%llu", (unsigned long long)dice(1000));
        (void)host_tick(world.hosts[node].host);
        host_proclaim(&group_of(node, group)->base, value);
        after_event(node);
        return;
    }
    default: stand(node, group, !one_in(3), one_in(3) ? dice(4) : 0); return;
    }
}

static void trouble(void)
{
    switch (dice(story.trouble)) {
    case 0: kill_one(); return;
    case 1:
    case 2: revive_one(); return;
    case 3:
    case 4: cut_or_mend(); return;
    case 5: pause_one(); return;
    case 6: trouble_disk(); return;
    case 7:
    case 8: bury_one(); return;
    default: ask_one(); return;
    }
}

/* ---- A world ---- */

static void set_up_network(void)
{
    static const uint64_t delays[][2] = {{MS, MS}, {MS / 5, 2 * MS}, {MS / 10, 40 * MS}, {MS, 400 * MS}};
    static const uint64_t writes[][2] = {{MS, 3 * MS}, {MS, 80 * MS}, {0, 0}, {MS, 1500 * MS}};
    const uint64_t *delay = delays[dice(4)], *write = writes[dice(4)];
    world.delay_min = delay[0];
    world.delay_max = delay[1];
    world.write_min = write[0];
    world.write_max = write[1];
    if (one_in(2)) world.loss = (uint32_t)dice(40);
    if (one_in(2)) world.twice = (uint32_t)dice(50);
}

static void set_up(uint64_t run)
{
    prepare_world(3, run);
    const unsigned count = one_in(2) ? 3 : 5;
    prepare_world(count, run);
    const bool has_slow = one_in(3), has_guest = count == 5 && one_in(2);
    const enum config_role guest = one_in(2) ? CONFIG_WITNESS : CONFIG_OBSERVER;
    memset(&story, 0, sizeof story);
    story.trouble = 12 + (unsigned)dice(60);
    story.may_wipe = one_in(3);
    story.may_bury = one_in(2);
    for (el_node node = 1; node <= count; node++) {
        struct hosted *h = &world.hosts[node];
        h->offset = dice(100000 * MS);
        h->rate = one_in(2) ? MILLION - DRIFT + (uint32_t)dice(2 * DRIFT + 1)
                            : (one_in(2) ? MILLION + DRIFT : MILLION - DRIFT);
        if (has_guest) h->config.members[count - 1].role = guest;
        if (!has_slow) continue;
        h->config.group_count = 1;
        h->config.groups[0] =
            (struct config_group){.name = "slow*", .options = {{"lease", "1300ms"}}, .option_count = 1};
    }
    const unsigned groups = GROUPS_MIN + (unsigned)dice(GROUPS_MAX - GROUPS_MIN + 1);
    for (unsigned i = 0; i < groups; i++) {
        char name[16];
        snprintf(name, sizeof name, "%s%u", i % 2 ? "slow" : "group", i);
        (void)watch(name);
    }
    set_up_network();
    start_all();
}

/* ---- When all is well again ---- */

static void heal(void)
{
    memset(world.cut, 0, sizeof world.cut);
    world.loss = world.twice = 0;
    world.delay_min = MS / 2;
    world.delay_max = 2 * MS;
    world.write_min = world.write_max = 2 * MS;
    for (el_node node = 1; node <= world.count; node++) {
        struct hosted *h = &world.hosts[node];
        h->is_stuck = false;
        h->paused_until = 0;
        if (h->written_at > world.now + 2 * MS) h->written_at = world.now + 2 * MS;
        if (!h->alive) start(node);
    }
    for (unsigned i = 0; i < world.watched_count; i++) {
        const el_node wants = (el_node)dice(world.count) + 1;
        for (el_node node = 1; node <= world.count; node++)
            if (may_lead(node)) stand(node, i, node == wants || !may_lead(wants) || one_in(3), dice(3));
    }
}

static void play(uint64_t run)
{
    set_up(run);
    const uint64_t end = world.now + TROUBLE_MS * MS;
    while (world.now < end) {
        pass(1 + dice(60));
        trouble();
    }
    heal();
    for (unsigned ms = 0; ms < RECOVERY_MS; ms += 500) {
        pass(500);
        resign_the_unwilling();
    }
    for (unsigned i = 0; i < world.watched_count; i++) {
        judge_group(i);
        story.wins += world.watched[i].begun;
    }
    close_world();
}

static void there_is_one_leader_of_each_and_then_all_agree(void **state)
{
    struct runs runs = runs_of("ELECTOR_SESSION_RUNS", RUNS);
    uint64_t wins = 0, obituaries = 0, deaths = 0;
    for (uint64_t run = runs.first; runs_go_on(&runs, run); run++) {
        play(run);
        wins += story.wins;
        obituaries += story.obituaries;
        deaths += story.deaths;
    }
    print_message("%llu runs, %llu tenures, %llu deaths, %llu obituaries\n", (unsigned long long)runs.count,
                  (unsigned long long)wins, (unsigned long long)deaths, (unsigned long long)obituaries);
    if (runs.count < RUNS) return;
    assert_true(wins > 20 * runs.count); /* or nothing was at stake */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(there_is_one_leader_of_each_and_then_all_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
