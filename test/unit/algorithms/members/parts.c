/*
 * The parts of a record: places, tokens, settings, numbers that are given anew; and changes as bytes, which voters vote for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/node/records.h"

static struct members_address address_6(uint8_t host)
{
    return (struct members_address){.size = 18, .bytes = {[0] = 0xfd, [15] = host, [17] = 7}};
}

static void name_host(struct members_place *place, const char *name, uint16_t port)
{
    memset(place->host, 0, sizeof place->host);
    place->host_size = (uint8_t)strlen(name);
    memcpy(place->host, name, place->host_size);
    place->port = port;
}

/* M5: a voter that lost its disk is mute until two more records are installed, if need be two that change nothing. */
static void a_change_without_a_step_changes_nothing_but_the_number(void **state)
{
    (void)state;
    does(enters(member(4, "e", MEMBERS_VOTER)));
    does(step(MEMBERS_SEAT, 4));
    struct members_change change = {.request = 99};
    assert_int_equal(members_apply(&base, 0x5678, true, &change, &next), MEMBERS_DONE);
    assert_int_equal(next.version, base.version + 1);
    assert_int_equal(next.before, 0x5678);
    assert_int_equal(next.era, base.era);
    assert_int_equal(next.from_count, 0); /* it is sole from the beginning */
    assert_int_equal(next.count, base.count);
    assert_memory_equal(next.members, base.members, sizeof next.members);
    assert_int_equal(members_apply(&base, 0x5678, false, &change, &next), MEMBERS_IS_JOINT);
}

/* ---- Places ---- */

static void a_member_has_up_to_three_addresses(void **state)
{
    (void)state;
    struct members_step move = step(MEMBERS_READDRESS, 1);
    struct members_place *to = &move.member.place;
    *to = (struct members_place){.addresses = 3, .address = {address(50, 7), address_6(50), address(51, 7)}};
    does(move);
    assert_int_equal(try(move), MEMBERS_IS_SO_ALREADY);
    to->address[2] = address(1, 7); /* its own of before, which nobody has now */
    does(move);
    to->address[2] = address(51, 8), to->address[0] = address(1, 7); /* in part its own */
    does(move);
    struct members_step move_b = step(MEMBERS_READDRESS, 2);
    move_b.member.place = (struct members_place){.addresses = 2, .address = {address(60, 7), address_6(50)}};
    assert_int_equal(try(move_b), MEMBERS_ADDRESS_TAKEN);
    move_b.member.place.address[1] = address(60, 7); /* twice the same */
    assert_int_equal(try(move_b), MEMBERS_BAD_MEMBER);
    name_host(to, "one.example", 7);
    assert_int_equal(try(move), MEMBERS_BAD_MEMBER); /* four in all */
    to->addresses = 2, to->address[2] = (struct members_address){0};
    does(move);
    move_b.member.place = (struct members_place){0};
    name_host(&move_b.member.place, "one.example", 7);
    assert_int_equal(try(move_b), MEMBERS_ADDRESS_TAKEN);
    name_host(&move_b.member.place, "one.example", 8);
    does(move_b);
    const uint32_t size = members_encode(&base, bytes);
    assert_true(members_decode(&next, bytes, size));
    assert_memory_equal(&next.members[0].place, to, sizeof *to);
}

static void a_host_name_is_no_address(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "one.example", "10.example", "x-1", "a1", "10.0.0.1a"},
                             *const bad[] = {"10.0.0.1", "1", "a.1", "a b", "a/b", "[::1]"};
    struct members_place place = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        name_host(&place, good[i], 7);
        base.members[0].place = place;
        assert_true(members_is_valid(&base));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        name_host(&place, bad[i], 7);
        base.members[0].place = place;
        assert_false(members_is_valid(&base));
    }
    name_host(&place, "a", 0);
    base.members[0].place = place;
    assert_false(members_is_valid(&base));
}

