/* What a record of the membership may be, and who is in it. */
#include "algorithms/members/internal.h"

static bool is_zero(const uint8_t *bytes, size_t size)
{
    uint8_t any = 0;
    for (size_t i = 0; i < size; i++) any |= bytes[i];
    return any == 0;
}

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_name_byte(uint8_t byte)
{
    const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    return is_letter || is_digit(byte) || byte == '.' || byte == '_' || byte == '-';
}

/* `size` bytes of a name, and zeros up to `room`. */
static bool is_word(const uint8_t *word, uint32_t size, uint32_t room)
{
    if (size > room) return false;
    for (uint32_t i = 0; i < size; i++)
        if (!is_name_byte(word[i])) return false;
    return is_zero(word + size, room - size);
}

/* ---- Places ---- */

/* A port is never 0. */
static bool is_address(const struct members_address *a)
{
    if (a->size != 6 && a->size != 18) return false;
    return !is_zero(a->bytes + a->size - 2, 2) &&
           is_zero(a->bytes + a->size, (size_t)(MEMBERS_ADDRESS_MAX - a->size));
}

static bool is_same_address(const struct members_address *a, const struct members_address *b)
{
    return a->size == b->size && members_same(a->bytes, b->bytes, MEMBERS_ADDRESS_MAX);
}

/* A name that ends in a number is an IPv4 address for those who look names up: it has bytes of its own. */
static bool is_host(const struct members_place *p)
{
    if (p->host_size == 0) return p->port == 0 && is_zero(p->host, sizeof p->host);
    if (p->host_size > MEMBERS_HOST_MAX || p->port == 0) return false;
    uint32_t end = p->host_size;
    while (end > 0 && is_digit(p->host[end - 1])) end--;
    const bool ends_in_number = end < p->host_size && (end == 0 || p->host[end - 1] == '.');
    return !ends_in_number && is_word(p->host, p->host_size, MEMBERS_HOST_MAX + 1);
}

bool members_place_is_valid(const struct members_place *p)
{
    if (p->is_dynamic > 1 || !is_host(p)) return false;
    if (p->addresses + (p->host_size > 0) > (p->is_dynamic ? 0 : MEMBERS_ADDRESSES_MAX)) return false;
    for (uint32_t i = 0; i < MEMBERS_ADDRESSES_MAX; i++) {
        const struct members_address *a = &p->address[i];
        if (i >= p->addresses && (a->size || !is_zero(a->bytes, MEMBERS_ADDRESS_MAX))) return false;
        if (i < p->addresses && !is_address(a)) return false;
        for (uint32_t k = 0; k < i && i < p->addresses; k++)
            if (is_same_address(a, &p->address[k])) return false;
    }
    return true;
}

bool members_places_meet(const struct members_place *a, const struct members_place *b)
{
    if (a->host_size && a->host_size == b->host_size && a->port == b->port &&
        members_same(a->host, b->host, a->host_size))
        return true;
    for (uint32_t i = 0; i < a->addresses; i++)
        for (uint32_t k = 0; k < b->addresses; k++)
            if (is_same_address(&a->address[i], &b->address[k])) return true;
    return false;
}

/* ---- Members ---- */

static bool has_keys(const struct members_member *m)
{
    if (m->keys < 1 || m->keys > MEMBERS_KEYS_MAX) return false;
    for (uint32_t i = 0; i < MEMBERS_KEYS_MAX; i++)
        if (is_zero(m->key[i], MEMBERS_KEY) == (i < m->keys)) return false;
    return true;
}

/* A voter has an address that others know before they hear it; an observer that only listens may have none. */
bool members_member_is_valid(const struct members_member *m)
{
    const bool may_vote = members_may_vote(m->role);
    if (m->number < 1 || m->number > MEMBERS_MAX || m->role < 1 || m->role > MEMBERS_ROLES) return false;
    if (m->state > MEMBERS_STATES || (m->state == MEMBERS_JOINING && !may_vote)) return false;
    if (may_vote && m->place.host_size == 0 && m->place.addresses == 0) return false;
    if (m->name_size == 0 || !is_word(m->name, m->name_size, MEMBERS_NAME_MAX)) return false;
    return members_place_is_valid(&m->place) && has_keys(m) && m->since < EL_EPOCH_MAX;
}

