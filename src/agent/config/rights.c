/* Rights: who may read, campaign and control, and which sections give more than those above them. */
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "agent/config/internal.h"
#include "base/units.h"

static const char *const keys[] = {
    [CONFIG_READ] = "allow-read", [CONFIG_CAMPAIGN] = "allow", [CONFIG_CONTROL] = "allow-control"};

/* ---- Who has a right ---- */

/* The section that decides: of those that set the right and match the group, the one that fits best, except
 * `other` (may be NULL). NULL: none. */
static const struct config_group *find_section(const struct config *config, const char *group,
                                               enum config_right right, const struct config_group *other)
{
    const struct config_group *best = NULL;
    size_t best_fit = 0;
    for (uint32_t i = 0; i < config->group_count; i++) {
        const struct config_group *section = &config->groups[i];
        if (section == other || !section->allowed[right].is_set) continue;
        const size_t fits = config_fit(section->name, group);
        if (fits <= best_fit) continue;
        best = section;
        best_fit = fits;
    }
    return best;
}

static bool has_user(const struct config_allowed *allowed, uid_t uid)
{
    for (uint32_t i = 0; i < allowed->user_count; i++)
        if (allowed->users[i] == uid) return true;
    return false;
}

static bool has_group(const struct config_allowed *allowed, gid_t gid)
{
    for (uint32_t i = 0; i < allowed->group_count; i++)
        if (allowed->groups[i] == gid) return true;
    return false;
}

struct client {
    uid_t uid;
    const gid_t *gids;
    uint32_t gid_count;
};

static bool lists(const struct config_group *section, enum config_right right, const struct client *client)
{
    if (!section) return false;
    const struct config_allowed *allowed = &section->allowed[right];
    if (has_user(allowed, client->uid)) return true;
    for (uint32_t i = 0; i < client->gid_count; i++)
        if (has_group(allowed, client->gids[i])) return true;
    return false;
}

static bool may_read(const struct config *config, const char *group, const struct client *client)
{
    const struct config_group *section = find_section(config, group, CONFIG_READ, NULL);
    if (!section || section->allowed[CONFIG_READ].is_everybody || lists(section, CONFIG_READ, client))
        return true;
    return lists(find_section(config, group, CONFIG_CAMPAIGN, NULL), CONFIG_CAMPAIGN, client) ||
           lists(find_section(config, group, CONFIG_CONTROL, NULL), CONFIG_CONTROL, client);
}

bool config_permits(const struct config *config, const char *group, enum config_right right, uid_t uid,
                    const gid_t *gids, uint32_t gid_count)
{
    const struct client client = {uid, gids, gid_count};
    if (uid == 0 || uid == geteuid()) return true;
    for (; right != CONFIG_READ; right--) { /* a right without a line follows the one before it */
        const struct config_group *section = find_section(config, group, right, NULL);
        if (section) return section->allowed[right].is_everybody || lists(section, right, &client);
    }
    return may_read(config, group, &client);
}

bool config_is_public(const struct config *config, const char *group)
{
    if (!config->restricts_reading) return true;
    const struct config_group *section = find_section(config, group, CONFIG_READ, NULL);
    return !section || section->allowed[CONFIG_READ].is_everybody;
}

/* ---- allow = user:alice, group:ops, uid:1000, gid:100 ---- */

static bool find_user(struct config_reading *r, const char *name, uint64_t *id)
{
    const struct passwd *found = r->form_only ? NULL : getpwnam(name);
    *id = found ? found->pw_uid : 0;
    return found || r->form_only;
}

static bool find_group(struct config_reading *r, const char *name, uint64_t *id)
{
    const struct group *found = r->form_only ? NULL : getgrnam(name);
    *id = found ? found->gr_gid : 0;
    return found || r->form_only;
}

static bool add_user(struct config_reading *r, enum config_right right, uint64_t id)
{
    struct config_allowed *allowed = &r->config->groups[r->index].allowed[right];
    if (allowed->user_count < CONFIG_ALLOWED_MAX) {
        allowed->users[allowed->user_count++] = (uid_t)id;
        return true;
    }
    return config_fail(r, r->line, "'%s' lists at most %d users and as many groups; make them one group",
                       keys[right], CONFIG_ALLOWED_MAX);
}

