/* See host.h. */
#include "agent/host/host.h"

#include <stdlib.h>
#include <string.h>

#include "agent/host/internal.h"
#include "agent/host/quorum/sessions.h"
#include "algorithms/quorum/bounds.h"
#include "base/clock.h"

/* Members with different member lists drop each other's messages. */
static uint64_t digest_members(const struct config *config)
{
    struct el_hash sum = el_fingerprint(config->cluster_id, sizeof config->cluster_id);
    for (uint32_t i = 0; i < config->member_count; i++) {
        const struct config_member *member = &config->members[i];
        const uint64_t words[] = {sum.low, sum.high, member->id, (uint64_t)member->role,
                                  el_fingerprint(member->name, strlen(member->name)).low};
        sum = el_fingerprint(words, sizeof words);
    }
    return sum.low;
}

struct host *host_new(const struct config *config, struct record *record, struct host_hooks hooks)
{
    struct host *host = calloc(1, sizeof *host);
    if (!host) return NULL;
    host->config = config;
    host->record = record;
    host->hooks = hooks;
    host->members = digest_members(config);
    host->has_past = record_get(record, session_past_key(config), &host->past) && host->past.epoch != 0;
    const struct host_entry entry = host_enter(host, (struct host_call){.what = HOST_BEGINS});
    host->refresh_at = host_now(host) + NS_PER_S;
    for (uint32_t i = 0; i < config->member_count; i++) payload_begin(&host->out[i], host->members);
    host_leave(host, entry);
    return host;
}

void host_free(struct host *host)
{
    while (host && host->solos) {
        struct host_single *group = host->solos;
        host->solos = group->next_solo;
        host_single_free(group);
    }
    while (host && host->sessions) {
        struct session *s = host->sessions;
        host->sessions = s->next;
        session_free(s);
    }
    for (uint32_t i = 0; host && i < HOST_INDEX_PARTS; i++) free(host->index[i].places);
    free(host);
}

/* ---- Groups by number ---- */

/* The index holds these numbers, so none is 0. Groups of sessions come first, then the others. */
enum { SOLO_FIRST = SESSIONS_MAX * SESSION_GROUPS_MAX + 1 };

static uint32_t number_of(struct host_group *group)
{
    const struct session_group *of = session_group_of(group);
    return of ? session_of(of)->number * SESSION_GROUPS_MAX + of->number
              : SOLO_FIRST + host_single_of(group)->number;
}

static struct host_group *group_numbered(const struct host *host, uint32_t number)
{
    if (number >= SOLO_FIRST) return &host->solo_list[number - SOLO_FIRST]->base;
    const struct session *s = host->session_list[(number - 1) / SESSION_GROUPS_MAX];
    return &session_group_at(s, (number - 1) % SESSION_GROUPS_MAX + 1)->base;
}

/* In the order of these numbers. */
struct host_group *host_next(struct host *host, struct host_group *after)
{
    const struct session_group *shared = session_group_of(after);
    const struct session *of = shared ? session_of(shared) : NULL;
    uint32_t at = shared ? shared->number : 0;
    if (!after || of)
        for (uint32_t i = of ? of->number : 0; i < SESSIONS_MAX && host->session_list[i]; i++, at = 0)
            if (at < host->session_list[i]->group_count)
                return &session_group_at(host->session_list[i], at + 1)->base;
    at = after && !of ? host_single_of(after)->number + 1 : 0;
    return at < host->solo_count ? &host->solo_list[at]->base : NULL;
}

/* ---- Groups by key ---- */

/* An entry is a group's number and the highest 7 bits of its key, so that few lookups touch a wrong group. */
enum { NUMBER_BITS = 25, NUMBER = (1 << NUMBER_BITS) - 1 };
_Static_assert(SOLO_FIRST + RECORD_GROUPS_MAX <= NUMBER, "numbers fit");

static uint32_t indexed(uint64_t key, uint32_t number)
{
    return (uint32_t)(key >> (32 + NUMBER_BITS)) << NUMBER_BITS | number;
}

static bool is_of_key(const struct host *host, uint32_t entry, uint64_t key)
{
    const uint32_t number = entry & NUMBER;
    return entry == indexed(key, number) && group_numbered(host, number)->key == key;
}

static uint32_t part_of(uint64_t key)
{
    return (uint32_t)(key >> 24) % HOST_INDEX_PARTS;
}

static uint32_t home_of(const struct host_index *part, uint64_t key)
{
    return (uint32_t)(key ^ key >> 32) & (part->size - 1);
}

