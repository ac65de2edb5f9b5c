/*
 * A record of the membership: who the members are, from one decision to the next. valid.c says what a record may be,
 * record.c has its bytes and those of a change, change.c makes the next record of one. Nothing here decides anything: that
 * is decision.h.
 *
 * The encoding is canonical: a record has one, and decoding takes nothing else. So members that were given the same
 * record hold the same bytes, and the digest tells records apart. It is the core's fingerprint and no cryptographic hash:
 * records come from members, whose datagrams are authenticated, and the pure rooms have no such hash. The host adds one
 * where bytes may be damaged, on disk.
 */
#ifndef ELECTOR_ALGORITHMS_MEMBERS_RECORD_H
#define ELECTOR_ALGORITHMS_MEMBERS_RECORD_H

#include "core/machine.h"

enum {
    MEMBERS_MAX = 1000, /* and the highest number of a member */
    MEMBERS_VOTERS_MAX = 64,
    MEMBERS_NAME_MAX = 64,
    MEMBERS_ADDRESS_MAX = 18, /* an IPv4 or IPv6 address, then the port, both in network order: 6 or 18 bytes */
    MEMBERS_ADDRESSES_MAX = 3, /* of one member; a host name is one of them */
    MEMBERS_HOST_MAX = 253,
    MEMBERS_KEY = 32,
    MEMBERS_KEYS_MAX = 2,
    MEMBERS_CLUSTER = 16,
    MEMBERS_GONE_MAX = 64, /* the last that were removed */
    MEMBERS_DONE_MAX = 16, /* the last requests that were carried out */
    MEMBERS_TOKENS_MAX = 64,
    MEMBERS_TOKEN_DIGEST = 16,
    MEMBERS_SETTINGS_MAX = 32768, /* bytes of all settings */
    MEMBERS_SETTING_KEY_MAX = 160,
    MEMBERS_SETTING_VALUE_MAX = 240,
    MEMBERS_STEPS_MAX = 8,           /* of one change */
    MEMBERS_CHANGE_BYTES_MAX = 1000, /* of one change: it travels in one datagram */
};

enum members_role {
    MEMBERS_VOTER = 1, /* votes, may lead */
    MEMBERS_WITNESS,   /* votes */
    MEMBERS_CANDIDATE, /* may lead */
    MEMBERS_OBSERVER,  /* neither */
    MEMBERS_ROLES = MEMBERS_OBSERVER,
};

enum members_state {
    MEMBERS_IN,
    MEMBERS_JOINING, /* will vote, and does not yet (M17) */
    MEMBERS_LEAVING, /* may not begin to lead; a voter still votes (M18) */
    MEMBERS_STATES = MEMBERS_LEAVING,
};

struct members_address {
    uint8_t size; /* 6, 18; 0: none */
    uint8_t bytes[MEMBERS_ADDRESS_MAX];
};

/* Where a member is heard. A host name is looked up by each agent, and comes before the addresses. */
struct members_place {
    uint16_t port;                      /* the host's */
    uint8_t is_dynamic;                 /* 1: where it was heard last. It has no other address, and no vote */
    uint8_t host_size;                  /* 0: no host name */
    uint8_t addresses;                  /* how many of `address` there are */
    uint8_t host[MEMBERS_HOST_MAX + 1]; /* letters, digits, '.', '_', '-'; zero after host_size */
    struct members_address address[MEMBERS_ADDRESSES_MAX];
};

/* (number, since) is one host for ever: another host under an old number has a higher `since` (M1). */
struct members_member {
    uint16_t number; /* 1..MEMBERS_MAX */
    uint8_t role, state;
    uint8_t name_size, keys;
    uint64_t since;
    uint8_t name[MEMBERS_NAME_MAX]; /* letters, digits, '.', '_', '-'; zero after name_size */
    struct members_place place;
    uint8_t key[MEMBERS_KEYS_MAX][MEMBERS_KEY]; /* the second one takes the first one's place (rekey) */
};

