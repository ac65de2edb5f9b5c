/*
 * One change makes the next record of one, all of its steps or none. A step that makes no sense any more is refused with
 * its reason: two administrators may ask for the same, and the second hears that it is so already.
 */
#include "algorithms/members/internal.h"

const char *members_answer_text(enum members_answer answer)
{
    static const char *const texts[MEMBERS_ANSWERS] = {
        [MEMBERS_DONE] = "done",
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
        [MEMBERS_TOKEN_TAKEN] = "a token has that number: choose another one",
        [MEMBERS_NO_TOKEN] = "there is no such token, or it has been used up: make a new one",
        [MEMBERS_TOKEN_FORBIDS] = "the token is for another role or another name: make a new one",
        [MEMBERS_BAD_TOKEN] = "number, uses, role, name or digest is not one that a token can have",
        [MEMBERS_TOO_MANY_TOKENS] = "a cluster has at most 64 tokens at a time: revoke one first",
        [MEMBERS_BAD_SETTING] = "key or value is not one that a setting can have",
        [MEMBERS_TOO_MANY_SETTINGS] = "all settings together have at most 32768 bytes: drop one first",
    };
    return (uint32_t)answer < MEMBERS_ANSWERS ? texts[answer] : "?";
}

/* ---- What is taken ---- */

static bool has_key(const struct members_member *m, const uint8_t key[MEMBERS_KEY])
{
    for (uint32_t i = 0; i < m->keys; i++)
        if (members_same(m->key[i], key, MEMBERS_KEY)) return true;
    return false;
}

static enum members_answer key_is_free(const struct members_record *r, const uint8_t key[MEMBERS_KEY])
{
    for (uint32_t i = 0; i < r->count; i++)
        if (has_key(&r->members[i], key)) return MEMBERS_KEY_TAKEN;
    for (uint32_t i = 0; i < r->gone_count; i++)
        if (members_same(r->gone[i].key, key, MEMBERS_KEY)) return MEMBERS_KEY_GONE;
    return MEMBERS_DONE;
}

/* Of all but `self`; NULL: of all. */
static enum members_answer place_is_free(const struct members_record *r, const struct members_place *place,
                                         const struct members_member *self)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (&r->members[i] != self && members_places_meet(&r->members[i].place, place))
            return MEMBERS_ADDRESS_TAKEN;
    return MEMBERS_DONE;
}

/* M1: another host under an old number begins above every life of the earlier one. `gone` knows the last that had numbers;
 * for the others `forgotten` stands. */
static enum members_answer number_is_free(const struct members_record *r, const struct members_member *m)
{
    if (members_find(r, m->number)) return MEMBERS_NUMBER_TAKEN;
    if (r->forgotten && r->forgotten >= m->since) return MEMBERS_NUMBER_USED;
    for (uint32_t i = 0; i < r->gone_count; i++)
        if (r->gone[i].number == m->number && r->gone[i].since >= m->since) return MEMBERS_NUMBER_USED;
    return MEMBERS_DONE;
}

static enum members_answer name_is_free(const struct members_record *r, const struct members_member *m)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->members[i].name_size == m->name_size && members_same(r->members[i].name, m->name, m->name_size))
            return MEMBERS_NAME_TAKEN;
    return MEMBERS_DONE;
}

/* ---- Tokens ---- */

static struct members_token *find_token(struct members_record *r, uint32_t number)
{
    for (uint32_t i = 0; i < r->token_count; i++)
        if (r->tokens[i].number == number) return &r->tokens[i];
    return NULL;
}

static void drop_token(struct members_record *r, const struct members_token *t)
{
    const uint32_t from = (uint32_t)(t - r->tokens);
    r->token_count--;
    for (uint32_t at = from; at < r->token_count; at++) r->tokens[at] = r->tokens[at + 1];
    r->tokens[r->token_count] = (struct members_token){0};
}

