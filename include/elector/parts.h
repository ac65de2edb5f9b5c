/*
 * Parts that an election is built with, and that its users need beside it: how long a lease holds when no two
 * clocks agree, the guard that keeps a deposed leader from a resource, and a measure of how steady a member is.
 * All are pure: no clock, no allocation, no libc.
 */
#ifndef ELECTOR_PARTS_H
#define ELECTOR_PARTS_H

#include "elector/core.h"

/* ---- Leases ------------------------------------------------------------------------------------- */

/*
 * A granter promises for P on its own clock, a holder acts for D on its own. With every rate within 1 ± rho the
 * holder's time is over first if D (1 + rho) / (1 - rho) <= P. Both are counted from an instant that comes no
 * later for the holder: it from the sending of its request, the granter from the arrival.
 * `drift` is rho in millionths, below 1,000,000. What does not fit into a duration traps.
 */
/* The longest D for this P: rounded down, the holder short. */
el_duration el_lease_held(el_duration promise, uint32_t drift);
/* The shortest P for this D: rounded up, the granter long. */
el_duration el_lease_promised(el_duration lease, uint32_t drift);

/* ---- The epoch guard ----------------------------------------------------------------------------- */

/*
 * Stands before a resource and lets a leader's work through only if its token is not older than any it has
 * seen. It never goes back. Where the resource outlives a crash, so must the guard: save it when told to, and
 * only then do the work. Checking and doing must be one step for everybody else (hold the resource's lock).
 */
struct el_guard {
    uint64_t highest; /* a guard that is all zero bytes has seen nobody */
};

enum el_guarded {
    EL_REFUSED,        /* a newer leader has been here: do not do it, and tell the sender */
    EL_ADMITTED,       /* do it */
    EL_ADMITTED_NEWER, /* the first of a newer leader: save the guard, then do it */
};
enum el_guarded el_guard_admit(struct el_guard *guard, uint64_t token);

/* What to save, and how to come back from it: never lower than what is already known. The record carries a
 * check of its own; false if it is not one, and the guard is left alone. */
#define EL_GUARD_SIZE 24
void el_guard_save(const struct el_guard *guard, uint8_t record[EL_GUARD_SIZE]);
bool el_guard_load(struct el_guard *guard, const uint8_t *record, size_t size);

/* ---- Quality: how steady a member has been ------------------------------------------------------- */

/*
 * A member that fails again and again should not outrank a steady one. Each failure doubles a penalty (from 1),
 * each `mercy` of uninterrupted uptime halves it; the attribute of its rank is what is left of `priority`.
 * Kept by the member's own host, and saved, so that it survives what it counts.
 */
struct el_quality {
    uint64_t penalty;
};
#define EL_PENALTY_MAX (UINT64_C(1) << 20)
/* It failed after so much uptime since its last failure. */
void el_quality_failed(struct el_quality *quality, el_duration uptime, el_duration mercy);
/* The attribute after so much uptime since. */
uint64_t el_quality_attribute(const struct el_quality *quality, uint64_t priority, el_duration uptime,
                              el_duration mercy);

#endif
