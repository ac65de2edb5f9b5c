/* See audit.h. */
#include "agent/serve/limits/audit.h"

#include <string.h>

static bool is_over(const struct audit_kind *kind, uint64_t now)
{
    return now - kind->since_ns >= AUDIT_WINDOW;
}

/* The place of this kind, or a free one. NULL: all are in use. */
static struct audit_kind *find(struct audit *audit, uint64_t now, uid_t uid, const char *what, bool is_granted)
{
    struct audit_kind *free = NULL;
    for (uint32_t i = 0; i < AUDIT_KINDS; i++) {
        struct audit_kind *kind = &audit->kinds[i];
        if (kind->what && kind->uid == uid && kind->is_granted == is_granted && strcmp(kind->what, what) == 0)
            return kind;
        if (!kind->what || (kind->left_out == 0 && is_over(kind, now))) free = kind;
    }
    if (free) *free = (struct audit_kind){.uid = uid, .what = what, .is_granted = is_granted, .since_ns = now};
    return free;
}

bool audit_admits(struct audit *audit, uint64_t now, uid_t uid, const char *what, bool is_granted)
{
    struct audit_kind *kind = find(audit, now, uid, what, is_granted);
    if (!kind) {
        audit->beyond++;
        return false;
    }
    if (kind->left_out == 0 && is_over(kind, now)) { /* what was left out is told before a new window begins */
        kind->since_ns = now;
        kind->lines = 0;
    }
    if (kind->lines == AUDIT_LINES) {
        kind->left_out++;
        return false;
    }
    kind->lines++;
    return true;
}

bool audit_take_left_out(struct audit *audit, uint64_t now, struct audit_kind *told)
{
    for (uint32_t i = 0; i < AUDIT_KINDS; i++) {
        struct audit_kind *kind = &audit->kinds[i];
        if (!kind->what || kind->left_out == 0 || !is_over(kind, now)) continue;
        *told = *kind;
        kind->left_out = 0;
        return true;
    }
    *told = (struct audit_kind){.left_out = audit->beyond};
    audit->beyond = 0;
    return told->left_out > 0;
}

bool audit_has_left_out(const struct audit *audit)
{
    for (uint32_t i = 0; i < AUDIT_KINDS; i++)
        if (audit->kinds[i].what && audit->kinds[i].left_out > 0) return true;
    return audit->beyond > 0;
}
