/* Writes a configuration in a few lines, as it was understood. */
#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "agent/config/config.h"
#include "base/units.h"

const char *config_role_name(enum config_role role)
{
    static const char *const names[CONFIG_ROLES] = {[CONFIG_VOTER] = "voter",
                                                    [CONFIG_WITNESS] = "witness",
                                                    [CONFIG_OBSERVER] = "observer",
                                                    [CONFIG_CANDIDATE] = "candidate"};
    return names[role];
}

static void describe_members(const struct config *config, FILE *out)
{
    uint32_t votes = 0;
    for (uint32_t i = 0; i < config->member_count; i++) {
        const struct config_member *member = &config->members[i];
        char address[CONFIG_PLACE_TEXT];
        config_write_place(config, i + 1, address, sizeof address);
        fprintf(out, "  %-12s id %-4" PRIu64 " %-22s %s%s\n", member->name, member->id, address,
                config_role_name(member->role), i + 1 == config->self ? ", this agent" : "");
        votes += config_votes(config, i + 1);
    }
    fprintf(out, "  %u of %u votes elect, so %u may fail%s\n", votes / 2 + 1, votes, votes - (votes / 2 + 1),
            votes % 2 == 0 ? "; an odd number with one vote less tolerates as many failures" : "");
}

static void describe_group(const struct config_group *group, FILE *out)
{
    static const char *const verbs[] = {
        [CONFIG_READ] = "read", [CONFIG_CAMPAIGN] = "campaign", [CONFIG_CONTROL] = "control"};
    fprintf(out, "  %-12s %s", group->name, group->algorithm->name);
    for (uint32_t i = 0; i < group->option_count; i++)
        fprintf(out, ", %s %s", group->options[i][0], group->options[i][1]);
    for (enum config_right right = CONFIG_READ; right < CONFIG_RIGHTS; right++) {
        const struct config_allowed *allowed = &group->allowed[right];
        if (allowed->is_set && allowed->is_everybody)
            fprintf(out, "; everybody may %s", verbs[right]);
        else if (allowed->is_set)
            fprintf(out, "; only %u users and %u groups may %s", allowed->user_count, allowed->group_count,
                    verbs[right]);
    }
    fputc('\n', out);
}

void config_each_unresolved(const struct config *config, void (*tell)(void *context, const char *text),
                            void *context)
{
    char text[400];
    if (config->http_is_unresolved)
        tell(context, "the host of `http` is not found: HTTP is off until a restart");
    for (uint32_t i = 0; i < config->member_count; i++) {
        const struct config_member *member = &config->members[i];
        if (!member->is_unresolved || member->is_dynamic) continue;
        snprintf(text, sizeof text,
                 "the host of member %s, %.200s, is not found; an agent looks it up again until it is",
                 member->name, member->host_name);
        tell(context, text);
    }
}

static void describe_opening(void *out, const char *text)
{
    fprintf(out, "warning: %s\n", text);
}

static void describe_http(const struct config *config, FILE *out)
{
    char address[80] = "off";
    if (config->http.ss_family) config_write_address(&config->http, address, sizeof address);
    fprintf(out, "http %s\n", address);
}

bool config_describe(const struct config *config, FILE *out)
{
    char id[2 * SEAL_CLUSTER_ID + 1], time[UNITS_TIME_TEXT];
    sodium_bin2hex(id, sizeof id, config->cluster_id, SEAL_CLUSTER_ID);
    fprintf(out, "cluster %s, id %s\n", config->cluster, id);
    describe_members(config, out);
    fprintf(out, "  profile %s\n", config->profile ? config->profile->name : "lan");
    fprintf(out, "  messages take at most %s, clocks drift by at most %u.%06u\n",
            units_write_time(config->transmit_max, time), config->drift / 1000000, config->drift % 1000000);
    if (config->has_keys)
        fprintf(out, "traffic is sealed; cluster keys: %u\n", config->cluster_key_count);
    else
        fputs("traffic is not sealed, and stays on this host\n", out);
    describe_http(config, out);
    fprintf(
        out,
        "socket %s, mode %04o\none user has at most %u connections, %u candidacies, %u observed groups, and %u bytes "
        "of values\nthis agent has at most %u groups\nstate %s\ngroups\n",
        config->socket, (unsigned)config->socket_mode, config->socket_per_user, config->candidacies_per_user,
        config->observed_per_user, config->value_bytes_per_user, config->group_limit, config->state);
    bool all = false;
    for (uint32_t i = 0; i < config->group_count; i++) {
        describe_group(&config->groups[i], out);
        all = all || strcmp(config->groups[i].name, "*") == 0;
    }
    if (!all) fputs("  all others   quorum\n", out);
    config_each_opening(config, describe_opening, out);
    config_each_unresolved(config, describe_opening, out);
    return fflush(out) == 0 && !ferror(out);
}
