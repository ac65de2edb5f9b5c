/* The sections and their keys: a table, and a function that reads each value. */
#include <grp.h>
#include <sodium.h>
#include <string.h>

#include "agent/config/internal.h"
#include "base/closest.h"
#include "base/units.h"

static struct config_member *member(struct config_reading *r)
{
    return &r->config->members[r->index];
}

static struct config_group *group(struct config_reading *r)
{
    return &r->config->groups[r->index];
}

/* ---- [cluster] ---- */

static bool read_name(struct config_reading *r, const char *value)
{
    if (!group_name_is_valid(value))
        return config_fail(r, r->line, "a cluster's name is 1 to 63 letters, digits and ._-:/, not '%s'",
                           value);
    snprintf(r->config->cluster, sizeof r->config->cluster, "%s", value);
    return true;
}

static bool read_cluster_id(struct config_reading *r, const char *value)
{
    size_t length = 0;
    const char *end = NULL;
    uint8_t *id = r->config->cluster_id;
    if (sodium_hex2bin(id, SEAL_CLUSTER_ID, value, strlen(value), NULL, &length, &end) == 0 && *end == '\0' &&
        length == SEAL_CLUSTER_ID && !sodium_is_zero(id, SEAL_CLUSTER_ID))
        return true;
    return config_fail(r, r->line,
                       "a cluster's id is 32 hexadecimal digits, not all 0; leave it out to have one made "
                       "from the name");
}

static bool read_drift(struct config_reading *r, const char *value)
{
    if (units_millionths(value, 500000, &r->config->drift)) return true;
    return config_fail(r, r->line, "'drift' is a number from 0 to 0.5, such as 0.01, not '%s'", value);
}

static bool read_transmit(struct config_reading *r, const char *value)
{
    r->transmit_line = r->line;
    if (units_time(value, &r->config->transmit_max)) return true;
    return config_fail(r, r->line, "'transmit' is a time with its unit, such as 20ms, not '%s'", value);
}

static bool read_profile(struct config_reading *r, const char *value)
{
    r->config->profile = config_profile_named(value);
    if (r->config->profile) return true;
    return config_fail(r, r->line, "'profile' is lan, fast, realtime or wan, not '%s'", value);
}

/* ---- [member NAME] ---- */

static bool read_id(struct config_reading *r, const char *value)
{
    uint64_t id = 0;
    if (!units_number(value, 1000, &id) || id == 0)
        return config_fail(r, r->line, "a member's id is a whole number from 1 to 1000, not '%s'", value);
    member(r)->id = id;
    return true;
}

static bool read_first_address(struct config_reading *r, const char *value)
{
    char reason[200];
    struct config_member *m = member(r);
    bool is_missing = false;
    if (strcmp(value, "dynamic") == 0) {
        m->is_dynamic = true;
        return true;
    }
    if (!config_is_numeric(value)) snprintf(m->host_name, sizeof m->host_name, "%s", value);
    if (config_address_of(value, r->form_only, &m->address, &is_missing, reason, sizeof reason)) return true;
    m->is_unresolved =
        is_missing && r->is_patient && config_address_of(value, true, &m->address, NULL, reason, sizeof reason);
    return m->is_unresolved || config_fail(r, r->line, "%s", reason);
}

static bool read_other_address(struct config_reading *r, const char *value)
{
    char reason[200];
    struct config_member *m = member(r);
    if (m->is_dynamic)
        return config_fail(r, r->line, "a dynamic member has no other addresses; write dynamic alone");
    if (m->other_count == CONFIG_ADDRESSES_MAX - 1)
        return config_fail(r, r->line, "a member has at most %d addresses", (int)CONFIG_ADDRESSES_MAX);
    struct sockaddr_storage *address = &m->others[m->other_count];
    if (!config_address_of(value, true, address, NULL, reason, sizeof reason))
        return config_fail(r, r->line, "%s", reason);
    if (!config_is_numeric(value))
        return config_fail(r, r->line,
                           "only the first address of a member may be a name, not '%s'; write a number", value);
    m->other_count++;
    return true;
}

/* One, or several with commas between them. */
static bool read_address(struct config_reading *r, const char *value)
{
    char one[264];
    for (bool is_first = true, is_more = true; is_more; is_first = false) {
        const size_t length = strcspn(value, ",");
        snprintf(one, sizeof one, "%.*s", (int)length, value);
        for (size_t size = strlen(one); size && strchr(" \t", one[size - 1]); size--) one[size - 1] = '\0';
        if (!(is_first ? read_first_address(r, one) : read_other_address(r, one))) return false;
        is_more = value[length] == ',';
        value += length + is_more;
        value += strspn(value, " \t");
    }
    return true;
}

