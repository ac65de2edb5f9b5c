/* The values of an algorithm's options in one group: its presets, and what the configuration says instead. */
#ifndef ELECTOR_AGENT_SETTINGS_H
#define ELECTOR_AGENT_SETTINGS_H

#include "agent/config.h"

enum { SETTINGS_MAX = 24 };

/* False with the reason: an option that there is not, a value that is none, times that do not fit together. */
bool settings_read(const struct config *, const struct config_group *, const struct el_algorithm *,
                   struct el_value values[SETTINGS_MAX], char *text, size_t size);
/* The value of an option by name; `otherwise` if the algorithm has none of that name. */
uint64_t settings_number(const struct el_algorithm *, const struct el_value *, const char *name,
                         uint64_t otherwise);
/* A time as a user types it: 150ms, 2s, 1.5s, 100us. */
bool settings_duration(const char *text, el_duration *);

#endif
