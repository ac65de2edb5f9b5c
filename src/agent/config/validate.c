/* Checks that need the whole file: members, which of them this agent is, and keys. */
#include <sodium.h>
#include <string.h>

#include "agent/config/internal.h"

bool config_is_member_name(const char *text)
{
    return group_name_is_valid(text) && !strpbrk(text, ":/");
}

/* ---- Members ---- */

/* By id, so that every member computes the same positions. */
static void sort(struct config_reading *r)
{
    struct config *config = r->config;
    for (uint32_t i = 1; i < config->member_count; i++)
        for (uint32_t k = i; k > 0 && config->members[k].id < config->members[k - 1].id; k--) {
            const struct config_member member = config->members[k];
            const uint32_t line = r->member_lines[k];
            config->members[k] = config->members[k - 1];
            config->members[k - 1] = member;
            r->member_lines[k] = r->member_lines[k - 1];
            r->member_lines[k - 1] = line;
        }
}

static bool share_an_address(const struct config_member *a, const struct config_member *b)
{
    char one[80], other[80];
    for (uint32_t i = 0; i < config_address_count(a); i++)
        for (uint32_t k = 0; k < config_address_count(b); k++) {
            config_write_address(config_address_at(a, i), one, sizeof one);
            config_write_address(config_address_at(b, k), other, sizeof other);
            if ((a != b || i < k) && !a->is_dynamic && strcmp(one, other) == 0) return true;
        }
    return false;
}

/* Names what two members share though they must not; NULL: nothing. */
static const char *shared(const struct config_member *a, const struct config_member *b)
{
    if (a->id == b->id) return "id";
    if (share_an_address(a, b)) return "address";
    if (a->has_key && b->has_key && memcmp(a->public_key, b->public_key, SEAL_KEY) == 0) return "key";
    return NULL;
}

/* A dynamic member is not reached before it speaks. So voters are not, and it binds to the kind of address that voters have. */
static bool place_dynamic(struct config_reading *r)
{
    struct config *config = r->config;
    sa_family_t family = AF_INET;
    for (uint32_t i = config->member_count; i > 0; i--)
        if (config_votes(config, i) && !config->members[i - 1].is_dynamic)
            family = config->members[i - 1].address.ss_family;
    for (uint32_t i = 0; i < config->member_count; i++) {
        struct config_member *member = &config->members[i];
        if (!member->is_dynamic) continue;
        if (!config_is_candidate(config, i + 1))
            return config_fail(
                r, r->member_lines[i],
                "the address of member '%s' is dynamic, which only a candidate's may be; write HOST:PORT",
                member->name);
        config_set_wildcard(&member->address, family);
        member->is_unresolved = strcmp(member->name, r->self) != 0;
    }
    return true;
}

static bool check_pairs(struct config_reading *r)
{
    const struct config *config = r->config;
    for (uint32_t i = 0; i < config->member_count; i++)
        for (uint32_t k = i + 1; k < config->member_count; k++) {
            const char *what = shared(&config->members[i], &config->members[k]);
            const uint32_t later = r->member_lines[i] > r->member_lines[k] ? i : k;
            if (what)
                return config_fail(r, r->member_lines[later],
                                   "members '%s' and '%s' have the same %s; each has its own",
                                   config->members[i + k - later].name, config->members[later].name, what);
        }
    return true;
}

bool config_check_members(struct config_reading *r)
{
    struct config *config = r->config;
    uint32_t leaders = 0, votes = 0;
    for (uint32_t i = 0; i < config->member_count; i++) {
        const struct config_member *member = &config->members[i];
        if (member->id == 0)
            return config_fail(r, r->member_lines[i], "member '%s' has no id; write `id = ` and a number",
                               member->name);
        if (member->address.ss_family == 0 && !member->is_dynamic)
            return config_fail(r, r->member_lines[i], "member '%s' has no address; write `address = HOST:PORT`",
                               member->name);
        if (share_an_address(member, member))
            return config_fail(r, r->member_lines[i], "member '%s' has an address twice; write it once",
                               member->name);
        leaders += config_may_lead(config, i + 1);
        votes += config_votes(config, i + 1);
    }
    if (leaders == 0)
        return config_fail(r, 0, "no member may lead; write [member NAME] for each, and some as voters");
    if (votes == 0)
        return config_fail(r, 0,
                           "no member votes: candidates lead by the votes of others; make some members voters");
    sort(r);
    if (!place_dynamic(r) || !check_pairs(r)) return false;
    config->self = config_position(config, r->self);
    if (config->self) return true;
    return config_fail(r, r->self_line, "'self' names '%s', and there is no such member", r->self);
}

