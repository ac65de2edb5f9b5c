/*
 * One change makes the next record of one, all of its steps or none. A step that makes no sense any more is refused with
 * its reason: two administrators may ask for the same, and the second hears that it is so already.
 */
#include "algorithms/members/record.h"

const char *members_answer_text(enum members_answer answer)
{
    static const char *const texts[MEMBERS_ANSWERS] = {
        [MEMBERS_DONE] = "done",
        [MEMBERS_NO_STEPS] = "nothing is asked for",
        [MEMBERS_TOO_MANY_STEPS] = "one change has at most 8 steps: ask for them one after another",
        [MEMBERS_IS_JOINT] = "the last change of voters is not over yet: ask again when it is",
        [MEMBERS_DONE_BEFORE] = "this request has been carried out already",
        [MEMBERS_UNKNOWN] = "there is no such member",
        [MEMBERS_NAME_TAKEN] = "a member has that name: choose another one",
        [MEMBERS_NUMBER_TAKEN] = "a member has that number: choose another one",
        [MEMBERS_NUMBER_USED] =
            "an earlier member had that number, with lives as late as that: begin above them",
        [MEMBERS_KEY_TAKEN] = "a member has that key: make a new pair on the new host",
        [MEMBERS_KEY_GONE] = "that key belonged to a member that was removed: make a new pair",
        [MEMBERS_ADDRESS_TAKEN] = "a member has that address: choose another port or host",
        [MEMBERS_BAD_MEMBER] = "name, address, key, number or role is not one that a member can have",
        [MEMBERS_NOT_JOINING] = "that member is not joining as a voter: add or promote it first",
        [MEMBERS_IS_SO_ALREADY] = "it is so already",
        [MEMBERS_KEYS_FULL] = "that member has two keys already: drop the old one first",
        [MEMBERS_ONE_KEY] = "that member has one key only: add the new one first",
        [MEMBERS_LAST_VOTER] = "nobody would vote any more: add a voter first",
        [MEMBERS_TOO_MANY_VOTERS] = "at most 64 members may vote",
        [MEMBERS_TOO_MANY_MEMBERS] = "a cluster has at most 1000 members",
    };
    return (uint32_t)answer < MEMBERS_ANSWERS ? texts[answer] : "?";
}

static bool is_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
    uint8_t differs = 0;
    for (size_t i = 0; i < size; i++) differs |= a[i] ^ b[i];
    return differs == 0;
}

static bool may_vote(const struct members_member *m)
{
    return m->role == MEMBERS_VOTER || m->role == MEMBERS_WITNESS;
}

/* ---- What is taken ---- */

static bool has_key(const struct members_member *m, const uint8_t key[MEMBERS_KEY])
{
    for (uint32_t i = 0; i < m->keys; i++)
        if (is_equal(m->key[i], key, MEMBERS_KEY)) return true;
    return false;
}

static enum members_answer key_is_free(const struct members_record *r, const uint8_t key[MEMBERS_KEY])
{
    for (uint32_t i = 0; i < r->count; i++)
        if (has_key(&r->members[i], key)) return MEMBERS_KEY_TAKEN;
    for (uint32_t i = 0; i < r->gone_count; i++)
        if (is_equal(r->gone[i].key, key, MEMBERS_KEY)) return MEMBERS_KEY_GONE;
    return MEMBERS_DONE;
}

static enum members_answer address_is_free(const struct members_record *r, const struct members_member *m)
{
    for (uint32_t i = 0; i < r->count && m->address_size; i++)
        if (r->members[i].address_size == m->address_size &&
            is_equal(r->members[i].address, m->address, m->address_size))
            return MEMBERS_ADDRESS_TAKEN;
    return MEMBERS_DONE;
}

/* M1: another host under an old number begins above every life of the earlier one. */
static enum members_answer number_is_free(const struct members_record *r, const struct members_member *m)
{
    if (members_find(r, m->number)) return MEMBERS_NUMBER_TAKEN;
    for (uint32_t i = 0; i < r->gone_count; i++)
        if (r->gone[i].number == m->number && r->gone[i].since >= m->since) return MEMBERS_NUMBER_USED;
    return MEMBERS_DONE;
}

