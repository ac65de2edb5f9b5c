/* The handshake against the published vector, and what must break it. */
#include "agent/seal/noise.h"

#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Noise_IKpsk2_25519_ChaChaPoly_BLAKE2b of cacophony's vectors: github.com/mcginty/snow, tests/vectors/cacophony.txt,
 * at aabed3159dee (earlier versions have the same messages and other handshake hashes). */
static const char prologue[] = "4a6f686e2047616c74";
static const char psk[] = "54686973206973206d7920417573747269616e20706572737065637469766521";
static const char init_static[] = "e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1";
static const char init_ephemeral[] = "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a";
static const char init_remote_static[] = "31e0303fd6418d2f8c0e78b91f22e8caed0fbe48656dcf4767e4834f701b8f62";
static const char resp_static[] = "4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893";
static const char resp_ephemeral[] = "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b";
static const char handshake_hash[] = "ed837c9084f2f0333a7ec60b9bcacd9921394858de8ced118b5966d1147ba390"
                                     "084dab42326c565a309c29317a6079be30aa1d790d25a517b43287426cb1d36a";
static const char *const messages[][2] = {
    {"4c756477696720766f6e204d69736573",
     "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944b6fe0240b839afac809de1630eaf99d8"
     "f9b941394f0512c0554633bbb021d15176135c0a20e7fdb9a9ed066f22f054b47625b1d5061cb27d6a17f053273db7c2"
     "5216a5addc506ee321bc0618feb5849d"},
    {"4d757272617920526f746862617264", "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843"
                                       "8f627e69fc120006f746b9d420bf4056cf8481ab32d9e904ffaeeaa56a5290"},
    {"462e20412e20486179656b", "07fc0034398a5f1010322be193d62f94bebf2948a20b3e15d681fe"},
    {"4361726c204d656e676572", "2ea5400f5b8a16971c8b67bde75aeb7987d454b1c0beeb2566932d"},
    {"4a65616e2d426170746973746520536179",
     "96eef918ef51639fc0e156da1823c4f71b33fac5af983f5da9384f7da20d86ed91"},
    {"457567656e2042f6686d20766f6e2042617765726b",
     "f02766a56496e1fbf32e05274baebf6d693c8f3e4c6e0dc7ebdc5ac170f15dae433b92f469"},
};

struct bytes {
    uint8_t at[256];
    size_t size;
};

static struct bytes bytes_of(const char *hex)
{
    struct bytes b = {0};
    assert_int_equal(sodium_hex2bin(b.at, sizeof b.at, hex, strlen(hex), NULL, &b.size, NULL), 0);
    return b;
}

static void is_hex(const uint8_t *at, size_t size, const char *hex)
{
    const struct bytes right = bytes_of(hex);
    assert_int_equal(size, right.size);
    assert_memory_equal(at, right.at, size);
}

/* Both sides after noise_begin(), with the vector's keys. */
struct pair {
    struct noise initiator, responder;
    struct bytes secret, ephemeral, their_public, their_secret, their_ephemeral, psk;
};

static struct pair meet(const char *its_prologue, const char *their_prologue)
{
    const struct bytes one = bytes_of(its_prologue), other = bytes_of(their_prologue);
    struct pair p = {.secret = bytes_of(init_static),
                     .ephemeral = bytes_of(init_ephemeral),
                     .their_public = bytes_of(init_remote_static),
                     .their_secret = bytes_of(resp_static),
                     .their_ephemeral = bytes_of(resp_ephemeral),
                     .psk = bytes_of(psk)};
    noise_begin(&p.initiator, p.their_public.at, one.at, one.size);
    noise_begin(&p.responder, p.their_public.at, other.at, other.size);
    return p;
}

static struct bytes ask(struct pair *p)
{
    const struct bytes payload = bytes_of(messages[0][0]);
    struct bytes first = {.size = payload.size + NOISE_FIRST};
    assert_true(noise_write_first(&p->initiator, p->secret.at, p->ephemeral.at, p->their_public.at, payload.at,
                                  payload.size, first.at));
    return first;
}

static bool hear(struct pair *p, const struct bytes *first)
{
    struct bytes who, payload;
    return noise_read_who(&p->responder, p->their_secret.at, first->at, first->size, who.at) &&
           noise_read_first(&p->responder, p->their_secret.at, first->at, first->size, payload.at);
}

static struct bytes reply(struct pair *p)
{
    const struct bytes payload = bytes_of(messages[1][0]);
    struct bytes second = {.size = payload.size + NOISE_SECOND};
    assert_true(noise_write_second(&p->responder, p->their_ephemeral.at, p->psk.at, payload.at, payload.size,
                                   second.at));
    return second;
}

static bool hear_reply(const struct pair *p, const struct bytes *second, const uint8_t key[NOISE_KEY])
{
    struct noise n = p->initiator;
    struct bytes payload;
    return noise_read_second(&n, p->secret.at, key, second->at, second->size, payload.at);
}

