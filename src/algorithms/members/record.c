/*
 * The bytes of a record and of a change, little-endian. A record:
 *
 *     0  8  magic, with the format's number at its end     64  8  forgotten
 *     8 16  cluster                                        72  2  how many voted before (from)
 *    24  8  lineage                                        74  2  how many members
 *    32  8  version                                        76  2  how many gone
 *    40  8  before                                         78  2  how many done
 *    48  8  era                                            80  2  how many tokens
 *    56  8  floor                                          82  2  bytes of settings
 *
 *    84  …  from: numbers of 2 bytes, rising
 *     …  members, by rising number: number 2, role, state, size of the name, number of keys 1 each, since 8, name, place, keys
 *     …  gone: number 2, since 8, key;  done: 8 each
 *     …  tokens: number 2, uses 2, role, size of the name 1 each, ends 8, digest, name;  settings
 *
 *     place: dynamic, size of the host name, number of addresses 1 each; port 2 and host name, if there is one; for each
 *     address its size 1 and its bytes
 *
 * A change: number of steps 1, request 8, floor 8; for each step its kind 1, its number 2, and
 *
 *     ENTER  the token's number 2, the member     ADD_KEY  the key            SET  sizes of key and value 1 each, both
 *     ROLE   the role 1                           TOKEN    as in a record     READDRESS  the place
 *
 * ENTER, TOKEN and SET have number 0: the member and the token bear their own.
 */
#include "algorithms/members/internal.h"

#include "core/bytes.h"

static const uint64_t magic = UINT64_C(0x0272626d656d6c65); /* "elmembr" and 2 */

enum { FROM_AT = 84, CHANGE_HEAD = 17 };
_Static_assert((int)MEMBERS_HEAD_BYTES == (int)FROM_AT, "the layout above");

/* ---- Encoding ---- */

/* Writes nothing beyond `left` bytes. */
struct writer {
    uint8_t *at;
    size_t left;
    bool is_full;
};

static void put_bytes(struct writer *out, const uint8_t *bytes, size_t size)
{
    if (out->left < size) out->is_full = true;
    if (out->is_full) return;
    for (size_t i = 0; i < size; i++) out->at[i] = bytes[i];
    out->at += size;
    out->left -= size;
}

static void put(struct writer *out, uint64_t value, unsigned bytes)
{
    uint8_t word[8];
    el_put(word, value, bytes);
    put_bytes(out, word, bytes);
}

static void put_place(struct writer *out, const struct members_place *p)
{
    put(out, p->is_dynamic, 1);
    put(out, p->host_size, 1);
    put(out, p->addresses, 1);
    if (p->host_size) put(out, p->port, 2);
    put_bytes(out, p->host, p->host_size);
    for (uint32_t i = 0; i < p->addresses; i++) {
        put(out, p->address[i].size, 1);
        put_bytes(out, p->address[i].bytes, p->address[i].size);
    }
}

static void put_member(struct writer *out, const struct members_member *m)
{
    put(out, m->number, 2);
    put(out, m->role, 1);
    put(out, m->state, 1);
    put(out, m->name_size, 1);
    put(out, m->keys, 1);
    put(out, m->since, 8);
    put_bytes(out, m->name, m->name_size);
    put_place(out, &m->place);
    for (uint32_t i = 0; i < m->keys; i++) put_bytes(out, m->key[i], MEMBERS_KEY);
}

static void put_token(struct writer *out, const struct members_token *t)
{
    put(out, t->number, 2);
    put(out, t->uses, 2);
    put(out, t->role, 1);
    put(out, t->name_size, 1);
    put(out, t->ends, 8);
    put_bytes(out, t->digest, MEMBERS_TOKEN_DIGEST);
    put_bytes(out, t->name, t->name_size);
}

uint32_t members_encode(const struct members_record *r, uint8_t *bytes)
{
    el_require(members_is_valid(r));
    struct writer out = {.at = bytes, .left = MEMBERS_BYTES_MAX};
    put(&out, magic, 8);
    put_bytes(&out, r->cluster, MEMBERS_CLUSTER);
    const uint64_t words[] = {r->lineage, r->version, r->before, r->era, r->floor, r->forgotten};
    for (size_t i = 0; i < EL_LENGTH(words); i++) put(&out, words[i], 8);
    const uint32_t counts[] = {r->from_count, r->count,       r->gone_count,
                               r->done_count, r->token_count, r->settings_size};
    for (size_t i = 0; i < EL_LENGTH(counts); i++) put(&out, counts[i], 2);
    for (uint32_t i = 0; i < r->from_count; i++) put(&out, r->from[i], 2);
    for (uint32_t i = 0; i < r->count; i++) put_member(&out, &r->members[i]);
    for (uint32_t i = 0; i < r->gone_count; i++) {
        put(&out, r->gone[i].number, 2);
        put(&out, r->gone[i].since, 8);
        put_bytes(&out, r->gone[i].key, MEMBERS_KEY);
    }
    for (uint32_t i = 0; i < r->done_count; i++) put(&out, r->done[i], 8);
    for (uint32_t i = 0; i < r->token_count; i++) put_token(&out, &r->tokens[i]);
    put_bytes(&out, r->settings, r->settings_size);
    el_require(!out.is_full);
    return (uint32_t)(out.at - bytes);
}