/* ---- Keys ---- */

/* The first member that is not on this host, which makes keys necessary; NULL: none. */
static const struct config_member *first_afar(const struct config *config)
{
    for (uint32_t i = 0; i < config->member_count; i++)
        for (uint32_t k = 0; k < config_address_count(&config->members[i]); k++)
            if (!config_is_loopback(config_address_at(&config->members[i], k))) return &config->members[i];
    return NULL;
}

static bool read_secrets(struct config_reading *r)
{
    struct config *config = r->config;
    char reason[400];
    uint32_t count = 0;
    uint8_t public_key[SEAL_KEY];
    if (!config_read_keys(r->key_file, &config->secret_key, 1, &count, reason, sizeof reason))
        return config_fail(r, r->key_file_line, "%s", reason);
    if (!config_read_keys(r->cluster_key_file, config->cluster_keys, SEAL_CLUSTER_KEYS_MAX,
                          &config->cluster_key_count, reason, sizeof reason))
        return config_fail(r, r->cluster_key_file_line, "%s", reason);
    seal_public_of(config->secret_key, public_key);
    if (sodium_memcmp(public_key, config->members[config->self - 1].public_key, SEAL_KEY) == 0) return true;
    return config_fail(
        r, r->key_file_line,
        "the secret in %s does not belong to the key of member '%s'; `elector keygen --public FILE` prints "
        "what does",
        r->key_file, r->self);
}

bool config_check_keys(struct config_reading *r)
{
    struct config *config = r->config;
    const struct config_member *afar = first_afar(config);
    uint32_t with = 0, without = 0; /* position of the first member of each kind */
    for (uint32_t i = config->member_count; i > 0; i--)
        *(config->members[i - 1].has_key ? &with : &without) = i;
    config->has_keys = with || r->key_file[0] || r->cluster_key_file[0];
    if (!config->has_keys && !afar) return true;
    if (!config->has_keys)
        return config_fail(
            r, r->member_lines[afar - config->members],
            "without keys all members are on this host, and '%s' is not; `elector init` makes keys",
            afar->name);
    if (without)
        return config_fail(r, r->member_lines[without - 1],
                           "member '%s' has no key, and others or this agent have one; write `key = `",
                           config->members[without - 1].name);
    if (!r->key_file[0])
        return config_fail(r, r->self_line, "members have keys; name this one's with `key-file = `");
    if (!r->cluster_key_file[0])
        return config_fail(r, r->self_line, "members have keys; name the cluster's with `cluster-key-file = `");
    return r->form_only || read_secrets(r);
}

/* ---- The whole file ---- */

static void derive_cluster_id(struct config *config)
{
    static const uint8_t purpose[] = "elector cluster id";
    if (!sodium_is_zero(config->cluster_id, SEAL_CLUSTER_ID)) return;
    crypto_generichash(config->cluster_id, SEAL_CLUSTER_ID, (const uint8_t *)config->cluster,
                       strlen(config->cluster), purpose, sizeof purpose);
}

bool config_check(struct config_reading *r)
{
    if (!r->config->cluster[0])
        return config_fail(r, 0, "the cluster has no name; write `name = ` into [cluster]");
    if (!r->self[0]) return config_fail(r, 0, "which member is this? Write `self = NAME` into [agent]");
    derive_cluster_id(r->config);
    if (r->config->profile && r->transmit_line == 0) r->config->transmit_max = r->config->profile->transmit_max;
    return config_check_members(r) && config_check_keys(r) && config_check_groups(r);
}
