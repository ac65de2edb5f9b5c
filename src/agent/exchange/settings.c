/* Which settings and members this agent is configured with, as statements, and what differs from those of a peer. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/exchange/internal.h"
#include "algorithms/registry.h"
#include "base/units.h"

enum { OPTIONS_MAX = 24, KEY_MAX = 32, HASH_ROOM = 24 };

/* ---- Ours ---- */

static void write_option(const struct el_option *option, uint64_t number, char *text, size_t size)
{
    char time[UNITS_TIME_TEXT];
    const char *choice = option->kind == EL_FLAG ? "off|on" : option->choices;
    switch (option->kind) {
    case EL_FLAG:
    case EL_CHOICE:
        for (; number && *choice; number--) choice += strcspn(choice, "|") + 1;
        snprintf(text, size, " %s=%.*s", option->name, (int)strcspn(choice, "|"), choice);
        break;
    case EL_NUMBER: snprintf(text, size, " %s=%" PRIu64, option->name, number); break;
    case EL_DURATION: snprintf(text, size, " %s=%s", option->name, units_write_time(number, time)); break;
    default: text[0] = '\0'; /* lists follow from the members */
    }
}

/* All that two members must have in common to count each other's votes in a group of this section: what the host's digest
 * of settings covers. A text that does not fit ends with a hash of all. */
static void write_section(const struct config *config, const struct config_group *section,
                          char text[PAYLOAD_VALUE_MAX + 1])
{
    const struct el_algorithm *algorithm = section && section->algorithm ? section->algorithm : &el_quorum;
    struct el_value values[OPTIONS_MAX] = {0};
    char all[2048], time[UNITS_TIME_TEXT];
    config_values(config->profile, section, algorithm, values);
    int used = snprintf(all, sizeof all, "algorithm=%s", algorithm->name);
    for (uint32_t i = 0; i < algorithm->option_count && i < OPTIONS_MAX; i++) {
        write_option(&algorithm->options[i], values[i].number, all + used, sizeof all - (size_t)used);
        used += (int)strlen(all + used);
    }
    used += snprintf(all + used, sizeof all - (size_t)used, " drift=0.%06u transmit=%s", config->drift,
                     units_write_time(config->transmit_max, time));
    if (used > PAYLOAD_VALUE_MAX) { /* as many keys as leave room for the hash */
        const uint32_t sum = (uint32_t)el_fingerprint(all, (size_t)used).low;
        size_t end = PAYLOAD_VALUE_MAX - HASH_ROOM;
        while (end && all[end] != ' ') end--;
        snprintf(all + end, HASH_ROOM, " others=%08x", sum);
    }
    memcpy(text, all, strlen(all) + 1);
}

static struct exchange_line *add(struct exchange *e, enum exchange_statement kind, const char *name)
{
    struct exchange_line *line = &e->settings[e->setting_count++];
    *line = (struct exchange_line){.kind = (uint8_t)kind};
    snprintf(line->name, sizeof line->name, "%s", name);
    return line;
}

bool exchange_list_settings(struct exchange *e)
{
    const struct config *config = e->config;
    struct exchange_line *list = calloc(EXCHANGE_SETTINGS_MAX, sizeof *list);
    if (!list) return false;
    free(e->settings);
    e->settings = list;
    e->setting_count = 0;
    for (uint32_t i = 0; i < config->member_count; i++) {
        const struct config_member *m = &config->members[i];
        struct exchange_line *line = add(e, EXCHANGE_MEMBER, m->name);
        snprintf(line->value, sizeof line->value, "id=%" PRIu64 " role=%s", m->id, config_role_name(m->role));
    }
    write_section(config, config_group_of(config, "*"), add(e, EXCHANGE_SECTION, "*")->value);
    for (uint32_t i = 0; i < config->group_count; i++)
        if (strcmp(config->groups[i].name, "*") != 0)
            write_section(config, &config->groups[i], add(e, EXCHANGE_SECTION, config->groups[i].name)->value);
    struct exchange_line *version = add(e, EXCHANGE_VERSION, "");
    version->term = PAYLOAD_VERSION_LEAST;
    version->span = PAYLOAD_VERSION;
    snprintf(version->value, sizeof version->value, "%s", ELECTOR_VERSION);
    (void)add(e, EXCHANGE_COMPLETE, "");
    return true;
}

/* ---- Theirs ---- */

void exchange_forget_settings(struct exchange_peer *p)
{
    free(p->lines);
    p->lines = NULL;
    p->line_count = 0;
    p->is_complete = false;
}