/* Where it is, or would be, in its part, which has places. */
static uint32_t *place_in(const struct host *host, const struct host_index *part, uint64_t key)
{
    uint32_t at = home_of(part, key);
    while (part->places[at] && !is_of_key(host, part->places[at], key)) at = (at + 1) & (part->size - 1);
    return &part->places[at];
}

static uint32_t *place_of(const struct host *host, uint64_t key)
{
    return place_in(host, &host->index[part_of(key)], key);
}

struct host_group *host_by_key(const struct host *host, uint64_t key)
{
    const uint32_t entry = host->index[part_of(key)].places ? *place_of(host, key) : 0;
    return entry ? group_numbered(host, entry & NUMBER) : NULL;
}

/* For one more group. */
static bool make_room(struct host *host, uint64_t key)
{
    struct host_index *part = &host->index[part_of(key)];
    const struct host_index was = *part;
    if (part->places && part->count + 1 <= part->size / 8 * 7) return true;
    const uint32_t size = part->places ? 2 * part->size : 8;
    uint32_t *places = calloc(size, sizeof *places);
    if (!places) return false;
    part->places = places;
    part->size = size;
    for (uint32_t i = 0; was.places && i < was.size; i++)
        if (was.places[i])
            *place_in(host, part, group_numbered(host, was.places[i] & NUMBER)->key) = was.places[i];
    free(was.places);
    return true;
}

static uint32_t group_limit(const struct host *host)
{
    return host->config->group_limit ? host->config->group_limit : CONFIG_GROUPS_LIMIT;
}

static struct host_group *make_group(struct host *host, const char *name, uint64_t key, char *text, size_t size)
{
    const struct config_group *section = config_group_of(host->config, name);
    const struct el_algorithm *algorithm = section && section->algorithm ? section->algorithm : &el_quorum;
    snprintf(text, size, "out of memory");
    if (host->group_count >= group_limit(host)) {
        snprintf(
            text, size,
            "there are %u groups here, the most that may be (`group-limit` in the agent's configuration); one "
            "that nobody uses makes room within seconds, unless `forget-after` is off: then `elector forget` does",
            host->group_count);
        return NULL;
    }
    if (!make_room(host, key)) return NULL;
    if (algorithm == &el_quorum) {
        struct session *s = session_for(host, section);
        if (!s)
            snprintf(text, size,
                     "the groups here differ in their times in %d ways already, which is all there can be",
                     SESSIONS_MAX);
        struct session_group *group = s ? session_group_new(s, name, key) : NULL;
        return group ? &group->base : NULL;
    }
    if (host->solo_count == RECORD_GROUPS_MAX || !record_has_room(host->record, key)) {
        snprintf(text, size, "there are %d groups on record already, which is all there can be",
                 RECORD_GROUPS_MAX);
        return NULL;
    }
    struct host_single *group = host_single_new(host, name, key, section, algorithm);
    if (!group) return NULL;
    group->number = host->solo_count;
    host->solo_list[host->solo_count++] = group;
    return &group->base;
}

struct host_group *host_enlist(struct host *host, const char *name, uint64_t key, char *text, size_t size)
{
    struct host_group *group = make_group(host, name, key, text, size);
    if (!group) return NULL;
    host->group_count++;
    host->index[part_of(key)].count++;
    *place_of(host, key) = indexed(key, number_of(group));
    struct host_single *solo = host_single_of(group);
    if (!solo) return group;
    solo->next_solo = host->solos;
    host->solos = solo;
    return group;
}

static struct host_group *add(struct host *host, const char *name, uint64_t key, char *text, size_t size)
{
    struct host_group *group = host_enlist(host, name, key, text, size);
    if (!group || session_group_of(group)) return group;
    host_single_start(host_single_of(group));
    host_flush(host);
    return group;
}

struct host_group *host_find(struct host *host, const char *name, char *text, size_t size)
{
    if (!group_name_is_valid(name)) {
        snprintf(text, size, "a group's name is 1 to %d letters, digits, and . _ - : /", CONFIG_NAME_MAX);
        return NULL;
    }
    const uint64_t key = seal_group_key(host->config->cluster_id, name);
    struct host_group *group = host_by_key(host, key);
    if (group && strcmp(host_name(group), name) != 0) {
        snprintf(text, size, "%s cannot be told from %s by its hash: choose another name", name,
                 host_name(group));
        return NULL;
    }
    if (group) return group;
    const struct host_entry entry =
        host_enter(host, (struct host_call){.what = HOST_FINDS, .bytes = name, .size = strlen(name)});
    group = add(host, name, key, text, size);
    host_leave(host, entry);
    return group;
}

struct host_group *host_known(const struct host *host, const char *name)
{
    if (!group_name_is_valid(name)) return NULL;
    struct host_group *group = host_by_key(host, seal_group_key(host->config->cluster_id, name));
    return group && strcmp(host_name(group), name) == 0 ? group : NULL;
}