static bool read_role(struct config_reading *r, const char *value)
{
    for (enum config_role role = 0; role < CONFIG_ROLES; role++) {
        if (strcmp(value, config_role_name(role)) != 0) continue;
        member(r)->role = role;
        return true;
    }
    return config_fail(r, r->line, "'role' is voter, witness, observer or candidate, not '%s'", value);
}

static bool read_key(struct config_reading *r, const char *value)
{
    member(r)->has_key = config_key_of(value, member(r)->public_key);
    if (member(r)->has_key) return true;
    return config_fail(r, r->line,
                       "'key' is the base64 of a public key, 44 characters, as `elector keygen` prints it");
}

/* ---- [agent] ---- */

static bool read_self(struct config_reading *r, const char *value)
{
    r->self_line = r->line;
    if (!config_is_member_name(value))
        return config_fail(r, r->line, "'self' is the name of a member, not '%s'", value);
    snprintf(r->self, sizeof r->self, "%s", value);
    return true;
}

/* A relative path starts from the folder of the configuration file. */
static bool read_path(struct config_reading *r, const char *value, char *path, size_t size)
{
    const char *slash = strrchr(r->path, '/');
    const int folder = value[0] == '/' || !slash ? 0 : (int)(slash - r->path) + 1;
    if (*value == '\0') return config_fail(r, r->line, "the name of a file is missing");
    if ((size_t)snprintf(path, size, "%.*s%s", folder, r->path, value) < size) return true;
    return config_fail(r, r->line, "that path is longer than %zu characters; choose a shorter one", size - 1);
}

static bool read_key_file(struct config_reading *r, const char *value)
{
    r->key_file_line = r->line;
    return read_path(r, value, r->key_file, sizeof r->key_file);
}

static bool read_cluster_key_file(struct config_reading *r, const char *value)
{
    r->cluster_key_file_line = r->line;
    return read_path(r, value, r->cluster_key_file, sizeof r->cluster_key_file);
}

static bool read_socket(struct config_reading *r, const char *value)
{
    return read_path(r, value, r->config->socket, sizeof r->config->socket);
}

static bool read_socket_mode(struct config_reading *r, const char *value)
{
    uint64_t mode = 0;
    if (!units_octal(value, 0777, &mode) || (mode & 0600) != 0600)
        return config_fail(r, r->line,
                           "'socket-mode' is an octal mode from 0600 to 0777, such as 0660, not '%s'", value);
    r->config->socket_mode = (mode_t)mode;
    return true;
}

static bool read_socket_group(struct config_reading *r, const char *value)
{
    r->config->has_socket_group = true;
    if (r->form_only) return true;
    const struct group *found = getgrnam(value);
    if (!found)
        return config_fail(r, r->line, "there is no group '%s' on this host; create it, or name another",
                           value);
    r->config->socket_group = found->gr_gid;
    return true;
}

static bool read_limit(struct config_reading *r, const char *key, const char *value, uint32_t most,
                       uint32_t *limit)
{
    uint64_t number = 0;
    if (!units_number(value, most, &number) || number == 0)
        return config_fail(r, r->line, "'%s' is a whole number from 1 to %u, not '%s'", key, most, value);
    *limit = (uint32_t)number;
    return true;
}

static bool read_socket_per_user(struct config_reading *r, const char *value)
{
    return read_limit(r, "socket-per-user", value, CONFIG_CLIENTS_MAX, &r->config->socket_per_user);
}

static bool read_candidacies_per_user(struct config_reading *r, const char *value)
{
    return read_limit(r, "candidacies-per-user", value, CONFIG_CANDIDACIES_MAX,
                      &r->config->candidacies_per_user);
}

static bool read_observed_per_user(struct config_reading *r, const char *value)
{
    return read_limit(r, "observed-per-user", value, CONFIG_OBSERVED_MAX, &r->config->observed_per_user);
}

static bool read_value_bytes_per_user(struct config_reading *r, const char *value)
{
    return read_limit(r, "value-bytes-per-user", value, CONFIG_VALUE_BYTES_MAX,
                      &r->config->value_bytes_per_user);
}

