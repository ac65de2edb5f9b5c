/* What a running agent takes over of a configuration that was read again: see config_merge() in config.h. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config/internal.h"
#include "base/units.h"

struct merging {
    const struct config *running;
    struct config *fresh;
    void (*tell)(void *context, const struct config_difference *);
    void *context;
    uint32_t count;
};

static void tell(struct merging *m, const char *section, const char *key, const char *was, const char *is)
{
    const struct config_difference difference = {section, key, was, is};
    m->count++;
    if (m->tell) m->tell(m->context, &difference);
}

static void compare(struct merging *m, const char *section, const char *key, const char *was, const char *is)
{
    if (strcmp(was, is) != 0) tell(m, section, key, was, is);
}

/* ---- [cluster] and [agent] ---- */

static void merge_cluster(struct merging *m)
{
    const struct config *a = m->running;
    struct config *b = m->fresh;
    char was[2 * SEAL_CLUSTER_ID + 1], is[2 * SEAL_CLUSTER_ID + 1];
    compare(m, "[cluster]", "name", a->cluster, b->cluster);
    sodium_bin2hex(was, sizeof was, a->cluster_id, SEAL_CLUSTER_ID);
    sodium_bin2hex(is, sizeof is, b->cluster_id, SEAL_CLUSTER_ID);
    compare(m, "[cluster]", "id", was, is);
    snprintf(was, sizeof was, "%u.%06u", a->drift / 1000000, a->drift % 1000000);
    snprintf(is, sizeof is, "%u.%06u", b->drift / 1000000, b->drift % 1000000);
    compare(m, "[cluster]", "drift", was, is);
    compare(m, "[cluster]", "transmit", units_write_time(a->transmit_max, was),
            units_write_time(b->transmit_max, is));
    compare(m, "[cluster]", "profile", a->profile ? a->profile->name : "lan",
            b->profile ? b->profile->name : "lan");
    memcpy(b->cluster, a->cluster, sizeof b->cluster);
    memcpy(b->cluster_id, a->cluster_id, sizeof b->cluster_id);
    b->drift = a->drift;
    b->transmit_max = a->transmit_max;
    b->profile = a->profile;
}

static const char *switch_of(bool is_on)
{
    return is_on ? "on" : "off";
}

static const char *http_of(const struct config *config, char text[80])
{
    snprintf(text, 80, "off");
    if (config->http.ss_family) config_write_address(&config->http, text, 80);
    return text;
}

static void merge_agent(struct merging *m)
{
    const struct config *a = m->running;
    struct config *b = m->fresh;
    char was[80], is[80];
    compare(m, "[agent]", "socket", a->socket, b->socket);
    compare(m, "[agent]", "state", a->state, b->state);
    compare(m, "[agent]", "http", http_of(a, was), http_of(b, is));
    compare(m, "[agent]", "seccomp", switch_of(a->seccomp), switch_of(b->seccomp));
    compare(m, "[agent]", "recorder-file", a->recorder_file, b->recorder_file);
    snprintf(was, sizeof was, "%llu", (unsigned long long)a->recorder);
    snprintf(is, sizeof is, "%llu", (unsigned long long)b->recorder);
    compare(m, "[agent]", "recorder", was, is);
    snprintf(was, sizeof was, "%u", a->group_limit);
    snprintf(is, sizeof is, "%u", b->group_limit);
    compare(m, "[agent]", "group-limit", was, is);
    snprintf(was, sizeof was, "%04o", (unsigned)a->socket_mode);
    snprintf(is, sizeof is, "%04o", (unsigned)b->socket_mode);
    compare(m, "[agent]", "socket-mode", was, is);
    snprintf(was, sizeof was, a->has_socket_group ? "gid %u" : "none", (unsigned)a->socket_group);
    snprintf(is, sizeof is, b->has_socket_group ? "gid %u" : "none", (unsigned)b->socket_group);
    compare(m, "[agent]", "socket-group", was, is);
    memcpy(b->socket, a->socket, sizeof b->socket);
    memcpy(b->state, a->state, sizeof b->state);
    memcpy(b->recorder_file, a->recorder_file, sizeof b->recorder_file);
    b->http = a->http;
    b->http_is_default = a->http_is_default;
    b->http_is_unresolved = a->http_is_unresolved;
    b->seccomp = a->seccomp;
    b->recorder = a->recorder;
    b->group_limit = a->group_limit;
    b->socket_mode = a->socket_mode;
    b->socket_group = a->socket_group;
    b->has_socket_group = a->has_socket_group;
}