/* ---- Forgetting ---- */

/* Moves later entries up, so that a search that passed the place still finds them. */
static void clear_place(struct host *host, uint64_t key, const uint32_t *place)
{
    struct host_index *part = &host->index[part_of(key)];
    const uint32_t mask = part->size - 1;
    uint32_t at = (uint32_t)(place - part->places);
    part->places[at] = 0;
    part->count--;
    for (uint32_t from = (at + 1) & mask; part->places[from]; from = (from + 1) & mask) {
        const uint32_t home = home_of(part, group_numbered(host, part->places[from] & NUMBER)->key);
        if (((from - home) & mask) < ((from - at) & mask)) continue; /* it would leave its run */
        part->places[at] = part->places[from];
        part->places[from] = 0;
        at = from;
    }
}

static bool forget(struct host *host, struct session_group *group)
{
    const uint64_t key = group->base.key;
    uint32_t *place = place_of(host, key);
    struct session_group *heir = session_group_heir_of_number(group);
    uint32_t *heirs = heir ? place_of(host, heir->base.key) : NULL;
    if (!session_group_forget(group)) return false;
    if (heir) *heirs = indexed(heir->base.key, number_of(&heir->base));
    clear_place(host, key, place);
    host->group_count--;
    return true;
}

bool host_forget(struct host_group *group)
{
    struct host *host = host_of(group);
    struct session_group *shared = session_group_of(group);
    if (!shared) return false; /* its record stays on disk */
    const struct host_entry entry =
        host_enter(host, (struct host_call){.what = HOST_FORGETS, .group = group->key});
    const bool is_forgotten = !host->has_failed && forget(host, shared);
    host_flush(host);
    host_leave(host, entry);
    return is_forgotten;
}

/* ---- Disk ---- */

void host_write(struct host *host)
{
    if (!host->is_dirty || host->writes_begun > host->writes_done || host->has_failed) return;
    struct record_image *image = record_image_of(host->record);
    host->is_dirty = false;
    host->writes_begun++;
    if (image)
        host->hooks.save(host->hooks.context, image);
    else
        host->has_failed = true;
}

void host_saved(struct host *host, uint64_t version, int error)
{
    const struct host_entry entry =
        host_enter(host, (struct host_call){.what = HOST_SAVED, .numbers = {version, (uint64_t)(error != 0)}});
    host->writes_done++;
    if (error) host->has_failed = true;
    for (struct host_group *group = host->has_failed ? host_next(host, NULL) : NULL; group;
         group = host_next(host, group))
        host_group_show(group); /* after a failed write it does not lead any more */
    for (struct host_single *group = host->solos; group && !host->has_failed; group = group->next_solo)
        host_single_release(group);
    for (struct session *s = host->sessions; s && !host->has_failed; s = s->next) session_release(s);
    host_flush(host);
    host_leave(host, entry);
}

/* ---- Time ---- */

/* A candidate at rest beats once a second, or once a lease if that is longer: only then it is greeted in between. */
static uint64_t greeting_after(const struct host *host, el_node to)
{
    const struct config *config = host->config;
    if (!config_is_candidate(config, to) && !config_is_candidate(config, config->self)) return NS_PER_S / 2;
    return host_longest_lease_ns(host) > NS_PER_S ? NS_PER_S / 10 * 9 : NS_PER_S / 10 * 11;
}

static void refresh(struct host *host, uint64_t now)
{
    host->refresh_at = now + NS_PER_S;
    for (struct host_single *group = host->solos; group; group = group->next_solo)
        host_single_refresh(group, now);
    for (struct session *s = host->sessions; s; s = s->next) {
        session_show_wishes(s); /* a wish to pre-empt may be due by now */
        session_look_ahead(s);
        postings_tell_again(s);
    }
    for (el_node to = 1; to <= host->config->member_count; to++)
        if (now - host->sent_at[to - 1] >= greeting_after(host, to)) host_greet(host, to);
}

/* For clients a claim ends earlier than the lease, by the margin. */
static uint64_t shown_until(const struct host_single *group)
{
    return group->base.shown_role == EL_LEADER ? group->shown_deadline : UINT64_MAX;
}

/* Before there is any group: the silence after a restart begins now, and peers learn our incarnation. */
static void begin_sessions(struct host *host)
{
    host->has_begun = true;
    (void)session_for(host, NULL);
    for (uint32_t i = 0; i < host->config->group_count; i++) {
        const struct config_group *section = &host->config->groups[i];
        if (!section->algorithm || section->algorithm == &el_quorum) (void)session_for(host, section);
    }
}