/* A host that knows a token's secret may enter, as this role and, if there is a name, under this name (M21). */
struct members_token {
    uint16_t number; /* 1..UINT16_MAX */
    uint16_t uses;   /* how many are left: 1 or more */
    uint8_t role, name_size;
    uint64_t
        ends; /* wall clock in ms. Voters look at it before they pass a request on; no record asks a clock */
    uint8_t digest[MEMBERS_TOKEN_DIGEST]; /* of its secret */
    uint8_t name[MEMBERS_NAME_MAX];       /* zero after name_size; a token with a name has one use */
};

struct members_setting {
    uint8_t key_size, value_size;             /* no value: the setting goes */
    uint8_t key[MEMBERS_SETTING_KEY_MAX];     /* visible ASCII without '=' */
    uint8_t value[MEMBERS_SETTING_VALUE_MAX]; /* visible ASCII and blanks */
};

struct members_gone {
    uint16_t number;
    uint64_t since;
    uint8_t key[MEMBERS_KEY];
};

struct members_record {
    uint8_t cluster[MEMBERS_CLUSTER];
    uint64_t lineage;   /* which of the cluster's histories */
    uint64_t version;   /* 1, 2, 3… */
    uint64_t before;    /* the digest of the record before it, 0 of the first */
    uint64_t era;       /* 1, and one more each time that who votes has changed */
    uint64_t floor;     /* F, as its proposer knew it */
    uint64_t forgotten; /* the highest `since` that fell out of `gone`: who enters begins above it (M1) */
    uint32_t from_count, count, gone_count, done_count, token_count, settings_size;
    uint16_t from[MEMBERS_VOTERS_MAX];          /* who voted before; nobody if this record did not change it */
    struct members_member members[MEMBERS_MAX]; /* by rising number */
    struct members_gone gone[MEMBERS_GONE_MAX]; /* the oldest first */
    uint64_t done[MEMBERS_DONE_MAX];            /* the oldest first */
    struct members_token tokens[MEMBERS_TOKENS_MAX]; /* by rising number */
    uint8_t settings[MEMBERS_SETTINGS_MAX]; /* lines `key=value`, by rising key; zero after settings_size */
};

/* ---- What a change is ---- */

enum members_step_kind {
    MEMBERS_ENTER = 1, /* a new member; one that is to vote enters as joining */
    MEMBERS_SEAT,      /* `number`, which is joining, votes */
    MEMBERS_LEAVE,     /* `number` is leaving */
    MEMBERS_DROP,      /* `number` is no member any more */
    MEMBERS_ROLE,      /* `number` gets another role; one that is to vote then is joining */
    MEMBERS_READDRESS,
    MEMBERS_ADD_KEY,  /* `number` may also use this key */
    MEMBERS_DROP_KEY, /* `number` uses its second key only */
    MEMBERS_TOKEN,    /* `token` lets hosts enter from now on */
    MEMBERS_REVOKE,   /* the token `number` lets nobody enter any more */
    MEMBERS_SET,      /* a setting gets another value, or goes */
    MEMBERS_STEP_KINDS = MEMBERS_SET,
};

struct members_step {
    enum members_step_kind kind;
    uint16_t number;
    struct members_member
        member; /* ENTER: all of it but its state. ROLE, READDRESS: role, place; ADD_KEY: its first key */
    struct members_token token;     /* TOKEN. ENTER: `number`, the token by which it enters; 0: none */
    struct members_setting setting; /* SET */
};

/* To replace a by b, for instance: { SEAT b, DROP a } in one change. A change without a step makes a record that changes
 * nothing (M5). */
struct members_change {
    uint32_t count;
    uint64_t request; /* its random digest: it is carried out once (M20) */
    uint64_t floor;
    struct members_step steps[MEMBERS_STEPS_MAX];
};

/* ---- Bytes (record.c) ---- */

