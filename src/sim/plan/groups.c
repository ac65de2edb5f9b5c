/* Many groups over the same members. */
#include "sim/plan/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "sim/plan/builder.h"

enum { RANKS = 1000000 };

static const char *last_of(const struct sim_settings *settings, const char *key)
{
    const char *value = NULL;
    for (size_t i = 0; i < settings->count; i++)
        if (strcmp(settings->list[i].key, key) == 0) value = settings->list[i].value;
    return value;
}

bool sim_groups_wanted(const struct sim_settings *settings)
{
    return last_of(settings, "groups") || last_of(settings, "group");
}

/* ---- Naming them ---- */

static int add_group(struct builder *b, struct sim_groups *groups, const char *at, const char *name,
                     size_t length, const char *algorithm)
{
    if (groups->count == SIM_GROUPS_MAX) return build_fail_at(b, at, "at most %d groups", SIM_GROUPS_MAX);
    if (length == 0 || length >= SIM_GROUP_NAME)
        return build_fail_at(b, at, "a group's name has 1 to %d characters", SIM_GROUP_NAME - 1);
    struct sim_group *group = build_one_more(&groups->list, &groups->count, sizeof *group);
    if (!group) return build_out_of_memory(b);
    *group = (struct sim_group){.settings.file = b->settings->file};
    memcpy(group->name, name, length);
    for (size_t i = 0; i + 1 < groups->count; i++)
        if (strcmp(groups->list[i].name, group->name) == 0)
            return build_fail_at(b, at, "there are two groups '%s'", group->name);
    for (size_t i = 0; i < b->settings->count; i++) {
        const struct sim_setting *s = &b->settings->list[i];
        if (!sim_settings_add(&group->settings, s->key, s->value, s->line, s->column))
            return build_out_of_memory(b);
    }
    if (algorithm && !sim_settings_add(&group->settings, "algorithm", algorithm, b->now->line, b->now->column))
        return build_out_of_memory(b);
    return 0;
}

static int name_numbered(struct builder *b, struct sim_groups *groups)
{
    const char *value = b->now->value, *at = value;
    uint64_t count = 0;
    if (!units_read_number(&at, &count) || !parse_end(&at) || count == 0 || count > SIM_GROUPS_MAX)
        return build_fail_at(b, value, "how many groups: a number from 1 to %d", SIM_GROUPS_MAX);
    for (uint64_t i = 1; i <= count; i++) {
        char name[24];
        const int length = snprintf(name, sizeof name, "%llu", (unsigned long long)i);
        if (add_group(b, groups, value, name, (size_t)length, NULL) != 0) return -1;
    }
    return 0;
}

static int name_one(struct builder *b, struct sim_groups *groups)
{
    const char *value = b->now->value, *equals = strchr(value, '=');
    if (!equals) return build_fail_at(b, value, "expected NAME=ALGORITHM");
    if (!el_algorithm_named(equals + 1))
        return build_fail_at(b, equals + 1, "there is no algorithm '%.40s'; `elector algorithms` lists them",
                             equals + 1);
    return add_group(b, groups, value, value, (size_t)(equals - value), equals + 1);
}

/* ---- Ranks ---- */

/* Sets each member's rank in this group by a hash of the group's name and the member's id (rendezvous
 * hashing). */
static bool spread_ranks(struct sim_group *group, const struct sim_plan *members)
{
    for (el_node node = 1; node <= members->cluster.count; node++) {
        unsigned char key[SIM_GROUP_NAME + sizeof(uint64_t)] = {0};
        char text[64];
        const uint64_t id = el_id(&members->cluster, node);
        memcpy(key, group->name, SIM_GROUP_NAME);
        for (unsigned i = 0; i < sizeof id; i++) key[SIM_GROUP_NAME + i] = (unsigned char)(id >> (8 * i));
        snprintf(text, sizeof text, "%llu=%llu", (unsigned long long)id,
                 (unsigned long long)(el_fingerprint(key, sizeof key).low % RANKS));
        if (!sim_settings_add(&group->settings, "attr", text, 0, 0)) return false;
    }
    return true;
}

/* Each group has its own seed for the election; all share one seed for the detector. */
static int plan_group(struct builder *b, struct sim_group *group)
{
    if (sim_plan_build(&group->plan, &group->settings, b->error) != 0) return -1;
    if (!last_of(b->settings, "attr")) {
        const bool ranked = spread_ranks(group, &group->plan);
        sim_plan_free(&group->plan);
        if (!ranked) return build_out_of_memory(b);
        if (sim_plan_build(&group->plan, &group->settings, b->error) != 0) return -1;
    }
    group->built = true;
    struct sim_random dice;
    sim_random_seed(&dice, group->plan.seed, el_fingerprint(group->name, SIM_GROUP_NAME).low);
    group->plan.seed = sim_random_next(&dice);
    return 0;
}

/* ---- All of them ---- */

int sim_groups_build(struct sim_groups *groups, const struct sim_settings *settings, struct sim_error *error)
{
    struct builder b = {.settings = settings, .error = error};
    *groups = (struct sim_groups){0};
    for (size_t i = 0; i < settings->count; i++) {
        b.now = &settings->list[i];
        if (strcmp(b.now->key, "groups") == 0 && name_numbered(&b, groups) != 0) return -1;
        if (strcmp(b.now->key, "group") == 0 && name_one(&b, groups) != 0) return -1;
    }
    b.now = NULL;
    for (size_t i = 0; i < groups->count; i++)
        if (plan_group(&b, &groups->list[i]) != 0) return -1;
    return 0;
}

bool sim_groups_run(struct sim_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        struct sim_group *group = &groups->list[i];
        group->world = sim_world_new(&group->plan, 0);
        group->result = group->world ? sim_world_run(group->world) : NULL;
        if (!group->result || group->result->out_of_memory) return false;
    }
    return true;
}

void sim_groups_free(struct sim_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        struct sim_group *group = &groups->list[i];
        sim_world_free(group->world);
        if (group->built) sim_plan_free(&group->plan);
        sim_settings_free(&group->settings);
    }
    free(groups->list);
    *groups = (struct sim_groups){0};
}
