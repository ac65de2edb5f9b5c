/* See bounds.h: the settings of a section, from the configuration. */
#include <string.h>

#include "cli/cluster/bounds.h"

enum { OPTIONS_MAX = 24 };

uint32_t bounds_role_count(const struct config *config, enum config_role role)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < config->member_count; i++) count += config->members[i].role == role;
    return count;
}

bool bounds_are_of(const struct config_group *section)
{
    return !section || !section->algorithm || strcmp(section->algorithm->name, "quorum") == 0;
}

static uint64_t option_of(const struct el_algorithm *algorithm, const struct el_value *values, const char *name)
{
    for (uint32_t i = 0; i < algorithm->option_count; i++)
        if (strcmp(algorithm->options[i].name, name) == 0) return values[i].number;
    return 0;
}

struct bounds_settings bounds_settings_of(const struct config *config, const struct config_group *section)
{
    const struct el_algorithm *quorum = el_algorithm_named("quorum");
    struct el_value values[OPTIONS_MAX] = {0};
    config_values(config->profile, section, quorum, values);
    return (struct bounds_settings){.lease = option_of(quorum, values, "lease"),
                                    .beat = option_of(quorum, values, "beat"),
                                    .margin = option_of(quorum, values, "margin"),
                                    .reask = option_of(quorum, values, "re-ask"),
                                    .stagger = option_of(quorum, values, "stagger"),
                                    .block = (uint32_t)option_of(quorum, values, "block"),
                                    .transmit = config->transmit_max,
                                    .process = CONFIG_PROCESS_MAX,
                                    .is_realtime = config_is_realtime(config),
                                    .drift = config->drift,
                                    .voters = bounds_role_count(config, CONFIG_VOTER),
                                    .witnesses = bounds_role_count(config, CONFIG_WITNESS),
                                    .observers = bounds_role_count(config, CONFIG_OBSERVER),
                                    .candidates = bounds_role_count(config, CONFIG_CANDIDATE)};
}

uint64_t bounds_shortest_stall(const struct config *config)
{
    uint64_t shortest = UINT64_MAX;
    for (uint32_t i = 0; i <= config->group_count; i++) {
        const struct config_group *section = i < config->group_count ? &config->groups[i] : NULL;
        if (!bounds_are_of(section)) continue;
        const struct bounds_settings settings = bounds_settings_of(config, section);
        const uint64_t stall = bounds_of(&settings).run_stall;
        if (stall < shortest) shortest = stall;
    }
    return shortest;
}