/* ---- [member NAME] ---- */

static const char *role_of(const struct config_member *member)
{
    return config_role_name(member->role);
}

/* All but the first, which may be a name. */
static const char *write_others(const struct config_member *member, char text[CONFIG_PLACE_TEXT])
{
    size_t used =
        (size_t)snprintf(text, CONFIG_PLACE_TEXT, member->other_count ? "" : "none besides the first");
    for (uint32_t i = 0; i < member->other_count && used < CONFIG_PLACE_TEXT; i++) {
        char address[80];
        config_write_address(&member->others[i], address, sizeof address);
        used += (size_t)snprintf(text + used, CONFIG_PLACE_TEXT - used, "%s%s", i ? "," : "", address);
    }
    return text;
}

static void compare_members(struct merging *m, const struct config_member *a, const struct config_member *b)
{
    char section[CONFIG_NAME_MAX + 16], was[CONFIG_PLACE_TEXT], is[CONFIG_PLACE_TEXT];
    snprintf(section, sizeof section, "[member %s]", a->name);
    snprintf(was, sizeof was, "%llu", (unsigned long long)a->id);
    snprintf(is, sizeof is, "%llu", (unsigned long long)b->id);
    compare(m, section, "id", was, is);
    compare(m, section, "role", role_of(a), role_of(b));
    config_write_address(&a->address, was, sizeof was);
    config_write_address(&b->address, is, sizeof is);
    if (a->is_dynamic || b->is_dynamic)
        compare(m, section, "address", a->is_dynamic ? "dynamic" : was, b->is_dynamic ? "dynamic" : is);
    else if (strcmp(a->host_name, b->host_name) != 0)
        tell(m, section, "address", a->host_name[0] ? a->host_name : was, b->host_name[0] ? b->host_name : is);
    else if (!a->host_name[0])
        compare(m, section, "address", was, is);
    compare(m, section, "address", write_others(a, was), write_others(b, is));
    if (memcmp(a->public_key, b->public_key, SEAL_KEY) != 0)
        tell(m, section, "key", a->has_key ? config_write_key(a->public_key, was) : "none",
             b->has_key ? config_write_key(b->public_key, is) : "none");
}

/* The members stay as they are, except for addresses that were looked up by the same name. */
static void merge_members(struct merging *m)
{
    const struct config *a = m->running;
    struct config *b = m->fresh;
    for (uint32_t i = 0; i < a->member_count; i++) {
        const el_node place = config_position(b, a->members[i].name);
        if (place)
            compare_members(m, &a->members[i], &b->members[place - 1]);
        else
            tell(m, "[member]", a->members[i].name, "a member", "none");
    }
    for (uint32_t i = 0; i < b->member_count; i++)
        if (!config_position(a, b->members[i].name))
            tell(m, "[member]", b->members[i].name, "none", "a member");
    compare(m, "[agent]", "self", a->members[a->self - 1].name, b->members[b->self - 1].name);
    if (a->has_keys != b->has_keys)
        tell(m, "[agent]", "key-file", a->has_keys ? "set" : "none", b->has_keys ? "set" : "none");
    memcpy(b->members, a->members, sizeof b->members);
    b->member_count = a->member_count;
    b->self = a->self;
    b->has_keys = a->has_keys;
}

/* ---- [group NAME] ---- */

static const char *option_of(const struct config_group *group, const char *name)
{
    for (uint32_t i = 0; i < group->option_count; i++)
        if (strcmp(group->options[i][0], name) == 0) return group->options[i][1];
    return "not set";
}

