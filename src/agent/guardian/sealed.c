/* What peers hear if the agent dies, sealed while it lives. See guardian_client.h. */
#define _GNU_SOURCE /* for libuv */
#include <string.h>

#include "agent/guardian/internal.h"
#include "base/clock.h"
#include "base/log/log.h"

static const uint64_t NOT_TAKEN = UINT64_MAX; /* no session has this number */
enum {
    SEALED_MOST = 1000,
    FULL_MS = 100,      /* until a full channel is tried again */
    SEALED_AT_ONCE = 64 /* releases in one turn of the loop: there may be thousands */
};

_Static_assert((int)CONFIG_MEMBERS_MAX <= (int)GUARDIAN_PEERS_MAX, "an obituary for each peer");
_Static_assert((int)CLIENT_GROUPS_MAX * 29 + (int)PAYLOAD_HEAD <= (int)SEAL_PAYLOAD_MAX, "releases fit");
_Static_assert((int)SEAL_DATAGRAM_MAX <= (int)GUARDIAN_DATAGRAM_MAX, "whatever its size");

static bool payload_has_changed(struct guardian_client *o)
{
    static struct payload fresh;
    if (!host_obituary(o->host, &fresh)) fresh.size = 0;
    if (fresh.size == o->payload.size && memcmp(fresh.bytes, o->payload.bytes, fresh.size) == 0) return false;
    o->payload = fresh;
    return true;
}

static bool hand_over(struct guardian_client *o, const struct guardian_message *m)
{
    const bool is_taken = guardian_channel_say(&o->channel, m, -1);
    if (!is_taken) o->seal_at = host_clock(o->host) + FULL_MS * NS_PER_MS;
    return is_taken;
}

/* An obituary that does not fit into the channel is sealed again the next time. */
static void seal_for(struct guardian_client *o, el_node peer, uint64_t session)
{
    struct guardian_message m = {.kind = GUARDIAN_OBITUARY, .number = peer};
    if (session && o->payload.size)
        m.size = (uint32_t)seal_obituary(o->seal, host_clock(o->host), peer, o->payload.bytes, o->payload.size,
                                         m.datagram);
    m.address = o->config->members[peer - 1].address;
    o->sealed_since[peer - 1] = 0;
    o->sealed_by[peer - 1] = !hand_over(o, &m) ? NOT_TAKEN : m.size ? session : 0;
    if (o->is_armed || m.size == 0 || o->sealed_by[peer - 1] == NOT_TAKEN) return;
    o->is_armed = true;
    log_event(LOG_INFO_LEVEL, NULL, "guarded by process %d: when this agent dies, peers hear of it",
              (int)o->channel.pid);
}

/* A candidate promises us nothing: voters tell it when we are gone. */
static bool must_hear(const struct guardian_client *o, el_node peer)
{
    const el_node self = o->config->self;
    return peer != self && config_talks(o->config, self, peer) && !config_is_candidate(o->config, peer);
}

/* Until the guardian reads this release it keeps the older one, which is also true. */
static void seal_release(struct guardian_client *o, el_node peer, uint32_t work, const struct payload *payload)
{
    struct guardian_message m = {.kind = GUARDIAN_RELEASE, .number = work, .peer = peer};
    m.address = o->config->members[peer - 1].address;
    if (payload->size)
        m.size = (uint32_t)seal_obituary(o->seal, host_clock(o->host), peer, payload->bytes, payload->size,
                                         m.datagram);
    if (!hand_over(o, &m) || ++o->sealed_since[peer - 1] == SEALED_MOST) o->sealed_by[peer - 1] = NOT_TAKEN;
}

/* A work that holds nothing needs none: a message would wake the guardian while a successor waits. */
static uint64_t peers_to_seal_for(const struct guardian_client *o, const struct work *w)
{
    uint64_t peers = 0;
    for (el_node peer = 1; w->is_told && w->tenure_count && peer <= o->config->member_count; peer++)
        if (must_hear(o, peer)) peers |= UINT64_C(1) << (peer - 1);
    return w->unsealed & peers;
}

/* The rest follows in the next turns. */
static void seal_releases(struct guardian_client *o)
{
    static struct payload payload;
    uint32_t left = SEALED_AT_ONCE;
    for (uint32_t i = CLIENT_BLIND + 1; i < CLIENT_WORKS_MAX && left > 0; i++) {
        struct work *w = &o->works[i];
        w->unsealed = peers_to_seal_for(o, w);
        if (!w->unsealed) continue;
        if (!host_death_releases(o->host, w->tenures, w->tenure_count, &payload)) payload.size = 0;
        for (; w->unsealed && left > 0; left--) {
            const el_node peer = 1 + (el_node)__builtin_ctzll(w->unsealed);
            w->unsealed &= w->unsealed - 1;
            seal_release(o, peer, i, &payload);
        }
    }
    o->has_unsealed = left == 0;
}

void guardian_client_seal(struct guardian_client *o)
{
    if (host_clock(o->host) < o->seal_at) return;
    const bool is_other = payload_has_changed(o);
    uint64_t anew = 0; /* a bit for each peer */
    for (el_node peer = 1; peer <= o->config->member_count; peer++) {
        if (!must_hear(o, peer)) continue;
        const uint64_t session = o->payload.size ? seal_in_use(o->seal, host_clock(o->host), peer) : 0;
        if (!is_other && session == o->sealed_by[peer - 1]) continue;
        seal_for(o, peer, session);
        anew |= UINT64_C(1) << (peer - 1);
    }
    for (uint32_t i = CLIENT_BLIND + 1; anew && i < CLIENT_WORKS_MAX; i++) o->works[i].unsealed |= anew;
    if (anew || (o->has_unsealed && host_clock(o->host) >= o->release_at)) seal_releases(o);
}