uint32_t members_voter_count(const struct members_record *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->count; i++) count += members_votes(&r->members[i]);
    return count;
}

const struct members_member *members_find(const struct members_record *r, uint32_t number)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->members[i].number == number) return &r->members[i];
    return NULL;
}

/* Two members share no name, no key and no address. */
static bool are_apart(const struct members_member *a, const struct members_member *b)
{
    if (a->name_size == b->name_size && members_same(a->name, b->name, a->name_size)) return false;
    for (uint32_t i = 0; i < a->keys; i++)
        for (uint32_t k = 0; k < b->keys; k++)
            if (members_same(a->key[i], b->key[k], MEMBERS_KEY)) return false;
    return !members_places_meet(&a->place, &b->place);
}

static bool are_members(const struct members_record *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (!members_member_is_valid(&r->members[i])) return false;
        if (i && r->members[i].number <= r->members[i - 1].number) return false;
        for (uint32_t k = 0; k < i; k++)
            if (!are_apart(&r->members[k], &r->members[i])) return false;
    }
    return true;
}

/* ---- Tokens ---- */

bool members_token_is_valid(const struct members_token *t)
{
    if (t->number == 0 || t->uses == 0 || t->role < 1 || t->role > MEMBERS_ROLES) return false;
    if (t->name_size && t->uses != 1) return false; /* a name is taken once */
    return is_word(t->name, t->name_size, MEMBERS_NAME_MAX) && !is_zero(t->digest, MEMBERS_TOKEN_DIGEST);
}

static bool are_tokens(const struct members_record *r)
{
    if (r->token_count > MEMBERS_TOKENS_MAX) return false;
    for (uint32_t i = 0; i < r->token_count; i++) {
        if (!members_token_is_valid(&r->tokens[i])) return false;
        if (i && r->tokens[i].number <= r->tokens[i - 1].number) return false;
    }
    return true;
}

/* ---- The whole record ---- */

static bool are_lists(const struct members_record *r)
{
    if (r->from_count > MEMBERS_VOTERS_MAX || r->gone_count > MEMBERS_GONE_MAX ||
        r->done_count > MEMBERS_DONE_MAX)
        return false;
    for (uint32_t i = 0; i < r->from_count; i++)
        if (r->from[i] < 1 || r->from[i] > MEMBERS_MAX || (i && r->from[i] <= r->from[i - 1])) return false;
    for (uint32_t i = 0; i < r->gone_count; i++)
        if (r->gone[i].number < 1 || r->gone[i].number > MEMBERS_MAX || r->gone[i].since >= EL_EPOCH_MAX)
            return false;
    return true;
}

bool members_is_valid(const struct members_record *r)
{
    if (r->version < 1 || r->version >= EL_EPOCH_MAX || (r->version == 1) != (r->before == 0)) return false;
    if (r->era < 1 || r->era > r->version || r->floor >= EL_EPOCH_MAX || r->forgotten >= EL_EPOCH_MAX)
        return false;
    if (r->count > MEMBERS_MAX || (r->from_count && r->era == 1) || !are_members(r) || !are_lists(r))
        return false;
    const uint32_t voters = members_voter_count(r);
    return voters >= 1 && voters <= MEMBERS_VOTERS_MAX && are_tokens(r) && members_settings_are_valid(r);
}

bool members_first(struct members_record *record, const uint8_t cluster[MEMBERS_CLUSTER],
                   const struct members_member *members, uint32_t count)
{
    *record = (struct members_record){.version = 1, .era = 1};
    for (uint32_t i = 0; i < MEMBERS_CLUSTER; i++) record->cluster[i] = cluster[i];
    for (uint32_t i = 0; i < count && i < MEMBERS_MAX; i++) {
        uint32_t at = record->count++;
        for (; at > 0 && record->members[at - 1].number > members[i].number; at--)
            record->members[at] = record->members[at - 1];
        record->members[at] = members[i];
    }
    return count <= MEMBERS_MAX && members_is_valid(record);
}