uint64_t host_tick(struct host *host)
{
    const struct host_entry entry = host_enter(host, (struct host_call){.what = HOST_TICKS});
    uint64_t now = host_now(host);
    if (!host->has_begun) begin_sessions(host);
    for (struct host_single *group = host->solos; group; group = group->next_solo) {
        while (host_single_fire(group, now)) now = host_now(host);
        if (shown_until(group) <= now) host_group_show(&group->base);
    }
    if (host->refresh_at <= now) refresh(host, now);
    uint64_t next = host->refresh_at;
    for (struct session *s = host->sessions; s; s = s->next) {
        const uint64_t due = session_tick(s);
        if (due < next) next = due;
    }
    for (struct host_single *group = host->solos; group; group = group->next_solo) {
        const uint64_t due = host_single_due(group), until = shown_until(group);
        if (due < next) next = due;
        if (until < next) next = until;
    }
    host_flush(host);
    host_leave(host, entry);
    return next;
}

/* ---- Queries ---- */

bool host_is_saving(const struct host *host)
{
    return host->writes_begun > host->writes_done;
}

uint32_t host_holds(const struct host *host)
{
    return host->holds;
}

bool host_has_failed(const struct host *host)
{
    return host->has_failed;
}

uint64_t host_clock(const struct host *host)
{
    return host_now(host);
}

uint64_t host_stopwatch(const struct host *host)
{
    return host->hooks.now(host->hooks.context);
}

uint64_t host_heard(const struct host *host, el_node peer)
{
    const uint64_t at = host->heard[peer - 1], now = host_now(host);
    return at == 0 ? UINT64_MAX : now > at ? now - at : 0;
}

bool host_hears(const struct host *host, el_node peer)
{
    if (host_heard(host, peer) >= 2 * NS_PER_S) return false;
    const enum config_role there = host->config->members[peer - 1].role,
                           here = host->config->members[host->config->self - 1].role;
    /* Two witnesses send each other nothing but greetings, either. */
    const bool is_silent = there == CONFIG_OBSERVER || here == CONFIG_OBSERVER ||
                           (there == CONFIG_WITNESS && here == CONFIG_WITNESS);
    bool is_recent = is_silent || !host->sessions;
    for (const struct session *s = host->sessions; s && !is_recent; s = s->next)
        is_recent = s->peers[peer - 1].recent;
    return is_recent;
}

uint64_t host_worst_failover_ns(const struct host_group *group)
{
    const struct config *config = host_of(group)->config;
    uint32_t candidates = 0;
    for (el_node member = 1; member <= config->member_count; member++)
        candidates += config_is_candidate(config, member);
    const uint32_t in_line = candidates < QUORUM_FIRST_IN_LINE ? candidates : (uint32_t)QUORUM_FIRST_IN_LINE;
    const struct quorum_failover f = {.lease = host_option(group, "lease", 0),
                                      .stagger = host_option(group, "stagger", 0),
                                      .reask = host_option(group, "re-ask", 0),
                                      .transmit = config->transmit_max,
                                      .drift = config->drift,
                                      .members = config->member_count - candidates + in_line};
    return f.lease ? quorum_worst_ns(&f) : 0;
}

uint64_t host_members(const struct host *host)
{
    return host->members;
}

enum host_difference host_differs(const struct host *host, el_node peer)
{
    const uint64_t at = host->differed_at[peer - 1];
    return at && host_now(host) - at < 2 * NS_PER_S ? host->difference[peer - 1] : HOST_SAME;
}

bool host_hears_in(const struct host_group *group, el_node peer)
{
    const struct session_group *of = session_group_of(group);
    return of && session_of(of)->peers[peer - 1].recent;
}

uint64_t host_unrenewed_ns(const struct host_group *group, uint64_t *late_ns)
{
    const uint64_t lease = host_option(group, "lease", 0), beats = 3 * host_option(group, "beat", lease),
                   end = host_view_of(group).lease_end_ns, now = host_now(host_of(group));
    *late_ns = beats < lease / 2 ? beats : lease / 2;
    if (lease == 0 || end == UINT64_MAX) return 0;
    return end > now + lease ? 0 : now + lease - end;
}

const char *host_early_end(const struct host_group *group, const char **sentence)
{
    (void)group;
    *sentence = NULL;
    return "preempted";
}

uint64_t host_lease_ns(const struct host_group *group)
{
    return host_option(group, "lease", 0);
}

uint64_t host_lease_less_margin_ns(const struct host_group *group)
{
    const uint64_t lease = host_lease_ns(group), margin = group->runner->margin;
    return lease > margin ? lease - margin : 0;
}