uint64_t members_digest(const uint8_t *bytes, size_t size)
{
    return el_fingerprint(bytes, size).low;
}

/* ---- Decoding ---- */

struct reader {
    const uint8_t *at;
    size_t left;
    bool failed; /* it ended too soon, or a size is too large */
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

static void take_bytes(struct reader *in, uint8_t *to, size_t size, size_t room)
{
    if (in->left < size || size > room) in->failed = true;
    if (in->failed) return;
    for (size_t i = 0; i < size; i++) to[i] = in->at[i];
    in->at += size;
    in->left -= size;
}

static void take_place(struct reader *in, struct members_place *p)
{
    p->is_dynamic = (uint8_t)take(in, 1);
    p->host_size = (uint8_t)take(in, 1);
    p->addresses = (uint8_t)take(in, 1);
    if (p->host_size) p->port = (uint16_t)take(in, 2);
    take_bytes(in, p->host, p->host_size, MEMBERS_HOST_MAX);
    if (p->addresses > MEMBERS_ADDRESSES_MAX) in->failed = true;
    for (uint32_t i = 0; i < p->addresses && !in->failed; i++) {
        p->address[i].size = (uint8_t)take(in, 1);
        take_bytes(in, p->address[i].bytes, p->address[i].size, MEMBERS_ADDRESS_MAX);
    }
}

static void take_member(struct reader *in, struct members_member *m)
{
    *m = (struct members_member){0};
    m->number = (uint16_t)take(in, 2);
    m->role = (uint8_t)take(in, 1);
    m->state = (uint8_t)take(in, 1);
    m->name_size = (uint8_t)take(in, 1);
    m->keys = (uint8_t)take(in, 1);
    m->since = take(in, 8);
    take_bytes(in, m->name, m->name_size, MEMBERS_NAME_MAX);
    take_place(in, &m->place);
    if (m->keys > MEMBERS_KEYS_MAX) in->failed = true;
    for (uint32_t i = 0; i < m->keys && !in->failed; i++) take_bytes(in, m->key[i], MEMBERS_KEY, MEMBERS_KEY);
}

static void take_token(struct reader *in, struct members_token *t)
{
    *t = (struct members_token){0};
    t->number = (uint16_t)take(in, 2);
    t->uses = (uint16_t)take(in, 2);
    t->role = (uint8_t)take(in, 1);
    t->name_size = (uint8_t)take(in, 1);
    t->ends = take(in, 8);
    take_bytes(in, t->digest, MEMBERS_TOKEN_DIGEST, MEMBERS_TOKEN_DIGEST);
    take_bytes(in, t->name, t->name_size, MEMBERS_NAME_MAX);
}

static bool take_head(struct reader *in, struct members_record *r)
{
    *r = (struct members_record){0};
    if (take(in, 8) != magic) return false;
    take_bytes(in, r->cluster, MEMBERS_CLUSTER, MEMBERS_CLUSTER);
    uint64_t *const words[] = {&r->lineage, &r->version, &r->before, &r->era, &r->floor, &r->forgotten};
    for (size_t i = 0; i < EL_LENGTH(words); i++) *words[i] = take(in, 8);
    uint32_t *const counts[] = {&r->from_count, &r->count,       &r->gone_count,
                                &r->done_count, &r->token_count, &r->settings_size};
    for (size_t i = 0; i < EL_LENGTH(counts); i++) *counts[i] = (uint32_t)take(in, 2);
    return !in->failed && r->from_count <= MEMBERS_VOTERS_MAX && r->count <= MEMBERS_MAX &&
           r->gone_count <= MEMBERS_GONE_MAX && r->done_count <= MEMBERS_DONE_MAX &&
           r->token_count <= MEMBERS_TOKENS_MAX;
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
        take_bytes(&in, r->gone[i].key, MEMBERS_KEY, MEMBERS_KEY);
    }
    for (uint32_t i = 0; i < r->done_count; i++) r->done[i] = take(&in, 8);
    for (uint32_t i = 0; i < r->token_count && !in.failed; i++) take_token(&in, &r->tokens[i]);
    take_bytes(&in, r->settings, r->settings_size, MEMBERS_SETTINGS_MAX);
    return !in.failed && in.left == 0 && members_is_valid(r);
}