void exchange_read_setting(struct exchange *e, el_node from, const struct exchange_line *line)
{
    struct exchange_peer *p = &e->peers[from - 1];
    if (line->kind == EXCHANGE_COMPLETE) {
        p->is_complete = true;
        exchange_compare(e, from);
        return;
    }
    if (line->kind != EXCHANGE_MEMBER && line->kind != EXCHANGE_SECTION && line->kind != EXCHANGE_VERSION)
        return; /* of a later version */
    if (line->kind == EXCHANGE_VERSION) {
        p->least_read = line->term;
        p->most_read = line->span;
        exchange_compare_versions(e, from);
    }
    if (p->is_complete || p->line_count == EXCHANGE_SETTINGS_MAX) return;
    if ((p->line_count & (p->line_count - 1)) == 0) { /* room for 1, 2, 4, ... */
        const size_t room = p->line_count ? 2 * (size_t)p->line_count : 1;
        struct exchange_line *lines = realloc(p->lines, room * sizeof *lines);
        if (!lines) return;
        p->lines = lines;
    }
    p->lines[p->line_count++] = *line;
}

bool exchange_knows(const struct exchange *e, el_node peer)
{
    return e->peers[peer - 1].is_complete;
}

const char *exchange_version(const struct exchange *e, el_node peer)
{
    const struct exchange_peer *p = &e->peers[peer - 1];
    for (uint32_t i = 0; i < p->line_count; i++)
        if (p->lines[i].kind == EXCHANGE_VERSION) return p->lines[i].value;
    return NULL;
}

/* ---- Versions ---- */

static bool has_common_version(const struct exchange_peer *p)
{
    if (p->unread) return false;
    return p->most_read == 0 || (p->least_read <= PAYLOAD_VERSION && p->most_read >= PAYLOAD_VERSION_LEAST);
}

bool exchange_understands(const struct exchange *e, el_node peer, char theirs[EXCHANGE_VERSIONS_TEXT])
{
    const struct exchange_peer *p = &e->peers[peer - 1];
    const bool is_told = p->most_read && !p->unread;
    const uint64_t least = is_told ? p->least_read : p->unread, most = is_told ? p->most_read : p->unread;
    if (has_common_version(p)) return true;
    if (theirs && least == most) snprintf(theirs, EXCHANGE_VERSIONS_TEXT, "%" PRIu64, most);
    if (theirs && least != most)
        snprintf(theirs, EXCHANGE_VERSIONS_TEXT, "%" PRIu64 " to %" PRIu64, least, most);
    return false;
}

void exchange_compare_versions(struct exchange *e, el_node peer)
{
    struct exchange_peer *p = &e->peers[peer - 1];
    if (p->is_misunderstood == !has_common_version(p)) return;
    p->is_misunderstood = !p->is_misunderstood;
    e->hooks.understood(e->hooks.context, peer, !p->is_misunderstood);
}

/* ---- Comparing ---- */

struct list {
    const struct exchange_line *lines;
    uint32_t count;
};

static struct list ours(const struct exchange *e)
{
    return (struct list){e->settings, e->setting_count};
}

static struct list theirs(const struct exchange *e, el_node peer)
{
    return (struct list){e->peers[peer - 1].lines, e->peers[peer - 1].line_count};
}

static const char *member_in(struct list list, const char *name)
{
    for (uint32_t i = 0; i < list.count; i++)
        if (list.lines[i].kind == EXCHANGE_MEMBER && strcmp(list.lines[i].name, name) == 0)
            return list.lines[i].value;
    return "none";
}

/* The settings of a group, by the section that fits its name best. */
static const char *settings_in(struct list list, const char *group)
{
    const char *best = "none";
    size_t best_fit = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        const size_t fits = list.lines[i].kind == EXCHANGE_SECTION ? config_fit(list.lines[i].name, group) : 0;
        if (fits <= best_fit) continue;
        best = list.lines[i].value;
        best_fit = fits;
    }
    return best;
}

struct differences {
    struct exchange_difference *list;
    uint32_t count, most;
};

/* Texts of a peer may have any bytes: only printable ones are kept. */
static void copy(char *to, const char *from, size_t length)
{
    size_t size = 0;
    for (; size < length && size + 1 < EXCHANGE_DIFFERENCE_TEXT; size++)
        to[size] = (char)(from[size] > ' ' && from[size] < 127 ? from[size] : from[size] == ' ' ? ' ' : '?');
    to[size] = '\0';
}

static void tell(struct differences *d, const char *what, const char *mine, size_t mine_length,
                 const char *their, size_t their_length)
{
    if (d->count == d->most) return;
    struct exchange_difference *one = &d->list[d->count];
    copy(one->what, what, strlen(what));
    copy(one->ours, mine, mine_length);
    copy(one->theirs, their, their_length);
    for (uint32_t i = 0; i < d->count; i++)
        if (strcmp(d->list[i].what, one->what) == 0) return;
    d->count++;
}

/* The value of KEY in "KEY=VALUE KEY=VALUE"; NULL: there is none. */
static const char *value_of(const char *text, const char *key, size_t key_length, size_t *length)
{
    for (const char *at = text; *at;) {
        const size_t word = strcspn(at, " ");
        if (word > key_length && strncmp(at, key, key_length) == 0 && at[key_length] == '=') {
            *length = word - key_length - 1;
            return at + key_length + 1;
        }
        at += word + (at[word] == ' ');
    }
    *length = strlen("none");
    return "none";
}