/* It is where it was heard last, so nobody finds it who has not heard it: no voter. */
static void only_a_member_without_a_vote_is_dynamic(void **state)
{
    (void)state;
    struct members_member m = member(4, "e", MEMBERS_CANDIDATE);
    m.place = (struct members_place){.is_dynamic = 1};
    does(enters(m));
    m = member(5, "f", MEMBERS_CANDIDATE);
    m.place = (struct members_place){.is_dynamic = 1};
    does(enters(m)); /* two dynamic members share no address */
    struct members_step promote = step(MEMBERS_ROLE, 4);
    promote.member.role = MEMBERS_VOTER;
    assert_int_equal(try(promote), MEMBERS_BAD_MEMBER);
    m = member(6, "g", MEMBERS_VOTER);
    m.place = (struct members_place){.is_dynamic = 1};
    assert_int_equal(try(enters(m)), MEMBERS_BAD_MEMBER);
    m.role = MEMBERS_CANDIDATE, m.place.addresses = 1, m.place.address[0] = address(6, 7);
    assert_int_equal(try(enters(m)), MEMBERS_BAD_MEMBER);
}

/* ---- Numbers given anew ---- */

/* `gone` forgets the oldest. Its lives are not forgotten: who enters under its number begins above them (M1). */
static void enters_above_every_life_that_was_forgotten(void **state)
{
    (void)state;
    struct members_member m = member(500, "first", MEMBERS_OBSERVER);
    char name[16];
    m.since = 5000, m.place = (struct members_place){0}, memset(m.key[0], 251, MEMBERS_KEY);
    does(enters(m));
    does(step(MEMBERS_DROP, 500));
    for (uint32_t i = 0; i < MEMBERS_GONE_MAX; i++) {
        assert_int_equal(base.forgotten, 0);
        snprintf(name, sizeof name, "x%u", i);
        m = member((uint16_t)(100 + i), name, MEMBERS_OBSERVER);
        does(enters(m));
        does(step(MEMBERS_DROP, m.number));
    }
    assert_int_equal(base.forgotten, 5000);
    m = member(500, "again", MEMBERS_OBSERVER), memset(m.key[0], 252, MEMBERS_KEY);
    m.since = 5000;
    assert_int_equal(try(enters(m)), MEMBERS_NUMBER_USED);
    m.since = 5001;
    does(enters(m));
}

/* ---- Tokens ---- */

static struct members_step issues(uint16_t number, enum members_role role, uint16_t uses, const char *name)
{
    struct members_token t = {.number = number, .role = (uint8_t)role, .uses = uses, .ends = 1000};
    memset(t.digest, number, sizeof t.digest);
    t.name_size = (uint8_t)strlen(name);
    memcpy(t.name, name, t.name_size);
    return (struct members_step){.kind = MEMBERS_TOKEN, .token = t};
}

static struct members_step enters_by(struct members_member m, uint16_t token)
{
    struct members_step s = enters(m);
    s.token.number = token;
    return s;
}

static void a_token_lets_as_many_enter_as_it_has_uses(void **state)
{
    (void)state;
    does(issues(8, MEMBERS_CANDIDATE, 2, ""));
    does(issues(3, MEMBERS_CANDIDATE, 1, "f"));
    assert_int_equal(base.tokens[0].number, 3); /* by rising number */
    assert_int_equal(try(issues(8, MEMBERS_VOTER, 1, "")), MEMBERS_TOKEN_TAKEN);
    const struct members_member e = member(4, "e", MEMBERS_CANDIDATE), f = member(5, "f", MEMBERS_CANDIDATE);
    assert_int_equal(try(enters_by(member(4, "e", MEMBERS_VOTER), 8)), MEMBERS_TOKEN_FORBIDS);
    assert_int_equal(try(enters_by(e, 3)), MEMBERS_TOKEN_FORBIDS); /* another name */
    assert_int_equal(try(enters_by(e, 7)), MEMBERS_NO_TOKEN);
    does(enters_by(e, 8));
    assert_int_equal(base.tokens[1].uses, 1);
    does(enters_by(f, 3));
    assert_int_equal(base.token_count, 1);
    does(enters_by(member(6, "g", MEMBERS_CANDIDATE), 8));
    assert_int_equal(base.token_count, 0);
    assert_int_equal(try(enters_by(member(7, "h", MEMBERS_CANDIDATE), 8)), MEMBERS_NO_TOKEN);
}