static bool read_group_limit(struct config_reading *r, const char *value)
{
    return read_limit(r, "group-limit", value, CONFIG_GROUPS_LIMIT, &r->config->group_limit);
}

static bool read_stop_timeout(struct config_reading *r, const char *value)
{
    if (units_time(value, &r->config->stop_timeout) && r->config->stop_timeout <= 3600 * NS_PER_S) return true;
    return config_fail(r, r->line, "'stop-timeout' is a time up to 1h with its unit, such as 30s, not '%s'",
                       value);
}

static bool read_forget_after(struct config_reading *r, const char *value)
{
    r->config->forget_after = 0;
    if (strcmp(value, "off") == 0 ||
        (units_time(value, &r->config->forget_after) && r->config->forget_after >= NS_PER_S))
        return true;
    return config_fail(r, r->line, "'forget-after' is off, or a time of at least 1s, such as 3600s, not '%s'",
                       value);
}

static bool read_state(struct config_reading *r, const char *value)
{
    return read_path(r, value, r->config->state, sizeof r->config->state);
}

static bool read_http(struct config_reading *r, const char *value)
{
    char reason[200];
    struct config *config = r->config;
    config->http_is_default = false;
    memset(&config->http, 0, sizeof config->http);
    if (strcmp(value, "off") == 0 || config_http_of(value, r->form_only, &config->http, reason, sizeof reason))
        return true;
    config->http_is_unresolved =
        r->is_patient && config_http_of(value, true, &config->http, reason, sizeof reason);
    if (config->http_is_unresolved) {
        memset(&config->http, 0, sizeof config->http);
        return true;
    }
    return config_fail(r, r->line, "'http' is a port, an address or off: %s", reason);
}

static bool read_http_groups(struct config_reading *r, const char *value)
{
    uint64_t most = 0;
    if (!units_number(value, 1000000, &most))
        return config_fail(r, r->line, "'http-groups' is a whole number up to 1000000, not '%s'", value);
    r->config->http_groups = (uint32_t)most;
    return true;
}

static bool read_log(struct config_reading *r, const char *value)
{
    r->config->log = strcmp(value, "json") == 0 ? CONFIG_LOG_JSON : CONFIG_LOG_WORDS;
    if (r->config->log == CONFIG_LOG_JSON || strcmp(value, "words") == 0) return true;
    return config_fail(r, r->line, "'log' is words or json, not '%s'", value);
}

static bool read_verbose(struct config_reading *r, const char *value)
{
    if (units_switch(value, &r->config->verbose)) return true;
    return config_fail(r, r->line, "'verbose' is on or off, not '%s'", value);
}

static bool read_guardian(struct config_reading *r, const char *value)
{
    if (units_switch(value, &r->config->guardian)) return true;
    return config_fail(r, r->line, "'guardian' is on or off, not '%s'", value);
}

static bool read_seccomp(struct config_reading *r, const char *value)
{
    if (units_switch(value, &r->config->seccomp)) return true;
    return config_fail(r, r->line, "'seccomp' is on or off, not '%s'", value);
}

static bool read_recorder(struct config_reading *r, const char *value)
{
    r->config->recorder = 0;
    if (strcmp(value, "off") == 0 ||
        units_size(value, CONFIG_RECORDER_MIN, CONFIG_RECORDER_MAX, &r->config->recorder))
        return true;
    return config_fail(r, r->line, "'recorder' is off, or a size from 64KiB to 1GiB such as 4MiB, not '%s'",
                       value);
}

static bool read_recorder_file(struct config_reading *r, const char *value)
{
    return read_path(r, value, r->config->recorder_file, sizeof r->config->recorder_file);
}

/* ---- [group NAME] ---- */

static bool read_algorithm(struct config_reading *r, const char *value)
{
    group(r)->algorithm = el_algorithm_named(value);
    if (group(r)->algorithm) return true;
    struct closest closest = closest_to(value);
    uint32_t count = 0;
    const struct el_algorithm *const *all = el_algorithms(&count);
    for (uint32_t i = 0; i < count; i++) closest_offer(&closest, all[i]->name, strlen(all[i]->name));
    return config_fail(r, r->line, "there is no algorithm '%s'%s%s%s `elector algorithms` lists them", value,
                       closest.best[0] ? "; did you mean " : "", closest.best, closest.best[0] ? "?" : ";");
}