static enum members_answer name_is_free(const struct members_record *r, const struct members_member *m)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->members[i].name_size == m->name_size && is_equal(r->members[i].name, m->name, m->name_size))
            return MEMBERS_NAME_TAKEN;
    return MEMBERS_DONE;
}

/* ---- Steps ---- */

static struct members_member *find(struct members_record *r, uint32_t number)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->members[i].number == number) return &r->members[i];
    return NULL;
}

static enum members_answer enter(struct members_record *r, const struct members_step *step)
{
    struct members_member m = step->member;
    enum members_answer answer = name_is_free(r, &m);
    m.state = may_vote(&m) ? MEMBERS_JOINING : MEMBERS_IN;
    if (m.keys != 1) return MEMBERS_BAD_MEMBER;
    if (answer == MEMBERS_DONE) answer = number_is_free(r, &m);
    if (answer == MEMBERS_DONE) answer = key_is_free(r, m.key[0]);
    if (answer == MEMBERS_DONE) answer = address_is_free(r, &m);
    if (answer != MEMBERS_DONE) return answer;
    if (r->count == MEMBERS_MAX) return MEMBERS_TOO_MANY_MEMBERS;
    uint32_t at = r->count++;
    for (; at > 0 && r->members[at - 1].number > m.number; at--) r->members[at] = r->members[at - 1];
    r->members[at] = m;
    return MEMBERS_DONE;
}

static void remember_gone(struct members_record *r, const struct members_member *m)
{
    if (r->gone_count == MEMBERS_GONE_MAX) {
        for (uint32_t i = 1; i < MEMBERS_GONE_MAX; i++) r->gone[i - 1] = r->gone[i];
        r->gone_count--;
    }
    struct members_gone *gone = &r->gone[r->gone_count++];
    *gone = (struct members_gone){.number = m->number, .since = m->since};
    for (uint32_t i = 0; i < MEMBERS_KEY; i++) gone->key[i] = m->key[m->keys - 1][i];
}

static void drop(struct members_record *r, struct members_member *m)
{
    remember_gone(r, m);
    r->count--;
    for (uint32_t at = (uint32_t)(m - r->members); at < r->count; at++) r->members[at] = r->members[at + 1];
}

/* To vote it must be seated, which is a change of its own; to vote no more is this change. */
static enum members_answer change_role(struct members_member *m, uint8_t role)
{
    const bool voted = members_votes(m);
    if (m->role == role) return MEMBERS_IS_SO_ALREADY;
    m->role = role;
    if (may_vote(m) && !voted) m->state = MEMBERS_JOINING;
    if (!may_vote(m) && m->state == MEMBERS_JOINING) m->state = MEMBERS_IN;
    return MEMBERS_DONE;
}

static enum members_answer readdress(const struct members_record *r, struct members_member *m,
                                     const struct members_member *to)
{
    if (m->address_size == to->address_size && is_equal(m->address, to->address, MEMBERS_ADDRESS_MAX))
        return MEMBERS_IS_SO_ALREADY;
    const enum members_answer answer = address_is_free(r, to);
    if (answer != MEMBERS_DONE) return answer;
    m->address_size = to->address_size;
    for (uint32_t i = 0; i < MEMBERS_ADDRESS_MAX; i++) m->address[i] = to->address[i];
    return MEMBERS_DONE;
}

static enum members_answer add_key(const struct members_record *r, struct members_member *m,
                                   const uint8_t key[MEMBERS_KEY])
{
    if (has_key(m, key)) return MEMBERS_IS_SO_ALREADY;
    if (m->keys == MEMBERS_KEYS_MAX) return MEMBERS_KEYS_FULL;
    const enum members_answer answer = key_is_free(r, key);
    if (answer != MEMBERS_DONE) return answer;
    for (uint32_t i = 0; i < MEMBERS_KEY; i++) m->key[m->keys][i] = key[i];
    m->keys++;
    return MEMBERS_DONE;
}