static void speaks_as_published(void **state)
{
    struct pair p = meet(prologue, prologue);
    struct bytes who, payload;
    uint8_t keys[2][2][NOISE_KEY];

    const struct bytes first = ask(&p);
    is_hex(first.at, first.size, messages[0][1]);
    assert_true(noise_read_who(&p.responder, p.their_secret.at, first.at, first.size, who.at));
    uint8_t public_key[NOISE_KEY];
    crypto_scalarmult_curve25519_base(public_key, p.secret.at);
    assert_memory_equal(who.at, public_key, NOISE_KEY);
    assert_true(noise_read_first(&p.responder, p.their_secret.at, first.at, first.size, payload.at));
    is_hex(payload.at, first.size - NOISE_FIRST, messages[0][0]);

    const struct bytes second = reply(&p);
    is_hex(second.at, second.size, messages[1][1]);
    assert_true(noise_read_second(&p.initiator, p.secret.at, p.psk.at, second.at, second.size, payload.at));
    is_hex(payload.at, second.size - NOISE_SECOND, messages[1][0]);
    is_hex(p.initiator.hash, NOISE_HASH, handshake_hash);
    is_hex(p.responder.hash, NOISE_HASH, handshake_hash);

    noise_split(&p.initiator, keys[0][0], keys[0][1]);
    noise_split(&p.responder, keys[1][0], keys[1][1]);
    assert_memory_equal(keys[0], keys[1], sizeof keys[0]);
    for (unsigned i = 2; i < 6; i++) {
        const struct bytes text = bytes_of(messages[i][0]);
        struct bytes sealed;
        noise_seal(keys[0][i % 2], (i - 2) / 2, NULL, 0, text.at, text.size, sealed.at);
        is_hex(sealed.at, text.size + NOISE_TAG, messages[i][1]);
        assert_true(
            noise_open(keys[1][i % 2], (i - 2) / 2, NULL, 0, sealed.at, text.size + NOISE_TAG, payload.at));
        is_hex(payload.at, text.size, messages[i][0]);
    }
}

static void leaves_nothing_behind(void **state)
{
    struct pair p = meet(prologue, prologue);
    const struct noise nothing = {0};
    uint8_t keys[2][NOISE_KEY];
    (void)ask(&p);
    noise_split(&p.initiator, keys[0], keys[1]);
    assert_memory_equal(&p.initiator, &nothing, sizeof nothing);
}

static void another_prologue_is_not_understood(void **state)
{
    struct pair p = meet(prologue, "4a6f686e2047616c75");
    const struct bytes first = ask(&p);
    assert_false(hear(&p, &first));
}

static void another_psk_is_not_understood(void **state)
{
    struct pair p = meet(prologue, prologue);
    const struct bytes first = ask(&p);
    assert_true(hear(&p, &first));
    const struct bytes second = reply(&p);
    struct bytes other = p.psk;
    other.at[31] ^= 1;
    assert_false(hear_reply(&p, &second, other.at));
    assert_true(hear_reply(&p, &second, p.psk.at));
}

static void no_bit_may_change(void **state)
{
    const struct pair fresh = meet(prologue, prologue);
    struct pair p = fresh;
    const struct bytes first = ask(&p);
    for (size_t i = 0; i < first.size; i++) {
        struct pair q = fresh;
        struct bytes forged = first;
        forged.at[i] ^= (uint8_t)(1 << i % 7); /* the top bit of a public key says nothing: see RFC 7748 */
        assert_false(hear(&q, &forged));
    }
    assert_true(hear(&p, &first));
    const struct bytes second = reply(&p);
    for (size_t i = 0; i < second.size; i++) {
        struct bytes forged = second;
        forged.at[i] ^= (uint8_t)(1 << i % 7);
        assert_false(hear_reply(&p, &forged, p.psk.at));
    }
    assert_true(hear_reply(&p, &second, p.psk.at));
}

static void no_length_may_change(void **state)
{
    const struct pair fresh = meet(prologue, prologue);
    struct pair p = fresh;
    struct bytes first = ask(&p);
    assert_true(hear(&p, &first));
    struct bytes second = reply(&p);
    for (size_t whole = first.size, size = 0; size <= whole + 1; size++) {
        struct pair q = fresh;
        first.size = size;
        assert_int_equal(hear(&q, &first), size == whole);
    }
    for (size_t whole = second.size, size = 0; size <= whole + 1; size++) {
        second.size = size;
        assert_int_equal(hear_reply(&p, &second, p.psk.at), size == whole);
    }
}

static void points_of_small_order_are_refused(void **state)
{
    struct pair p = meet(prologue, prologue);
    struct bytes first = ask(&p);
    assert_true(hear(&p, &first));
    struct bytes second = reply(&p);
    memset(second.at, 0, NOISE_KEY);
    assert_false(hear_reply(&p, &second, p.psk.at));
    struct pair q = meet(prologue, prologue);
    memset(first.at, 0, NOISE_KEY);
    assert_false(hear(&q, &first));
    const uint8_t zero[NOISE_KEY] = {0};
    assert_false(noise_write_first(&q.initiator, q.secret.at, q.ephemeral.at, zero, zero, 0, first.at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speaks_as_published),
        cmocka_unit_test(leaves_nothing_behind),
        cmocka_unit_test(another_prologue_is_not_understood),
        cmocka_unit_test(another_psk_is_not_understood),
        cmocka_unit_test(no_bit_may_change),
        cmocka_unit_test(no_length_may_change),
        cmocka_unit_test(points_of_small_order_are_refused),
    };
    if (sodium_init() < 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