/* config_check_groups() checks later whether the algorithm has this option. */
static bool read_option(struct config_reading *r, const char *key, const char *value)
{
    struct config_group *g = group(r);
    if (g->option_count == CONFIG_OPTIONS_MAX)
        return config_fail(r, r->line, "a group has at most %d options", CONFIG_OPTIONS_MAX);
    for (uint32_t i = 0; i < g->option_count; i++)
        if (strcmp(g->options[i][0], key) == 0)
            return config_fail(r, r->line, "'%s' was set in line %u already; keep one of them", key,
                               r->option_lines[r->index][i]);
    char(*option)[64] = g->options[g->option_count];
    if (strlen(key) >= sizeof *option || strlen(value) >= sizeof *option)
        return config_fail(r, r->line, "an option's name and value have at most 63 characters each");
    snprintf(option[0], sizeof option[0], "%s", key);
    snprintf(option[1], sizeof option[1], "%s", value);
    r->option_lines[r->index][g->option_count++] = r->line;
    return true;
}

/* ---- The table ---- */

static const struct {
    enum config_section section;
    const char *name;
    bool (*read)(struct config_reading *, const char *value);
} keys[] = {
    {CONFIG_IN_CLUSTER, "name", read_name},
    {CONFIG_IN_CLUSTER, "id", read_cluster_id},
    {CONFIG_IN_CLUSTER, "drift", read_drift},
    {CONFIG_IN_CLUSTER, "transmit", read_transmit},
    {CONFIG_IN_CLUSTER, "profile", read_profile},
    {CONFIG_IN_MEMBER, "id", read_id},
    {CONFIG_IN_MEMBER, "address", read_address},
    {CONFIG_IN_MEMBER, "role", read_role},
    {CONFIG_IN_MEMBER, "key", read_key},
    {CONFIG_IN_AGENT, "self", read_self},
    {CONFIG_IN_AGENT, "key-file", read_key_file},
    {CONFIG_IN_AGENT, "cluster-key-file", read_cluster_key_file},
    {CONFIG_IN_AGENT, "socket", read_socket},
    {CONFIG_IN_AGENT, "socket-mode", read_socket_mode},
    {CONFIG_IN_AGENT, "socket-group", read_socket_group},
    {CONFIG_IN_AGENT, "socket-per-user", read_socket_per_user},
    {CONFIG_IN_AGENT, "candidacies-per-user", read_candidacies_per_user},
    {CONFIG_IN_AGENT, "observed-per-user", read_observed_per_user},
    {CONFIG_IN_AGENT, "value-bytes-per-user", read_value_bytes_per_user},
    {CONFIG_IN_AGENT, "group-limit", read_group_limit},
    {CONFIG_IN_AGENT, "stop-timeout", read_stop_timeout},
    {CONFIG_IN_AGENT, "forget-after", read_forget_after},
    {CONFIG_IN_AGENT, "state", read_state},
    {CONFIG_IN_AGENT, "http", read_http},
    {CONFIG_IN_AGENT, "http-groups", read_http_groups},
    {CONFIG_IN_AGENT, "log", read_log},
    {CONFIG_IN_AGENT, "verbose", read_verbose},
    {CONFIG_IN_AGENT, "guardian", read_guardian},
    {CONFIG_IN_AGENT, "seccomp", read_seccomp},
    {CONFIG_IN_AGENT, "recorder", read_recorder},
    {CONFIG_IN_AGENT, "recorder-file", read_recorder_file},
    {CONFIG_IN_GROUP, "algorithm", read_algorithm},
    {CONFIG_IN_GROUP, "allow", config_read_allow},
    {CONFIG_IN_GROUP, "allow-read", config_read_allow_read},
    {CONFIG_IN_GROUP, "allow-control", config_read_allow_control},
};
enum { KEYS = sizeof keys / sizeof *keys };
_Static_assert(KEYS <= 64, "config_reading.seen has a bit for each key");

static bool refuse_key(struct config_reading *r, const char *key)
{
    char names[400] = "", meant[CLOSEST_MAX + 32] = "";
    struct closest closest = closest_to(key);
    for (size_t i = 0; i < KEYS; i++) {
        const size_t used = strlen(names);
        if (keys[i].section != r->section) continue;
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", keys[i].name);
        closest_offer(&closest, keys[i].name, strlen(keys[i].name));
    }
    if (closest.best[0]) snprintf(meant, sizeof meant, "; did you mean '%s'?", closest.best);
    return config_fail(r, r->line, "there is no key '%s' in this section%s%s known keys: %s", key, meant,
                       closest.best[0] ? "" : ";", names);
}