/* Two in one record: the second one finds no use left, and the record is refused whole. */
static void a_token_is_used_up_within_a_record(void **state)
{
    (void)state;
    does(issues(8, MEMBERS_CANDIDATE, 1, ""));
    assert_int_equal(try_two(enters_by(member(4, "e", MEMBERS_CANDIDATE), 8),
                             enters_by(member(5, "f", MEMBERS_CANDIDATE), 8)),
                     MEMBERS_NO_TOKEN);
}

static void refuses_tokens_that_are_none(void **state)
{
    (void)state;
    assert_int_equal(try(issues(0, MEMBERS_VOTER, 1, "")), MEMBERS_BAD_TOKEN);
    assert_int_equal(try(issues(8, MEMBERS_VOTER, 0, "")), MEMBERS_BAD_TOKEN);
    assert_int_equal(try(issues(8, (enum members_role)5, 1, "")), MEMBERS_BAD_TOKEN);
    assert_int_equal(try(issues(8, MEMBERS_VOTER, 2, "x")), MEMBERS_BAD_TOKEN); /* a name is taken once */
    assert_int_equal(try(issues(8, MEMBERS_VOTER, 1, "x y")), MEMBERS_BAD_TOKEN);
    struct members_step blank = issues(8, MEMBERS_VOTER, 1, "");
    memset(blank.token.digest, 0, sizeof blank.token.digest);
    assert_int_equal(try(blank), MEMBERS_BAD_TOKEN);
    assert_int_equal(try(step(MEMBERS_REVOKE, 8)), MEMBERS_NO_TOKEN);
    does(issues(8, MEMBERS_VOTER, 9, ""));
    does(step(MEMBERS_REVOKE, 8));
    assert_int_equal(base.token_count, 0);
    for (uint32_t i = 1; i <= MEMBERS_TOKENS_MAX; i++) does(issues((uint16_t)i, MEMBERS_VOTER, 9, ""));
    assert_int_equal(try(issues(500, MEMBERS_VOTER, 9, "")), MEMBERS_TOO_MANY_TOKENS);
}

/* ---- Settings ---- */

static struct members_step sets(const char *key, const char *value)
{
    struct members_setting s = {.key_size = (uint8_t)strlen(key), .value_size = (uint8_t)strlen(value)};
    memcpy(s.key, key, s.key_size);
    memcpy(s.value, value, s.value_size);
    return (struct members_step){.kind = MEMBERS_SET, .setting = s};
}

static void keeps_settings_by_key(void **state)
{
    (void)state;
    does(sets("lease", "1s"));
    does(sets("beat", "150 ms"));
    does(sets("profile", "lan"));
    does(sets("lease", "10s"));
    assert_string_equal((char *)base.settings, "beat=150 ms\nlease=10s\nprofile=lan\n");
    assert_int_equal(try(sets("lease", "10s")), MEMBERS_IS_SO_ALREADY);
    does(sets("lease", "9s"));
    does(sets("lea", "="));
    assert_string_equal((char *)base.settings, "beat=150 ms\nlea==\nlease=9s\nprofile=lan\n");
    does(sets("beat", ""));
    does(sets("profile", ""));
    assert_string_equal((char *)base.settings, "lea==\nlease=9s\n");
    assert_int_equal(try(sets("beat", "")), MEMBERS_IS_SO_ALREADY);
    assert_int_equal(try(sets("", "x")), MEMBERS_BAD_SETTING);
    assert_int_equal(try(sets("a=b", "x")), MEMBERS_BAD_SETTING);
    assert_int_equal(try(sets("a b", "x")), MEMBERS_BAD_SETTING);
    assert_int_equal(try(sets("a", "x\ny=z")), MEMBERS_BAD_SETTING);
    assert_true(members_is_valid(&base));
}

