/* The guard of a resource: it refuses every token below the highest it has seen. */
#include "elector/parts.h"

#include "core/bytes.h"

enum { MARK_AT = 0, HIGHEST_AT = 8, CHECK_AT = 16 };
static const uint64_t mark = UINT64_C(0x3164726175676c65); /* the bytes "elguard1" */

enum el_guarded el_guard_admit(struct el_guard *guard, uint64_t token)
{
    if (token == 0 || token < guard->highest) return EL_REFUSED; /* 0 is nobody's token */
    if (token == guard->highest) return EL_ADMITTED;
    guard->highest = token;
    return EL_ADMITTED_NEWER;
}

void el_guard_save(const struct el_guard *guard, uint8_t record[EL_GUARD_SIZE])
{
    el_put(record + MARK_AT, mark, 8);
    el_put(record + HIGHEST_AT, guard->highest, 8);
    el_put(record + CHECK_AT, el_fingerprint(record, CHECK_AT).low, 8);
}

bool el_guard_load(struct el_guard *guard, const uint8_t *record, size_t size)
{
    if (size != EL_GUARD_SIZE || el_get(record + MARK_AT, 8) != mark) return false;
    if (el_get(record + CHECK_AT, 8) != el_fingerprint(record, CHECK_AT).low) return false;
    const uint64_t saved = el_get(record + HIGHEST_AT, 8);
    if (saved > guard->highest) guard->highest = saved;
    return true;
}
