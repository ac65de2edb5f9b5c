/*
 * Building blocks for elections and their users: lease lengths under clock drift, the guard that keeps a
 * deposed leader from a resource, and a measure of a member's stability. All are pure: no clock, no allocation,
 * no libc.
 */
#ifndef ELECTOR_PARTS_H
#define ELECTOR_PARTS_H

#include "elector/core.h"

/* ---- Leases ------------------------------------------------------------------------------------- */

/*
 * A granter promises for P on its own clock; a holder acts for D on its own clock. If every clock rate is
 * within 1 ± rho, the holder stops first as long as D (1 + rho) / (1 - rho) <= P. The holder counts from the
 * sending of its request, the granter from the request's arrival, which is never earlier.
 * `drift` is rho in millionths, below 1,000,000. A result that does not fit into a duration traps.
 */
/* The longest D for this P, rounded down. */
el_duration el_lease_held(el_duration promise, uint32_t drift);
/* The shortest P for this D, rounded up. */
el_duration el_lease_promised(el_duration lease, uint32_t drift);

/* ---- The epoch guard ----------------------------------------------------------------------------- */

/*
 * Protects a resource: admits a leader's work only if its token is at least the highest token seen so far.
 * If the resource survives a crash, so must the guard: save it when told to, and only then do the work.
 * The check and the work must be atomic (hold the resource's lock).
 */
struct el_guard {
    uint64_t highest; /* 0: no token seen yet */
};

enum el_guarded {
    EL_REFUSED,        /* a newer leader has used the resource: do not do the work, and tell the sender */
    EL_ADMITTED,       /* do the work */
    EL_ADMITTED_NEWER, /* the first work of a newer leader: save the guard, then do it */
};
enum el_guarded el_guard_admit(struct el_guard *guard, uint64_t token);

/* Saves the guard as a record with a checksum, and loads it. Loading never lowers the guard; it returns false
 * and changes nothing if the bytes are not a valid record. */
#define EL_GUARD_SIZE 24
void el_guard_save(const struct el_guard *guard, uint8_t record[EL_GUARD_SIZE]);
bool el_guard_load(struct el_guard *guard, const uint8_t *record, size_t size);

/* ---- Quality: how stable a member has been ------------------------------------------------------- */

/*
 * A member that fails repeatedly should not outrank a stable one. Each failure doubles a penalty (from 1), and
 * each `mercy` of uninterrupted uptime halves it. The attribute of its rank is `priority` minus the penalty.
 * The member's own host keeps it and saves it, so that it survives the failures it counts.
 */
struct el_quality {
    uint64_t penalty;
};
#define EL_PENALTY_MAX (UINT64_C(1) << 20)
/* Records a failure; `uptime` is the time since the previous one. */
void el_quality_failed(struct el_quality *quality, el_duration uptime, el_duration mercy);
/* The attribute now; `uptime` is the time since the last failure. */
uint64_t el_quality_attribute(const struct el_quality *quality, uint64_t priority, el_duration uptime,
                              el_duration mercy);

#endif