/* M21: the uses left go down in the same record. */
static enum members_answer use_token(struct members_record *r, uint32_t number, const struct members_member *by)
{
    struct members_token *t = find_token(r, number);
    if (!t) return MEMBERS_NO_TOKEN;
    if (t->role != by->role) return MEMBERS_TOKEN_FORBIDS;
    if (t->name_size && (t->name_size != by->name_size || !members_same(t->name, by->name, t->name_size)))
        return MEMBERS_TOKEN_FORBIDS;
    if (--t->uses == 0) drop_token(r, t);
    return MEMBERS_DONE;
}

static enum members_answer issue(struct members_record *r, const struct members_token *token)
{
    if (!members_token_is_valid(token)) return MEMBERS_BAD_TOKEN;
    if (find_token(r, token->number)) return MEMBERS_TOKEN_TAKEN;
    if (r->token_count == MEMBERS_TOKENS_MAX) return MEMBERS_TOO_MANY_TOKENS;
    uint32_t at = r->token_count++;
    for (; at > 0 && r->tokens[at - 1].number > token->number; at--) r->tokens[at] = r->tokens[at - 1];
    r->tokens[at] = *token;
    return MEMBERS_DONE;
}

static enum members_answer revoke(struct members_record *r, uint32_t number)
{
    const struct members_token *t = find_token(r, number);
    if (!t) return MEMBERS_NO_TOKEN;
    drop_token(r, t);
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
    if (!members_member_is_valid(&m) || m.keys != 1) return MEMBERS_BAD_MEMBER;
    enum members_answer answer = name_is_free(r, &m);
    m.state = members_may_vote(m.role) ? MEMBERS_JOINING : MEMBERS_IN;
    if (answer == MEMBERS_DONE) answer = number_is_free(r, &m);
    if (answer == MEMBERS_DONE) answer = key_is_free(r, m.key[0]);
    if (answer == MEMBERS_DONE) answer = place_is_free(r, &m.place, NULL);
    if (answer == MEMBERS_DONE && step->token.number) answer = use_token(r, step->token.number, &m);
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
        if (r->forgotten < r->gone[0].since) r->forgotten = r->gone[0].since;
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
    if (members_may_vote(m->role) && !voted) m->state = MEMBERS_JOINING;
    if (!members_may_vote(m->role) && m->state == MEMBERS_JOINING) m->state = MEMBERS_IN;
    return MEMBERS_DONE;
}

static bool is_same_place(const struct members_place *a, const struct members_place *b)
{
    if (a->is_dynamic != b->is_dynamic || a->addresses != b->addresses || a->host_size != b->host_size ||
        a->port != b->port || !members_same(a->host, b->host, a->host_size))
        return false;
    for (uint32_t i = 0; i < a->addresses; i++)
        if (a->address[i].size != b->address[i].size ||
            !members_same(a->address[i].bytes, b->address[i].bytes, a->address[i].size))
            return false;
    return true;
}

static enum members_answer readdress(const struct members_record *r, struct members_member *m,
                                     const struct members_place *to)
{
    if (!members_place_is_valid(to)) return MEMBERS_BAD_MEMBER;
    if (is_same_place(&m->place, to)) return MEMBERS_IS_SO_ALREADY;
    const enum members_answer answer = place_is_free(r, to, m);
    if (answer == MEMBERS_DONE) m->place = *to;
    return answer;
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
    switch (step->kind) { /* about no member that is there */
    case MEMBERS_ENTER: return enter(r, step);
    case MEMBERS_TOKEN: return issue(r, &step->token);
    case MEMBERS_REVOKE: return revoke(r, step->number);
    case MEMBERS_SET: return members_set(r, &step->setting);
    default: break;
    }
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
    case MEMBERS_READDRESS: return readdress(r, m, &step->member.place);
    case MEMBERS_ADD_KEY: return add_key(r, m, step->member.key[0]);
    case MEMBERS_DROP_KEY: return drop_key(m);
    default: return MEMBERS_BAD_MEMBER;
    }
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
