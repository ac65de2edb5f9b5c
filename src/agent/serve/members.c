/* Describes the members as JSON: for `status`, for `members`, and what is pending until agents restart. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>

#include "agent/serve/internal.h"
#include "base/clock.h"

enum { SECTIONS_MAX = 16 }; /* that differ, and are told with their votes */

/* ---- One member ---- */

static json_t *describe_presence(const struct serve *serve, el_node member)
{
    const struct config_member *m = &serve->config->members[member - 1];
    const bool is_self = member == serve->config->self;
    const bool talks = config_talks(serve->config, serve->config->self, member);
    const uint64_t heard = is_self ? 0 : serve_heard(serve, member);
    char address[CONFIG_PLACE_TEXT] = "";
    if (m->address.ss_family) config_write_place(serve->config, member, address, sizeof address);
    return json_pack("{so sI ss so so so so*}", "name", serve_text(m->name), "id", (json_int_t)m->id, "role",
                     config_role_name(m->role), "address", serve_text(address), "reachable",
                     !talks ? json_null() : json_boolean(is_self || host_hears(serve->host, member)),
                     "heard_ms",
                     heard == UINT64_MAX ? json_null() : json_integer((json_int_t)(heard / NS_PER_MS)),
                     "differs", serve_describe_differences(serve, member));
}

/* What tells a member from another of the same name: the beginning of its public key. Agents of earlier versions do not tell
 * theirs. */
static json_t *add_identity(const struct serve *serve, el_node member, json_t *object)
{
    const struct config_member *m = &serve->config->members[member - 1];
    char key[CONFIG_KEY_TEXT];
    if (m->has_key) json_object_set_new(object, "key", json_string(config_write_key(m->public_key, key)));
    const char *version = member == serve->config->self ? ELECTOR_VERSION
                          : serve->exchange             ? exchange_version(serve->exchange, member)
                                                        : NULL;
    if (version) json_object_set_new(object, "version", serve_text(version));
    char theirs[EXCHANGE_VERSIONS_TEXT];
    if (!serve_understands(serve, member, theirs)) json_object_set_new(object, "speaks", serve_text(theirs));
    return object;
}

static json_t *add_silence(const struct serve *serve, el_node member, json_t *object)
{
    bool is_lost;
    const uint64_t silence = serve_silence(serve, member, &is_lost);
    if (silence)
        json_object_set_new(object, "silent_ms",
                            json_integer((json_int_t)((silence + NS_PER_MS - 1) / NS_PER_MS)));
    if (is_lost) json_object_set_new(object, "lost_record", json_true());
    return object;
}

static json_t *describe_member(const struct serve *serve, el_node member)
{
    return add_silence(serve, member, add_identity(serve, member, describe_presence(serve, member)));
}

json_t *serve_describe_members(const struct serve *serve)
{
    json_t *members = json_array();
    for (el_node member = 1; members && member <= serve->config->member_count; member++)
        json_array_append_new(members, describe_member(serve, member));
    return members;
}

/* ---- All of them ---- */

static bool is_counted(const struct serve *serve, el_node member)
{
    if (!serve_grants(serve, member)) return false;
    return member == serve->config->self || (host_hears(serve->host, member) && !serve_differs(serve, member));
}

/* If all that the member differs in is sections, it counts in other groups. Pattern NULL: in those. */
static bool is_counted_in(const struct serve *serve, el_node member, const char *pattern)
{
    if (is_counted(serve, member)) return true;
    if (member == serve->config->self || !serve_grants(serve, member) || !host_hears(serve->host, member))
        return false;
    if (!serve->exchange || !exchange_knows(serve->exchange, member) || !serve_understands(serve, member, NULL))
        return false;
    return pattern ? !exchange_differs(serve->exchange, member, pattern)
                   : !exchange_differs_everywhere(serve->exchange, member);
}

static json_int_t count_in(const struct serve *serve, const char *pattern)
{
    json_int_t counted = 0;
    for (el_node member = 1; member <= serve->config->member_count; member++)
        counted += config_votes(serve->config, member) && is_counted_in(serve, member, pattern);
    return counted;
}

static uint32_t list_sections(const struct serve *serve, const char *patterns[SECTIONS_MAX])
{
    uint32_t count = 0;
    for (el_node member = 1; serve->exchange && member <= serve->config->member_count; member++) {
        const char *found[SECTIONS_MAX];
        if (member == serve->config->self || !config_votes(serve->config, member)) continue;
        if (!host_hears(serve->host, member)) continue;
        const uint32_t most = exchange_differing_sections(serve->exchange, member, found, SECTIONS_MAX);
        for (uint32_t i = 0; i < most; i++) {
            bool is_known = false;
            for (uint32_t k = 0; k < count && !is_known; k++) is_known = strcmp(patterns[k], found[i]) == 0;
            if (!is_known && count < SECTIONS_MAX) patterns[count++] = found[i];
        }
    }
    return count;
}

void serve_add_sections(const struct serve *serve, json_t *line)
{
    const char *patterns[SECTIONS_MAX];
    const uint32_t count = list_sections(serve, patterns);
    json_t *list = count && line ? json_array() : NULL;
    if (!list) return;
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{so sI}", "section", serve_text(patterns[i]), "votes_counted",
                                              count_in(serve, patterns[i])));
    json_object_set_new(line, "differing", list);
    json_object_set_new(line, "votes_elsewhere", json_integer(count_in(serve, NULL)));
}

json_t *serve_members(const struct serve *serve)
{
    const struct config *config = serve->config;
    char list[17], speaks[8];
    uint32_t votes = 0, counted = 0;
    for (el_node member = 1; member <= config->member_count; member++) {
        if (!config_votes(config, member)) continue;
        votes++;
        counted += is_counted(serve, member);
    }
    snprintf(speaks, sizeof speaks, "%d", (int)PAYLOAD_VERSION);
    snprintf(list, sizeof list, "%016" PRIx64, host_members(serve->host));
    json_t *line =
        json_pack("{sb so so ss sI sI sI ss so so}", "ok", 1, "member",
                  serve_text(config->members[config->self - 1].name), "cluster", serve_text(config->cluster),
                  "list", list, "votes", (json_int_t)votes, "votes_counted", (json_int_t)counted, "majority",
                  (json_int_t)votes / 2 + 1, "speaks", speaks, "members", serve_describe_members(serve),
                  "restart", serve_list_differences(serve->restart, serve->restart_count));
    serve_add_sections(serve, line);
    return line;
}

/* ---- What waits for a restart of this agent ---- */

void serve_await_restart(struct serve *serve, const struct config_difference *d)
{
    if (serve->restart_count == SERVE_RESTART_MAX) return;
    struct exchange_difference *one = &serve->restart[serve->restart_count++];
    snprintf(one->what, sizeof one->what, "%s %s", d->section, d->key);
    snprintf(one->ours, sizeof one->ours, "%s", d->was);
    snprintf(one->theirs, sizeof one->theirs, "%s", d->is);
}

void serve_await_no_restart(struct serve *serve)
{
    serve->restart_count = 0;
}
