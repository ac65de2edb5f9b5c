/*
 * Each start of a process has its own random boot id, and numbers its initiations. Within a boot the number
 * must rise, and a boot that was followed by another is retired. So replays are refused without a wall clock,
 * which could be set back.
 */
#include <string.h>

#include "agent/seal/internal.h"

static const struct seal_boot *find(const struct seal_peer *p, const uint8_t id[SEAL_BOOT_ID])
{
    for (unsigned i = 0; i < SEAL_BOOTS; i++)
        if (p->boots[i].known && memcmp(p->boots[i].id, id, SEAL_BOOT_ID) == 0) return &p->boots[i];
    return NULL;
}

static bool is_in_use(const struct seal_peer *p, const uint8_t id[SEAL_BOOT_ID])
{
    return p->has_boot && memcmp(p->boot, id, SEAL_BOOT_ID) == 0;
}

static struct seal_boot *find_or_add(struct seal_peer *p, const uint8_t id[SEAL_BOOT_ID])
{
    const struct seal_boot *found = find(p, id);
    if (found) return &p->boots[found - p->boots];
    struct seal_boot *b = &p->boots[p->boot_next++ % SEAL_BOOTS];
    if (b->known && is_in_use(p, b->id)) b = &p->boots[p->boot_next++ % SEAL_BOOTS];
    memset(b, 0, sizeof *b);
    b->known = true;
    memcpy(b->id, id, SEAL_BOOT_ID);
    return b;
}

bool seal_boot_is_retired(const struct seal_peer *p, const uint8_t id[SEAL_BOOT_ID])
{
    const struct seal_boot *b = find(p, id);
    return b && b->retired;
}

bool seal_boot_accept(struct seal_peer *p, const uint8_t id[SEAL_BOOT_ID], uint64_t stamp)
{
    struct seal_boot *b = find_or_add(p, id);
    if (b->retired || stamp <= b->stamp) return false;
    b->stamp = stamp;
    return true;
}

bool seal_boot_use(struct seal_peer *p, const uint8_t id[SEAL_BOOT_ID])
{
    if (is_in_use(p, id)) return false;
    if (p->has_boot) find_or_add(p, p->boot)->retired = true;
    p->has_boot = true;
    memcpy(p->boot, id, SEAL_BOOT_ID);
    find_or_add(p, id)->retired = false; /* a handshake has just proved that it runs */
    return true;
}

/* A leaky bucket: the word is the time at which it will be empty. */
bool seal_allow(uint64_t *word, uint64_t now, uint64_t every_ns, uint64_t burst)
{
    const uint64_t level = *word > now ? *word - now : 0;
    if (level > (burst - 1) * every_ns) return false;
    *word = now + level + every_ns;
    return true;
}