/* Tells each key of `text` that `other` has not, or with another value. */
static void tell_keys(struct differences *d, const char *group, const char *text, const char *other,
                      bool is_ours)
{
    for (const char *at = text; *at;) {
        const size_t word = strcspn(at, " "), key = strcspn(at, "= ");
        size_t a, b;
        const char *here = value_of(text, at, key, &a), *there = value_of(other, at, key, &b);
        char what[KEY_MAX + PAYLOAD_NAME_MAX + 16];
        snprintf(what, sizeof what, "%.*s of [group %s]", (int)(key < KEY_MAX ? key : KEY_MAX), at, group);
        if (at[key] == '=' && (a != b || strncmp(here, there, a) != 0))
            tell(d, what, is_ours ? here : there, is_ours ? a : b, is_ours ? there : here, is_ours ? b : a);
        at += word + (at[word] == ' ');
    }
}

static void tell_members(struct differences *d, struct list names, struct list mine, struct list their)
{
    for (uint32_t i = 0; i < names.count; i++) {
        if (names.lines[i].kind != EXCHANGE_MEMBER) continue;
        const char *here = member_in(mine, names.lines[i].name), *there = member_in(their, names.lines[i].name);
        char what[PAYLOAD_NAME_MAX + 16];
        snprintf(what, sizeof what, "member %s", names.lines[i].name);
        if (strcmp(here, there) != 0) tell(d, what, here, strlen(here), there, strlen(there));
    }
}

static void tell_sections(struct differences *d, struct list names, struct list mine, struct list their)
{
    for (uint32_t i = 0; i < names.count; i++) {
        const char *name = names.lines[i].name;
        if (names.lines[i].kind != EXCHANGE_SECTION) continue;
        const char *here = settings_in(mine, name), *there = settings_in(their, name);
        tell_keys(d, name, here, there, true);
        tell_keys(d, name, there, here, false);
    }
}

uint32_t exchange_differences(const struct exchange *e, el_node peer, struct exchange_difference *list,
                              uint32_t most)
{
    struct differences d = {.list = list, .most = most};
    const struct list mine = ours(e), their = theirs(e, peer);
    if (!exchange_knows(e, peer)) return 0;
    tell_members(&d, mine, mine, their);
    tell_members(&d, their, mine, their);
    tell_sections(&d, mine, mine, their);
    tell_sections(&d, their, mine, their);
    if (d.count == 0 &&
        e->peers[peer - 1].members != e->members) /* names and roles agree, the digest does not */
        tell(&d, "list of members", "this list", 9, "another", 7);
    return d.count;
}

void exchange_compare(struct exchange *e, el_node peer)
{
    struct exchange_peer *p = &e->peers[peer - 1];
    struct exchange_difference first;
    if (!p->is_complete) return;
    const bool differed = p->differs;
    p->differs = exchange_differences(e, peer, &first, 1) > 0;
    if (p->differs || differed) e->hooks.compared(e->hooks.context, peer, p->differs);
}

bool exchange_differs_everywhere(const struct exchange *e, el_node peer)
{
    const struct exchange_peer *p = &e->peers[peer - 1];
    struct exchange_difference first;
    struct differences d = {.list = &first, .most = 1};
    if (!p->is_complete || !p->differs) return false;
    tell_members(&d, ours(e), ours(e), theirs(e, peer));
    tell_members(&d, theirs(e, peer), ours(e), theirs(e, peer));
    return d.count > 0 || p->members != e->members;
}

bool exchange_differs(const struct exchange *e, el_node peer, const char *group)
{
    const struct exchange_peer *p = &e->peers[peer - 1];
    if (!p->is_complete || !p->differs) return false;
    return !group || exchange_differs_everywhere(e, peer) ||
           strcmp(settings_in(ours(e), group), settings_in(theirs(e, peer), group)) != 0;
}

static uint32_t add_sections(struct list names, struct list mine, struct list their, const char **patterns,
                             uint32_t count, uint32_t most)
{
    for (uint32_t i = 0; i < names.count && count < most; i++) {
        const char *name = names.lines[i].name;
        bool is_known = names.lines[i].kind != EXCHANGE_SECTION ||
                        strcmp(settings_in(mine, name), settings_in(their, name)) == 0;
        for (uint32_t k = 0; k < count && !is_known; k++) is_known = strcmp(patterns[k], name) == 0;
        if (!is_known) patterns[count++] = name;
    }
    return count;
}

uint32_t exchange_differing_sections(const struct exchange *e, el_node peer, const char **patterns,
                                     uint32_t most)
{
    const struct exchange_peer *p = &e->peers[peer - 1];
    if (!p->is_complete || !p->differs) return 0;
    const uint32_t count = add_sections(ours(e), ours(e), theirs(e, peer), patterns, 0, most);
    return add_sections(theirs(e, peer), ours(e), theirs(e, peer), patterns, count, most);
}
