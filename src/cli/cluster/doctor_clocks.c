/* Whether the kernel's clock source and clock rate are good enough for leases. */
#include "cli/cluster/doctor.h"

#include <stdio.h>
#include <string.h>

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
