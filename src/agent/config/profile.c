/* Profiles: consistent times for quorum, by kind of network. docs/operations.md says how they were chosen. */
#include <string.h>

#include "agent/config/internal.h"
#include "base/clock.h"

static const struct config_profile profiles[] = {
    {.name = "lan",
     .transmit_max = 10 * NS_PER_MS,
     .options =
         {{"lease", "1s"}, {"beat", "150ms"}, {"margin", "50ms"}, {"re-ask", "200ms"}, {"stagger", "25ms"}}},
    {.name = "fast",
     .transmit_max = 2 * NS_PER_MS,
     .options =
         {{"lease", "500ms"}, {"beat", "60ms"}, {"margin", "30ms"}, {"re-ask", "80ms"}, {"stagger", "6ms"}}},
    {.name = "realtime",
     .is_realtime = true,
     .transmit_max = 1 * NS_PER_MS,
     .options = {{"lease", "30ms"},
                 {"beat", "4ms"},
                 {"margin", "4ms"},
                 {"re-ask", "5ms"},
                 {"stagger", "4ms"},
                 {"block", "6"}}}, /* votes times `block` stay below the promise in ms, up to five votes */
    {.name = "wan",
     .transmit_max = 150 * NS_PER_MS,
     .options =
         {{"lease", "4s"}, {"beat", "500ms"}, {"margin", "200ms"}, {"re-ask", "700ms"}, {"stagger", "320ms"}}},
};

const struct config_profile *config_profile_named(const char *name)
{
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (strcmp(profiles[i].name, name) == 0) return &profiles[i];
    return NULL;
}

const char *config_default(const struct config_profile *profile, const struct el_algorithm *algorithm,
                           const struct el_option *option)
{
    if (profile && strcmp(algorithm->name, "quorum") == 0)
        for (size_t i = 0; i < CONFIG_PROFILE_OPTIONS && profile->options[i].name; i++)
            if (strcmp(profile->options[i].name, option->name) == 0) return profile->options[i].value;
    return option->preset;
}