static void compare_groups(struct merging *m, const struct config_group *a, const struct config_group *b)
{
    char section[CONFIG_NAME_MAX + 16];
    snprintf(section, sizeof section, "[group %s]", a->name);
    compare(m, section, "algorithm", a->algorithm->name, b->algorithm->name);
    for (uint32_t i = 0; i < a->option_count; i++)
        compare(m, section, a->options[i][0], a->options[i][1], option_of(b, a->options[i][0]));
    for (uint32_t i = 0; i < b->option_count; i++)
        if (strcmp(option_of(a, b->options[i][0]), "not set") == 0)
            tell(m, section, b->options[i][0], "not set", b->options[i][1]);
}

static struct config_group *group_named(struct config *config, const char *name)
{
    for (uint32_t i = 0; i < config->group_count; i++)
        if (strcmp(config->groups[i].name, name) == 0) return &config->groups[i];
    return NULL;
}

/* Sections keep their places, since sessions refer to them. Their rights are the new ones. `merged` has room for all. */
static void merge_groups(struct merging *m, struct config_group *merged)
{
    const struct config *a = m->running;
    struct config *b = m->fresh;
    uint32_t count = a->group_count;
    for (uint32_t i = 0; i < a->group_count; i++) {
        const struct config_group *again = group_named(b, a->groups[i].name);
        char section[CONFIG_NAME_MAX + 16];
        merged[i] = a->groups[i];
        if (again) {
            compare_groups(m, &a->groups[i], again);
            memcpy(merged[i].allowed, again->allowed, sizeof merged[i].allowed);
        } else {
            snprintf(section, sizeof section, "[group %s]", a->groups[i].name);
            tell(m, section, "section", "there", "removed");
        }
    }
    for (uint32_t i = 0; i < b->group_count; i++) {
        bool is_known = false;
        for (uint32_t k = 0; k < a->group_count; k++)
            is_known |= strcmp(a->groups[k].name, b->groups[i].name) == 0;
        if (!is_known && count < CONFIG_GROUPS_MAX)
            merged[count++] = b->groups[i];
        else if (!is_known)
            tell(m, "[group]", b->groups[i].name, "not there", "one section too many");
    }
    memcpy(b->groups, merged, count * sizeof *merged);
    b->group_count = count;
    b->restricts_reading = false;
    for (uint32_t i = 0; i < count; i++) b->restricts_reading |= b->groups[i].allowed[CONFIG_READ].is_set;
}

/* ---- All of it ---- */

uint32_t config_merge(const struct config *running, struct config *fresh,
                      void (*tell_of)(void *context, const struct config_difference *), void *context)
{
    struct merging m = {.running = running, .fresh = fresh, .tell = tell_of, .context = context};
    struct config_group *merged = malloc(CONFIG_GROUPS_MAX * sizeof *merged);
    struct config_member *looked_up = malloc(sizeof fresh->members);
    if (!merged || !looked_up) {
        free(merged);
        free(looked_up);
        *fresh = *running;
        tell(&m, "all", "sections", "as they were", "not taken over: out of memory");
        return m.count;
    }
    memcpy(looked_up, fresh->members, sizeof fresh->members);
    merge_cluster(&m);
    merge_agent(&m);
    merge_members(&m);
    merge_groups(&m, merged);
    for (uint32_t i = 0; i < fresh->member_count; i++)
        for (uint32_t k = 0; k < CONFIG_MEMBERS_MAX; k++)
            if (strcmp(looked_up[k].name, fresh->members[i].name) == 0 && i + 1 != fresh->self)
                (void)config_adopt_address(&fresh->members[i], &looked_up[k]);
    free(merged);
    free(looked_up);
    return m.count;
}

bool config_adopt_address(struct config_member *member, const struct config_member *looked_up)
{
    char was[80], is[80];
    if (!member->host_name[0] || strcmp(member->host_name, looked_up->host_name) != 0 ||
        looked_up->is_unresolved)
        return false;
    config_write_address(&member->address, was, sizeof was);
    config_write_address(&looked_up->address, is, sizeof is);
    if (!member->is_unresolved && strcmp(was, is) == 0) return false;
    member->address = looked_up->address;
    member->is_unresolved = false;
    return true;
}
