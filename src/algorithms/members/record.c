/*
 * The bytes of a record, little-endian:
 *
 *     0  8  magic, with the format's number at its end     56  8  floor
 *     8 16  cluster                                        64  2  how many voted before (from)
 *    24  8  lineage                                        66  2  how many members
 *    32  8  version                                        68  2  how many gone
 *    40  8  before                                         70  2  how many done
 *    48  8  era                                            72  …  from: numbers of 2 bytes, rising
 *     …  members, by rising number: number 2, role, state, sizes of name and address, number of keys 1 each, since 8, then
 *        name, address, keys
 *     …  gone: number 2, since 8, key;  done: 8 each
 */
#include "algorithms/members/record.h"

#include "core/bytes.h"

static const uint64_t magic = UINT64_C(0x0172626d656d6c65); /* "elmembr" and 1 */

enum { FROM_AT = 72, MEMBER_HEAD = 15 };
_Static_assert((int)MEMBERS_HEAD_BYTES == (int)FROM_AT, "the layout above");

/* ---- What a record may be ---- */

static bool is_name_byte(uint8_t byte)
{
    const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    return is_letter || (byte >= '0' && byte <= '9') || byte == '.' || byte == '_' || byte == '-';
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    uint8_t any = 0;
    for (size_t i = 0; i < size; i++) any |= bytes[i];
    return any == 0;
}

static bool is_name(const struct members_member *m)
{
    if (m->name_size == 0 || m->name_size > MEMBERS_NAME_MAX) return false;
    for (uint32_t i = 0; i < m->name_size; i++)
        if (!is_name_byte(m->name[i])) return false;
    return is_zero(m->name + m->name_size, (size_t)(MEMBERS_NAME_MAX - m->name_size));
}

/* An observer that only listens may have no address; a port is never 0. */
static bool is_address(const struct members_member *m)
{
    if (m->address_size != 6 && m->address_size != 18) return m->address_size == 0 && is_zero(m->address, 18);
    return !is_zero(m->address + m->address_size - 2, 2) &&
           is_zero(m->address + m->address_size, (size_t)(MEMBERS_ADDRESS_MAX - m->address_size));
}

static bool has_keys(const struct members_member *m)
{
    if (m->keys < 1 || m->keys > MEMBERS_KEYS_MAX) return false;
    for (uint32_t i = 0; i < MEMBERS_KEYS_MAX; i++)
        if (is_zero(m->key[i], MEMBERS_KEY) == (i < m->keys)) return false;
    return true;
}

static bool is_member(const struct members_member *m)
{
    const bool is_voter = m->role == MEMBERS_VOTER || m->role == MEMBERS_WITNESS;
    if (m->number < 1 || m->number > MEMBERS_MAX || m->role < 1 || m->role > MEMBERS_ROLES) return false;
    if (m->state > MEMBERS_STATES || (m->state == MEMBERS_JOINING && !is_voter) || m->spare) return false;
    if (is_voter && m->address_size == 0) return false;
    return is_name(m) && is_address(m) && has_keys(m) && m->since < EL_EPOCH_MAX;
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

static bool is_same(const uint8_t *a, const uint8_t *b, size_t size)
{
    size_t i = 0;
    while (i < size && a[i] == b[i]) i++;
    return i == size;
}

/* Two members share no name and no key. */
static bool are_apart(const struct members_member *a, const struct members_member *b)
{
    if (a->name_size == b->name_size && is_same(a->name, b->name, a->name_size)) return false;
    for (uint32_t i = 0; i < a->keys; i++)
        for (uint32_t k = 0; k < b->keys; k++)
            if (is_same(a->key[i], b->key[k], MEMBERS_KEY)) return false;
    return true;
}

static bool are_members(const struct members_record *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (!is_member(&r->members[i]) || (i && r->members[i].number <= r->members[i - 1].number)) return false;
        for (uint32_t k = 0; k < i; k++)
            if (!are_apart(&r->members[k], &r->members[i])) return false;
    }
    return true;
}

bool members_is_valid(const struct members_record *r)
{
    const uint32_t voters = members_voter_count(r);
    if (r->version < 1 || r->version >= EL_EPOCH_MAX || (r->version == 1) != (r->before == 0)) return false;
    if (r->era < 1 || r->era > r->version || r->floor >= EL_EPOCH_MAX) return false;
    if (r->count > MEMBERS_MAX || voters < 1 || voters > MEMBERS_VOTERS_MAX) return false;
    if ((r->from_count && r->era == 1) || !are_members(r)) return false;
    for (uint32_t i = 0; i < r->from_count; i++)
        if (r->from[i] < 1 || r->from[i] > MEMBERS_MAX || (i && r->from[i] <= r->from[i - 1])) return false;
    for (uint32_t i = 0; i < r->gone_count; i++)
        if (r->gone[i].number < 1 || r->gone[i].number > MEMBERS_MAX || r->gone[i].since >= EL_EPOCH_MAX)
            return false;
    return true;
}

/* ---- Encoding ---- */

static uint8_t *put(uint8_t *at, uint64_t value, unsigned bytes)
{
    el_put(at, value, bytes);
    return at + bytes;
}

static uint8_t *put_bytes(uint8_t *at, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) at[i] = bytes[i];
    return at + size;
}