bool config_read_key(struct config_reading *r, const char *key, const char *value)
{
    /* The line is not quoted: it may be a secret key, of a file that was taken for the configuration. */
    if (r->section == CONFIG_NO_SECTION)
        return config_fail(r, r->line,
                           "this line stands before any section; put [cluster] or another above it");
    for (uint32_t i = 0; i < KEYS; i++) {
        if (keys[i].section != r->section || strcmp(keys[i].name, key) != 0) continue;
        if (r->seen >> i & 1)
            return config_fail(r, r->line, "'%s' was set in this section already; keep one", key);
        r->seen |= UINT64_C(1) << i;
        return keys[i].read(r, value);
    }
    return r->section == CONFIG_IN_GROUP ? read_option(r, key, value) : refuse_key(r, key);
}

/* ---- Sections ---- */

static bool begin_member(struct config_reading *r, const char *name)
{
    struct config *config = r->config;
    if (!config_is_member_name(name))
        return config_fail(r, r->line, "a member's name is 1 to 63 letters, digits and ._-, not '%s'", name);
    const el_node same = config_position(config, name);
    if (same)
        return config_fail(r, r->line,
                           "member '%s' has a section in line %u already; give this one another name", name,
                           r->member_lines[same - 1]);
    if (config->member_count == CONFIG_MEMBERS_MAX)
        return config_fail(r, r->line, "a cluster has at most %d members", CONFIG_MEMBERS_MAX);
    r->index = config->member_count++;
    r->member_lines[r->index] = r->line;
    snprintf(member(r)->name, sizeof member(r)->name, "%s", name);
    return true;
}

/* A name, or a prefix followed by a star. */
static bool is_pattern(const char *name)
{
    char prefix[CONFIG_NAME_MAX + 1];
    const size_t length = strlen(name);
    if (length == 0 || length > CONFIG_NAME_MAX) return false;
    snprintf(prefix, sizeof prefix, "%s", name);
    if (prefix[length - 1] == '*') prefix[length - 1] = '\0';
    return (length == 1 && name[0] == '*') || group_name_is_valid(prefix);
}

static bool begin_group(struct config_reading *r, const char *name)
{
    struct config *config = r->config;
    if (!is_pattern(name))
        return config_fail(r, r->line,
                           "a group's name is 1 to 63 letters, digits and ._-:/, and may end in *, not '%s'",
                           name);
    for (uint32_t i = 0; i < config->group_count; i++)
        if (strcmp(config->groups[i].name, name) == 0)
            return config_fail(r, r->line, "group '%s' has a section in line %u already; merge them", name,
                               r->group_lines[i]);
    if (config->group_count == CONFIG_GROUPS_MAX)
        return config_fail(r, r->line, "there are at most %d sections for groups; use [group PREFIX*] for many",
                           CONFIG_GROUPS_MAX);
    r->index = config->group_count++;
    r->group_lines[r->index] = r->line;
    snprintf(group(r)->name, sizeof group(r)->name, "%s", name);
    group(r)->algorithm = el_algorithm_named("quorum");
    return true;
}

static bool begin_only(struct config_reading *r, const char *name, enum config_section section)
{
    if (r->sections & 1u << section)
        return config_fail(r, r->line, "there is a section [%s] already; merge them", name);
    r->sections |= 1u << section;
    return true;
}

bool config_begin_section(struct config_reading *r, const char *name)
{
    r->seen = 0;
    r->section = CONFIG_NO_SECTION;
    if (strcmp(name, "cluster") == 0) {
        r->section = CONFIG_IN_CLUSTER;
        return begin_only(r, name, r->section);
    }
    if (strcmp(name, "agent") == 0) {
        r->section = CONFIG_IN_AGENT;
        return begin_only(r, name, r->section);
    }
    if (strncmp(name, "member ", 7) == 0) {
        r->section = CONFIG_IN_MEMBER;
        return begin_member(r, name + 7);
    }
    if (strncmp(name, "group ", 6) == 0) {
        r->section = CONFIG_IN_GROUP;
        return begin_group(r, name + 6);
    }
    return config_fail(
        r, r->line, "there is no section [%s]; known sections: cluster, member NAME, agent, group NAME", name);
}
