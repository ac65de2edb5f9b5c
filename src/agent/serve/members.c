/* Describes the members as JSON: for `status`, for `members`, and what is pending until agents restart. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>

#include "agent/serve/internal.h"
#include "base/clock.h"

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

json_t *serve_describe_members(const struct serve *serve)
{
    json_t *members = json_array();
    for (el_node member = 1; members && member <= serve->config->member_count; member++)
        json_array_append_new(members, add_identity(serve, member, describe_presence(serve, member)));
    return members;
}

/* ---- All of them ---- */

static bool is_counted(const struct serve *serve, el_node member)
{
    if (member == serve->config->self) return true;
    return host_hears(serve->host, member) && !serve_differs(serve, member);
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
    return json_pack("{sb so so ss sI sI sI ss so so}", "ok", 1, "member",
                     serve_text(config->members[config->self - 1].name), "cluster", serve_text(config->cluster),
                     "list", list, "votes", (json_int_t)votes, "votes_counted", (json_int_t)counted, "majority",
                     (json_int_t)votes / 2 + 1, "speaks", speaks, "members", serve_describe_members(serve),
                     "restart", serve_list_differences(serve->restart, serve->restart_count));
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
