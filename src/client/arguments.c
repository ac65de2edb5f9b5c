/* What an application passes, checked before anything else happens. */
#include <jansson.h>
#include <string.h>

#include "base/group_name.h"
#include "client/group_state.h"

enum { OPTIONS_SIZE_MAX = 4096 }; /* more is no struct that elector_options_init() was called for */

elector_status elector_check_group(elector *e, const char *group)
{
    if (group && group_name_is_valid_up_to(group, ELECTOR_GROUP_MAX)) return ELECTOR_OK;
    return engine_fail(
        e, ELECTOR_INVALID,
        "'%.80s' is not a group name: 1 to %d letters, digits and . _ - : /, not beginning with - or .",
        group ? group : "", ELECTOR_GROUP_MAX);
}

elector_status elector_check_member(elector *e, const char *member)
{
    if (member && *member && strlen(member) <= ELECTOR_NAME_MAX) return ELECTOR_OK;
    return engine_fail(e, ELECTOR_INVALID, "name the member to hand over to, in 1 to %d bytes",
                       ELECTOR_NAME_MAX);
}

elector_status elector_check_value(elector *e, const char *value)
{
    json_t *text = value && strlen(value) <= ELECTOR_VALUE_MAX ? json_string(value) : NULL;
    if (!text)
        return engine_fail(e, ELECTOR_INVALID, "a value is at most %d bytes of UTF-8", ELECTOR_VALUE_MAX);
    json_decref(text);
    return ELECTOR_OK;
}

/* ---- Options ---- */

void elector_options_init(elector_options *options, size_t size)
{
    if (size < sizeof options->size) return;
    memset(options, 0, size);
    options->size = size;
}

/* A program that was compiled with a later header: its further options must have their defaults, which are zeros. */
static bool is_default_beyond(const elector_options *given, size_t known)
{
    const unsigned char *bytes = (const unsigned char *)given;
    for (size_t i = known; i < given->size; i++)
        if (bytes[i]) return false;
    return true;
}

elector_status elector_read_options(elector *e, const elector_options *given, elector_options *all)
{
    *all = (elector_options){.size = sizeof *all};
    if (given && (given->size < sizeof given->size || given->size > OPTIONS_SIZE_MAX))
        return engine_fail(e, ELECTOR_INVALID, "elector_options: call elector_options_init() first");
    if (given && !is_default_beyond(given, sizeof *all))
        return engine_fail(e, ELECTOR_INVALID,
                           "elector_options: the program sets an option that this library (%s) does not know; "
                           "install a later one",
                           elector_version());
    if (given) memcpy(all, given, given->size < sizeof *all ? given->size : sizeof *all);
    if (all->priority >= ENGINE_TOKEN_END) return engine_fail(e, ELECTOR_INVALID, "a priority is below 2^53");
    if (all->preempt_after_ms != ELECTOR_NEVER && all->preempt_after_ms >= UINT32_MAX)
        return engine_fail(e, ELECTOR_INVALID, "preempt_after_ms is below 2^32 - 1, or ELECTOR_NEVER");
    if (all->stop_within_ms >= UINT32_MAX || all->watchdog_ms >= UINT32_MAX)
        return engine_fail(e, ELECTOR_INVALID, "stop_within_ms and watchdog_ms are below 2^32 - 1");
    if (!all->value) all->value = "";
    return elector_check_value(e, all->value);
}