/* Of the largest record. */
enum {
    MEMBERS_HEAD_BYTES = 8 + MEMBERS_CLUSTER + 6 * 8 + 6 * 2,
    MEMBERS_PLACE_BYTES = 3 + 2 + MEMBERS_HOST_MAX + MEMBERS_ADDRESSES_MAX * (1 + MEMBERS_ADDRESS_MAX),
    MEMBERS_MEMBER_BYTES = 2 + 4 + 8 + MEMBERS_NAME_MAX + MEMBERS_PLACE_BYTES + MEMBERS_KEYS_MAX * MEMBERS_KEY,
    MEMBERS_TOKEN_BYTES = 2 + 2 + 2 + 8 + MEMBERS_TOKEN_DIGEST + MEMBERS_NAME_MAX,
    MEMBERS_BYTES_MAX = MEMBERS_HEAD_BYTES + 2 * MEMBERS_VOTERS_MAX + MEMBERS_MAX * MEMBERS_MEMBER_BYTES +
                        MEMBERS_GONE_MAX * (2 + 8 + MEMBERS_KEY) + MEMBERS_DONE_MAX * 8 +
                        MEMBERS_TOKENS_MAX * MEMBERS_TOKEN_BYTES + MEMBERS_SETTINGS_MAX,
};

/* `bytes` has room for MEMBERS_BYTES_MAX. Returns how many it wrote. The record must be one that decoding takes. */
uint32_t members_encode(const struct members_record *record, uint8_t *bytes);
/* From hostile bytes. False: it is not exactly the encoding of a valid record, and `record` is undefined. */
bool members_decode(struct members_record *record, const uint8_t *bytes, size_t size);
uint64_t members_digest(const uint8_t *bytes, size_t size);

/*
 * Voters vote for a change, not for a record. `bytes` has room for MEMBERS_CHANGE_BYTES_MAX. Returns how many it wrote; 0: that
 * are too many bytes, or a step is none that decoding takes.
 */
uint32_t members_encode_change(const struct members_change *change, uint8_t *bytes);
/* From hostile bytes. False: it is not exactly the encoding of a change, and `change` is undefined. */
bool members_decode_change(struct members_change *change, const uint8_t *bytes, size_t size);

/* ---- Looking at it (valid.c) ---- */

static inline bool members_votes(const struct members_member *member)
{
    return (member->role == MEMBERS_VOTER || member->role == MEMBERS_WITNESS) &&
           member->state != MEMBERS_JOINING;
}

bool members_is_valid(const struct members_record *record);
uint32_t members_voter_count(const struct members_record *record);
/* NULL: there is none. */
const struct members_member *members_find(const struct members_record *record, uint32_t number);

/* Of the first record: numbers, roles, names, places, keys. The same members give the same bytes everywhere, in whatever
 * order they are. False: some are none that a record takes, or nobody votes. */
bool members_first(struct members_record *record, const uint8_t cluster[MEMBERS_CLUSTER],
                   const struct members_member *members, uint32_t count);

/* ---- Changing it (change.c) ---- */

enum members_answer {
    MEMBERS_DONE,
    MEMBERS_TOO_MANY_STEPS,
    MEMBERS_IS_JOINT,
    MEMBERS_DONE_BEFORE,
    MEMBERS_UNKNOWN,
    MEMBERS_NAME_TAKEN,
    MEMBERS_NUMBER_TAKEN,
    MEMBERS_NUMBER_USED,
    MEMBERS_KEY_TAKEN,
    MEMBERS_KEY_GONE,
    MEMBERS_ADDRESS_TAKEN,
    MEMBERS_BAD_MEMBER,
    MEMBERS_NOT_JOINING,
    MEMBERS_IS_SO_ALREADY,
    MEMBERS_KEYS_FULL,
    MEMBERS_ONE_KEY,
    MEMBERS_LAST_VOTER,
    MEMBERS_TOO_MANY_VOTERS,
    MEMBERS_TOO_MANY_MEMBERS,
    MEMBERS_TOKEN_TAKEN,
    MEMBERS_NO_TOKEN,
    MEMBERS_TOKEN_FORBIDS,
    MEMBERS_BAD_TOKEN,
    MEMBERS_TOO_MANY_TOKENS,
    MEMBERS_BAD_SETTING,
    MEMBERS_TOO_MANY_SETTINGS,
    MEMBERS_ANSWERS
};

/*
 * The record after this one, or why there is none: then `next` is undefined. `digest` is this record's; `is_sole`: its era
 * is known to be sole (M2: nothing is decided before).
 */
enum members_answer members_apply(const struct members_record *record, uint64_t digest, bool is_sole,
                                  const struct members_change *change, struct members_record *next);
/* Why, for a person; one line without a full stop. */
const char *members_answer_text(enum members_answer answer);

#endif