/* ---- Changes ---- */

static bool bears_its_own_number(const struct members_step *s)
{
    return s->kind == MEMBERS_ENTER || s->kind == MEMBERS_TOKEN || s->kind == MEMBERS_SET;
}

/* Its parts are such as a record may have. Whether the step makes sense is members_apply()'s matter. */
static bool is_step(const struct members_step *s)
{
    if ((s->number == 0) != bears_its_own_number(s)) return false;
    switch (s->kind) {
    case MEMBERS_ENTER:
        return s->member.state == MEMBERS_IN && s->member.keys == 1 && members_member_is_valid(&s->member);
    case MEMBERS_ROLE: return s->member.role >= 1 && s->member.role <= MEMBERS_ROLES;
    case MEMBERS_READDRESS: return members_place_is_valid(&s->member.place);
    case MEMBERS_TOKEN: return members_token_is_valid(&s->token);
    case MEMBERS_SET: return members_setting_is_valid(&s->setting);
    default: return s->kind >= MEMBERS_ENTER && s->kind <= MEMBERS_STEP_KINDS;
    }
}

static bool is_change(const struct members_change *c)
{
    if (c->count > MEMBERS_STEPS_MAX || c->floor >= EL_EPOCH_MAX) return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (!is_step(&c->steps[i])) return false;
    return true;
}

static void put_step(struct writer *out, const struct members_step *s)
{
    put(out, (uint64_t)s->kind, 1);
    put(out, s->number, 2);
    switch (s->kind) {
    case MEMBERS_ENTER:
        put(out, s->token.number, 2);
        put_member(out, &s->member);
        break;
    case MEMBERS_ROLE: put(out, s->member.role, 1); break;
    case MEMBERS_READDRESS: put_place(out, &s->member.place); break;
    case MEMBERS_ADD_KEY: put_bytes(out, s->member.key[0], MEMBERS_KEY); break;
    case MEMBERS_TOKEN: put_token(out, &s->token); break;
    case MEMBERS_SET:
        put(out, s->setting.key_size, 1);
        put(out, s->setting.value_size, 1);
        put_bytes(out, s->setting.key, s->setting.key_size);
        put_bytes(out, s->setting.value, s->setting.value_size);
        break;
    default: break;
    }
}

uint32_t members_encode_change(const struct members_change *c, uint8_t *bytes)
{
    if (!is_change(c)) return 0;
    struct writer out = {.at = bytes, .left = MEMBERS_CHANGE_BYTES_MAX};
    put(&out, c->count, 1);
    put(&out, c->request, 8);
    put(&out, c->floor, 8);
    for (uint32_t i = 0; i < c->count; i++) put_step(&out, &c->steps[i]);
    return out.is_full ? 0 : (uint32_t)(out.at - bytes);
}

static void take_setting(struct reader *in, struct members_setting *s)
{
    s->key_size = (uint8_t)take(in, 1);
    s->value_size = (uint8_t)take(in, 1);
    take_bytes(in, s->key, s->key_size, MEMBERS_SETTING_KEY_MAX);
    take_bytes(in, s->value, s->value_size, MEMBERS_SETTING_VALUE_MAX);
}

static void take_step(struct reader *in, struct members_step *s)
{
    *s = (struct members_step){.kind = (enum members_step_kind)take(in, 1)};
    s->number = (uint16_t)take(in, 2);
    switch (s->kind) {
    case MEMBERS_ENTER:
        s->token.number = (uint16_t)take(in, 2);
        take_member(in, &s->member);
        break;
    case MEMBERS_ROLE: s->member.role = (uint8_t)take(in, 1); break;
    case MEMBERS_READDRESS: take_place(in, &s->member.place); break;
    case MEMBERS_ADD_KEY: take_bytes(in, s->member.key[0], MEMBERS_KEY, MEMBERS_KEY); break;
    case MEMBERS_TOKEN: take_token(in, &s->token); break;
    case MEMBERS_SET: take_setting(in, &s->setting); break;
    default: break;
    }
}

bool members_decode_change(struct members_change *c, const uint8_t *bytes, size_t size)
{
    struct reader in = {.at = bytes, .left = size};
    *c = (struct members_change){0};
    if (size < CHANGE_HEAD || size > MEMBERS_CHANGE_BYTES_MAX) return false;
    c->count = (uint32_t)take(&in, 1);
    c->request = take(&in, 8);
    c->floor = take(&in, 8);
    if (c->count > MEMBERS_STEPS_MAX) return false;
    for (uint32_t i = 0; i < c->count && !in.failed; i++) take_step(&in, &c->steps[i]);
    return !in.failed && in.left == 0 && is_change(c);
}
