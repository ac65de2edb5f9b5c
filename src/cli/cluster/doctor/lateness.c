/* Whether the host lets the agent run in time: how late its loop went on, beside what the shortest lease allows. */
#define _GNU_SOURCE
#include <inttypes.h>

#include "base/clock.h"
#include "cli/cluster/bounds.h"
#include "cli/cluster/doctor/doctor.h"
#include "client/json_lines.h"

enum verdict doctor_lateness(uint64_t late_ns, uint64_t stall_ns, char *text, size_t size)
{
    const double late = (double)late_ns / NS_PER_MS, stall = (double)stall_ns / NS_PER_MS;
    if (late_ns <= stall_ns / 2) {
        snprintf(text, size, "the agent ran at most %.1f ms late in the last hour; %.1f ms would stop work",
                 late, stall);
        return FINE;
    }
    snprintf(
        text, size,
        "the agent ran up to %.1f ms late in the last hour, and %.1f ms %s work; the host was suspended or is "
        "overloaded: relieve it, or raise `lease`",
        late, stall, late_ns < stall_ns ? "would stop" : "stop");
    return WARN;
}

void doctor_check_lateness(struct doctor *d)
{
    char text[256];
    uint64_t late_us;
    if (!d->config || !json_lines_number(d->status, "late_us", 0, &late_us)) return;
    const uint64_t stall = bounds_shortest_stall(d->config);
    if (stall == UINT64_MAX || late_us > UINT64_MAX / NS_PER_US) return;
    const enum verdict verdict = doctor_lateness(late_us * NS_PER_US, stall, text, sizeof text);
    doctor_say(d, verdict, "lateness", "%s", text);
}

void doctor_check_realtime(struct doctor *d)
{
    const char *refused = json_lines_text(d->status, "refused", 300);
    if (!refused) return;
    if (refused[0])
        doctor_say(
            d, WARN, "realtime",
            "the agent works without %s: when this host is busy, leases may end although nothing has failed",
            refused);
    else
        doctor_say(d, FINE, "realtime", "the agent has SCHED_FIFO and locked memory");
}
