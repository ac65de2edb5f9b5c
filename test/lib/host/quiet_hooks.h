/* A host's hooks that do nothing. A fixture begins with them and replaces those that it is about. */
#ifndef ELECTOR_TEST_LIB_HOST_QUIET_HOOKS_H
#define ELECTOR_TEST_LIB_HOST_QUIET_HOOKS_H

#include <stdlib.h>

#include "agent/host/host.h"

static inline void quiet_send(void *context, el_node to, const uint8_t *payload, size_t size)
{
}

static inline void quiet_save(void *context, struct record_image *image)
{
    free(image);
}

static inline void quiet_changed(void *context, struct host_group *group)
{
}

static inline void quiet_note(void *context, struct host_group *group, const struct host_note *what)
{
}

static inline void quiet_warn(void *context, struct host_group *group, const char *text)
{
}

static inline uint64_t quiet_random(void *context)
{
    return 0;
}

/* `now` also tells the time of day. */
static inline struct host_hooks quiet_hooks(void *context, uint64_t (*now)(void *context))
{
    return (struct host_hooks){.context = context,
                               .now = now,
                               .send = quiet_send,
                               .save = quiet_save,
                               .changed = quiet_changed,
                               .note = quiet_note,
                               .warn = quiet_warn,
                               .random = quiet_random,
                               .wall_ms = now};
}

#endif
