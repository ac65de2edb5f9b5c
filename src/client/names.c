/* Names of statuses and reasons, for logs and as the socket protocol spells reasons; and the version. */
#include <string.h>

#include "client/engine.h"

const char *elector_status_name(elector_status status)
{
    static const char *const names[] = {
        [ELECTOR_OK] = "ok",
        [ELECTOR_TIMEOUT] = "timeout",
        [ELECTOR_NOT_LEADING] = "not-leading",
        [ELECTOR_REFUSED] = "refused",
        [ELECTOR_INVALID] = "invalid",
        [ELECTOR_UNAVAILABLE] = "unavailable",
        [ELECTOR_LOST] = "lost",
        [ELECTOR_NO_MEMORY] = "no-memory",
        [ELECTOR_BUSY] = "busy",
        [ELECTOR_INTERRUPTED] = "interrupted",
        [ELECTOR_CLOSED] = "closed",
    };
    return (size_t)status < sizeof names / sizeof *names ? names[status] : "unknown";
}

static const char *const reasons[] = {
    [ELECTOR_REASON_NONE] = "none",
    [ELECTOR_REASON_OTHER] = "other",
    [ELECTOR_REASON_RESIGNED] = "resigned",
    [ELECTOR_REASON_TRANSFERRED] = "transferred",
    [ELECTOR_REASON_NOT_TRANSFERRED] = "not-transferred",
    [ELECTOR_REASON_FORCED] = "forced",
    [ELECTOR_REASON_NO_QUORUM] = "no-quorum",
    [ELECTOR_REASON_DISK] = "disk",
    [ELECTOR_REASON_LEAVING] = "leaving",
    [ELECTOR_REASON_PREEMPTED] = "preempted",
    [ELECTOR_REASON_WATCHDOG] = "watchdog",
    [ELECTOR_REASON_DEADLINE] = "deadline",
    [ELECTOR_REASON_DISCONNECTED] = "disconnected",
    [ELECTOR_REASON_SUPERSEDED] = "superseded",
    [ELECTOR_REASON_LOCK_REMOVED] = "lock-removed",
    [ELECTOR_REASON_REMOVED] = "removed",
};

const char *elector_reason_name(elector_reason reason)
{
    return (size_t)reason < sizeof reasons / sizeof *reasons ? reasons[reason] : "other";
}

/* Only those that an agent or an engine sends: the rest is ours to say. */
elector_reason engine_reason(const char *name)
{
    if (strcmp(name, reasons[ELECTOR_REASON_REMOVED]) == 0) return ELECTOR_REASON_REMOVED;
    for (int i = ELECTOR_REASON_RESIGNED; i <= ELECTOR_REASON_WATCHDOG; i++)
        if (strcmp(name, reasons[i]) == 0) return (elector_reason)i;
    return ELECTOR_REASON_OTHER;
}

const char *elector_version(void)
{
    return ELECTOR_VERSION;
}