static void settings_have_one_order_and_an_end(void **state)
{
    (void)state;
    static const char *const bad[] = {"b=1\na=1\n", "a=1\na=2\n", "a=1", "a=\n",
                                      "=1\n",       "a\n",        "\n",  "a=1\n\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        base.settings_size = (uint32_t)strlen(bad[i]);
        memset(base.settings, 0, sizeof base.settings);
        memcpy(base.settings, bad[i], base.settings_size);
        assert_false(members_is_valid(&base));
    }
    base.settings_size = 4;
    memset(base.settings, 0, sizeof base.settings);
    memcpy(base.settings, "a=1\n", 4);
    assert_true(members_is_valid(&base));
    base.settings[9] = 'x';
    assert_false(members_is_valid(&base));
    memset(base.settings, 0, sizeof base.settings);
    base.settings_size = 0;
    char key[16], value[MEMBERS_SETTING_VALUE_MAX + 1];
    memset(value, 'x', sizeof value);
    value[MEMBERS_SETTING_VALUE_MAX] = 0;
    enum members_answer answer = MEMBERS_DONE;
    for (int i = 0; answer == MEMBERS_DONE; i++) {
        snprintf(key, sizeof key, "k%d", i);
        answer = try(sets(key, value));
        if (answer == MEMBERS_DONE) base = next;
    }
    assert_int_equal(answer, MEMBERS_TOO_MANY_SETTINGS);
    assert_true(base.settings_size > MEMBERS_SETTINGS_MAX - 300 && members_is_valid(&base));
}

/* ---- Changes as bytes ---- */

static struct members_change changes;

/* One step of each kind that has bytes of its own. */
static void list_changes(void)
{
    struct members_step move = step(MEMBERS_READDRESS, 1), key = step(MEMBERS_ADD_KEY, 1),
                        role = step(MEMBERS_ROLE, 9);
    move.member.place = (struct members_place){.addresses = 2, .address = {address(50, 7), address_6(50)}};
    name_host(&move.member.place, "one.example", 7);
    memset(key.member.key[0], 50, MEMBERS_KEY);
    role.member.role = MEMBERS_CANDIDATE;
    changes = (struct members_change){
        .count = 8,
        .request = 77,
        .floor = 5,
        .steps = {issues(8, MEMBERS_CANDIDATE, 2, ""), enters_by(member(4, "e", MEMBERS_CANDIDATE), 8), move,
                  key, role, sets("lease", "1s"), step(MEMBERS_LEAVE, 2), step(MEMBERS_DROP, 3)}};
}