static bool add_group(struct config_reading *r, enum config_right right, uint64_t id)
{
    struct config_allowed *allowed = &r->config->groups[r->index].allowed[right];
    if (allowed->group_count < CONFIG_ALLOWED_MAX) {
        allowed->groups[allowed->group_count++] = (gid_t)id;
        return true;
    }
    return config_fail(r, r->line, "'%s' lists at most %d users and as many groups; make them one group",
                       keys[right], CONFIG_ALLOWED_MAX);
}

static bool allow_one(struct config_reading *r, enum config_right right, const char *word)
{
    uint64_t id = 0;
    if (strcmp(word, "everybody") == 0) {
        r->config->groups[r->index].allowed[right].is_everybody = true;
        return true;
    }
    if (strncmp(word, "user:", 5) == 0) {
        if (find_user(r, word + 5, &id)) return add_user(r, right, id);
        return config_fail(r, r->line, "there is no user '%s' on this host", word + 5);
    }
    if (strncmp(word, "group:", 6) == 0) {
        if (find_group(r, word + 6, &id)) return add_group(r, right, id);
        return config_fail(r, r->line, "there is no group '%s' on this host", word + 6);
    }
    if (strncmp(word, "uid:", 4) == 0 && units_number(word + 4, UINT32_MAX - 1, &id))
        return add_user(r, right, id);
    if (strncmp(word, "gid:", 4) == 0 && units_number(word + 4, UINT32_MAX - 1, &id))
        return add_group(r, right, id);
    return config_fail(r, r->line,
                       "'%s' lists user:NAME, group:NAME, uid:N and gid:N, or is everybody, not '%s'",
                       keys[right], word);
}

static bool read_allowed(struct config_reading *r, enum config_right right, const char *value)
{
    char word[80];
    r->config->groups[r->index].allowed[right].is_set = true;
    for (bool more = true; more;) {
        value += strspn(value, " \t");
        size_t length = strcspn(value, ",");
        more = value[length] == ',';
        const char *next = value + length + more;
        while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t')) length--;
        if (length >= sizeof word) return config_fail(r, r->line, "a name in '%s' is too long", keys[right]);
        snprintf(word, sizeof word, "%.*s", (int)length, value);
        if (!allow_one(r, right, word)) return false;
        value = next;
    }
    return true;
}

bool config_read_allow(struct config_reading *r, const char *value)
{
    return read_allowed(r, CONFIG_CAMPAIGN, value);
}

bool config_read_allow_read(struct config_reading *r, const char *value)
{
    r->config->restricts_reading = true;
    return read_allowed(r, CONFIG_READ, value);
}

bool config_read_allow_control(struct config_reading *r, const char *value)
{
    return read_allowed(r, CONFIG_CONTROL, value);
}

/* ---- Sections that give more than those above them ---- */

struct opening {
    const struct config_group *section, *above;
    enum config_right right;
    void (*tell)(void *context, const char *text);
    void *context;
};

static void tell_opening(const struct opening *o, const char *who)
{
    static const char *const verbs[] = {
        [CONFIG_READ] = "read", [CONFIG_CAMPAIGN] = "campaign", [CONFIG_CONTROL] = "control"};
    char text[300];
    snprintf(text, sizeof text,
             "[group %s] lets %s %s, and [group %s] does not; if that is not meant, correct its `%s`",
             o->section->name, who, verbs[o->right], o->above->name, keys[o->right]);
    o->tell(o->context, text);
}

static void compare(const struct opening *o)
{
    const struct config_allowed *ours = &o->section->allowed[o->right], *theirs = &o->above->allowed[o->right];
    char who[32];
    if (theirs->is_everybody) return;
    if (ours->is_everybody) tell_opening(o, "everybody");
    for (uint32_t i = 0; i < ours->user_count; i++) {
        if (has_user(theirs, ours->users[i])) continue;
        snprintf(who, sizeof who, "uid %u", (unsigned)ours->users[i]);
        tell_opening(o, who);
    }
    for (uint32_t i = 0; i < ours->group_count; i++) {
        if (has_group(theirs, ours->groups[i])) continue;
        snprintf(who, sizeof who, "gid %u", (unsigned)ours->groups[i]);
        tell_opening(o, who);
    }
}

void config_each_opening(const struct config *config, void (*tell)(void *context, const char *text),
                         void *context)
{
    for (uint32_t i = 0; i < config->group_count; i++)
        for (enum config_right right = CONFIG_READ; right < CONFIG_RIGHTS; right++) {
            const struct config_group *section = &config->groups[i];
            const struct opening o = {section, find_section(config, section->name, right, section), right, tell,
                                      context};
            if (section->allowed[right].is_set && o.above) compare(&o);
        }
}