static enum members_answer drop_key(struct members_member *m)
{
    if (m->keys != MEMBERS_KEYS_MAX) return MEMBERS_ONE_KEY;
    for (uint32_t i = 0; i < MEMBERS_KEY; i++) {
        m->key[0][i] = m->key[1][i];
        m->key[1][i] = 0;
    }
    m->keys = 1;
    return MEMBERS_DONE;
}

static enum members_answer take(struct members_record *r, const struct members_step *step)
{
    if (step->kind == MEMBERS_ENTER) return enter(r, step);
    struct members_member *m = find(r, step->number);
    if (!m) return MEMBERS_UNKNOWN;
    switch (step->kind) {
    case MEMBERS_SEAT:
        if (m->state != MEMBERS_JOINING) return MEMBERS_NOT_JOINING;
        m->state = MEMBERS_IN;
        return MEMBERS_DONE;
    case MEMBERS_LEAVE:
        if (m->state == MEMBERS_LEAVING) return MEMBERS_IS_SO_ALREADY;
        if (m->state == MEMBERS_JOINING) m->role = MEMBERS_OBSERVER; /* it never voted, and now never will */
        m->state = MEMBERS_LEAVING;
        return MEMBERS_DONE;
    case MEMBERS_DROP: drop(r, m); return MEMBERS_DONE;
    case MEMBERS_ROLE: return change_role(m, step->member.role);
    case MEMBERS_READDRESS: return readdress(r, m, &step->member);
    case MEMBERS_ADD_KEY: return add_key(r, m, step->member.key[0]);
    case MEMBERS_DROP_KEY: return drop_key(m);
    case MEMBERS_ENTER: break;
    }
    return MEMBERS_BAD_MEMBER;
}

/* ---- The whole change ---- */

/* A voter is (number, since): another host under the number is another voter. */
static bool vote_the_same(const struct members_record *a, const struct members_record *b)
{
    if (members_voter_count(a) != members_voter_count(b)) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (!members_votes(&a->members[i])) continue;
        const struct members_member *same = members_find(b, a->members[i].number);
        if (!same || !members_votes(same) || same->since != a->members[i].since) return false;
    }
    return true;
}

static void begin_era(const struct members_record *record, struct members_record *next)
{
    next->from_count = 0;
    if (vote_the_same(record, next)) return;
    next->era++;
    for (uint32_t i = 0; i < record->count; i++)
        if (members_votes(&record->members[i])) next->from[next->from_count++] = record->members[i].number;
}

static void remember_done(struct members_record *next, uint64_t request)
{
    if (next->done_count == MEMBERS_DONE_MAX) {
        for (uint32_t i = 1; i < MEMBERS_DONE_MAX; i++) next->done[i - 1] = next->done[i];
        next->done_count--;
    }
    next->done[next->done_count++] = request;
}

static enum members_answer may_begin(const struct members_record *record, bool is_sole,
                                     const struct members_change *change)
{
    if (!is_sole) return MEMBERS_IS_JOINT;
    if (change->count == 0) return MEMBERS_NO_STEPS;
    if (change->count > MEMBERS_STEPS_MAX) return MEMBERS_TOO_MANY_STEPS;
    for (uint32_t i = 0; i < record->done_count; i++)
        if (record->done[i] == change->request) return MEMBERS_DONE_BEFORE;
    return MEMBERS_DONE;
}

enum members_answer members_apply(const struct members_record *record, uint64_t digest, bool is_sole,
                                  const struct members_change *change, struct members_record *next)
{
    enum members_answer answer = may_begin(record, is_sole, change);
    if (answer != MEMBERS_DONE) return answer;
    *next = *record;
    for (uint32_t i = 0; i < change->count && answer == MEMBERS_DONE; i++)
        answer = take(next, &change->steps[i]);
    if (answer != MEMBERS_DONE) return answer;
    const uint32_t voters = members_voter_count(next);
    if (voters == 0) return MEMBERS_LAST_VOTER;
    if (voters > MEMBERS_VOTERS_MAX) return MEMBERS_TOO_MANY_VOTERS;
    next->version++;
    next->before = digest;
    if (change->floor > next->floor) next->floor = change->floor;
    begin_era(record, next);
    remember_done(next, change->request);
    return members_is_valid(next) ? MEMBERS_DONE : MEMBERS_BAD_MEMBER;
}