static uint8_t *put_member(uint8_t *at, const struct members_member *m)
{
    at = put(at, m->number, 2);
    at = put(at, m->role, 1);
    at = put(at, m->state, 1);
    at = put(at, m->name_size, 1);
    at = put(at, m->address_size, 1);
    at = put(at, m->keys, 1);
    at = put(at, m->since, 8);
    at = put_bytes(at, m->name, m->name_size);
    at = put_bytes(at, m->address, m->address_size);
    for (uint32_t i = 0; i < m->keys; i++) at = put_bytes(at, m->key[i], MEMBERS_KEY);
    return at;
}

uint32_t members_encode(const struct members_record *r, uint8_t *bytes)
{
    el_require(members_is_valid(r));
    uint8_t *at = put(bytes, magic, 8);
    at = put_bytes(at, r->cluster, MEMBERS_CLUSTER);
    const uint64_t words[] = {r->lineage, r->version, r->before, r->era, r->floor};
    for (size_t i = 0; i < EL_LENGTH(words); i++) at = put(at, words[i], 8);
    const uint32_t counts[] = {r->from_count, r->count, r->gone_count, r->done_count};
    for (size_t i = 0; i < EL_LENGTH(counts); i++) at = put(at, counts[i], 2);
    for (uint32_t i = 0; i < r->from_count; i++) at = put(at, r->from[i], 2);
    for (uint32_t i = 0; i < r->count; i++) at = put_member(at, &r->members[i]);
    for (uint32_t i = 0; i < r->gone_count; i++) {
        at = put(at, r->gone[i].number, 2);
        at = put(at, r->gone[i].since, 8);
        at = put_bytes(at, r->gone[i].key, MEMBERS_KEY);
    }
    for (uint32_t i = 0; i < r->done_count; i++) at = put(at, r->done[i], 8);
    return (uint32_t)(at - bytes);
}

uint64_t members_digest(const uint8_t *bytes, size_t size)
{
    return el_fingerprint(bytes, size).low;
}

/* ---- Decoding ---- */

struct reader {
    const uint8_t *at;
    size_t left;
    bool failed; /* it ended too soon */
};

static uint64_t take(struct reader *in, unsigned bytes)
{
    if (in->left < bytes) in->failed = true;
    if (in->failed) return 0;
    const uint64_t value = el_get(in->at, bytes);
    in->at += bytes;
    in->left -= bytes;
    return value;
}

static void take_bytes(struct reader *in, uint8_t *to, size_t size)
{
    if (in->left < size) in->failed = true;
    if (in->failed) return;
    for (size_t i = 0; i < size; i++) to[i] = in->at[i];
    in->at += size;
    in->left -= size;
}

static void take_member(struct reader *in, struct members_member *m)
{
    *m = (struct members_member){0};
    m->number = (uint16_t)take(in, 2);
    m->role = (uint8_t)take(in, 1);
    m->state = (uint8_t)take(in, 1);
    m->name_size = (uint8_t)take(in, 1);
    m->address_size = (uint8_t)take(in, 1);
    m->keys = (uint8_t)take(in, 1);
    m->since = take(in, 8);
    if (m->name_size > MEMBERS_NAME_MAX || m->address_size > MEMBERS_ADDRESS_MAX ||
        m->keys > MEMBERS_KEYS_MAX) {
        in->failed = true;
        return;
    }
    take_bytes(in, m->name, m->name_size);
    take_bytes(in, m->address, m->address_size);
    for (uint32_t i = 0; i < m->keys; i++) take_bytes(in, m->key[i], MEMBERS_KEY);
}

static bool take_head(struct reader *in, struct members_record *r)
{
    if (take(in, 8) != magic) return false;
    take_bytes(in, r->cluster, MEMBERS_CLUSTER);
    r->lineage = take(in, 8);
    r->version = take(in, 8);
    r->before = take(in, 8);
    r->era = take(in, 8);
    r->floor = take(in, 8);
    r->from_count = (uint32_t)take(in, 2);
    r->count = (uint32_t)take(in, 2);
    r->gone_count = (uint32_t)take(in, 2);
    r->done_count = (uint32_t)take(in, 2);
    return !in->failed && r->from_count <= MEMBERS_VOTERS_MAX && r->count <= MEMBERS_MAX &&
           r->gone_count <= MEMBERS_GONE_MAX && r->done_count <= MEMBERS_DONE_MAX;
}

bool members_decode(struct members_record *r, const uint8_t *bytes, size_t size)
{
    struct reader in = {.at = bytes, .left = size};
    if (!take_head(&in, r)) return false;
    for (uint32_t i = 0; i < r->from_count; i++) r->from[i] = (uint16_t)take(&in, 2);
    for (uint32_t i = 0; i < r->count && !in.failed; i++) take_member(&in, &r->members[i]);
    for (uint32_t i = 0; i < r->gone_count && !in.failed; i++) {
        r->gone[i].number = (uint16_t)take(&in, 2);
        r->gone[i].since = take(&in, 8);
        take_bytes(&in, r->gone[i].key, MEMBERS_KEY);
    }
    for (uint32_t i = 0; i < r->done_count; i++) r->done[i] = take(&in, 8);
    return !in.failed && in.left == 0 && members_is_valid(r);
}
