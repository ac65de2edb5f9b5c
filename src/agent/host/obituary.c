/* Obituaries and releases: those for our own death, and what we do with those of peers. */
#include "agent/host/internal.h"
#include "agent/host/quorum/sessions.h"

/* Our incarnation is on disk. Otherwise the next may get the same number, and peers would take it for dead. */
static bool is_on_record(const struct host *host)
{
    return host->writes_done > (host->has_failed ? 1 : 0);
}

bool host_obituary(const struct host *host, struct payload *payload)
{
    bool is_said = false;
    payload_begin(payload, host->members);
    if (!is_on_record(host)) return false;
    for (const struct session *s = host->sessions; s; s = s->next) {
        const struct payload_entry entry = {
            .type = PAYLOAD_OBITUARY, .settings = s->runner.settings, .dead = s->me.incarnation};
        if (s->me.incarnation && payload_add(payload, &entry))
            is_said = true; /* if it does not fit, the lease decides */
    }
    return is_said;
}

bool host_death_releases(const struct host *host, const struct host_tenure *tenures, uint32_t count,
                         struct payload *payload)
{
    bool is_said = false;
    payload_begin(payload, host->members);
    for (uint32_t i = 0; i < count; i++) {
        const struct session_group *of = session_group_of(tenures[i].group);
        if (!of) continue;
        const struct session *s = session_of(of);
        const struct payload_entry entry = {.type = PAYLOAD_RELEASED,
                                            .group = tenures[i].group->key,
                                            .settings = s->runner.settings,
                                            .incarnation = s->me.incarnation,
                                            .released = tenures[i].term};
        if (payload_add(payload, &entry)) is_said = true;
    }
    return is_said;
}

/* Handled like a Release that the peer sent itself before it died. */
void host_hear_released(struct host *host, el_node from, const struct payload_entry *entry)
{
    struct session_group *group = session_group_of(host_by_key(host, entry->group));
    const struct quorum_tenant done = {.id = from, .incarnation = entry->incarnation, .term = entry->released};
    struct el_msg release = quorum_addressed(quorum_make_release(done, EL_NOBODY, 0), entry->incarnation, 0, 0);
    release.from = from;
    release.to = host->config->self;
    if (group && session_of(group)->runner.settings == entry->settings) session_group_hear(group, &release);
}

/* A member's obituary, sealed by itself before its death, for the incarnation that it names. */
void host_bury(struct host *host, el_node from, const struct payload_entry *entry)
{
    for (struct session *s = host->sessions; s; s = s->next)
        if (s->runner.settings == entry->settings) session_bury(s, from, entry->dead);
}

uint64_t host_longest_lease_ns(const struct host *host)
{
    uint64_t longest = 0;
    for (const struct session *s = host->sessions; s; s = s->next) {
        const uint64_t lease = s->runner.values[QUORUM_OPTION_LEASE].number;
        if (lease > longest) longest = lease;
    }
    return longest;
}