static void a_change_has_one_encoding(void **state)
{
    (void)state;
    static struct members_change back;
    list_changes();
    const uint32_t size = members_encode_change(&changes, bytes);
    assert_true(size > 0 && members_decode_change(&back, bytes, size));
    assert_int_equal(members_encode_change(&back, again), size);
    assert_memory_equal(bytes, again, size);
    assert_int_equal(back.steps[0].token.uses, 2);
    assert_int_equal(back.steps[1].token.number, 8);
    assert_int_equal(back.steps[2].member.place.addresses, 2);
    assert_int_equal(back.steps[5].setting.value_size, 2);
    assert_int_equal(members_apply(&base, 1, true, &back, &next), MEMBERS_DONE);
    for (uint32_t cut = 0; cut < size; cut++) assert_false(members_decode_change(&back, bytes, cut));
    bytes[size] = 0;
    assert_false(members_decode_change(&back, bytes, size + 1));
    for (uint32_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (members_decode_change(&back, bytes, size)) {
            assert_int_equal(members_encode_change(&back, again), size);
            assert_memory_equal(bytes, again, size);
        }
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    changes = (struct members_change){.request = 3};
    assert_int_equal(members_encode_change(&changes, bytes), 17); /* nothing changes */
    assert_true(members_decode_change(&back, bytes, 17));
}

static void a_change_fits_a_datagram(void **state)
{
    (void)state;
    char value[MEMBERS_SETTING_VALUE_MAX + 1];
    memset(value, 'x', sizeof value);
    value[MEMBERS_SETTING_VALUE_MAX] = 0;
    changes = (struct members_change){.request = 3};
    for (int i = 0; i < 4; i++) changes.steps[changes.count++] = sets("key", value);
    memset(bytes, 0xee, MEMBERS_CHANGE_BYTES_MAX + 1);
    assert_int_equal(members_encode_change(&changes, bytes), 0);
    assert_int_equal(bytes[MEMBERS_CHANGE_BYTES_MAX], 0xee);
    changes.steps[3].setting.value_size = 232; /* 17 + 3 (5 + 3 + 240) + 5 + 3 + 232: one byte too many */
    assert_int_equal(members_encode_change(&changes, bytes), 0);
    changes.steps[3].setting.value_size = 231;
    assert_int_equal(members_encode_change(&changes, bytes), MEMBERS_CHANGE_BYTES_MAX);
}

static void encodes_no_step_that_is_none(void **state)
{
    (void)state;
    changes = (struct members_change){.count = 1, .steps = {step(MEMBERS_DROP, 0)}};
    assert_int_equal(members_encode_change(&changes, bytes), 0);
    changes.steps[0] = step((enum members_step_kind)0, 1);
    assert_int_equal(members_encode_change(&changes, bytes), 0);
    changes.steps[0] = step((enum members_step_kind)(MEMBERS_STEP_KINDS + 1), 1);
    assert_int_equal(members_encode_change(&changes, bytes), 0);
    changes.steps[0] = enters(member(4, "e", MEMBERS_CANDIDATE)), changes.steps[0].number = 4;
    assert_int_equal(members_encode_change(&changes, bytes), 0);
    changes.steps[0].number = 0, changes.steps[0].member.state = MEMBERS_LEAVING;
    assert_int_equal(members_encode_change(&changes, bytes), 0);
    changes.steps[0] = step(MEMBERS_ROLE, 4);
    assert_int_equal(members_encode_change(&changes, bytes), 0);
    changes = (struct members_change){.count = MEMBERS_STEPS_MAX + 1};
    assert_int_equal(members_encode_change(&changes, bytes), 0);
    changes = (struct members_change){.floor = EL_EPOCH_MAX};
    assert_int_equal(members_encode_change(&changes, bytes), 0);
}

/* M26: each member makes the first record of its own file, and all hold the same bytes. */
static void the_first_record_is_the_same_everywhere(void **state)
{
    (void)state;
    const struct members_member there[] = {member(1, "a", MEMBERS_VOTER), member(2, "b", MEMBERS_WITNESS)},
                                here[] = {there[1], there[0]};
    assert_true(members_first(&next, base.cluster, there, 2));
    assert_true(members_first(&other, base.cluster, here, 2));
    const uint32_t size = members_encode(&next, bytes);
    assert_int_equal(members_encode(&other, again), size);
    assert_memory_equal(bytes, again, size);
    assert_int_equal(next.version, 1);
    assert_false(members_first(&next, base.cluster, there, 0));
    const struct members_member twice[] = {there[0], there[0]};
    assert_false(members_first(&next, base.cluster, twice, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_change_without_a_step_changes_nothing_but_the_number, set_up),
        cmocka_unit_test_setup(a_member_has_up_to_three_addresses, set_up),
        cmocka_unit_test_setup(a_host_name_is_no_address, set_up),
        cmocka_unit_test_setup(only_a_member_without_a_vote_is_dynamic, set_up),
        cmocka_unit_test_setup(enters_above_every_life_that_was_forgotten, set_up),
        cmocka_unit_test_setup(a_token_lets_as_many_enter_as_it_has_uses, set_up),
        cmocka_unit_test_setup(a_token_is_used_up_within_a_record, set_up),
        cmocka_unit_test_setup(refuses_tokens_that_are_none, set_up),
        cmocka_unit_test_setup(keeps_settings_by_key, set_up),
        cmocka_unit_test_setup(settings_have_one_order_and_an_end, set_up),
        cmocka_unit_test_setup(a_change_has_one_encoding, set_up),
        cmocka_unit_test_setup(a_change_fits_a_datagram, set_up),
        cmocka_unit_test_setup(encodes_no_step_that_is_none, set_up),
        cmocka_unit_test_setup(the_first_record_is_the_same_everywhere, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
