/* The frame around every call. The time is read once for the outermost call. Calls from outside are told to
 * hooks.called. */
#include "agent/host/internal.h"
#include "agent/host/quorum/sessions.h"

struct host_entry host_enter(struct host *host, struct host_call call)
{
    const struct host_hooks *hooks = &host->hooks;
    const struct host_entry entry = {.is_told = host->depth == 0 || host->is_outside,
                                     .was_outside = host->is_outside};
    if (host->depth == 0) host->instant = hooks->now(hooks->context);
    host->depth++;
    host->is_outside = false;
    call.at = host->instant;
    call.host = host;
    if (entry.is_told && hooks->called) hooks->called(hooks->context, &call);
    return entry;
}

void host_leave(struct host *host, struct host_entry entry)
{
    const struct host_hooks *hooks = &host->hooks;
    if (entry.is_told && hooks->returned) hooks->returned(hooks->context);
    host->is_outside = entry.was_outside;
    host->depth--;
}

void host_tell_changed(struct host_group *group)
{
    struct host *host = host_of(group);
    const bool was_outside = host->is_outside;
    host->is_outside = true;
    host->hooks.changed(host->hooks.context, group);
    host->is_outside = was_outside;
}

void host_tell_renewed(struct host *host, uint32_t cell)
{
    const bool was_outside = host->is_outside;
    if (!host->hooks.renewed) return;
    host->is_outside = true;
    host->hooks.renewed(host->hooks.context, cell);
    host->is_outside = was_outside;
}
