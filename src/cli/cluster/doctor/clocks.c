/* Checks of `elector doctor` on the clocks: whether they advance, their source and their rate. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cluster/doctor/doctor.h"

enum { SPINS = 1000000, USUAL_DRIFT = 10000 };

enum verdict doctor_source(const char *name, char *text, size_t size)
{
    static const char *const good[] = {"tsc", "kvm-clock", "arch_sys_counter"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (strcmp(name, good[i]) != 0) continue;
        snprintf(text, size, "%s", name);
        return FINE;
    }
    if (*name)
        snprintf(
            text, size,
            "%s, which is slow or rare; the kernel's log says why it is not tsc, kvm-clock or arch_sys_counter",
            name);
    else
        snprintf(text, size, "/sys does not tell");
    return WARN;
}

enum verdict doctor_rate(const struct timex *t, long ticks_per_s, uint32_t drift, char *text, size_t size)
{
    const double steered = (double)t->freq / 65536, stepped = (double)(t->tick * ticks_per_s - 1000000);
    const double rate = steered + stepped; /* millionths */
    if (rate > drift || rate < -(double)drift) {
        snprintf(
            text, size,
            "is changed by %.0f millionths, and `drift` allows for %u; see to the time service, or raise drift everywhere",
            rate, drift);
        return WRONG;
    }
    snprintf(text, size, "changed by %.1f millionths of %u allowed%s", rate, drift,
             t->status & STA_UNSYNC ? "; not synchronised, which leases do not need" : "");
    return FINE;
}

/* ---- Clocks ---- */

/* Polls instead of sleeping: on a clock that has stopped, a sleep would never end. */
static bool advances(uint64_t (*read_clock)(void))
{
    const uint64_t first = read_clock();
    uint64_t now = first;
    for (int i = 0; i < SPINS && now == first; i++) now = read_clock();
    return now > first;
}

static void check_source(struct doctor *d)
{
    char name[64] = "", text[256];
    const ssize_t count =
        doctor_read("/sys/devices/system/clocksource/clocksource0/current_clocksource", name, sizeof name - 1);
    name[count > 0 ? count : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    const enum verdict verdict = doctor_source(name, text, sizeof text);
    doctor_say(d, verdict, "clock source", "%s", text);
}

static void check_rate(struct doctor *d)
{
    struct timex t = {.modes = 0};
    char text[256];
    if (adjtimex(&t) < 0) {
        doctor_say(d, WARN, "clock rate", "cannot read it from the kernel: %s", strerror(errno));
        return;
    }
    const uint32_t drift = d->config ? d->config->drift : USUAL_DRIFT;
    const enum verdict verdict = doctor_rate(&t, sysconf(_SC_CLK_TCK), drift, text, sizeof text);
    doctor_say(d, verdict, "clock rate", "%s", text);
}

void doctor_check_clocks(struct doctor *d)
{
    const bool boot = advances(clock_boottime_ns), monotonic = advances(clock_monotonic_ns);
    if (boot && monotonic)
        doctor_say(d, FINE, "clocks", "CLOCK_BOOTTIME and CLOCK_MONOTONIC advance");
    else
        doctor_say(d, WRONG, "clocks",
                   "%s does not advance; no lease would ever expire on this host, so do not run an agent here",
                   boot ? "CLOCK_MONOTONIC" : "CLOCK_BOOTTIME");
    check_source(d);
    check_rate(d);
}
